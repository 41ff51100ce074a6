"""What a recalibration gained: closed forms, what must not change, and how it says no."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import bayescal as bc
from bayescal.errors import InputError
from bayescal.gain import recommendation
from bayescal.gain.paired import cases_of


def mapped(score):
    return expit(-0.4 + 0.6 * logit(score))


@pytest.fixture(scope="module")
def actual(patients):
    y, s = patients
    return bc.recalibration_gain(y, s, mapped(s), thresholds=(0.1, 0.3), random_state=1)


# The posterior


@pytest.mark.slow
def test_swapping_before_and_after_swaps_the_sign_of_paired_gains(patients):
    y, s = patients
    options = {"route": "paired", "thresholds": (0.3,), "draws": 4000, "random_state": 3}
    there, back = (
        bc.recalibration_gain(y, *pair, **options).summary(parts=True)
        for pair in ((s, mapped(s)), (mapped(s), s))
    )
    back = back.loc[there.index]
    for one, other in (("lower", "upper"), ("mean", "mean")):
        # Which draws of an error count as calibrated is drawn for each side by itself.
        assert there[one]["tce"] == pytest.approx(-back[other]["tce"], abs=2e-3)
        scores = there.index.drop("tce")
        np.testing.assert_allclose(there[one][scores], -back[other][scores], rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_both_routes_agree_on_the_scores(patients, actual):
    y, s = patients
    paired = bc.recalibration_gain(y, s, mapped(s), route="paired", random_state=1).summary()
    curve = actual.summary()
    for name in ("brier", "log_score"):
        width = curve.loc[name, "upper"] - curve.loc[name, "lower"]
        assert curve.loc[name, "mean"] == pytest.approx(paired.loc[name, "mean"], abs=0.2 * width)


def test_expected_gain_of_the_posterior_of_others(shared_data):
    """Expected gains of plugging in the posterior mean, against importance sampling by others."""
    import json

    oracle = json.loads((shared_data / "oracles" / "clinical.json").read_text())
    known = oracle["recomputed_bayes"]
    table = pd.read_csv(shared_data / "data" / "clinical" / "predtools_val_data.csv")
    answer = known["predtools_val_data"]["logistic"]
    post = bc.fit(
        table["outcome"], table["score"], curve="logistic", prior="clinical", random_state=0
    )
    curve = post.curve().to_numpy().reshape(-1, post.data.score.size)
    plugged = curve.mean(axis=0)
    weight = post.data.trials / post.data.n
    draws = ((curve - post.data.score) ** 2 - (curve - plugged) ** 2) @ weight
    assert draws.mean() == pytest.approx(answer["brier_gain_expected"]["mean"], abs=6e-5)
    assert (draws > 0).mean() == pytest.approx(answer["P_gain_brier_gt0"], abs=0.02)
    score = post.data.score
    relative = curve * np.log(plugged / score) + (1 - curve) * np.log((1 - plugged) / (1 - score))
    assert (relative @ weight).mean() == pytest.approx(
        answer["logloss_gain_expected"]["mean"], abs=2e-4
    )


def test_no_interval_of_one_point_beside_a_probability_of_calibration():
    """Calibrated before, and hardly changed: nearly certain, and still not a point."""
    y, s = bc.simulate.sample("clinical-middle-calibrated", 3000, random_state=2)
    gain = bc.recalibration_gain(y, s, mapped(s), draws=400, random_state=0)
    assert gain.prob_calibrated["before"] > 0.3 > 0.1 > gain.prob_calibrated["after"]
    table = gain.summary()
    assert (table["upper"] - table["lower"] > 1e-3).all()
    assert np.unique(gain.draws["tce"]).size == 400


def test_the_interval_does_not_exceed_what_the_map_can_change(patients):
    y, s = patients
    after = expit(logit(s) + 0.02)
    lower, upper = bc.recalibration_gain(y, s, after, draws=400, random_state=0).interval("tce")
    most = 1.2 * np.mean(np.abs(after - s))
    assert -most < lower < 0 < upper < most


@pytest.mark.slow
@pytest.mark.parametrize("route", ["curve", "paired"])
def test_probabilities_of_exact_calibration_are_those_of_compare(patients, route):
    y, s = patients
    gain = bc.recalibration_gain(y, s, mapped(s), route=route, draws=200, random_state=1)
    for side, score in (("before", s), ("after", mapped(s))):
        alone = bc.compare(y, score, draws=1000, random_state=1).prob_calibrated
        assert gain.prob_calibrated[side] == pytest.approx(alone, abs=0.01)
    assert gain.summary().attrs["prob_calibrated"] == gain.prob_calibrated
    assert f"{gain.prob_calibrated['after']:.2f} after" in repr(gain)


# Double use


def test_a_stated_double_use_needs_no_warning(patients):
    y, s = patients
    after = bc.recalibrate.LogisticRecalibrator().fit(s, y).transform(s)
    gain = bc.recalibration_gain(y, s, after, in_sample=True, draws=200, random_state=0)
    assert "detected: the score equations of a logistic map hold exactly" in gain.evidence


@pytest.mark.slow
def test_repeats_are_no_further_data(patients):
    """Ten equal rows say as much as one."""
    y, s = (values[:80] for values in patients)
    once, ten = (
        bc.recalibration_gain(y, s, after, route="paired", draws=400, random_state=2).summary()
        for after in (mapped(s), np.tile(mapped(s), (10, 1)))
    )
    pd.testing.assert_frame_equal(once, ten, check_exact=False, rtol=1e-9)
    assert "10 repeats: about the procedure" in ten.attrs["evidence"]
    single = bc.recalibration_gain(y, s, mapped(s)[None], draws=200, random_state=2)
    assert "cross-fitted, 1 repeat: about the procedure" in single.evidence


def test_whole_weights_are_repeats(patients):
    y, s = patients
    y, s = y[:80], s[:80]
    weight = np.arange(80) % 3
    weighted = bc.recalibration_gain(y, s, mapped(s), sample_weight=weight, random_state=0)
    repeated = bc.recalibration_gain(
        *(np.repeat(x, weight) for x in (y, s, mapped(s))), random_state=0
    )
    pd.testing.assert_frame_equal(weighted.summary(), repeated.summary(), check_exact=False)


@pytest.mark.parametrize("route", ["curve", "paired"])
def test_whole_sampling_weights_have_no_scale(patients, route):
    y, s = patients
    y, s = y[:80], s[:80]
    weight = np.where(np.arange(80) % 3, 4.0, 20.0)
    options = {"route": route, "weight_type": "sampling", "draws": 100, "random_state": 0}
    given = bc.recalibration_gain(y, s, mapped(s), sample_weight=weight, **options)
    halved = bc.recalibration_gain(y, s, mapped(s), sample_weight=weight / 2, **options)
    pd.testing.assert_frame_equal(given.summary(), halved.summary(), check_exact=True)
    assert given.n == pytest.approx(weight.sum() ** 2 / (weight @ weight))
    assert given.summary().attrs["weight_type"] == given.weight_type == "sampling"
    assert f"sampling weights worth {given.n:.1f} cases" in repr(given)


def test_a_net_benefit_that_rests_on_few_patients_says_so(patients, actual):
    y, s = patients
    after = expit(logit(s) + 0.02)
    gain = bc.recalibration_gain(y, s, after, thresholds=(0.3,), draws=200, random_state=0)
    moved = int(((after >= 0.3) != (s >= 0.3)).sum())
    assert 0 < moved < 10
    assert f"{moved} cases cross the threshold" in gain.notes[0]
    assert gain.notes[0] in " ".join(repr(gain).split())
    assert not actual.notes


# Which route


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "route"),
    [
        (mapped, "curve"),
        (lambda s: 1 - s, "curve"),
        (lambda s: np.round(s, 1), "curve"),
        (lambda s: expit(logit(s) + np.random.default_rng(0).normal(size=s.size)), "paired"),
    ],
)
def test_route(patients, change, route):
    y, s = patients
    gain = bc.recalibration_gain(y, s, change(s), draws=200, random_state=0)
    assert gain.route == route
    assert gain.summary().attrs["route"] == route
    assert ("One curve" in repr(gain)) == (route == "curve")


def test_equal_scores_with_unequal_successors_are_no_map():
    y, s = bc.simulate.sample("clinical-middle-shifted", 100, random_state=1)
    s = np.round(s, 1)
    after = np.clip(s + np.where(np.arange(100) % 2, 0.05, -0.02), 0, 1)
    assert bc.recalibration_gain(y, s, after, draws=200, random_state=0).route == "paired"
    with pytest.raises(InputError, match="needs after to be a map of before"):
        bc.recalibration_gain(y, s, after, route="curve")


def test_in_sample_gains_say_so(patients, actual):
    y, s = patients
    gain = bc.recalibration_gain(y, s, mapped(s), in_sample=True, draws=200, random_state=0)
    assert "in-sample" in gain.summary().attrs["evidence"]
    assert "overestimated" in repr(gain)
    assert "in-sample" not in repr(actual)
    assert "assumed to be fitted to other patients" in repr(actual)


# What it says


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.2, 0.7], [0.2]), "y_true has 2 observations but after has 1"),
        (([0, 1], [0.2], [0.2, 0.3]), "y_true has 2 observations but before has 1"),
        (([0, 1], [0.2, 1.7], [0.2, 0.3]), r"before\[1\] = 1.7 is outside"),
        (([0, 1], [0.2, 0.7], [0.2, np.nan]), r"after\[1\] = nan is missing"),
        (([0, 2], [0.2, 0.7], [0.2, 0.3]), r"y_true\[1\] = 2 is neither 0 nor 1"),
    ],
)
def test_refuses_what_are_no_pairs(arguments, message):
    with pytest.raises(InputError, match=message):
        bc.recalibration_gain(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thresholds": (1.0,)}, "thresholds must lie strictly between 0 and 1"),
        ({"route": "bootstrap"}, "route must be one of"),
        ({"draws": 3}, "draws must be a whole number"),
    ],
)
def test_refuses_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        bc.recalibration_gain([0, 1, 1], [0.2, 0.7, 0.5], [0.2, 0.6, 0.5], **options)


def test_unknown_measures_are_named(actual):
    with pytest.raises(InputError, match="measure must be one of"):
        actual.interval("auc")


# Cross-fitting


def test_cross_fits_pass_weights_on(patients):
    y, s = patients
    platt, options = bc.recalibrate.LogisticRecalibrator(), {"n_folds": 4, "random_state": 0}
    plain = bc.cross_fit(y, s, platt, **options)
    np.testing.assert_allclose(
        bc.cross_fit(y, s, platt, sample_weight=np.full(y.size, 2.0), **options), plain, atol=1e-9
    )
    uneven = bc.cross_fit(y, s, platt, sample_weight=1.0 + 5 * y, **options)
    assert (uneven > plain).all()


def test_cross_fitted_predictions_have_not_seen_their_patient(patients):
    class Memory:
        """Predicts 1 for a score it has seen."""

        def __sklearn_clone__(self):
            return Memory()

        def fit(self, X, y):
            self.seen = set(X.ravel().tolist())
            return self

        def predict_proba(self, X):
            known = np.array([float(value in self.seen) for value in X.ravel()])
            return np.column_stack([1 - known, known])

    y, s = patients
    after = bc.cross_fit(y, s, Memory(), n_folds=4, n_repeats=3, random_state=0)
    assert after.shape == (3, y.size)
    assert not after.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2"),
        ({"n_repeats": 0}, "n_repeats must be a whole number from 1 to 1,000"),
        ({"n_folds": 300}, "Use fewer folds"),
        ({"recalibrator": None}, "recalibrator must have fit and predict_proba, got None"),
    ],
)
def test_cross_fit_says_no(patients, options, message):
    options = {"recalibrator": bc.recalibrate.LogisticRecalibrator()} | options
    with pytest.raises(InputError, match=message):
        bc.cross_fit(*patients, **options)


# Maps and tables


MAPS = {
    "function": mapped,
    "recalibrator": bc.recalibrate.BetaRecalibrator(),
    "classifier": LogisticRegression(),
    "isotonic": IsotonicRegression(out_of_bounds="clip"),
}


@pytest.fixture(scope="module")
def trained():
    """Maps that were fitted to other patients."""
    y, s = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=5)
    return {
        name: kind if name == "function" else clone(kind).fit(s[:, None], y)
        for name, kind in MAPS.items()
    }


def values_of(kind, score):
    if hasattr(kind, "predict_proba"):
        return kind.predict_proba(score[:, None])[:, 1]
    return kind(score) if callable(kind) else kind.predict(score)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_maps_and_tables_gain_what_arrays_gain(patients, trained, name, weighted):
    y, s = patients
    weight = np.random.default_rng(0).gamma(2, size=y.size) if weighted else None
    options = {"draws": 200, "random_state": 1}
    expected = bc.recalibration_gain(
        y, s, values_of(trained[name], s), sample_weight=weight, **options
    )
    by_map = bc.recalibration_gain(y, s, trained[name], sample_weight=weight, **options)
    pd.testing.assert_frame_equal(by_map.summary(), expected.summary())
    data = bc.CalibrationData(y, s, weight)
    for after in (trained[name], values_of(trained[name], data.score)):
        of_table = bc.recalibration_gain(data, after=after, **options)
        assert of_table.route == expected.route
        assert of_table.n == pytest.approx(expected.n)
        np.testing.assert_allclose(
            of_table.summary()["mean"], expected.summary()["mean"], rtol=1e-9, atol=1e-12
        )


@pytest.mark.slow
def test_a_table_of_equal_scores_gains_what_its_arrays_gain_by_pairs(patients):
    """The weight of equal cases together is that of each of them, summed: one law, other draws."""
    y, s = patients
    s = s.round(1).clip(0.05, 0.95)
    options = {"route": "paired", "draws": 4000, "random_state": 1}
    expected = bc.recalibration_gain(y, s, mapped(s), **options).draws
    table = bc.recalibration_gain(bc.CalibrationData(y, s), after=mapped, **options).draws
    for name in ("brier", "log_score", "tce"):
        first, second = (float(draws[name].mean()) for draws in (expected, table))
        spread = float(expected[name].std())
        assert abs(first - second) < 0.1 * spread
        assert float(table[name].std()) == pytest.approx(spread, rel=0.1)


@pytest.mark.slow
def test_a_table_is_cross_fitted_by_its_cases(patients):
    y, s = patients
    data = bc.CalibrationData(y, s.round(2))
    outcome, score = cases_of(data)
    assert bc.CalibrationData(outcome, score) == data
    platt = bc.recalibrate.LogisticRecalibrator()
    options = {"n_folds": 4, "n_repeats": 2, "random_state": 0}
    crossed = bc.cross_fit(data, recalibrator=platt, **options)
    np.testing.assert_array_equal(crossed, bc.cross_fit(outcome, score, platt, **options))
    of_table = bc.recalibration_gain(data, after=crossed, draws=200, random_state=1)
    of_cases = bc.recalibration_gain(outcome, score, crossed, draws=200, random_state=1)
    pd.testing.assert_frame_equal(of_table.summary(), of_cases.summary())
    assert "cross-fitted, 2 repeats" in of_table.evidence


def test_tables_say_what_they_cannot_give(patients):
    y, s = patients
    platt = bc.recalibrate.LogisticRecalibrator()
    table = bc.CalibrationData(y, s.round(2))
    with pytest.raises(InputError, match="A table no longer knows the order of its cases"):
        bc.recalibration_gain(table, after=mapped(s))
    with pytest.raises(InputError, match="before was given beside a CalibrationData"):
        bc.recalibration_gain(table, s, mapped)
    with pytest.raises(InputError, match="after is missing"):
        bc.recalibration_gain(table)
    with pytest.raises(InputError, match="before is missing"):
        bc.recalibration_gain(y, after=mapped)
    with pytest.raises(InputError, match="y_prob was given beside a CalibrationData"):
        bc.cross_fit(table, platt)
    sampled = bc.CalibrationData(y, s, weight_type="sampling", sample_weight=1 + y / 2)
    with pytest.raises(InputError, match="sampling weights, which cannot be taken apart"):
        bc.cross_fit(sampled, recalibrator=platt)
    grid = bc.CalibrationData(*bc.simulate.sample("D3", 5000, random_state=0))
    with pytest.raises(InputError, match="compressed to a grid"):
        bc.cross_fit(grid, recalibrator=platt)
    with pytest.raises(InputError, match="neither predict_proba nor transform"):
        bc.recalibration_gain(y, s, LinearSVC())


def test_the_figure_says_what_was_gained(actual):
    ax = bc.plots.gain(actual, "log_score")
    assert ax.get_xlabel() == "Fall in log score per patient"
    assert f"helped {actual.prob_above(0, 'log_score'):.2f}" in ax.get_title("left").replace(
        "\n", " "
    )
    with pytest.raises(InputError, match="must be a RecalibrationGain"):
        bc.plots.gain("gain")


@pytest.mark.parametrize(
    ("events", "non_events", "told"),
    [(19, 60, "19 events"), (60, 19, "19 non-events"), (3, 2, "2 non-events"), (0, 30, "0 events")],
)
def test_nothing_is_recommended_of_too_few(events, non_events, told):
    y = np.repeat([1, 0], [events, non_events])
    s = np.random.default_rng(1).uniform(0.05, 0.5, y.size)
    advice = bc.recommend(y, s, draws=400, random_state=0)
    assert advice.choice is None
    assert str(advice).startswith(f"Nothing is recommended, with only {told}: at least 20 events")
    assert np.isfinite(advice.table).all(axis=None)


def test_twenty_of_each_are_enough_in_clusters_as_well():
    y = np.repeat([1, 0], 20)
    s = np.random.default_rng(1).uniform(0.05, 0.5, y.size)
    options = {"draws": 400, "random_state": 0}
    assert bc.recommend(y, s, **options).choice is not None
    clustered = bc.compare(y, s, cluster=np.arange(40) // 4 % 5, **options)
    assert recommendation(clustered).choice is not None
    weighted = bc.CalibrationData(
        y, s, sample_weight=np.linspace(0.5, 1.5, 40), weight_type="sampling"
    )
    assert "non-events" in str(bc.recommend(weighted, **options))
    imputed = bc.compare(y[1:], imputation=[s[1:], s[1:] ** 1.1], **options)
    assert recommendation(imputed).too_few == "19 events"
