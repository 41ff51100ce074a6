"""What a caller may want to catch."""

from __future__ import annotations

from bayescal.core.errors import (
    DiagnosticWarning,
    EdgeWarning,
    GroupWarning,
    GuessWarning,
    ImputationWarning,
    InputError,
    LabelWarning,
    OutOfTimeError,
    RepeatWarning,
    ScoreWarning,
    SeparationError,
    SpellingWarning,
    WeightWarning,
)

__all__ = [
    "DiagnosticWarning",
    "EdgeWarning",
    "GroupWarning",
    "GuessWarning",
    "ImputationWarning",
    "InputError",
    "LabelWarning",
    "OutOfTimeError",
    "RepeatWarning",
    "ScoreWarning",
    "SeparationError",
    "SpellingWarning",
    "WeightWarning",
]


def __dir__() -> list[str]:
    """Public names only."""
    return __all__
