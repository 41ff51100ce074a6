"""One family of curves on the terminal: fit, table, words, and the files asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from rich.console import Console

from bayescal._base.errors import InputError
from bayescal.cli._notes import as_typed, noted
from bayescal.cli._progress import working
from bayescal.cli._terminal import announce, is_narrow, note, say
from bayescal.cli._write import check_targets, numbers_of, write_figure, write_record
from bayescal.data.validate import as_level, check_choice
from bayescal.model.curves import Curve, as_curve
from bayescal.model.priors import Prior, as_prior

if TYPE_CHECKING:
    from bayescal.data.data import CalibrationData
    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["Analysis"]


@dataclass(frozen=True)
class Analysis:
    """What to compute and where to leave it; checked when it is made, before any data are read.

    Attributes
    ----------
    p : float
        Norm of the true calibration error.
    plot, record : Path or None
        Files for the figure and for the numbers.
    """

    curve: Curve
    prior: Prior
    engine: Literal["auto", "importance", "nuts"]
    p: float
    ci_prob: float
    seed: int | None
    edge: float | None
    plot: Path | None
    record: Path | None

    @classmethod
    def of(
        cls,
        *,
        curve: str = "beta",
        prior: str = "neutral",
        engine: str = "auto",
        p: float = 1,
        ci_prob: float = 0.95,
        seed: int | None = None,
        edge: float | None = None,
        plot: Path | None = None,
        record: Path | None = None,
        file: Path | None = None,
        table: Path | None = None,
    ) -> Analysis:
        """Check the options as they were typed.

        Parameters
        ----------
        file : Path, optional
            The file or folder that is read.
        table : Path, optional
            A file that is written too, by whoever calls this.
        """
        from bayescal.fitting import ENGINES

        check_choice(engine, ENGINES, "engine")
        if not p >= 1:
            raise InputError(f"p must be at least 1 (inf is the largest error), got {p!r}.")
        if edge is not None and not 0 < edge < 0.5:
            raise InputError(f"edge must lie strictly between 0 and 0.5, got {edge!r}.")
        check_targets(plot, record, table, inputs=[file])
        return cls(
            as_curve(curve),
            as_prior(prior),
            cast("Literal['auto', 'importance', 'nuts']", engine),
            p,
            as_level(ci_prob),
            seed,
            edge,
            plot,
            record,
        )

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
            if path is not None:
                say(console, f"Wrote {path}.", "dim")

    def _fit(self, data: CalibrationData) -> CalibrationPosterior:
        from bayescal.fitting import fit

        if self.engine == "nuts":
            announce("Compiling the model, then sampling it with NUTS: this may take a minute.")
        post: CalibrationPosterior = fit(
            data,
            curve=self.curve,
            prior=self.prior,
            engine=self.engine,
            random_state=self.seed,
            edge=self.edge,
        )
        return post

    def _write(self, post: CalibrationPosterior, record: dict[str, Any]) -> None:
        if self.plot is not None:
            with working("Drawing"):
                write_figure(self.plot, post, p=self.p, ci_prob=self.ci_prob)
        if self.record is not None:
            write_record(self.record, record)
