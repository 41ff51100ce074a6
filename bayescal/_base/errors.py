"""What a caller may want to catch."""

from __future__ import annotations

__all__ = [
    "DiagnosticWarning",
    "EdgeWarning",
    "InputError",
    "SeparationError",
    "WeightWarning",
]


class InputError(ValueError):
    """Bad input: the message names the argument, what was given, where, and what to do."""


class SeparationError(InputError):
    """The outcomes are perfectly separated, so a maximum-likelihood estimate does not exist."""


class DiagnosticWarning(UserWarning):
    """A diagnostic says that a posterior should not be trusted as it stands."""


class EdgeWarning(UserWarning):
    """Every score is exactly 0 or 1, so how far from certainty they are was assumed."""


class WeightWarning(UserWarning):
    """Whole-number weights were read as counts, but can be sampling weights as well."""
