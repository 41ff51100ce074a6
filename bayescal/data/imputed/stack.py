"""Tables of the same cases under several imputations, stacked to one of as many cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add

from bayescal.data.data import CalibrationData

__all__ = ["stacked"]


def stacked(tables: Sequence[CalibrationData]) -> CalibrationData:
    """All rows of several tables of the same cases, each case counted once in all.

    Of m tables every case counts 1/m in each, so that cases and events are those of one table.
    For what is shown of the data, not for a fit: it knows nothing of the spread between tables.

    Parameters
    ----------
    tables : sequence of CalibrationData
        Of one group each.

    Returns
    -------
    CalibrationData

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.data.imputed.stack import stacked
    >>> tables = [bc.CalibrationData([0, 1], [0.2, 0.6]), bc.CalibrationData([0, 1], [0.3, 0.6])]
    >>> stacked(tables).trials
    array([0.5, 0.5, 1. ])
    """
    m = len(tables)
    total = reduce(add, (table.pooled() for table in tables))
    (rows,) = total._tables.values()
    shared = replace(
        rows,
        trials=rows.trials / m,
        hits=rows.hits / m,
        position=None if rows.position is None else rows.position / m,
        terms=None,
        squares=(rows.square_sum / m,),
    )
    return CalibrationData._new({None: shared}, tables[0].weight_type)
