"""Cases that are known in part, for curves that are made of stretches."""

from __future__ import annotations

import numpy as np

from bayescal.model.likelihood.times.correction import Correction
from bayescal.model.partition.stretches import Late

__all__ = ["late_of"]


def late_of(nodes: Correction, effect: float) -> Late | None:
    """The nodes of these cases by log-odds; None without any.

    Parameters
    ----------
    effect : float
        Cases that count as one.
    """
    if not nodes.x.size:
        return None
    order = np.argsort(nodes.x, kind="stable")
    weight, constant = nodes.weight[order] / effect, nodes.constant / effect
    return Late(nodes.x[order], weight, nodes.ratio[order], nodes.g[order], constant)
