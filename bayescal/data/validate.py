"""What scores, outcomes, weights and probabilities must be, and how we say no.

Every public function passes its arrays through here, so that a mistake is reported once, at the
door, with the argument's name, the first offending position, and the cure.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import (
    MOST_DRAWS,
    MOST_LEVELS,
    CaseError,
    InputError,
    LabelWarning,
    ScoreWarning,
    as_count,
    as_draws,
    as_level,
    as_levels,
    as_number,
    as_order,
    check_choice,
)
from bayescal.core.text import exact, shortened
from bayescal.data.frames import as_plain
from bayescal.data.sources.alignment import columns_in_order

__all__ = [
    "MOST_DRAWS",
    "MOST_LEVELS",
    "OVERSHOOT",
    "are_binary_integers",
    "as_class_matrix",
    "as_count",
    "as_draws",
    "as_floats",
    "as_level",
    "as_levels",
    "as_number",
    "as_order",
    "as_outcome_batch",
    "as_outcomes",
    "as_probability_matrix",
    "as_scores",
    "as_vector",
    "as_weights",
    "categories_of",
    "check_choice",
    "check_same_length",
    "check_scores",
    "is_matrix",
    "order_told",
    "warn_of_absent",
    "without_rounding",
]

MOST_WEIGHT = 1e9
LEAST_WEIGHT = 1e-50
BITS_OF = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""Whole numbers of so many bytes."""
ONE_BITS = {4: 0x3F800000, 8: 0x3FF0000000000000}
"""A floating 1 of so many bytes, its bits read as a whole number."""
OVERSHOOT = 1e-6
"""How far beyond 0 or 1 a probability may be by rounding: 1.0000001 in 32 bits, 1 - sum(others)."""
ROW_TOLERANCE = 1e-3
"""How far the class probabilities of a case may be from a sum of 1."""

OF_CLASSES = (
    "Of three classes or more pass the matrix of their probabilities, fit(labels, matrix), or one "
    "class against the rest, y_true == label with the column of that class."
)
"""What to do with labels that are not of one event."""


def as_vector(values: Any, name: str) -> NDArray[Any]:
    """One-dimensional array from anything array-like (lists, data frames), by position."""
    array = _to_numpy(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise CaseError(
            name,
            f"must be one-dimensional, but has shape {array.shape}",
            cure="Pass one probability (or outcome) per observation. A matrix of class "
            "probabilities is taken by fit(labels, matrix), assess and "
            "CalibrationData.from_multiclass.",
        )
    if array.size == 0:
        raise CaseError(name, "is empty", more=": at least one observation is needed")
    return array


def as_floats(values: Any, name: str) -> Floats:
    """Any numbers as a float64 vector."""
    return _as_floats(as_vector(values, name), name)


def as_scores(values: Any, name: str = "y_prob") -> Floats:
    """Probabilities in [0, 1] as a float64 vector."""
    return _as_floats(check_scores(values, name), name)


def check_scores(values: Any, name: str = "y_prob") -> NDArray[Any]:
    """Probabilities in [0, 1] as a vector of 64-bit floats, or of 32-bit ones without a copy."""
    vector = as_vector(values, name)
    scores = vector if vector.dtype == np.float32 else _as_floats(vector, name)
    if _largest_bits(scores) <= ONE_BITS[scores.itemsize]:
        return scores
    low, high = scores.min(), scores.max()
    if np.isnan(low):
        _reject_first(np.isnan(scores), scores, name, "is missing (NaN)", "drop")
    if low < -OVERSHOOT or high > 1 + OVERSHOOT:
        _reject_first(
            (scores < 0) | (scores > 1),
            scores,
            name,
            "is outside [0, 1]",
            "percent" if low >= 0 and high <= 100 else "logit",
            "; scores are probabilities",
        )
    return without_rounding(scores, name) if low < 0 or high > 1 else scores


def without_rounding(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Floats that lie beyond 0 or 1 by rounding alone, set to the end, with a warning.

    If one lies further beyond, all come back as they are, to be refused. Missing ones stay.
    """
    beyond = np.fmax(-values, values - 1)
    number = int(np.count_nonzero(beyond > 0))
    if not number or (beyond > OVERSHOOT).any():
        return values
    warnings.warn(
        f"{number:,} value{'s' * (number > 1)} of {name} lie{'s' * (number == 1)} beyond 0 or 1 "
        f"by at most {np.nanmax(beyond):.1g}, which is rounding: set to 0 or 1.",
        ScoreWarning,
        stacklevel=_frames_inside() + 2,
    )
    return values.clip(0, 1)


def as_outcomes(
    values: Any, name: str = "y_true", *, pos_label: Any = None, part: bool = False
) -> Floats:
    """Outcomes as a float64 vector of 0 and 1.

    Accepts 0/1 in any numeric type and booleans; any other pair of labels needs `pos_label`,
    the label that counts as the event. It may be absent without a warning in a part of the cases.
    """
    labels = as_vector(values, name)
    if pos_label is not None:
        outcomes = _labels_to_outcomes(labels, name, pos_label)
        if not part and not outcomes.any():
            warn_of_absent(pos_label, labels[0], name)
        return outcomes
    if labels.dtype == np.bool_:
        return labels.astype(np.float64)
    if labels.dtype.kind not in "iuf" and not _all_numeric(labels):
        raise CaseError(
            name,
            f"must be 0/1 or boolean, but holds {_distinct(labels)}",
            cure=OF_CLASSES if _are_several(labels) else "pos_label",
        )
    outcomes = _as_floats(labels, name)
    wrong = (outcomes != 0) & (outcomes != 1)
    if wrong.any():
        if np.isnan(outcomes[wrong][0]):
            cure = "Drop or impute it first, or use bayescal.fit_known."
            _reject_first(wrong, outcomes, name, "is missing (NaN)", cure)
        _reject_first(
            wrong,
            outcomes,
            name,
            "is neither 0 nor 1",
            "Outcomes are 0/1 or boolean; "
            + (
                "labels of several classes are taken beside the matrix of their probabilities, "
                "fit(labels, matrix)."
                if _are_several(outcomes)
                else "for other labels say which is the event with pos_label=."
            ),
        )
    return outcomes


def warn_of_absent(pos_label: Any, label: Any, name: str = "y_true") -> None:
    """Warn that no case has the label of the event, and that all have another."""
    warnings.warn(
        f"pos_label={shortened(repr(pos_label))} does not occur in {name}, where every label is "
        f"{shortened(repr(label))}, so that no case has the event. Check the spelling and the type "
        "of the label.",
        LabelWarning,
        stacklevel=5,
    )


def are_binary_integers(values: NDArray[Any]) -> bool:
    """Whether these are booleans, or whole numbers none of which is anything but 0 or 1."""
    kind = values.dtype.kind
    if kind == "b":
        return True
    return kind in "iu" and values.dtype.isnative and bool(_largest_bits(values) <= 1)


def as_outcome_batch(values: Any, size: int, name: str = "y_true") -> NDArray[Any]:
    """Outcomes of 0 and 1 with any leading dimensions; the last one runs over `size` cases.

    A vector (or one column) comes back as `as_outcomes` reads it, but for booleans and whole
    numbers, which keep their type. So do more dimensions, since a thousand replicates as bytes
    take an eighth of the room.
    """
    array = _to_numpy(values, name)
    if array.shape == (size,) and are_binary_integers(array):
        return array
    if array.ndim == 1 or (array.shape[1:] == (1,) and size != 1):
        outcomes = as_outcomes(values, name)
        check_same_length(outcomes.size, name, size, "y_prob")
        return outcomes
    check_same_length(array.shape[-1], f"the last axis of {name}", size, "y_prob")
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf":
        try:
            array = array.astype(np.float64, casting="unsafe" if array.dtype == object else "safe")
        except (TypeError, ValueError):
            raise InputError(
                f"{name} holds {array.dtype} values, but outcomes in more than one dimension "
                "must be 0/1 or boolean. Convert them first."
            ) from None
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        at = np.unravel_index(int(wrong.argmax()), array.shape)
        where = ", ".join(map(str, at))
        raise CaseError(
            f"{name}[{where}]",
            f"= {exact(array[at])} is neither 0 nor 1",
            cure="Outcomes are 0/1 or boolean.",
        )
    return array


def as_weights(
    values: Any, size: int, name: str = "sample_weight", *, part: bool = False
) -> Floats | None:
    """Case counts, at most 1e9 in all and the largest at least 1e-50, or None for one each.

    In a part of the weights all may be smaller, or 0.
    """
    if values is None:
        return None
    weights = as_floats(values, name)
    check_same_length(size, "y_true", weights.size, name)
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        problem = "is not a finite, non-negative number"
        _reject_first(wrong, weights, name, problem, "Weights count cases.")
    largest = weights.max()
    if largest == 0 and not part:
        raise CaseError(
            name, "is zero everywhere", more=": no observation counts", cure="Give some a weight."
        )
    too_small = largest < LEAST_WEIGHT and not part
    if too_small or largest > MOST_WEIGHT or weights.sum() > MOST_WEIGHT:
        raise CaseError(
            name,
            f"is out of range: the largest, {exact(largest)}, must be at least {LEAST_WEIGHT:g}, "
            f"and the sum at most {MOST_WEIGHT:g} cases",
            cure="Weights that correct for how cases were sampled have no scale: divide all by one "
            "number.",
        )
    return weights


def is_matrix(values: Any) -> bool:
    """Whether these are probabilities of two classes or more, rather than of one event."""
    try:
        shape = np.shape(values)
    except ValueError:
        return False
    return len(shape) == 2 and shape[1] > 1


def as_probability_matrix(values: Any, name: str = "y_prob") -> Floats:
    """Class probabilities of shape (n, k): one row a case, one column a class, two at least.

    Every row sums to 1 within 1e-3; `name` is what the user calls them.
    """
    matrix = _to_numpy(values, name)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise InputError(
            f"{name} must have one row a case and one column a class, two at least, but has shape "
            f"{matrix.shape}. For a binary classifier pass both columns: 1 - score, score."
        )
    if matrix.dtype.kind == "f":  # in one note, rather than one a column
        matrix = without_rounding(matrix, name)
    columns = [as_scores(column, f"{name}[:, {k}]") for k, column in enumerate(matrix.T)]
    prob = np.column_stack(columns)
    total = prob.sum(axis=1)
    off = np.abs(total - 1) > ROW_TOLERANCE
    if off.any():
        at = int(off.argmax())
        raise CaseError(
            name,
            f"sums to {total[at]:.4g}, not 1",
            row=at,
            cure="Pass probabilities (after a softmax), one column a class.",
        )
    return prob


def as_class_matrix(values: Any, name: str, classes: Any = None) -> Floats:
    """Class probabilities of shape (n, k), the columns in the order of the classes.

    Columns of a frame that are called as the classes are go by name; `classes` are the numbers
    0, 1, ..., k - 1 by default.
    """
    if not is_matrix(values):
        return as_probability_matrix(values, name)
    names = range(np.shape(values)[1]) if classes is None else np.asarray(classes).tolist()
    return as_probability_matrix(columns_in_order(values, names), name)


def categories_of(labels: Any) -> list[Any] | None:
    """The categories of a Categorical of pandas or an Enum of polars, in their order, else None."""
    kind = getattr(labels, "dtype", None)
    is_ordered = type(kind).__name__ in ("CategoricalDtype", "Enum")
    return list(kind.categories) if kind is not None and is_ordered else None


def order_told(
    labels: str, matrix: str, classes: str = "CalibrationData.from_multiclass(..., classes=[...])"
) -> str:
    """The three ways to say which column of a matrix is which class."""
    return (
        f"Say it in one of three ways: pass {matrix} as a data frame whose columns are called as "
        f"the classes; or pass {labels} as pandas.Categorical({labels}, categories=[...]), in the "
        f"order of the columns; or name the classes in that order, {classes}."
    )


def check_same_length(first: int, first_name: str, second: int, second_name: str) -> None:
    """Raise unless two arguments describe the same observations."""
    if first != second:
        raise InputError(
            f"{first_name} has {first} observations but {second_name} has {second}. "
            "They must describe the same patients, in the same order."
        )


def _frames_inside() -> int:
    """How many frames above the caller's are of this package, to warn its user's line."""
    frame, inside = sys._getframe(2), 0
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bayescal."):
        frame, inside = frame.f_back, inside + 1
    return inside


def _largest_bits(values: NDArray[Any]) -> Any:
    """The bits of each number read as a whole number, and the largest of them.

    Those of negative numbers and NaN are larger than those of any number from 0 to 1, so that one
    pass shows whether all are in range. They are larger for a score of -0 too, which is valid.
    """
    return np.maximum.reduce(values.view(BITS_OF[values.itemsize]))


def _to_numpy(values: Any, name: str) -> NDArray[Any]:
    if type(values) is np.ndarray and values.ndim:
        return values
    values = as_plain(values, name)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        at = int(np.ma.getmaskarray(values).ravel().argmax())
        raise CaseError(name, "is masked", row=at, cure="drop")
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        array = np.asarray(values)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} is not an array of numbers: its rows differ in length, or are of no type that "
            "NumPy reads. Pass one value for each case."
        ) from error
    if array.ndim == 0:
        raise InputError(
            f"{name} must be a list or array, got the single value {shortened(repr(values))}."
        )
    return array


def _as_floats(array: NDArray[Any], name: str) -> Floats:
    if array.dtype == np.float64:
        return array
    if np.iscomplexobj(array):
        raise CaseError(name, "holds complex numbers", more="; real numbers are needed")
    if array.dtype.kind in "mM":
        raise CaseError(name, "holds dates or times", more="; numbers are needed")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        at = next(i for i, value in enumerate(array) if not _is_number(value))
        cure = "Convert the column to numbers, and drop or impute missing values, first."
        if str(array[at]).rstrip().endswith("%"):
            cure = "percent sign"
        given = shortened(repr(array.tolist()[at]))
        raise CaseError(name, ", which is not a number", row=at, value=given, cure=cure) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _all_numeric(array: NDArray[Any]) -> bool:
    return array.dtype == object and all(
        value is None or isinstance(value, (bool, int, float, np.number, np.bool_))
        for value in array
    )


def _labels_to_outcomes(labels: NDArray[Any], name: str, pos_label: Any) -> Floats:
    missing = np.array([value is None or value != value for value in labels.tolist()])
    if missing.any():
        at = int(np.flatnonzero(missing)[0])
        raise CaseError(name, "is missing", row=at, cure="drop")
    event = _equal(labels, pos_label)
    try:
        distinct = {*labels.tolist()}
    except TypeError:  # a list or a dictionary is no label
        event = None
    if event is None or (not event.any() and len(distinct) > 1) or len(distinct) > 2:
        raise CaseError(
            name,
            f"holds {_distinct(labels)}, which are not two classes with the event "
            f"pos_label={shortened(repr(pos_label))}",
            cure=OF_CLASSES if _are_several(labels) else "Pass two classes, one of them the event.",
        )
    return event.astype(np.float64)


def _equal(labels: NDArray[Any], label: Any) -> NDArray[np.bool_] | None:
    """Which labels are this one; None if it is nothing that a label can be compared with."""
    try:
        equal = labels == label
        return np.asarray(equal, dtype=bool) if np.shape(equal) == labels.shape else None
    except (TypeError, ValueError):
        return None


def _are_several(labels: NDArray[Any]) -> bool:
    """Whether these look like labels of three classes or more, each of several cases."""
    try:
        distinct = set(labels.tolist())
    except TypeError:  # a list or a dictionary is no label
        return False
    return 2 < len(distinct) <= labels.size / 2


def _distinct(labels: NDArray[Any]) -> str:
    distinct = sorted({repr(value) for value in labels.tolist()})
    shown = ", ".join(text if len(text) <= 40 else text[:37] + "..." for text in distinct[:4])
    return shown + (f" and {len(distinct) - 4} more values" if len(distinct) > 4 else "")


def _reject_first(
    wrong: NDArray[np.bool_],
    values: NDArray[Any],
    name: str,
    problem: str,
    cure: str,
    more: str = "",
) -> None:
    at = int(np.flatnonzero(wrong)[0])
    if others := int(wrong.sum()) - 1:
        more += f" ({others} more like it)"
    raise CaseError(name, problem, row=at, value=exact(values[at]), more=more, cure=cure)
