"""CalibrationData: everything that is known of some cases, collapsed to a binomial table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import (
    CaseError,
    InputError,
    as_items,
    check_callable,
    check_choice,
    check_type,
)
from bayescal.core.text import cases_and_events, count, shortened
from bayescal.core.versions import needed
from bayescal.data.cases import CheckedCases, as_floats, as_scores
from bayescal.data.clusters import Clusters, clusters_of, too_few
from bayescal.data.columns import ColumnRoles, Columns, WeightType, spelt_out
from bayescal.data.contents import (
    Contents,
    Reader,
    added,
    contents_of,
    contents_of_counts,
    forgotten,
    of_group,
    selected,
    stacked,
    within,
)
from bayescal.data.frames import columns_of, note_groups
from bayescal.data.matrices import ClassMode, check_alike, plain_cases
from bayescal.data.roles import (
    DEPENDENCE,
    IMPUTATION,
    LONGEST_FIT,
    MOST_COMBINATIONS,
    NO_STRUCTURE,
    LabelRoles,
    Periods,
    as_roles,
)
from bayescal.data.rows import LIMIT, TOLD, Edges, Rows, add_up, edges_of, row_of, share_reaching
from bayescal.data.stored import from_dataset, read_dataset, to_dataset, write_dataset
from bayescal.data.times import FollowUp, Survival, timed
from bayescal.data.weights import kish

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["CalibrationData"]

# Characters of another library's error that are shown.
LONGEST_REASON = 300
# Relative difference of equal sums of weights that were added up in another order.
SUMS_SAME = 1e-9


class CalibrationData:
    """Scores and outcomes, collapsed to a binomial table.

    The likelihood of a calibration curve depends only on the rows `(score, trials, hits)`. Equal
    scores share a row. Up to 2048 distinct scores the rows are exact. With more, the cases are
    assigned to a fixed grid of 2048 cells in log-odds, and each cell keeps the mean of its scores.
    Two tables can be added; the sum does not depend on how the cases were split or ordered.

    Parameters
    ----------
    y_true : array-like of shape (n,), or Survival
        Outcomes, 0/1 or boolean; other labels need `pos_label`. Or times to an event; or classes.
        Of outcomes that were imputed m times, one row each.
    y_prob : array-like of shape (n,) or (n, k)
        Predicted probabilities of the event, in [0, 1]; or of k classes, one a column, whose rows
        sum to 1 within 1e-3.
    sample_weight : array-like of shape (n,), optional
        Counts of cases, or sampling weights.
    site : array-like of shape (n,), optional
        The site, such as the hospital, of each case.
    period : array-like of shape (n,), optional
        When each case was, such as its month: numbers, dates, texts such as "2024-03", or an
        ordered pandas Categorical; at most 60 periods.
    subgroup : data frame or mapping, optional
        Labels of each case by name, such as sex and age group.
    cluster : array-like of shape (n,), optional
        The cluster of each case, such as a patient seen several times, when cases of one cluster
        are not independent and clusters are of no interest themselves.
    stratum : array-like of shape (n,), optional
        The stratum from which the cluster of each case was drawn.
    imputation : array-like of shape (n,), optional
        The imputation that each row is of, in a table of one row a case and imputation.
    weight_type : {"counts", "sampling"}, optional
        What `sample_weight` is. A case of count 3 is three cases. Sampling weights are one over the
        probability that a case was sampled. Only their ratios matter: they are rescaled to Kish's
        effective sample size, and the result is a pseudo-posterior. By default weights are
        counts if all are whole numbers, otherwise sampling weights.
    pos_label : object, optional
        The label in `y_true` that counts as the event.
    horizon : float, optional
        Of times to an event: by when the scores are risks of it, in the units of time.
    mode : {"top-label", "class-wise"}, optional
        Of classes: the largest probability against whether that class was right, by default of
        more than two; or every class against the rest, with the classes as subgroups, `class`.
    classes : sequence of length k, optional
        Names of the columns. By default those of a data frame, if every label is one of them; else
        the categories of a pandas Categorical, in their order; else 0, 1, ..., k - 1, if every
        label is one of these; else k distinct numbers in ascending order.

    Attributes
    ----------
    score, trials, hits : ndarray of shape (rows,)
        The table. Scores are unchanged, with separate rows for 0 and 1.
    group : ndarray of shape (rows,) or None
        The group of each row: there is one for each combination of levels of site, period and
        subgroups that occurs. The 2048-row limit holds within each.

    Raises
    ------
    InputError
        If the inputs are not outcomes and probabilities of the same cases, their labels (of pandas
        or xarray) differ, or counts are not whole numbers.

    Warns
    -----
    LabelWarning
        When `pos_label` does not occur in `y_true`.
    ScoreWarning
        When scores beside times to an event look like probabilities of survival.
    WeightWarning
        When nothing says what whole-number weights are, they add up to at least twice the number
        of rows, the rows do not look like a collapsed table, and intervals would be at least twice
        as wide if they were sampling weights.

    Notes
    -----
    Tables of sampling weights can be added if their weights have the same scale. A table with
    `weight_type="counts"` cannot be added to a table of sampling weights. A table of counts
    without a stated type can; each case keeps its weight. Levels, clusters and strata of one name
    are one in the sum; those that are numbered anew in each table must be made different first.

    `roles` names what a table knows of its cases, and whatever takes a table uses it:
    `bayescal.fit` fits sites, periods or subgroups as such, takes clusters into account, and fits
    every imputation.

    Examples
    --------
    >>> import bayescal as bc
    >>> data = bc.CalibrationData([0, 1, 1, 0], [0.2, 0.8, 0.8, 0.2])
    >>> data
    CalibrationData(4 cases, 2 events, 2 rows)
    >>> (data + data).trials
    array([4., 4.])
    >>> bc.CalibrationData([0, 1], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    CalibrationData(2 cases, 1 event, 2 rows)
    """

    _contents: Contents
    _given: tuple[Sequence[CheckedCases], Any] = (), None
    """What `_known_cases` reads: cases of one imputation each, or the imputation of each case."""

    @spelt_out(LabelRoles)
    def __init__(
        self,
        y_true: ArrayLike | Survival,
        y_prob: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        *,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
        horizon: float | None = None,
        mode: ClassMode | None = None,
        classes: Sequence[Any] | NDArray[Any] | None = None,
        **roles: Unpack[LabelRoles],
    ) -> None:
        told: dict[str, Any] = {"pos_label": pos_label, "horizon": horizon}
        each, weight, own = plain_cases(
            y_true, y_prob, sample_weight, as_roles(**roles), mode=mode, classes=classes, **told
        )
        told |= {"weight_type": weight_type}
        read = [contents_of(*one, weight, own, **told) for one in each]
        table = self._new(read[0][0])
        if len(read) > 1:
            table = self.from_imputations([self._new(contents) for contents, _ in read])
        is_large = not table.rows.is_exact or table.rows.score.size > LIMIT
        if is_large and horizon is None and mode != "class-wise":
            table._given = [cases for _, cases in read], own.columns.get(IMPUTATION)
        self.__dict__.update(table.__dict__)

    @classmethod
    def _new(cls, contents: Contents) -> Self:
        """A table; of several imputations it is checked that they have the same cases."""
        table = cls.__new__(cls)
        if not contents.cases.score.size and contents.unknown is not None:
            contents = contents.unknown
        structure = contents.structure
        if structure.levels and contents.cells:
            contents = replace(contents, structure=structure.among(contents.cells))
        table._contents = contents
        if table._labels:
            cases, squares, _ = table._sums
            check_alike(table._labels, cases, kish(cases, squares) if table.is_pseudo else cases)
        return table

    @classmethod
    def _of_means(cls, score: Floats, trials: Floats, hits: Floats) -> Self:
        """The table of cases that were counted within parts of the grid; scores are their means."""
        rows = Rows.on_grid(score, trials, hits)
        return cls._new(added([Contents(NO_STRUCTURE, ((),), rows, "counts")]))

    @property
    def _labels(self) -> tuple[str, ...]:
        """The labels of the imputations."""
        return self._contents.structure.levels.get(IMPUTATION, ())

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        """Sums of the weights, of their squares and of the events, of shape (3, imputations)."""
        cases, labels = self._contents.cases, self._labels
        values = (cases.trials, cases.square_sums[0], cases.hits)
        if not labels:
            return np.stack([each.sum(keepdims=True) for each in values])
        number = {label: at for at, label in enumerate(labels)}
        of = np.array([number[cell[0]] for cell in self._contents.cells])[cases.cell]
        return np.stack([add_up(of, each, len(labels)) for each in values])

    @cached_property
    def _shown(self) -> Contents:
        """What the table shows: of several imputations, the rows of all stacked to one."""
        return stacked(self._contents) if self._labels else self._contents

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[Mapping[str, Any] | tuple[Any, ...]],
        *,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
        horizon: float | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Self:
        """Build a table from cases that come in parts, in constant memory.

        The table is the same for any split of the cases into chunks and any order: to the last bit
        if cases are counted, and but for rounding with weights that are not whole.

        Parameters
        ----------
        chunks : iterable of mapping or tuple
            Columns by the names of the constructor's arguments, with a `Survival` as `y_true` or
            `time`, `event` and `entry` in its place, in a mapping or a named tuple; or
            `(y_true, y_prob)`, `(y_true, y_prob, weight)` or `(y_true, y_prob, weight, site)`,
            where the weight may be None. All chunks have the same columns. Chunks may be empty.
        weight_type, pos_label, horizon : optional
            As in the constructor.
        progress : callable, optional
            Called after each chunk with the number of cases so far.

        Raises
        ------
        InputError
            If a value is not valid, which names the chunk, counted from 0, and the position in it;
            if chunks differ in what they hold; or if there are no cases.

        Examples
        --------
        >>> import bayescal as bc
        >>> bc.CalibrationData.from_chunks([([0, 1], [0.2, 0.8]), ([1, 0], [0.8, 0.2])])
        CalibrationData(4 cases, 2 events, 2 rows)
        """
        if not isinstance(chunks, Iterable) or getattr(chunks, "shape", None) == ():
            given = shortened(repr(chunks))
            raise InputError(f"chunks must be a list or a generator, got {given}.")
        check_callable(progress, "progress", "the number of cases")
        reader = Reader(weight_type, pos_label, horizon)
        for position, chunk in enumerate(chunks):
            reader.add(chunk, f"chunk {position}")
            if progress is not None:
                progress(reader.cases)
        return cls._new(reader.finished())

    @classmethod
    @spelt_out(LabelRoles)
    def from_counts(
        cls, prob: ArrayLike, trials: ArrayLike, hits: ArrayLike, **roles: Unpack[LabelRoles]
    ) -> Self:
        """Build a table from counts that are collapsed already.

        Parameters
        ----------
        prob : array-like of shape (rows,)
            Predicted probabilities in [0, 1]; equal ones are added up.
        trials, hits : array-like of shape (rows,)
            Cases and events at each score; whole numbers, `0 <= hits <= trials`.
        site, period, subgroup, cluster, stratum, imputation : optional
            Roles of each row, as in the constructor.

        Examples
        --------
        Sites of which only the number of patients, the events and the expected events are known,
        each read as if all its patients had the mean risk:

        >>> import bayescal as bc
        >>> n, events, expected = [5553, 1027], [232, 28], [222.0, 46.0]
        >>> bc.CalibrationData.from_counts(
        ...     [expected[0] / n[0], expected[1] / n[1]], n, events, site=["Nashef", "Biancari"]
        ... )
        CalibrationData(6,580 cases, 260 events, 2 rows, 2 groups)
        """
        return cls._new(contents_of_counts(prob, trials, hits, as_roles(**roles)))

    @classmethod
    def from_imputations(cls, tables: Sequence[Self], labels: Sequence[Any] | None = None) -> Self:
        """One table of the tables of the same cases under several imputations.

        Its rows are those of all tables, where each case counts 1/m in each; `imputations` has the
        tables themselves.

        Parameters
        ----------
        tables : sequence of CalibrationData
            One for each imputation, two at least, of the same cases and roles.
        labels : sequence, optional
            Their names; by default 1, 2, ...

        Examples
        --------
        >>> import bayescal as bc
        >>> tables = [bc.CalibrationData([0, 1], score) for score in ([0.2, 0.6], [0.3, 0.6])]
        >>> bc.CalibrationData.from_imputations(tables).trials
        array([0.5, 0.5, 1. ])
        """
        each = as_items(tables, "tables")
        if not each:
            raise InputError("tables is empty: pass one table an imputation, two at least.")
        for at, table in enumerate(each):
            check_type(table, CalibrationData, f"tables[{at}]", "Pass one table an imputation.")
            if table.complete(takes_times=True).imputations:
                raise InputError(f"tables[{at}] is of several imputations already.")
        named = range(1, len(each) + 1) if labels is None else as_items(labels, "labels")
        if len(named) != len(each):
            raise InputError(
                f"labels has {len(named)} names and tables has {len(each)} tables. Give each "
                "imputation a name, or leave labels= out."
            )
        names = [str(name) for name in named]
        parts = [within(part._contents, name) for part, name in zip(each, names, strict=True)]
        return cls._new(added(parts))

    @classmethod
    @spelt_out(ColumnRoles)
    def from_frame(
        cls,
        frame: Any,
        *,
        horizon: float | None = None,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
        ignore: Sequence[str] = (),
        **roles: Unpack[ColumnRoles],
    ) -> Self:
        """Build a table from columns of a data frame.

        Parameters
        ----------
        frame : data frame
            Of pandas, polars, pyarrow, modin, duckdb or any other library that narwhals
            understands. Of a lazy frame or a query only these columns are computed.
        outcome, prob, site, period, cluster, stratum, imputation, sample_weight : str
            Columns of outcomes, probabilities and roles, as in the constructor.
        subgroup : str or sequence of str
            Columns of subgroups, such as sex and age group.
        time, event, entry : str, optional
            In place of `outcome`, columns of times to an event, of what ended them, and of when
            each case came under observation, as in `Survival`.
        horizon, weight_type, pos_label : optional
            As in the constructor.
        ignore : sequence of str
            Columns of hospitals or dates that do not matter, of which no warning is given.

        Warns
        -----
        GroupWarning
            If a column is called site, hospital, centre, clinic, region, study, month, date or the
            like, its values repeat, and no site, period, cluster or subgroup is named.

        Examples
        --------
        >>> import bayescal as bc
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"died": [0, 1, 1, 0], "risk": [0.2, 0.8, 0.8, 0.2]})
        >>> bc.CalibrationData.from_frame(frame, outcome="died", prob="risk")
        CalibrationData(4 cases, 2 events, 2 rows)
        """
        columns = Columns.given(**roles)
        told = {"weight_type": weight_type, "pos_label": pos_label, "horizon": horizon}
        table = cls._of_frame(frame, columns, told)
        note_groups(frame, columns, ignore)
        return table

    @classmethod
    @spelt_out(ColumnRoles)
    def from_dask(
        cls,
        frame: Any,
        *,
        horizon: float | None = None,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
        **roles: Unpack[ColumnRoles],
    ) -> Self:
        """Build a table from a Dask data frame.

        Cases that are alike are counted where they lie, by whichever scheduler of Dask is active;
        no more than one row for each score and role travels. Scores that all differ are best
        rounded before, to four digits, say. It needs Dask, which the extra `dask` installs.

        Parameters
        ----------
        frame : dask.dataframe.DataFrame
        outcome, prob, site, period, cluster, stratum, imputation, sample_weight : str, optional
        subgroup : str or sequence of str
        time, event, entry : str, optional
            Columns, as in `from_frame`. Rows with sampling weights are not added up.
        horizon, weight_type, pos_label : optional
            As in the constructor.

        Examples
        --------
        >>> import bayescal as bc
        >>> table = bc.CalibrationData.from_dask(
        ...     frame, outcome="died", prob="risk"
        ... )  # doctest: +SKIP
        """
        with needed("reading Dask objects", "bayescal[dask]"):
            dask: Any = import_module("dask")
        if not hasattr(frame, "dask") or not hasattr(frame, "columns"):
            raise InputError(
                f"frame is a {type(frame).__name__}. Pass a Dask data frame; arrays of Dask become "
                "one by dask.dataframe.from_dask_array."
            )
        columns, sample_weight = Columns.given(**roles), roles.get("sample_weight")
        columns.check(list(frame.columns))
        # `dask.compute` of early versions computes columns that nothing needs, if not told before.
        rows = frame[columns.needed].optimize(fuse=False)
        keys = [name for name in columns.needed if name != sample_weight]
        alike = rows.groupby(keys, dropna=False, sort=False, observed=True)
        weights = rows[sample_weight] if sample_weight is not None else None
        try:
            if weights is None:
                (counted,) = dask.compute(alike.size())
            else:
                lazy = (alike[sample_weight].sum(), weights.min(), weights.isna().any())
                counted, least, missing, parts = dask.compute(*lazy, (weights % 1 != 0).any())
                if missing or least < 0 or parts or weight_type == "sampling":
                    counted = None
                    (rows,) = dask.compute(rows)
        except Exception as error:  # whatever the user's graph raises, or the scheduler
            raise InputError(
                f"frame cannot be computed: {type(error).__name__}: "
                f"{shortened(error, LONGEST_REASON)}. Mend it; if it needs more memory than a "
                "worker has, repartition the frame into smaller parts."
            ) from error
        told = {"weight_type": weight_type, "pos_label": pos_label, "horizon": horizon}
        if counted is None:
            return cls._of_frame(rows, columns, told)
        number = next(name for name in (f"n{k}" for k in range(len(keys) + 1)) if name not in keys)
        table = counted.rename(number).reset_index()
        told["weight_type"] = "counts"
        return cls._of_frame(table, columns._replace(sample_weight=number), told, number)

    @classmethod
    def _of_frame(
        cls, frame: Any, columns: Columns, told: dict[str, Any], number: str | None = None
    ) -> Self:
        """The table of a frame, of which one column may be of how many cases a row is."""
        try:
            return cls(**timed(columns_of(frame, columns)), **told)
        except CaseError as error:
            if number is None or error.row is None:
                raise error.changed(argument=columns.called(error.argument)) from None
            rows = int(frame[number].iloc[error.row])
            where = f"{count(rows, 'row')} of frame"
            raise InputError(error.worded(columns.called, lambda row: where)) from None

    @property
    def roles(self) -> tuple[str, ...]:
        """Names of the roles that the cases have: imputation, site, period, subgroups, cluster."""
        return (*self.levels, *self._dependence)

    @property
    def _dependence(self) -> tuple[str, ...]:
        cases = self._contents.cases
        return tuple(role for role in DEPENDENCE if getattr(cases, role) is not None)

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each role that makes groups, in order; of periods, in order of time."""
        return dict(self._contents.structure.levels)

    @property
    def subgroups(self) -> tuple[str, ...]:
        """Names of the columns of subgroups."""
        return self._contents.structure.subgroups

    @property
    def periods(self) -> Periods | None:
        """The periods in order of time, and the time between them; None without any."""
        return self._contents.structure.periods

    @property
    def cells(self) -> tuple[dict[str, str], ...]:
        """The level of each role but the imputation of each group, in the order of `groups`."""
        return tuple(map(self._shown.structure.named, self._shown.cells))

    @cached_property
    def clusters(self) -> Clusters | None:
        """The clusters of the cases, on the scale of effective cases; None without any.

        Those of several imputations are in each of `imputations`. One cluster alone is refused.
        """
        return self._clusters_by(self._shown.by_score[1])

    @cached_property
    def followed_clusters(self) -> Clusters | None:
        """The same clusters of times to an event, by the entries of `follow_up`."""
        is_timed = self._contents.horizon is not None
        return self._clusters_by(self._shown.followed[1]) if is_timed else None

    def _clusters_by(self, row: NDArray[np.intp]) -> Clusters | None:
        """The clusters by the row, or the entry, that each of the cases is in."""
        cases = self._shown.cases
        if cases.cluster is None:
            return None
        return clusters_of(cases, row, self.weight_scale, sampling=self.is_pseudo)

    @property
    def cases(self) -> tuple[Rows, NDArray[np.intp]]:
        """Cases that are alike in all that is known of them; and the row that they are in."""
        return self._shown.cases, self._shown.by_score[1]

    @property
    def follow_up(self) -> FollowUp | None:
        """How long the cases were followed, of times to an event; None of plain outcomes."""
        return None if self._contents.horizon is None else self._shown.followed[0]

    def independent(self) -> Self:
        """The table itself, refused if its cases come in clusters or strata."""
        if self._dependence and not (self.clusters is not None and self.clusters.are_single):
            raise InputError(
                f"the table has {' and '.join(self._dependence)}, and this takes cases as "
                "independent. If it is not affected by that, pass data.without('cluster')."
            )
        return self

    def with_several_clusters(self) -> Self:
        """The same cases, without clusters or strata of which there are too few to differ.

        Of a part of a table: one cluster is then no cluster, and strata are one, if one of them
        has a single cluster.
        """
        gone = too_few(self._contents.cases)
        return self.without(gone) if gone else self

    def without(self, roles: str | Sequence[str]) -> Self:
        """The same cases with some roles forgotten, and with clusters their strata.

        Parameters
        ----------
        roles : str, or sequence of str
            Of those in `roles`, but for the imputation.
        """
        named = [check_choice(role, self.roles, "roles") for role in as_items(roles, "roles")]
        if IMPUTATION in named:
            raise InputError(
                "imputation cannot be forgotten: each case is in the table once an imputation. "
                "Take one of data.imputations."
            )
        return self._new(forgotten(self._contents, named))

    @cached_property
    def imputations(self) -> tuple[Self, ...]:
        """The table of each imputation; empty where nothing was imputed.

        The rows here are those of all imputations, where each case counts 1/m in each.
        """
        each = [selected(self._contents, {IMPUTATION: label}) for label in self._labels]
        return tuple(map(self._new, each))

    @property
    def has_imputed_outcomes(self) -> bool:
        """Whether the number of events differs between imputations; `events` is then their mean."""
        events = self._sums[2]
        return not np.allclose(events, events[0], 1e-9, 0)

    @property
    def has_outcomes(self) -> bool:
        """Whether there are outcomes: a table can hold the scores of cases not yet observed."""
        return self._contents.is_observed

    def without_outcomes(self) -> Self:
        """The scores alone, as of cases not yet observed: refused where outcomes are read."""
        if not self.has_outcomes:
            return self
        return self._new(_without_hits(self._contents, is_observed=False))

    @property
    def unknown(self) -> Self | None:
        """The cases whose outcome is missing, as a table of scores alone; None without any."""
        if self._labels:
            return self.imputations[0].unknown
        contents = self._contents.unknown
        return None if contents is None else self._new(contents)

    def scores_alone(self) -> Self:
        """The scores without roles, for curves to be seen on; its outcomes stand for none."""
        if self._labels:
            raise InputError(
                f"scores is a table of {len(self._labels)} imputations. Pass the scores of "
                "one: data.imputations[0]."
            )
        table = _without_hits(self._contents, is_observed=True)
        return self._new(forgotten(table, list(table.structure.levels)))

    def complete(self, *, takes_times: bool = False) -> Self:
        """The table itself, refused if it has no outcomes, or times that this does not take."""
        if not self._contents.is_observed:
            raise InputError(
                "this table has no outcomes: it holds scores alone, of cases that were not "
                "observed. Pass outcomes with the scores, as (y_true, y_prob)."
            )
        if self._contents.horizon is not None and not takes_times:
            raise InputError(
                "this table has times to an event, and cases that left before the horizon: this is "
                "of outcomes that are known. Times are taken by bayescal.fit, compare, assess, "
                "recommend, recalibration_gain and build_model."
            )
        return self

    @cached_property
    def rows(self) -> Rows:
        """The rows of all groups, one after the other: scores, cases, events, and the group."""
        return self._shown.by_score[0]

    @property
    def score(self) -> Floats:
        """Distinct scores as given (cell means once compressed), ascending within a group."""
        return self.rows.score

    @property
    def trials(self) -> Floats:
        """Cases at each score (the sum of their weights)."""
        return self.rows.trials

    @property
    def hits(self) -> Floats:
        """Events at each score (the sum of their weights); refused where there are no outcomes."""
        return self.complete(takes_times=True).rows.hits

    @property
    def group(self) -> NDArray[np.str_] | None:
        """Group of each row, or None."""
        return np.array(self.groups)[self.rows.cell] if self.groups else None

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, in order."""
        return tuple(self._position)

    @cached_property
    def _position(self) -> dict[str, int]:
        """The position of each group, by its name."""
        structure, cells = self._shown.structure, self._shown.cells
        return {str(structure.label(cell)): at for at, cell in enumerate(cells) if cell}

    @property
    def n(self) -> float:
        """Cases in the table: the sum of the weights."""
        return float(self._sums[0].mean())

    @property
    def events(self) -> float:
        """Events in the table, if imputed their mean; refused where there are no outcomes."""
        self.complete(takes_times=True)
        return float(self._sums[2].mean())

    def _known_cases(self) -> tuple[CheckedCases, ...]:
        """The cases whose outcome is known, of each imputation, with the score of every one.

        Only a table just made from arrays has them, and only where rows on the grid keep less: they
        are neither stored nor pickled.
        """
        given, imputation = self._given
        of: list[Any] = [slice(None)]
        if imputation is not None:
            of = [np.asarray(imputation).astype(str) == one for one in self._labels]
        return tuple(cases.of(at).known() for cases in given for at in of)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the table, without the arrays it was made from and what is read off."""
        return {"_contents": self._contents}

    @property
    def is_compressed(self) -> bool:
        """Whether any rows are cells of the log-odds grid rather than exact scores."""
        return not self.rows.is_exact

    @property
    def is_single(self) -> bool:
        """Whether scores came as numbers of 32 bits, which round those near 1 to it."""
        return self._contents.is_single

    def rows_of(self, scores: Floats) -> NDArray[np.intp]:
        """Row of each case of this table, by its score, in a table without groups."""
        return row_of(self.rows, as_scores(scores, "scores"))

    def share_reaching(self, thresholds: Floats) -> Floats:
        """Share of each row's cases whose score is at least t; see `share_reaching` of rows."""
        return share_reaching(self.rows, as_floats(thresholds, "thresholds"))

    @property
    def weight_type(self) -> WeightType:
        """How the weights are read: "counts" of cases (also without weights), or "sampling"."""
        return self._contents.weight_type or "counts"

    @property
    def is_pseudo(self) -> bool:
        """Whether the weights are sampling weights rather than case counts."""
        return self.weight_type == "sampling"

    @property
    def weight_scale(self) -> float:
        """Factor that turns weights into effective cases: 1, or Kish's for sampling weights."""
        is_scaled = self.is_pseudo and not self._contents.is_effective
        return self.sampling_size / self.n if is_scaled else 1.0

    @property
    def effective_size(self) -> float:
        """Cases that the likelihood counts: Kish's effective size of sampling weights, else `n`."""
        return self.n * self.weight_scale

    def counted(self) -> dict[str, float]:
        """Numbers of cases and of events; of sampling weights, of effective cases."""
        return {"cases": self.effective_size, "events": self.events * self.weight_scale}

    @property
    def size_in_words(self) -> str:
        """How many cases and events there are; of sampling weights, what they are worth."""
        told = f"{count(self.n, 'case')}, {count(self.events, 'event')}"
        if self.is_pseudo:
            told = cases_and_events(self.n, self.events, self.effective_size)
        if self.unknown is not None:
            told += f"; {count(self.unknown.n, 'case')} without a known outcome left out"
        return told

    def of_effective_cases(self) -> Self:
        """The same table, whose sampling weights are numbers of effective cases already."""
        return self._new(replace(self._contents, is_effective=True)) if self.is_pseudo else self

    @property
    def sampling_size(self) -> float:
        """Kish's effective size of the weights, were they sampling weights."""
        return float(kish(self._sums[0].mean(), self._sums[1].mean()))

    def to_xarray(self) -> xr.Dataset:
        """The table as an xarray.Dataset with dimension `row`."""
        return to_dataset(self._contents)

    @classmethod
    def from_xarray(cls, dataset: xr.Dataset) -> Self:
        """Read back what `to_xarray` wrote; what is missing or was changed is refused."""
        return cls._new(from_dataset(dataset))

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """Write the table to a NetCDF file, which `from_netcdf` reads back to the last bit.

        It is renamed at the end, so that an interruption leaves a former file as it was.

        Parameters
        ----------
        path : str or path-like

        Examples
        --------
        >>> import bayescal as bc
        >>> table = bc.CalibrationData([0, 1], [0.2, 0.8])
        >>> table.to_netcdf("table.nc")  # doctest: +SKIP
        >>> bc.CalibrationData.from_netcdf("table.nc")  # doctest: +SKIP
        CalibrationData(2 cases, 1 events, 2 rows)
        """
        write_dataset(self.to_xarray(), path)

    @classmethod
    def from_netcdf(cls, path: str | PathLike[str]) -> Self:
        """Read a table that `to_netcdf` wrote.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        InputError
            If there is no such file, it is no table, it is damaged, or a later version wrote it.
        """
        return cls.from_xarray(read_dataset(path))

    def edges(self, edge: float | None = None) -> Edges:
        """How scores of exactly 0 and 1 are read when a curve is fitted to this table.

        They are taken as rounded: moved inside by a quarter of the distance to the nearest other
        score, and never nearer than 1e-12. With `edge` no score is read as nearer to 0 or 1.

        Parameters
        ----------
        edge : float in (0, 0.5), optional
            The least distance from 0 and 1 to use instead.
        """
        return edges_of(self.score, self.trials, edge)

    def to_arrays(self) -> tuple[Floats, Floats, Floats]:
        """Outcomes, scores and weights: how a table meets an estimator.

        There are at most two entries a row, its events and its non-events. Weights are numbers of
        cases; sampling weights add up to Kish's effective size.
        """
        outcome = np.repeat([0.0, 1.0], self.score.size)
        weight = np.concatenate([self.trials - self.hits, self.hits]) * self.weight_scale
        keep = weight > 0
        return outcome[keep], np.tile(self.score, 2)[keep], weight[keep]

    def select(self, group: str | None = None, **levels: Any) -> CalibrationData:
        """The cases of one group, or of some levels of the roles; other roles stay.

        Parameters
        ----------
        group : str, optional
            One of `groups`.
        **levels
            The level of a role, such as `site="A"` or `imputation=1`.
        """
        if (group is None) == (not levels):
            raise InputError("select takes the name of a group, or levels such as site='A'.")
        if group is not None:
            if not isinstance(group, str) or group not in self._position:
                check_choice(group, self.groups, "group")
            at = self._position[group]
            if not self._labels:
                return self._new(of_group(self._contents, at))
            levels = self._shown.structure.named(self._shown.cells[at])
        wanted = {
            role: check_choice(str(level), self.levels[role], role)
            for role, level in levels.items()
            if check_choice(role, tuple(self.levels), "role")
        }
        return self._new(selected(self._contents, wanted))

    def one_group(self, *, takes_times: bool = False) -> CalibrationData:
        """The table itself, refused if it has more than the cases of one curve, or no outcomes."""
        self.complete(takes_times=takes_times)
        if self._labels:
            raise InputError(
                f"the table holds {len(self._labels)} imputations of its cases, and this is "
                "of one. Take each of data.imputations."
            )
        if len(self.groups) > 1:
            levels = self._shown.structure.named(self._shown.cells[0])
            first = ", ".join(f"{role}={level!r}" for role, level in levels.items())
            raise InputError(
                f"the table holds {len(self.groups)} groups by {' and '.join(levels)}, and this "
                f"takes the cases of one. Pass them alone, as data.select({first}), or all cases "
                "as one group, data.pooled()."
            )
        return self

    def of_site(self, label: str) -> CalibrationData:
        """The same cases, all of one site; the table has no site, period or subgroup yet."""
        if not isinstance(label, str):
            raise InputError(f"label must be the name of a site, got {shortened(repr(label))}.")
        if self.levels:
            raise InputError(
                f"the table has {' and '.join(self.levels)}, and of_site makes a site of cases "
                "without levels. Take data.pooled() first."
            )
        return self._new(within(self._contents, label, "site"))

    def pooled(self) -> CalibrationData:
        """The same cases with site, period and subgroups forgotten."""
        return self._new(forgotten(self._contents, {*self.levels} - {IMPUTATION}))

    def __add__(self, other: object) -> CalibrationData:
        if not isinstance(other, CalibrationData):
            return NotImplemented
        tables = (self, other)
        first, second = (each.complete(takes_times=True) for each in tables)
        if first._labels != second._labels:
            raise InputError(
                "the tables have different imputations. Add those of the same imputations."
            )
        return self._new(added([first._contents, second._contents]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CalibrationData):
            return NotImplemented
        names = ("levels", "periods", "roles", "weight_type", "has_outcomes", "unknown")
        if any(getattr(self, name) != getattr(other, name) for name in names):
            return False
        one, two = self._contents, other._contents
        if one.cells != two.cells or one.horizon != two.horizon:
            return False
        known = [name for name in TOLD if getattr(one.cases, name) is not None]
        sums = ["score", "trials", *["hits"] * self.has_outcomes]
        pairs = [(getattr(one.cases, name), getattr(two.cases, name)) for name in (*known, *sums)]
        if self.is_pseudo:
            pairs += [(self.weight_scale, other.weight_scale)]
            pairs += zip(one.cases.square_sums, two.cases.square_sums, strict=True) if known else ()
        return all(
            np.shape(mine) == np.shape(theirs) and np.allclose(mine, theirs, SUMS_SAME, 0)
            for mine, theirs in pairs
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        groups = f", {len(self.groups)} groups" if self.groups else ""
        compressed = " on a log-odds grid" if self.is_compressed else ""
        weights = ""
        if self.is_pseudo:
            weights = f", sampling weights of effective size {self.effective_size:.4g}"
        events = count(self.events, "event") if self.has_outcomes else "no outcomes"
        if self.follow_up is not None:
            left, at = self.follow_up.censored, self.follow_up.horizon
            others = self.follow_up.competing
            competing = f" and {others:g} with a competing event" if others else ""
            events += f" by {at:g}{competing}, {left:g} censored before"
        if self.unknown is not None:
            events += f", {count(self.unknown.n, 'more case')} without an outcome"
        if self._labels:
            groups += f", {len(self._labels)} imputations"
        if self._dependence:
            groups += ", clusters" + " and strata" * (len(self._dependence) > 1)
        return (
            f"CalibrationData({count(self.n, 'case')}, {events}, "
            f"{self.score.size} rows{compressed}{groups}{weights})"
        )


def _without_hits(contents: Contents, *, is_observed: bool) -> Contents:
    """The scores alone, which are refused where outcomes are read unless they count as observed."""
    contents = forgotten(contents, ["cluster"])
    cases = contents.cases._replace(hits=np.zeros(contents.cases.score.size))
    return replace(contents, cases=cases, is_observed=is_observed)


def check_factors(data: CalibrationData) -> CalibrationData:
    """A table with groups by several factors, refused if one has one level, or cells are many."""
    structure = data._shown.structure
    for name, each in structure.levels.items():
        if len(each) < 2:
            raise InputError(
                f"the factor {shortened(name)!r} has one level, {shortened(each[0])!r}, so "
                "that there is nothing to compare. Leave this factor out."
            )
    if len(data.cells) > MOST_COMBINATIONS:
        counted = ", ".join(
            f"{shortened(name)} has {len(each)} levels" for name, each in structure.levels.items()
        )
        raise InputError(
            f"there are {len(data.cells):,} combinations of levels, and at most "
            f"{MOST_COMBINATIONS:,} can be fitted, in {LONGEST_FIT}: {counted}. Leave a factor "
            "out, or join levels."
        )
    return data
