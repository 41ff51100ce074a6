"""What the reader should bear in mind, in the words of the command line."""

from __future__ import annotations

import re
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
    "pass event == 2.": "add --cause 2 --censored 1.",
    "risks of: bc.Survival(time, event, cause=1).": "risks of with --cause.",
    "bayescal.fit(..., engine='nuts')": "--curve beta --engine nuts",
    "engine='nuts'": "--engine nuts",
    "engine='auto'": "--engine auto",
    "prior='clinical'": "--prior clinical",
    "weight_type='counts'": "--weight-type counts",
    "weight_type='sampling'": "--weight-type sampling",
    "pos_label= (--positive on the command line)": "--positive",
    "with pos_label=": "with --positive",
    "event pos_label=": "event ",
    "Convert the column to numbers, and drop or impute missing values, first.": "Write only "
    "numbers in this column, and leave a cell empty where the value is missing.",
    "Of three classes or more pass the matrix of their probabilities, fit(labels, matrix), or one "
    "class against the rest, y_true == label with the column of that class.": "Make a column that "
    "is 1 for the event and 0 for all else, or name another with --outcome.",
    ", or an ordered categorical: pandas.Categorical(period, categories=[...], ordered=True)": "",
    ": period=dates.astype('datetime64[M]')": ", with --every month",
    ", such as period.dt.tz_localize(None)": "",
    "Outcomes are 0/1 or boolean; labels of several classes are taken beside the matrix of their "
    "probabilities, fit(labels, matrix).": "Make a column that is 1 for the event and 0 for all "
    "else, or name another with --outcome.",
    "with close= or --close": "with --close",
    "Leave site= out": "Leave --site out",
    "Pass two classes, one of them the event.": "Name the event with --positive, or another column "
    "with --outcome.",
}
"""How Python's arguments, as texts name them, are typed on the command line."""


def as_typed(text: str) -> str:
    """A text with its options as they are typed."""
    for argument, option in OPTIONS.items():
        text = text.replace(argument, option)
    return text


def in_options(message: str, typed: Mapping[str, Any]) -> str:
    """An error that begins with Python's name of an argument, with the option instead.

    What it holds is told of the column that the option names.

    Parameters
    ----------
    message : str
        Such as "ci_prob must lie strictly between 0 and 1".
    typed : mapping of str to object
        What was typed after each option of the subcommand, such as "--ci-prob".
    """
    match = re.match(
        r"(\w+)(?= must | was given beside | was given without | is missing:| holds )", message
    )
    if match is None:
        return message
    named = {python: option for option, python in PYTHON_NAMES.items()}.get(match[0], match[0])
    option = "--" + named.replace("_", "-")
    rest = re.sub(r"\b(without|with) horizon=", r"\1 --horizon", message[match.end() :])
    if rest.startswith(" holds ") and isinstance(column := typed.get(option), str):
        return f"column {shortened(repr(column))}{as_typed(rest)}"
    return (option if option in typed else match[0]) + rest


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
