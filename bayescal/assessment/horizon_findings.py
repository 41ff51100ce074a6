"""What an assessment at several horizons computes and says: one table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from bayescal.assessment.findings import Findings
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.performance import mean_score
from bayescal.assessment.record import SCHEMA_VERSION, as_dict
from bayescal.assessment.tables.horizons import horizons_table
from bayescal.assessment.text.paper import describe
from bayescal.assessment.text.terminal import wrapped
from bayescal.assessment.verdict.words import limit_reason, title
from bayescal.assessment.words import with_interval
from bayescal.core.table import Table
from bayescal.core.text import card, count
from bayescal.data.matrices import Risks
from bayescal.posterior.functionals import FUNCTIONALS, main_functionals
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.several import Several

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Assessed", "HorizonFindings"]

Assessed = TypeVar("Assessed", bound=Findings)
EACH_ALONE = "The posterior at each horizon is that of an assessment at this horizon alone."


class HorizonFindings(Generic[Assessed]):
    """Assessments of the risks by several horizons.

    Attributes
    ----------
    horizons : tuple of float
    posterior : Several
    """

    def __init__(self, assessments: Mapping[float, Assessed], risks: Risks) -> None:
        self.horizons = tuple(assessments)
        self._assessments = Several(assessments, "horizon", risks.notes)
        self.posterior: Several[CalibrationPosterior] = self._assessments.posterior

    def at(self, horizon: float) -> Assessed:
        """The assessment at one horizon, with all of its tables and its own report.

        Parameters
        ----------
        horizon : float

        Returns
        -------
        Assessment
        """
        return self._assessments.at(horizon)

    @cached_property
    def by_horizon(self) -> pd.DataFrame:
        """A row for each horizon.

        Columns: observed (risk by the horizon, by the curve), predicted (mean), censored (share of
        the cases, before the horizon), estimate, lower and upper end of TCE, O/E and slope, close
        (the limit), prob_close, prob_miscalibrated, prob_calibrated and verdict.
        """
        import pandas as pd

        shown, rows = main_functionals(), {}
        for at, a in self._assessments.items():
            data, predicted = a.data, mean_score(a.data)
            assert data.follow_up is not None
            row: dict[str, Any] = {
                "observed": float(a.table["estimate"]["observed_expected"]) * predicted,
                "predicted": predicted,
                "censored": data.follow_up.censored / data.n,
            }
            summary = a.table.reindex(shown)
            for name in shown:
                for end in ("estimate", "lower", "upper"):
                    row[f"{name}_{end}"] = float(summary[end][name])
            rows[at] = row | {
                "close": a.close,
                "prob_close": a.prob_tce_below(a.close),
                "prob_miscalibrated": a.prob_tce_above(a.close),
                "prob_calibrated": a.prob_calibrated,
                "verdict": a.verdict,
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "horizon"
        return table

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The table of the horizons, "horizons"; those of each are in `at(horizon).tables`."""
        return {"horizons": horizons_table(self.by_horizon, self._last.ci_prob)}

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the printed tables, which are made again."""
        return {name: value for name, value in self.__dict__.items() if name != "tables"}

    def title(self) -> str:
        """By which horizons the error is above the limit, in a few words."""
        verdicts = {at: a.verdict for at, a in self._assessments.items()}
        off = [f"{at:g}" for at, verdict in verdicts.items() if verdict == "miscalibrated"]
        if off:
            return f"Off by more than the limit by {', '.join(off)}"
        if set(verdicts.values()) == {"close enough"}:
            return "Within the limit by every horizon"
        return "By no horizon is the error known to be above the limit"

    def headline(self) -> str:
        """Whether the model is off at each horizon."""
        return " ".join(self.verdicts())

    def verdicts(self) -> list[str]:
        """The two answers at each horizon, with O/E, in a sentence each."""
        told = []
        for at, a in self._assessments.items():
            answers = title(a)
            ratio = with_interval(
                a.table.loc["observed_expected"], apart=FUNCTIONALS["observed_expected"].apart
            )
            told.append(f"By {at:g}: {answers[0].lower()}{answers[1:]}. O/E {ratio}.")
        return [a.worded(text) for a, text in zip(self._assessments.values(), told, strict=True)]

    @cached_property
    def notes(self) -> list[str]:
        """What a reader should bear in mind; of one horizon with its name, common ones once."""
        each = {
            at: [a.worded(text) for text in assessment_notes(a)]
            for at, a in self._assessments.items()
        }
        first = each[self.horizons[0]]
        common = [text for text in first if all(text in own for own in each.values())]
        own = [
            f"By {at:g}: {text}"
            for at, notes in each.items()
            for text in notes
            if text not in common
        ]
        return [*self.posterior.notes, *common, *own]

    def limit(self) -> str:
        """What the limit is at each horizon, and where it comes from."""
        limits = self.by_horizon["close"]
        if limits.nunique() == 1:
            return limit_reason(self._last)
        told = ", ".join(f"{100 * limit:.3g} by {at:g}" for at, limit in limits.items())
        return (
            f"The default limits are average errors, in percentage points, of {told}: 3, or a "
            "quarter of the mean risk if this is less. They are a convention: choose the largest "
            "error that would change no decision, before you look at the data, and set it with "
            "close= or --close."
        )

    def describe(self) -> str:
        """Methods and results in sentences for a paper: of all horizons, then of the last."""
        last = f"At the horizon {self.horizons[-1]:g}:"
        return f"{self.methods()}\n\n{self.headline()}\n\n{last}\n\n{describe(self._last)}"

    def methods(self) -> str:
        """What was done at each horizon."""
        times = ", ".join(f"{at:g}" for at in self.horizons[:-1])
        named = " and ".join(filter(None, [times, f"{self.horizons[-1]:g}"]))
        return f"Calibration was assessed at the horizons {named}. {EACH_ALONE}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and names, ready for JSON; what is not finite is None."""
        rows = self.by_horizon.astype(object).where(self.by_horizon.notna(), None)
        return {
            "schema": SCHEMA_VERSION,
            "horizons": list(self.horizons),
            "headline": self.headline(),
            "by_horizon": [{"horizon": at} | dict(row) for at, row in rows.iterrows()],
            "notes": self.notes,
            "assessments": {f"{at:g}": as_dict(a) for at, a in self._assessments.items()},
        }

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """The curves of all horizons; see `bayescal.plots.reliability`.

        Of more than six horizons, six from the first to the last are drawn.
        """
        from bayescal import plots
        from bayescal.plots.style import MODELS

        size = min(len(self.horizons), len(MODELS))
        chosen = np.unique(np.linspace(0, len(self.horizons) - 1, size).round().astype(int))
        drawn = {f"by {at:g}": self.posterior.at(at) for at in np.array(self.horizons)[chosen]}
        return plots.reliability(drawn, ax, **options)

    @property
    def _last(self) -> Assessed:
        return self._assessments[self.horizons[-1]]

    def __str__(self) -> str:
        head = self._last.worded(count(self.posterior.cases, "case"))
        parts = [
            [head],
            [line for text in self.verdicts() for line in wrapped(text)],
        ]
        parts += [self.tables["horizons"].lines(), wrapped(self.limit())]
        parts += [wrapped(f"Note: {text}") for text in self.notes]
        return "\n\n".join("\n".join(lines) for lines in parts)

    def __repr__(self) -> str:
        times = ", ".join(f"{at:g}" for at in self.horizons)
        cases = self._last.worded(count(self.posterior.cases, "case"))
        return f"HorizonAssessment({cases}, horizons {times}: {self.headline()})"

    def _repr_html_(self) -> str:
        shown = self.tables["horizons"].show()
        rows = {line.label: line.cells for line in shown.lines}
        return card("\n".join(self.verdicts()), shown.heads[1:], rows)
