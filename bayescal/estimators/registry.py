"""The register of estimators: authors, estimand, range and cost of each, its door and its core.

The docs table, the assessment and the tests read it. An estimator enters by its decorator, so that
everything known about it stands at its definition.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal.estimators.door import Core

__all__ = ["ESTIMATORS", "Estimator", "estimator"]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Estimator:
    """An estimator: authors, estimand, range and cost, its public function and its core.

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
    dear : str
        Why it takes longer than a stable sort of the scores, or more than two copies of outcomes
        and scores, at ten million cases; empty where it does not.
    by_case : tuple of str
        Options that have a value for each case.
    function : callable
        The public function, which checks what it is given.
    prepare : callable
        What it computes, from checked arrays: `(scores, weights or None, **options) -> statistic`,
        and `statistic(outcomes)`, with outcomes of shape (replicates, n_samples), gives one value
        for each, NaN where undefined. Weights are numbers of cases. Raises InputError where no
        outcomes at these scores define it.
    weighted : callable, optional
        The same for many weightings of the cases at once, where that is faster than one by one:
        `(scores, outcomes, weights, **options) -> values`. Scores ascend; weights are whole
        numbers of cases, of shape (replicates, n_samples), and values of shape (replicates,), NaN
        where undefined.
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
    dear: str
    by_case: tuple[str, ...]
    function: Callable[..., Any]
    prepare: Core
    weighted: Callable[..., Any] | None = None

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Options of `function` that `prepare` and `weighted` take, with their defaults.

        Those with a value for each case are left out: a core takes them, but needs none.
        """
        known = inspect.signature(self.function).parameters.values()
        return {
            option.name: option.default
            for option in known
            if option.kind is option.KEYWORD_ONLY
            and option.name not in ("sample_weight", *self.by_case)
        }

    def core(
        self, outcomes: NDArray[Any], scores: Floats, weights: Floats | None = None, **options: Any
    ) -> Floats:
        """The estimate on arrays and options that were checked before.

        Parameters
        ----------
        outcomes : ndarray of shape (replicates, n_samples)
            0 and 1, of any numeric type.
        scores : ndarray of shape (n_samples,)
        weights : ndarray of shape (n_samples,), optional
            Numbers of cases.

        Returns
        -------
        ndarray of shape (replicates,)
            NaN where undefined.
        """
        return self.prepare(scores, weights, **self.defaults | options)(outcomes)


ESTIMATORS: dict[str, Estimator] = {}
"""Every estimator of the package, by name, in the order of its files."""


def estimator(
    title: str,
    *,
    prepare: Core,
    paper: str,
    estimates: str,
    span: tuple[float, float] = (0.0, math.inf),
    perfect: float = 0.0,
    bound: str = "",
    tie_safe: bool = True,
    cost: str = "n log n",
    dear: str = "",
    by_case: tuple[str, ...] = (),
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
            dear,
            by_case,
            function,
            prepare,
            weighted,
        )
        return documented(function)

    return enter
