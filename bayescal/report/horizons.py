"""An assessment at several horizons: one table, a curve for each, and the page of the last."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import MEDIA, Column, Row, Table
from bayescal.core.text import capitalised, count, percent
from bayescal.data.matrices import Risks
from bayescal.posterior.functionals import FUNCTIONALS, main_functionals
from bayescal.posterior.several import Several
from bayescal.report import render
from bayescal.report.performance import mean_score
from bayescal.report.tables import measured
from bayescal.report.verdict import is_short, lowered

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["HorizonAssessment"]

MOST_CURVES = 6
EACH_ALONE = "The posterior at each horizon is that of an assessment at this horizon alone."


class HorizonAssessment:
    """Assessments of the risks by several horizons. Made by `bayescal.assess`.

    Attributes
    ----------
    horizons : tuple of float
    posterior : Several
    """

    def __init__(self, assessments: Mapping[float, Any], risks: Risks) -> None:
        self.horizons = tuple(assessments)
        self._assessments = Several(assessments, "horizon", risks.notes)
        posteriors = {at: each.posterior for at, each in assessments.items()}
        self.posterior = Several(posteriors, "horizon", risks.notes)

    def at(self, horizon: float) -> Any:
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
        the cases, before the horizon), estimate, lower and upper end of TCE, O/E and slope, and
        prob_calibrated.
        """
        import pandas as pd

        shown, rows = main_functionals(), {}
        for at, each in self._assessments.items():
            f = each.facts
            assert f.data.follow_up is not None
            summary, predicted = f.table.reindex(shown), mean_score(f.data)
            row = {
                "observed": float(summary["estimate"]["observed_expected"]) * predicted,
                "predicted": predicted,
                "censored": f.data.follow_up.censored / f.data.n,
                "prob_calibrated": f.prob_calibrated,
            }
            row |= {
                f"{name}_{end}": float(summary[end][name])
                for name in shown
                for end in ("estimate", "lower", "upper")
            }
            rows[at] = row
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("horizon")

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The table of the horizons, "horizons"; those of each are in `at(horizon).tables`."""
        rows = [Row(f"{at:g}", f"{at:g}", row.to_dict()) for at, row in self.by_horizon.iterrows()]

        def shares(row: Row) -> str:
            return f"{100 * row['observed']:.3g} %, {100 * row['predicted']:.3g} %"

        columns = [Column("observed", "Observed, predicted", shares, media=MEDIA[:1])]
        columns += [
            measured(
                name,
                capitalised(FUNCTIONALS[name].short),
                media=MEDIA[:1] if name == "calibration_slope" else MEDIA,
            )
            for name in main_functionals()
        ]
        level = percent(self._last.facts.ci_prob)
        title = f"Each horizon: estimates and {level} intervals"
        made = Table("horizons", title, "Horizon", columns, rows, short="By", stacks=True)
        return {"horizons": made.worded(self._last._worded)}

    def headline(self) -> str:
        """What is seen first at each horizon, a sentence each."""
        return " ".join(self._headlines)

    @property
    def _headlines(self) -> list[str]:
        """The last horizon first, each as short as a first line is."""
        told = []
        for at in reversed(self.horizons):
            text = f"By {at:g}: {lowered(self._assessments[at].headline())}"
            told.append(text if is_short(text) else f"{text.rpartition('; ')[0] or text[:-1]}.")
        return told

    def page(self, *, title: str | None = None, source: Mapping[str, object] | None = None) -> Page:
        """The last horizon's answer first; a row, a curve and the follow-up of each.

        Parameters
        ----------
        title, source
            As of `Assessment.page`.
        """
        each = {at: a.page(title=title, source=source) for at, a in self._assessments.items()}
        last = each[self.horizons[-1]]
        first, *others = self._headlines
        figure = Figure(
            "reliability",
            self._curves(),
            {"ci_probs": (self._last.facts.ci_prob,)},
            "Calibration curve by horizon",
            alt=self.headline(),
        )
        lead = Section("Results", (*others, figure, self.tables["horizons"]))
        followed = tuple(
            block
            for page in each.values()
            for section in page.sections
            if section.title == "Follow-up"
            for block in section.blocks
            if isinstance(block, Table)
        )
        kept = [part for part in last.sections if part.appendix or part.title == "Methods"]
        of_last = tuple(f"At the last horizon, {self.horizons[-1]:g}: {x}" for x in last.answer[1:])
        return Page(
            last.title,
            self._last._worded(count(self.posterior.cases, "case")),
            (first, *of_last),
            (lead, Section("Follow-up", followed), Section("How", (EACH_ALONE,)), *kept),
            tuple(self.notes),
            {
                "horizons": list(self.horizons),
                "by_horizon": [
                    {"horizon": at} | dict(row) for at, row in self.by_horizon.iterrows()
                ],
                "assessments": {f"{at:g}": a.to_dict() for at, a in self._assessments.items()},
            },
        )

    @property
    def notes(self) -> list[str]:
        """How risks were read off whole curves, and what is to be borne in mind of any horizon."""
        each = {at: a.notes for at, a in self._assessments.items()}
        common = [
            text for text in each[self.horizons[0]] if all(text in own for own in each.values())
        ]
        own = [
            f"By {at:g}: {text}"
            for at, notes in each.items()
            for text in notes
            if text not in common
        ]
        return [*self.posterior.notes, *common, *own]

    def _curves(self) -> dict[str, Any]:
        """Of more than six horizons, six from the first to the last."""
        size = min(len(self.horizons), MOST_CURVES)
        chosen = np.unique(np.linspace(0, len(self.horizons) - 1, size).round().astype(int))
        return {f"by {at:g}": self.posterior.at(at) for at in np.array(self.horizons)[chosen]}

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """The curves of all horizons; see `bayescal.plots.reliability`."""
        from bayescal import plots

        return plots.reliability(self._curves(), ax, **options)

    def to_html(self, path: str | PathLike[str], **details: Any) -> None:
        """Write the report of all horizons: one file, no network; see `Assessment.to_html`."""
        render.write_html(self.page(**details), path)

    def to_word(self, path: str | PathLike[str], **details: Any) -> None:
        """Write the report of all horizons as a Word document; see `Assessment.to_word`."""
        render.write_word(self.page(**details), path)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and names, ready for JSON; what is not finite is None."""
        return render.json_of(self.page())

    def describe(self) -> str:
        """Methods and results in sentences for a paper: of all horizons, then of the last."""
        times = " and ".join(f"{at:g}" for at in self.horizons)
        return (
            f"Calibration was assessed at the horizons {times}. {EACH_ALONE}\n\n{self.headline()}"
            f"\n\nAt the horizon {self.horizons[-1]:g}:\n\n{self._last.describe()}"
        )

    @property
    def _last(self) -> Any:
        return self._assessments[self.horizons[-1]]

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the printed tables, which are made again."""
        return {name: value for name, value in self.__dict__.items() if name != "tables"}

    def __str__(self) -> str:
        return str(self.page())

    def __repr__(self) -> str:
        times = ", ".join(f"{at:g}" for at in self.horizons)
        cases = self._last._worded(count(self.posterior.cases, "case"))
        return f"HorizonAssessment({cases}, horizons {times}: {self.headline()})"

    def _repr_html_(self) -> str:
        return self.tables["horizons"].beneath("\n".join(self._headlines))
