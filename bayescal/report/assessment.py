"""assess(): one answer from outcomes and scores, and the page it stands on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bayescal.core.errors import InputError, as_items, as_level, as_levels, check_choice, check_type
from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import MEDIA, Column, Row, Table
from bayescal.core.text import capitalised, count, percent
from bayescal.data.doors import CaseRoles, door, table_of
from bayescal.data.matrices import Risks
from bayescal.data.stored import fingerprint
from bayescal.data.table import CalibrationData, check_factors
from bayescal.fitting import compare
from bayescal.gain import Recommendation
from bayescal.inference.averaging import PRIOR_CALIBRATED
from bayescal.model.priors import Prior, as_prior
from bayescal.planning.result import Plan
from bayescal.posterior.functionals import FUNCTIONALS, main_functionals
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.several import Several
from bayescal.report import render
from bayescal.report.facts import STANDARD_WORDS, Facts, Limit
from bayescal.report.figures import as_svg, plain_colours
from bayescal.report.groups import (
    check_few_labels,
    check_groups,
    leading,
    main_numbers,
    roles_of_groups,
)
from bayescal.report.notes import notes_of
from bayescal.report.page import lead_figure, page_of, to_do, tripod_of
from bayescal.report.paper import describe, tripod
from bayescal.report.performance import PANEL, mean_score, panel_for
from bayescal.report.tables import Tables, summarised
from bayescal.report.verdict import Verdict, is_short, lowered, seen, verdict_of
from bayescal.report.words import Words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST_CURVES = 6
EACH_ALONE = "The posterior at each horizon is that of an assessment at this horizon alone."
MARKS = ("", "new", "validated")


class Reported:
    """What has a page, and becomes files and numbers."""

    page: Callable[..., Page]

    def to_html(self, path: str | PathLike[str], **details: Any) -> None:
        """Write the report: one file, no network. For a PDF print it from a browser.

        Parameters
        ----------
        path : str or path-like
            Its name ends in .html or .htm.
        **details
            As of `page`.
        """
        render.write_html(self.page(**details), path)

    def to_word(self, path: str | PathLike[str], **details: Any) -> None:
        """Write the report as a Word document: two pages and an appendix.

        It needs python-docx, `pip install "bayescal[word]"`.

        Parameters
        ----------
        path : str or path-like
            Its name ends in .docx.
        **details
            As of `page`.
        """
        render.write_word(self.page(**details), path)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and names, ready for JSON; what is not finite is None."""
        return render.json_of(self.page())


class HorizonAssessment(Reported):
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

        rows = {}
        for at, each in self._assessments.items():
            f = each.facts
            assert f.data.follow_up is not None
            numbers, predicted = main_numbers(f.posterior, f.ci_prob), mean_score(f.data)
            row = {
                "observed": numbers["observed_expected_estimate"] * predicted,
                "predicted": predicted,
                "censored": f.data.follow_up.censored / f.data.n,
                "prob_calibrated": f.prob_calibrated,
            }
            rows[at] = row | numbers
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("horizon")

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The table of the horizons, "horizons"; those of each are in `at(horizon).tables`."""
        rows = [Row(f"{at:g}", f"{at:g}", row.to_dict()) for at, row in self.by_horizon.iterrows()]

        def shares(row: Row) -> str:
            return f"{100 * row['observed']:.3g} %, {100 * row['predicted']:.3g} %"

        columns = [Column("observed", "Observed, predicted", shares, media=MEDIA[:1])]
        columns += [
            summarised(
                name,
                capitalised(FUNCTIONALS[name].short),
                media=MEDIA[:1] if name == "calibration_slope" else MEDIA,
            )
            for name in main_functionals()
        ]
        level = percent(self._last.facts.ci_prob)
        title = f"Each horizon: estimates and {level} intervals"
        made = Table("horizons", title, "Horizon", columns, rows, short="By", stacks=True)
        return {"horizons": made.worded(self._last.facts.worded)}

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
            self._last.facts.worded(count(self.posterior.cases, "case")),
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
        cases = self._last.facts.worded(count(self.posterior.cases, "case"))
        return f"HorizonAssessment({cases}, horizons {times}: {self.headline()})"

    def _repr_html_(self) -> str:
        return self.tables["horizons"].beneath("\n".join(self._headlines))


@door(several=HorizonAssessment)
def assess(
    y_true: Any,
    y_prob: Any = None,
    *,
    limit: float | None = None,
    ci_prob: float = 0.95,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    prior_calibrated: float = PRIOR_CALIBRATED,
    thresholds: Sequence[float] = (),
    estimators: Sequence[str] = PANEL,
    draws: int = 4000,
    random_state: int | np.random.Generator | None = None,
    edge: float | None = None,
    labels: Words | None = None,
    **roles: Unpack[CaseRoles],
) -> Assessment:
    """Assess the calibration of predicted probabilities.

    Fits several families of curves and averages over them, computes frequentist estimators with
    their range for a calibrated model, and recommends whether to update the model.

    Parameters
    ----------
    %(cases)s
    limit : float in (0, 1), optional
        A true calibration error that is small enough. Nothing is said of a limit unless it is
        given; choose it before you look at the data.
    ci_prob : float in (0, 1)
        Probability of all intervals.
    prior : {"neutral", "clinical"}, Prior, or mapping
    prior_calibrated : float in (0, 1)
        Prior probability of exact calibration. It is refused where curves of groups or periods
        are of one fit: there it is 0.1 of all of them, and 0.2 of their average.
    thresholds : sequence of float in (0, 1)
        Risks from which a patient is treated. The report then has the net benefit at each.
    estimators : sequence of str
        The panel, by names in `bayescal.estimators`. Of times to an event there is none unless
        some of those of `check_consistency` are named: "survival_ici", "survival_emax"
        and "survival_observed_expected".
    draws : int
    random_state : int or numpy.random.Generator, optional
        By default it is made of the table, so that equal data give equal words.
    edge : float in (0, 0.5), optional
    labels : Words, optional
        What the report calls cases, sites and the event: `bc.words(case="item", site="task",
        event="correct")`. The record, `to_dict()`, has the standard words.

    Returns
    -------
    Assessment
        Of several horizons HorizonAssessment: one report, with a row and a curve for each.

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, a name is unknown, or the
        table is class-wise.

    Notes
    -----
    All cases together are assessed, and each of at most 200 sites, periods or levels of a subgroup
    by a curve of its own in one fit. Sites, subgroups and periods may come together: then the curve
    of a case is the average moved by its site, by its subgroup and by its period. Of imputations
    the posteriors are mixed; estimators are computed on each and averaged. A class-wise table is
    fitted, not assessed.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    >>> bc.assess(y_true, y_prob).headline()
    'Too extreme: slope 0.63 (0.40 to 0.88); off by 5 points (2 to 9).'
    """
    named = as_items(estimators, "estimators")
    level, told = as_level(ci_prob), STANDARD_WORDS if labels is None else labels
    check_type(told, Words, "labels", "Make them with bc.words(case=..., site=..., event=...).")
    chosen = None if limit is None else Limit(as_level(limit, "limit"))
    treated = tuple(sorted(set(as_levels(thresholds, "thresholds"))))
    takes: dict[str, bool] = {"times": True, "classes": True}
    data = table_of(y_true, y_prob, roles, check_sites=check_few_labels, **takes)
    check_groups(data, prior_calibrated)
    panel = panel_for(data, named)
    crossed = check_factors(data) if len(roles_of_groups(data)) > 1 else None
    pooled = data.pooled() if data.groups else data
    of_fit: dict[str, Any] = {
        "prior": as_prior(prior),
        "prior_calibrated": prior_calibrated,
        "draws": draws,
        "edge": edge,
    }
    seed = int(fingerprint(data)[:8], 16) if random_state is None else random_state
    comparison = compare(pooled, random_state=seed, **of_fit)
    own = data if crossed is None else leading(data)
    made = (comparison, own, chosen, level, panel, of_fit, treated, crossed, told)
    return Assessment(Facts(*made))


class Assessment(Reported):
    """An answer on one set of predictions, and the page it stands on. Made by `bayescal.assess`.

    Attributes
    ----------
    facts : Facts
        The numbers, each computed when it is first read.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    @property
    def posterior(self) -> CalibrationPosterior:
        """The posterior that every result is of."""
        return self.facts.posterior

    @property
    def data(self) -> CalibrationData:
        """All cases, with their groups."""
        return self.facts.data

    @property
    def recommendation(self) -> Recommendation:
        """Which update to make, if any, by what it probably gains."""
        return self.facts.recommendation

    def headline(self) -> str:
        """What is seen first: at most 20 words, and two numbers with their intervals."""
        told = self._verdict
        return self.facts.worded(f"{told.first} {told.alarm}".strip())

    def summary(self, ci_prob: float | None = None) -> pd.DataFrame:
        """Every functional with its credible interval; see `CalibrationPosterior.summary`.

        With thresholds, also the net benefit lost to miscalibration.

        Parameters
        ----------
        ci_prob : float in (0, 1), optional
            By default that of the assessment.

        Returns
        -------
        pandas.DataFrame
        """
        level = self.facts.ci_prob if ci_prob is None else ci_prob
        return self.posterior.summary(level, thresholds=self.facts.thresholds)

    def with_limit(self, limit: float | None, *, mark: str = "") -> Assessment:
        """The same assessment under another limit; nothing is computed again.

        The record says that the limit was set after the result was seen.

        Parameters
        ----------
        limit : float in (0, 1) or None
        mark : {"", "new", "validated"}
            What you say of the model: made from few patients or by a machine, or validated before.
            It is recorded, and changes no verdict.

        Returns
        -------
        Assessment
        """
        check_choice(mark, MARKS, "mark")
        chosen = None if limit is None else Limit(as_level(limit, "limit"), True, mark)
        before = self.facts.limit
        if before is not None and chosen is not None and before.value == chosen.value:
            chosen = replace(before, mark=mark)
        return Assessment(self.facts.with_limit(chosen))

    @cached_property
    def tables(self) -> Mapping[str, Any]:
        """The tables of the report, by name, such as "first" or "groups".

        Each holds its numbers as they were computed: `tables["first"].to_frame()`, and
        `to_markdown()` or `to_latex()` for a paper.
        """
        return {name: table.worded(self.facts.worded) for name, table in self._tables.items()}

    @cached_property
    def _tables(self) -> Tables:
        return Tables(self.facts)

    @cached_property
    def _verdict(self) -> Verdict:
        return verdict_of(seen(self.facts))

    def page(self, *, title: str | None = None, source: Mapping[str, object] | None = None) -> Page:
        """What is told: the answer, what it rests on, and an appendix.

        Parameters
        ----------
        title : str, optional
            By default it is made of the source.
        source : mapping of str to object, optional
            Where the data came from: {"File": "predictions.csv", "Probability": "risk",
            "Outcome": "died"}. Of a path, only the file's name is shown.
        """
        if title is not None:
            check_type(title, str, "title", "Pass a text.")
        if source is not None and not isinstance(source, Mapping):
            raise InputError(
                "source must be a mapping, such as {'File': 'cases.csv'}, got "
                f"{type(source).__name__}."
            )
        return page_of(self.facts, self._verdict, self._tables, title, source)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Reliability diagram of the posterior; see `bayescal.plots.reliability`."""
        from matplotlib.text import Text

        from bayescal import plots

        axes = plots.reliability(self.posterior, ax, **options)
        for text in axes.findobj(Text):
            assert isinstance(text, Text)
            text.set_text(self.facts.worded(text.get_text()))
        return axes

    def describe(self) -> str:
        """Methods and results in sentences for a paper, as TRIPOD+AI asks for them."""
        return self.facts.worded(describe(self.facts, self._verdict, to_do(self.facts)))

    def tripod(self, plan: Plan | None = None, source: dict[str, object] | None = None) -> str:
        """The items of TRIPOD+AI on calibration, filled in with this analysis, as Markdown.

        What the analysis does not know, such as how predictions were computed, is left to the
        authors.

        Parameters
        ----------
        plan : Plan, optional
            What `bayescal.plan` returned, if the number of patients was chosen by it: item 10.
        source : dict of str to object, optional
            Numbers for the flow of cases, items 11 and 20a: {"Rows read": 900, "Rows dropped": 12}.

        References
        ----------
        Collins et al. (2024), TRIPOD+AI statement, BMJ 385, e078378.
        """
        if plan is not None:
            check_type(plan, Plan, "plan", "Pass what bayescal.plan returns.")
        if source is not None:
            check_type(source, dict, "source", 'Pass a dict such as {"Rows read": 900}.')
        return tripod(tripod_of(self.facts, self._verdict, plan, source))

    @property
    def notes(self) -> list[str]:
        """What a reader should bear in mind: moved scores, few events, draws not to be trusted."""
        return [self.facts.worded(text) for text in notes_of(self.facts)]

    def val_prob(self) -> pd.Series:
        """What R's `val.prob` prints, by its names; of the data, not of the posterior."""
        return self.facts.val_prob.copy()

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the facts alone, of which tables and words are made again."""
        return {"facts": self.facts}

    def __str__(self) -> str:
        return str(page_of(self.facts, self._verdict, self._tables, is_whole=False))

    def __repr__(self) -> str:
        told = self.facts.worded(self.posterior.data.size_in_words)
        return f"Assessment({told}: {self.headline()})"

    def _repr_html_(self) -> str:
        advised = self.facts.worded(to_do(self.facts))
        text = self.tables["first"].beneath(f"{self.headline()}\n{advised}")
        drawing = as_svg(lead_figure(self.facts), f"card-{self.facts.sha256[:12]}")
        return f'{text}<div style="max-width:26em">{plain_colours(drawing)}</div>'
