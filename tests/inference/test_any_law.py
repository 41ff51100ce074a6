"""The engines under any law of the outcomes, against sums over grids and against NUTS."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp, ndtri

import bayescal as bc
from bayescal.inference.curve import Averaging, fit_average, fit_curve
from bayescal.inference.density import sample_importance
from bayescal.inference.loo import leave_one_out
from bayescal.inference.samples import FamilySamples
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.laws import LIKELIHOODS
from bayescal.model.problem import prepare
from laws import BetaBinomial

LAWS = {"beta-binomial": BetaBinomial()}
SMOOTH = ("identity", "intercept", "temperature", "logistic", "noise", "beta", "lapse", "spline")
EVEN = {q: ndtri((np.arange(size) + 0.5) / size) for q, size in ((1, 2000), (2, 40))}
"""Normal numbers of equal shares, of one nuisance coordinate or two."""

each = pytest.mark.parametrize("name", LAWS)


def table(n=240):
    """Recorded outcomes of a calibrated model at 12 scores."""
    rng = np.random.default_rng(5)
    score = np.repeat(expit(np.linspace(-2.5, 2, 12)), n // 12)
    event = rng.random(score.size) < score
    return (rng.random(score.size) < np.where(event, 0.9, 0.05)).astype(int), score


def problem_of(law, curve, seed=1):
    return prepare(*table(), curve=curve, likelihood=law, random_state=seed)


def brute_force(problem):
    """Log evidence, and mean of every coordinate, of exact calibration or an intercept."""
    law, rows = problem.likelihood, problem.table
    grids = [each.from_normal(EVEN[len(law.priors)]) for _, each in law.priors]
    shifts = [ndtri((np.arange(150) + 0.5) / 150)] if problem.curve.name == "intercept" else []
    names = [problem.prior.shift] if shifts else []
    points = np.stack(np.meshgrid(*shifts, *grids, indexing="ij"), axis=-1)
    points = points.reshape(-1, len(shifts) + len(grids))
    if names:
        points[:, 0] *= names[0].sigma
    log_odds = logit(rows.score) + (points[:, :1] if shifts else np.zeros((len(points), 1)))
    own = points[:, len(shifts) :]
    value = law.log_density(log_odds, rows.trials, rows.hits, own).sum(axis=1)
    weight = np.exp(value - value.max())
    return logsumexp(value) - np.log(len(value)), weight @ points / weight.sum()


@each
@pytest.mark.parametrize("curve", ["identity", "intercept"])
def test_importance_sampling_gives_the_sums_over_a_fine_grid(name, curve):
    problem = problem_of(LAWS[name], curve)
    sample = sample_importance(problem, 4000)
    evidence, mean = brute_force(problem)
    assert sample.log_evidence == pytest.approx(evidence, abs=0.02)
    assert sample.pareto_k < 0.5
    spread = sample.draws.std(axis=0)
    np.testing.assert_allclose(sample.draws.mean(axis=0), mean, atol=0.06 * spread.max())


@each
@pytest.mark.slow
def test_nuts_draws_from_the_same_posterior(name, monkeypatch):
    monkeypatch.setitem(LIKELIHOODS, name, type(LAWS[name]))
    problem = problem_of(LAWS[name], "logistic")
    fast = fit_curve(problem, 4000, "importance", {})
    slow = fit_curve(problem, 2000, "nuts", {"cores": 1})
    own = problem.likelihood.coordinates
    for variable in ("shift", "log_slope", *own):
        a, b = (post.tree["posterior"][variable].to_numpy() for post in (fast, slow))
        assert a.mean() == pytest.approx(b.mean(), abs=0.12 * b.std())
        assert a.std() == pytest.approx(b.std(), rel=0.12)
    np.testing.assert_allclose(fast.interval("tce"), slow.interval("tce"), atol=0.006)


@each
def test_leaving_out_is_of_the_law(name):
    """Against the posterior without the case, or the row, itself."""
    problem = problem_of(LAWS[name], "identity")
    sample = sample_importance(problem, 4000)
    loo = leave_one_out(problem, sample.draws)
    rows, law = problem.table, problem.likelihood
    hits, trials = rows.hits.copy(), rows.trials.copy()
    if law.of_cases:
        assert loo.count.sum() == problem.n
        hits[0] -= hits[0] > 0
        trials[0] -= 1
        index = 0
    else:
        assert loo.count.tolist() == [1.0] * rows.score.size
        hits[3] = trials[3] = 0
        index = 3
    even = EVEN[len(law.priors)]
    grids = np.meshgrid(*(each.from_normal(even) for _, each in law.priors), indexing="ij")
    own = np.stack(grids, axis=-1).reshape(-1, len(grids))
    x = np.repeat(logit(rows.score)[None], len(own), axis=0)
    all_of_it, without = (
        logsumexp(law.log_density(x.copy(), *each, own).sum(axis=1))
        for each in ((rows.trials, rows.hits), (trials, hits))
    )
    assert loo.pointwise[index] == pytest.approx(all_of_it - without, abs=0.01)


@each
def test_an_average_reaches_the_tree_predictions_and_the_value_of_information(name):
    law = LAWS[name]
    averaging = Averaging(("identity", "logistic", "pieces"))
    problem = prepare(*table(), curve=averaging.union, likelihood=law, random_state=2)
    post = fit_average(problem, averaging.weights, 400)
    tree = post.tree
    own = {coordinate: tree["posterior"][coordinate] for coordinate in law.coordinates}
    means = {key: float(values.mean()) for key, values in own.items()}
    assert all(0 < mean < 1 for mean in means.values())
    log_odds = problem.curve.log_odds(post._drawn.u, problem.table.score, problem.frame)
    nuisance = problem.nuisance(post._drawn.u)
    predicted, stated = tree["posterior_predictive"], tree["log_likelihood"]
    if law.of_cases:
        rate = law.recorded(expit(log_odds), nuisance) @ problem.trials / problem.n
        assert float(predicted["y"].mean()) == pytest.approx(rate.mean(), abs=0.01)
        total = stated["y"].sum("obs").to_numpy().ravel()
    else:
        spread = predicted["hits"].to_numpy().reshape(-1, problem.table.score.size).var(axis=0)
        independent = (problem.table.trials * expit(log_odds) * expit(-log_odds)).mean(axis=0)
        assert spread.mean() > 1.5 * independent.mean()
        total = stated["hits"].sum("row").to_numpy().ravel()
    rows = problem.table
    known, expected = (
        each.log_density(log_odds.copy(), rows.trials, rows.hits, nuisance).sum(axis=1)
        for each in (BINOMIAL, law)
    )
    np.testing.assert_allclose(total, expected, rtol=1e-9)
    assert np.abs(total - known).mean() > 0.5
    worth = post.value_of_information([0.3], n_more=200)
    assert 0 <= float(worth["evsi"].item()) <= float(worth["evpi"].item())
    with pytest.raises(bc.errors.InputError, match="method='cells'"):
        post.value_of_information([0.3], method="cells")


@each
def test_a_saved_posterior_keeps_its_law(name, tmp_path, monkeypatch):
    law = LAWS[name]
    monkeypatch.setitem(LIKELIHOODS, law.name, type(law))
    post = fit_curve(problem_of(law, "logistic"), 400, "importance", {})
    post.to_netcdf(tmp_path / "post.nc")
    again = bc.load(tmp_path / "post.nc")
    assert again.problem.likelihood.to_dict() == law.to_dict()
    assert again.summary().equals(post.summary())
    more = bc.update(again, *table(60))
    assert more.problem.likelihood.to_dict() == law.to_dict()
    assert more.problem.n == 300


@each
def test_power_scaling_is_of_the_law(name):
    problem = problem_of(LAWS[name], "logistic")
    post = fit_curve(problem, 1000, "importance", {})
    told = bc.prior_sensitivity(post, ["observed_expected"])
    assert np.isfinite(told[["prior", "likelihood"]].to_numpy()).all()


@each
def test_samples_under_a_prior_are_drawn_once(name):
    averaging = Averaging(("identity", "logistic", "pieces"))
    problem = prepare(*table(), curve=averaging.union, likelihood=LAWS[name], random_state=2)
    samples = FamilySamples(problem, list(averaging.weights), 400)
    assert samples.under(bc.priors.as_prior("neutral")) is samples
