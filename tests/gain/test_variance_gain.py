"""The gain of a recalibration of variances, against its definitions and the truth."""

import numpy as np
import pytest
from scipy.stats import norm

import bayescal as bc
from bayescal.errors import InputError

METHODS = ("bootstrap", "gaussian")
methods = pytest.mark.parametrize("method", METHODS)


def cases(n=400, seed=1):
    _, y, mean, variance = bc.simulate.friedman_1(n, random_state=seed)
    return y, mean, variance


@methods
def test_means_are_those_of_the_sample(method):
    y, mean, variance = cases()
    before, after = variance / 4, variance * 1.1
    gain = bc.variance_gain(y, mean, before, after, method=method, random_state=0)
    table, square = gain.summary(), (y - mean) ** 2
    score = bc.scores.dawid_sebastiani_score
    known = {
        "dss_gain": score(y, mean, before) - score(y, mean, after),
        "mean_variance_before": before.mean(),
        "mean_variance_after": after.mean(),
        "mean_squared_error": square.mean(),
        "variance_ratio_before": (square / before).mean(),
        "variance_ratio_after": (square / after).mean(),
    }
    assert list(table.index) == list(known)
    for name, value in known.items():
        row = table.loc[name]
        width = row["upper"] - row["lower"]
        assert row["mean"] == pytest.approx(
            value, abs=(0.05 if method == "bootstrap" else 0.2) * width
        )
        assert row["lower"] < row["median"] < row["upper"]
    assert gain.prob_improved == 1
    assert gain.prob_above(1e9) == 0
    assert gain.summary().attrs["prob_improved"] == 1


def test_the_bootstrap_has_the_spread_of_a_mean():
    y, mean, variance = cases()
    gain = bc.variance_gain(y, mean, variance / 2, variance, random_state=0)
    losses = (y - mean) ** 2 / variance - np.log(2)
    assert gain.draws["dss_gain"].std() == pytest.approx(losses.std() / np.sqrt(400), rel=0.1)


@methods
def test_it_covers_the_gain_of_normal_errors(method):
    """Before, the variance is a quarter of the truth: the gain is 3 - log 4."""
    inside = 0
    for seed in range(100):
        y, mean, variance = cases(100, seed)
        gain = bc.variance_gain(
            y, mean, variance / 4, variance, method=method, draws=400, random_state=seed
        )
        lower, upper = gain.interval()
        inside += lower <= 3 - np.log(4) <= upper
    assert inside >= 86


@methods
def test_no_change_is_no_gain(method):
    y, mean, variance = cases(50)
    gain = bc.variance_gain(y, mean, variance, variance, method=method, random_state=0)
    np.testing.assert_allclose(gain.draws["dss_gain"], 0, atol=1e-12)
    assert gain.prob_improved == 0


@methods
def test_seeds_repeat_and_weights_are_counts(method):
    y, mean, variance = cases(50)
    count = np.arange(50) % 3
    options = {"method": method, "random_state": 3}
    first, again = (
        bc.variance_gain(y, mean, variance / 2, variance, sample_weight=count, **options)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.draws["dss_gain"], again.draws["dss_gain"])
    repeated = (np.repeat(values, count) for values in (y, mean, variance / 2, variance))
    of_copies = bc.variance_gain(*repeated, **options)
    assert first.n == of_copies.n == count.sum()
    np.testing.assert_allclose(first.interval(), of_copies.interval(), rtol=0.1)


def test_what_a_notebook_and_a_terminal_show():
    y, mean, variance = cases(50)
    gain = bc.variance_gain(y, mean, variance / 2, variance, random_state=0)
    assert "gain in Dawid-Sebastiani score" in repr(gain)
    assert "P(improved)" in gain._repr_html_()
    assert isinstance(gain, bc.VarianceGain)


def test_bad_arguments_are_named():
    y, mean, variance = cases(20)
    with pytest.raises(InputError, match="method must be one of"):
        bc.variance_gain(y, mean, variance, variance, method="normal")
    with pytest.raises(InputError, match=r"after\[3\] = -1"):
        bc.variance_gain(y, mean, variance, np.where(np.arange(20) == 3, -1, variance))
    with pytest.raises(InputError, match="before has 19"):
        bc.variance_gain(y, mean, variance[1:], variance)
    with pytest.raises(InputError, match="measure"):
        bc.variance_gain(y, mean, variance, variance, draws=100).interval("tce")


# The problem of the example


def test_friedman_1_is_its_definition():
    x, y, mean, variance = bc.simulate.friedman_1(4000, random_state=0)
    assert x.shape == (4000, 10)
    again = [
        10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
        for a, b, c, d, e in x[:, :5]
    ]
    np.testing.assert_allclose(mean, again)
    np.testing.assert_allclose(variance, (0.5 + x[:, 5]) ** 2)
    standard = (y - mean) / np.sqrt(variance)
    assert abs(standard.mean()) < 0.07
    assert np.mean(np.abs(standard) < norm.ppf(0.9)) == pytest.approx(0.8, abs=0.03)
    np.testing.assert_array_equal(bc.simulate.friedman_1(4000, random_state=0)[1], y)
