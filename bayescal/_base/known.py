"""A value that is known, for a caller that asks a function for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Known"]


@dataclass(frozen=True)
class Known:
    """A function without arguments that can be pickled.

    Examples
    --------
    >>> from bayescal._base.known import Known
    >>> Known(3)()
    3
    """

    value: Any

    def __call__(self) -> Any:
        """The value."""
        return self.value
