"""What a weight stands for: a number of cases, or how rarely such a case was sampled.

Counts are taken as they are. Sampling weights have no scale of their own: they are rescaled, all
by one factor, so that they add up to Kish's effective sample size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, WeightWarning, check_choice, warn
from bayescal.data.cases import refuse_first
from bayescal.data.columns import WeightType

Number = TypeVar("Number", float, Floats)

WEIGHT_TYPES = ("counts", "sampling")

# Mean weight from which whole numbers are more than a few repeats.
MEAN_WEIGHT = 2.0
FEWEST_ROWS = 10
# Intervals of the two types differ at least by this factor before anyone is asked.
WIDTH_RATIO = 2.0
# Share of the weight at scores with both outcomes, from which a table looks collapsed.
COLLAPSED_SHARE = 0.5
# Shares of the cases that differ by less are equal.
SAME = 1e-12


def are_counts(weights: Floats) -> bool:
    """Whether all weights are whole numbers, so that they can be counts of cases."""
    return bool((np.rint(weights) == weights).all())


def read_type(weights: Floats) -> WeightType:
    """How weights are read when nothing else says: as counts if all are whole numbers."""
    return "counts" if are_counts(weights) else "sampling"


def kish(total: Number, squares: Number) -> Number:
    """Kish's effective number of cases, from sums of weights and squares (1965, section 11.7)."""
    return total**2 / squares


def effective_size(weights: Floats) -> float:
    """Kish's effective number of cases of these weights, of any size."""
    relative = weights / weights.max(initial=np.finfo(np.float64).tiny)
    return kish(float(relative.sum()), float(relative @ relative))


def effective_cases(weights: Floats, weight_type: WeightType | None = None) -> Floats:
    """Weights as numbers of cases: counts as they are, sampling weights rescaled."""
    if (weight_type or read_type(weights)) == "counts":
        return weights
    return weights * (effective_size(weights) / float(weights.sum()))


def as_weight_type(weight_type: Any, weights: Floats | None) -> WeightType | None:
    """How weights are to be read: as told, or as sampling weights when any is not whole.

    None when nothing says: there are no weights, or they are whole numbers.
    """
    if weight_type is None:
        return None if weights is None or are_counts(weights) else "sampling"
    chosen = cast("WeightType", check_choice(weight_type, WEIGHT_TYPES, "weight_type"))
    if weights is None:
        raise InputError(
            f"weight_type={chosen!r} says how sample_weight is read, but there is none. "
            "Pass sample_weight=, or leave weight_type out."
        )
    if chosen == "counts":
        problem, more = "is not a whole number", ", and counts of cases are"
        wrong = weights % 1 != 0
        refuse_first(wrong, weights, "sample_weight", problem, "sampling", more, alone=True)
    return chosen


def sizes_of(weights: Floats) -> tuple[float, float, float]:
    """How many weights are not 0, their sum, and that of their squares."""
    return float(np.count_nonzero(weights)), float(weights.sum()), float(weights @ weights)


def warn_of_ambiguity(
    weights: Floats, scores: Floats, outcomes: Floats, groups: NDArray[Any] | None = None
) -> None:
    """Warn of whole-number weights that can be either type, and say that they are taken as counts.

    They can be when they are ten or more that add up to twice their number, when counts would make
    intervals half as wide as sampling weights, and when the table was not collapsed.
    """
    if are_counts(weights):
        is_collapsed = partial(look_collapsed, weights, scores, outcomes, groups)
        warn_of_sizes(is_collapsed, *sizes_of(weights))


def warn_of_sizes(
    is_collapsed: Callable[[], bool], rows: float, total: float, squares: float
) -> None:
    """The same of whole-number weights of which these are the sizes."""
    if rows < FEWEST_ROWS or total < MEAN_WEIGHT * rows or squares < WIDTH_RATIO**2 * total:
        return
    if is_collapsed():
        return
    types = (
        f"counts of cases (n = {total:.0f} cases), or sampling weights (n = {rows:.0f} cases of "
        f"effective size {kish(total, squares):.4g})"
    )
    warn(
        f"sample_weight holds whole numbers that can be {types}. They are taken as counts, "
        f"which makes intervals about {np.sqrt(squares / total):.2g} times as narrow. Say which "
        "they are with weight_type='counts' or weight_type='sampling'.",
        WeightWarning,
        types=types,
    )


def look_collapsed(
    weights: Floats, scores: Floats, outcomes: Floats, groups: NDArray[Any] | None
) -> bool:
    """Whether equal rows were put together, so that the weights must be their numbers.

    Then no two rows have the same score and outcome, and at least half of the cases stand at scores
    with a row for each outcome.
    """
    group = np.zeros(weights.size) if groups is None else np.unique(groups, return_inverse=True)[1]
    order = np.lexsort((outcomes, scores, group))
    order = order[weights[order] > 0]
    weight, outcome = weights[order], outcomes[order]
    same_score = (np.diff(scores[order]) == 0) & (np.diff(group[order]) == 0)
    if (same_score & (np.diff(outcome) == 0)).any():
        return False
    both = np.append(same_score, False) | np.append(False, same_score)
    return are_most(weight, both)


def are_most(weight: Floats, with_both: NDArray[np.bool_]) -> bool:
    """Whether enough of the cases stand at scores with a row for each outcome."""
    return bool(weight @ with_both >= COLLAPSED_SHARE * weight.sum())


def quantile(values: Floats, trials: Floats, prob: float) -> Floats:
    """Quantile of each row, linear between the cases (type 7), as if cases stood one by one."""
    if (trials == 1).all():
        plain: Floats = np.quantile(values, prob, axis=-1)
        return plain
    order = np.argsort(values, axis=-1)
    above = np.cumsum(trials[order], axis=-1)
    total = above[..., -1:]
    position = np.maximum(total - 1, 0) * prob
    below = np.floor(position)
    lower, upper = (
        np.take_along_axis(values, np.take_along_axis(order, _row_of(above, case), -1), -1)
        for case in (below, below + 1)
    )
    between: Floats = (lower + (position - below) * (upper - lower))[..., 0]
    return between


def _row_of(above: Floats, case: Floats) -> NDArray[np.intp]:
    """The row of a case, counted from 0, when rows stand one after the other."""
    reached = np.count_nonzero(above <= case + SAME * above[..., -1:], axis=-1)
    row: NDArray[np.intp] = np.minimum(reached, above.shape[-1] - 1)[..., None]
    return row
