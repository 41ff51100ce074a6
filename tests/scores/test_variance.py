"""The score of a predicted mean and variance, by its definition, and what makes it proper."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal import scores
from bayescal.errors import InputError

NUMBERS = st.floats(-1e3, 1e3)
VARIANCES = st.floats(1e-3, 1e3)
CASES = st.lists(st.tuples(NUMBERS, NUMBERS, VARIANCES), min_size=1, max_size=20)


@given(CASES)
def test_it_is_the_mean_of_squared_error_over_variance_and_log_variance(
    cases,
):
    each = [(y - mean) ** 2 / v + math.log(v) for y, mean, v in cases]
    actual = scores.dawid_sebastiani_score(*zip(*cases, strict=True))
    assert actual == pytest.approx(math.fsum(each) / len(each), rel=1e-9, abs=1e-9)


def predictions(n=50):
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(size=n), rng.gamma(2, size=n)
    return rng.normal(mean, np.sqrt(variance)), mean, variance


def test_weights_are_case_counts():
    arrays, counts = predictions(), np.arange(50) % 4
    repeated = [np.repeat(values, counts) for values in arrays]
    actual = scores.dawid_sebastiani_score(*arrays, sample_weight=counts)
    assert actual == pytest.approx(scores.dawid_sebastiani_score(*repeated))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([1, 2], [1, 2], [1, 0]), r"variance\[1\] = 0 is not a variance"),
        (([1, 2], [1, 2], [-1, 1]), r"variance\[0\] = -1"),
        (([1, 2], [1, np.nan], [1, 1]), r"mean\[1\] = nan"),
        (([1, np.inf], [1, 2], [1, 1]), r"y_true\[1\] = inf"),
        (([1, 2], [1, 2], [1]), "variance has 1"),
    ],
)
def test_what_is_no_prediction_is_named(arrays, message):
    with pytest.raises(InputError, match=message):
        scores.dawid_sebastiani_score(*arrays)


# The squared kernel calibration error


def plain_skce(y, m, v):
    """The mean over pairs, term by term."""

    def smooth(distance, spread):
        return math.exp(-(distance**2) / (2 * (1 + spread))) / math.sqrt(1 + spread)

    terms = []
    for i in range(len(y)):
        for j in range(i):
            kernel = math.exp(-math.hypot(m[i] - m[j], math.sqrt(v[i]) - math.sqrt(v[j])))
            inner = smooth(y[i] - y[j], 0) + smooth(m[i] - m[j], v[i] + v[j])
            inner -= smooth(m[i] - y[j], v[i]) + smooth(m[j] - y[i], v[j])
            terms.append(kernel * inner)
    return float(np.mean(terms))


def test_skce_is_the_mean_over_pairs():
    assert scores.gaussian_skce(*predictions()) == pytest.approx(plain_skce(*predictions()))


def test_the_closed_form_is_the_mean_over_draws_of_the_predictions():
    """Of one pair: E under y ~ P, y' ~ P' of the definition of the kernel, by 10^6 draws."""
    (y, other), (m, n), (v, w) = (1.3, -0.4), (0.5, 0.2), (0.8, 2.0)
    rng = np.random.default_rng(0)
    drawn, second = rng.normal(m, math.sqrt(v), 10**6), rng.normal(n, math.sqrt(w), 10**6)

    def kernel(a, b):
        return float(np.mean(np.exp(-((a - b) ** 2) / 2)))

    inner = kernel(y, other) - kernel(drawn, other) - kernel(y, second) + kernel(drawn, second)
    expected = math.exp(-math.hypot(m - n, math.sqrt(v) - math.sqrt(w))) * inner
    actual = scores.gaussian_skce([y, other], [m, n], [v, w])
    assert actual == pytest.approx(expected, abs=2e-3)


def test_skce_measures_in_bandwidths_and_counts_weights():
    y, m, v = predictions()
    expected = scores.gaussian_skce(y / 5, m / 5, v / 25)
    assert scores.gaussian_skce(y, m, v, bandwidth=5) == pytest.approx(expected)
    counts = np.arange(50) % 3
    repeated = [np.repeat(values, counts) for values in (y, m, v)]
    weighted = scores.gaussian_skce(y, m, v, sample_weight=counts)
    assert weighted == pytest.approx(scores.gaussian_skce(*repeated))
    for bandwidth in (0, -1, np.nan, "x"):
        with pytest.raises(InputError, match="bandwidth"):
            scores.gaussian_skce(y, m, v, bandwidth=bandwidth)
    with pytest.raises(InputError, match="pairs need more than one"):
        scores.gaussian_skce([1], [1], [1])
