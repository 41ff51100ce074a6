"""Table of times to an event: what was seen of the cases by the horizon, by fifth of the score."""

from __future__ import annotations

from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import censoring_by_fifth
from bayescal.assessment.tables.columns import counts
from bayescal.assessment.tables.table import Row, Table

__all__ = ["followed_table"]


def followed_table(f: Findings) -> Table:
    """Cases with the event, those that left before the horizon, and those followed to it."""
    data = f.posterior.data
    assert data.follow_up is not None
    at = f"{data.follow_up.horizon:g}"
    rows = []
    for _, row in censoring_by_fifth(data).iterrows():
        name = f"{row['lowest']:.2g} to {row['highest']:.2g}"
        rows.append(Row(name, name, row.to_dict()))
    return Table(
        "followed",
        f"What was seen by {at}, by fifth of the predicted risk",
        "Predicted risk",
        (
            counts("cases", "Cases"),
            counts("events", f"Events by {at}"),
            counts("censored", "Left before"),
            counts("at_risk", f"Followed to {at}"),
        ),
        rows,
    )
