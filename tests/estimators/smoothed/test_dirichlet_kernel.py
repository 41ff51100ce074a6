"""The canonical calibration error by Dirichlet kernels, against SciPy's density, pair by pair."""

import numpy as np
import pytest
from scipy.stats import dirichlet

from bayescal.errors import InputError
from bayescal.estimators import kde_ece

CANDIDATES = [*np.logspace(-5, -1, 15), *np.linspace(0.2, 1, 5)]


def drawn(n=40, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, classes, n), rng.dirichlet(np.ones(classes), n)


def density(at, centre, bandwidth):
    return float(dirichlet(centre / bandwidth + 1).pdf(at))


def pair_by_pair(labels, prob, bandwidth, p):
    """Popordanoska et al., equation by equation."""
    total = 0.0
    corners = np.eye(prob.shape[1])[labels]
    for j, at in enumerate(prob):
        kernel = [0.0 if i == j else density(at, row, bandwidth) for i, row in enumerate(prob)]
        frequency = np.array(kernel) @ corners / np.sum(kernel)
        total += np.sum(np.abs(frequency - at) ** p)
    return (total / len(prob)) ** (1 / p)


@pytest.mark.parametrize("p", [1, 2, 3.5])
@pytest.mark.parametrize("bandwidth", [0.02, 0.3])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_is_the_sum_over_pairs(classes, bandwidth, p):
    labels, prob = drawn(25, classes)
    expected = pair_by_pair(labels, prob, bandwidth, p)
    assert kde_ece(labels, prob, bandwidth=bandwidth, p=p) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("bandwidth", [None, 0.05])
def test_of_two_classes_it_is_that_of_the_event(bandwidth, p):
    rng = np.random.default_rng(1)
    score = rng.random(60).round(2)
    score[:3] = 0, 1, 1
    outcome = rng.random(60) < score
    both = np.column_stack([1 - score, score])
    expected = 2 ** (1 / p) * kde_ece(outcome, score, bandwidth=bandwidth, p=p)
    assert kde_ece(outcome, both, bandwidth=bandwidth, p=p) == pytest.approx(expected, rel=1e-5)


def test_bandwidth_has_the_largest_likelihood_of_the_candidates():
    labels, prob = drawn(30, 3)

    def likelihood(bandwidth):
        with np.errstate(divide="ignore"):
            return sum(
                np.log(sum(density(at, row, bandwidth) for i, row in enumerate(prob) if i != j))
                for j, at in enumerate(prob)
            )

    known = CANDIDATES[5:]
    best = known[int(np.argmax([likelihood(bandwidth) for bandwidth in known]))]
    assert kde_ece(labels, prob) == pytest.approx(kde_ece(labels, prob, bandwidth=best), rel=1e-12)


def test_refusals():
    labels, prob = drawn()
    with pytest.raises(InputError, match="form"):
        kde_ece(labels, prob, form="triweight")
    with pytest.raises(InputError, match="only one case"):
        kde_ece([0], [[0.2, 0.8]])
    with pytest.raises(InputError, match="is no column of y_prob"):
        kde_ece(labels + 1, prob)
