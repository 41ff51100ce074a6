"""Matrices in place of a column: of classes, of imputations, of horizons, and predicted curves."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import (
    CaseError,
    ImputationWarning,
    InputError,
    ScoreWarning,
    as_items,
    check_choice,
    warn,
)
from bayescal.core.text import count, exact, shortened
from bayescal.data.cases import (
    OVERSHOOT,
    as_floats,
    as_scores,
    as_vector,
    as_weights,
    check_same_length,
    column_names,
    columns_in_order,
    is_matrix,
    to_numpy,
    without_rounding,
)
from bayescal.data.roles import IMPUTATION, Roles, as_roles
from bayescal.data.times import Survival, as_horizon, refuse_horizon

ClassMode: TypeAlias = Literal["top-label", "class-wise"]
# How several classes become one event: the predicted class is right; or each class is.
MODES: tuple[ClassMode, ...] = ("top-label", "class-wise")
# How far the class probabilities of a case may be from a sum of 1.
ROW_TOLERANCE = 1e-3


def as_probability_matrix(values: Any, name: str = "y_prob") -> Floats:
    """Class probabilities of shape (n, k), k two at least; every row sums to 1 within 1e-3."""
    matrix = to_numpy(values, name)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise InputError(
            f"{name} must have one row a case and one column a class, two at least, but has shape "
            f"{matrix.shape}. For a binary classifier pass both columns: 1 - score, score."
        )
    if matrix.dtype.kind == "f":  # in one note, rather than one a column
        matrix = without_rounding(matrix, name)
        _refuse_logits(matrix, name)
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


def _refuse_logits(matrix: Floats, name: str) -> None:
    """Refuse logits of classes, or logarithms of probabilities, as a whole."""
    below = (matrix < -OVERSHOOT).any(axis=1)
    if below.any() and not np.isnan(matrix).any():
        at = int(below.argmax())
        raise CaseError(
            name,
            "is outside [0, 1]",
            row=at,
            value=f"{matrix[at].min():.4g}",
            more="; class probabilities are not",
            cure="If these are logits, or logarithms of probabilities, pass "
            "scipy.special.softmax(values, axis=1).",
        )


def as_class_matrix(values: Any, name: str, classes: Any = None) -> Floats:
    """Class probabilities of shape (n, k), the columns in the order of the classes.

    Columns of a frame that are called as the classes are, by default 0, 1, ..., go by name.
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
    labels: str, matrix: str, classes: str = "CalibrationData(..., classes=[...])"
) -> str:
    """The three ways to say which column of a matrix is which class."""
    return (
        f"Say it in one of three ways: pass {matrix} as a data frame whose columns are called as "
        f"the classes; or pass {labels} as pandas.Categorical({labels}, categories=[...]), in the "
        f"order of the columns; or name the classes in that order, {classes}."
    )


def plain_cases(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    roles: Roles,
    *,
    horizon: Any = None,
    pos_label: Any = None,
    mode: Any = None,
    classes: Any = None,
) -> tuple[list[tuple[Any, Any]], Any, Roles]:
    """Cases of one outcome and score each, once an imputation; their weights and roles."""
    is_timed, imputation = isinstance(y_true, Survival), roles.columns.get(IMPUTATION)
    of_scores = imputation is not None and (y_prob is None or is_matrix(imputation))
    of_outcomes = not is_timed and is_matrix(y_true)
    if not (of_scores or is_timed) and is_matrix(y_prob):
        refuse_horizon(horizon)
        _check_classes(y_prob, mode, pos_label)
        return _of_classes(y_true, y_prob, sample_weight, roles, mode or MODES[0], classes)
    for name, given in (("mode", mode), ("classes", classes)):
        if given is not None:
            raise InputError(
                f"{name}={shortened(repr(given))} was given without a matrix of class "
                f"probabilities. Pass one as y_prob, one column a class, or leave {name} out."
            )
    if not (of_scores or of_outcomes):
        return [(y_true, risk_at(y_prob, horizon) if is_timed else y_prob)], sample_weight, roles
    if of_outcomes and imputation is not None:
        raise InputError(
            "imputation was given beside several imputations of the outcomes. Pass a long table "
            "that has both: CalibrationData(y_true, y_prob, imputation=number)."
        )
    if of_scores and y_prob is not None:
        raise InputError(
            "imputation was given beside y_prob, and is a matrix of scores. Pass one of them: "
            "y_prob for one score a case, imputation for several."
        )
    others = Roles({name: each for name, each in roles.columns.items() if name != IMPUTATION})
    (known, y_prob, weight, imputation), roles = others.aligned(
        y_true=y_true.time if is_timed else y_true,
        y_prob=y_prob,
        sample_weight=sample_weight,
        imputation=imputation,
        across={"y_true" if of_outcomes else IMPUTATION},
    )
    if of_outcomes:
        return [(row, y_prob) for row in as_imputed_outcomes(known, y_prob)], weight, roles
    outcome = y_true if is_timed else known
    return [(outcome, row) for row in as_imputations(imputation, known)], weight, roles


def _check_classes(y_prob: Any, mode: Any, pos_label: Any) -> None:
    """Refuse what says nothing of a matrix of class probabilities."""
    if pos_label is not None:
        raise InputError(
            "pos_label was given beside a matrix of class probabilities, where the event is "
            "that a class is right. Leave it out; or pass the column of that class alone."
        )
    if mode is not None:
        check_choice(mode, MODES, "mode")
    elif np.shape(y_prob)[1] == 2:
        raise InputError(
            "y_prob holds two columns, one for each of two classes. Pass the probability of "
            "the event alone, such as y_prob[:, 1]; or say mode='top-label', of whether the "
            "predicted class is right, or mode='class-wise'."
        )


def _of_classes(
    y_true: Any, y_prob: Any, sample_weight: Any, roles: Roles, mode: ClassMode, classes: Any
) -> tuple[list[tuple[Any, Any]], Any, Roles]:
    """Cases of k classes as binary ones: n of the top label, else n k with the class of each."""
    named, ordered = column_names(y_prob), categories_of(y_true)
    (y_true, y_prob, sample_weight), roles = roles.aligned(
        y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
    )
    labels = as_vector(y_true, "y_true")
    given = None if classes is None else as_vector(classes, "classes")
    if given is None and named is not None and _are_among(labels, named):
        given = as_vector(named, "y_prob's columns")
    if given is None and ordered is not None and len(ordered) == np.shape(y_prob)[-1]:
        given = as_vector(ordered, "y_true's categories")
    matrix = as_class_matrix(y_prob, "y_prob", given)
    names = _names_of(labels, matrix.shape[1]) if given is None else given
    check_same_length(matrix.shape[1], "y_prob's columns", names.size, "classes")
    truth = _as_class_index(labels, names)
    check_same_length(truth.size, "y_true", matrix.shape[0], "y_prob")
    weights = as_weights(sample_weight, truth.size)
    if mode == "top-label":
        return [(matrix.argmax(axis=1) == truth, matrix.max(axis=1))], weights, roles
    if roles.columns:
        raise InputError(
            f"{next(iter(roles.columns))} was given with mode='class-wise', whose "
            "groups are the classes. Pass roles with mode='top-label'."
        )
    right = truth[:, None] == np.arange(names.size)
    weights = None if weights is None else np.tile(weights, names.size)
    groups = np.repeat([str(name) for name in names.tolist()], truth.size)
    return [(right.T.ravel(), matrix.T.ravel())], weights, as_roles(subgroup={"class": groups})


def _are_among(labels: NDArray[Any], names: list[Any]) -> bool:
    """Whether every label is one of these names."""
    known = {name for name in names if isinstance(name, Hashable)}
    return set(_hashable(labels, "y_true")) <= known


def _names_of(labels: NDArray[Any], k: int) -> NDArray[Any]:
    """The names of k columns without names: 0, 1, ..., k - 1 if every label is one of these.

    Else the distinct labels in ascending order, if these are k numbers. Words are refused: in
    alphabetical order high comes before low, and nothing would show it.
    """
    numbers = np.arange(k)
    distinct = set(_hashable(labels, "y_true"))
    if any(isinstance(label, str) for label in distinct):
        raise CaseError(
            "y_true",
            f"holds words, such as {shortened(repr(labels.tolist()[0]))}, and nothing says which "
            "column of y_prob is which class",
            cure=order_told("y_true", "y_prob"),
        )
    if len(distinct) != k or distinct <= set(numbers.tolist()):
        return numbers
    try:
        return as_vector(sorted(distinct), "y_true")
    except TypeError:  # labels of several types have no order
        return numbers


def _as_class_index(labels: NDArray[Any], names: NDArray[Any]) -> NDArray[np.intp]:
    known = {label: index for index, label in enumerate(_hashable(names, "classes"))}
    index = [known.get(label, -1) for label in _hashable(labels, "y_true")]
    if -1 in index:
        at = index.index(-1)
        raise CaseError(
            "y_true",
            f"is not one of the {names.size} classes",
            row=at,
            value=shortened(repr(labels.tolist()[at])),
            cure="Classes are the numbers of the columns of y_prob, from 0 on, or their names in "
            "a data frame. Where not every class occurs in y_true, or columns are in another "
            f"order, name them. {order_told('y_true', 'y_prob')}",
        )
    return np.array(index)


def _hashable(labels: NDArray[Any], name: str) -> list[Any]:
    """Labels as a list, none of which is a list, a set or a dictionary."""
    listed: list[Any] = labels.tolist()
    for at, label in enumerate(listed):
        if not isinstance(label, Hashable):
            given, cure = shortened(repr(label)), "Classes are numbers or names."
            raise CaseError(name, "cannot be a class", row=at, value=given, cure=cure)
    return listed


# Imputations below which the variance between them is not well known.
FEW_IMPUTATIONS = 20
FEWEST_IMPUTATIONS, MOST_IMPUTATIONS = 2, 1000
# Relative difference of two sums of weights of the same cases.
SAME_CASES = 1e-9


def as_imputations(imputation: Any, y_true: Any, outcomes: str = "y_true") -> Floats:
    """Scores of the same cases, once for each imputation, of shape (m, n)."""
    rows = _of_imputations(imputation, "imputation", as_vector(y_true, outcomes).size, outcomes)
    return np.stack([as_scores(row, f"imputation[{k}]") for k, row in enumerate(rows)])


def as_imputed_outcomes(y_true: Any, y_prob: Any, name: str = "y_prob") -> list[Any]:
    """Outcomes of the same cases, once for each imputation."""
    return _of_imputations(y_true, "y_true", as_vector(y_prob, name).size, name)


def _of_imputations(matrix: Any, name: str, cases: int, beside: str) -> list[Any]:
    """The rows of a matrix, one an imputation, each with an entry for each case."""
    rows = as_items(matrix.to_numpy() if hasattr(matrix, "to_numpy") else matrix, name)
    m = len(rows)
    turned = f" Transpose it: one row an imputation, {name}.T." if m == cases else ""
    if m < FEWEST_IMPUTATIONS:
        raise InputError(
            f"{name} must hold at least {FEWEST_IMPUTATIONS} imputations, one a row, got {m}. "
            "Pass a single one as a vector, y_true or y_prob."
        )
    if m > MOST_IMPUTATIONS:
        every = f"Pass every {-(-m // 50)}th, {name}[::{-(-m // 50)}]: 50 draws of a posterior are "
        raise InputError(
            f"{name} has {m:,} rows, one for each imputation, and at most {MOST_IMPUTATIONS:,} are "
            f"fitted.{turned or f' {every}enough.'}"
        )
    for k, row in enumerate(rows):
        size = as_vector(row, f"{name}[{k}]").size
        if size != cases:
            raise InputError(
                f"{name} is read as a row for each imputation: {name}[{k}] has {size} cases, and "
                f"{beside} has {cases}. Each must hold the same cases, in the same order.{turned}"
            )
    return rows


def warn_of_few_outcomes(m: int) -> None:
    """Warn the caller of a public function if outcomes were imputed fewer than 20 times."""
    if m < FEW_IMPUTATIONS:
        warn(
            f"outcomes were imputed {m} times, which is too few for intervals to know how "
            f"uncertain they are. Impute them at least {FEW_IMPUTATIONS} times.",
            ImputationWarning,
        )


def check_alike(labels: Sequence[str], cases: Floats, effective: Floats) -> None:
    """Refuse imputations that are not of the same cases: by their numbers, as read and as worth."""
    if len(labels) < FEWEST_IMPUTATIONS:
        raise InputError(
            f"imputation holds one imputation, {labels[0]!r}, and at least {FEWEST_IMPUTATIONS} "
            "are needed. Leave it out if the scores were not imputed."
        )
    if len(labels) > MOST_IMPUTATIONS:
        raise InputError(
            f"imputation has {len(labels):,} labels, and at most {MOST_IMPUTATIONS:,} imputations "
            "are fitted. Pass fewer."
        )
    for what, sizes in (("cases", cases), ("effective", effective)):
        other = ~np.isclose(sizes, sizes[0], SAME_CASES, 0)
        if other.any():
            at = int(other.argmax())
            raise InputError(
                f"imputation {labels[0]!r} has {sizes[0]:g} {what} and imputation {labels[at]!r} "
                f"has {sizes[at]:g}. Every imputation must hold the same cases, with the same "
                "weights."
            )


MOST_HORIZONS = 20
# By how much a risk may fall in time through rounding.
FALLING = 1e-9


class Risks(NamedTuple):
    """Times to the event, risks by ascending horizons, and how they were read off whole curves.

    Columns are series with labels if a data frame was passed.
    """

    outcome: Survival
    horizons: tuple[float, ...]
    columns: tuple[Any, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PredictedCurves:
    """Whole predicted curves: the cumulative hazard, -log(1 - risk), of each case, from time 0."""

    times: Floats
    hazard: Floats
    of_survival: bool
    index: Any

    @classmethod
    def of(cls, frame: Any) -> PredictedCurves:
        """Read a data frame with a row for each case, whose columns are times.

        Parameters
        ----------
        frame : pandas.DataFrame
            Risks, which rise in time, or probabilities of survival, which fall.
        """
        times = as_floats(np.asarray(frame.columns), "the columns of y_prob")
        if not (np.diff(times) > 0).all() or not (times >= 0).all() or not times[-1] < np.inf:
            raise InputError(
                "the columns of y_prob are numbers, so that they are read as times, and are not "
                "ascending times from 0 on. Put them in order; or, if they are no times, name them "
                "by words."
            )
        values = np.stack(
            [as_floats(frame.iloc[:, k], f"y_prob[:, {k}]") for k in range(times.size)], axis=1
        )
        values = without_rounding(values, "y_prob")
        if not ((values >= 0) & (values <= 1)).all():
            row, column = np.argwhere(~((values >= 0) & (values <= 1)))[0]
            raise InputError(
                f"y_prob[{row}, {column}] = {exact(values[row, column])} is no probability; at "
                "each time the columns of y_prob hold risks, or probabilities of survival."
            )
        of_survival = times.size > 1 and bool(values[:, -1].mean() < values[:, 0].mean())
        risk = 1 - values if of_survival else values
        falls = (np.diff(risk, axis=1) < -FALLING).any(axis=1)
        if falls.any():
            kind = "survival rises" if of_survival else "the risk falls"
            raise InputError(
                f"y_prob has whole predicted curves, and in {count(int(falls.sum()), 'row')} of "
                f"{falls.size} {kind} in time, the first in row {int(falls.argmax())}. Each row is "
                "a case and each column a time: pass risks, or probabilities of survival, of one "
                "kind."
            )
        with np.errstate(divide="ignore"):
            hazard = np.maximum.accumulate(-np.log1p(-risk), axis=1)
        if times[0] > 0:
            times, hazard = np.append(0.0, times), np.column_stack([np.zeros(len(hazard)), hazard])
        elif (hazard[:, 0] > FALLING).any():
            raise InputError(
                "the column at time 0 of y_prob holds risks above 0: nobody has had the event "
                "then. Pass risks by each time."
            )
        return cls(times, hazard, of_survival, frame.index)

    def risk_by(self, horizon: float) -> Any:
        """Risk of each case by a time, with the cases' labels; constant hazard between times."""
        import pandas as pd

        times = self.times
        if horizon > times[-1]:
            raise InputError(
                f"the predicted curves end at {times[-1]:g}, and {horizon:g} is later: nothing "
                f"says what the model predicts there. Predict up to {horizon:g}, or choose a "
                f"horizon of at most {times[-1]:g}."
            )
        right = int(np.clip(np.searchsorted(times, horizon), 1, times.size - 1))
        before, after = self.hazard[:, right - 1], self.hazard[:, right]
        part = (horizon - times[right - 1]) / (times[right] - times[right - 1])
        rise, some = np.zeros(before.size), after > before
        if part > 0:  # infinite hazards have no difference
            rise[some] = part * (after[some] - before[some])
        return pd.Series(-np.expm1(-(before + rise)), index=self.index)

    def told(self, horizons: tuple[float, ...]) -> str:
        """How the risks by horizons were read off, in a sentence."""
        by = ", ".join(f"{at:g}" for at in horizons)
        kind = "probabilities of survival" if self.of_survival else "risks"
        between = [at for at in horizons if at not in self.times]
        told = f"Risks by {by} were read off predicted curves ({kind} up to {self.times[-1]:g})"
        if between:
            told += ", between two times with a constant hazard"
        return f"{told}."


def is_whole_curve(predicted: Any) -> bool:
    """Whether this is a data frame whose columns are named by times."""
    columns = getattr(predicted, "columns", ()) if hasattr(predicted, "iloc") else ()
    if len(columns) == 0 or type(columns).__name__ == "RangeIndex":
        return False
    return all(
        isinstance(name, (int, float, np.number)) and not isinstance(name, bool) for name in columns
    )


def risk_at(predicted: Any, horizon: Any) -> Any:
    """Risks by one horizon: of whole curves those read off there, else what was passed."""
    if horizon is None or not is_whole_curve(predicted):
        return predicted
    return PredictedCurves.of(predicted).risk_by(as_horizon(horizon))


def risks_by(outcome: Any, predicted: Any, horizons: Any) -> Risks:
    """Risks by several ascending horizons: a column for each, or whole curves, named by times."""
    if not isinstance(outcome, Survival):
        raise InputError(
            "horizon is a list of several, and y_true is no Survival: each needs the times. Pass "
            "bc.Survival(time, event); a CalibrationData is of one horizon."
        )
    times = tuple(as_horizon(each) for each in np.ravel(np.asarray(horizons, dtype=object)))
    if not 0 < len(times) <= MOST_HORIZONS or (np.diff(times) <= 0).any():
        told = ", ".join(f"{each:g}" for each in times) or "none"
        raise InputError(
            f"horizon must be from 1 to {MOST_HORIZONS} ascending times, got {told}. Pass each "
            "once, in order, such as horizon=[1, 3, 5]."
        )
    if not is_whole_curve(predicted):
        return Risks(outcome, times, _columns_of(predicted, times))
    curves = PredictedCurves.of(predicted)
    return Risks(outcome, times, tuple(map(curves.risk_by, times)), (curves.told(times),))


def _columns_of(risks: Any, horizons: tuple[float, ...]) -> tuple[Any, ...]:
    """The column of each horizon, a series with its labels if it comes from a data frame."""
    size = len(horizons)
    if np.ndim(risks) != 2 or np.shape(risks)[1] != size:
        shape = f"the shape {np.shape(risks)}" if risks is not None else "no scores"
        raise InputError(
            f"y_prob has {shape}, for {count(size, 'horizon')}. Pass a column of risks for each "
            "horizon, in their order; or whole predicted curves, as a data frame whose columns are "
            "named by the times."
        )
    names = [f"y_prob[:, {k}]" for k in range(size)]
    if hasattr(risks, "iloc"):
        names = [shortened(str(name)) for name in risks.columns]
    columns = [
        risks.iloc[:, k] if hasattr(risks, "iloc") else np.asarray(risks)[:, k] for k in range(size)
    ]
    values = [as_floats(column, name) for column, name in zip(columns, names, strict=True)]
    means = [float(value.mean()) for value in values]
    for k in range(1, size):
        if means[k] < means[k - 1]:
            raise InputError(
                f"the mean risk falls from column {names[k - 1]} ({means[k - 1]:.3g}) to column "
                f"{names[k]} ({means[k]:.3g}), and a risk by a later horizon is no smaller. Pass "
                "the columns in the order of the horizons, as risks and not as probabilities of "
                "survival."
            )
    falls = (np.diff(values, axis=0) < -FALLING).any(axis=0)
    if falls.any():
        warn(
            f"the predicted risk falls from one horizon to a later one in {int(falls.sum()):,} of "
            f"{count(falls.size, 'case')}, first in row {int(falls.argmax())}; an event by an "
            "earlier time is one by a later time, too. Each column is taken as it is.",
            ScoreWarning,
        )
    return tuple(columns)
