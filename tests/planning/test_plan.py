"""Sizes by simulated studies: published ones, their order, their own calibration, refusals."""

from types import SimpleNamespace

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError
from bayescal.planning.search import Goal, Search
from bayescal.planning.setting import as_truth, stream
from bayescal.planning.studies import Analysis
from bayescal.posterior.intervals import verdict_of

SCORES = bc.simulate.scores(prevalence=0.2, c_statistic=0.75)
SLOPE = {"truth": "clinical", "scores": SCORES, "of": "calibration_slope", "random_state": 1}
ISARIC = {
    "truth": bc.priors.Prior(
        shift=bc.priors.Normal(-0.0093, 0.1246),
        log_slope=bc.priors.Normal(np.log(0.995), 0.0238),
        asymmetry=bc.priors.Normal(0, 1e-3),
        centre="mean",
        name="ISARIC 4C",
    ),
    "scores": bc.simulate.scores(prevalence=(0.428, 0.030), c_statistic=(0.761, 0.006)),
}


@pytest.mark.parametrize(
    ("of", "width", "assurance", "published"),
    [
        ("c_statistic", 0.10, None, 347),
        ("observed_expected", 0.22, None, 441),
        ("calibration_slope", 0.30, None, 1023),
        ("c_statistic", 0.10, 0.9, 397),
        ("observed_expected", 0.22, 0.9, 517),
        ("calibration_slope", 0.30, 0.9, 1172),
    ],
)
def test_the_sizes_of_isaric_are_those_published(of, width, assurance, published):
    result = bc.plan(
        **ISARIC, of=of, width=width, assurance=assurance, analysis="wald", n_simulations=400,
        random_state=1,
    )  # fmt: skip
    assert result.n == pytest.approx(published, rel=0.05)
    assert 0 < result.monte_carlo_error < 0.02 * result.n


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "of"),
    [("overconfident", "observed_expected"), ("calibrated", "calibration_slope")],
)
def test_studies_of_the_planned_size_are_as_precise_as_planned(shape, of):
    """Where the model is calibrated too, and the average holds an interval of no width."""
    truth = bc.simulate.clinical(0.2, shape)
    result = bc.plan(truth=truth, of=of, width=0.35, n_simulations=200, random_state=1)
    reached = []
    for k in range(60):
        study = truth.sample(result.n, random_state=k)
        lower, upper = bc.compare(*study, draws=1000, random_state=k).posterior.interval(of)
        reached.append(upper - lower <= 0.35)
    error = np.sqrt(0.8 * 0.2 / 60 + (2 * result.monte_carlo_error / result.n) ** 2)
    assert np.mean(reached) == pytest.approx(0.8, abs=3 * error)


@pytest.mark.slow
def test_a_study_is_analysed_as_it_will_be_assessed():
    """The same draws, interval and verdict, whatever the verdict is."""
    sizes = {"calibrated": 2000, "clinical-middle-overconfident": 1200, "clinical-low-shifted": 90}
    seen = set()
    for truth, n in sizes.items():
        study = bc.simulate.sample(truth, n, random_state=3)
        data = bc.CalibrationData(*study)
        a = bc.assess(data, limit=0.05, ci_prob=0.9, estimators=(), draws=400, random_state=7)
        options = ("average", "beta", a.facts.prior, 0.9, 400)
        for conclusion in ("close enough", "miscalibrated"):
            planned = Analysis("tce", conclusion, 0.05, *options)
            assert planned.result(data, 7) == float(
                verdict_of(a.posterior.prob_below(0.05), 0.9) == conclusion
            )
        for name in ("tce", "calibration_slope"):
            width = a.facts.table["upper"][name] - a.facts.table["lower"][name]
            assert Analysis(name, None, 0.05, *options).result(data, 7) == pytest.approx(width)
        seen.add(verdict_of(a.posterior.prob_below(0.05), 0.9))
    assert len(seen) >= 2


@pytest.mark.slow
def test_the_error_of_the_size_is_that_over_seeds():
    options = SLOPE | {"width": 0.4, "analysis": "wald", "n_simulations": 100}
    plans = [bc.plan(**options | {"random_state": seed}) for seed in range(8)]
    spread = np.std([one.n for one in plans], ddof=1)
    stated = np.mean([one.monte_carlo_error for one in plans])
    assert 0.5 < spread / stated < 2


@pytest.mark.slow
def test_the_table_says_what_was_simulated():
    result = bc.plan(**SLOPE, width=0.4, analysis="curve", n_simulations=100, n_jobs=1)
    table = result.table
    assert list(table["n"]) == sorted(table["n"])
    assert table["n"].iloc[0] < result.n < table["n"].iloc[-1]
    assert (np.diff(table["width"]) < 0).all()
    assert result.events == pytest.approx(0.2 * result.n, rel=0.01)
    assert result.closed_form["calibration_slope"] < result.n
    text = result.protocol()
    assert f"{result.n:,} patients" in text
    assert "no wider than 0.4 with probability 0.8" in text
    assert "Riley" in text
    assert str(result.n)[-3:] in repr(result)


@pytest.mark.slow
def test_a_plan_is_the_same_in_one_process_and_in_two():
    options = {
        "truth": "clinical-middle-overconfident", "n_simulations": 50, "draws": 400,
        "analysis": "curve", "random_state": 1, "n_jobs": 1,
    }  # fmt: skip
    heard = []

    def progress(done, total):
        heard.append((done, total))

    first = bc.plan(width=0.12, progress=progress, **options)
    assert heard[-1][0] == heard[-1][1]
    again = bc.plan(width=0.12, **options | {"n_jobs": 2})
    assert (again.n, again.monte_carlo_error) == (first.n, first.monte_carlo_error)
    assert bc.plan(width=0.16, **options).n < first.n


@pytest.mark.slow
def test_conclusions_need_the_size_at_which_they_are_drawn():
    options = {
        "truth": "clinical-middle-overconfident", "conclude": "miscalibrated", "limit": 0.02,
        "analysis": "curve", "n_simulations": 50, "draws": 400, "random_state": 1, "n_jobs": 1,
    }  # fmt: skip
    result = bc.plan(**options)
    assert 150 < result.n < 1200
    assert "miscalibrated (TCE above 0.02)" in result.protocol()
    assert bc.plan(**options | {"assurance": 0.5}).n < result.n


@pytest.mark.slow
def test_updates_are_analysed_as_their_functions_do():
    sample = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    data = bc.CalibrationData(*sample)
    options = ("average", "beta", bc.assess(data, draws=400).facts.prior, 0.9, 400)
    grid = np.linspace(0.01, 0.99, 99)

    def squared(score):
        return np.interp(score, grid, grid**2)

    gain = bc.recalibration_gain(data, after=squared, draws=400, random_state=7)
    lower, upper = gain.interval("brier", 0.9)
    planned = Analysis("gain", None, 0.02, *options, update=(grid, grid**2))
    assert planned.result(data, 7) == pytest.approx(upper - lower)
    for size in (50, 300):
        some = bc.CalibrationData(*(each[:size] for each in sample))
        choice = bc.recommend(some, draws=400, random_state=7).choice
        planned = Analysis("tce", "update", 0.02, *options)
        assert planned.result(some, 7) == float(choice not in (None, "identity"))


@pytest.mark.parametrize(
    ("function", "told", "goal", "events"),
    [
        (
            "recalibration_gain",
            lambda data: SimpleNamespace(interval=lambda *_: (0, data.events**-0.5)),
            {"of": "gain", "width": 0.1, "assurance": 0.5},
            100,
        ),
        (
            "recommend",
            lambda data: SimpleNamespace(choice="logistic" if data.events > 100 else "identity"),
            {"conclude": "update", "assurance": 0.5},
            100,
        ),
    ],
    ids=["gain", "update"],
)
def test_updates_are_planned_by_what_their_functions_say(monkeypatch, function, told, goal, events):
    """Functions of the number of events alone: half of the studies of this size have more."""
    monkeypatch.setattr(f"bayescal.planning.studies.{function}", lambda data, **_: told(data))
    truth = bc.simulate.truth("clinical-middle-overconfident")
    result = bc.plan(truth=truth, n_simulations=200, random_state=1, n_jobs=1, **goal)
    assert result.events == pytest.approx(events, rel=0.1)


@pytest.mark.slow
def test_truths_can_be_posteriors_priors_and_evidence():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    sites = np.repeat(["A", "B", "C"], 100)
    pilot = bc.fit(y_true, y_prob, curve="beta", random_state=1)
    several = bc.fit(y_true, y_prob, site=sites, random_state=1)
    evidence = bc.priors.from_studies(
        calibration_slope=[(0.9, 0.8, 1.0), (1.1, 0.9, 1.3), (0.8, 0.7, 0.9)]
    )
    goal = {"of": "calibration_slope", "width": 0.4, "n_simulations": 50, "random_state": 1}
    goal["analysis"] = "curve"
    by_scores = bc.plan(truth=pilot, scores=y_prob, **goal).n
    assert bc.plan(truth=pilot, **goal).n == by_scores
    for truth, scores in (
        (several, None), (evidence, pilot), (evidence, y_prob), (pilot, SCORES),
        ("clinical-middle-shifted", SCORES), ({"centre": "mean"}, bc.simulate.BetaScores(2, 3)),
    ):  # fmt: skip
        result = bc.plan(truth=truth, scores=scores, **goal)
        assert 200 < result.n < 50_000
        assert result.described


def test_prevalence_and_c_statistic_are_those_of_the_patients():
    result = bc.plan(**SLOPE, width=0.4, analysis="wald", n_simulations=50)
    assert result.prevalence == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "width is missing"),
        ({"width": 0}, "width"),
        ({"width": 1e-5}, "width 1e-05 is out of reach"),
        ({"width": 0.1, "conclude": "miscalibrated"}, "width and conclude"),
        ({"conclude": "calibrated"}, "conclude"),
        ({"conclude": "close enough", "limit": 0.001}, "out of reach of any number of patients"),
        ({"width": 0.3, "of": "ece"}, "of must be one of"),
        ({"width": 0.3, "assurance": 1}, "assurance"),
        ({"width": 0.3, "of": "tce", "analysis": "wald"}, "analysis='wald'"),
        ({"width": 0.3, "analysis": "fit"}, "analysis must be one of 'average', 'curve', 'wald'"),
        ({"width": 0.3, "truth": "ideal"}, "truth"),
        ({"width": 0.3, "scores": None}, "scores is missing"),
        ({"width": 0.3, "scores": [0.3, 0.3]}, "scores are all 0.3"),
        ({"width": 0.3, "scores": "scores.csv"}, "scores"),
        ({"width": 0.3, "n_simulations": 10}, "n_simulations"),
        ({"width": 0.3, "update": np.sqrt}, "update"),
        ({"width": 0.01, "of": "gain", "update": lambda p: p}, "update leaves"),
        ({"width": 0.3, "n_jobs": 0}, "n_jobs"),
    ],
)
def test_the_impossible_and_the_unclear_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        bc.plan(**SLOPE | change)


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        (SCORES, "a law with prevalence 0.2, c-statistic 0.75, at 128 of its quantiles"),
        (bc.simulate.LogitNormalScores(-1, 1), "the law LogitNormalScores(mean=-1"),
        (bc.simulate.LogitNormalScores(-1, 1), "at 128 of its quantiles"),
        (np.linspace(0.1, 0.7, 300), "these very 300 scores, 300 distinct, by the means of 128"),
        (np.linspace(0.1, 0.7, 60), "scores: these very 60 scores. "),
        (
            bc.CalibrationData.from_counts([0.1, 0.5], [10, 4], [1, 2]),
            "scores: the very scores of 14 cases. ",
        ),
    ],
)
def test_the_printout_says_which_scores_were_used(scores, told):
    options = {"width": 0.3, "of": "observed_expected", "analysis": "wald", "random_state": 1}
    result = bc.plan(truth="clinical", scores=scores, n_simulations=50, **options)
    assert told in result.protocol()
    assert told.strip(". ") in " ".join(repr(result).split())


def test_a_size_far_from_the_goal_is_given_up_after_a_part_of_the_studies():
    """And both sizes beside the goal get all."""
    asked = []

    def simulate(n, extent):
        asked.append((n, extent))
        size = {"look": 25, "part": 100, "all": 400}[extent]
        misled = 8 if extent == "look" else 1
        share = 1 / (1 + (1500 / n / misled) ** 3)
        return (np.arange(size) < round(share * size)).astype(float)

    search = Search(Goal(None, 0.8), simulate, 1)
    n, error = search.size(100)
    assert 2200 < n < 2600
    assert error > 0
    part, full = ({size for size, of in asked if of == extent} for extent in ("part", "all"))
    assert min(part) < 500
    assert full == {1810, 2560}


def test_widths_of_nothing_reach_a_goal():
    """Of studies whose interval is 1 to 1, as that of the slope of an exactly calibrated model."""
    goal = Goal(0.3, 0.8)
    some = np.array([0.0] * 9 + [0.5])
    assert goal.share(some) == 0.9
    assert -np.inf < goal.excess(some) < 0 < goal.excess(np.full(10, 0.5))


def test_periods_are_planned_for_the_next_and_factors_one_at_a_time():
    y_true, y_prob = bc.simulate.sample("calibrated", 120, random_state=1)
    options = {"curve": "logistic", "draws": 400, "random_state": 1}
    periods = bc.fit(y_true, y_prob, period=np.repeat([1, 2], 60), **options)
    assert as_truth(periods) is periods.new()
    factors = {"sex": np.resize(["F", "M"], 120), "age": np.resize([0, 0, 1], 120)}
    crossed = bc.fit(y_true, y_prob, subgroup=factors, **options)
    with pytest.raises(InputError, match="truth is a posterior of sex and age"):
        as_truth(crossed)
    assert as_truth(crossed.at(sex="F"))._title == "sex F"


def test_streams_differ_by_label_and_by_its_kind():
    first = {stream(0, *labels).random() for labels in (("a", 1), ("a", "1"), ("a1",))}
    assert len(first) == 3
