"""From a file to cases with predictions before and after, or by several models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bayescal.cli._cases import Cases, in_file, read_cases
from bayescal.cli._columns import check_column, choose_columns
from bayescal.cli._progress import working
from bayescal.cli._read import Source
from bayescal.cli.reading import Reading
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.data.sources.columns import Columns

__all__ = ["Pairs", "read_models", "read_pairs"]


@dataclass(frozen=True)
class Pairs:
    """Several predictions of the same cases, read from a file.

    Attributes
    ----------
    cases : Cases
        With the first predictions, and the others.
    scores : dict of str to str or None
        Columns of predictions, by the arguments that they are.
    rows : int
        Rows in all, those left out among them.
    """

    cases: Cases
    columns: Columns
    scores: dict[str, str | None]
    rows: int
    source: Source
    reading: Reading

    def checked(self) -> Any:
        """Faults in the cases are told in words of the file."""
        columns, location = self.columns, self.cases.location(self.source)
        return in_file(columns, location, self.reading.form().scale, **self.scores)


def read_pairs(reading: Reading, before: str | None, after: str | None) -> Pairs:
    """Read a file of one row per case, with one or two columns of predictions.

    Parameters
    ----------
    before, after : str or None
        Columns of predictions. That before is guessed when only one fits; without `after` there
        is only that one.
    """
    if before is not None and before == after:
        raise InputError(f"--before and --after name the same column, {before!r}. Name two.")
    if after is None:
        read = _read(reading, before, {}, {"score": before})
    else:
        assert before is not None  # given with after
        read = _read(reading, before, {"after": after}, {"before": before, "after": after})
    return replace(read, scores={"before": read.columns.prob, "after": after})


def read_models(reading: Reading, models: Sequence[str]) -> Pairs:
    """Read a file of one row per case, with a column of predictions by each model."""
    first, *others = models
    by_argument = {f"models[{shortened(name)!r}]": name for name in models}
    rest = {argument: name for argument, name in by_argument.items() if name in others}
    read = _read(reading, first, rest, *({"model": name} for name in models))
    return replace(read, scores=dict(by_argument))


def _read(
    reading: Reading, score: str | None, others: dict[str, str], *named: Mapping[str, str | None]
) -> Pairs:
    """Read a file; `named` says by which option a column of predictions was named."""
    path, form = reading.file, reading.form()
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load(labels=reading.labels)
        for each in named:
            for option, name in each.items():
                if name is not None:
                    check_column(name, [str(column) for column in frame.columns], option)
        columns = choose_columns(frame, replace(reading, prob=score), form.scale)
        cases = read_cases(
            frame,
            columns,
            source,
            form.scale,
            event=reading.positive,
            drop_missing=reading.drop_missing,
            others=others,
        )
    return Pairs(cases, columns, {}, len(frame), source, reading)
