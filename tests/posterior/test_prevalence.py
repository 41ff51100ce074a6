"""Another prevalence is an offset: of the risks, and of the scores that go with them."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError

DRAWS = 400
INTERCEPT, SLOPE = -0.5, 0.8


@pytest.fixture(scope="module")
def population():
    """Rare events, and a case-control sample of as many events as non-events."""
    rng = np.random.default_rng(1)
    x = rng.normal(-4, 1.2, 400_000)
    s = expit(x)
    y = (rng.random(x.size) < expit(INTERCEPT + SLOPE * x)).astype(int)
    chosen = np.concatenate([rng.choice(np.flatnonzero(y == k), 500, False) for k in (0, 1)])
    return y, s, chosen


@pytest.fixture(scope="module")
def sampled(population):
    y, s, chosen = population
    return bc.fit(y[chosen], s[chosen], curve="logistic", draws=DRAWS, random_state=1)


def test_a_case_control_study_gives_the_curve_of_the_population(population, sampled):
    y, s, _ = population
    corrected = sampled.at_prevalence(y.mean())
    at = np.array([0.01, 0.05, 0.1])
    true = expit(INTERCEPT + SLOPE * logit(at))
    lower, upper = np.quantile(corrected.curve(at).to_numpy().reshape(DRAWS, -1), [0.005, 0.995], 0)
    assert ((lower < true) & (true < upper)).all()
    assert (sampled.curve(at).mean(("chain", "draw")) > 5 * true).all()
    ratio = corrected.interval("observed_expected", 0.99)
    assert ratio[0] < y.mean() / s.mean() < ratio[1]
    assert ratio[1] - ratio[0] < 0.4
    slope = corrected.interval("calibration_slope", 0.99)
    assert slope[0] < SLOPE < slope[1]


def test_curve_and_weights_are_those_of_bayes_theorem(sampled, population):
    _, s, chosen = population
    few = bc.fit(population[0][chosen[450:550]], s[chosen[450:550]], curve="logistic",
                 draws=DRAWS, random_state=1)  # fmt: skip
    seen = few.at_prevalence(0.1)
    score, trials = few.data.score, few.data.trials
    g = few.curve(score).to_numpy().reshape(DRAWS, -1)
    weight = trials / trials.sum()
    old = (g @ weight)[:, None]
    joint = weight * g * 0.1 / old, weight * (1 - g) * 0.9 / (1 - old)
    expected = joint[0] / (joint[0] + joint[1])
    drawn = seen.curve(score).to_numpy().reshape(DRAWS, -1)
    np.testing.assert_allclose(drawn, expected, rtol=1e-8)
    events = seen.performance(population="sample")["events"]
    np.testing.assert_allclose(events, 0.1, rtol=1e-8)
    error = ((joint[0] + joint[1]) * np.abs(expected - score)).sum(axis=1)
    np.testing.assert_allclose(seen.values_of("tce", "sample"), error, rtol=1e-8)


def test_discrimination_does_not_depend_on_the_prevalence(sampled):
    before, after = (
        post.performance([0.3], "sample") for post in (sampled, sampled.at_prevalence(0.02))
    )
    np.testing.assert_allclose(before["c_statistic"], after["c_statistic"], rtol=1e-6)
    np.testing.assert_allclose(before["sensitivity"], after["sensitivity"], rtol=1e-6)
    np.testing.assert_allclose(before["specificity"], after["specificity"], rtol=1e-6)
    assert float(after["ppv"].mean()) < float(before["ppv"].mean()) - 0.1


def test_a_counted_prevalence_has_its_uncertainty(sampled):
    known, counted = sampled.at_prevalence(0.02), sampled.at_prevalence((20, 1000))
    wide, narrow = (post.values_of("observed_expected", "sample") for post in (counted, known))
    assert wide.std() > 1.5 * narrow.std()
    told = counted.prevalence_told.loc["told"]
    assert told["lower"] < 0.02 < told["upper"]
    assert known.prevalence_told.loc["told", "lower"] == 0.02


def test_with_new_scores_the_curve_gives_way_and_the_conflict_is_told(sampled, population):
    scores = population[1][:300]
    seen = sampled.on(scores).at_prevalence(0.45)
    np.testing.assert_allclose(seen.performance(population="sample")["events"], 0.45, rtol=1e-6)
    g = sampled.curve(scores).to_numpy().reshape(DRAWS, -1)
    table = seen.prevalence_told
    assert table.loc["implied", "mean"] == pytest.approx(g.mean(axis=1).mean(), abs=2e-3)
    moved = seen.curve(scores).to_numpy().reshape(DRAWS, -1)
    shift = logit(moved) - logit(g)
    np.testing.assert_allclose(shift, shift[:, :1] + np.zeros(300), atol=1e-8)
    assert table.loc["shift", "mean"] == pytest.approx(shift[:, 0].mean())
    assert "conflict: curve and scores imply a prevalence of" in repr(seen)
    assert "told was 0.45" in repr(seen)
    assert "conflict" not in repr(sampled.at_prevalence(0.45))


def test_averages_and_views_answer_too():
    y, s = bc.simulate.sample("calibrated", 300, random_state=1)
    average = bc.fit(y, s, draws=DRAWS, random_state=1).at_prevalence(0.1)
    assert average.values_of("tce").mean() > 0.05
    assert average.summary().notna().all(axis=None)
    sites = bc.fit(y, s, site=np.arange(300) % 5, curve="logistic", draws=DRAWS, random_state=1)
    for view in (sites.average(), sites.new("site"), sites.at(site="2")):
        seen = view.at_prevalence(0.1)
        assert float(seen.performance(population="sample")["events"].mean()) == pytest.approx(
            0.1, abs=0.03
        )


def test_what_it_cannot_do_is_refused(sampled, population):
    seen = sampled.at_prevalence(0.02)
    for wrong in (0, 1.2, (3, 2), (1, 2, 3), "half", (-1, 5), None):
        with pytest.raises((InputError, TypeError)):
            sampled.at_prevalence(wrong)
    with pytest.raises(InputError, match="other order"):
        seen.on([0.2, 0.3])
    with pytest.raises(InputError, match="already"):
        seen.at_prevalence(0.3)
    with pytest.raises(InputError, match="Save the one"):
        _ = seen.tree
    with pytest.raises(InputError, match="realised"):
        seen.performance(realised=True)
    with pytest.raises(InputError, match="before at_prevalence"):
        seen.value_of_information([0.3])
    with pytest.raises(InputError, match="before at_prevalence"):
        seen.off_diagonal()
    with pytest.raises(InputError, match="no prevalence"):
        _ = sampled.prevalence_told
    assert not seen.has_outcomes
    y, s = population[0][population[2]], population[1][population[2]]
    imputed = bc.fit(y, imputation=[s, s**1.1], curve="logistic", draws=DRAWS, random_state=1)
    with pytest.raises(InputError, match="imputations"):
        imputed.at_prevalence(0.1)
