"""Tables from data frames, of Dask too: constructors of `CalibrationData`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Self

from bayescal.core.errors import CaseError, GroupWarning, InputError, as_items, check_type
from bayescal.core.text import count, shortened
from bayescal.core.versions import needed
from bayescal.data.columns import Columns
from bayescal.data.contents import Contents, Reader
from bayescal.data.frames import columns_of, groups_unnamed
from bayescal.data.guesses import may_be_sites
from bayescal.data.weights import WeightType

__all__ = ["FromSources", "note_groups"]

LONGEST_REASON = 300
"""Characters of another library's error that are shown."""


class FromSources:
    """Tables that are read from data frames."""

    @classmethod
    def _new(cls, contents: Contents) -> Self:
        """A table with these contents."""
        raise NotImplementedError

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        outcome: str | None = None,
        prob: str,
        site: str | None = None,
        period: str | None = None,
        subgroup: str | Sequence[str] = (),
        cluster: str | None = None,
        stratum: str | None = None,
        imputation: str | None = None,
        sample_weight: str | None = None,
        time: str | None = None,
        event: str | None = None,
        entry: str | None = None,
        horizon: float | None = None,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
        ignore: Sequence[str] = (),
    ) -> Self:
        """Build a table from columns of a data frame.

        Parameters
        ----------
        frame : data frame
            Of pandas, polars, pyarrow, modin, duckdb or any other library that narwhals
            understands. Of a lazy frame or a query only these columns are computed.
        outcome : str
            Column of outcomes, 0/1 or boolean; other labels need `pos_label`. Needed, but for times
            to an event.
        prob : str
            Column of predicted probabilities of the event, in [0, 1].
        site, period, cluster, stratum, imputation : str, optional
            Columns of these roles, as in the constructor.
        subgroup : str or sequence of str
            Columns of subgroups, such as sex and age group.
        sample_weight : str, optional
            Column of counts of cases, or of sampling weights.
        time, event : str, optional
            In place of `outcome`, columns of times to an event and of whether it ended them, as in
            `Survival`.
        entry : str, optional
            Column of when each case came under observation, as in `Survival`.
        horizon : float, optional
            Of times to an event: by when the scores are risks of it.
        weight_type : {"counts", "sampling"}, optional
            What the weights are; by default counts if all are whole numbers.
        pos_label : object, optional
            The outcome that counts as the event.
        ignore : sequence of str
            Columns of hospitals or dates that do not matter, of which no warning is given.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If it is no data frame, a column is missing, or a value in one is missing or not valid.

        Warns
        -----
        GroupWarning
            If a column is called site, hospital, centre, clinic, region, study, month, date or the
            like, its values repeat, and no site, period, cluster or subgroup is named.
        WeightWarning
            As the constructor, when weights can be either type.

        Examples
        --------
        >>> import bayescal as bc
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"died": [0, 1, 1, 0], "risk": [0.2, 0.8, 0.8, 0.2]})
        >>> bc.CalibrationData.from_frame(frame, outcome="died", prob="risk")
        CalibrationData(4 cases, 2 events, 2 rows)
        """
        columns = Columns(
            *(outcome, prob, sample_weight, site, period, cluster, stratum, imputation),
            *(tuple(as_items(subgroup, "subgroup")), time, event, entry),
        )
        ignored = tuple(as_items(ignore, "ignore"))
        for at, name in enumerate(ignored):
            cure = "Pass the names of columns, such as ['hospital']."
            check_type(name, str, f"ignore[{at}]", cure)
        told = {"weight_type": weight_type, "pos_label": pos_label, "horizon": horizon}
        table = cls._of_frame(frame, columns, told)
        note_groups(groups_unnamed(frame, columns, ignored))
        return table

    @classmethod
    def from_dask(
        cls,
        frame: Any,
        *,
        outcome: str | None = None,
        prob: str,
        site: str | None = None,
        period: str | None = None,
        subgroup: str | Sequence[str] = (),
        cluster: str | None = None,
        stratum: str | None = None,
        imputation: str | None = None,
        sample_weight: str | None = None,
        time: str | None = None,
        event: str | None = None,
        entry: str | None = None,
        horizon: float | None = None,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
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
        horizon, weight_type, pos_label
            As in `from_frame`.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If it is no Dask data frame, it cannot be computed, a column is missing, or a value is
            missing or not valid.

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
        columns = Columns(
            *(outcome, prob, sample_weight, site, period, cluster, stratum, imputation),
            *(tuple(as_items(subgroup, "subgroup")), time, event, entry),
        )
        columns.check(list(frame.columns), "frame")
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
        reader = Reader(**told)
        try:
            reader.add(columns_of(frame, columns), "frame")
        except CaseError as error:
            if number is None or error.row is None:
                raise error.changed(argument=columns.called(error.argument)) from None
            rows = int(frame[number].iloc[error.row])
            where = f"{count(rows, 'row')} of frame"
            raise InputError(error.worded(columns.called, lambda row: where)) from None
        return cls._new(reader.finished())


def note_groups(names: Sequence[str]) -> None:
    """Warn of columns of hospitals or dates of which nothing is said."""
    for name in names:
        role = "site" if may_be_sites(name) else "period"
        warnings.warn(
            f"column {shortened(repr(name))} may tell groups apart. If calibration may differ "
            f"between them, or rows of one are alike, say so: {role}={name!r} or "
            f"cluster={name!r}; ignore=[{name!r}] if it does not matter.",
            GroupWarning,
            stacklevel=3,
        )
