"""Gains and recommended updates of times to an event, some of them censored."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.gain.updates import optimism_of
from bayescal.inference.loo import risks_left_out
from bayescal.model.problem import prepare
from bayescal.model.times import expected_outcomes, told_by_cases

FAST = {"draws": 400, "random_state": 1}


def mapped(score):
    return expit(-0.4 + 0.6 * logit(score))


@pytest.fixture(scope="module")
def seen():
    """Scores, times of all events, and when cases left."""
    rng = np.random.default_rng(7)
    x = rng.normal(-1, 1.1, 300)
    event = (-rng.exponential(1, x.size) / np.log1p(-expit(-0.45 + 0.6 * x))) ** np.exp(0.5 * x)
    return expit(x), event, rng.exponential(1, x.size) / (0.6 * np.exp(0.8 * x + 0.8))


def known_of(event):
    return bc.Survival(np.minimum(event, 2), event <= 2), (event <= 1).astype(int)


def censored_of(event, left):
    return bc.Survival(np.minimum(event, left), event <= left)


def test_without_censoring_the_gain_is_that_of_the_outcomes(seen):
    score, event, _ = seen
    times, outcome = known_of(event)
    options = FAST | {"thresholds": [0.3]}
    mine = bc.recalibration_gain(times, score, mapped, horizon=1, **options).summary(parts=True)
    theirs = bc.recalibration_gain(outcome, score, mapped, **options).summary(parts=True)
    wide = theirs["upper"] - theirs["lower"]
    for name in ("mean", "lower", "upper"):
        # the draws are of 2048 points a family, whose chance moves an end by .06 of its sd and more
        assert (np.abs(mine[name] - theirs[name]) <= 0.06 * wide).all()


@pytest.mark.slow
def test_without_censoring_updates_and_their_optimism_are_those_of_the_outcomes(seen):
    score, event, _ = seen
    times, outcome = known_of(event)
    curves = ("identity", "intercept", "logistic")
    followed = bc.compare(times, score, horizon=1, curves=curves, **FAST)
    known = bc.compare(outcome, score, curves=curves, **FAST)
    problem = known.problem
    after = {name: problem.stated for name in curves[1:]}
    drawn = {name: known.of_family(name) for name in after}
    after = {name: p.probability(u).mean(axis=0) for name, (p, u) in drawn.items()}
    mine, theirs = (optimism_of(each, after, ())[0] for each in (followed, known))
    assert mine == pytest.approx(theirs, rel=0.1)
    assert (mine > 0).all()


def test_what_was_seen_of_a_case_says_how_probable_its_event_still_is():
    """By Fisher's identity the slope of a log density is the expected outcome less the curve."""
    rng = np.random.default_rng(3)
    score = rng.uniform(0.1, 0.8, 80)
    outcome = bc.Survival(rng.uniform(0.05, 1.4, 80), rng.integers(0, 3, 80))
    problem = prepare(outcome, score, horizon=1, random_state=1)
    row = problem.data.follow_up.row
    g = rng.uniform(0.1, 0.9, row.size)
    expected = expected_outcomes(problem, g)
    np.testing.assert_allclose(told_by_cases(problem, g).slope, expected - g, atol=1e-10)
    left = problem.data.follow_up.left_early
    assert set(expected[~left]) == {0.0, 1.0}
    assert ((expected[left] > 0) & (expected[left] < 1)).all()


def test_the_spread_of_a_slope_is_that_of_its_two_outcomes():
    """Its mean is zero also of a case that came late, so that its square has mean -a b."""
    rng = np.random.default_rng(4)
    score, entry = np.repeat(rng.uniform(0.1, 0.8, (2, 30)) * [[1], [0.5]], 2, axis=1)
    entry[:20] = 0
    event = np.tile([1, 0], 30)
    time = np.where(event, rng.uniform(0.5, 1, 60), 1.4)
    problem = prepare(bc.Survival(time, event, entry), score, horizon=1, random_state=1)
    row = problem.data.follow_up.row
    told = told_by_cases(problem, rng.uniform(0.1, 0.9, 30)[row])
    pairs = np.array([np.flatnonzero(row == k) for k in range(30)])
    product = np.repeat(told.slope[pairs].prod(axis=1, keepdims=True), 2, axis=1)
    np.testing.assert_allclose(told.spread[pairs], -product, rtol=1e-10)


@pytest.mark.slow
def test_risks_left_out_are_those_of_a_fit_without_the_case(seen):
    score, event, left = (each[:60] for each in seen)
    # by 4000 draws a mean moves by .0005, a fifth of what is told
    options = {"curve": "logistic", "horizon": 1, "draws": 40_000, "random_state": 1}
    times = censored_of(event, left)
    post = bc.fit(times, score, **options)
    (curves,) = post.tables
    risk, left_out = risks_left_out(post.problem, curves.u)
    followed, before = post.problem.data.follow_up, post.curve(np.sort(score)).to_numpy()
    before = before.reshape(-1, 60).mean(axis=0)[followed.row]
    entries = (28, 45, 50)
    assert followed.left_early[50]
    for entry in entries:
        case = np.argsort(score)[followed.row[entry]]
        some = np.arange(60) != case
        part = bc.Survival(times.time[some], times.event[some])
        again = bc.fit(part, score[some], **options)
        moved = float(again.curve(score[[case]]).mean()) - before[entry]
        assert moved > 0.002
        assert left_out[entry] - risk[entry] == pytest.approx(moved, abs=0.0025)


@pytest.mark.slow
def test_gains_do_not_depend_on_order_units_or_how_cases_are_counted(seen):
    score, event, left = seen
    times = censored_of(event, left)

    def gain(outcome, before, **options):
        given = {"horizon": 1} | FAST | options
        return bc.recalibration_gain(outcome, before, mapped, **given).summary()

    one = gain(times, score)
    order = np.random.default_rng(1).permutation(score.size)
    same = [
        gain(bc.Survival(times.time[order], times.event[order]), score[order]),
        gain(bc.Survival(365 * times.time, times.event), score, horizon=365),
        bc.recalibration_gain(
            bc.CalibrationData(times, score, horizon=1), after=mapped, **FAST
        ).summary(),
    ]
    for other in same:
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-9)
    twice = bc.Survival(np.tile(times.time, 2), np.tile(times.event, 2))
    counted = gain(times, score, sample_weight=np.full(score.size, 2), weight_type="counts")
    np.testing.assert_allclose(gain(twice, np.tile(score, 2)), counted, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_recommendations_do_not_depend_on_order_units_or_how_cases_are_counted(seen):
    score, event, left = seen
    times = censored_of(event, left)
    one = bc.recommend(times, score, horizon=1, **FAST)
    units = bc.recommend(bc.Survival(12 * times.time, times.event), score, horizon=12, **FAST)
    np.testing.assert_allclose(units.table, one.table, rtol=1e-6, atol=1e-9)
    table = bc.recommend(bc.CalibrationData(times, score, horizon=1), **FAST)
    np.testing.assert_allclose(table.table, one.table, rtol=1e-6, atol=1e-9)
    twice = bc.Survival(np.tile(times.time, 2), np.tile(times.event, 2))
    weight = {"sample_weight": np.full(score.size, 2), "weight_type": "counts"}
    counted = bc.recommend(times, score, horizon=1, **weight, **FAST)
    again = bc.recommend(twice, np.tile(score, 2), horizon=1, **FAST)
    np.testing.assert_allclose(again.table, counted.table, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["clusters", "strata", "sampling weights", "competing", "entry"])
def test_what_cases_belong_to_goes_with_times(seen, kind):
    """A table and its arrays have one gain, also of what only a fit of times takes."""
    score, event, left = seen
    n, roles, weights = score.size, {}, {}
    times = censored_of(event, left)
    if kind in ("clusters", "strata"):
        roles["cluster"] = np.arange(n) // 5
    if kind == "strata":
        roles["stratum"] = np.arange(n) // 5 % 2
    if kind == "sampling weights":
        weights = {"sample_weight": np.linspace(0.5, 1.5, n), "weight_type": "sampling"}
    if kind == "competing":
        times = bc.Survival(times.time, np.where(times.event, 1 + (np.arange(n) % 4 == 0), 0))
    if kind == "entry":
        entry = np.minimum(times.time, 1) * (np.arange(n) % 3 == 0) / 2
        times = bc.Survival(times.time, times.event, entry)
    options = {"horizon": 1} | roles | weights
    gain = bc.recalibration_gain(times, score, mapped, **options, **FAST)
    in_table = {{"stratum": "stratum"}.get(name, name): each for name, each in options.items()}
    table = bc.CalibrationData(times, score, **in_table)
    other = bc.recalibration_gain(table, after=mapped, **FAST)
    mine, theirs = other.summary(), gain.summary()
    if "cluster" not in roles:
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9)
    for name in ("mean", "lower", "upper"):  # of clusters, which a table numbers in its own way
        far = np.abs(mine[name] - theirs[name])
        assert (far < 0.15 * (theirs["upper"] - theirs["lower"])).all()
    alone = bc.recalibration_gain(times, score, mapped, horizon=1, **FAST)
    if kind in ("clusters", "strata"):  # cases do not depend on each other here
        width = np.diff(gain.interval())[0] / np.diff(alone.interval())[0]
        assert 0.7 < width < 1.6
    advice = bc.recommend(table, **FAST)
    assert np.isfinite(advice.table).all(axis=None)


def test_each_case_told_ten_times_in_its_cluster_is_told_once(seen):
    score, event, left = seen
    times, tenfold = censored_of(event, left), np.repeat(np.arange(score.size), 10)
    one = bc.recalibration_gain(times, score, mapped, horizon=1, **FAST)
    many = bc.Survival(times.time[tenfold], times.event[tenfold])
    told = bc.recalibration_gain(many, score[tenfold], mapped, horizon=1, cluster=tenfold, **FAST)
    mine, theirs = np.diff(told.interval())[0], np.diff(one.interval())[0]
    assert mine == pytest.approx(theirs, rel=0.2)


def test_scores_of_zero_and_one_are_contradicted_by_known_outcomes_alone(seen):
    score, event, left = (each[:120] for each in seen)
    times = censored_of(event, left)
    gone = np.flatnonzero(np.isnan(times.known(1)) & (score > 0.3))[:2]
    told = score.copy()
    told[gone] = 1.0  # of cases that all left early
    gain = bc.recalibration_gain(times, told, lambda s: np.clip(s, 0.02, 0.98), horizon=1, **FAST)
    assert gain.contradicted == {"before": 0, "after": 0}
    assert np.isfinite(gain.summary()).all(axis=None)
    had = np.flatnonzero(times.known(1) == 1)[:2]
    known = score.copy()
    known[had] = 0.0
    worse = bc.recalibration_gain(times, known, lambda s: np.clip(s, 0.02, 0.98), horizon=1, **FAST)
    assert worse.contradicted["before"] == 2
    assert worse.summary().loc["log_score", "mean"] == np.inf


def test_a_case_that_left_is_no_non_event():
    score = np.linspace(0.1, 0.6, 120)
    time = np.where(np.arange(120) % 4 == 0, 2.0, np.linspace(0.2, 0.9, 120))
    event = np.arange(120) % 4 == 1
    time[::8] = 0.5  # 15 of 120 are followed to the horizon
    advice = bc.recommend(bc.Survival(time, event), score, horizon=1, **FAST)
    assert advice.choice is None
    assert advice.too_few == "15 non-events"


def test_what_needs_outcomes_of_single_cases_is_refused(seen):
    score, event, left = seen
    times = censored_of(event, left)
    with pytest.raises(InputError, match="weighs the outcomes of single cases"):
        bc.recalibration_gain(times, score, mapped, horizon=1, route="paired")
    with pytest.raises(InputError, match="after is no map of before"):
        bc.recalibration_gain(times, score, score[::-1], horizon=1)
    with pytest.raises(InputError, match="horizon is missing"):
        bc.recalibration_gain(times, score, mapped)
    with pytest.raises(InputError, match="no times to an event"):
        bc.recalibration_gain((event <= 1).astype(int), score, mapped, horizon=1)
    with pytest.raises(InputError, match="pos_label was given beside times"):
        bc.recalibration_gain(times, score, mapped, horizon=1, pos_label=1)
    with pytest.raises(InputError, match="a Survival was passed where outcomes are 0 or 1"):
        bc.cross_fit(times, score, bc.recalibrate.LogisticRecalibrator())


@pytest.mark.slow
def test_hospitals_have_gains_and_recommendations_of_times(seen):
    score, event, left = seen
    times, site = censored_of(event, left), np.array(list("ABC"))[np.arange(score.size) % 3]
    gains = bc.recalibration_gain(times, score, mapped, horizon=1, site=site, **FAST)
    data = bc.CalibrationData(times, score, horizon=1, site=site)
    other = bc.recalibration_gain(data, after=mapped, **FAST)
    np.testing.assert_allclose(other.table(), gains.table(), rtol=1e-6, atol=1e-9)
    advice = bc.recommend(data, **FAST)
    assert advice.choice is not None
    assert np.isfinite(advice.by_curve()[["gain", "prob_better"]]).all(axis=None)
