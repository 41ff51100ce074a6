"""Scores that seem to be those of the opposite outcome, before an update of them is advised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.cli._terminal import note

if TYPE_CHECKING:
    from rich.console import Console

    from bayescal.data.table import CalibrationData

__all__ = ["note_if_reversed", "seem_reversed"]

STANDARD_ERRORS = 1.96


def seem_reversed(data: CalibrationData) -> bool:
    """Whether cases with the event have clearly lower scores: the C-statistic is below 0.5.

    By the interval of DeLong, of cases that are independent. Of others and of times to an event it
    is not told here.
    """
    from bayescal.assessment.performance import with_ranks
    from bayescal.planning.closed_forms import c_statistic_error
    from bayescal.scores import c_statistic

    if data.follow_up is not None or "cluster" in data.roles:
        return False
    pooled = data.pooled()
    ranked = with_ranks(next(iter(pooled.imputations), pooled))
    if ranked.is_compressed or not 0 < ranked.events < ranked.n:
        return False
    (error,) = c_statistic_error(ranked.trials[None], ranked.hits[None])
    return bool(c_statistic(ranked) + STANDARD_ERRORS * error < 0.5)


def note_if_reversed(console: Console, data: CalibrationData) -> None:
    """Say that an update would only hide that scores are those of the opposite outcome."""
    if seem_reversed(data):
        note(
            console,
            "the scores seem to be reversed: cases with the event have lower scores than cases "
            "without it. Check that the score is the probability of the event, and not of its "
            "opposite, before you use an update: it would only hide that.",
        )
