"""The items of the TRIPOD+AI checklist on calibration, filled in with an assessment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import cases_and_events_of, follow_up_words, points_words
from bayescal.assessment.groups import LEAST_SITES
from bayescal.assessment.imputed import imputations_sentence
from bayescal.assessment.notes import posterior_notes
from bayescal.assessment.tables.decisions import benefit_table, information_table
from bayescal.assessment.tables.essentials import essentials_levels_table
from bayescal.assessment.tables.groups import (
    groups_table,
    populations_table,
    spread_table,
    subgroups_table,
)
from bayescal.assessment.text.paper import methods, performance, performance_source, sample
from bayescal.assessment.text.periods import period_sentences
from bayescal.assessment.text.references import REFERENCES, cited
from bayescal.assessment.text.sites import site_sentences
from bayescal.assessment.verdict.words import (
    advice,
    advice_of_whom,
    lost_at_thresholds,
    to_do,
    whom,
)
from bayescal.assessment.words import first_words, is_reversed, numbers
from bayescal.core.table import in_markdown
from bayescal.core.text import (
    capitalised,
    cases_and_events,
    chance,
    count,
    in_natural_order,
    percent,
    shortened,
)
from bayescal.model.curves import CURVES
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS, main_functionals

if TYPE_CHECKING:
    from bayescal.planning.result import Plan

__all__ = ["TripodItem", "tripod", "tripod_items"]

MOST_GROUPS_LISTED = 20


class TripodItem(NamedTuple):
    """An item of the checklist.

    Attributes
    ----------
    number, topic, text : str
        The text is plain: names from the data stand in it as they are, without line breaks.
    """

    number: str
    topic: str
    text: str


def tripod(
    f: Findings, plan: Plan | None = None, source: Mapping[str, object] | None = None
) -> str:
    """The items as a table in Markdown, and the publications they cite."""
    items = [item._replace(text=f.worded(item.text)) for item in tripod_items(f, plan, source)]
    rows = [f"| {item.number} | {item.topic} | {in_markdown(item.text)} |" for item in items]
    intro = (
        "Items of the TRIPOD+AI checklist on calibration, filled in with this analysis (Collins et "
        "al., 2024). All other items are for the authors to answer."
    )
    keys = cited(" ".join([intro, *(item.text for item in items)]))
    listed = [f"- {REFERENCES[key].text} doi:{REFERENCES[key].doi}" for key in keys]
    table = ["| Item | Topic | This analysis |", "|---|---|---|", *rows]
    return "\n".join([intro, "", *table, "", "References", "", *listed])


def tripod_items(
    f: Findings, plan: Plan | None = None, source: Mapping[str, object] | None = None
) -> list[TripodItem]:
    """The items on calibration, in the order of the checklist.

    Parameters
    ----------
    plan : Plan, optional
        By which the number of patients was chosen.
    source : mapping of str to object, optional
        As of the page. Of it "Rows read" and "Rows dropped" count.
    """
    told = source or {}
    parts = (
        ("10", "Methods: sample size", _sample_size(f, plan)),
        ("11", "Methods: missing data", _missing(f, told)),
        ("12d", "Methods: heterogeneity between clusters", _heterogeneity_methods(f)),
        ("12e", "Methods: measures and plots of performance", _measures(f)),
        ("12f", "Methods: updating of the model", _updating_methods(f)),
        ("12g", "Methods: how predictions were calculated", _predictions(f)),
        ("14", "Methods: fairness", _fairness(f)),
        ("20a", "Results: flow of participants", _flow(f, told)),
        ("21", "Results: participants and events", _participants(f)),
        ("23a", "Results: performance, with intervals", _performance(f)),
        ("23b", "Results: heterogeneity between clusters", _heterogeneity(f)),
        ("24", "Results: updating of the model", _updating(f)),
    )
    return [TripodItem(number, topic, " ".join(text)) for number, topic, text in parts]


def _sample_size(f: Findings, plan: Plan | None) -> list[str]:
    has = cases_and_events_of(f.posterior.data, " with ")
    if plan is not None:
        fewer = " That is fewer than planned." if f.posterior.data.n < plan.n else ""
        return [plan.protocol(), f"The analysis has {has}.{fewer}"]
    widths = [
        f"{FUNCTIONALS[name].short} {low} to {high}"
        for name in ("observed_expected", "calibration_slope")
        if name in f.table.index
        for _, low, high in [numbers(f.table.loc[name], FUNCTIONALS[name].apart)]
    ]
    reached = f" Its {percent(f.ci_prob)} intervals are: {', '.join(widths)}." if widths else ""
    return [
        "How the size was chosen is to be stated by the authors.",
        f"The analysis has {has}.{reached}",
    ]


def _missing(f: Findings, source: Mapping[str, object]) -> list[str]:
    dropped = _rows(source, "Rows dropped")
    left_out = f"{count(dropped, 'row')} with a missing value left out." if dropped else ""
    imputed = imputations_sentence(f.posterior).strip()
    if imputed:
        return [text for text in (imputed, left_out) if text]
    return [
        left_out or "No case that was analysed had a missing value.",
        "Nothing was imputed in this analysis.",
    ]


def _rows(source: Mapping[str, object], name: str) -> float:
    """A number of rows that a source tells; 0 where it tells none."""
    told = source.get(name)
    return float(told) if isinstance(told, int | float) else 0.0


def _fairness(f: Findings) -> list[str]:
    if f.crossed is None:
        return ["Not examined: no subgroups by several factors were given."]
    names = ", ".join(shortened(name) for name in f.crossed.names)
    return [
        f"Calibration was assessed in the levels of {names}, and in the combinations that occur, "
        "by one hierarchical model of logistic curves, which draws subgroups towards each other. "
        "Which differences matter is to be stated by the authors."
    ]


def _flow(f: Findings, source: Mapping[str, object]) -> list[str]:
    data = f.posterior.data
    text = ["Who was eligible and who was excluded before is to be stated by the authors."]
    read, dropped = _rows(source, "Rows read"), _rows(source, "Rows dropped")
    if read:
        why = ", because a value was missing" if dropped else ""
        text.append(f"The file had {count(read, 'row')}; {count(dropped)} left out{why}.")
    has = cases_and_events_of(data, " with ")
    if data.follow_up is None and not data.is_pseudo:
        has = f"{count(data.n, 'case')}: {count(data.events)} with the event and "
        has += f"{count(data.n - data.events)} without it"
    return [*text, f"The analysis has {has}.", *follow_up_words(data)]


def _heterogeneity_methods(f: Findings) -> list[str]:
    groups = f.data.groups
    if not groups:
        return ["No groups were given, so heterogeneity was not examined."]
    if len(groups) == 1:
        kind = "period" if tuple(f.data.levels) == ("period",) else "group"
        one = shortened(groups[0])
        return [f"All cases are of one {kind}, {one}, so heterogeneity was not examined."]
    each = f"Calibration was assessed in each of {count(len(groups), 'group')}"
    if f.several is None:
        return [
            f"{each} by itself.",
            f"With fewer than {LEAST_SITES} groups their spread was not estimated.",
        ]
    return [
        f"{each} by one hierarchical model of logistic curves, which draws their curves towards "
        "each other and estimates how much they differ.",
    ]


def _measures(f: Findings) -> list[str]:
    text = [
        methods(f),
        "Rationale: the curve shows miscalibration at every risk, the true calibration error its "
        "mean size, O/E and calibration-in-the-large whether risks are too high or too low on "
        "average, and the slope whether they are too extreme. Discrimination was measured by the "
        f"C-statistic and overall performance by the Brier score, {performance_source(f)}. Plots: "
        f"the posterior mean of the curve with pointwise bands, over "
        f"{points_words(f.posterior.data)}; the posterior of the true calibration error; "
        f"{_other_plots(f)}.",
    ]
    if not f.thresholds:
        return [*text, "Clinical utility was not measured, since no threshold was given."]
    risks = ", ".join(f"{threshold:g}" for threshold in f.thresholds)
    return [
        *text,
        "Clinical utility was measured by net benefit (Vickers and Elkin, 2006) at "
        f"{_thresholds(f)} {risks}, and by the expected value of perfect information.",
    ]


def _other_plots(f: Findings) -> str:
    over = f.decision_range
    curve = f"the decision curve for thresholds from {over.lowest:g} to {over.highest:g}"
    return curve if f.posterior.problem.of_times else f"the predicted risks by outcome; {curve}"


def _updating_methods(f: Findings) -> list[str]:
    compared = f.recommendation.table.index.drop("identity")
    options = "; ".join(CURVES[str(name)].update for name in compared)
    told = f.recommendation
    decides = "net benefit" if told.thresholds else "Brier score"
    text = [
        f"These updates were compared with no update by the expected {decides} of each, in the "
        f"draws of the calibration curve: {options}. {told.rule} With "
        "few events or non-events nothing is recommended."
    ]
    if f.data.groups:
        text.append("No update for particular groups was considered.")
    return text


def _predictions(f: Findings) -> list[str]:
    return [
        "To be stated by the authors: this analysis begins with the predictions of the model.",
        *(capitalised(note) for note in posterior_notes(f.posterior)),
    ]


def _participants(f: Findings) -> list[str]:
    text = [sample(f)]
    if f.data.groups:
        text.append(
            _listed(
                f,
                {
                    str(name): cases_and_events(row["cases"], row["events"], row["cases"])
                    for name, row in f.by_group.iterrows()
                },
            )
        )
    return text


def _performance(f: Findings) -> list[str]:
    text = [*first_words(f), *performance(f), whom(f)]
    if f.thresholds:
        text += [
            f"Per 1000 patients, net benefit of treating from a risk of {threshold} on was "
            f"{cells['model']} by the model and {cells['treat_all']} treating everyone; the model "
            f"was best with probability {cells['prob_best']}."
            for threshold, cells in benefit_table(f).texts().items()
        ]
        text.append(lost_at_thresholds(f))
        text += [
            "The expected value of perfect information, per 1000 patients and from a risk of "
            f"{threshold} on, was {cells['evpi']} of the choice among strategies and "
            f"{cells['evpi_of_recalibrating']} of recalibrating."
            for threshold, cells in information_table(f).texts().items()
        ]
    return [*text, *_by_subgroup(f)]


def _by_subgroup(f: Findings) -> list[str]:
    """O/E and C-statistic of each level of each factor; nothing without factors."""
    if f.crossed is None:
        return []
    overall, beside = subgroups_table(f).texts(), essentials_levels_table(f).texts()
    clauses = [
        f"{shortened(name)}: O/E {cells['observed_expected']}, C-statistic "
        f"{beside[name]['c_statistic']}"
        for name, cells in overall.items()
        if name in beside
    ]
    more = len(clauses) - MOST_GROUPS_LISTED
    rest = f"; and {more} more" if more > 0 else ""
    return [f"By subgroup: {'; '.join(clauses[:MOST_GROUPS_LISTED])}{rest}."]


def _heterogeneity(f: Findings) -> list[str]:
    if len(f.data.groups) < 2:
        return ["Not examined."]
    each = {
        group: ", ".join(
            f"{FUNCTIONALS[name].short} {cells[name]}"
            for name in main_functionals()
            if cells[name] != NOT_DEFINED
        )
        for group, cells in groups_table(f).texts().items()
    }
    how = "each group by itself" if f.several is None else "of one fit of all groups"
    level = f"Estimates with {percent(f.ci_prob)} credible intervals, {how}."
    if f.sites is None or f.populations is None:
        return [level, _listed(f, each), *period_sentences(f)]
    told = populations_table(f).texts()
    average = told["average"]["tce"]
    of_next = ""
    if "next" in f.populations.index:
        below = chance(float(f.populations["prob_close"]["next"]))
        of_next = (
            "the true calibration error of a group that has not been seen is "
            f"{told['next']['tce']}, and below the limit of {f.close:g} with probability "
            f"{below}; "
        )
    spread = {name: cells["spread"] for name, cells in spread_table(f).texts().items()}
    return [
        level,
        _listed(f, each),
        f"By one hierarchical fit, {of_next}the true calibration error of the average group is "
        f"{average}. Between groups the standard deviation of the shift is {spread['shift']} in "
        f"log-odds, and that of the log slope {spread['log_slope']}.",
        *site_sentences(f),
    ]


def _updating(f: Findings) -> list[str]:
    if is_reversed(f):
        return [to_do(f)]
    text = [f"{advice(f)}{advice_of_whom(f)}"]
    if f.recommendation.choice not in (None, "identity"):
        text.append("The performance of the updated model was not measured on other data.")
        text.append(
            "The equation of the update is to be stated by the authors if it is used."
            if f.equation is None
            else f"The equation of the update: {f.equation}."
        )
    return text


def _listed(f: Findings, of_groups: dict[str, str]) -> str:
    """A clause for each group, and how many are left out."""
    names = in_natural_order(f.data.groups)
    clauses = [f"{shortened(name)}: {of_groups[name]}" for name in names[:MOST_GROUPS_LISTED]]
    left = len(names) - MOST_GROUPS_LISTED
    return f"{'; '.join(clauses)}{f'; and {left} more' if left > 0 else ''}."


def _thresholds(f: Findings) -> str:
    return "the threshold" if len(f.thresholds) == 1 else "the thresholds"
