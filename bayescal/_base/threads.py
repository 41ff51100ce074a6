"""Linear algebra in one thread: the products of this package are small, and threads only cost."""

from __future__ import annotations

from contextlib import ContextDecorator
from functools import cached_property
from threading import Lock
from typing import Any

__all__ = ["one_blas_thread"]


class OneBlasThread(ContextDecorator):
    """While inside, linear algebra runs in one thread; afterwards in as many as before.

    Callers may be inside one another or in threads of their own: the last one that leaves brings
    the former setting back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = self._libraries.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()

    @cached_property
    def _libraries(self) -> Any:
        """Those that NumPy and SciPy have loaded, as every engine did when it was imported."""
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController()


# On two cores an assessment takes .16 s of the processor in one thread and .42 s in two, and .16
# and .21 s of the clock; a recommendation .41 and 1.06 s, and .41 and .54 s.
one_blas_thread = OneBlasThread()
