"""What updates are said to gain, which one is chosen, and the sentence that says so."""

import re

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError
from bayescal.gain import recommendation
from bayescal.gain.advice import (
    AT_LEAST,
    Recommendation,
    closed_test,
    simplest_that_keeps,
)
from bayescal.gain.updates import gains_of, gains_on, optimism_of
from bayescal.model.curves import updates

DRAWS = 100
NONE = np.zeros(DRAWS)


def better_in(draws):
    """Gains of 1 in so many draws, and of -1 in the others."""
    return np.where(np.arange(DRAWS) < draws, 1.0, -1.0)


def gains_of_mean(mean, share):
    """Gains of this mean, above 0 in so many draws of 100."""
    up = better_in(share)
    return np.where(up > 0, (mean * DRAWS + (DRAWS - share)) / share, -1.0)


@pytest.mark.parametrize(
    ("gains", "fewer", "choice"),
    [
        ({"intercept": (1.0, 69), "logistic": (1.2, 69)}, 500, "identity"),
        ({"intercept": (1.0, 95), "logistic": (1.2, 69)}, 500, "identity"),
        ({"intercept": (1.0, 60), "logistic": (1.2, 70)}, 500, "intercept"),
        ({"intercept": (0.9, 95), "logistic": (1.2, 70)}, 500, "logistic"),
        ({"logistic": (1.0, 90), "beta": (1.2, 90), "spline": (1.4, 90)}, 500, "beta"),
        ({"logistic": (1.0, 90), "beta": (1.2, 90), "spline": (1.4, 90)}, 199, "logistic"),
        ({"beta": (1.2, 90), "spline": (1.4, 90)}, 199, "identity"),
    ],
)
def test_the_simplest_that_keeps_most_of_the_gain_of_the_best(gains, fewer, choice):
    drawn = {name: gains_of_mean(*each) for name, each in gains.items()}
    assert simplest_that_keeps({"identity": NONE} | drawn, fewer) == choice


def test_the_closed_test_goes_from_none_to_intercept_to_slope():
    choices = {
        scenario: closed_test(
            bc.CalibrationData(*bc.simulate.sample(scenario, 2000, random_state=1))
        )
        for scenario in ("clinical-middle-calibrated", "clinical-middle-overconfident")
    }
    assert choices == {
        "clinical-middle-calibrated": "identity",
        "clinical-middle-overconfident": "logistic",
    }
    y, s = bc.simulate.sample("clinical-middle-shifted", 2000, random_state=1)
    assert closed_test(bc.CalibrationData(y, s)) == "intercept"
    clustered = bc.CalibrationData(y, s, cluster=np.arange(2000) // 4)
    assert closed_test(clustered) is None


def test_scores_that_run_the_wrong_way_get_no_update():
    y, s = bc.simulate.sample("clinical-middle-calibrated", 400, random_state=1)
    advice = bc.recommend(1 - y, s, draws=400, random_state=1)
    assert advice.choice is None
    assert "run the wrong way" in str(advice)
    assert "Updates" not in [section.title for section in advice.page().sections]


@pytest.fixture(scope="module")
def truth():
    return bc.simulate.truth("clinical-middle-overconfident")


@pytest.fixture(scope="module")
def many(truth):
    """So many patients that gains are nearly known."""
    return bc.compare(*truth.sample(20_000, random_state=2), draws=1000, random_state=1)


def at_scores(truth):
    score = np.array([truth.score_quantile(level) for level in (np.arange(2000) + 0.5) / 2000])
    return score, truth.curve(score)


@pytest.mark.slow
def test_gains_are_those_of_the_fitted_update_under_the_true_curve(truth, many):
    thresholds = (0.1, 0.4)
    advice = recommendation(many, thresholds)
    score, risk = at_scores(truth)
    for name in ("intercept", "logistic", "spline"):
        fitted = bc.fit(many.data, curve=name, draws=1000, random_state=1)
        after = fitted.predict(score).to_numpy().reshape(-1, score.size).mean(axis=0)
        row = advice.table.loc[name]
        fall = np.mean((risk - score) ** 2 - (risk - after) ** 2)
        assert row["brier_gain"] == pytest.approx(fall, abs=0.0012)
        assert row["brier_lower"] <= fall <= row["brier_upper"]
        rises = []
        for t in thresholds:
            worth = risk - (1 - risk) * t / (1 - t)
            rises.append(np.mean(worth * ((after >= t) * 1.0 - (score >= t))))
            ends = row[f"net_benefit_lower@{t:g}"], row[f"net_benefit_upper@{t:g}"]
            assert ends[0] - 2e-4 <= rises[-1] <= ends[1] + 2e-4
        assert row["net_benefit_gain"] == pytest.approx(np.mean(rises), abs=0.001)
    assert advice.table.loc["logistic", "brier_gain"] > 0.005


def test_no_update_gains_nothing_and_intervals_hold_the_estimate():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    advice = bc.recommend(y, s, thresholds=(0.3, 0.1, 0.3), draws=400, random_state=1)
    assert advice.thresholds == (0.1, 0.3)
    table = advice.table
    assert list(table.index) == list(updates())
    assert (table.loc["identity"] == 0).all()
    for measure in ("brier{}", "net_benefit{}", "net_benefit{}@0.1", "net_benefit{}@0.3"):
        gain, lower, upper = (table[measure.format(f"_{p}")] for p in ("gain", "lower", "upper"))
        assert ((lower <= gain) & (gain <= upper)).all()
    mean = (table["net_benefit_gain@0.1"] + table["net_benefit_gain@0.3"]) / 2
    np.testing.assert_allclose(table["net_benefit_gain"], mean, atol=1e-12)
    narrow = bc.recommend(y, s, ci_prob=0.5, draws=400, random_state=1).table
    assert (narrow["brier_upper"] <= table["brier_upper"]).all()
    assert narrow.loc["logistic", "brier_upper"] < table.loc["logistic", "brier_upper"]


def test_exact_calibration_is_among_the_draws():
    y, s = bc.simulate.sample("clinical-middle-calibrated", 500, random_state=4)
    comparison = bc.compare(y, s, draws=1000, random_state=1)
    advice = recommendation(comparison)
    assert comparison.prob_calibrated > 0.1
    exact = comparison.prob_calibrated
    assert (advice.table["prob_better"] <= 1 - exact + 0.002).all()
    assert advice.choice == "identity"


def test_optimism_is_that_of_fits_without_the_patient():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 40, random_state=3)
    held_out, options = np.empty(y.size), {"curve": "logistic", "draws": 1000, "random_state": 0}
    for at in range(y.size):
        others = np.arange(y.size) != at
        held_out[at] = float(bc.fit(y[others], s[others], **options).predict(s[[at]]).mean())
    fitted = bc.fit(y, s, **options).predict(s).to_numpy().reshape(-1, y.size).mean(axis=0)
    comparison = bc.compare(y, s, random_state=0)
    order = np.argsort(s)
    optimism = optimism_of(comparison, {"logistic": fitted[order]}, (0.4,))
    brier = np.mean((y - held_out) ** 2 - (y - fitted) ** 2)
    assert brier > 0.005
    assert optimism[0, 0] == pytest.approx(brier, abs=0.0015)
    benefits = [bc.scores.net_benefit(y, risk, 0.4) for risk in (fitted, held_out)]
    assert optimism[1, 0] == pytest.approx(benefits[0] - benefits[1], abs=0.03)


def test_optimism_is_taken_off_in_one_draw_of_four():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    comparison = bc.compare(y, s, draws=400, random_state=1)
    gains = gains_of(comparison)["brier"]["logistic"]
    of = comparison.posterior.tables[0].distances
    family, u = comparison.of_family("logistic")
    after = family.probability(u, family.score).mean(axis=0)
    plain = np.concatenate(
        [
            np.sum(
                d.population.weight * ((d.curve - family.score) ** 2 - (d.curve - after) ** 2), 1
            )
            for _, d in of.draws("bootstrap")
        ]
    )
    lowered = plain - gains
    ((optimism,),) = optimism_of(comparison, {"logistic": after}, ())
    np.testing.assert_allclose(lowered[::4], optimism, atol=1e-12)
    np.testing.assert_allclose(np.delete(lowered, np.s_[::4]), 0, atol=1e-12)


def test_clusters_make_it_less_certain():
    y, s = (np.repeat(a, 4) for a in bc.simulate.sample("clinical-middle-shifted", 150, 3))
    cluster = np.repeat(np.arange(150), 4)
    options = {"draws": 1000, "random_state": 1}
    apart = recommendation(bc.compare(y, s, **options)).table.loc["intercept"]
    together = recommendation(bc.compare(y, s, cluster=cluster, **options)).table.loc["intercept"]
    widths = [row["brier_upper"] - row["brier_lower"] for row in (apart, together)]
    assert widths[1] > 1.4 * widths[0]


def test_gains_of_imputations_have_rubin_s_mean_and_variance():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    noise = np.random.default_rng(1).normal(0.3, 0.6, (3, s.size))
    imputed = 1 / (1 + (1 - s) / s * np.exp(noise))
    comparison = bc.compare(y, imputation=imputed, draws=400, random_state=1)
    parts = zip(comparison.posterior.tables, comparison.imputations, strict=True)
    gains = gains_of(comparison, (0.2,))
    names = list(gains["brier"])
    each = np.stack([gains_on(of.distances, one, names, (0.2,)) for of, one in parts])
    for k, both in enumerate(gains.values()):
        draws = each[:, :, k, names.index("logistic")]
        centres = draws.mean(axis=1)
        assert both["logistic"].mean() == pytest.approx(centres.mean())
        total = draws.var(axis=1).mean() + (1 + 1 / 3) * centres.var(ddof=1)
        assert both["logistic"].var() == pytest.approx(total)


def test_the_net_benefit_decides_where_there_are_thresholds():
    rng = np.random.default_rng(1)
    s = rng.choice([0.02, 0.04, 0.6, 0.9], 1200)
    y = (rng.random(s.size) < np.where(s > 0.5, s - 0.25, s)).astype(int)
    by_brier = bc.recommend(y, s, draws=1000, random_state=1)
    assert by_brier.choice not in (None, "identity")
    assert (by_brier.measure, by_brier.thresholds) == ("brier", ())
    nobody_crosses = bc.recommend(y, s, thresholds=[0.2], draws=1000, random_state=1)
    assert (nobody_crosses.choice, nobody_crosses.measure) == ("identity", "net_benefit")
    assert str(nobody_crosses) == "No update is recommended: none is expected to gain."
    assert nobody_crosses.table["brier_gain"].equals(by_brier.table["brier_gain"])
    some_cross = bc.recommend(y, s, thresholds=[0.45, 0.5], draws=1000, random_state=1)
    assert some_cross.choice not in (None, "identity")
    assert "raises the mean net benefit at 0.45, 0.5" in str(some_cross)


@pytest.mark.parametrize("thresholds", [[1.2], [0.0], ["a"], 0.1, [np.nan]])
def test_thresholds_are_checked(thresholds):
    with pytest.raises(InputError, match="thresholds"):
        bc.recommend([0, 1] * 20, np.linspace(0.1, 0.9, 40), thresholds=thresholds)


SENTENCES = [
    (
        ("logistic", 0.0071, 0.98, ()),
        "Recommended: update intercept and slope (logistic recalibration). It lowers the sum of "
        "the Brier scores of 1000 patients by 7.1 (1.1 to 13.1), with probability 0.98.",
    ),
    (
        ("identity", 0.0011, 0.62, ()),
        "No update is recommended: to update intercept and slope (logistic recalibration) would "
        "lower the sum of the Brier scores of 1000 patients by 1.1 (-4.9 to 7.1), with probability "
        "0.62; {level} is required.",
    ),
    (("identity", -0.001, 0.3, ()), "No update is recommended: none is expected to gain."),
    (
        ("logistic", 0.0071, 0.98, (0.1,)),
        "Recommended: update intercept and slope (logistic recalibration). It raises the net "
        "benefit at 0.1 of 1000 patients by 7.1 (1.1 to 13.1), with probability 0.98.",
    ),
]


@pytest.mark.parametrize(("case", "told"), SENTENCES)
def test_a_sentence_has_one_measure_and_its_interval(case, told):
    import pandas as pd

    choice, gain, better, thresholds = case
    measure = "net_benefit" if thresholds else "brier"
    row = {"gain": gain, "lower": gain - 0.006, "upper": gain + 0.006}
    row = {f"{measure}_{part}": value for part, value in row.items()} | {"prob_better": better}
    table = pd.DataFrame.from_dict(
        {"identity": dict.fromkeys(row, 0.0), "logistic": row}, orient="index"
    )
    advice = Recommendation(choice, table, 500.0, thresholds=thresholds)
    assert str(advice) == told.format(level=AT_LEAST)
    for sentence in re.split(r"(?<=[.:]) ", str(advice)):
        assert len(re.findall("Brier score|net benefit|log score", sentence)) <= 1


def test_the_card_shows_every_update_with_its_interval():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    advice = bc.recommend(y, s, thresholds=[0.1], draws=400, random_state=1)
    shown = advice._repr_html_()
    for name in advice.table.index.drop("identity"):
        assert advice.shown(name, "brier") in shown
        assert advice.shown(name, "net_benefit@0.1") in shown


def test_recommend_and_assess_say_the_same_of_the_same_cases_and_seed():
    cases = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=2)
    how = {"draws": 400, "random_state": 3}
    advice, assessed = bc.recommend(*cases, **how), bc.assess(*cases, **how)
    assert advice.table.equals(assessed.recommendation.table)
    assert str(advice) == str(assessed.recommendation)
