"""AUC by nearest neighbours against its definition, and the area under the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayescal import simulate
from bayescal.errors import InputError
from bayescal.estimators import auc_v, probabilistic_kendall_tau


def data(n: int, decimals: int, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 2, n)
    outcomes[:2] = 0, 1
    weight = rng.integers(1, 4, n).astype(float)
    return outcomes, rng.random(n).round(decimals), rng.random((n, 2)).round(decimals), weight


def by_definition(outcomes: Any, scores: Any, k: int, places: Any, weight: Any) -> float:
    """Every case's neighbours and every pair, one by one."""
    places = places.reshape(scores.size, -1)
    rates = []
    for index in places:
        distance = np.sqrt(((places - index) ** 2).sum(axis=1))
        order = np.argsort(distance)
        radius = distance[order][np.argmax(np.cumsum(weight[order]) >= k)]
        near = distance <= radius + 1e-12
        rates.append(round((weight * outcomes)[near].sum() / weight[near].sum(), 12))
    rate = np.array(rates)
    different = np.subtract.outer(rate, rate)
    sign = np.sign(np.subtract.outer(scores, scores)) * np.sign(different)
    pairs = np.outer(weight, weight) * (different != 0)
    return float((pairs * (1 + sign) / 2).sum() / pairs.sum()) if pairs.any() else np.nan


@pytest.mark.oracle("auc_v")
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("decimals", [1, 2, 8])
def test_is_its_definition(seed: int, decimals: int) -> None:
    n = 4 + seed
    outcomes, scores, features, weight = data(n, decimals, seed)
    k = 1 + seed % (n // 2)
    for places, options in ((scores, {}), (features, {"features": features})):
        for cases, more in ((np.ones(n), {}), (weight, {"sample_weight": weight})):
            known = by_definition(outcomes, scores, k, places, cases)
            arguments: dict[str, Any] = {"n_neighbors": k, **options, **more}
            if np.isnan(known):
                with pytest.raises(InputError, match="same mean around every case"):
                    auc_v(outcomes, scores, **arguments)
            else:
                actual = auc_v(outcomes, scores, **arguments)
                assert actual == pytest.approx(known, rel=1e-12)


@pytest.mark.oracle("auc_v")
def test_one_neighbour_gives_the_area_under_the_roc_curve() -> None:
    """By Mann and Whitney, scores tied and not, places all different."""
    for decimals in (1, 8):
        outcomes, scores, _, _ = data(100, decimals, 3)
        features = np.random.default_rng(4).random((100, 3))
        events, others = scores[outcomes == 1], scores[outcomes == 0]
        above = np.subtract.outer(events, others)
        area = (above > 0).mean() + (above == 0).mean() / 2
        assert auc_v(outcomes, scores, features=features, n_neighbors=1) == pytest.approx(area)
        m = outcomes.sum()
        tau = probabilistic_kendall_tau(outcomes, scores)
        assert tau == pytest.approx(2 * m * (100 - m) * (2 * area - 1) / (100 * 99))
        if decimals == 8:
            assert auc_v(outcomes, scores, n_neighbors=1) == pytest.approx(area)


def test_closed_forms() -> None:
    scores = np.repeat([0.2, 0.4, 0.9], 10)
    rising = np.concatenate([np.arange(10) < events for events in (1, 5, 8)])
    assert auc_v(rising, scores, n_neighbors=10) == 1
    assert auc_v(rising, 1 - scores, n_neighbors=10) == 0
    hump = np.concatenate([np.arange(10) < events for events in (1, 8, 5)])
    assert auc_v(hump, scores, n_neighbors=10) == pytest.approx(2 / 3)
    level = np.concatenate([np.arange(10) < events for events in (1, 5, 5)])
    assert auc_v(level, scores, n_neighbors=10) == 1
    index = np.arange(30) // 10
    assert auc_v(rising, np.full(30, 0.5), features=index, n_neighbors=10) == 0.5


def test_a_rising_map_of_the_scores_changes_nothing_if_places_are_given() -> None:
    outcomes, scores, features, weight = data(80, 2, 5)
    options: dict[str, Any] = {"features": features, "sample_weight": weight, "n_neighbors": 9}
    actual = auc_v(outcomes, scores, **options)
    assert auc_v(outcomes, scores**3, **options) == pytest.approx(actual)
    assert auc_v(outcomes, 1 - scores, **options) == pytest.approx(1 - actual)


def test_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes, scores, features, _ = data(60, 1, 7)
    counts = auc_v(outcomes, scores, features=features)
    monkeypatch.setattr("bayescal.estimators.cells._nearest.NEAREST_CHUNK", 20)
    assert auc_v(outcomes, scores, features=features) == counts


@pytest.mark.parametrize("spaced", [False, True])
def test_batches_weights_and_orders(spaced: bool) -> None:
    outcomes, scores, features, weight = data(50, 1, 8)
    options: dict[str, Any] = {"features": features} if spaced else {}
    batch = np.stack([outcomes, 1 - outcomes, np.ones_like(outcomes)])[:, None]
    actual = auc_v(batch, scores, **options)
    assert actual.shape == (3, 1)
    assert np.isnan(actual[2, 0])
    alone = [auc_v(row, scores, **options) for row in batch[:2, 0]]
    np.testing.assert_array_equal(actual[:2, 0], alone)
    assert isinstance(alone[0], float)
    order = np.random.default_rng(9).permutation(50)
    moved = {"features": features[order]} if spaced else {}
    assert auc_v(outcomes[order], scores[order], **moved) == pytest.approx(alone[0])
    counts = weight.astype(int) - 1
    more = {"features": np.repeat(features, counts, axis=0)} if spaced else {}
    repeated = auc_v(np.repeat(outcomes, counts), np.repeat(scores, counts), **more)
    assert auc_v(outcomes, scores, sample_weight=counts, **options) == pytest.approx(repeated)
    thirds = auc_v(outcomes, scores, sample_weight=counts / 3, **options)
    assert thirds == pytest.approx(auc_v(outcomes, scores, sample_weight=counts * 0.7, **options))


def test_comes_near_1_for_a_calibrated_model() -> None:
    y_true, y_prob = simulate.sample("calibrated", 200_000, random_state=6)
    assert auc_v(y_true, y_prob) > 0.97
    rng = np.random.default_rng(10)
    features = rng.random((4000, 2))
    scores = features.mean(axis=1)
    outcomes = rng.random(4000) < scores
    seen = [auc_v(outcomes, scores, features=features, n_neighbors=k) for k in (1, 30, 300)]
    assert seen[0] < 0.75 < 0.8 < seen[1] < 0.93 < seen[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number from 1"),
        ({"n_neighbors": 4}, "from 1 to 3, the number of cases, got 4"),
        ({"n_neighbors": 1.5}, "n_neighbors"),
        ({"n_neighbors": True}, "n_neighbors"),
        ({"n_neighbors": 3}, "same mean around every case"),
        ({"features": [1, 2]}, r"one row for each of the 3 cases .* shape \(2,\)"),
        ({"features": np.zeros((3, 0))}, "at least one column"),
        ({"features": np.zeros((3, 2, 2))}, "features must have"),
        ({"features": [[1, 2], [3, np.nan], [5, 6]]}, r"features\[1, 1\] = nan"),
        ({"features": [1, np.inf, 2]}, r"features\[1, 0\] = inf"),
        ({"features": ["a", "b", "c"]}, "features is not an array of numbers"),
        ({"features": [[1], [2, 3], [4]]}, "features is not an array of numbers"),
        ({"sample_weight": [1, -1, 1]}, "sample_weight"),
    ],
)
def test_refuses(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        auc_v([0, 1, 1], [0.2, 0.4, 0.6], **options)


def test_refuses_one_class() -> None:
    with pytest.raises(InputError, match="Pass both classes"):
        auc_v([1, 1, 1], [0.2, 0.4, 0.6])
