"""A partition with few cuts is an upper bound of the best one."""

import numpy as np

from bayescal.estimators.distance import best_partition


def test_few_cuts_are_an_upper_bound(monkeypatch):
    rng = np.random.default_rng(7)
    score = np.sort(rng.random(400))
    share = np.full(400, 1 / 400)
    events = (rng.random(400) < score**2) / 400
    exact = best_partition(score, share, events)
    monkeypatch.setattr("bayescal.estimators.distance.MOST_CUTS", 20)
    assert exact <= best_partition(score, share, events) <= exact + 0.02
