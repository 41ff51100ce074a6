"""What ended the time of each case: the event, another event, or that the case left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.text import count, shortened
from bayescal.data.columns import PYTHON, Door

if TYPE_CHECKING:
    from bayescal.data.times import Survival

__all__ = ["Ends"]

MOST_SHOWN = 8
"""Codes or words that a message names."""
EVENT, LEFT = "1", "0"
"""What they are written as, if nothing else is said."""


class Ends(NamedTuple):
    """A column of what ended each time.

    Attributes
    ----------
    column : str
        Its name.
    codes : ndarray of shape (n,)
        0 the case left; else a number for each kind of event.
    cause : int or None
        The code of the event; None where none was named, so that it is 1.
    event, left : str
        What the file has for them.
    """

    column: str
    codes: NDArray[Any]
    cause: int | None
    event: str = EVENT
    left: str = LEFT

    @classmethod
    def of(
        cls,
        column: str,
        values: NDArray[Any],
        event: str | None,
        left: str | None,
        door: Door = PYTHON,
    ) -> Ends:
        """Read numbers or words.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Nothing is missing.
        event, left : str or None
            What they are written as, where it was said.
        """
        import pandas as pd

        row, distinct = pd.factorize(values)
        texts = [_as_text(value) for value in distinct.tolist()]
        words = sorted({*texts})

        def check(wanted: str, argument: str) -> None:
            if wanted not in words:
                raise InputError(
                    f"{door.option(argument, wanted)}: no case has this in the column {column!r} "
                    f"of {door.option('event')}, which holds {_listed(words)}. Name one of these, "
                    "or another column."
                )

        if values.dtype.kind == "f" and left is None:
            if event is not None:
                check(event, "cause")
                if not event.isdecimal():
                    raise InputError(
                        f"{door.option('cause', event)}: codes of events are whole numbers from 1. "
                        f"Write them into the column {column!r}."
                    )
            return cls(column, values, int(event) if event else None, event or EVENT)
        if values.dtype.kind == "f":
            event = event or EVENT
        elif event is None or left is None:
            if event is not None and event in words and len(words) == 2:
                left = next(word for word in words if word != event)
            else:
                if event is not None:
                    check(event, "cause")
                raise InputError(_question(column, words, event, door))
        assert left is not None
        check(event, "cause")
        check(left, "censored")
        if event == left:
            raise InputError(
                f"{door.option('cause')} and {door.option('censored')} are both {event!r}. Name "
                "one for each."
            )
        others = [word for word in words if word not in (event, left)]
        code = {left: 0.0, event: 1.0} | {text: 2.0 + k for k, text in enumerate(others)}
        return cls(column, np.array([code[text] for text in texts])[row], 1, event, left)

    def in_words(self, outcome: Survival, *, is_told: bool, door: Door = PYTHON) -> str:
        """What the codes mean.

        Parameters
        ----------
        is_told : bool
            Whether it was named which is the event.
        """
        cure = f" If the event has another code, name it with {door.option('cause')}."
        return (
            f"{shortened(self.column)} says what ended each time: {shortened(self.event)} is the "
            f"event ({count(int(outcome.event.sum()), 'case')}), {shortened(self.left)} a case "
            "that left, and anything else a competing event, after which the event cannot come "
            f"({int(outcome.other.sum()):,}).{'' if is_told else cure}"
        )


def _question(column: str, words: list[str], event: str | None, door: Door) -> str:
    """What is to be said of words; of two, one says which the other is."""
    holds = f"column {column!r} of {door.option('event')} holds {_listed(words)}"
    if event is None:
        more = f", and which a case that left: {door.option('censored', words[0])}"
        return (
            f"{holds}. Say which of these is the event, such as {door.option('cause', words[-1])}"
            f"{more * (len(words) != 2)}."
        )
    rest = [word for word in words if word != event]
    if rest:
        return (
            f"{holds}. Say which of these is a case that left, such as "
            f"{door.option('censored', rest[0])}: the others are competing events."
        )
    return (
        f"{holds} alone, so that it is not known how a case that left would be written. Name it "
        f"with {door.option('censored')}."
    )


def _as_text(value: object) -> str:
    return value.strip() if isinstance(value, str) else f"{value:.15g}"


def _listed(words: list[str]) -> str:
    shown = ", ".join(map(shortened, words[:MOST_SHOWN]))
    return shown + ", ..." * (len(words) > MOST_SHOWN)
