"""Cases and events that were counted already."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal.core.errors import CaseError
from bayescal.core.text import exact
from bayescal.data.cases import (
    as_floats,
    as_scores,
    as_vector,
    as_weights,
    check_same_length,
    refuse_first,
)
from bayescal.data.clusters import read_clusters
from bayescal.data.contents import Contents, added
from bayescal.data.roles import Roles, read_groups
from bayescal.data.rows import Rows, add_up

__all__ = ["contents_of_counts"]


def contents_of_counts(prob: Any, trials: Any, hits: Any, roles: Roles) -> Contents:
    """What the table of counts holds; repeated scores are added up.

    Parameters
    ----------
    prob, trials, hits : array-like of shape (rows,)
    roles : Roles
        Columns by row.
    """
    (prob, trials, hits), roles = roles.aligned(prob=prob, trials=trials, hits=hits)
    score, cases = as_scores(prob, "prob"), as_vector(trials, "trials")
    check_same_length(score.size, "prob", cases.size, "trials")
    counts, events = as_weights(cases, score.size, "trials"), as_floats(hits, "hits")
    assert counts is not None
    check_same_length(score.size, "prob", events.size, "hits")
    wrong = ~np.isfinite(events) | (events < 0)
    refuse_first(wrong, events, "hits", "is not a non-negative count", "", alone=True)
    for name, values in (("trials", counts), ("hits", events)):
        problem = "is not a whole number of cases"
        refuse_first(values % 1 != 0, values, name, problem, "", alone=True)
    if (events > counts).any():
        at = int(np.flatnonzero(events > counts)[0])
        raise CaseError(
            "hits",
            f"exceeds trials[{at}] = {exact(counts[at])}",
            row=at,
            value=exact(events[at]),
            more=": there cannot be more events than cases",
        )
    groups, members = read_groups(roles, score.size), None
    if "cluster" in roles.columns:
        members = read_clusters(roles, counts, events, complete=True)
        members = members._replace(sums=members.sums[[0, 1, 0, 1]])  # each case counts once
    rows = Rows.exact(score, counts, events, groups.code)
    squares = add_up(groups.code, counts, len(groups.cells))
    return added([Contents(groups.structure, groups.cells, rows, squares, "counts", members)])
