"""One analysis on the terminal: fit, table, words, and the files that were asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, cast

from rich.console import Console

from bayescal._validate import as_level, check_choice
from bayescal.cli import _table
from bayescal.cli._terminal import announce, note, say, working
from bayescal.cli._write import check_targets, numbers_of, write_figure, write_record
from bayescal.curves import Curve, as_curve
from bayescal.errors import DiagnosticWarning, EdgeWarning, InputError
from bayescal.inference.fit import ENGINES, fit
from bayescal.plots._text import count
from bayescal.priors import Prior, as_prior

if TYPE_CHECKING:
    from bayescal.data import CalibrationData
    from bayescal.posterior import CalibrationPosterior

__all__ = ["Analysis"]

NARROW = 70
OPTIONS = {
    "edge=": "--edge",
    "engine='nuts'": "--engine nuts",
    "engine='auto'": "--engine auto",
}
"""How Python's arguments, as warnings name them, are typed on the command line."""


@dataclass(frozen=True)
class Analysis:
    """What to compute and where to leave it; checked when it is made, before any data are read.

    Attributes
    ----------
    curve : Curve
    prior : Prior
    engine : str
    p : float
        Norm of the true calibration error.
    ci_prob : float
    seed : int or None
    edge : float or None
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
    ) -> Analysis:
        """Check the options as they were typed.

        Raises
        ------
        InputError
            If a name is unknown, a number out of range, or a file cannot be written.
        """
        check_choice(engine, ENGINES, "engine")
        if not p >= 1:
            raise InputError(f"p must be at least 1 (inf is the largest error), got {p!r}.")
        if edge is not None and not 0 < edge < 0.5:
            raise InputError(f"edge must lie strictly between 0 and 0.5, got {edge!r}.")
        check_targets(plot, record)
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

    def run(self, data: CalibrationData, console: Console, source: dict[str, Any]) -> None:
        """Fit a table, show what came out, and write the files.

        Parameters
        ----------
        data : CalibrationData
        console : rich.console.Console
        source : dict
            Where the data came from, for the record.
        """
        say(console, _table.describe_cases(data))
        notes: list[str] = []

        def remark(text: str) -> None:
            notes.append(text)
            note(console, text)

        with _noted(remark):
            post = self._fit(data)
        for text in _remarks(post):
            remark(text)
        with working("Computing measures of calibration ..."):
            summary = post.summary(self.ci_prob, p=self.p)
        console.print(_table.summary_table(summary, self.p, narrow=console.width < NARROW))
        say(console, _table.describe_error(summary, self.p), "bold")
        say(console, _table.describe_kind(summary))
        say(console, "")
        say(console, _table.describe_method(post), "dim")
        self._write(post, numbers_of(post, summary, self.p) | {"notes": notes, "source": source})
        for path in (self.plot, self.record):
            if path is not None:
                say(console, f"Wrote {path}.", "dim")

    def _fit(self, data: CalibrationData) -> CalibrationPosterior:
        if self.engine == "nuts":
            announce("Compiling the model, then sampling it with NUTS: this may take a minute.")
        return fit(
            data,
            curve=self.curve,
            prior=self.prior,
            engine=self.engine,
            random_state=self.seed,
            edge=self.edge,
        )

    def _write(self, post: CalibrationPosterior, record: dict[str, Any]) -> None:
        if self.plot is not None:
            with working("Drawing ..."):
                write_figure(self.plot, post, p=self.p, ci_prob=self.ci_prob)
        if self.record is not None:
            write_record(self.record, record)


def _remarks(post: CalibrationPosterior) -> Iterator[str]:
    """What the reader should know about these data before reading the numbers."""
    data, edges = post.data, post.settings.edges
    if edges.moved and not edges.assumed:
        places = [f"0 as {edges.low:.3g}"] if (data.score == 0).any() else []
        places += [f"1 as 1 - {1 - edges.high:.3g}"] if (data.score == 1).any() else []
        yield (
            f"{count(edges.moved, 'score')} of exactly 0 or 1 taken as rounded, and read further "
            f"in: {', '.join(places)}. Change this with --edge."
        )
    if data.events in (0, data.n):
        which = "no case" if data.events == 0 else "every case"
        yield f"{which} had the event, so the numbers rest on the prior more than on the data."
    mean = float(data.trials @ data.score / data.n)
    if post.settings.prior.name == "neutral" and not 0.05 <= mean <= 0.95:
        yield (
            f"the mean score is {mean:.3g}. So far from one half the neutral prior says little "
            "about the average risk; see also --prior clinical."
        )
    if data.is_pseudo:
        yield (
            "the weights are not whole numbers, so they are taken as sampling weights, worth "
            f"{data.n * data.weight_scale:.1f} cases in all (Kish); this is a pseudo-posterior."
        )


@contextmanager
def _noted(remark: Callable[[str], None]) -> Iterator[None]:
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
            text = str(message)
            for argument, option in OPTIONS.items():
                text = text.replace(argument, option)
            remark(text)

        warnings.simplefilter("always", DiagnosticWarning)
        warnings.simplefilter("always", EdgeWarning)
        # Advice on how to install PyTensor, of no use to whoever is reading a table.
        warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS", UserWarning)
        warnings.showwarning = show
        yield
