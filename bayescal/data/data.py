"""CalibrationData: scores and outcomes as a validated binomial table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.log_odds import EDGE, clipped
from bayescal.data import table as _grid
from bayescal.data.table import Rows, share_reaching
from bayescal.data.validate import (
    as_probability_matrix,
    as_scores,
    as_vector,
    as_weights,
    check_choice,
    check_same_length,
    paired,
)
from bayescal.data.weights import WeightType, as_weight_type, kish, warn_of_ambiguity

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["CalibrationData", "Edges", "as_data"]


class Edges(NamedTuple):
    """How scores of exactly 0 and 1 are read when a curve is fitted.

    Attributes
    ----------
    low, high : float
        The probabilities that stand in for 0 and for 1.
    moved : float
        How many cases had a score of exactly 0 or 1.
    assumed : bool
        True when every score is 0 or 1, so nothing in the data says how they were rounded.
    """

    low: float
    high: float
    moved: float
    assumed: bool

    def nearer(self, factor: float) -> Edges:
        """The same edges, this many times nearer to 0 and 1."""
        low, gap = max(self.low / factor, EDGE), max((1 - self.high) / factor, EDGE)
        return self._replace(low=low, high=1 - gap)

    def inside(self, score: Floats) -> Floats:
        """Scores strictly inside (0, 1), as the model reads them."""
        inner = clipped(score)
        return np.where(score == 0, self.low, np.where(score == 1, self.high, inner))


class CalibrationData:
    """Scores and outcomes, collapsed to a binomial table.

    Rows `(score, trials, hits)` hold everything a calibration curve's likelihood needs. Equal
    scores share a row. Up to 2048 distinct scores the rows are exact; with more they move to a
    fixed grid of 2048 cells in log-odds, each keeping the mean of its scores. Two tables add up
    to one, and the sum does not depend on how the cases were split or ordered.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Outcomes, 0/1 or boolean; other labels need `pos_label`.
    y_prob : array-like of shape (n,)
        Predicted probabilities of the event, in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Counts of cases, or sampling weights.
    groups : array-like of shape (n,), optional
        The site, hospital or subgroup of each case. The 2048-row limit holds within each.
    weight_type : {"counts", "sampling"}, optional
        What `sample_weight` is. A case of count 3 is three cases. Sampling weights, one over the
        chance that a case was sampled, have no scale: the model sees them rescaled to Kish's
        effective sample size, and its posterior is a pseudo-posterior. By default weights are
        counts if all are whole numbers, else sampling weights.
    pos_label : object, optional
        The label in `y_true` that counts as the event.

    Attributes
    ----------
    score, trials, hits : ndarray of shape (rows,)
        The table. Scores stand as given, with 0 and 1 as rows of their own.
    group : ndarray of shape (rows,) or None
        The group of each row.

    Raises
    ------
    InputError
        If the inputs are not outcomes and probabilities of the same cases, or counts are not whole
        numbers.

    Warns
    -----
    WeightWarning
        When nothing says what whole-number weights are, they add up to at least twice the number
        of rows, the rows do not look like a collapsed table, and intervals would be at least twice
        as wide if they were sampling weights.

    Notes
    -----
    Tables of sampling weights add up when their weights are on one scale. A table of counts that
    were said to be counts adds to no table of sampling weights; one of which nothing was said
    becomes part of it, each case with the weight that it has.

    Examples
    --------
    >>> import bayescal as bc
    >>> data = bc.CalibrationData([0, 1, 1, 0], [0.2, 0.8, 0.8, 0.2])
    >>> data
    CalibrationData(4 cases, 2 events, 2 rows)
    >>> (data + data).trials
    array([4., 4.])
    """

    def __init__(
        self,
        y_true: Any,
        y_prob: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
    ) -> None:
        outcomes, scores, weights = paired(y_true, y_prob, sample_weight, pos_label=pos_label)
        chosen = as_weight_type(weight_type, weights)
        labels = None if groups is None else _as_labels(groups, outcomes.size)
        if weights is not None and chosen is None:
            warn_of_ambiguity(weights, scores, outcomes, labels)
        tables: dict[str | None, Rows] = {}
        squares: dict[str | None, float] = {}
        for name in [None] if labels is None else np.unique(labels).tolist():
            keep = slice(None) if labels is None else labels == name
            cases = None if weights is None else weights[keep]
            tables[name] = _grid.collapse(scores[keep], outcomes[keep], cases)
            squares[name] = scores[keep].size if cases is None else float(cases @ cases)
        self._set(tables, squares, chosen)

    def _set(
        self,
        tables: dict[str | None, Rows],
        weight_squares: dict[str | None, float],
        weight_type: WeightType | None,
    ) -> Self:
        self._tables = {name: rows for name, rows in tables.items() if rows.score.size}
        self._weight_squares = {name: float(weight_squares[name]) for name in self._tables}
        self._weight_type = weight_type
        return self

    @classmethod
    def _new(
        cls,
        tables: dict[str | None, Rows],
        weight_squares: dict[str | None, float],
        weight_type: WeightType | None,
    ) -> Self:
        return cls.__new__(cls)._set(tables, weight_squares, weight_type)

    @classmethod
    def from_counts(cls, score: Any, trials: Any, hits: Any) -> Self:
        """Build a table from counts that are collapsed already.

        Parameters
        ----------
        score : array-like of shape (rows,)
            Predicted probabilities in [0, 1]; repeated scores are added up.
        trials, hits : array-like of shape (rows,)
            Cases and events at each score; whole numbers, `0 <= hits <= trials`.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If a count is negative, not whole, or hits exceed trials.

        Examples
        --------
        >>> import bayescal as bc
        >>> bc.CalibrationData.from_counts([0.1, 0.5], [10, 4], [1, 2])
        CalibrationData(14 cases, 3 events, 2 rows)
        """
        scores = as_scores(score, "score")
        counts = as_weights(trials, scores.size, "trials")
        events = _as_counts(hits, scores.size, "hits")
        assert counts is not None
        for name, values in (("trials", counts), ("hits", events)):
            if (values % 1 != 0).any():
                at = int(np.flatnonzero(values % 1)[0])
                raise InputError(f"{name}[{at}] = {values[at]:g} is not a whole number of cases.")
        if (events > counts).any():
            at = int(np.flatnonzero(events > counts)[0])
            raise InputError(
                f"hits[{at}] = {events[at]:g} exceeds trials[{at}] = {counts[at]:g}: "
                "there cannot be more events than cases."
            )
        empty = Rows(np.empty(0), np.empty(0), np.empty(0))
        keep = counts > 0
        exact = Rows(scores[keep], counts[keep], events[keep])
        return cls._new({None: _grid.merge(exact, empty)}, {None: counts.sum()}, "counts")

    @classmethod
    def from_multiclass(
        cls,
        y_true: Any,
        y_proba: Any,
        mode: Literal["top-label", "class-wise"] = "top-label",
        *,
        classes: Any = None,
        sample_weight: Any = None,
        weight_type: WeightType | None = None,
    ) -> Self:
        """Reduce a multi-class classifier to binary calibration.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True classes: column indices of `y_proba`, or members of `classes`.
        y_proba : array-like of shape (n, k)
            Predicted class probabilities; every row sums to 1 within 1e-3.
        mode : {"top-label", "class-wise"}
            "top-label": the largest probability against whether that class was right.
            "class-wise": every class against the rest, one group a class.
        classes : sequence of length k, optional
            Names of the columns.
        sample_weight : array-like of shape (n,), optional
            Counts of cases, or sampling weights.
        weight_type : {"counts", "sampling"}, optional
            What `sample_weight` is; by default counts if all are whole numbers.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If the rows do not sum to 1 or a true class is unknown.

        Examples
        --------
        >>> import bayescal as bc
        >>> proba = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
        >>> bc.CalibrationData.from_multiclass([0, 1], proba)
        CalibrationData(2 cases, 1 events, 2 rows)
        """
        check_choice(mode, ("top-label", "class-wise"), "mode")
        matrix = as_probability_matrix(y_proba, "y_proba")
        names = np.arange(matrix.shape[1]) if classes is None else np.asarray(classes)
        check_same_length(matrix.shape[1], "y_proba's columns", names.size, "classes")
        truth = _as_class_index(as_vector(y_true, "y_true"), names)
        check_same_length(truth.size, "y_true", matrix.shape[0], "y_proba")
        if mode == "top-label":
            top = matrix.argmax(axis=1)
            return cls(top == truth, matrix.max(axis=1), sample_weight, weight_type=weight_type)
        right = truth[:, None] == np.arange(names.size)
        weights = as_weights(sample_weight, truth.size)
        return cls(
            right.T.ravel(),
            matrix.T.ravel(),
            None if weights is None else np.tile(weights, names.size),
            np.repeat([str(name) for name in names.tolist()], truth.size),
            weight_type=weight_type,
        )

    @property
    def score(self) -> Floats:
        """Distinct scores as given (cell means once compressed), ascending within a group."""
        return np.concatenate([rows.score for rows in self._tables.values()])

    @property
    def trials(self) -> Floats:
        """Cases at each score (the sum of their weights)."""
        return np.concatenate([rows.trials for rows in self._tables.values()])

    @property
    def hits(self) -> Floats:
        """Events at each score (the sum of their weights)."""
        return np.concatenate([rows.hits for rows in self._tables.values()])

    @property
    def group(self) -> NDArray[np.str_] | None:
        """Group of each row, or None."""
        if None in self._tables:
            return None
        sizes = [rows.score.size for rows in self._tables.values()]
        return np.repeat(np.array(self.groups), sizes)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, in order."""
        return tuple(name for name in self._tables if name is not None)

    @property
    def n(self) -> float:
        """Cases in the table: the sum of the weights."""
        return float(sum(rows.trials.sum() for rows in self._tables.values()))

    @property
    def events(self) -> float:
        """Events in the table."""
        return float(sum(rows.hits.sum() for rows in self._tables.values()))

    @property
    def is_compressed(self) -> bool:
        """Whether any rows are cells of the log-odds grid rather than exact scores."""
        return any(rows.cell is not None for rows in self._tables.values())

    def rows_of(self, scores: Floats) -> NDArray[np.intp]:
        """Row of each case of this table, by its score, in a table without groups."""
        (rows,) = self._tables.values()
        return _grid.row_of(rows, scores)

    def share_reaching(self, thresholds: Floats) -> Floats:
        """Share of each row's cases whose score is at least t, of shape (rows, thresholds).

        0 or 1 for exact scores; in a cell of the grid that holds t, the share of its width.
        """
        parts = [share_reaching(rows, thresholds) for rows in self._tables.values()]
        return np.concatenate(parts)

    @property
    def weight_type(self) -> WeightType:
        """How the weights are read: "counts" of cases (also without weights), or "sampling"."""
        return self._weight_type or "counts"

    @property
    def is_pseudo(self) -> bool:
        """Whether the weights are sampling weights rather than case counts."""
        return self.weight_type == "sampling"

    @property
    def weight_scale(self) -> float:
        """Factor that turns weights into effective cases: 1, or Kish's for sampling weights."""
        return self.sampling_size / self.n if self.is_pseudo else 1.0

    @property
    def effective_size(self) -> float:
        """Cases that the likelihood counts: Kish's effective size of sampling weights, else `n`."""
        return self.n * self.weight_scale

    @property
    def sampling_size(self) -> float:
        """Kish's effective size of the weights, were they sampling weights."""
        return kish(self.n, self._squares)

    @property
    def _squares(self) -> float:
        return sum(self._weight_squares.values())

    def edges(self, edge: float | None = None) -> Edges:
        """How scores of exactly 0 and 1 are read when a curve is fitted to this table.

        They are taken as rounded: moved inside by a quarter of the distance to the nearest other
        score, or by `edge`, and never nearer than 1e-12.

        Parameters
        ----------
        edge : float in (0, 0.5), optional
            Distance from 0 and 1 to use instead.

        Returns
        -------
        Edges
        """
        score, trials = self.score, self.trials
        inner = score[(score > 0) & (score < 1)]
        if edge is None:
            low = inner.min() / 4 if inner.size else EDGE
            gap = (1 - inner.max()) / 4 if inner.size else EDGE
        else:
            low = gap = _as_edge(edge)
        moved = float(trials[(score == 0) | (score == 1)].sum())
        assumed = inner.size == 0 and edge is None
        return Edges(max(float(low), EDGE), 1 - max(float(gap), EDGE), moved, assumed)

    def to_arrays(self) -> tuple[Floats, Floats, Floats]:
        """Outcomes, scores and weights: how a table meets an estimator.

        Returns
        -------
        y_true, y_prob, sample_weight : ndarray
            At most two entries a row: its events and its non-events. Weights are numbers of cases;
            sampling weights add up to Kish's effective size.
        """
        outcome = np.repeat([0.0, 1.0], self.score.size)
        weight = np.concatenate([self.trials - self.hits, self.hits]) * self.weight_scale
        keep = weight > 0
        return outcome[keep], np.tile(self.score, 2)[keep], weight[keep]

    def select(self, group: str) -> CalibrationData:
        """The table of one group.

        Raises
        ------
        InputError
            If there is no such group.
        """
        name = check_choice(group, self.groups, "group")
        squares: dict[str | None, float] = {None: self._weight_squares[name]}
        return CalibrationData._new({None: self._tables[name]}, squares, self._weight_type)

    def one_group(self) -> CalibrationData:
        """The table itself, refused if it holds several groups, which one curve cannot describe.

        Raises
        ------
        InputError
            If there is more than one group.
        """
        if len(self.groups) > 1:
            shown = ", ".join(map(repr, self.groups[:3])) + (", ..." * (len(self.groups) > 3))
            raise InputError(
                f"the table holds {len(self.groups)} groups ({shown}), and this draws one curve. "
                "Take each with data.select(name), or all as one with data.pooled()."
            )
        return self

    def pooled(self) -> CalibrationData:
        """The same cases with the groups forgotten."""
        rows = _sum_rows(self._tables.values())
        return CalibrationData._new({None: rows}, {None: self._squares}, self._weight_type)

    def to_xarray(self) -> xr.Dataset:
        """The table as an xarray.Dataset with dimension `row`.

        Returns
        -------
        xarray.Dataset
        """
        import xarray as xr

        columns: dict[str, NDArray[Any]] = {
            "score": self.score,
            "trials": self.trials,
            "hits": self.hits,
        }
        if self.group is not None:
            columns["group"] = self.group
        if self.is_compressed:
            gridded = [_with_cells(rows) for rows in self._tables.values()]
            columns["cell"] = np.concatenate([cell for cell, _ in gridded])
            columns["position"] = np.concatenate([position for _, position in gridded])
        variables = {name: ("row", values) for name, values in columns.items()}
        attributes: dict[str, Any] = {"weight_squares": list(self._weight_squares.values())}
        if self._weight_type is not None:
            attributes["weight_type"] = self._weight_type
        return xr.Dataset(variables, {"row": np.arange(self.score.size)}, attributes)

    @classmethod
    def from_xarray(cls, dataset: xr.Dataset) -> Self:
        """Read back what `to_xarray` wrote.

        Parameters
        ----------
        dataset : xarray.Dataset

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If a variable is missing.
        """
        missing = {"score", "trials", "hits"} - set(map(str, dataset.data_vars))
        if missing:
            raise InputError(f"dataset lacks {', '.join(sorted(missing))}; pass to_xarray()'s.")
        columns = {str(name): dataset[name].to_numpy() for name in dataset.data_vars}
        group = columns.get("group")
        tables: dict[str | None, Rows] = {}
        for name in [None] if group is None else dict.fromkeys(group.tolist()):
            keep = slice(None) if group is None else group == name
            cell = columns["cell"][keep] if "cell" in columns else np.array([-1])
            exact = bool((cell < 0).all())
            score, trials, hits = (
                columns[key][keep].astype(np.float64) for key in ("score", "trials", "hits")
            )
            tables[None if name is None else str(name)] = Rows(
                score,
                trials,
                hits,
                None if exact else cell.astype(np.intp),
                None if exact else columns["position"][keep],
            )
        return cls._new(tables, _stored_squares(dataset, tables), _stored_weight_type(dataset))

    def __add__(self, other: object) -> CalibrationData:
        if not isinstance(other, CalibrationData):
            return NotImplemented
        if (None in self._tables) != (None in other._tables):
            raise InputError(
                "one table has groups and the other has none: give both groups, or pool the "
                "grouped one with .pooled() first."
            )
        tables: dict[str | None, Rows] = {}
        for name in sorted({*self._tables, *other._tables}, key=str):
            parts = [table._tables[name] for table in (self, other) if name in table._tables]
            tables[name] = _sum_rows(parts)
        squares = {
            name: self._weight_squares.get(name, 0) + other._weight_squares.get(name, 0)
            for name in tables
        }
        return CalibrationData._new(tables, squares, _common_weight_type(self, other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CalibrationData):
            return NotImplemented
        same_kind = self.groups == other.groups and self.weight_type == other.weight_type
        if not same_kind or not np.isclose(self.weight_scale, other.weight_scale, 1e-9, 0):
            return False
        return all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(
                (self.score, self.trials, self.hits),
                (other.score, other.trials, other.hits),
                strict=True,
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        groups = f", {len(self.groups)} groups" if self.groups else ""
        compressed = " on a log-odds grid" if self.is_compressed else ""
        weights = ""
        if self.is_pseudo:
            weights = f", sampling weights of effective size {self.effective_size:.4g}"
        return (
            f"CalibrationData({self.n:g} cases, {self.events:g} events, "
            f"{self.score.size} rows{compressed}{groups}{weights})"
        )


def as_data(
    y_true: Any,
    y_prob: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    weight_type: WeightType | None = None,
    pos_label: Any = None,
) -> CalibrationData:
    """The table behind `(y_true, y_prob)`, or `y_true` itself when it is one already."""
    if not isinstance(y_true, CalibrationData):
        return CalibrationData(
            y_true, y_prob, sample_weight, groups, weight_type=weight_type, pos_label=pos_label
        )
    extra = {
        "y_prob": y_prob,
        "sample_weight": sample_weight,
        "groups": groups,
        "weight_type": weight_type,
    }
    given = [name for name, value in extra.items() if value is not None]
    if given:
        raise InputError(
            f"{given[0]} was given beside a CalibrationData, which holds its own. "
            "Pass arrays, or the table alone."
        )
    return y_true


def _common_weight_type(first: CalibrationData, second: CalibrationData) -> WeightType | None:
    """How the weights of a sum are read; what nothing was said of follows the other table."""
    types: set[WeightType] = {
        table._weight_type for table in (first, second) if table._weight_type is not None
    }
    if len(types) > 1:
        raise InputError(
            "one table holds counts of cases and the other sampling weights, which have no common "
            "scale. Make both with the same weight_type=; a case that was sampled for certain has "
            "the sampling weight 1."
        )
    return types.pop() if types else None


def _stored_weight_type(dataset: xr.Dataset) -> WeightType | None:
    """The type that `to_xarray` wrote; before there were types it wrote whether to rescale."""
    if "weight_type" in dataset.attrs:
        return "sampling" if dataset.attrs["weight_type"] == "sampling" else "counts"
    return "sampling" if dataset.attrs.get("fractional", 0) else None


def _stored_squares(dataset: xr.Dataset, tables: dict[str | None, Rows]) -> dict[str | None, float]:
    """Squared weights of each group, summed; of a sum over all, its share of the cases."""
    cases = {name: float(rows.trials.sum()) for name, rows in tables.items()}
    total = sum(cases.values())
    stored = np.atleast_1d(dataset.attrs.get("weight_squares", total))
    if stored.size == len(tables):
        return dict(zip(tables, stored.tolist(), strict=True))
    return {name: float(stored[0]) * own / total for name, own in cases.items()}


def _sum_rows(parts: Iterable[Rows]) -> Rows:
    iterator: Iterator[Rows] = iter(parts)
    total = next(iterator)
    for rows in iterator:
        total = _grid.merge(total, rows)
    return total


def _with_cells(rows: Rows) -> tuple[NDArray[np.intp], Floats]:
    if rows.cell is None or rows.position is None:
        return np.full(rows.score.size, -1), np.zeros(rows.score.size)
    return rows.cell, rows.position


def _as_labels(groups: Any, size: int) -> NDArray[np.str_]:
    values = as_vector(groups, "groups")
    check_same_length(size, "y_true", values.size, "groups")
    for at, value in enumerate(values.tolist()):
        if value is None or value != value:
            raise InputError(f"groups[{at}] is missing. Name every case's group, or drop the case.")
    return np.array([str(value) for value in values.tolist()])


def _as_counts(values: Any, size: int, name: str) -> Floats:
    counts = as_vector(values, name).astype(np.float64)
    check_same_length(size, "score", counts.size, name)
    wrong = ~np.isfinite(counts) | (counts < 0)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise InputError(f"{name}[{at}] = {counts[at]:g} is not a non-negative count.")
    return counts


def _as_edge(edge: float) -> float:
    if not 0 < edge < 0.5:
        raise InputError(f"edge must lie strictly between 0 and 0.5, got {edge!r}.")
    return float(edge)


def _as_class_index(labels: NDArray[Any], names: NDArray[Any]) -> NDArray[np.intp]:
    known = {name: index for index, name in enumerate(names.tolist())}
    index = [known.get(label, -1) for label in labels.tolist()]
    if -1 in index:
        at = index.index(-1)
        raise InputError(
            f"y_true[{at}] = {labels.tolist()[at]!r} is not one of the {names.size} classes. "
            "Classes are column indices, or the names passed as classes=."
        )
    return np.array(index)
