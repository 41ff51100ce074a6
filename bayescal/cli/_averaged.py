"""An assessment on the terminal: every part as it is computed, and the files asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from bayescal.cli._analysis import Settings
from bayescal.cli._notes import as_typed
from bayescal.cli._progress import Steps, working
from bayescal.cli._terminal import is_narrow, note, say, wrote
from bayescal.cli._write import write_figure, write_record, write_report, write_word_report
from bayescal.core.errors import as_level

if TYPE_CHECKING:
    from bayescal.assessment import Assessment
    from bayescal.data.table import CalibrationData

__all__ = ["Averaged", "record_of"]


@dataclass(frozen=True, kw_only=True)
class Averaged(Settings):
    """An assessment.

    Attributes
    ----------
    close : float or None
        A true calibration error that is close enough to none.
    thresholds : sequence of float
        Risks from which a patient is treated.
    html, word : Path or None
        Files for the report, as a page and as a Word document.
    """

    close: float | None = None
    thresholds: Sequence[float] = ()
    html: Path | None = None
    word: Path | None = None

    def __post_init__(self) -> None:
        """Check the options as they were typed."""
        for risk in self.thresholds:
            as_level(risk, "threshold")
        if self.close is not None:
            as_level(self.close, "close")
        super().__post_init__()

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
            assessment, notes = self.assessed(data)
            first = first_words(assessment)
        for text in first:
            say(console, text, "bold")
        for text in notes[len(first) :]:
            note(console, text)
        self._show(assessment, console, steps)
        self._write(assessment, notes, source, title, steps)
        for path in (self.plot, self.record, self.html, self.word):
            wrote(console, path)

    def assessed(self, data: CalibrationData) -> tuple[Assessment, list[str]]:
        """Assess a table, without a word; and the notes, in the words of the command line."""
        from bayescal.assessment import assess

        assessment = assess(
            data,
            close=self.close,
            ci_prob=self.ci_prob,
            prior=self.prior,
            random_state=self.seed,
            edge=self.edge,
            thresholds=self.thresholds,
        )
        return assessment, [as_typed(text) for text in assessment.notes]

    @property
    def _pictures(self) -> tuple[Path | None, ...]:
        """The files that take time to draw."""
        return self.plot, self.html, self.word

    def _show(self, a: Assessment, console: Console, steps: Steps) -> None:
        from bayescal.assessment.text.periods import period_sentences
        from bayescal.assessment.text.sites import site_sentences
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
        name = "estimators" if "estimators" in a.tables else "followed"
        with steps.working("Comparing estimators with those of calibrated models"):
            table = drawn(a.tables[name], narrow=narrow)
        console.print(table)
        if a.data.groups:
            with steps.counting("Assessing groups", "groups") as progress:
                for done, name in enumerate(a.data.groups, 1):
                    a.group(name)
                    progress(done, len(a.data.groups))
                table = drawn(a.tables["groups"], narrow=narrow)
            console.print(table)
        if a.has_sites:
            with working("Fitting all groups together"):
                tables = [drawn(a.tables[name], narrow=narrow) for name in ("spread",)]
                sentences = site_sentences(a)
            for table in tables:
                console.print(table)
            for text in sentences:
                say(console, text)
        for text in period_sentences(a):
            say(console, text)
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
            say(console, as_typed(text))
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
            write_record(self.record, record_of(a, notes, source))
        if self.html is not None:
            with steps.working("Writing the report"):
                write_report(self.html, a, source, title)
        if self.word is not None:
            with steps.working("Writing the Word document"):
                write_word_report(self.word, a, source, title)


def record_of(a: Assessment, notes: list[str], source: dict[str, Any]) -> dict[str, Any]:
    """All numbers, the notes and where the data came from."""
    return a.to_dict() | {"notes": notes, "source": source}


def _describe_method(a: Assessment) -> str:
    """How the numbers were computed, and whether the computation can be trusted."""
    from bayescal.assessment.words import counted
    from bayescal.cli._table import about_clusters

    diagnostics = a.posterior.diagnostics
    families = [
        name for name, weight in a.comparison.prior_prob.items() if weight and name != "identity"
    ]
    verdict = "ok" if diagnostics["verdict"] == "ok" else "not good enough, see the note"
    k = float(diagnostics.get("pareto_k", math.nan))
    how = f"importance sampling, Pareto k-hat {k:.2f} (limit 0.7)"
    if k == -math.inf:
        how = "exact sums over partitions of the scores"
    if math.isnan(k):
        how = "NUTS"
    curves = f"average of {', '.join(families[:-1])} and {families[-1]}"
    if a.several is not None:
        curves = f"one fit of a logistic curve for each of {counted(a.several)}"
    return (
        f"Method: {curves}, {a.prior.name} prior; "
        f"{how}: {verdict}. "
        f"{about_clusters(a.posterior)}Seed {a.seed} repeats these numbers."
    )
