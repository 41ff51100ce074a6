"""Consistency checks: exact for calibrated models, and honest about how little few cases say."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import bayescal as bc
from bayescal import estimators
from bayescal.errors import InputError
from bayescal.estimators import uncertainty
from bayescal.estimators.uncertainty import applied_of
from bayescal.validation import consistency as checks
from bayescal.validation.consistency import check_consistency


def fitted(name, n, seed, **options):
    y_true, y_prob = bc.simulate.sample(name, n, random_state=seed)
    return bc.fit(y_true, y_prob, random_state=seed, **{"curve": "beta"} | options)


@pytest.fixture(scope="module")
def post():
    return fitted("clinical-middle-overconfident", 400, 1)


@pytest.fixture(scope="module")
def result(post):
    return check_consistency(post)


# What it says


@pytest.mark.slow
def test_tails_under_calibration_are_uniform_for_calibrated_models():
    # Signed, since a floored estimate is often exactly zero.
    ways = {"ece": {}, "debiased_ece": {"signed": True}}
    tails = {name: [] for name in ways}
    for seed in range(200):
        post = fitted("clinical-middle-calibrated", 100, seed, curve="identity", draws=200)
        for name, options in ways.items():
            check = check_consistency(post, name, n_resamples=200, n_bins=10, **options)
            tails[name].append(check.prob_calibrated_exceeds)
    for values in tails.values():
        assert stats.kstest(values, "uniform").pvalue > 1e-3
        assert 2 <= np.count_nonzero(np.array(values) < checks.RARE) <= 20


def test_a_badly_calibrated_model_is_out_of_range():
    check = check_consistency(fitted("D5", 500, 2))
    assert check.prob_calibrated_exceeds == 0
    assert 0.05 < check.prob_posterior_exceeds < 0.95
    assert check.verdict == "larger than in all 1,000 data sets from a calibrated model"


def test_the_verdict_counts(result):
    share = 1 - result.prob_calibrated_exceeds
    assert 0.95 < share < 1
    assert (
        result.verdict == f"larger than in {100 * share:.3g} % of data sets from a calibrated model"
    )


def test_one_in_two_thousand_is_not_rounded_to_all(result):
    values = np.append(np.zeros(1999), 1.0)
    rare = replace(result, observed=0.5, under_calibration=values)
    assert "99.9 % of" in rare.verdict


def test_twenty_cases_are_too_few_to_tell():
    check = check_consistency(fitted("calibrated", 20, 1))
    assert check.too_few_to_tell
    assert check.verdict.startswith(
        "within what perfect calibration produces at this n, but n = 20 is too small to tell"
    )
    assert np.median(check.under_calibration) > 0.15


def test_enough_cases_of_a_calibrated_model():
    check = check_consistency(fitted("calibrated", 1000, 1))
    assert check.verdict == "within what perfect calibration produces at this n"
    assert not check.too_few_to_tell


def test_the_summary_is_of_the_replicates(result):
    table = result.summary(0.9)
    assert list(table.index) == ["calibration", "posterior"]
    assert list(table.columns) == ["observed", "mean", "median", "lower", "upper", "prob_exceeds"]
    lower = np.quantile(result.under_posterior, 0.05)
    assert table.loc["posterior", "lower"] == pytest.approx(lower)
    assert table.loc["calibration", "prob_exceeds"] == result.prob_calibrated_exceeds
    assert table.attrs == {"estimator": "ece", "ci_prob": 0.9, "verdict": result.verdict}
    assert repr(result) == f"Consistency(ece = {result.observed:.3g}: {result.verdict})"


# What it does


def test_the_observed_value_is_the_estimate_on_the_data(post, result):
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    assert result.observed == pytest.approx(estimators.ece(y_true, y_prob), rel=1e-12)
    other = check_consistency(post, "ece", n_resamples=5, n_bins=5, p=2)
    assert other.observed == pytest.approx(estimators.ece(y_true, y_prob, n_bins=5, p=2))


def test_seeds_repeat(post, result):
    again = check_consistency(post)
    np.testing.assert_array_equal(again.under_calibration, result.under_calibration)
    np.testing.assert_array_equal(again.under_posterior, result.under_posterior)
    first, second = (check_consistency(post, n_resamples=20, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.under_posterior, second.under_posterior)
    other = check_consistency(post, n_resamples=20, random_state=np.random.default_rng(4))
    assert (other.under_posterior != first.under_posterior).any()


def test_replicates_have_the_mean_that_they_should(post):
    """With one bin and p = 2, the mean square gap is variance plus squared mean difference."""
    check = check_consistency(post, "ece", n_resamples=4000, n_bins=1, p=2)
    score = post.data.score
    expected = (score * (1 - score)).sum() / score.size**2
    actual = check.under_calibration**2
    assert actual.mean() == pytest.approx(expected, abs=4 * actual.std() / np.sqrt(4000))
    curve = post.curve().to_numpy().reshape(-1, score.size)
    drawn = (curve * (1 - curve)).sum(axis=1) / score.size**2
    drawn += (curve - score).mean(axis=1) ** 2
    actual = check.under_posterior**2
    assert actual.mean() == pytest.approx(drawn.mean(), abs=4 * actual.std() / np.sqrt(4000))


@pytest.mark.parametrize("resample_scores", [False, True])
def test_the_routes_agree(post, resample_scores, monkeypatch):
    """By case in one call, by case in a loop, and by row with weights: one distribution."""

    def only_pairs(y_true, y_prob):
        if np.ndim(y_true) != 1:
            raise TypeError("one data set at a time")
        return float(estimators.ece(y_true, y_prob))

    options = {"n_resamples": 600, "resample_scores": resample_scores}
    first = check_consistency(post, **options)
    second = check_consistency(post, only_pairs, **options)
    np.testing.assert_allclose(second.under_posterior, first.under_posterior, rtol=1e-9)
    assert second.estimator == "only_pairs"
    monkeypatch.setattr(uncertainty, "MOST_RESAMPLED", 0)
    third = check_consistency(post, **options)
    assert stats.ks_2samp(third.under_posterior, first.under_posterior).pvalue > 1e-3
    assert stats.ks_2samp(third.under_calibration, first.under_calibration).pvalue > 1e-3


@pytest.mark.parametrize("most", [20_000, 100])
def test_shared_outcomes_give_the_replicates_of_each_estimator_alone(post, most, monkeypatch):
    def gap(y_true, y_prob):  # takes no weights
        return float(abs(np.mean(y_true) - np.mean(y_prob)))

    monkeypatch.setattr(uncertainty, "MOST_RESAMPLED", most)
    shared = checks.CalibratedOutcomes(post, 40, 3)
    for estimator in ("ece", gap, "ks_error"):
        alone = check_consistency(post, estimator, n_resamples=40, predict=False, random_state=3)
        actual = shared.check(applied_of(estimator, {}))
        np.testing.assert_array_equal(actual.under_calibration, alone.under_calibration)
        assert actual.verdict == alone.verdict


@pytest.mark.parametrize("most", [20_000, 100])
@pytest.mark.parametrize("estimator", ["ece", "smooth_ece"])
def test_fits_that_take_turns_share_the_data_sets(post, most, estimator, monkeypatch):
    monkeypatch.setattr(uncertainty, "MOST_RESAMPLED", most)
    monkeypatch.setattr(uncertainty, "SIMULATED_BLOCK", 3 * 800)
    applied = applied_of(estimator, {})
    every = checks.CalibratedOutcomes(post, 10, 3).check(applied).under_calibration
    for k in range(4):
        mine = checks.CalibratedOutcomes(post, 10, 3, (k, 4)).check(applied).under_calibration
        np.testing.assert_allclose(mine, every[k::4], rtol=1e-6)


def test_only_resampling_changes_the_scores(post):
    def mean_score(y_true, y_prob):
        return float(np.mean(y_prob))

    fixed = check_consistency(post, mean_score, n_resamples=50)
    assert np.ptp(fixed.under_calibration) < 1e-12
    other = check_consistency(post, mean_score, n_resamples=400, resample_scores=True)
    assert other.observed == fixed.observed
    expected = post.data.score.std() / np.sqrt(post.data.n)
    assert other.under_calibration.std() == pytest.approx(expected, rel=0.2)
    assert other.under_posterior.mean() == pytest.approx(fixed.observed, abs=expected / 4)


def test_a_function_that_broadcasts_wrongly_is_looped(post):
    def brier(y_true, y_prob):
        """Right for one data set; for two it sums over the wrong axis, with the right shape."""
        return ((np.asarray(y_true) - y_prob) ** 2).mean() * np.ones(np.shape(y_true)[:-1])

    check = check_consistency(post, brier, n_resamples=50)
    assert check.under_calibration.std() > 0


def test_replicates_that_define_no_estimate_are_left_out():
    def event_rate_ratio(y_true, y_prob):
        if np.ndim(y_true) == 1 and not np.any(y_true):
            raise InputError("y_true has no events.")
        return float(np.sum(y_prob) / np.sum(y_true))

    post = bc.fit([1, 0, 0, 0, 0], [0.2, 0.1, 0.1, 0.1, 0.1], curve="beta", random_state=0)
    check = check_consistency(post, event_rate_ratio, n_resamples=200)
    assert 0 < np.isnan(check.under_calibration).sum() < 200
    assert 0 < check.prob_calibrated_exceeds < 1
    assert np.isfinite(check.summary().to_numpy()).all()
    bc.plots.consistency(check, Figure().subplots())


def test_scores_of_0_and_1_are_read_as_rounded():
    y_true, y_prob = [1, 0, 1, 1] * 10, [0.0, 0.3, 0.6, 1.0] * 10
    post = bc.fit(y_true, y_prob, curve="beta", random_state=0)
    check = check_consistency(post, n_resamples=500)
    assert np.isfinite(check.under_calibration).all()
    # Ten scores of 0 are simulated as 0.075, so they do have events now and then.
    assert check.under_calibration.max() > estimators.ece([0] * 40, [0.0] * 40)
    assert check.observed == pytest.approx(estimators.ece(y_true, y_prob))


def test_sampling_weights_count_as_effective_cases():
    y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    weight = np.random.default_rng(0).uniform(0.1, 3, 300)
    post = bc.fit(y_true, y_prob, curve="beta", sample_weight=weight, random_state=1)
    check = check_consistency(post, n_resamples=100)
    assert check.cases == round(weight.sum() ** 2 / (weight @ weight))
    assert check.observed == pytest.approx(estimators.ece(y_true, y_prob, sample_weight=weight))
    with pytest.raises(InputError, match="takes no sample_weight"):
        check_consistency(post, lambda y, s: 0.0)


def test_weights_are_repeats():
    y_true, y_prob = [0, 1, 1, 0], [0.2, 0.6, 0.8, 0.4]
    weighted = bc.fit(y_true, y_prob, curve="beta", sample_weight=[3, 2, 1, 4], random_state=0)
    repeated = bc.fit(np.repeat(y_true, [3, 2, 1, 4]), np.repeat(y_prob, [3, 2, 1, 4]),
                      curve="beta", random_state=0)  # fmt: skip
    first, second = (check_consistency(post, n_resamples=30) for post in (weighted, repeated))
    assert first.observed == second.observed
    np.testing.assert_array_equal(first.under_posterior, second.under_posterior)


# Hostile input


def test_asks_for_a_fit_first():
    with pytest.raises(InputError, match="post must be a CalibrationPosterior, got list"):
        check_consistency([0, 1])


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        ("nope", {}, "estimator must be one of"),
        ("fit_bpm_curve", {}, "estimator must be one of"),
        (bc.estimators.fit_bpm_curve, {}, "returned BPMCurve, not one number"),
        (lambda y, s: np.nan, {}, "is nan on the data"),
        (lambda y, s: np.array([1.0, 2.0]), {}, "returned ndarray, not one number"),
        ("ece", {"n_resamples": 0}, "n_resamples must be a whole number from 1 to"),
        ("ece", {"n_bins": -1}, "n_bins"),
    ],
)
def test_refuses(post, estimator, options, message):
    with pytest.raises(InputError, match=message):
        check_consistency(post, estimator, **options)


def test_an_estimator_that_no_replicate_defines():
    calls = []

    def once(y_true, y_prob):
        calls.append(1)
        if len(calls) > 1:
            raise InputError("y_true is not defined.")
        return 0.5

    post = bc.fit([0, 1, 1], [0.2, 0.6, 0.8], curve="beta", random_state=0)
    with pytest.raises(InputError, match="undefined on every simulated data set"):
        check_consistency(post, once, n_resamples=5)


# The figure


def test_the_figure_draws_the_replicates_and_the_line(result):
    ax = Figure().subplots()
    assert bc.plots.consistency(result, ax) is ax
    (line,) = ax.collections
    assert line.get_segments()[0][0, 0] == result.observed
    assert ax.get_xlabel() == "ECE in 400 cases"
    assert ax.get_title(loc="left").startswith(f"ECE {result.observed:.3g}\nLarger than")
    shares = [patch.get_data().values.sum() for patch in ax.patches]
    assert shares == pytest.approx([1, 1, 1, 1])
    low, high = ax.get_xlim()
    assert low == 0
    assert high > max(result.observed, result.under_posterior.max())


def test_the_figure_of_equal_and_of_negative_values(result):
    flat = replace(
        result,
        observed=0.0,
        under_calibration=np.zeros(10),
        under_posterior=np.zeros(10),
        estimator="mine",
    )
    ax = bc.plots.consistency(flat, Figure().subplots(), legend=False)
    assert ax.get_legend() is None
    assert ax.get_xlabel().startswith("mine in")
    below = bc.plots.consistency(replace(flat, observed=-0.2), Figure().subplots())
    assert below.get_xlim()[0] < -0.2


def test_the_figure_makes_its_own_axes_and_refuses_others(result):
    assert bc.plots.consistency(result).figure is not None
    with pytest.raises(InputError, match="result must be a Consistency, got float"):
        bc.plots.consistency(0.3)
