"""assess(): comparison, averaged posterior, estimators and advice, from outcomes and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bayescal.assessment.findings import STANDARD_WORDS, Findings
from bayescal.assessment.followed import cases_and_events_of
from bayescal.assessment.groups import (
    check_few_groups,
    check_few_labels,
    check_not_class_wise,
    check_prior_calibrated,
    check_roles,
)
from bayescal.assessment.horizons import HorizonAssessment
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.panel import PANEL, panel_for
from bayescal.assessment.performance import close_enough
from bayescal.assessment.record import as_dict, metrics
from bayescal.assessment.tables import Tables
from bayescal.assessment.text.paper import describe
from bayescal.assessment.text.terminal import as_text
from bayescal.assessment.text.tripod import tripod
from bayescal.assessment.verdict.words import advice, headline, to_do
from bayescal.assessment.vocabulary import Words
from bayescal.assessment.words import is_reversed
from bayescal.core.errors import as_items, as_level, as_levels, check_type
from bayescal.core.text import card
from bayescal.data.doors import CaseRoles, door, table_of
from bayescal.data.table import CrossedTable
from bayescal.fitting import compare
from bayescal.inference.candidates import PRIOR_CALIBRATED
from bayescal.model.priors import Prior, as_prior
from bayescal.planning.result import Plan
from bayescal.posterior.intervals import SUMMARY_COLUMNS, summary_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Assessment", "assess"]


@door(several=HorizonAssessment)
def assess(
    y_true: Any,
    y_prob: Any = None,
    *,
    close: float | None = None,
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
    close : float in (0, 1), optional
        A true calibration error that is close enough to none. By default 0.03, or when that is
        smaller a quarter of the mean score (or of one minus it), to one digit.
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
    edge : float in (0, 0.5), optional
    labels : Words, optional
        What the report calls cases, groups and the event: `bc.words(case="item", site="task",
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
    All cases together are assessed, and each of at most 200 sites or periods by itself in
    `by_group`. Of several columns of subgroups, `subgroups` has one fit of all of their levels and
    combinations, and `by_subgroup` its table. Of imputations the posteriors are mixed; estimators
    are computed on each and averaged. A class-wise table is fitted, not assessed.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    >>> a = bc.assess(y_true, y_prob, random_state=1)
    >>> a.prob_tce_below(0.15) > 0.95
    True
    """
    named = as_items(estimators, "estimators")
    level, told = as_level(ci_prob), STANDARD_WORDS if labels is None else labels
    check_type(told, Words, "labels", "Make them with bc.words(case=..., site=..., event=...).")
    treated = tuple(sorted(set(as_levels(thresholds, "thresholds"))))
    takes: dict[str, bool] = {"times": True, "classes": True}
    data = table_of(y_true, y_prob, roles, check_sites=check_few_labels, **takes)
    check_roles(data)
    panel = panel_for(data, named)
    crossed = CrossedTable(data) if len(data.subgroups) > 1 else None
    check_few_groups(len(data.groups))
    if crossed is None:
        check_not_class_wise(data)
    check_prior_calibrated(data, prior_calibrated)
    pooled = data.pooled() if data.groups else data
    enough = close_enough(pooled) if close is None else as_level(close, "close")
    of_fit: dict[str, Any] = {
        "prior": as_prior(prior),
        "prior_calibrated": prior_calibrated,
        "draws": draws,
        "edge": edge,
    }
    comparison = compare(pooled, random_state=random_state, **of_fit)
    own = data if crossed is None else pooled
    made = (comparison, own, enough, level, panel, of_fit, treated, crossed, told)
    return Assessment(*made)


class Assessment(Findings):
    """A calibration assessment: its numbers, its words and its figure. Made by `bayescal.assess`.

    Attributes
    ----------
    comparison : CurveComparison
        The families of curves.
    data : CalibrationData
    close : float
        A true calibration error that counts as close enough to none.
    ci_prob : float
        Probability of the intervals.
    panel : tuple of str
        Names of the frequentist estimators.
    options : mapping
        Further arguments of `bayescal.compare`: prior, prior_calibrated, draws and edge.
    thresholds : tuple of float
        Risks from which a patient is treated, for the net benefit.
    crossed : CrossedTable, optional
        The cases by several factors, for subgroups.
    labels : Words
        What the report calls cases, groups, risks and the event.
    """

    @cached_property
    def notes(self) -> list[str]:
        """What a reader should bear in mind: moved scores, few events, draws not to be trusted."""
        return [self.worded(text) for text in assessment_notes(self)]

    @cached_property
    def tables(self) -> Tables:
        """The tables of the terminal and the page, by name, such as "measures" or "groups".

        Each holds its numbers as they were computed: `tables["measures"].to_frame()`, and
        `to_markdown()` or `to_latex()` for a paper.
        """
        return Tables(self)

    def headline(self) -> str:
        """Whether the model is off, by how much, and whether that is more than the limit."""
        return self.worded(headline(self))

    def describe(self) -> str:
        """Methods and results in sentences for a paper, as TRIPOD+AI asks for them."""
        return describe(self)

    def tripod(self, plan: Plan | None = None, source: dict[str, object] | None = None) -> str:
        """The items of TRIPOD+AI on calibration, filled in with this analysis, as Markdown.

        Items 10, 11, 12d to 12g and 14 (methods), 20a, 21, 23a, 23b and 24 (results) of the
        checklist. What the analysis does not know, such as how predictions were computed, is left
        to the authors.

        Parameters
        ----------
        plan : Plan, optional
            What `bayescal.plan` returned, if the number of patients was chosen by it: item 10.
        source : dict of str to object, optional
            Numbers for the flow of cases, items 11 and 20a: {"Rows read": 900, "Rows dropped": 12}.
            The command line knows them.

        Returns
        -------
        str
            A table in Markdown and the references it cites. Names from the data are escaped.

        References
        ----------
        Collins et al. (2024), TRIPOD+AI statement, BMJ 385, e078378.
        """
        if plan is not None:
            check_type(plan, Plan, "plan", "Pass what bayescal.plan returns.")
        if source is not None:
            check_type(source, dict, "source", 'Pass a dict such as {"Rows read": 900}.')
        return tripod(self, plan, source)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and names, ready for JSON; what is not finite is None."""
        return as_dict(self)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Reliability diagram of the averaged posterior; see `bayescal.plots.reliability`."""
        from matplotlib.text import Text

        from bayescal import plots

        axes = plots.reliability(self.posterior, ax, **options)
        for text in axes.findobj(Text):
            assert isinstance(text, Text)
            text.set_text(self.worded(text.get_text()))
        return axes

    def to_html(self, path: str | PathLike[str], **details: Any) -> None:
        """Write the report: one file, no network; see `bayescal.assessment.html.write`."""
        from bayescal.assessment.html import write

        write(self, path, **details)

    def metrics(self, prefix: str = "") -> dict[str, float]:
        """The main numbers by flat names, for a logger of experiments.

        Parameters
        ----------
        prefix : str
            Before every name, such as "calibration/".

        Returns
        -------
        dict of str to float
            For each measure `tce`, `tce_lower` and `tce_upper`, and so on; of groups `own_error`,
            the error against their own curves, in the same way; `prob_close`,
            `prob_miscalibrated`, `prob_calibrated`, `cases` and `events`. What is not defined is
            left out.
        """
        return metrics(self, prefix)

    def to_word(self, path: str | PathLike[str], **details: Any) -> None:
        """Write the report as a Word document; see `bayescal.assessment.word.write_word`.

        It needs python-docx, `pip install "bayescal[word]"`. For a PDF print the page of `to_html`
        from a browser.
        """
        from bayescal.assessment.word import write_word

        write_word(self, path, **details)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the printed tables, which are made again."""
        return {name: value for name, value in self.__dict__.items() if name != "tables"}

    def __str__(self) -> str:
        return as_text(self, self.tables)

    def __repr__(self) -> str:
        told = self.worded(self.posterior.data.size_in_words)
        return f"Assessment({told}: {self.headline()})"

    def _repr_html_(self) -> str:
        from bayescal.assessment.html import card_figure

        data = self.posterior.data
        told = self.worded(cases_and_events_of(data))
        told_to_do = to_do(self) if is_reversed(self) else advice(self)
        text = f"{self.headline()}\n{told}\n{self.worded(told_to_do)}"
        shown = card(text, SUMMARY_COLUMNS, summary_rows(self.table))
        return f"{shown}{card_figure(self)}"
