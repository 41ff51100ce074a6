"""Plan: a sample size, what it rests on, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import Column, Table, chances, rows_of
from bayescal.core.text import count
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PLANNED_LABELS", "Plan"]

PLANNED_LABELS = {name: functional.label for name, functional in FUNCTIONALS.items()} | {
    "c_statistic": "c-statistic",
    "gain": "fall in the Brier score",
}
METHODS_IN_WORDS = {
    "average": "the posterior averaged over families of curves, as in bayescal.assess",
    "curve": "the posterior of one family of calibration curves",
    "wald": "the usual frequentist interval",
}
CONCLUDED = {
    "close enough": "the model is close enough to calibrated (TCE below {limit:g})",
    "miscalibrated": "the model is miscalibrated (TCE above {limit:g})",
    "update": "an update of the model is recommended",
}


@dataclass(frozen=True)
class Plan:
    """A sample size. Made by `bayescal.plan`.

    Attributes
    ----------
    n : int
        Patients that the study needs.
    monte_carlo_error : float
        Standard error of `n`, from the number of simulated studies.
    prevalence : float
        Share of events that was assumed, on average.
    of : str
        What the interval is of.
    width : float or None
        Widest interval that is allowed; None where a conclusion was asked for.
    conclude : str or None
        The conclusion that was asked for.
    limit : float
        Error that counts as close enough.
    assurance : float or None
        Probability with which the goal is reached; None for the mean width.
    analysis : str
        "average", "curve" or "wald".
    ci_prob : float
    described : str
        The assumed truth and scores, in words.
    table : pandas.DataFrame
        One row a simulated size: `n`, expected `events`, `studies` simulated, mean `width`, the
        `width_assured` that a share `assurance` of the studies keeps to, the share of the studies
        that reach the goal (`reached`) and its standard error (`reached_error`), and the width of
        the closed form (`closed_form`), where there is one.
    closed_form : dict of str to float
        Sizes by Riley's closed forms for this width, where there is one.
    seed : int
    clusters : int or None
        Clusters that the patients come in.
    """

    n: int
    monte_carlo_error: float
    prevalence: float
    of: str
    width: float | None
    conclude: str | None
    limit: float
    assurance: float | None
    analysis: str
    ci_prob: float
    described: str
    table: pd.DataFrame
    closed_form: Mapping[str, float]
    seed: int
    clusters: int | None = None

    @property
    def events(self) -> float:
        """Events expected to be seen among `n` patients."""
        return self.n * self.prevalence

    def goal(self) -> str:
        """What a study of this size reaches, as a clause."""
        if self.conclude is not None:
            concluded = CONCLUDED[self.conclude].format(limit=self.limit)
            return f"concludes with probability {self.assurance:g} that {concluded}"
        label, level = PLANNED_LABELS[self.of], 100 * self.ci_prob
        what = f"a {level:g} % interval of the {label}"
        if self.assurance is None:
            return f"has {what} that is on average {self.width:g} wide"
        return f"has {what} no wider than {self.width:g} with probability {self.assurance:g}"

    def protocol(self) -> str:
        """The sample size as a paragraph for a study's protocol.

        Returns
        -------
        str

        Examples
        --------
        >>> import bayescal as bc
        >>> scores = bc.simulate.scores(prevalence=0.2, c_statistic=0.75)
        >>> goal = {"of": "calibration_slope", "width": 0.3, "analysis": "wald"}
        >>> plan = bc.plan(**goal, truth="clinical", scores=scores, random_state=1)
        >>> plan.protocol().startswith("Sample size. We plan to include ")
        True
        """
        from bayescal.core.versions import library_versions

        studies, sizes = int(self.table["studies"].max()), len(self.table)
        error = count(round(self.monte_carlo_error), "patient")
        method = METHODS_IN_WORDS[self.analysis]
        version = library_versions("bayescal")["bayescal"]
        closed = "".join(
            " For comparison, the closed form of Riley et al. (2021), which takes a calibrated "
            f"model and gives no assurance, asks for {count(round(size), 'patient')}."
            for size in self.closed_form.values()
        )
        return (
            f"Sample size. We plan to include {self._size()}, of whom about "
            f"{count(round(self.events))} are expected to have the event. A study of this size "
            f"{self.goal()}. This was computed by simulating up to {studies:,} studies at each of "
            f"{sizes} sizes and analysing each of them as planned ({method}; "
            f"bayescal {version}, seed {self.seed}). Assumed: {self.described}. The Monte Carlo "
            f"standard error of the sample size is {error}."
            f"{closed}"
        )

    def _size(self) -> str:
        patients = count(self.n, "patient")
        within = "" if self.clusters is None else f" in {count(self.clusters, 'cluster')}"
        return f"{patients}{within}"

    def page(self) -> Page:
        """The size, what it reaches, and what it rests on."""
        error = count(round(self.monte_carlo_error), "patient")
        events = count(round(self.events), "event")
        answer = (
            f"Include {self._size()} (about {events}).",
            f"A study of this size {self.goal()}.",
        )
        columns = (
            Column("events", "Events", lambda row: count(round(row["events"]))),
            Column(
                "width",
                "Mean width",
                lambda row: f"{row['width']:.3g}" if row["width"] == row["width"] else "",
            ),
            chances("reached", "Goal reached"),
        )
        labels = {at: count(n, "patient") for at, n in self.table["n"].items()}
        rows = rows_of(self.table, labels)
        table = Table("plan", "Simulated studies of each size", "Size", columns, rows)
        figure = Figure("plan", self, {}, "Width and assurance by size")
        closed = [
            f"Riley's closed form, without assurance, asks for {count(round(size), 'patient')}."
            for size in self.closed_form.values()
        ]
        told = (f"Assumed: {self.described}.", f"Analysis: {METHODS_IN_WORDS[self.analysis]}.")
        record = {
            "n": self.n,
            "events": self.events,
            "seed": self.seed,
            "described": self.described,
        }
        record |= {"monte_carlo_error": self.monte_carlo_error, "analysis": self.analysis}
        record |= {"sizes": self.table.to_dict(orient="records"), "closed_form": self.closed_form}
        return Page(
            "Sample size",
            f"Monte Carlo standard error of the size: {error}",
            (*answer, *closed),
            (
                Section("Simulated sizes", (*told, figure, table)),
                Section("For the protocol", (self.protocol(),)),
            ),
            (),
            record,
        )

    def __repr__(self) -> str:
        return f"Plan\n{self.page()}"

    def _repr_html_(self) -> str:
        page = self.page()
        return page.tables["plan"].beneath("\n".join(page.answer))
