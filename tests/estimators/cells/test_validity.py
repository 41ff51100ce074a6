"""The area under the validity curve: its definition by loops, its curve, and what it answers to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal import simulate
from bayescal.errors import InputError
from bayescal.estimators import auc_v, validity_curve


def data(n, decimals, seed):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, n).astype(float)
    return rng.integers(0, 2, n), rng.random(n).round(decimals), weight


def distances(outcomes, scores, k, weight):
    """|s_i - r_i| of every case, whose neighbours are as near as the k-th, one by one."""
    gaps = []
    for score in scores:
        distance = np.abs(scores - score)
        order = np.argsort(distance)
        radius = distance[order][np.argmax(np.cumsum(weight[order]) >= k)]
        near = distance <= radius + 1e-12
        gaps.append(abs(score - np.average(outcomes[near], weights=weight[near])))
    return np.array(gaps)


@pytest.mark.oracle("auc_v")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("decimals", [1, 2, 8])
def test_is_its_definition(seed, decimals):
    n = 4 + seed
    outcomes, scores, weight = data(n, decimals, seed)
    k = 1 + seed % (n // 2)
    for cases, more in ((np.ones(n), {}), (weight, {"sample_weight": weight})):
        known = 1 - np.average(distances(outcomes, scores, k, cases), weights=cases)
        actual = auc_v(outcomes, scores, n_neighbors=k, **more)
        assert actual == pytest.approx(known, rel=1e-12)


@pytest.mark.oracle("auc_v")
def test_without_ties_it_is_the_papers_sum_over_k():
    """Section 5: the events among the k nearest scores, over k; by scikit-learn's neighbours."""
    neighbors = pytest.importorskip("sklearn.neighbors")
    y_true, y_prob = simulate.sample("D3", 500, random_state=2)
    nearest = neighbors.KNeighborsRegressor(10).fit(y_prob[:, None], y_true)
    gap = np.abs(y_prob - nearest.predict(y_prob[:, None]))
    assert auc_v(y_true, y_prob) == pytest.approx(1 - gap.mean(), rel=1e-12)
    for epsilon in (0.02, 0.1, 0.3):
        curve = validity_curve(y_true, y_prob)
        share = curve.share[np.searchsorted(curve.epsilon, epsilon, side="right") - 1]
        assert share == pytest.approx((gap <= epsilon).mean())


@pytest.mark.parametrize("k", [1, 7, 40])
def test_the_area_under_its_curve(k):
    for weight in (None, data(40, 2, 5)[2]):
        outcomes, scores, _ = data(40, 2, 5)
        options = {"n_neighbors": k, "sample_weight": weight}
        epsilon, share = validity_curve(outcomes, scores, **options)
        assert (np.diff(epsilon) > 0).all()
        assert (np.diff(share) >= 0).all()
        assert (epsilon[0], epsilon[-1], share[-1]) == (0, 1, pytest.approx(1))
        area = share[:-1] @ np.diff(epsilon)
        assert area == pytest.approx(auc_v(outcomes, scores, **options))


def test_the_noise_of_ten_neighbours_is_as_the_notes_say():
    rng = np.random.default_rng(11)
    q = rng.random(50_000)
    outcomes = rng.random(50_000) < q
    noise = np.sqrt(2 * q * (1 - q) / (np.pi * 10)).mean()
    assert auc_v(outcomes, q) == pytest.approx(1 - noise, abs=0.005)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([1, 8]))
def test_relabelling_outcomes_and_scores_keeps_the_area(seed, k, decimals):
    outcomes, scores, weight = data(12, decimals, seed)
    actual = auc_v(outcomes, scores, n_neighbors=k, sample_weight=weight)
    mirrored = auc_v(1 - outcomes, 1 - scores, n_neighbors=k, sample_weight=weight)
    assert mirrored == pytest.approx(actual, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number from 1"),
        ({}, "from 1 to 3, the number of cases, got 10"),
        ({"n_neighbors": 1.5}, "n_neighbors"),
        ({"n_neighbors": True}, "n_neighbors"),
        ({"n_neighbors": 1, "sample_weight": [1, -1, 1]}, "sample_weight"),
    ],
)
def test_refuses(options, message):
    for function in (auc_v, validity_curve):
        with pytest.raises(InputError, match=message):
            function([0, 1, 1], [0.2, 0.4, 0.6], **options)


def test_a_curve_is_of_one_data_set():
    with pytest.raises(InputError, match=r"one-dimensional, but has shape \(2, 3\)"):
        validity_curve(np.zeros((2, 3)), [0.2, 0.4, 0.6], n_neighbors=1)
