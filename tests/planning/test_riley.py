"""Closed forms of sample sizes: published ones, their inverses, and what is refused."""

import numpy as np
import pytest
from scipy import stats

import bayescal as bc
from bayescal.errors import InputError
from bayescal.planning._riley import c_statistic_error, observed_expected_width, slope_error
from bayescal.planning.setting import as_truth, setting_of

HEART_VALVE = {"prevalence": 0.018, "c_statistic": 0.8, "log_odds": (-5, 2.5)}


def test_the_heart_valve_model_needs_what_was_published():
    widths = {"observed_expected": 1.0, "c_statistic": 0.1, "calibration_slope": 0.2}
    sizes = bc.planning.riley(**HEART_VALVE, widths=widths)
    assert list(sizes) == list(widths)
    assert sizes["observed_expected"] == pytest.approx(905, abs=0.5)
    assert sizes["c_statistic"] == pytest.approx(4252, abs=1)
    assert sizes["calibration_slope"] == pytest.approx(4554, abs=0.5)


@pytest.mark.parametrize(
    "scores", [bc.simulate.BetaScores(0.5, 0.5), stats.beta(0.5, 0.5)], ids=["law", "scipy"]
)
def test_the_slope_with_risks_from_a_beta_law_needs_what_was_published(scores):
    sizes = bc.planning.riley(scores=scores, widths={"calibration_slope": 0.2})
    assert sizes["calibration_slope"] == pytest.approx(1644, abs=0.5)


def test_log_odds_can_be_a_distribution_and_scores_an_array():
    widths = {"calibration_slope": 0.2}
    normal = bc.planning.riley(log_odds=(-1, 1.5), widths=widths)["calibration_slope"]
    law = bc.planning.riley(log_odds=stats.norm(-1, 1.5), widths=widths)["calibration_slope"]
    even = stats.norm(-1, 1.5).ppf((np.arange(50_000) + 0.5) / 50_000)
    risks = bc.planning.riley(scores=1 / (1 + np.exp(-even)), widths=widths)["calibration_slope"]
    assert law == pytest.approx(normal, rel=1e-6)
    assert risks == pytest.approx(normal, rel=1e-3)


def test_the_size_of_a_width_has_that_width():
    n = bc.planning.riley(prevalence=0.2, widths={"observed_expected": 0.3})["observed_expected"]
    assert observed_expected_width(np.array([0.2 * n]), n, stats.norm.ppf(0.975)) == pytest.approx(
        0.3
    )


def test_the_error_of_the_c_statistic_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    score = np.sort(np.round(rng.random(60), 1))
    y = rng.random(60) < score
    events, others = score[y], score[~y]
    wins = (events[:, None] > others) + 0.5 * (events[:, None] == others)
    variance = wins.mean(1).var(ddof=1) / events.size + wins.mean(0).var(ddof=1) / others.size
    levels, row = np.unique(score, return_inverse=True)
    trials = np.bincount(row, minlength=levels.size)[None].astype(float)
    hits = np.bincount(row, y, minlength=levels.size)[None]
    assert c_statistic_error(trials, hits) == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"widths": {}}, "widths"),
        ({"widths": {"tce": 0.1}}, "widths"),
        ({"widths": {"c_statistic": 0}}, "widths"),
        ({"prevalence": 0}, "prevalence"),
        ({"prevalence": None}, "prevalence is missing"),
        ({"c_statistic": 1}, "c_statistic"),
        ({"c_statistic": 0.5}, "c_statistic"),
        ({"c_statistic": None}, "c_statistic is missing"),
        ({"log_odds": 3}, "log_odds"),
        ({"log_odds": (0, 0)}, "log_odds"),
        ({"scores": [0.1, 0.2]}, "log_odds and scores"),
        ({"log_odds": None, "scores": [0.2, 0.2]}, "scores are all equal"),
        ({"log_odds": None}, "log_odds is missing"),
    ],
)
def test_what_gives_no_size_is_refused(change, message):
    widths = {"observed_expected": 1.0, "c_statistic": 0.1, "calibration_slope": 0.2}
    with pytest.raises(InputError, match=message):
        bc.planning.riley(**{**HEART_VALVE, "widths": widths, **change})


@pytest.fixture(scope="module", params=["clinical", "clinical-middle-overconfident"])
def simulated(request):
    scores = bc.simulate.scores(prevalence=0.3, c_statistic=0.75)
    setting = setting_of(as_truth(request.param), scores, 12, 1)
    return setting, *setting.counts(3000, 1)


def test_the_slope_of_a_regression_has_the_error_of_its_information(simulated):
    from sklearn.linear_model import LogisticRegression

    setting, trials, hits = simulated
    error = slope_error(setting.score, trials, hits)
    score, cases, events = setting.score_of(0), trials[0], hits[0]
    x = np.log(score / (1 - score))
    y = np.repeat([1, 0], score.size)
    weight = np.concatenate([events, cases - events])
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(np.tile(x, 2)[:, None], y, weight)
    risk = model.predict_proba(x[:, None])[:, 1]
    each = cases * risk * (1 - risk)
    spread = each @ (x - each @ x / each.sum()) ** 2
    assert error[0] == pytest.approx(1 / np.sqrt(spread), rel=1e-4)


def test_counts_of_a_study_do_not_depend_on_the_others(simulated):
    setting, trials, hits = simulated
    part = setting.part(range(5, 8))
    some, events = part.counts(3000, 1, 5)
    np.testing.assert_array_equal(some, trials[5:8])
    np.testing.assert_array_equal(events, hits[5:8])
    assert (trials.sum(axis=1) == 3000).all()
