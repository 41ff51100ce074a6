"""What a report calls cases, sites, risks and the event: the one place that knows its words."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from bayescal.core.errors import InputError, check_type
from bayescal.core.text import shortened

__all__ = ["Words", "words"]

# One, and several: "item", which has the plural "items", or a pair.
Noun: TypeAlias = "str | tuple[str, str]"
LONGEST_WORD = 40
# A word of a sentence: no part of a name, a path, an option or code.
APART = r"(?<![\w.=`/<&-])(?:{})(?![\w=`(/-]|\.\w)"


@dataclass(frozen=True)
class Words:
    """The words of a report, for those that it has by default, longer ones first."""

    by_standard: tuple[tuple[str, str], ...] = ()

    def of(self, text: str, keep: Collection[str] = ()) -> str:
        """A sentence in these words; the names from the data in `keep` stay as they are."""
        if not self.by_standard:
            return text
        known = dict(self.by_standard)
        kept = [re.escape(name) for name in sorted(keep, key=len, reverse=True) if name]
        standard = APART.format("|".join(re.escape(word) for word in known))
        pattern = "|".join([*(rf"(?<!\w){name}(?!\w)" for name in kept), standard])

        def other(match: re.Match[str]) -> str:
            matched = match.group()
            if matched in keep:
                return matched
            word = known.get(matched.lower())
            if word is None:
                return matched
            return word[:1].upper() + word[1:] if matched[:1].isupper() else word

        return re.sub(pattern, other, text, flags=re.IGNORECASE)


def words(
    *,
    case: str | tuple[str, str] | None = None,
    site: str | tuple[str, str] | None = None,
    event: str | tuple[str, str] | None = None,
    risk: str | tuple[str, str] | None = None,
) -> Words:
    """Words for a report in which cases are no patients: ``bc.assess(..., labels=bc.words(...))``.

    Parameters
    ----------
    case : str or (str, str), optional
        What a case, or a patient, is called, such as "item"; the second of a pair is the plural,
        which otherwise ends in s.
    site : str or (str, str), optional
        What a group, or a site, is called, such as "task".
    event : str or (str, str), optional
        What a case with the event is, such as "correct"; or, as a pair, what the event is called,
        such as ("relapse", "relapses").
    risk : str or (str, str), optional
        What a predicted risk is called, such as "confidence".

    Returns
    -------
    Words

    Raises
    ------
    InputError
        If a word is no text of at most 40 characters.

    Examples
    --------
    >>> import bayescal as bc
    >>> answers = bc.words(case="item", site="task", event="correct")
    >>> answers.of("The task has 12 cases, 9 of them with the event.")
    'The task has 12 items, 9 of them that are correct.'
    """
    pairs: dict[str, str] = {}
    for name, given, standard in (
        ("case", case, ("case", "patient")),
        ("site", site, ("group", "site")),
        ("risk", risk, ("risk",)),
    ):
        if given is not None:
            one, several = _forms(given, name)
            for word in standard:
                pairs |= {word: one, f"{word}s": several}
    if event is not None:
        if isinstance(event, str):
            told = _word(event, "event")
            pairs |= {
                "with the event": f"that are {told}",
                "without the event": f"that are not {told}",
                "the event": f"being {told}",
                "an event": f"being {told}",
                "non-events": f"not {told}",
                "non-event": f"not {told}",
                "events": told,
                "event": told,
            }
        else:
            one, several = _forms(event, "event")
            pairs |= {"event": one, "events": several}
            pairs |= {"non-event": f"non-{one}", "non-events": f"non-{several}"}
    return Words(tuple(sorted(pairs.items(), key=lambda pair: -len(pair[0]))))


def _forms(given: Noun, name: str) -> tuple[str, str]:
    """One and several."""
    if isinstance(given, str):
        return _word(given, name), f"{given}s"
    check_type(given, tuple, name, "Pass a word, or a pair of one and several.")
    if len(given) != 2:
        raise InputError(f"{name} has {len(given)} words. Pass one, or a pair of one and several.")
    return _word(given[0], name), _word(given[1], name)


def _word(given: object, name: str) -> str:
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST_WORD:
        raise InputError(
            f"{name} must be a word of at most {LONGEST_WORD} characters, got "
            f"{shortened(repr(given))}."
        )
    return given
