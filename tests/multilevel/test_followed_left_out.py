"""Leave-one-out of several curves of times to an event, beside fits without what is left out."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.model.times import log_density_by_entry
from free import given_free

SITES, SIZE = 3, 60
RNG = np.random.default_rng(12)
SITE = np.repeat(np.arange(SITES), SIZE)
X = RNG.normal(-0.7, 1.1, SITE.size)
RISK = expit(X)
CLUSTER = np.arange(SITE.size) // 6
EFFECT = np.repeat(RNG.standard_normal(SITE.size // 6), 6)
EVERY = np.arange(SITE.size)


def followed(effect):
    """Times and events, of which some are censored."""
    rng = np.random.default_rng(8)
    had = rng.random(X.size) < expit(0.8 * X + effect)
    comes, left = np.where(had, 5 * rng.random(X.size), 9.0), rng.exponential(12, X.size)
    return np.minimum(comes, left), comes <= left


def fitted(times, kept, *, clustered=False):
    roles = {"cluster": CLUSTER[kept]} if clustered else {}
    outcome = bc.Survival(times[0][kept], times[1][kept])
    how = {"horizon": 5, "curve": "logistic", "draws": 1000, "random_state": 1}
    return given_free(bc.fit(outcome, RISK[kept], site=SITE[kept], **roles, **how))


def predicted(post, every, times, cases):
    """Sum of the log predictive densities of some cases, at the steps of the fit of all."""
    steps, total = every.problem.shared_steps.steps, 0.0
    for site in np.unique(SITE[cases]):
        own = cases[SITE[cases] == site]
        label = str(site)
        data = bc.CalibrationData(
            bc.Survival(times[0][site == SITE], times[1][site == SITE]),
            RISK[site == SITE],
            horizon=5,
        )
        table = every.problem.groups[label]
        at = post.at(site=label).curve(table.data.score).to_numpy().reshape(-1, SIZE)
        density = log_density_by_entry(table, np.log(at) - np.log1p(-at), steps=steps)
        entry_of_row = np.argsort(data.follow_up.row)
        row = np.searchsorted(data.score, RISK[own])
        total += np.log(np.exp(density[:, entry_of_row[row]]).mean(axis=0)).sum()
    return total


@pytest.mark.slow
def test_a_case_left_out_is_predicted_as_by_a_fit_without_it():
    """The least expected of each kind: of events, of those without, and of those who left."""
    times = followed(np.zeros(X.size))
    every = fitted(times, EVERY)
    pointwise = np.sort(every.loo.pointwise)
    alone = np.array([predicted(every, every, times, EVERY[[k]]) for k in EVERY])
    for rank, case in enumerate(np.argsort(alone)[:3]):
        refitted = predicted(fitted(times, case != EVERY), every, times, EVERY[[case]])
        assert np.abs(pointwise[: rank + 3] - refitted).min() < 0.05
        assert alone[case] - refitted > 0.02
    assert every.loo.pareto_k < 0.7


@pytest.mark.slow
def test_a_cluster_left_out_is_predicted_as_by_a_fit_without_it():
    times = followed(1.2 * EFFECT)
    every = fitted(times, EVERY, clustered=True)
    names = np.unique(CLUSTER)
    inside = np.array(
        [predicted(every, every, times, np.flatnonzero(name == CLUSTER)) for name in names]
    )
    lowest = names[np.argsort(inside)[:3]]
    refitted = [
        predicted(
            fitted(times, name != CLUSTER, clustered=True),
            every,
            times,
            np.flatnonzero(name == CLUSTER),
        )
        for name in lowest
    ]
    loo = every.loo
    assert loo.pointwise.size == names.size
    assert np.sort(loo.pointwise)[:3] == pytest.approx(np.sort(refitted), abs=0.25)
    assert inside[lowest].sum() - sum(refitted) > 0.3
