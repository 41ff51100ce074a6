"""Consistency checks of times to an event, whose replicates leave as the cases did."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.estimators import survival_indices, survival_observed_expected
from bayescal.validation.followed import SimulatedTimes

SIZE = 600


def drawn(risk_of=expit, seed=3):
    """Patients of whom those with high scores leave early."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.8, 1.1, SIZE)
    happens = (-rng.exponential(1, SIZE) / np.log1p(-risk_of(x))) ** (1 / 1.2)
    left = np.minimum(rng.exponential(1, SIZE) / (0.6 * np.exp(0.8 * (x + 0.8))), 2.0)
    return bc.Survival(np.minimum(happens, left), happens <= left), expit(x)


@pytest.fixture(scope="module")
def post():
    return bc.fit(*drawn(), horizon=1, draws=400, random_state=1)


@pytest.fixture(scope="module")
def replicates(post):
    simulated = SimulatedTimes(post.problem)
    score = post.problem.data.score[simulated.row]
    rng = np.random.default_rng(1)
    return simulated, list(simulated.replicates(np.tile(score, (300, 1)), rng))


def test_replicates_have_as_many_who_leave_and_events_as_scores_say(post, replicates):
    simulated, each = replicates
    seen = simulated.observed
    np.testing.assert_array_equal(each[0].score, seen.score)
    left = np.mean([one.left.mean() for one in each])
    assert left == pytest.approx(seen.left.mean(), abs=0.03)
    # nobody leaves: as many events as the scores say
    fifth = slice(-SIZE // 5, None)
    left = np.mean([one.left[fifth].mean() for one in each])
    assert left == pytest.approx(seen.left[fifth].mean(), abs=0.06)


def test_without_leaving_replicates_are_binomial():
    score = drawn()[1]
    rng = np.random.default_rng(5)
    event = rng.random(SIZE) < score
    seen = bc.Survival(np.where(event, rng.uniform(0.1, 1, SIZE), 1.5), event)
    simulated = SimulatedTimes(bc.fit(seen, score, horizon=1, draws=400, random_state=1).problem)
    given = np.tile(simulated.observed.score, (400, 1))
    each = list(simulated.replicates(given, rng))
    assert not any(one.left.any() for one in each)
    counts = np.array([one.event.sum() for one in each])
    sd = np.sqrt(np.sum(score * (1 - score)))
    assert counts.mean() == pytest.approx(score.sum(), abs=4 * sd / 20)
    assert counts.std() == pytest.approx(sd, rel=0.15)


def test_events_come_when_the_law_says(post, replicates):
    """Among the observed, as many in each third of the time as among the replicates."""
    simulated, each = replicates
    edges = [0, 400, 800, 1201]
    ours = np.histogram(np.concatenate([one.last[one.event] for one in each]), edges)[0] / 300
    seen = np.histogram(simulated.observed.last[simulated.observed.event], edges)[0]
    np.testing.assert_array_less(np.abs(ours - seen), 4 * np.sqrt(seen))


def test_estimates_on_data_are_those_of_the_estimators(post):
    outcome, score = drawn()
    of = {"n_resamples": 20, "predict": False}
    ici = bc.check_consistency(post, method="ipcw", **of)
    told = survival_indices(outcome, score, horizon=1, method="ipcw")
    assert ici.observed == pytest.approx(told.ici, rel=1e-9)
    ratio = bc.check_consistency(post, "survival_observed_expected", **of)
    told = survival_observed_expected(outcome, score, horizon=1)
    assert ratio.observed == pytest.approx(abs(np.log(told.estimate)), rel=1e-9)
    assert ratio.under_posterior.size == 0

    def mean_score_of_events(cases):
        return float(cases.score[cases.event].mean())

    own = bc.check_consistency(post, mean_score_of_events, n_resamples=30)
    assert own.estimator == "mean_score_of_events"
    assert own.under_posterior.size == 30


def test_a_wrong_model_is_seen_and_its_curve_gives_its_estimates():
    wrong = bc.fit(*drawn(lambda x: expit(-0.7 + 0.7 * x)), horizon=1, draws=400, random_state=1)
    check = bc.check_consistency(wrong, "survival_ici", n_resamples=60)
    assert check.prob_calibrated_exceeds < 0.05
    assert 0.03 < check.prob_posterior_exceeds < 0.97
    again = bc.check_consistency(wrong, "survival_ici", n_resamples=60)
    np.testing.assert_array_equal(check.under_posterior, again.under_posterior)


@pytest.mark.slow
def test_competing_events_and_late_entries_are_simulated():
    outcome, score = drawn()
    code = outcome.event.astype(int)
    code[(np.arange(SIZE) % 5 == 0) & ~outcome.event] = 2
    late = outcome.time * 0.3 * (np.arange(SIZE) % 2)
    seen = bc.Survival(outcome.time, code, entry=late)
    post = bc.fit(seen, score, horizon=1, draws=400, random_state=1)
    simulated = SimulatedTimes(post.problem)
    curve = post.curve(post.problem.data.score).mean(["chain", "draw"]).to_numpy()
    given, rng = np.tile(curve[simulated.row], (200, 1)), np.random.default_rng(1)
    each = list(simulated.replicates(given, rng))
    assert all((one.last >= one.entry).all() for one in each)
    events = np.array([one.event.sum() for one in each])
    assert events.mean() == pytest.approx(simulated.observed.event.sum(), abs=2 * events.std())
    assert np.isfinite(bc.check_consistency(post, "survival_observed_expected").observed)


def test_what_times_do_not_take_is_told(post):
    with pytest.raises(InputError, match="survival_ici"):
        bc.check_consistency(post, "ece")
    with pytest.raises(InputError, match="resample_scores"):
        bc.check_consistency(post, resample_scores=True)
    with pytest.raises(InputError, match="not one number"):
        bc.check_consistency(post, survival_observed_expected)
    outcome, score = drawn()
    followed = {"horizon": 1, "draws": 400, "random_state": 1}
    clustered = bc.fit(outcome, score, cluster=np.arange(SIZE) // 3, **followed)
    with pytest.raises(InputError, match="clusters"):
        bc.check_consistency(clustered)
    weight = np.linspace(0.5, 1.5, SIZE)
    weighted = bc.fit(outcome, score, sample_weight=weight, weight_type="sampling", **followed)
    with pytest.raises(InputError, match="sampling weights"):
        bc.check_consistency(weighted)
