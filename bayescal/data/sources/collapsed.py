"""Tables from chunks, counts, imputations and classes: constructors of `CalibrationData`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from bayescal.core.errors import InputError, as_items, check_type
from bayescal.data.build.chunks import ChunkReader, read_chunks
from bayescal.data.counts import as_tables
from bayescal.data.grouped import GroupedRows
from bayescal.data.multiclass import ClassMode, contents_of_classes
from bayescal.data.roles import Crossed, as_roles
from bayescal.data.weights import WeightType

__all__ = ["FromCollapsed"]


class FromCollapsed(GroupedRows):
    """Tables of cases that come in parts, or were counted already."""

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
            Columns by the names of the constructor's arguments, such as `y_true`, `y_prob`,
            `sample_weight`, `site` and `cluster`, in a mapping or a named tuple; or
            `(y_true, y_prob)`, `(y_true, y_prob, weight)` or `(y_true, y_prob, weight, site)`,
            where the weight may be None. `y_true` can be a `Survival`, and a mapping can have
            `time`, `event` and `entry` in its place. All chunks have the same columns. Chunks may
            be empty.
        weight_type : {"counts", "sampling"}, optional
            What the weights are; by default counts if all are whole numbers, else sampling weights.
        pos_label : object, optional
            The label in `y_true` that counts as the event.
        horizon : float, optional
            Of times to an event: by when the scores are risks of it.
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
        reader = ChunkReader(weight_type=weight_type, pos_label=pos_label, horizon=horizon)
        read_chunks(chunks, reader, progress)
        return cls._new(reader.finished())

    @classmethod
    def from_counts(
        cls,
        prob: ArrayLike,
        trials: ArrayLike,
        hits: ArrayLike,
        *,
        site: ArrayLike | None = None,
        period: ArrayLike | None = None,
        subgroup: Crossed | None = None,
        cluster: ArrayLike | None = None,
        stratum: ArrayLike | None = None,
        imputation: ArrayLike | None = None,
    ) -> Self:
        """Build a table from counts that are collapsed already.

        Parameters
        ----------
        prob : array-like of shape (rows,)
            Predicted probabilities in [0, 1]; equal ones are added up.
        trials, hits : array-like of shape (rows,)
            Cases and events at each score; whole numbers, `0 <= hits <= trials`.
        site, period, cluster, stratum, imputation : array-like of shape (rows,), optional
        subgroup : data frame or mapping, optional
            Roles of each row, as in the constructor.

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
        ...     [expected[0] / n[0], expected[1] / n[1]], n, events, site=["Nashef", "Biancari"]
        ... )
        CalibrationData(6,580 cases, 260 events, 2 rows, 2 groups)
        """
        roles = as_roles(
            site=site, period=period, subgroup=subgroup, cluster=cluster, stratum=stratum,
            imputation=imputation,
        )  # fmt: skip
        return cls._new(as_tables(prob, trials, hits, roles))

    @classmethod
    def from_imputations(
        cls, tables: Sequence[GroupedRows], labels: Sequence[Any] | None = None
    ) -> Self:
        """One table of the tables of the same cases under several imputations.

        Parameters
        ----------
        tables : sequence of CalibrationData
            One for each imputation, two at least.
        labels : sequence, optional
            Their names; by default 1, 2, ...

        Returns
        -------
        CalibrationData
            With the role `imputation`. Its rows are those of all tables, where each case counts
            1/m in each; `imputations` has the tables themselves.

        Raises
        ------
        InputError
            If they differ in cases or roles, or are of imputations already.

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
            check_type(table, GroupedRows, f"tables[{at}]", "Pass one table an imputation.")
            if table.complete(takes_times=True).imputations:
                raise InputError(f"tables[{at}] is of several imputations already.")
        named = range(1, len(each) + 1) if labels is None else as_items(labels, "labels")
        if len(named) != len(each):
            raise InputError(
                f"labels has {len(named)} names and tables has {len(each)} tables. Give each "
                "imputation a name, or leave labels= out."
            )
        return cls._of_imputations([str(name) for name in named], each)

    @classmethod
    def from_multiclass(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        mode: ClassMode = "top-label",
        *,
        classes: Sequence[Any] | NDArray[Any] | None = None,
        sample_weight: ArrayLike | None = None,
        weight_type: WeightType | None = None,
        site: ArrayLike | None = None,
        period: ArrayLike | None = None,
        subgroup: Crossed | None = None,
        cluster: ArrayLike | None = None,
        stratum: ArrayLike | None = None,
        imputation: ArrayLike | None = None,
    ) -> Self:
        """Reduce a multi-class classifier to binary calibration.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True classes, labels of any type: members of `classes`.
        y_proba : array-like of shape (n, k)
            Predicted class probabilities; every row sums to 1 within 1e-3.
        mode : {"top-label", "class-wise"}
            "top-label": the largest probability against whether that class was right.
            "class-wise": every class against the rest, with the classes as subgroups, `class`.
        classes : sequence of length k, optional
            Names of the columns. By default those of a data frame, if every label is one of them;
            else the categories of a pandas Categorical, in their order; else 0, 1, ..., k - 1, if
            every label is one of these; else k distinct numbers in ascending order.
        sample_weight : array-like of shape (n,), optional
            Counts of cases, or sampling weights.
        weight_type : {"counts", "sampling"}, optional
            What `sample_weight` is; by default counts if all are whole numbers.
        site, period, cluster, stratum, imputation : array-like of shape (n,), optional
        subgroup : data frame or mapping, optional
            Roles of each case, as in the constructor; for the top label.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If the rows do not sum to 1, a true class is unknown, labels are words and nothing says
            which column is which, or there are roles of a class-wise table.

        Examples
        --------
        >>> import bayescal as bc
        >>> proba = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
        >>> bc.CalibrationData.from_multiclass([0, 1], proba)
        CalibrationData(2 cases, 1 event, 2 rows)
        """
        roles = as_roles(
            site=site, period=period, subgroup=subgroup, cluster=cluster, stratum=stratum,
            imputation=imputation,
        )  # fmt: skip
        return cls._new(
            contents_of_classes(
                y_true, y_proba, mode, classes, sample_weight, roles, weight_type=weight_type
            )
        )
