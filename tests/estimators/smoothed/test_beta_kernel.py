"""KDE-ECE with scores put together is that of all pairs of scores."""

import numpy as np
import pytest

from bayescal import simulate
from bayescal.estimators import density, kde_ece


@pytest.mark.parametrize("bandwidth", [1e-5, 1e-3, 0.01, 0.3])
@pytest.mark.parametrize("truth", ["calibrated", "D5"])
def test_scores_put_together_give_what_all_pairs_give(truth, bandwidth, monkeypatch):
    y_true, y_prob = simulate.sample(truth, 4000, random_state=1)
    y_prob = np.append(y_prob, np.full(200, 0.25))
    y_true = np.append(y_true, np.arange(200) % 3 == 0)
    every_pair = kde_ece(y_true, y_prob, bandwidth=bandwidth)
    monkeypatch.setattr(density, "MOST_PAIRS", 1 << 20 if bandwidth > 1e-4 else 1 << 18)
    together = kde_ece(y_true, y_prob, bandwidth=bandwidth)
    assert together == pytest.approx(every_pair, abs=2e-5 if bandwidth < 1e-4 else 2e-6)


@pytest.mark.slow
def test_the_bandwidth_is_that_of_the_likelihood_of_all_scores(
    monkeypatch,
):
    for truth in ("calibrated", "clinical-middle-overconfident", "D5"):
        y_true, y_prob = simulate.sample(truth, 3000, random_state=1)
        chosen = kde_ece(y_true, y_prob)
        with monkeypatch.context() as patch:
            patch.setattr(density, "FEW_PAIRS", 1 << 60)
            assert kde_ece(y_true, y_prob) == chosen
