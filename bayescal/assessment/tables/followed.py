"""Table of times to an event: what was seen of the cases by the horizon, by fifth of the score."""

from __future__ import annotations

from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import censoring_by_fifth, quarters, risks_words
from bayescal.assessment.tables.columns import counts
from bayescal.core.table import NOT_TERMINAL, Row, Table

__all__ = ["followed_table"]


def followed_table(f: Findings) -> Table:
    """Cases with the event, those that left before the horizon, and those at risk on the way."""
    data = f.posterior.data
    assert data.follow_up is not None
    horizon, competing = data.follow_up.horizon, data.follow_up.competing
    at = f"{horizon:g}"
    rows = []
    for _, row in censoring_by_fifth(data).iterrows():
        name = risks_words(row["lowest"], row["highest"])
        rows.append(Row(name, name, row.to_dict()))
    return Table(
        "followed",
        f"What was seen by {at}, by fifth of the predicted risk",
        "Predicted risk",
        (
            counts("cases", "Cases"),
            counts("events", f"Events by {at}", short="Events"),
            *[counts("competing", "Competing events", short="Competing")] * (competing > 0),
            counts("censored", "Left before", short="Left"),
            *(
                counts(f"at_risk_{n}", f"At risk at {time:.3g}", media=NOT_TERMINAL)
                for n, time in enumerate(quarters(horizon), 1)
            ),
            counts("at_risk", f"Followed to {at}", short="Followed"),
        ),
        rows,
    )
