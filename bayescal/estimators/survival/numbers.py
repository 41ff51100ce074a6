"""Estimators of times to an event as one number, larger where calibration looks worse."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bayescal.estimators.survival.cases import Followed
from bayescal.estimators.survival.curve import survival_indices
from bayescal.estimators.survival.ratio import survival_observed_expected

__all__ = ["NUMBERS_OF_TIMES", "NumberOfTimes"]


@dataclass(frozen=True)
class NumberOfTimes:
    """An estimator of times to an event that gives one number.

    Attributes
    ----------
    name : str
        What users type.
    title : str
        What a table calls it.
    function : callable
        From followed cases and options to the number.
    """

    name: str
    title: str
    function: Callable[..., float]


def _ici(cases: Followed, method: str = "pseudo", **options: Any) -> float:
    return survival_indices(cases, method=method, **options).ici


def _emax(cases: Followed, method: str = "pseudo", **options: Any) -> float:
    return survival_indices(cases, method=method, **options).emax


def _ratio(cases: Followed, **options: Any) -> float:
    return abs(math.log(survival_observed_expected(cases, **options).estimate))


NUMBERS_OF_TIMES = {
    each.name: each
    for each in (
        NumberOfTimes("survival_ici", "ICI by pseudo-values", _ici),
        NumberOfTimes("survival_emax", "Emax by pseudo-values", _emax),
        NumberOfTimes(
            "survival_observed_expected", "Log O/E by Kaplan-Meier, without sign", _ratio
        ),
    )
}
"""By name: options are those of `survival_indices` and `survival_observed_expected`."""
