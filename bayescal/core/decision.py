"""Who is treated at a threshold, and the net benefit of it."""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats

SCORE_ROUNDING = 1e-12


def least_treated(threshold: Floats | float) -> Floats:
    """The lowest score that reaches a threshold: less by a relative 1e-12, for rounding."""
    least: Floats = np.multiply(threshold, 1 - SCORE_ROUNDING)
    return least


def net_benefit(events: Floats, treated: Floats | float, threshold: Floats | float) -> Floats:
    """Events treated, less the others treated at the price that the threshold puts on them.

    events - (treated - events) t / (1 - t). It is linear, so that it may be taken of one case, of
    the average case, or of all of them.

    Vickers & Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 26, 2006.
    """
    benefit: Floats = events - (treated - events) * (threshold / (1 - threshold))
    return benefit
