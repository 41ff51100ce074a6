"""What the reader should bear in mind, in the words of the command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from bayescal.cli._options import PYTHON_NAMES
from bayescal.core.errors import (
    DiagnosticWarning,
    EdgeWarning,
    ImputationWarning,
    RepeatWarning,
    ScoreWarning,
    SpellingWarning,
)
from bayescal.core.text import shortened

__all__ = ["as_typed", "in_options", "noted"]

NOTED = (
    DiagnosticWarning,
    EdgeWarning,
    ImputationWarning,
    RepeatWarning,
    ScoreWarning,
    SpellingWarning,
)
"""Warnings of the package that are shown as notes."""

OPTIONS = {
    "edge=": "--edge",
    "If they are, pass 1 - y_prob.": "Read them with --survival if they are, and without it if "
    "they are risks.",
    "bayescal.fit(..., engine='nuts')": "--curve beta --engine nuts",
    "engine='nuts'": "--engine nuts",
    "engine='auto'": "--engine auto",
    "prior='clinical'": "--prior clinical",
    "weight_type='counts'": "--weight-type counts",
    "weight_type='sampling'": "--weight-type sampling",
    "with close= or --close": "with --close",
    "horizon=": "--horizon",
    "Leave site= out": "Leave --site out",
}
"""How Python's arguments, as notes name them, are typed on the command line."""


def as_typed(text: str) -> str:
    """A note with its options as they are typed."""
    for argument, option in OPTIONS.items():
        text = text.replace(argument, option)
    return text


def in_options(message: str, typed: Mapping[str, Any]) -> str:
    """An error that begins with Python's name of an argument, with the option that was typed.

    What it holds is told of the column that the option names.

    Parameters
    ----------
    message : str
        Such as "ci_prob must lie strictly between 0 and 1".
    typed : mapping of str to object
        What was typed after each option of the subcommand, such as "--ci-prob".
    """
    argument, _, rest = message.partition(" ")
    named = {python: option for option, python in PYTHON_NAMES.items()}.get(argument, argument)
    option = f"--{named.replace('_', '-')}"
    if option not in typed or not argument.isidentifier():
        return message
    if rest.startswith("holds ") and isinstance(column := typed[option], str):
        return f"column {shortened(repr(column))} {as_typed(rest)}"
    return f"{option} {as_typed(rest)}"


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
            if not issubclass(category, NOTED):
                elsewhere(message, category, filename, lineno, file, line)
                return
            remark(as_typed(str(message)))

        for category in NOTED:
            warnings.simplefilter("always", category)
        # Advice on how to install PyTensor, of no use to whoever is reading a table.
        warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS", UserWarning)
        warnings.showwarning = show
        yield
