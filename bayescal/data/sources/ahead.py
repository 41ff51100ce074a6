"""Reading ahead: the next part is read while one is worked on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["ahead"]

Part = TypeVar("Part")


def ahead(parts: Iterable[Part]) -> Iterator[Part]:
    """The same parts in the same order, each read by another thread before it is asked for.

    Parameters
    ----------
    parts : iterable
        Of anything but None.

    Examples
    --------
    >>> from bayescal.data.sources.ahead import ahead
    >>> list(ahead(range(3)))
    [0, 1, 2]
    """
    from concurrent.futures import ThreadPoolExecutor

    source = iter(parts)
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, source, None)
        while (part := following.result()) is not None:
            following = reader.submit(next, source, None)
            yield part
