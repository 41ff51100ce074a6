"""An estimator with its options, applied to data, to weightings of them, and to other outcomes."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.validate import check_choice
from bayescal.data.weights import are_counts
from bayescal.estimators.door import Cases, Statistic, read
from bayescal.estimators.registry import ESTIMATORS, Estimator

__all__ = ["Applied", "applied_of"]


@dataclass(frozen=True)
class Applied:
    """An estimator with its options, and what it can take.

    Attributes
    ----------
    function : callable
        `(y_true, y_prob, **options)` to a number.
    entry : Estimator, optional
        Its entry in the register, whose cores do the work.
    core : callable, optional
        Of a function that is not in the register: `(scores, outcomes, weights) -> values`, the
        same for many weightings of the cases at once, as `Estimator.weighted` is.
    """

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]
    entry: Estimator | None = None
    core: Callable[[Floats, Floats, Floats], Floats] | None = None

    @property
    def span(self) -> tuple[float, float]:
        """Least and greatest possible value; distances in another metric have no greatest one."""
        if self.entry is None:
            return -math.inf, math.inf
        low, high = self.entry.span
        return low, math.inf if self.options.get("metric", "identity") != "identity" else high

    @property
    def weighs(self) -> bool:
        """Whether it takes sample_weight."""
        try:
            return "sample_weight" in inspect.signature(self.function).parameters
        except ValueError:  # some built-in callables do not say
            return False

    def to_data(self, data: Cases | CalibrationData) -> float:
        """The estimate on one data set; also checks the options of a registered estimator."""
        if self.entry is not None:
            value = self._as_number(self.function(data, **self.options))
        else:
            value = self._to_cases(read(data))
        if not math.isfinite(value):
            raise InputError(f"estimator {self.name!r} is {value!r} on the data.")
        return value

    def _to_cases(self, cases: Cases) -> float:
        """A function that is not in the register on one data set."""
        outcomes, scores, weights = cases.outcomes[0], cases.scores, cases.weights
        if self.core is not None:
            order = np.argsort(scores)
            once = np.ones(scores.size) if weights is None else weights[order]
            return float(self.core(scores[order], outcomes[order], once[None])[0])
        if weights is None or self.weighs:
            return self._once(outcomes, scores, weights)
        if not are_counts(weights):
            raise InputError(
                f"estimator {self.name!r} takes no sample_weight, so sample_weight must hold whole "
                "numbers of cases."
            )
        repeats = weights.astype(np.intp)
        return self._once(np.repeat(outcomes, repeats), np.repeat(scores, repeats), None)

    def to_weights(self, scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
        """The estimate for each row of whole numbers of cases, NaN where it is undefined.

        Parameters
        ----------
        scores, outcomes : ndarray of shape (n_samples,)
            In ascending order of the scores.
        weights : ndarray of shape (replicates, n_samples)

        Returns
        -------
        ndarray of shape (replicates,)
        """
        if self.entry is not None and self.entry.weighted is not None:
            options = self.entry.defaults | self.options
            values = self.entry.weighted(scores, outcomes, weights, **options)
            return np.asarray(values, dtype=np.float64)
        if self.core is not None:
            return self.core(scores, outcomes, weights)
        return np.array([self._to_row(scores, outcomes, row) for row in weights])

    def at(self, scores: Floats) -> Statistic:
        """The estimate at these scores, one case each, as a function of rows of outcomes.

        It takes outcomes of shape (replicates, n_samples) and gives values of shape (replicates,),
        NaN where undefined.
        """
        if self.entry is None:
            return lambda outcomes: self._to_rows(outcomes, scores)
        try:
            return self.entry.prepare(scores, None, **self.entry.defaults | self.options)
        except InputError:
            return lambda outcomes: np.full(len(outcomes), np.nan)

    def _to_row(self, scores: Floats, outcomes: Floats, weights: Floats) -> float:
        drawn = weights > 0
        outcomes, scores, weights = outcomes[drawn], scores[drawn], weights[drawn]
        if self.entry is not None:
            try:
                values = self.entry.core(outcomes[None], scores, weights, **self.options)
            except InputError:
                return math.nan
            return float(values[0])
        if self.weighs:
            return self._or_nan(outcomes, scores, weights)
        repeats = weights.astype(np.intp)
        return self._or_nan(np.repeat(outcomes, repeats), np.repeat(scores, repeats), None)

    def _to_rows(self, outcomes: NDArray[Any], scores: Floats) -> Floats:
        """A function of the user's on rows of outcomes, in one call if it can."""
        if self._takes_batches(outcomes, scores):
            return np.asarray(self.function(outcomes, scores, **self.options), dtype=np.float64)
        return np.array([self._or_nan(row.astype(np.float64), scores, None) for row in outcomes])

    def _takes_batches(self, outcomes: NDArray[Any], scores: Floats) -> bool:
        """Whether two rows of outcomes at once give what each gives alone."""
        if len(outcomes) < 2:
            return False
        alone = [self._or_nan(row, scores, None) for row in outcomes[:2]]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                both = np.asarray(self.function(outcomes[:2], scores, **self.options), dtype=float)
        except Exception:  # whatever a function says to an array that it was not written for
            return False
        return both.shape == (2,) and np.allclose(both, alone, 1e-9, 1e-12)

    def _or_nan(self, outcomes: NDArray[Any], scores: Floats, weights: Floats | None) -> float:
        try:
            return self._once(outcomes, scores, weights)
        except InputError:
            return math.nan

    def _once(self, outcomes: NDArray[Any], scores: Floats, weights: Floats | None) -> float:
        extra = {} if weights is None else {"sample_weight": weights}
        return self._as_number(self.function(outcomes, scores, **extra, **self.options))

    def _as_number(self, value: Any) -> float:
        if np.shape(value) != () or not isinstance(value, (int, float, np.number, np.ndarray)):
            raise InputError(
                f"estimator {self.name!r} returned {type(value).__name__}, not one number. "
                "Pass one that maps outcomes and scores to a number."
            )
        return float(value)


def applied_of(estimator: Any, options: dict[str, Any]) -> Applied:
    """An estimator of the register, by its name or itself, or any other function."""
    if callable(estimator):
        name = str(getattr(estimator, "__name__", type(estimator).__name__))
        if name not in ESTIMATORS or ESTIMATORS[name].function is not estimator:
            return Applied(name, estimator, options)
        estimator = name
    entry = ESTIMATORS[check_choice(estimator, ESTIMATORS, "estimator")]
    for option in entry.by_case:
        if options.get(option) is not None:
            raise InputError(
                f"{option}= of {entry.name!r} has a value for each case, and data sets that are "
                "drawn have other cases. Leave it out, or resample the cases yourself."
            )
    return Applied(entry.name, entry.function, options, entry)
