"""What the reader should bear in mind, in the words of the command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from bayescal._base.errors import DiagnosticWarning, EdgeWarning

__all__ = ["as_typed", "noted"]

OPTIONS = {
    "edge=": "--edge",
    "bayescal.fit(..., engine='nuts')": "--curve beta --engine nuts",
    "engine='nuts'": "--engine nuts",
    "engine='auto'": "--engine auto",
    "prior='clinical'": "--prior clinical",
    "weight_type='sampling'": "--weight-type sampling",
}
"""How Python's arguments, as texts name them, are typed on the command line."""


def as_typed(text: str) -> str:
    """A text with its options as they are typed."""
    for argument, option in OPTIONS.items():
        text = text.replace(argument, option)
    return text


@contextmanager
def noted(remark: Callable[[str], None]) -> Iterator[None]:
    """Hand over the package's warnings as they arise; leave all others alone."""
    with warnings.catch_warnings():
        elsewhere = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, (DiagnosticWarning, EdgeWarning)):
                elsewhere(message, category, filename, lineno, file, line)
                return
            remark(as_typed(str(message)))

        warnings.simplefilter("always", DiagnosticWarning)
        warnings.simplefilter("always", EdgeWarning)
        # Advice on how to install PyTensor, of no use to whoever is reading a table.
        warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS", UserWarning)
        warnings.showwarning = show
        yield
