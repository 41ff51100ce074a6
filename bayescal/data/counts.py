"""Cases and events that were counted already."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import CaseError
from bayescal.core.text import exact
from bayescal.data.build.builder import TableBuilder, sum_rows
from bayescal.data.build.cases import CheckedCases
from bayescal.data.contents import Contents, in_groups
from bayescal.data.members import ClusterReader
from bayescal.data.roles import RoleReader, Roles
from bayescal.data.table import Rows, Tables
from bayescal.data.validate import as_floats, as_scores, as_vector, as_weights, check_same_length

__all__ = ["as_rows", "as_tables"]


def as_rows(score: Any, trials: Any, hits: Any) -> Rows:
    """Rows from counts; repeated scores are added up.

    Parameters
    ----------
    score, trials, hits : array-like of shape (rows,)
    """
    scores = as_scores(score, "prob")
    cases = as_vector(trials, "trials")
    check_same_length(scores.size, "prob", cases.size, "trials")
    counts = as_weights(cases, scores.size, "trials")
    assert counts is not None
    events = _as_counts(hits, scores.size, "hits")
    for name, values in (("trials", counts), ("hits", events)):
        if (values % 1 != 0).any():
            at = int(np.flatnonzero(values % 1)[0])
            given = exact(values[at])
            raise CaseError(name, "is not a whole number of cases", row=at, value=given)
    if (events > counts).any():
        at = int(np.flatnonzero(events > counts)[0])
        raise CaseError(
            "hits",
            f"exceeds trials[{at}] = {exact(counts[at])}",
            row=at,
            value=exact(events[at]),
            more=": there cannot be more events than cases",
        )
    keep = counts > 0
    return sum_rows([Rows(scores[keep] + 0.0, counts[keep], events[keep])])


def _as_counts(values: Any, size: int, name: str) -> Floats:
    counts = as_floats(values, name)
    check_same_length(size, "prob", counts.size, name)
    wrong = ~np.isfinite(counts) | (counts < 0)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise CaseError(name, "is not a non-negative count", row=at, value=exact(counts[at]))
    return counts


def as_tables(score: Any, trials: Any, hits: Any, roles: Roles) -> Contents:
    """Rows of each group from counts, and what the groups are.

    Parameters
    ----------
    score, trials, hits : array-like of shape (rows,)
    roles : Roles
        Columns by row.
    """
    (score, trials, hits), roles = roles.aligned(prob=score, trials=trials, hits=hits)
    together = as_rows(score, trials, hits)  # so that a fault is named by its row of all
    columns = [np.asarray(as_vector(values, "prob"), float) for values in (score, trials, hits)]
    reader, builder = RoleReader(), TableBuilder()
    codes = reader.codes(roles, columns[0].size)
    if codes is None:
        tables: Tables = {None: together}
    else:
        for code in np.unique(codes):
            rows = as_rows(*(column[codes == code] for column in columns))
            builder.add_tables([(int(code), rows)])
        tables = in_groups(builder, reader.groups)
    members = None
    if "cluster" in roles.columns:
        clusters = ClusterReader()
        for outcome, weight in ((1.0, columns[2]), (0.0, columns[1] - columns[2])):
            cases = CheckedCases(np.full(weight.size, outcome), columns[0] + 0.0, weight)
            clusters.add(roles, cases, codes)
        groups = None if codes is None else reader.groups
        members = clusters.members(tables, groups, complete=True)
    return Contents(tables, "counts", reader.structure(), members)
