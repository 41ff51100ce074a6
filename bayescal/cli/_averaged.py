"""An assessment on the terminal: every part as it is computed, and the files asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from bayescal._base.errors import InputError
from bayescal.cli._notes import as_typed
from bayescal.cli._progress import Steps
from bayescal.cli._terminal import is_narrow, note, say
from bayescal.cli._write import check_targets, write_figure, write_record, write_report
from bayescal.data.validate import as_level
from bayescal.model.priors import Prior, as_prior

if TYPE_CHECKING:
    from bayescal.assessment import Assessment
    from bayescal.assessment.val_prob import RawCases
    from bayescal.data.data import CalibrationData

__all__ = ["Averaged"]


@dataclass(frozen=True)
class Averaged:
    """What to compute and where to leave it; checked when it is made, before any data are read.

    Attributes
    ----------
    close : float or None
        A true calibration error that is close enough to none.
    thresholds : tuple of float
        Risks from which a patient is treated.
    plot, record, html : Path or None
        Files for the figure, the numbers and the report.
    raw : tuple of RawCases
        As of `Findings`.
    """

    prior: Prior
    close: float | None
    ci_prob: float
    seed: int | None
    edge: float | None
    thresholds: tuple[float, ...]
    plot: Path | None
    record: Path | None
    html: Path | None
    raw: tuple[RawCases, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        prior: str = "neutral",
        close: float | None = None,
        ci_prob: float = 0.95,
        seed: int | None = None,
        edge: float | None = None,
        thresholds: Sequence[float] = (),
        plot: Path | None = None,
        record: Path | None = None,
        html: Path | None = None,
        file: Path | None = None,
        table: Path | None = None,
    ) -> Averaged:
        """Check the options as they were typed.

        Parameters
        ----------
        file : Path, optional
            The file or folder that is read.
        table : Path, optional
            A file that is written too, by whoever calls this.
        """
        if edge is not None and not 0 < edge < 0.5:
            raise InputError(f"edge must lie strictly between 0 and 0.5, got {edge!r}.")
        check_targets(plot, record, table, page=html, inputs=[file])
        return cls(
            as_prior(prior),
            None if close is None else as_level(close, "close"),
            as_level(ci_prob),
            seed,
            edge,
            tuple(as_level(risk, "threshold") for risk in thresholds),
            plot,
            record,
            html,
        )

    def with_raw(self, raw: tuple[RawCases, ...]) -> Averaged:
        """The same for a table on a grid, of these cases."""
        return replace(self, raw=raw)

    def run(
        self,
        data: CalibrationData,
        console: Console,
        source: dict[str, Any],
        title: str | None = None,
    ) -> None:
        """Assess a table, show what came out, and write the files.

        Parameters
        ----------
        source : dict
            Where the data came from, for the record and the report.
        title : str, optional
            Heading of the report; by default score, file and outcome.
        """
        from bayescal.assessment.words import first_words
        from bayescal.cli._table import describe_cases

        say(console, describe_cases(data))
        steps = Steps(5 + bool(data.groups) + sum(path is not None for path in self._pictures))
        with steps.working("Fitting the families of curves"):
            assessment = self._assess(data)
            assessment = replace(assessment, raw=self.raw or assessment.raw)
            first = first_words(assessment)
            notes = [as_typed(text) for text in assessment.notes]
        for text in first:
            say(console, text, "bold")
        for text in notes[len(first) :]:
            note(console, text)
        self._show(assessment, console, steps)
        self._write(assessment, notes, source, title, steps)
        for path in (self.plot, self.record, self.html):
            if path is not None:
                say(console, f"Wrote {path}.", "dim")

    def _assess(self, data: CalibrationData) -> Assessment:
        from bayescal.assessment import assess

        return assess(
            data,
            close=self.close,
            ci_prob=self.ci_prob,
            prior=self.prior,
            random_state=self.seed,
            edge=self.edge,
            thresholds=self.thresholds,
        )

    @property
    def _pictures(self) -> tuple[Path | None, Path | None]:
        """The files that take time to draw."""
        return self.plot, self.html

    def _show(self, a: Assessment, console: Console, steps: Steps) -> None:
        from bayescal.assessment.text.subgroups import subgroup_sentences
        from bayescal.assessment.verdict import words
        from bayescal.assessment.words import exactness
        from bayescal.cli._table import drawn

        narrow = is_narrow(console)
        with steps.working("Computing measures of calibration"):
            table = drawn(a.tables["measures"], narrow=narrow)
        if "populations" in a.tables:
            for line in a.tables["populations"].lines():
                say(console, line)
        say(console, a.headline(), "bold")
        with steps.working("Computing leave-one-out, and what is true of other patients"):
            first = [words.ranges(a), words.whom(a), words.to_do(a), words.settling(a)]
        for text in filter(None, first):
            say(console, text)
        console.print(table)
        if a.thresholds:
            console.print(drawn(a.tables["benefit"], narrow=narrow))
        with steps.working("Comparing estimators with those of calibrated models"):
            table = drawn(a.tables["estimators"], narrow=narrow)
        console.print(table)
        if a.data.groups:
            with steps.counting("Assessing groups", "groups") as progress:
                for done, name in enumerate(a.data.groups, 1):
                    a.group(name)
                    progress(done, len(a.data.groups))
                table = drawn(a.tables["groups"], narrow=narrow)
            console.print(table)
        if a.crossed is not None:
            with steps.working("Fitting subgroups"):
                table = drawn(a.tables["levels"], narrow=narrow)
                sentences = subgroup_sentences(a)
            console.print(table)
            for text in sentences:
                say(console, text)
        with steps.working("Computing the sensitivity to the prior"):
            last = words.limit_reason(a), words.at_thresholds(a), exactness(a)
        for text in filter(None, last):
            say(console, text)
        say(console, "")
        say(console, _describe_method(a), "dim")

    def _write(
        self,
        a: Assessment,
        notes: list[str],
        source: dict[str, Any],
        title: str | None,
        steps: Steps,
    ) -> None:
        if self.plot is not None:
            with steps.working("Drawing"):
                write_figure(self.plot, a.posterior, p=1, ci_prob=self.ci_prob)
        if self.record is not None:
            write_record(self.record, a.to_dict() | {"notes": notes, "source": source})
        if self.html is not None:
            with steps.working("Writing the report"):
                write_report(self.html, a, source, title)


def _describe_method(a: Assessment) -> str:
    """How the numbers were computed, and whether the computation can be trusted."""
    from bayescal.cli._table import about_clusters

    diagnostics = a.posterior.diagnostics
    families = [
        name for name, weight in a.comparison.prior_prob.items() if weight and name != "identity"
    ]
    verdict = "ok" if diagnostics["verdict"] == "ok" else "not good enough, see the note"
    k = float(diagnostics["pareto_k"])
    how = f"importance sampling, Pareto k-hat {k:.2f} (limit 0.7)"
    if k == -math.inf:
        how = "exact sums over partitions of the scores"
    return (
        f"Method: average of {', '.join(families[:-1])} and {families[-1]}, {a.prior.name} prior; "
        f"{how}: {verdict}. "
        f"{about_clusters(a.posterior)}Seed {a.seed} repeats these numbers."
    )
