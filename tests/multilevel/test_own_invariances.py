"""What must not change the measures of patients with the curve of their own group."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.posterior.functionals import usual_functionals
from bayescal.posterior.posterior import NEEDS_ONE_CURVE

N = 600
DRAWS = 2000
RNG = np.random.default_rng(11)
X = RNG.normal(-1.2, 1.1, N).round(1)
GROUP = np.arange(N) % 4
RISK = expit(X + 0.5 * np.where(GROUP % 2, 1, -1))
Y = (RNG.random(N) < RISK).astype(int)
S = expit(X)
MEASURES = [name for name in usual_functionals() if name not in NEEDS_ONE_CURVE]
SYMMETRIC = ("tce", "e50", "e90", "calibration_slope")
KINDS = {
    "sites": lambda group: {"site": group},
    "periods": lambda group: {"period": group},
    "cells": lambda group: {"subgroup": {"a": group % 2, "b": group // 2}},
}
MONTE_CARLO = 0.2
"""Of a standard deviation: four errors of the difference of two means of 2000 draws, with room for
the fewer draws that importance sampling is worth."""


def of(kind, y=Y, s=S, group=GROUP, seed=1, **roles):
    how = KINDS[kind](group) | {"curve": "logistic", "draws": DRAWS, "random_state": seed}
    return bc.fit(y, s, **how, **roles).own()


def table(view, population="bootstrap"):
    return view.summary(population=population, names=MEASURES).to_numpy()


def assert_same_law(one, other, names=MEASURES, sign=1.0):
    for name in names:
        first, second = one.values_of(name), other.values_of(name)
        apart = abs(first.mean() - sign * second.mean())
        assert apart <= MONTE_CARLO * first.std(), name
        assert first.std() == pytest.approx(second.std(), rel=0.15), name


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_rows_changes_nothing(kind):
    order = np.random.default_rng(0).permutation(N)
    np.testing.assert_allclose(
        table(of(kind, Y[order], S[order], GROUP[order])), table(of(kind)), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repeats(kind):
    times = np.random.default_rng(2).integers(1, 4, N)
    counted = of(kind, sample_weight=times)
    repeated = of(kind, *(np.repeat(each, times) for each in (Y, S, GROUP)))
    for population in ("bootstrap", "sample"):
        np.testing.assert_allclose(
            table(counted, population), table(repeated, population), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("kind", KINDS)
def test_which_outcome_is_called_the_event_does_not_matter(kind):
    ours, theirs = of(kind), of(kind, 1 - Y, 1 - S)
    assert_same_law(ours, theirs, SYMMETRIC)
    assert_same_law(ours, theirs, ("signed_error",), sign=-1)


def test_names_of_groups_do_not_matter():
    """In whatever order they stand; each group has a stream of random numbers by its name."""
    for names in (["E", "F", "G", "H"], ["D", "B", "A", "C"]):
        assert_same_law(of("sites"), of("sites", group=np.array(names)[GROUP]))


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_moves_it_by_its_monte_carlo_error(kind):
    one, again, other = of(kind), of(kind), of(kind, seed=2)
    np.testing.assert_array_equal(table(one), table(again))
    assert not np.array_equal(table(one), table(other))
    assert_same_law(one, other)


def test_groups_of_one_curve_have_the_error_of_the_pooled_curve():
    """Twice the same patients: errors of the groups are alike, so that none cancels."""
    twice, group = [np.tile(each, 2) for each in (Y, S)], np.repeat([0, 1], N)
    post = bc.fit(*twice, site=group, curve="logistic", draws=DRAWS, random_state=1)
    assert post.own().estimate("tce") == pytest.approx(post.at().estimate("tce"), abs=0.01)
