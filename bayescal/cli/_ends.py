"""What ended the time of each case: the event, another event, or that the case left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.text import count, shortened

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
    def of(cls, column: str, values: NDArray[Any], event: str | None, left: str | None) -> Ends:
        """Read numbers or words.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Nothing is missing.
        event, left : str or None
            As typed behind `--cause` and `--censored`.
        """
        texts = np.array([_as_text(value) for value in values.tolist()], dtype=object)
        if values.dtype.kind == "f":
            if left is None:
                return cls(column, values, _code_of(column, texts, event), event or EVENT)
            event = event or EVENT
        else:
            event, left = _words_of(column, texts, event, left)
        _check(column, texts, event, "--cause")
        _check(column, texts, left, "--censored")
        if event == left:
            raise InputError(f"--cause and --censored are both {event!r}. Name one for each.")
        others = sorted(set(texts.tolist()) - {event, left})
        code = {left: 0.0, event: 1.0} | {text: 2.0 + k for k, text in enumerate(others)}
        return cls(column, np.array([code[text] for text in texts.tolist()]), 1, event, left)

    def in_words(self, outcome: Survival, *, is_told: bool) -> str:
        """What the codes mean.

        Parameters
        ----------
        is_told : bool
            Whether it was named which is the event.
        """
        cure = "" if is_told else " If the event has another code, name it with --cause."
        return (
            f"{shortened(self.column)} says what ended each time: {shortened(self.event)} is the "
            f"event ({count(int(outcome.event.sum()), 'case')}), {shortened(self.left)} a case "
            "that left, and anything else a competing event, after which the event cannot come "
            f"({int(outcome.other.sum()):,}).{cure}"
        )


def _as_text(value: object) -> str:
    return value.strip() if isinstance(value, str) else f"{value:.15g}"


def _code_of(column: str, texts: NDArray[Any], event: str | None) -> int | None:
    """The code of the event among numbers, where 0 is a case that left."""
    if event is None:
        return None
    _check(column, texts, event, "--cause")
    if not event.isdecimal():
        raise InputError(
            f"--cause {event}: codes of events are whole numbers from 1. Write them into the "
            f"column {column!r}."
        )
    return int(event)


def _words_of(
    column: str, texts: NDArray[Any], event: str | None, left: str | None
) -> tuple[str, str]:
    """The words of the event and of cases that left; of two words, one says which the other is."""
    words = sorted(set(texts.tolist()))
    holds = f"column {column!r} of --event holds {_listed(words)}"
    if event is None:
        raise InputError(
            f"{holds}. Say which of these is the event, such as --cause {words[-1]!r}"
            f"{'' if len(words) == 2 else f', and which a case that left: --censored {words[0]!r}'}"
            "."
        )
    if left is not None:
        return event, left
    rest = [word for word in words if word != event]
    if len(words) == 2 and len(rest) == 1:
        return event, rest[0]
    _check(column, texts, event, "--cause")
    raise InputError(
        f"{holds}. Say which of these is a case that left, such as --censored {rest[0]!r}: the "
        "others are competing events."
        if rest
        else f"{holds} alone, so that it is not known how a case that left would be written. Name "
        "it with --censored."
    )


def _check(column: str, texts: NDArray[Any], wanted: str, option: str) -> None:
    """Refuse what no case has."""
    if (texts == wanted).any():
        return
    raise InputError(
        f"{option} {wanted}: no case has this in the column {column!r} of --event, which holds "
        f"{_listed(sorted(set(texts.tolist())))}. Name one of these, or another column."
    )


def _listed(words: list[str]) -> str:
    shown = ", ".join(map(shortened, words[:MOST_SHOWN]))
    return shown + ", ..." * (len(words) > MOST_SHOWN)
