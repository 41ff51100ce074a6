"""From columns to cases: outcomes, scores and weights, each checked, saying where a fault is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import count, shortened
from bayescal.cli._read import Source
from bayescal.cli.form import LOGIT, PERCENT, PROBABILITY, Scale
from bayescal.data.roles import RoleReader, as_roles
from bayescal.data.sources.columns import Columns
from bayescal.data.validate import check_choice
from bayescal.data.weights import (
    WEIGHT_TYPES,
    WeightType,
    ambiguity,
    are_counts,
    effective_size,
    read_type,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Cases",
    "about_counts",
    "about_missing",
    "about_sampling_weights",
    "as_numbers",
    "as_probabilities",
    "check_weight_type",
    "read_cases",
    "with_weight_type",
]

MOST_LABELS = 4
NO_ROLES: Mapping[str, Any] = MappingProxyType({})


class Cases(NamedTuple):
    """What a fit needs of a table.

    Attributes
    ----------
    outcome, score : ndarray of shape (n,)
    weight : ndarray of shape (n,) or None
    event : str
        The label that counts as the event.
    dropped : int
        Rows left out because a value was missing.
    roles : mapping of str to array-like of shape (n,)
        Labels by role, as the constructor of `CalibrationData` takes them.
    weight_type : {"counts", "sampling"} or None
        What the weights are; None without weights.
    """

    outcome: Floats
    score: Floats
    weight: Floats | None
    event: str
    dropped: int
    roles: Mapping[str, Any] = NO_ROLES
    weight_type: WeightType | None = None

    @property
    def chunk(self) -> dict[str, Any]:
        """Arguments of the constructor of `CalibrationData`, but for the type of weights."""
        of_cases = {"y_true": self.outcome, "y_prob": self.score, "sample_weight": self.weight}
        return of_cases | dict(self.roles)

    def about_weights(self) -> str:
        """How the weights are read, in a sentence."""
        assert self.weight is not None
        if self.weight_type == "counts":
            return about_counts(self.weight.sum())
        return about_sampling_weights(self.weight.size, effective_size(self.weight))


def about_counts(total: float) -> str:
    """What weights are that count cases, in a sentence."""
    return f"The weights are counts, {count(total, 'case')} in all."


def about_sampling_weights(rows: int, effective: float) -> str:
    """What sampling weights are worth, in a sentence."""
    return (
        f"The weights are sampling weights of {count(rows, 'case')}, worth {effective:,.1f} "
        "(Kish's effective size)."
    )


def read_cases(
    frame: pd.DataFrame,
    columns: Columns,
    source: Source,
    *,
    scale: Scale = PROBABILITY,
    event: str | None = None,
    drop_missing: bool = False,
    labels: dict[object, None] | None = None,
) -> Cases:
    """Take the cases out of a table.

    Parameters
    ----------
    source : Source
        The file, to say where a fault is.
    scale : Scale
        What the scores are written as.
    event : str, optional
        The label of the event, when labels are not 0 and 1.
    drop_missing : bool
        Leave out rows with a missing value, rather than refuse them.
    labels : dict, optional
        Of a table that is one part of several: the labels of the outcomes of the parts before, to
        which those of this one are added.
    """
    part, label = labels is not None, frame[columns.outcome]
    score = as_probabilities(frame[columns.score], columns.score, source, scale)
    weight = None
    if columns.weight is not None:
        weight = as_numbers(frame[columns.weight], columns.weight, source)
    missing = label.isna().to_numpy(dtype=bool) | np.isnan(score)
    if weight is not None:
        missing |= np.isnan(weight)
    needed = "an outcome, a score or a weight"
    for name in columns.labelled:
        missing |= frame[name].isna().to_numpy(dtype=bool)
    if columns.labelled:
        names = " or ".join(map(shortened, columns.labelled))
        needed = f"an outcome, a score, a weight or a value of {names}"
    if missing.any() and not drop_missing:
        raise InputError(about_missing(missing, needed, source))
    if missing.all() and not part:
        raise InputError(f"every row of {source.path} lacks {needed}.")
    keep = ~missing
    if weight is not None:
        _check_weights(weight, columns.weight, source)
    distinct = label[keep].unique().tolist()
    labels = {} if labels is None else labels
    labels.update(dict.fromkeys(distinct))
    _check_labels(list(labels), columns.outcome, event)
    return Cases(
        _as_outcomes(label[keep], distinct, event),
        score[keep],
        None if weight is None else weight[keep],
        "1" if event is None else event,
        int(missing.sum()),
        _as_roles(frame[keep], columns),
    )


def with_weight_type(cases: Cases, name: str | None, weight_type: str | None) -> Cases:
    """Cases with what their weights are: as told, or else as it can only be.

    Parameters
    ----------
    name, weight_type : str or None
        The column of weights, and their type as it was typed.
    """
    told = check_weight_type(name, weight_type)
    if cases.weight is None:
        return cases
    if told is None:
        groups = RoleReader().codes(as_roles(**cases.roles), cases.score.size)
        readings = ambiguity(cases.weight, cases.score, cases.outcome, groups)
        if readings is not None:
            raise InputError(
                f"column {name!r} can be {readings}. Add --weight-type counts or --weight-type "
                "sampling."
            )
    chosen = told or read_type(cases.weight)
    if chosen == "counts" and not are_counts(cases.weight):
        value = cases.weight[cases.weight % 1 != 0][0]
        raise InputError(
            f"column {name!r}: {value:g} is not a whole number, and counts of cases are. For "
            "sampling weights add --weight-type sampling."
        )
    return cases._replace(weight_type=chosen)


def check_weight_type(name: str | None, weight_type: str | None) -> WeightType | None:
    """What weights are, as it was typed."""
    if weight_type is None:
        return None
    told = cast("WeightType", check_choice(weight_type, WEIGHT_TYPES, "--weight-type"))
    if name is None:
        raise InputError("--weight-type goes with --weight, the column of the weights.")
    return told


def _as_roles(frame: pd.DataFrame, columns: Columns) -> dict[str, Any]:
    """Labels by role as texts, whole numbers as they were typed; times of periods as they are."""

    def labels(name: str) -> Any:
        column = frame[name]
        if name == columns.period and column.dtype.kind in "iufM":
            return column.to_numpy()
        texts = np.empty(len(column), dtype=object)
        texts[:] = [
            str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
            for value in column.tolist()
        ]
        return texts

    return columns.roles(labels)


def as_probabilities(
    column: pd.Series, name: str, source: Source, scale: Scale = PROBABILITY
) -> Floats:
    """A column of scores as probabilities, NaN where one is missing.

    Parameters
    ----------
    scale : Scale
        What the scores are written as.

    Returns
    -------
    ndarray of shape (n,)
    """
    score = as_numbers(column, name, source, scale)
    _check_scores(score, name, source, scale)
    return scale.to_probability(score)


def as_numbers(column: pd.Series, name: str, source: Source, scale: Scale | None = None) -> Floats:
    """The column as floats, NaN where it is missing; decimal commas between semicolons.

    Percentages may have their sign. `scale` is None for what is no score.
    """
    import pandas as pd

    if column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    text = column.astype("string").str.strip()
    text = text.mask(text == "")
    if source.separator == ";":
        text = text.str.replace(",", ".", regex=False)
    if scale is PERCENT:
        text = text.str.removesuffix("%").str.strip()
    numbers = pd.to_numeric(text, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.isnan(numbers) & text.notna().to_numpy(dtype=bool)
    if wrong.any():
        value = column[wrong].iloc[0]
        is_percent = scale is not None and str(value).strip().endswith("%")
        cure = " Percentages, with or without the sign, are read with --percent."
        raise InputError(
            f"column {name!r}: {value!r} is not a number{_where(wrong, source)}."
            f"{cure if is_percent else ''}"
        )
    return numbers


def _check_labels(distinct: list[object], name: str, event: str | None) -> None:
    """Refuse outcomes that are not two classes, one of which is the event.

    Parameters
    ----------
    distinct : list
        The labels that there are.
    name : str
        The column.
    event : str or None
        None for outcomes of 0 and 1.
    """
    if event is None and set(distinct) <= {0, 1}:
        return
    if event is None and len(distinct) == 2:
        raise InputError(
            f"column {name!r} holds {_listed(distinct)}. Say which is the event with --event."
        )
    if len(distinct) > 2:
        raise InputError(
            f"column {name!r} holds {len(distinct)} distinct values ({_listed(distinct)}), and an "
            "outcome has two. Name another column with --outcome."
        )
    if event is not None and (len(distinct) < 2 or _matching(distinct, event)):
        return
    raise InputError(
        f"column {name!r} holds {_listed(distinct)}, none of which is the event {event!r}. "
        "Name the label of the event with --event."
    )


def _as_outcomes(labels: pd.Series, distinct: list[Any], event: str | None) -> Floats:
    """Outcomes as 0 and 1."""
    if event is None:
        return labels.to_numpy(dtype=np.float64)
    is_event = np.isin(labels.to_numpy(dtype=object), _matching(distinct, event))
    return is_event.astype(np.float64)


def _matching(distinct: list[Any], event: str) -> list[Any]:
    return [label for label in distinct if _is_label(label, event)]


def _is_label(label: object, event: str) -> bool:
    """Whether a value in the table is what was typed: 2 is "2" and "2.0", True is "true"."""
    if isinstance(label, (bool, np.bool_)):
        return str(label).lower() == event.lower()
    if isinstance(label, (int, float, np.number)):
        try:
            return float(event) == label
        except ValueError:
            return False
    return str(label) == event


def _check_scores(score: Floats, name: str, source: Source, scale: Scale) -> None:
    outside = (score < scale.lowest) | (score > scale.highest)
    if not outside.any():
        return
    cure = ""
    if (score < 0).any():
        cure = f" If these are {LOGIT.name}, read them with --logit."
    elif scale is PROBABILITY and np.nanmax(score) <= PERCENT.highest:
        cure = f" If these are {PERCENT.name}, read them with --percent."
    raise InputError(
        f"column {name!r}: {score[outside][0]:g} is outside [{scale.lowest}, {scale.highest}]"
        f"{_where(outside, source)}; scores are {scale.name}.{cure}"
    )


def _check_weights(weight: Floats, name: str | None, source: Source) -> None:
    wrong = (weight < 0) | np.isinf(weight)
    if wrong.any():
        raise InputError(
            f"column {name!r}: {weight[wrong][0]:g} is no weight{_where(wrong, source)}; "
            "weights are numbers of at least 0."
        )


def about_missing(missing: NDArray[np.bool_], needed: str, source: Source) -> str:
    rows = int(missing.sum())
    first = source.where(int(missing.argmax()))
    return (
        f"{rows} of {missing.size} rows lack {needed}, the first on {first} of {source.path}. Fill "
        "them in, or leave them out with --drop-missing."
    )


def _where(wrong: NDArray[np.bool_], source: Source) -> str:
    more = int(wrong.sum()) - 1
    others = f" (and {more} more like it)" if more else ""
    return f" on {source.where(int(wrong.argmax()))} of {source.path}{others}"


def _listed(labels: Iterable[object]) -> str:
    shown = sorted(map(repr, labels))
    more = ", ..." if len(shown) > MOST_LABELS else ""
    return ", ".join(shown[:MOST_LABELS]) + more
