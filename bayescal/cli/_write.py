"""Files the command line leaves behind, written in full or not at all."""

from __future__ import annotations

import csv
import errno
import json
import math
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescal.cli._terminal import STDOUT
from bayescal.core.errors import InputError
from bayescal.core.files import check_page, replacing

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from bayescal.assessment import Assessment
    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = [
    "check_csv",
    "check_targets",
    "numbers_of",
    "record_text",
    "save_figure",
    "source_lines",
    "write_figure",
    "write_record",
    "write_report",
    "write_table",
    "write_word_report",
]

LOOP_ON_WINDOWS = 1921
"""The error of Windows for a link that leads to itself."""


BINARY = (".gz", ".ods", ".parquet", ".pq", ".xls", ".xlsb", ".xlsm", ".xlsx")
"""Ends of names that promise what is not written; also of text that is packed."""


def check_targets(
    plot: Path | None,
    *others: Path | None,
    page: Path | None = None,
    word: Path | None = None,
    inputs: Sequence[Path | None] = (),
) -> None:
    """Refuse, before anything is computed, outputs that cannot be written or replace a file in use.

    Parameters
    ----------
    plot : Path or None
        The figure.
    *others : Path or None
        Any other files that are written.
    page, word : Path or None
        The report, as a page and as a Word document.
    inputs : sequence of Path or None
        Files that are read.
    """
    given = (plot, *others, page, word)
    targets = [path for path in given if path is not None and path != STDOUT]
    for path in targets:
        if not path.parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.parent}.")
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a folder.")
        if _leads_to_itself(path):
            raise InputError(f"cannot write {path}: it is a link that leads to itself.")
        _check_permission(path)
    _check_distinct(targets, [path for path in inputs if path is not None])
    if plot is not None:
        from matplotlib.backend_bases import FigureCanvasBase

        formats = sorted(FigureCanvasBase.get_supported_filetypes())
        if plot.suffix.lower().removeprefix(".") not in formats:
            raise InputError(f"cannot draw {plot}: its name must end in {', '.join(formats)}.")
    if page is not None:
        check_page(page, "--html")
    if word is not None:
        from bayescal.assessment.word import check_document

        check_document(word, "--word")


def check_csv(path: Path) -> None:
    """Refuse a name that says the file is something else than CSV."""
    if path.suffix.lower() in BINARY:
        raise InputError(f"cannot write {path}: a table is written as CSV. End its name in .csv.")


def _leads_to_itself(path: Path) -> bool:
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP or getattr(error, "winerror", None) == LOOP_ON_WINDOWS
    return False


def _check_permission(path: Path) -> None:
    """Refuse a file that may not be written, or whose folder takes no new file to replace it."""
    needed = [path] if path.exists() else []
    if path.is_file() or not path.exists():
        needed.append(path.resolve().parent)
    for one in needed:
        if not os.access(one, os.W_OK):
            raise InputError(f"cannot write {path}: there is no permission to write to {one}.")
    if path.is_file():
        try:
            path.open("r+b").close()
        except OSError as error:
            raise InputError(
                f"cannot write {path}: it cannot be opened for writing. Close it in other programs."
            ) from error


def _check_distinct(targets: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Refuse an output that is an input or another output; devices can be written to twice."""
    files = [path for path in targets if path.is_file() or not path.exists()]
    read = list(inputs)
    for index, path in enumerate(files):
        for other in read:
            if _is_same(path, other):
                raise InputError(
                    f"cannot write {path}: it is the input {other}. Name another file to write."
                )
        for other in files[:index]:
            if _is_same(path, other):
                raise InputError(
                    f"cannot write {path} twice: two outputs are this file. Name one each."
                )


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def write_figure(path: Path, post: CalibrationPosterior, *, p: float, ci_prob: float) -> None:
    """Draw the reliability diagram to a file, without a window."""
    from matplotlib.figure import Figure

    from bayescal import plots

    figure = Figure(figsize=(5, 5.6), layout="constrained")
    plots.reliability(post, figure.subplots(), p=p, ci_probs=sorted({0.5, ci_prob}))
    save_figure(path, figure)


def save_figure(path: Path, figure: Figure) -> None:
    """Write a figure to a file, in the format that its name says."""
    with replacing(path) as file:
        figure.savefig(file, dpi=200)


def write_report(
    path: Path, assessment: Assessment, source: dict[str, Any], title: str | None = None
) -> None:
    """Write the report of an assessment, with the lines of its source."""
    assessment.to_html(path, title=title, source=source_lines(source))


def write_word_report(
    path: Path, assessment: Assessment, source: dict[str, Any], title: str | None = None
) -> None:
    """Write the report as a Word document, with the lines of its source."""
    assessment.to_word(path, title=title, source=source_lines(source))


def source_lines(source: dict[str, Any]) -> dict[str, Any]:
    """Where the data came from, as the report's lines name it."""
    named = {"Prob": "Probability"}
    lines = {key.replace("_", " ").capitalize(): value for key, value in source.items()}
    return {named.get(key, key): value for key, value in lines.items()}


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write numbers as JSON, to stdout by the name "-"; what is not finite becomes null."""
    text = record_text(record)
    if path == STDOUT:
        sys.stdout.write(text)
        return
    with replacing(path) as file:
        file.write_text(text, "utf-8")


def record_text(record: dict[str, Any]) -> str:
    """Numbers as JSON; what is not finite becomes null."""
    return json.dumps(_finite(record), indent=2, allow_nan=False) + "\n"


def write_table(
    path: Path, table: pd.DataFrame, *, separator: str = ",", decimal: str = "."
) -> None:
    """Write a table as CSV: UTF-8, quotes only where a field needs them.

    A carriage return in a field would be read back as the end of a row, and is not quoted by
    itself; then every field is quoted.
    """
    texts = (column.astype(str) for _, column in table.items() if column.dtype.kind not in "biuf")
    returns = any(text.str.contains("\r", regex=False).any() for text in texts)
    with replacing(path) as file:
        table.to_csv(
            file,
            sep=separator,
            decimal=decimal,
            index=False,
            quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL,
        )


def numbers_of(post: CalibrationPosterior, summary: pd.DataFrame, p: float) -> dict[str, Any]:
    """Everything that was computed, and from what, as plain numbers and names.

    Parameters
    ----------
    summary : pandas.DataFrame
        Its summary.
    p : float
        The norm of the row "tce".
    """
    from bayescal.assessment.performance import mean_score
    from bayescal.assessment.record import functionals_record
    from bayescal.posterior.posterior import versions_of

    data, problem, stated = post.data, post.problem, summary.attrs
    return {
        "cases": data.n,
        "events": data.events,
        "distinct_scores": data.score.size,
        "mean_score": mean_score(data),
        "functionals": functionals_record(summary),
        "undefined": stated["undefined"],
        "settings": {
            "curve": problem.curve.name,
            "prior": problem.prior.name,
            "engine": post.engine,
            "seed": problem.seed,
            "p": p if math.isfinite(p) else "inf",
            "ci_prob": stated["ci_prob"],
            "interval": stated["interval"],
            "population": stated["population"],
            "pseudo_posterior": stated["pseudo_posterior"],
            "weight_type": stated["weight_type"],
        },
        "scores_of_0_and_1": {
            "moved": stated["moved"],
            "zero_read_as": stated["zero_read_as"],
            "one_read_as": stated["one_read_as"],
        },
        "diagnostics": post.diagnostics,
        "versions": versions_of(post) | {"python": platform.python_version()},
    }


def _finite(value: Any) -> Any:
    from bayescal.assessment.record import whole_count

    if isinstance(value, dict):
        return {key: whole_count(key, _finite(item)) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
