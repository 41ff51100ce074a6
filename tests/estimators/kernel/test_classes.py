"""Kernel calibration errors of several classes against double sums and the definition."""

from itertools import product

import numpy as np
import pytest

from bayescal.errors import InputError
from bayescal.estimators import kce, skce

KERNELS = {
    "laplace": lambda p, q, width: np.exp(-np.abs(p - q).sum() / 2 / width),
    "gaussian": lambda p, q, width: np.exp(-((p - q) ** 2).sum() / 2 / (2 * width**2)),
}


def drawn(n=30, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, classes, n), rng.dirichlet(np.ones(classes), n)


def similarity(p, q):
    """A kernel whose values are no multiples of one matrix: classes near each other are alike."""
    apart = np.abs(np.subtract.outer(np.arange(p.size), np.arange(p.size)))
    far = np.exp(-((p - q) ** 2).sum())
    return far * 0.5**apart + np.exp(-np.abs(p - q).sum()) * np.eye(p.size)


def every_pair(function):
    return lambda first, second: np.array([[function(p, q) for q in second] for p in first])


def terms(labels, prob, function):
    """(e - p)' k(p, p') (e' - p') for each pair, one after the other."""
    corners = np.eye(prob.shape[1])[labels]
    size = len(labels)
    values = np.empty((size, size))
    for i, j in product(range(size), repeat=2):
        matrix = function(prob[i], prob[j]) * np.ones(1)
        if matrix.size == 1:
            matrix = matrix.item() * np.eye(prob.shape[1])
        values[i, j] = (corners[i] - prob[i]) @ matrix @ (corners[j] - prob[j])
    return values


def summed(values, form, block=2):
    size = len(values)
    others = values - np.diag(np.diag(values))
    if form == "biased":
        return values.mean()
    if form == "unbiased":
        return others.sum() / (size * (size - 1))
    starts = range(0, size // block * block, block)
    parts = [others[at : at + block, at : at + block].sum() for at in starts]
    return float(np.mean(parts)) / (block * (block - 1))


@pytest.mark.parametrize("form", ["unbiased", "biased", "block"])
@pytest.mark.parametrize("name", [*KERNELS, "matrices"])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_is_the_double_sum(name, form, classes):
    labels, prob = drawn(31, classes)
    options = {"form": form, "block_size": 3}
    if name == "matrices":
        function = similarity
        options["kernel"] = every_pair(similarity)
    else:
        function = lambda p, q: KERNELS[name](p, q, 0.3)  # noqa: E731
        options |= {"kernel": name, "bandwidth": 0.3}
    values = terms(labels, prob, function)
    assert skce(labels, prob, **options) == pytest.approx(summed(values, form, 3), rel=1e-10)
    if form == "biased":
        options.pop("form"), options.pop("block_size")
        assert kce(labels, prob, **options) == pytest.approx(np.sqrt(values.mean()), rel=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", ["unbiased", "biased", "block"])
def test_of_two_classes_it_is_that_of_the_event(kernel, form):
    rng = np.random.default_rng(1)
    score, outcome = rng.random(50).round(1), rng.integers(0, 2, 50)
    both = np.column_stack([1 - score, score])
    options = {"form": form, "kernel": kernel, "bandwidth": 0.2}
    expected = skce(outcome, score, **options)
    assert skce(outcome, both, **options) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "cubic"}, "kernel"),
        ({"kernel": lambda p, q: 0}, "for each pair of predictions"),
        ({"kernel": lambda p, q: np.full((len(p), len(q)), np.nan)}, "finite"),
        ({"kernel": lambda p: p}, "two matrices"),
        ({"bandwidth": 0}, "bandwidth"),
        ({"form": "block", "block_size": 99}, "the number of cases"),
        ({"form": "block", "sample_weight": np.ones(30)}, "one by one"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        skce(*drawn(), **options)


def test_labels_and_functions_of_an_event():
    labels, prob = drawn()
    with pytest.raises(InputError, match="is no column of y_prob"):
        skce(labels + 1, prob)
    with pytest.raises(InputError, match="needs a matrix"):
        skce([0, 1], [0.2, 0.5], kernel=every_pair(similarity))
    with pytest.raises(InputError, match="a pair takes two"):
        skce([0], [[0.2, 0.8]])
