"""Sentences that stand on the page alone."""

from __future__ import annotations

from typing import Any

from bayescal._base.text import decimals, percent
from bayescal.assessment.findings import Findings
from bayescal.assessment.performance import close_enough
from bayescal.assessment.words import beside_limit

__all__ = ["limit_reason", "meaning"]


def meaning(f: Findings) -> str:
    """What the error is for a reader who is no statistician, and how it compares to the limit."""
    middle, low, high = _points(f.table.loc["tce"])
    limit = f"{100 * f.close:.3g}"
    limit += " point" if limit == "1" else " points"
    return (
        f"On average, a prediction is off by {middle} percentage "
        f"{'point' if middle == '1' else 'points'} ({percent(f.ci_prob)} "
        f"credible interval {low} to {high}). "
        f"{beside_limit(f, f'the limit of {limit}', 'The error')}"
    )


def limit_reason(f: Findings) -> str:
    """What the limit is, where it comes from, and how to change it."""
    if f.close == close_enough(f.posterior.data):
        why = (
            "the default: 3 percentage points, or a quarter of the mean prediction (or of one "
            "minus it) if that is smaller"
        )
    else:
        why = "the limit that was set for this assessment"
    return (
        f"Close enough means a true calibration error below {f.close:g}, {why}. The default is "
        "only a convention: choose the largest error that would change no decision, before you "
        "look at the data. Set it with close= or --close."
    )


def _points(row: Any) -> list[str]:
    """Estimate, lower and upper end of a row in percentage points."""
    places = max(decimals(row["lower"], row["upper"]) - 2, 0)
    return [f"{100 * row[part]:.{places}f}" for part in ("estimate", "lower", "upper")]
