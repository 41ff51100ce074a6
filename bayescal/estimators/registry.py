"""What each estimator is: whose, of what, in which range, and at what cost.

The docs table, the assessment and the tests read it. An estimator enters by its decorator, so that
everything known about it stands at its definition.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["ESTIMATORS", "Estimator", "estimator"]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Estimator:
    """What is known of an estimator.

    Attributes
    ----------
    name, title : str
        What users type, and what a table calls it.
    paper : str
        Authors and year.
    estimates : str
        The quantity in the population that it is an estimate of.
    span : tuple of float
        Least and greatest possible value.
    perfect : float
        Its value for a perfectly calibrated model with endless data.
    bound : str
        What it bounds, and on which side; empty when it bounds nothing.
    tie_safe : bool
        Whether it is the same for every order of cases with equal scores.
    cost : str
        In the number of cases: "n", "n log n", "n^2".
    function : callable
    weighted : callable, optional
        The same for many weightings of the cases at once, where that is faster than one by one:
        `(scores, outcomes, weights, **options) -> values`. Scores ascend; weights are whole, of
        shape (replicates, n_samples), and values of shape (replicates,), NaN where undefined.
        Options are every one of `function`, defaults included, but `sample_weight`.
    """

    name: str
    title: str
    paper: str
    estimates: str
    span: tuple[float, float]
    perfect: float
    bound: str
    tie_safe: bool
    cost: str
    function: Callable[..., Any]
    weighted: Callable[..., Any] | None = None


ESTIMATORS: dict[str, Estimator] = {}
"""Every estimator of the package, by name, in the order of its files."""


def estimator(
    title: str,
    *,
    paper: str,
    estimates: str,
    span: tuple[float, float] = (0.0, math.inf),
    perfect: float = 0.0,
    bound: str = "",
    tie_safe: bool = True,
    cost: str = "n log n",
    weighted: Callable[..., Any] | None = None,
) -> Callable[[Function], Function]:
    """Enter a function in the register; see `Estimator` for the arguments."""

    def enter(function: Function) -> Function:
        ESTIMATORS[function.__name__] = Estimator(
            function.__name__,
            title,
            paper,
            estimates,
            span,
            perfect,
            bound,
            tie_safe,
            cost,
            function,
            weighted,
        )
        return function

    return enter
