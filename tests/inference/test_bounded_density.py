"""Curves with a floor and a ceiling: the fast engine against sums over grids, and NUTS."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit, logsumexp

import bayescal as bc
from bayescal.errors import InputError
from bayescal.inference.density import CurveDensity, sample_importance
from bayescal.model.curves import CURVES, average_of
from bayescal.model.draws import in_union
from bayescal.model.priors import Normal, Rate
from bayescal.model.problem import prepare

PRIOR = {"shift": 1.0, "log_slope": 0.5, "centre": 0.5}
RATES = {"lapse": Rate(), "noise": Rate(a=1.0, b=5.0)}


def noisy(n, seed=3, values=None):
    """Outcomes of calibrated scores, of which 4 % of the non-events and 7 % of the events flip."""
    rng = np.random.default_rng(seed)
    s = rng.beta(0.4, 0.5, n)
    if values:
        s = (np.floor(values * s) + 0.5) / values
    return (rng.random(n) < 0.04 + 0.89 * s).astype(int), s


def grid(curve, size):
    """Points of the prior and their weights: even probabilities of rates, Gauss rules of others."""
    rates = RATES[curve].from_normal(stats.norm.ppf((np.arange(size) + 0.5) / size))
    axes, weights = [rates, rates], [np.full(size, 1 / size)] * 2
    if curve == "lapse":
        nodes, mass = np.polynomial.hermite_e.hermegauss(40)
        axes = [nodes, 0.5 * nodes, *axes]  # shift ~ N(0, 1), log slope ~ N(0, .5)
        weights = [mass / mass.sum()] * 2 + weights
    points = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    log_weight = sum(np.meshgrid(*map(np.log, weights), indexing="ij")).ravel()
    return points, log_weight


def likelihood_by_hand(points, y, s):
    """Of the single cases."""
    guess, lapse = points[:, -2:].T
    line = np.zeros((len(points), 2)) if points.shape[1] == 2 else points[:, :2]
    total = np.zeros(len(points))
    for score, outcome in zip(s, y, strict=True):
        h = expit(line[:, 0] + np.exp(line[:, 1]) * logit(score))
        g = guess + (1 - guess - lapse) * h
        total += np.log(g if outcome else 1 - g)
    return total


@pytest.mark.parametrize(("curve", "size"), [("noise", 200), ("lapse", 24)])
def test_evidence_and_moments_are_those_of_a_sum_over_a_grid(curve, size):
    y, s = noisy(60, values=6)
    points, log_weight = grid(curve, size)
    joint = likelihood_by_hand(points, y, s) + log_weight
    sample = sample_importance(prepare(y, s, curve=curve, prior=PRIOR, random_state=1), 8000)
    assert sample.log_evidence == pytest.approx(logsumexp(joint), abs=0.02)
    share = np.exp(joint - logsumexp(joint))
    mean = share @ points
    sd = np.sqrt(share @ (points - mean) ** 2)
    np.testing.assert_allclose(sample.draws.mean(axis=0), mean, atol=0.06 * sd.max())
    np.testing.assert_allclose(sample.draws.std(axis=0), sd, rtol=0.06)


@pytest.mark.parametrize("curve", ["noise", "lapse"])
def test_nodes_stand_for_every_case(curve):
    y, s = noisy(700)
    density = CurveDensity(prepare(y, s, curve=curve, prior=PRIOR, random_state=1))
    assert density.rows.size < 2 * 300
    u = np.array([[0.2, -0.3, 0.03, 0.06], [0.0, 0.1, 1e-9, 0.15]])
    u = u[:, -2:] if curve == "noise" else u
    np.testing.assert_allclose(density.log_likelihood(u), likelihood_by_hand(u, y, s), atol=1e-4)


@pytest.mark.parametrize("curve", ["noise", "lapse"])
@pytest.mark.parametrize("n", [100, 3000])
def test_draws_can_be_trusted(curve, n):
    for seed in range(3):
        for name in ("clinical-middle-calibrated", "D5"):
            cases = bc.simulate.sample(name, n, random_state=seed)
            sample = sample_importance(prepare(*cases, curve=curve, random_state=seed), 2000)
            assert sample.pareto_k < 0.7
            assert sample.ess > 300


@pytest.mark.slow
def test_nuts_agrees():
    y, s = noisy(400)
    fast = sample_importance(prepare(y, s, curve="lapse", random_state=1), 8000)
    post = bc.fit(y, s, curve="lapse", engine="nuts", draws=4000, random_state=1)
    slow = np.column_stack([values.ravel() for values in post.coordinates.values()])
    assert post.diagnostics["r_hat"] < 1.02
    sd = slow.std(axis=0)
    np.testing.assert_array_less(np.abs(fast.draws.mean(axis=0) - slow.mean(axis=0)), 0.12 * sd)
    np.testing.assert_allclose(fast.draws.std(axis=0), sd, rtol=0.2)


@pytest.mark.parametrize("curve", ["noise", "lapse"])
def test_relabelling_swaps_floor_and_ceiling(curve):
    y, s = noisy(900)
    ours, theirs = (
        sample_importance(prepare(outcome, score, curve=curve, random_state=1), 4000)
        for outcome, score in ((y, s), (1 - y, 1 - s))
    )
    assert ours.log_evidence == pytest.approx(theirs.log_evidence, abs=0.08)
    one, other = ours.draws[:, -2:], theirs.draws[:, :-3:-1]
    np.testing.assert_allclose(one.mean(axis=0), other.mean(axis=0), atol=0.002)


def test_wrong_labels_are_found_and_the_curve_levels_off():
    y, s = noisy(4000)
    cmp = bc.compare(y, s, random_state=1)
    assert cmp.posterior_prob["noise"] + cmp.posterior_prob["lapse"] > 0.9
    at = np.array([1e-4, 0.9999])
    lower, upper = np.quantile(cmp.posterior.curve(at).to_numpy().reshape(-1, 2), [0.025, 0.975], 0)
    assert (lower < 0.04 + 0.89 * at).all()
    assert (0.04 + 0.89 * at < upper).all()
    assert (upper - lower < 0.05).all()


@pytest.mark.parametrize("prior", ["neutral", "clinical"])
def test_draws_are_the_same_curves_in_an_average(prior):
    y, s = noisy(300)
    union = prepare(y, s, curve=average_of(CURVES), prior=prior, random_state=1)
    own = prepare(y, s, curve="lapse", random_state=1)
    u = sample_importance(own, 400).draws
    moved = in_union(own, u, union)
    at = np.array([1e-6, 0.02, 0.4, 0.97])
    np.testing.assert_allclose(union.probability(moved, at), own.probability(u, at), rtol=1e-9)
    ours, theirs = (p.curve.log_odds(x, at, p.frame) for p, x in ((union, moved), (own, u)))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    np.testing.assert_allclose(expit(theirs), own.probability(u, at), rtol=1e-9)


def test_a_stored_average_keeps_floor_and_ceiling(tmp_path):
    post = bc.compare(*noisy(800), draws=400, random_state=1).posterior
    post.to_netcdf(tmp_path / "post.nc")
    again = bc.load(tmp_path / "post.nc")
    at = [1e-5, 0.3, 1.0]
    np.testing.assert_array_equal(again.curve(at).to_numpy(), post.curve(at).to_numpy())
    assert {"guess", "lapse"} <= set(again.tree["posterior"].to_dataset().data_vars)


def test_another_law_of_a_rate_is_used_or_refused():
    y, s = noisy(500)
    tight = {"others": (("guess", Rate(0.01)),)}
    post = bc.fit(y, s, curve="lapse", prior=tight, random_state=1)
    assert float(post.tree["posterior"]["guess"].max()) <= 0.01
    with pytest.raises(InputError, match="the prior of guess must be a Rate"):
        bc.fit(y, s, curve="lapse", prior={"others": (("guess", Normal(0, 1)),)}, random_state=1)


@pytest.mark.parametrize("outcome", [0, 1])
def test_outcomes_of_one_class_and_sure_scores_are_no_trouble(outcome):
    s = np.array([0.0, 0.2, 0.5, 0.9, 1.0])
    post = bc.fit(np.full(5, outcome), s, curve="lapse", random_state=1)
    assert np.isfinite(post.curve(s)).all()
    assert np.isfinite(post.tce()).all()


def test_floor_and_ceiling_are_shown_where_the_data_tell_them():
    y, s = noisy(4000)
    post = bc.compare(y, s, random_state=1).posterior
    shown = post.floor_and_ceiling()
    assert shown.index.tolist() == ["floor", "ceiling"]
    assert (shown["lower"] < [0.04, 0.93]).all()
    assert (shown["upper"] > [0.04, 0.93]).all()
    wider = post.floor_and_ceiling(0.99)
    assert (wider["lower"] < shown["lower"]).all()
    mirrored = bc.compare(1 - y, 1 - s, random_state=1).posterior.floor_and_ceiling()
    np.testing.assert_allclose(
        mirrored.loc["floor"], 1 - shown.loc["ceiling"].iloc[[0, 2, 1]], atol=0.004
    )


@pytest.mark.parametrize("curve", ["lapse", "beta"])
def test_floor_and_ceiling_are_not_shown_where_they_are_their_prior(curve):
    cases = bc.simulate.sample("clinical-middle-overconfident", 150, random_state=1)
    assert bc.fit(*cases, curve=curve, random_state=1).floor_and_ceiling().empty
    assert bc.compare(*cases, draws=400, random_state=1).posterior.floor_and_ceiling().empty


@pytest.mark.filterwarnings("ignore::bayescal.errors.EdgeWarning")
@pytest.mark.filterwarnings("ignore::bayescal.errors.DiagnosticWarning")
def test_one_score_with_one_outcome_many_times_is_fitted():
    """Where a few points of the pilot have all the weight, they show no spread."""
    options = {"curve": "lapse", "engine": "importance", "draws": 200, "random_state": 0}
    post = bc.fit([1], [0.0], sample_weight=[1000.0], weight_type="counts", **options)
    assert 0 < float(post.curve([0.5]).mean()) < 1
