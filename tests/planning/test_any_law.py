"""Simulated studies follow their law."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bayescal.model.problem import prepare
from bayescal.planning.setting import Setting
from laws import BetaBinomial

LAW = BetaBinomial(20.0, 80.0)
SCORE, TRIALS = np.array([0.2, 0.5, 0.7]), np.full(3, 60.0)


def spread_of(hits, trials, curve):
    """Variance of the events over that of independent cases."""
    return float(
        np.mean((hits - trials * curve) ** 2 / np.maximum(trials * curve * (1 - curve), 1))
    )


@pytest.fixture(scope="module")
def setting():
    curve = np.tile(SCORE, (300, 1))
    return Setting(SCORE[None], np.full(3, 1 / 3), curve, "a test", LAW)


def test_outcomes_of_studies_are_drawn_from_the_law(setting):
    known = replace(setting, likelihood=prepare([0, 1], [0.2, 0.7]).likelihood)
    ratios = [spread_of(*reversed(each.counts(180, 1)), setting.curve) for each in (known, setting)]
    assert ratios[0] == pytest.approx(1, abs=0.2)
    assert ratios[1] > 5
    assert setting.part(range(3)).likelihood is LAW
