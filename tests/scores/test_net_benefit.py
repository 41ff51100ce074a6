"""Net benefit: its definition, its limits, and the decision curve that draws it."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.special import expit, logit

import bayescal as bc
from bayescal import functionals as f
from bayescal.errors import InputError
from bayescal.posterior.population import Population

RNG = np.random.default_rng(0)
SCORE = np.sort(RNG.beta(2, 3, 30))
WEIGHT = RNG.dirichlet(np.ones(30), 20)
CURVE = expit(RNG.normal(0, 0.6, (20, 1)) + logit(SCORE))
THRESHOLDS = np.array([0.05, SCORE[10], 0.5, 0.999])


def by_definition(g, w, score, t):
    """Patient by patient: one for an event treated, minus the odds for a non-event treated."""
    return sum(
        weight * (chance - (1 - chance) * t / (1 - t))
        for chance, weight, s in zip(g, w, score, strict=True)
        if s >= t
    )


@pytest.fixture(scope="module")
def post():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    return bc.fit(y_true, y_prob, curve="beta", random_state=1)


@pytest.mark.parametrize("scores_differ", [False, True])
@pytest.mark.parametrize("fixed", [False, True])
def test_net_benefit_is_its_definition(scores_differ, fixed):
    score = np.tile(SCORE, (20, 1)) if scores_differ else SCORE
    weight = WEIGHT[0] if fixed else WEIGHT
    actual = f.net_benefit(f.CurveDraws(CURVE, Population(score, weight)), THRESHOLDS)
    expected = [
        [by_definition(g, w, SCORE, t) for t in THRESHOLDS]
        for g, w in zip(CURVE, np.broadcast_to(weight, CURVE.shape), strict=True)
    ]
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-15)


def test_treating_everyone_is_worth_the_events_less_the_odds_of_the_others():
    draws = f.CurveDraws(CURVE, Population(SCORE, WEIGHT))
    rate = np.sum(WEIGHT * CURVE, axis=1)[:, None]
    odds = THRESHOLDS / (1 - THRESHOLDS)
    np.testing.assert_allclose(
        f.net_benefit_of_all(draws, THRESHOLDS), rate - (1 - rate) * odds, rtol=1e-12
    )


def test_the_posterior_is_of_the_same_draws_as_every_functional(post):
    """Mean signed error plus the mean score is the event rate, draw by draw."""
    actual = post.net_benefit([1e-9], "sample")
    rate = post.functional("signed_error", "sample") + float(
        post.data.trials @ post.data.score / post.data.n
    )
    np.testing.assert_allclose(actual["treat_all"][..., 0], rate, atol=2e-9)
    assert actual["model"].dims == actual["treat_all"].dims == ("chain", "draw", "threshold")
    assert actual["prob_best"].dims == ("threshold",)


@pytest.mark.parametrize("population", ["bootstrap", "sample", "beta"])
def test_who_treats_all_or_none_is_not_better_than_that(post, population):
    actual = post.net_benefit([1e-6, 0.999999], population)
    np.testing.assert_allclose(actual["model"][..., 0], actual["treat_all"][..., 0], atol=1e-5)
    np.testing.assert_allclose(actual["model"][..., 1], 0, atol=1e-3)
    assert (actual["prob_best"] <= (0.05 if population == "beta" else 0)).all()


def test_probability_of_being_best_is_the_share_of_draws(post):
    actual = post.net_benefit([0.15, 0.3, 0.45])
    better = (actual["model"] > actual["treat_all"]) & (actual["model"] > 0)
    np.testing.assert_allclose(actual["prob_best"], better.mean(("chain", "draw")))
    assert 0 < float(actual["prob_best"][0]) < 1


def test_scores_of_0_and_1_decide_as_given():
    """A score of 0 stays below every threshold, and on the diagonal its risk is 0."""
    post = bc.fit([0, 1, 0, 1], [0.0, 0.2, 0.2, 1.0], curve="identity", random_state=0)
    assert post.problem.edges.low == pytest.approx(0.05)
    actual = post.net_benefit([0.01], "sample")
    odds = 0.01 / 0.99
    expected = (2 * (0.2 - 0.8 * odds) + 1) / 4
    assert float(actual["model"][0, 0, 0]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ([0.1, 1.0], "thresholds must lie strictly between 0 and 1"),
        ([0.1, 20], "divide by 100"),
        ([], "thresholds is empty"),
        (0.1, "thresholds must be a list"),
    ],
)
def test_thresholds_are_risks(post, thresholds, message):
    ax = Figure().subplots()
    for ask in (post.net_benefit, lambda t: bc.plots.net_benefit(post, t, ax)):
        with pytest.raises(InputError, match=message):
            ask(thresholds)
    assert not ax.has_data()


def test_an_unknown_population_is_refused(post):
    with pytest.raises(InputError, match="population must be one of"):
        post.net_benefit([0.1], "everyone")


# The figure


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_the_curves_are_the_posterior_medians(post):
    ax = Figure().subplots()
    assert bc.plots.net_benefit(post, [0.4, 0.1, 0.2], ax) is ax
    actual = post.net_benefit([0.1, 0.2, 0.4])
    for label, name in (("Model", "model"), ("Treat everyone", "treat_all")):
        at, height = lines(ax)[label].get_data()
        np.testing.assert_allclose(at, [0.1, 0.2, 0.4])
        np.testing.assert_allclose(height, actual[name].median(("chain", "draw")), rtol=1e-12)
    (strip,) = ax.child_axes
    np.testing.assert_allclose(strip.get_lines()[0].get_ydata(), actual["prob_best"])
    band = ax.collections[0].get_paths()[0].vertices
    lower, upper = np.quantile(actual["model"][..., 1], [0.025, 0.975])
    heights = band[band[:, 0] == 0.2, 1]
    np.testing.assert_allclose([heights.min(), heights.max()], [lower, upper], rtol=1e-12)


@pytest.mark.parametrize(
    ("truth", "n", "title"),
    [
        ("clinical-middle-overconfident", 3000, "Better than treating everyone or no one"),
        ("D1", 20, "Nowhere better than treating everyone or no one"),
    ],
)
def test_the_title_says_where_the_model_is_best(truth, n, title):
    y_true, y_prob = bc.simulate.sample(truth, n, random_state=1)
    ax = bc.plots.net_benefit(
        bc.fit(y_true, y_prob, curve="beta", random_state=1), ax=Figure().subplots()
    )
    assert ax.get_title("left").startswith(title)


def test_several_models_have_a_line_each(post):
    ax = bc.plots.net_benefit({"old": post, "new": post}, ax=Figure().subplots(), legend=False)
    assert {"old", "new", "Treat everyone", "Treat no one"} <= set(lines(ax))
    assert len(ax.child_axes[0].get_lines()) == 2
    assert ax.get_legend() is None
    for wrong, message in (
        ({}, "post holds 0 models"),
        (dict.fromkeys("abcdefg", post), "post holds 7 models"),
        ({"old": 1}, "'old' is int"),
        ({"a" * 99 + "b": post, "a" * 99 + "c": post}, "long names that begin alike"),
    ):
        with pytest.raises(InputError, match=message):
            bc.plots.net_benefit(wrong)


@pytest.mark.parametrize(
    ("y_true", "y_prob"),
    [([1], [0.3]), ([0] * 20, [0.01] * 20), ([0, 1, 1] * 9, [0, 0.5, 1] * 9), ([0, 0], [0, 0])],
)
@pytest.mark.filterwarnings("ignore:every score is exactly")
def test_odd_data_can_be_drawn(y_true, y_prob):
    figure = Figure(layout="constrained")
    bc.plots.net_benefit(bc.fit(y_true, y_prob, curve="beta", random_state=0), ax=figure.subplots())
    figure.canvas.draw()


def test_a_cell_of_the_grid_is_shared_at_the_threshold():
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.uniform(0.05, 0.95, 20_000), [0.0, 1.0]])
    data = bc.CalibrationData((rng.random(score.size) < score).astype(int), score)
    assert data.is_compressed
    at = np.array([0.1, 0.2, 0.30001, 0.5])
    share = data.share_reaching(at)
    assert ((share >= 0) & (share <= 1)).all()
    reached = data.trials @ share
    exact = (score[:, None] >= at).sum(axis=0)
    full = data.trials @ (data.score[:, None] >= at)
    assert np.abs(reached - exact).max() < 15  # a cell holds about 100 cases
    assert np.abs(full - exact).max() > 20
    assert share[0].tolist() == [0, 0, 0, 0]
    assert share[-1].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.7, 1e-6, 0.999])
@pytest.mark.parametrize("bits", [-3, -1, 0, 1, 3])
def test_the_last_bits_of_a_score_decide_nothing(threshold, bits):
    """Scores at the threshold, a few roundings off it, are treated in every room."""
    stored = threshold + bits * np.spacing(threshold)
    y = np.array([0, 1, 1, 0, 1, 0, 1, 0])
    rest = [threshold / 3, (1 + threshold) / 2, threshold / 2, (2 + threshold) / 3]
    off, exact = (np.array([at, at, *rest, at, at]) for at in (stored, threshold))
    benefit = bc.scores.net_benefit(y, off, [threshold])
    np.testing.assert_array_equal(benefit, bc.scores.net_benefit(y, exact, [threshold]))
    below = np.where(off == stored, threshold * (1 - 1e-11), off)
    assert bc.scores.net_benefit(y, below, [threshold]) != benefit
    table = bc.CalibrationData(y, off)
    assert table.share_reaching(np.array([threshold])).sum() == 3
    for score in (off, np.tile(off, (2, 1))):
        weight = np.full(score.shape, 1 / 8)
        draws = f.CurveDraws(np.full((2, 8), 0.4), Population(score, weight))
        per_case = 0.4 - 0.6 * threshold / (1 - threshold)
        np.testing.assert_allclose(
            f.net_benefit(draws, np.array([threshold])), 6 / 8 * per_case, atol=1e-12
        )
    gain = bc.recalibration_gain(y, off, exact, thresholds=[threshold], draws=100, random_state=0)
    row = gain.summary().loc[f"net_benefit@{threshold:g}"]
    assert row["lower"] == row["upper"] == 0


def test_of_a_calibrated_curve_on_these_patients_it_is_a_sum_of_scores(post):
    score = post.data.score
    exact = bc.fit(post.data, curve="identity", random_state=0).net_benefit([0.2, 0.6], "sample")
    expected = [
        np.mean(np.where(score >= t, score - (1 - score) * t / (1 - t), 0)) for t in (0.2, 0.6)
    ]
    np.testing.assert_allclose(exact["model"].std(("chain", "draw")), 0, atol=1e-12)
    np.testing.assert_allclose(exact["model"].mean(("chain", "draw")), expected, rtol=1e-12)
