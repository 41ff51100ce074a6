"""Functions of scores that are numbers, or variables of a PyMC model."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

__all__ = ["functions_for", "is_symbolic", "logit_of"]


def is_symbolic(values: Any) -> bool:
    """Whether these are variables of PyTensor rather than numbers."""
    return not callable(getattr(values, "owner", callable))  # a path has a method of that name


def functions_for(values: Any) -> Any:
    """The module with the functions of arrays that these values take."""
    if not is_symbolic(values):
        return np
    import pytensor.tensor as pt

    return pt


def logit_of(score: Any) -> Any:
    """Log-odds of scores inside (0, 1)."""
    if not is_symbolic(score):
        return logit(score)
    of = functions_for(score)
    return of.log(score) - of.log1p(-score)
