"""CalibrationData: scores and outcomes as a validated binomial table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.build.builder import TableBuilder, sum_rows
from bayescal.data.build.cases import check_cases
from bayescal.data.build.chunks import ChunkReader, named, read_chunks
from bayescal.data.build.labels import GroupNames
from bayescal.data.counts import as_tables
from bayescal.data.edges import Edges, edges_of
from bayescal.data.grouped import common_weight_type
from bayescal.data.multiclass import binary_cases
from bayescal.data.sources.alignment import aligned
from bayescal.data.sources.constructors import FromSources
from bayescal.data.validate import check_choice
from bayescal.data.weights import WeightType, as_weight_type, warn_of_ambiguity

__all__ = ["CalibrationData", "Edges", "as_data"]


class CalibrationData(FromSources):
    """Scores and outcomes, collapsed to a binomial table.

    The likelihood of a calibration curve depends only on the rows `(score, trials, hits)`. Equal
    scores share a row. Up to 2048 distinct scores the rows are exact. With more, the cases are
    assigned to a fixed grid of 2048 cells in log-odds, and each cell keeps the mean of its scores.
    Two tables can be added; the sum does not depend on how the cases were split or ordered.

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
        What `sample_weight` is. A case of count 3 is three cases. Sampling weights are one over the
        probability that a case was sampled. Only their ratios matter: they are rescaled to Kish's
        effective sample size, and the result is a pseudo-posterior. By default weights are
        counts if all are whole numbers, otherwise sampling weights.
    pos_label : object, optional
        The label in `y_true` that counts as the event.

    Attributes
    ----------
    score, trials, hits : ndarray of shape (rows,)
        The table. Scores are unchanged, with separate rows for 0 and 1.
    group : ndarray of shape (rows,) or None
        The group of each row.

    Raises
    ------
    InputError
        If the inputs are not outcomes and probabilities of the same cases, their labels (of pandas
        or xarray) differ, or counts are not whole numbers.

    Warns
    -----
    LabelWarning
        When `pos_label` does not occur in `y_true`.
    WeightWarning
        When nothing says what whole-number weights are, they add up to at least twice the number
        of rows, the rows do not look like a collapsed table, and intervals would be at least twice
        as wide if they were sampling weights.

    Notes
    -----
    Tables of sampling weights can be added if their weights have the same scale. A table with
    `weight_type="counts"` cannot be added to a table of sampling weights. A table of counts
    without a stated type can; each case keeps its weight.

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
        y_true: ArrayLike,
        y_prob: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
    ) -> None:
        y_true, y_prob, sample_weight, groups = aligned(
            y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, groups=groups
        )
        cases = check_cases(y_true, y_prob, sample_weight, pos_label=pos_label)
        chosen = as_weight_type(weight_type, cases.weight)
        names = GroupNames()
        codes = None if groups is None else names.codes(groups, cases.outcome.size)
        if cases.weight is not None and chosen is None:
            warn_of_ambiguity(cases.weight, cases.score, cases.outcome, codes)
        builder = TableBuilder()
        builder.add(*cases, codes)
        self._set(named(builder, None if groups is None else names), chosen)

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[tuple[Any, ...]],
        *,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
        progress: Callable[[int], object] | None = None,
    ) -> Self:
        """Build a table from cases that come in parts, in constant memory.

        The table is the same to the last bit for any split of the cases into chunks and any order.

        Parameters
        ----------
        chunks : iterable of tuple
            `(y_true, y_prob)`, `(y_true, y_prob, weight)` or `(y_true, y_prob, weight, group)`,
            array-likes of one length as in the constructor; the weight may be None before a group.
            All chunks have weights or none has, and so with groups. Chunks may be empty.
        weight_type : {"counts", "sampling"}, optional
            What the weights are; by default counts if all are whole numbers, else sampling weights.
        pos_label : object, optional
            The label in `y_true` that counts as the event.
        progress : callable, optional
            Called after each chunk with the number of cases so far.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If a value is not valid, which names the chunk, counted from 0, and the position in it;
            if chunks differ in what they hold; or if there are no cases.

        Warns
        -----
        WeightWarning
            As the constructor; with more than 2048 distinct scores also of collapsed tables.

        Examples
        --------
        >>> import bayescal as bc
        >>> bc.CalibrationData.from_chunks([([0, 1], [0.2, 0.8]), ([1, 0], [0.8, 0.2])])
        CalibrationData(4 cases, 2 events, 2 rows)
        """
        reader = ChunkReader(weight_type=weight_type, pos_label=pos_label)
        read_chunks(chunks, reader, progress)
        return cls._new(*reader.finished())

    @classmethod
    def from_counts(
        cls,
        score: ArrayLike,
        trials: ArrayLike,
        hits: ArrayLike,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Build a table from counts that are collapsed already.

        Parameters
        ----------
        score : array-like of shape (rows,)
            Predicted probabilities in [0, 1]; repeated scores are added up.
        trials, hits : array-like of shape (rows,)
            Cases and events at each score; whole numbers, `0 <= hits <= trials`.
        groups : array-like of shape (rows,), optional
            Group of each row, such as a site.

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

        Sites of which only the number of patients, the events and the expected events are known,
        each read as if all its patients had the mean risk:

        >>> n, events, expected = [5553, 1027], [232, 28], [222.0, 46.0]
        >>> bc.CalibrationData.from_counts(
        ...     [expected[0] / n[0], expected[1] / n[1]], n, events, groups=["Nashef", "Biancari"]
        ... )
        CalibrationData(6580 cases, 260 events, 2 rows, 2 groups)
        """
        return cls._new(as_tables(score, trials, hits, groups), "counts")

    @classmethod
    def from_multiclass(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        mode: Literal["top-label", "class-wise"] = "top-label",
        *,
        classes: Sequence[Any] | NDArray[Any] | None = None,
        sample_weight: ArrayLike | None = None,
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
        cases = binary_cases(y_true, y_proba, mode, classes, sample_weight)
        return cls(*cases, weight_type=weight_type)

    def edges(self, edge: float | None = None) -> Edges:
        """How scores of exactly 0 and 1 are read when a curve is fitted to this table.

        They are taken as rounded: moved inside by a quarter of the distance to the nearest other
        score, and never nearer than 1e-12. With `edge` no score is read as nearer to 0 or 1.

        Parameters
        ----------
        edge : float in (0, 0.5), optional
            The least distance from 0 and 1 to use instead.

        Returns
        -------
        Edges
        """
        return edges_of(self.score, self.trials, edge)

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
        name = group
        if not isinstance(group, str) or group not in self._tables:
            name = check_choice(group, self.groups, "group")
        table = CalibrationData._new({None: self._tables[name]}, self._weight_type)
        return table.lacking(*self.lacks)

    def one_group(self) -> CalibrationData:
        """The table itself, refused if it holds several groups, which one curve cannot describe.

        Raises
        ------
        InputError
            If there is more than one group, or the table is not `complete`.
        """
        self.complete()
        if len(self.groups) > 1:
            shown = ", ".join(map(repr, self.groups[:3])) + (", ..." * (len(self.groups) > 3))
            raise InputError(
                f"the table holds {len(self.groups)} groups ({shown}), and this draws one curve. "
                "Take each with data.select(name), or all as one with data.pooled()."
            )
        return self

    def pooled(self) -> CalibrationData:
        """The same cases with the groups forgotten."""
        rows = sum_rows(self._tables.values())
        return CalibrationData._new({None: rows}, self._weight_type).lacking(*self.lacks)

    def __add__(self, other: object) -> CalibrationData:
        if not isinstance(other, CalibrationData):
            return NotImplemented
        if (None in self._tables) != (None in other._tables):
            raise InputError(
                "one table has groups and the other has none: give both groups, or pool the "
                "grouped one with .pooled() first."
            )
        builder, names = TableBuilder(), GroupNames()
        for table in (self, other):
            table._check_outcomes()
            builder.add_tables(
                (names.code(name or ""), rows) for name, rows in table._tables.items()
            )
        tables = named(builder, None if None in self._tables else names)
        total = CalibrationData._new(tables, common_weight_type(self, other))
        return total.lacking(*self.lacks, *other.lacks)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CalibrationData):
            return NotImplemented
        mine, theirs = ((it.groups, it.weight_type, it.lacks) for it in (self, other))
        if mine != theirs or not np.isclose(self.weight_scale, other.weight_scale, 1e-9, 0):
            return False
        names = ("score", "trials", "hits") if self.has_outcomes else ("score", "trials")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        groups = f", {len(self.groups)} groups" if self.groups else ""
        compressed = " on a log-odds grid" if self.is_compressed else ""
        weights = ""
        if self.is_pseudo:
            weights = f", sampling weights of effective size {self.effective_size:.4g}"
        events = f"{self.events:g} events" if self.has_outcomes else "no outcomes"
        lost = "".join(f", without {part}" for part in self.lacks if part != "outcomes")
        return (
            f"CalibrationData({self.n:g} cases, {events}, "
            f"{self.score.size} rows{compressed}{groups}{weights}{lost})"
        )


def as_data(
    y_true: ArrayLike | CalibrationData,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    weight_type: WeightType | None = None,
    pos_label: Any = None,
) -> CalibrationData:
    """The table behind `(y_true, y_prob)`, or `y_true` itself when it is one that is complete."""
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
    return y_true.complete()
