"""Smoothed curves against their definitions, written out case by case."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import logit

from bayescal import simulate
from bayescal.data.weights import quantile
from bayescal.errors import InputError, SeparationError
from bayescal.estimators import e50, e90, emax, flexible_curve, ici

Floats = NDArray[np.float64]

LOCAL = ["loess", "lowess"]
REGRESSIONS = ["rcs", "logistic", "beta"]
EVERY = [*LOCAL, *REGRESSIONS, "isotonic"]


def cases(n, digits, seed):
    """Outcomes and scores, with the more ties the fewer digits."""
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", n, random_state=seed)
    return y_true.astype(float), np.round(y_prob, digits)


# Local fits, by least squares at each anchor


def local_fit(x, y, anchor, count, degree):
    distance = np.abs(x - anchor)
    reach = np.sort(distance)[count - 1]
    near = distance <= 0.999 * reach
    root = np.sqrt((1 - (distance[near] / reach) ** 3) ** 3)
    powers = np.vander(x[near] - anchor, degree + 1, increasing=True)
    return np.linalg.lstsq(powers * root[:, None], y[near] * root, rcond=None)[0]


def loess_by_hand(y, x, at, span):
    """Cells of a k-d tree are cut at their median case, in whichever row no tie is parted."""
    n, x_sorted = x.size, np.sort(x)
    margin = 0.005 * np.ptp(x)
    vertices = [x_sorted[0] - margin, x_sorted[-1] + margin]

    def cut(first, last):
        if last - first + 1 <= int(n * span * 0.2):
            return
        middle = (first + last) // 2
        for move in [0, *(sign * k for k in range(1, n) for sign in (1, -1))]:
            row = middle + move
            if first <= row < last and x_sorted[row - 1] != x_sorted[row]:
                break
        else:
            return
        vertices.append(x_sorted[row - 1])
        cut(first, row)
        cut(row + 1, last)

    cut(1, n)
    v = np.unique(vertices)
    fits = np.array([local_fit(x, y, a, int(n * span + 1e-5), 2)[:2] for a in v])
    i = np.clip(np.searchsorted(v, at, side="right") - 1, 0, v.size - 2)
    width = v[i + 1] - v[i]
    t = (at - v[i]) / width
    return (
        fits[i, 0] * (1 + 2 * t) * (1 - t) ** 2
        + fits[i + 1, 0] * t**2 * (3 - 2 * t)
        + width * (fits[i, 1] * t * (1 - t) ** 2 - fits[i + 1, 1] * t**2 * (1 - t))
    )


def lowess_by_hand(y, x, at, span):
    distinct = np.unique(x)
    anchors = [distinct[0]]
    while anchors[-1] < distinct[-1]:
        reached = distinct[distinct <= anchors[-1] + 0.01 * np.ptp(x)][-1]
        beyond = distinct[distinct > anchors[-1]][0]
        anchors.append(max(reached, beyond))
    values = [local_fit(x, y, a, int(span * x.size + 1e-7), 1)[0] for a in anchors]
    return np.interp(at, anchors, values)


@pytest.mark.parametrize(("n", "digits"), [(50, 9), (50, 2), (300, 9), (300, 2), (2000, 3)])
@pytest.mark.parametrize("span", [None, 0.4])
def test_local_fits_are_least_squares(n, digits, span):
    y, x = cases(n, digits, seed=n)
    at = np.linspace(x.min(), x.max(), 40)
    for name, by_hand, usual in (
        ("loess", loess_by_hand, 0.75),
        ("lowess", lowess_by_hand, 2 / 3),
    ):
        actual = flexible_curve(y, x, at, smoother=name, span=span)
        np.testing.assert_allclose(actual, by_hand(y, x, at, span or usual), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("smoother", LOCAL)
def test_a_fit_loses_the_powers_that_the_scores_cannot_determine(smoother):
    rng = np.random.default_rng(0)
    x = np.repeat([0.2, 0.4, 0.6], [6, 90, 4])
    y = rng.integers(0, 2, 100)
    assert flexible_curve(y, x, [0.4], smoother=smoother) == pytest.approx(y[6:96].mean())
    assert flexible_curve(y, np.full(100, 0.3), smoother=smoother) == pytest.approx(y.mean())
    two = flexible_curve([0, 1], [0.2, 0.9], smoother=smoother)
    np.testing.assert_allclose(two, [0, 1], atol=0.01)


@pytest.mark.parametrize("scale", [1e-300, 5e-324])
@pytest.mark.parametrize("smoother", EVERY)
def test_a_range_of_scores_near_nothing(smoother, scale):
    y, x = [1, 0, 1, 0, 1, 0], np.array([0.0, 1, 2, 3, 3, 4]) * scale
    assert np.isfinite(flexible_curve(y, x, smoother=smoother)).all()
    with_outlier = flexible_curve([*y, 0, 1], [*x, 1, 1], smoother=smoother)
    assert np.isfinite(with_outlier).all()


# Regressions: the likelihood is greatest where its gradient is nothing


@pytest.mark.parametrize(
    ("smoother", "functions"),
    [
        ("logistic", [np.ones_like, logit]),
        ("beta", [np.ones_like, np.log, np.log1p]),
        ("rcs", [np.ones_like, logit]),
    ],
)
@pytest.mark.parametrize("digits", [9, 1])
def test_regressions_solve_the_score_equations(smoother, functions, digits):
    y, x = cases(400, digits, seed=1)
    x = np.clip(x, 0.02, 0.98)
    weight = np.random.default_rng(2).integers(0, 4, 400)
    fitted = flexible_curve(y, x, smoother=smoother, sample_weight=weight)
    for function in functions:
        values = function(-x if function is np.log1p else x)
        assert abs(weight * (y - fitted) @ values) < 1e-7


def test_rcs_bends_between_its_knots_only():
    y, x = cases(3000, 9, seed=3)
    knots = np.quantile(logit(x), [0.05, 0.275, 0.5, 0.725, 0.95])
    grid = np.linspace(-6, 6, 4001)
    curve = logit(flexible_curve(y, x, 1 / (1 + np.exp(-grid)), smoother="rcs"))
    third = np.diff(curve, 3) / np.diff(grid).mean() ** 3
    middle = (grid[1:-2] + grid[2:-1]) / 2
    beyond = (middle < knots[0] - 0.01) | (middle > knots[-1] + 0.01)
    assert np.abs(third[beyond]).max() < 1e-3
    for low, high in itertools.pairwise(knots):
        inside = third[(middle > low + 0.01) & (middle < high - 0.01)]
        assert np.ptp(inside) < 1e-3
        assert np.abs(inside).max() > 0.01


def test_a_spline_on_few_scores_is_a_line_or_the_mean_outcomes():
    y, x = np.tile([0, 1, 1, 0, 1], 8), np.repeat([0.1, 0.3, 0.5, 0.9], 10)
    line = flexible_curve(y, x.clip(0.5), smoother="logistic")
    np.testing.assert_allclose(flexible_curve(y, x.clip(0.5), smoother="rcs"), line)
    rates = [y[x == score].mean() for score in x]
    saturated = flexible_curve(y, x, smoother="rcs", n_knots=7)
    np.testing.assert_allclose(saturated, rates, rtol=1e-8)


@pytest.mark.parametrize("smoother", REGRESSIONS)
def test_a_curve_that_does_not_exist(smoother):
    scores = np.arange(1, 21) / 21
    separated = scores > 0.4
    mixed = np.arange(20) % 3 == 0
    outcomes = np.array([separated, mixed, np.zeros(20), np.ones(20)])
    actual = flexible_curve(outcomes, scores, smoother=smoother)
    assert np.isnan(actual).all(axis=1).tolist() == [True, False, True, True]
    np.testing.assert_allclose(actual[1], flexible_curve(mixed, scores, smoother=smoother))
    for row in outcomes[[0, 2, 3]]:
        with pytest.raises(SeparationError, match=f"'{smoother}' curve does not exist"):
            flexible_curve(row, scores, smoother=smoother)


# Isotonic


@pytest.mark.parametrize("digits", [1, 9])
def test_isotonic_is_the_largest_least_mean(digits):
    y, x = cases(60, digits, seed=5)
    score, row = np.unique(x, return_inverse=True)
    hits, trials = np.bincount(row, y), np.bincount(row)
    by_hand = [
        max(
            min(hits[a : b + 1].sum() / trials[a : b + 1].sum() for b in range(i, score.size))
            for a in range(i + 1)
        )
        for i in range(score.size)
    ]
    actual = flexible_curve(y, x, smoother="isotonic")
    np.testing.assert_allclose(actual, np.array(by_hand)[row])


# What holds for all


@pytest.mark.parametrize("smoother", EVERY)
@settings(max_examples=15)
@given(
    data=st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.5, 0.9, 1.0]), st.integers(0, 1)),
        min_size=1,
        max_size=30,
    ),
    seed=st.integers(0, 1000),
)
def test_hostile_ties_in_any_order(smoother, data, seed):
    x, y = np.array(data).T
    at = [0.0, 0.2, 1.0]
    order = np.random.default_rng(seed).permutation(x.size)
    try:
        actual = flexible_curve(y, x, at, smoother=smoother)
    except SeparationError:
        assert smoother in REGRESSIONS
        return
    assert np.isfinite(actual).all()
    shuffled = flexible_curve(y[order], x[order], at, smoother=smoother)
    np.testing.assert_allclose(shuffled, actual, rtol=1e-8, atol=1e-10)
    # Events and non-events change places.
    other = (
        flexible_curve(1 - y, x, at, smoother=smoother) if smoother != "isotonic" else 1 - actual
    )
    np.testing.assert_allclose(other, 1 - actual, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("smoother", [*LOCAL, "isotonic"])
def test_beyond_the_observed_scores_the_end_value_stays(smoother):
    y, x = cases(200, 9, seed=9)
    at = [0.0, x.min(), x.max(), 1.0]
    first, low, high, last = flexible_curve(y, x, at, smoother=smoother)
    assert first == low
    assert high == last


@pytest.mark.parametrize("smoother", EVERY)
def test_the_curve_nears_the_truth(smoother):
    truth = simulate.truth("clinical-middle-overconfident")
    y, x = truth.sample(40_000, random_state=10)
    at = np.array([0.1, 0.2, 0.3, 0.5, 0.7])
    actual = flexible_curve(y, x, at, smoother=smoother)
    np.testing.assert_allclose(actual, truth.curve(at), atol=0.02)


@settings(max_examples=30)
@given(
    values=st.lists(st.sampled_from([0.1, 0.2, 0.2, 0.5, 0.7]), min_size=1, max_size=12),
    prob=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    seed=st.integers(0, 100),
)
def test_quantile_is_that_of_the_repeats(values, prob, seed):
    trials = np.random.default_rng(seed).integers(1, 5, len(values)).astype(float)
    repeated = np.repeat(values, trials.astype(int))
    actual = quantile(np.array([values, values]), trials, prob)
    np.testing.assert_allclose(actual, np.quantile(repeated, prob), rtol=1e-12)


# Hostile input


@pytest.mark.parametrize("smoother", ["loess", "lowess"])
@pytest.mark.parametrize("seed", range(40))
def test_a_badly_weighted_local_fit_stays_near_the_outcomes(seed, smoother):
    """Scores all but equal, weights over ten orders: without a guard 1e4 and more."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 40))
    near = rng.choice(rng.random(5), size) + rng.choice([0, 1e-8, 1e-4], size)
    scores = np.clip(near, 0, 1)
    outcomes = rng.integers(0, 2, size)
    weights = np.exp(rng.normal(0, rng.choice([0, 3, 12]), size)).clip(1e-30, 1e7)
    options = {"smoother": smoother, "sample_weight": weights}
    assert np.abs(flexible_curve(outcomes, scores, **options)).max() < 300
    clipped = flexible_curve(outcomes, scores, **options, clip=True)
    assert clipped.min() >= 0
    assert clipped.max() <= 1
    for index in (ici, e50, e90, emax):
        for clip in (False, True):
            assert 0 <= index(outcomes, scores, **options, clip=clip) <= 1


def test_clipping_changes_nothing_but_what_lies_outside():
    outcomes, scores = np.repeat([0, 1], 20), np.linspace(0.01, 0.99, 40)
    raw = flexible_curve(outcomes, scores)
    assert raw.min() < 0 < 1 < raw.max()
    clipped = flexible_curve(outcomes, scores, clip=True)
    np.testing.assert_array_equal(clipped, raw.clip(0, 1))
    assert ici(outcomes, scores, clip=True) == pytest.approx(np.abs(clipped - scores).mean())
    with pytest.raises(InputError, match="clip must be True or False, got 'yes'"):
        flexible_curve(outcomes, scores, clip="yes")
