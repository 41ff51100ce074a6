"""That a few groups say little of one that has not been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.cli._terminal import note

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["note_if_few"]


def note_if_few(console: Console, post: object) -> None:
    """Say on what the interval of a new group rests, if the fit is of fewer than five groups."""
    if getattr(post, "is_of_few", False):
        note(
            console,
            "with fewer than 5 groups the data say little of a new one: its interval rests mostly "
            "on what is assumed before the data of how much groups differ.",
        )
