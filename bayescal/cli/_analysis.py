"""One family of curves on the terminal: fit, table, words, and the files asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from bayescal.cli._notes import as_typed, noted
from bayescal.cli._progress import working
from bayescal.cli._terminal import announce, is_narrow, note, say, wrote
from bayescal.cli._write import check_targets, numbers_of, write_figure, write_record
from bayescal.core.errors import InputError, as_level, as_order, check_choice
from bayescal.model.curves import as_curve
from bayescal.model.priors import as_prior

if TYPE_CHECKING:
    from bayescal.data.table import CalibrationData
    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["Analysis", "Settings"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every analysis is told; checked when it is made, before any data are read.

    Attributes
    ----------
    plot, record : Path or None
        Files for the figure and for the numbers.
    file : Path or None
        The file that is read.
    table : Path or None
        A file that is written too, by whoever makes this.
    """

    prior: str = "neutral"
    ci_prob: float = 0.95
    seed: int | None = None
    edge: float | None = None
    plot: Path | None = None
    record: Path | None = None
    file: Path | None = None
    table: Path | None = None

    def __post_init__(self) -> None:
        """Check the options as they were typed."""
        as_prior(self.prior)
        as_level(self.ci_prob)
        if self.edge is not None and not 0 < self.edge < 0.5:
            raise InputError(f"edge must lie strictly between 0 and 0.5, got {self.edge!r}.")
        reports = {name: getattr(self, name, None) for name in ("html", "word")}
        check_targets(
            self.plot,
            self.record,
            self.table,
            page=reports["html"],
            word=reports["word"],
            inputs=[self.file],
        )


@dataclass(frozen=True, kw_only=True)
class Analysis(Settings):
    """One family of curves.

    Attributes
    ----------
    p : float
        Norm of the true calibration error.
    """

    curve: str
    engine: str = "auto"
    p: float = 1

    def __post_init__(self) -> None:
        """Check the options as they were typed."""
        from bayescal.fitting import ENGINES

        check_choice(self.engine, ENGINES, "engine")
        as_order(self.p, infinite=True)
        as_curve(self.curve)
        super().__post_init__()

    def run(
        self,
        data: CalibrationData,
        console: Console,
        source: dict[str, Any],
    ) -> None:
        """Fit a table, show what came out, and write the files.

        Parameters
        ----------
        source : dict
            Where the data came from, for the record.
        """
        from bayescal.assessment.notes import posterior_notes
        from bayescal.assessment.words import directions
        from bayescal.cli import _table

        say(console, _table.describe_cases(data))
        notes: list[str] = []

        def remark(text: str) -> None:
            notes.append(text)
            note(console, text)

        with noted(remark):
            post = self._fit(data)
        for text in posterior_notes(post):
            remark(as_typed(text))
        with working("Computing measures of calibration"):
            summary = post.summary(self.ci_prob, p=self.p)
        table = _table.summary_table(summary, self.p)
        console.print(_table.drawn(table, narrow=is_narrow(console)))
        say(console, _table.describe_error(summary, self.p), "bold")
        say(console, directions(summary, data))
        say(console, "")
        say(console, _table.describe_method(post), "dim")
        self._write(post, numbers_of(post, summary, self.p) | {"notes": notes, "source": source})
        for path in (self.plot, self.record):
            wrote(console, path)

    def _fit(self, data: CalibrationData) -> CalibrationPosterior:
        from bayescal.fitting import fit
        from bayescal.posterior.posterior import as_posterior

        if self.engine == "nuts":
            announce("Compiling the model, then sampling it with NUTS: this may take a minute.")
        how: dict[str, Any] = {"engine": self.engine, "random_state": self.seed}
        return as_posterior(fit(data, curve=self.curve, prior=self.prior, edge=self.edge, **how))

    def _write(self, post: CalibrationPosterior, record: dict[str, Any]) -> None:
        if self.plot is not None:
            with working("Drawing"):
                write_figure(self.plot, post, p=self.p, ci_prob=self.ci_prob)
        if self.record is not None:
            write_record(self.record, record)
