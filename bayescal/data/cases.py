"""What outcomes, scores, weights and other numbers of cases must be, and how we say no.

Every public function passes its arrays through here, so that a mistake is reported once, at the
door, with the argument's name, the first offending position, and the cure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import CaseError, InputError, LabelWarning, ScoreWarning, warn
from bayescal.core.text import exact, shortened
from bayescal.data.frames import as_plain

MOST_WEIGHT = 1e9
LEAST_WEIGHT = 1e-50
# Whole numbers of so many bytes.
BITS_OF = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
# A floating 1 of so many bytes, its bits read as a whole number.
ONE_BITS = {4: 0x3F800000, 8: 0x3FF0000000000000}
# How far beyond 0 or 1 a probability may be by rounding: 1.0000001 in 32 bits, 1 - sum(others).
OVERSHOOT = 1e-6

# What to do with labels that are not of one event.
OF_CLASSES = (
    "Of three classes or more pass the matrix of their probabilities, fit(labels, matrix), or one "
    "class against the rest, pos_label=label with the column of that class."
)
TWO_CLASSES = "Pass two classes, one of them the event."


class CheckedCases(NamedTuple):
    """Valid cases, in the types that they came in.

    An outcome is 0 or 1, a share for that many weighted cases, or NaN where it is missing.
    """

    outcome: NDArray[Any]
    score: NDArray[Any]
    weight: Floats | None

    def of(self, some: Any) -> CheckedCases:
        """Some of the cases."""
        weight = None if self.weight is None else self.weight[some]
        return CheckedCases(self.outcome[some], self.score[some], weight)

    def known(self) -> CheckedCases:
        """The cases whose outcome is known, those of shares as weighted ones."""
        known = self.of(~np.isnan(self.outcome))
        return CheckedCases(*of_shares(*known)) if are_shares(known.outcome) else known


def check_cases(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any = None,
    *,
    pos_label: Any = None,
    part: bool = False,
) -> CheckedCases:
    """Outcomes, scores and weights, each valid and all of one length, without a copy of any.

    Their labels were compared before. In a `part` of the cases all weights may be 0, and no case
    need have the event.
    """
    check_given(y_prob)
    outcome = read_outcomes(y_true, pos_label=pos_label, part=part)
    score = check_scores(y_prob)
    check_same_length(outcome.size, "y_true", score.size, "y_prob")
    if are_shares(outcome) and score[0] in (0, 1) and bool(((score == 0) | (score == 1)).all()):
        raise InputError(
            "y_prob holds 0 and 1 alone, and y_true numbers in between. Pass the outcomes first "
            "and the predicted probabilities second."
        )
    return CheckedCases(outcome, score, as_weights(sample_weight, outcome.size, part=part))


def check_given(y_prob: Any) -> None:
    """Refuse outcomes alone."""
    if y_prob is None:
        raise InputError("y_prob is missing: pass the predicted probabilities after y_true.")


def are_shares(outcome: NDArray[Any]) -> bool:
    """Whether some outcomes are numbers between 0 and 1."""
    if outcome.dtype.kind != "f":
        return False
    parts = (outcome[part] for part in blocks(outcome.size))
    return any(bool(((part > 0) & (part < 1)).any()) for part in parts)


def of_shares(
    share: Floats, scores: NDArray[Any], weights: Floats | None
) -> tuple[Floats, NDArray[Any], Floats]:
    """Outcomes that are shares as that many events and others, each with its weight."""
    outcome, of = np.repeat([1.0, 0.0], share.size), np.concatenate([share, 1 - share])
    weight = of if weights is None else of * np.tile(weights, 2)
    kept = of > 0
    return outcome[kept], np.tile(scores, 2)[kept], weight[kept]


def as_vector(values: Any, name: str) -> NDArray[Any]:
    """One-dimensional array from anything array-like (lists, data frames), by position."""
    array = to_numpy(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise CaseError(
            name,
            f"must be one-dimensional, but has shape {array.shape}",
            cure="Pass one probability (or outcome) per observation. A matrix of class "
            "probabilities is taken by fit(labels, matrix), assess and "
            "CalibrationData.",
        )
    if array.size == 0:
        raise CaseError(name, "is empty", more=": at least one observation is needed")
    return array


def as_floats(values: Any, name: str) -> Floats:
    """Any numbers as a float64 vector."""
    array = as_vector(values, name)
    if array.dtype == np.float64:
        return array
    if np.iscomplexobj(array):
        raise CaseError(name, "holds complex numbers", more="; real numbers are needed")
    if array.dtype.kind in "mM":
        raise CaseError(name, "holds dates or times", more="; numbers are needed")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        at = next(i for i, value in enumerate(array) if not is_number(value))
        cure = "percent sign" if str(array[at]).rstrip().endswith("%") else "numbers"
        given = shortened(repr(array.tolist()[at]))
        raise CaseError(name, ", which is not a number", row=at, value=given, cure=cure) from None


def as_scores(values: Any, name: str = "y_prob") -> Floats:
    """Probabilities in [0, 1] as a float64 vector."""
    return as_floats(check_scores(values, name), name)


def check_scores(values: Any, name: str = "y_prob") -> NDArray[Any]:
    """Probabilities in [0, 1] as a vector of 64-bit floats, or of 32-bit ones without a copy."""
    vector = as_vector(values, name)
    scores = vector if vector.dtype == np.float32 else as_floats(vector, name)
    if _largest_bits(scores) <= ONE_BITS[scores.itemsize]:
        return scores
    refuse_first(np.isnan(scores), scores, name, "is missing (NaN)", "drop")
    low, high = scores.min(), scores.max()
    if low < -OVERSHOOT or high > 1 + OVERSHOOT:
        refuse_first(
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
    if not values.size or (
        np.fmin.reduce(values, axis=None) >= 0 and np.fmax.reduce(values, axis=None) <= 1
    ):
        return values
    beyond = np.fmax(-values, values - 1)
    number = int(np.count_nonzero(beyond > 0))
    if not number or (beyond > OVERSHOOT).any():
        return values
    warn(
        f"{number:,} value{'s' * (number > 1)} of {name} lie{'s' * (number == 1)} beyond 0 or 1 "
        f"by at most {np.nanmax(beyond):.1g}, which is rounding: set to 0 or 1.",
        ScoreWarning,
    )
    return values.clip(0, 1)


def read_outcomes(
    values: Any, name: str = "y_true", *, pos_label: Any = None, part: bool = False
) -> NDArray[Any]:
    """Outcomes as their role says: 0, 1, shares in between, and NaN where one is missing.

    Whole numbers and booleans, all 0 or 1, keep their type. Labels of any type need `pos_label`,
    which may be absent without a warning in a `part` of the cases.
    """
    labels = as_vector(to_numpy(values, name, missing=True), name)
    if pos_label is not None:
        return _labels_to_outcomes(labels, name, pos_label, part)
    if are_binary_integers(labels):
        return labels
    if labels.dtype == object:
        known = np.array([not is_missing(value) for value in labels.tolist()])
        if all(isinstance(value, (int, float, np.number, np.bool_)) for value in labels[known]):
            labels = as_floats(np.where(known, labels, np.nan), name)
    if labels.dtype.kind not in "iuf":
        raise CaseError(
            name,
            f"must be 0/1 or boolean, but holds {_distinct(labels)}",
            cure=OF_CLASSES if _are_several(labels) else "pos_label",
        )
    outcome = labels if labels.dtype == np.float32 else as_floats(labels, name)
    wrong = (outcome < 0) | (outcome > 1)
    several = wrong.any() and _are_several(outcome)
    cure = "several labels" if several else "labels"
    refuse_first(wrong, outcome, name, "is neither 0 nor 1", cure)
    return outcome


def as_outcomes(
    values: Any,
    name: str = "y_true",
    *,
    pos_label: Any = None,
    shares: bool = False,
    missing: bool = False,
) -> Floats:
    """Outcomes as a float64 vector of 0 and 1, `shares` in between, and NaN where `missing`."""
    outcome = read_outcomes(values, name, pos_label=pos_label).astype(np.float64)
    cure = "Drop or impute it first, or make a CalibrationData, which uses the known ones."
    if not missing:
        refuse_first(np.isnan(outcome), outcome, name, "is missing (NaN)", cure)
    if shares:
        return outcome
    between = (outcome > 0) & (outcome < 1)
    cure = "Shares are taken by bayescal.fit, assess and CalibrationData."
    refuse_first(between, outcome, name, "is neither 0 nor 1", cure)
    return outcome


def are_binary_integers(values: NDArray[Any]) -> bool:
    """Whether these are booleans, or whole numbers none of which is anything but 0 or 1."""
    kind = values.dtype.kind
    if kind == "b":
        return True
    return kind in "iu" and values.dtype.isnative and bool(_largest_bits(values) <= 1)


def as_outcome_batch(values: Any, size: int, *, shares: bool = False) -> NDArray[Any]:
    """Outcomes of 0 and 1 with any leading dimensions; the last one runs over `size` cases.

    Booleans and whole numbers keep their type: a thousand replicates as bytes take an eighth of
    the room. A vector may have `shares` in between.
    """
    array = to_numpy(values, "y_true")
    if array.shape == (size,) and are_binary_integers(array):
        return array
    if array.ndim == 1 or (array.shape[1:] == (1,) and size != 1):
        outcomes = as_outcomes(values, "y_true", shares=shares)
        check_same_length(outcomes.size, "y_true", size, "y_prob")
        return outcomes
    check_same_length(array.shape[-1], "the last axis of y_true", size, "y_prob")
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf":
        try:
            array = array.astype(np.float64, casting="unsafe" if array.dtype == object else "safe")
        except (TypeError, ValueError):
            raise InputError(
                f"y_true holds {array.dtype} values, but outcomes in more than one dimension "
                "must be 0/1 or boolean. Convert them first."
            ) from None
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        at = np.unravel_index(int(wrong.argmax()), array.shape)
        where = f"y_true[{', '.join(map(str, at))}]"
        problem = f"= {exact(array[at])} is neither 0 nor 1"
        raise CaseError(where, problem, cure="Outcomes are 0/1 or boolean.")
    return array


def as_weights(
    values: Any, size: int, name: str = "sample_weight", *, part: bool = False
) -> Floats | None:
    """Case counts, at most 1e9 in all and the largest at least 1e-50, or None for one each.

    In a `part` of the weights all may be smaller, or 0.
    """
    if values is None:
        return None
    weights = as_floats(values, name)
    check_same_length(size, "y_true", weights.size, name)
    wrong = ~np.isfinite(weights) | (weights < 0)
    problem = "is not a finite, non-negative number"
    refuse_first(wrong, weights, name, problem, "Weights count cases.")
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


def is_missing(value: Any) -> bool:
    """None, not a number, not a time, or a value that pandas cannot compare."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def check_same_length(first: int, first_name: str, second: int, second_name: str) -> None:
    """Raise unless two arguments describe the same observations."""
    if first != second:
        raise InputError(
            f"{first_name} has {first} observations but {second_name} has {second}. "
            "They must describe the same patients, in the same order."
        )


def refuse_first(
    wrong: NDArray[np.bool_],
    values: NDArray[Any],
    name: str,
    problem: str,
    cure: str,
    more: str = "",
    *,
    alone: bool = False,
) -> None:
    """Refuse the first of the values that are wrong, if any is, and count others unless `alone`."""
    if not wrong.any():
        return
    at = int(wrong.argmax())
    (value,) = values[at : at + 1].tolist()
    others = 0 if alone else int(wrong.sum()) - 1
    more += f" ({others} more like it)" * (others > 0)
    given = shortened(repr(value)) if isinstance(value, str) else exact(values[at])
    raise CaseError(name, problem, row=at, value=given, more=more, cure=cure)


def to_numpy(values: Any, name: str, *, missing: bool = False) -> NDArray[Any]:
    """An array of anything array-like; values may be masked, NaN or None only if `missing`."""
    if type(values) is np.ndarray and values.ndim:
        return values
    values = as_plain(values, name, missing=missing)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        masked = np.ma.getmaskarray(values)
        if not missing:
            raise CaseError(name, "is masked", row=int(masked.ravel().argmax()), cure="drop")
        values = np.where(masked, np.array(None, object), values.data)
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


def _largest_bits(values: NDArray[Any]) -> Any:
    """The largest of the bits of numbers, read as whole numbers.

    Those of negative numbers and NaN are larger than those of any number from 0 to 1, so that one
    pass shows whether all are in range. So are those of -0, which is valid.
    """
    return np.maximum.reduce(values.view(BITS_OF[values.itemsize]))


def is_number(value: Any) -> bool:
    """Whether this is a number, or the text of one."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _labels_to_outcomes(labels: NDArray[Any], name: str, pos_label: Any, part: bool) -> Floats:
    """Whether each label is that of the event; NaN where it is missing."""
    missing = np.zeros(labels.size, bool)
    if labels.dtype.kind in "fO":
        missing[:] = [is_missing(value) for value in labels.tolist()]
    known = labels[~missing]
    event = _equal(known, pos_label)
    if event is None or not (event.any() or part):
        try:
            others = {*known.tolist()}
        except TypeError:  # a list or a dictionary is no label
            event, others = None, set()
        if event is None or len(others) > 1:
            raise CaseError(
                name,
                f"holds {_distinct(known)}, which are not two classes with the event pos_label="
                f"{shortened(repr(pos_label))}",
                cure=OF_CLASSES if _are_several(known) else TWO_CLASSES,
            )
        for label in others:
            warn(
                f"pos_label={shortened(repr(pos_label))} does not occur in {name}, where every "
                f"label is {shortened(repr(label))}, so that no case has the event. Check the "
                "spelling and the type of the label.",
                LabelWarning,
            )
    outcome = np.full(labels.size, np.nan)
    outcome[~missing] = event
    return outcome


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


# An index of pandas, of the rows or columns of a frame or of a dimension of xarray.
Index: TypeAlias = Any
# What pandas calls labels that are numbers.
KINDS_OF_NUMBERS = {"integer", "floating", "mixed-integer-float"}
# Types that never have labels.
UNLABELLED = {np.ndarray, type(None)}


class Labelled(NamedTuple):
    """An argument, or a part of one, that has labels."""

    name: str
    index: Index


def aligned(*, across: Collection[str] = (), **arguments: Any) -> tuple[Any, ...]:
    """Arguments of the same cases without their labels, after these were compared.

    An argument without labels pairs with any other by position; so does one with the default labels
    0, 1, ..., n - 1, but only beside labels that are not numbers. Any other two must have the same
    labels in the same order. Of those named in `across` the last axis runs over the cases.
    """
    if UNLABELLED.issuperset(map(type, arguments.values())):
        return tuple(arguments.values())
    known: list[Labelled] = []
    for name, values in arguments.items():
        for one in _labelled(name, values, name in across):
            if not any(one.index is other.index for other in known):
                known.append(one)
    for first, second in combinations(known, 2):
        _check(first, second)
    return tuple(_plain(values) for values in arguments.values())


def common_labels(*arguments: Any) -> Index | None:
    """The labels of the cases of several arguments that are aligned; None where none has any."""
    known = [index for each in arguments if (index := _index_of(each, False)) is not None]
    return next((index for index in known if not _is_default(index)), known[0] if known else None)


def column_names(matrix: Any) -> list[Any] | None:
    """Names of two columns or more, of a frame or an array of xarray; None if they are numbers."""
    columns = getattr(matrix, "column_names", None)  # of pyarrow, whose columns are arrays
    if columns is None:
        columns = getattr(matrix, "columns", None)
    if columns is None and hasattr(matrix, "indexes") and np.ndim(matrix) == 2:
        columns = matrix.indexes.get(matrix.dims[1])
    if columns is None or callable(columns) or hasattr(columns, "dims"):
        return None
    names = list(columns)
    return None if len(names) < 2 or names == list(range(len(names))) else names


def columns_in_order(matrix: Any, names: Any) -> Any:
    """A matrix with its columns in the order of some names, if these are what they are called."""
    columns = column_names(matrix)
    wanted = None if names is None else list(names)
    if columns is None or wanted is None or columns == wanted:
        return matrix
    if len(columns) != len(wanted) or set(columns) != set(wanted):
        return matrix
    order = [columns.index(name) for name in wanted]
    if hasattr(matrix, "iloc"):
        return matrix.iloc[:, order]
    return matrix.select(order) if hasattr(matrix, "column_names") else matrix[:, order]


def _labelled(name: str, values: Any, across: bool) -> list[Labelled]:
    """The labels of an argument, or of each of its parts."""
    if values is None or type(values) is np.ndarray:
        return []
    if isinstance(values, Mapping):
        parts = {f"{name}[{shortened(str(key))!r}]": one for key, one in values.items()}
        return [labelled for part, one in parts.items() for labelled in _labelled(part, one, False)]
    if across and isinstance(values, (list, tuple)) and values and not np.isscalar(values[0]):
        rows = enumerate(values)
        return [labelled for at, one in rows for labelled in _labelled(f"{name}[{at}]", one, False)]
    index = _index_of(values, across)
    return [] if index is None else [Labelled(name, index)]


def _index_of(values: Any, across: bool) -> Index | None:
    """The labels of the cases, if there are any."""
    if isinstance(values, type):
        return None
    values = values.to_native() if hasattr(values, "to_native") else values  # of narwhals
    if hasattr(values, "indexes") and isinstance(values.dims, tuple):  # of xarray
        return values.indexes.get(values.dims[-1 if across else 0]) if values.ndim else None
    index: Any = getattr(values, "index", None)
    if hasattr(index, "compute"):  # of Dask
        index = index.compute()
    if not hasattr(index, "equals"):
        return None
    if across and len(getattr(values, "columns", ())) > 1:
        return values.columns
    return index


def _check(first: Labelled, second: Labelled) -> None:
    one, other, a, b = first.index, second.index, first.name, second.name
    if one.equals(other):
        return
    for default, labels in ((one, other), (other, one)):
        if getattr(labels, "inferred_type", "") not in KINDS_OF_NUMBERS and _is_default(default):
            return
    mine, theirs = (
        [None if is_missing(value) else value for value in index]  # one missing is as another
        for index in (one, other)
    )
    if mine == theirs:
        return
    others = (Counter(theirs) - Counter(mine)).total()
    cure = f"for example {b}.reindex({a}.index), which shows what is missing, and drop the same "
    cure += "cases from both"
    if len(one) != len(other):
        problem = (
            f"{a} has {len(one):,} observations but {b} has {len(other):,}, and {others:,} of the "
            f"labels of {b} are not among those of {a}"
        )
    elif others:
        problem = (
            f"{a} and {b} are not of the same cases: {others:,} of the {len(other):,} index labels "
            f"of {b} are not among those of {a}"
        )
    else:
        at = next(k for k, pair in enumerate(zip(mine, theirs, strict=True)) if pair[0] != pair[1])
        problem = (
            f"{a} and {b} have the same index labels in different orders, the first at position "
            f"{at}"
        )
        cure = f"for example {b}.loc[{a}.index]"
        if len(set(mine)) < len(mine):
            cure = "by a label that no two cases share, since some are repeated"
    raise InputError(
        f"{problem}. Arrays are read by position. Align them first, {cure}. If the positions do "
        f"match, pass {a}.to_numpy() and {b}.to_numpy()."
    )


def _is_default(index: Index) -> bool:
    """Whether labels are 0, 1, ..., n - 1, as pandas gives them where nobody says otherwise."""
    return index.inferred_type == "integer" and np.array_equal(index, np.arange(len(index)))


def _plain(values: Any) -> Any:
    """A series or array of numbers without its labels; anything else as it is."""
    dtype = getattr(values, "dtype", None)
    if type(values) is np.ndarray or not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
        return values
    is_labelled = values.ndim == 1 and _index_of(values, False) is not None
    return np.asarray(values) if is_labelled else values
