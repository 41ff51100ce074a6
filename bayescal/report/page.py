"""The page of an assessment: the answer, what it rests on, and an appendix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.page import Block, Figure, Page, Section
from bayescal.core.table import Column, Row, Table
from bayescal.core.text import chance, count, percent, shortened
from bayescal.fitting.unknown import known_fit
from bayescal.model.priors import PRESETS
from bayescal.report.facts import Facts
from bayescal.report.followed import cases_and_events_of, followed_words
from bayescal.report.groups import roles_of_groups
from bayescal.report.notes import notes_of
from bayescal.report.paper import REFERENCES, TripodItem, cited, methods, short_method, tripod_items
from bayescal.report.performance import mean_score
from bayescal.report.record import as_dict
from bayescal.report.tables import Tables, texts
from bayescal.report.verdict import Verdict

if TYPE_CHECKING:
    from bayescal.planning.result import Plan


REPORT_TITLE = "Calibration report"
LONGEST_TITLE, LONGEST_VALUE = 120, 80
# Rows of a forest; of more groups there is none.
MOST_IN_A_FOREST = 60
MOST_CURVES = 6
RANGE_STEPS = 60
# Tables of whom the results are true of, in the appendix.
MORE_OF_PARTS = ("populations", "spread", "combinations")
# What the page cites beside its methods and notes.
ALSO_CITED = ("Van Calster et al., 2019", "Austin and Steyerberg, 2019", "Collins et al., 2024")


def page_of(
    f: Facts,
    verdict: Verdict,
    tables: Tables,
    title: str | None = None,
    source: Mapping[str, object] | None = None,
    *,
    is_whole: bool = True,
) -> Page:
    """The page in the words of `labels`; names from the data stay as they are.

    Without `is_whole` figures, appendix and record are left out, which a terminal does not show.
    """
    told = {str(key): value for key, value in (source or {}).items() if value is not None}
    if "File" in told:  # its name alone, since reports travel
        told["File"] = Path(str(told["File"])).name
    notes = list(notes_of(f))
    advised = to_do(f)
    answer = (verdict.first, verdict.limit, verdict.alarm or advised)
    figures = [lead_figure(f), *_forest(f)] if is_whole else []
    if verdict.name == "parts":
        figures.reverse()
    lead = Section("Results", (*verdict.more, *figures[:1], tables["first"]))
    sections = [lead, *_parts(f, tables), *_to_do(f), *_thresholds(f, tables)]
    if "followed" in tables:
        seen = followed_words(f.posterior.data, f.ratio_at_other_hazard)
        sections.append(Section("Follow-up", (*seen, tables["followed"])))
    unseen = _missing(f)
    sections += [*unseen.sections, Section("Methods", (short_method(f),))]
    if is_whole:
        more = [tables[name] for name in MORE_OF_PARTS if name in tables]
        if figures[1:] or more:
            sections.append(Section(f"More by {f.kind}", (*figures[1:], *more), True))
        sections += _appendix(f, verdict, tables, advised, told, notes)
    words: dict[str, Any] = {
        "title": _title(told, title),
        "subject": subject(f),
        "answer": tuple(text for text in answer if text),
    }
    record = {}
    if is_whole:  # in standard words
        record = {**as_dict(f, verdict, advised, notes), **words, "source": told, **unseen.record}
    page = Page(
        **words, sections=tuple(sections), notes=tuple(notes), record=record, tone=verdict.tone
    )
    return page.worded(f.worded) if f.labels.by_standard else page


def subject(f: Facts) -> str:
    """Cases and events, and the mean prediction."""
    data = f.posterior.data
    expected = 100 * mean_score(data)
    places = 1 if min(expected, 100 - expected) >= 1 else 3
    return f"{cases_and_events_of(data)}; {expected:.{places}f} % predicted on average"


def _title(source: Mapping[str, object], title: str | None) -> str:
    """The title as told, or score, file and outcome: "risk in predictions.csv, outcome died"."""
    if title:
        return shortened(title, LONGEST_TITLE)
    score, file, outcome = (source.get(key) for key in ("Probability", "File", "Outcome"))
    if not score or not file:
        return REPORT_TITLE
    ending = f", outcome {outcome}" if outcome else ""
    horizon = source.get("Horizon")
    ending += f" by {horizon:g}" if isinstance(horizon, float) else ""
    return shortened(f"{score} in {file}{ending}", LONGEST_TITLE)


# What to do


def to_do(f: Facts) -> str:
    """The recommendation, and for whom it is; with reversed scores that none is offered."""
    advice = f.recommendation
    if advice.runs_wrong_way is not None:
        return advice.runs_wrong_way.advice
    told = " ".join(advice.answer)
    if f.clearly_off:
        first = f"Look at the {f.kind}s that are clearly off, one by one"
        told = f"{first}; what follows is for all together. {told}"
    if f.prob_better_next is not None:
        share = chance(f.prob_better_next)
        told += f" In the next {f.kind} it is better than no update with probability {share}."
    return told


def _to_do(f: Facts) -> Iterator[Section]:
    """What each update would gain, and how to apply the one that is recommended."""
    advice = f.recommendation
    if advice.choice is None:
        return
    page = advice.page()
    (updates,) = page.sections
    yield Section("What an update would gain", (*updates.blocks, *_applied(f), *page.notes))


def _applied(f: Facts) -> Iterator[str]:
    chosen, score = f.recommendation.choice, np.unique(f.posterior.data.score)
    if chosen in (None, "identity"):
        return
    if score.size == 1:
        yield (
            f"All scores are {score[0]:.3g}, so this is one risk for all patients: "
            f"{float(f.curve_at(score)[0, 0]):.3g}."
        )
    elif f.equation is None:
        yield (
            "It has no short equation: apply it with "
            f"bayescal.recalibrate.BayesianRecalibrator(curve='{chosen}')."
        )
    else:
        terms = ["logit(p) = ln(p / (1 - p))"] if "logit" in str(f.equation) else []
        meaning = " and ".join([*terms, "expit(x) = 1 / (1 + exp(-x))"])
        yield f"The equation: {f.equation}, with {meaning}. Check it on new patients."


# Figures


def lead_figure(f: Facts) -> Figure:
    """The calibration curve with its band, and events and non-events."""
    caption = (
        f"The posterior mean of the curve with its {percent(f.ci_prob)} band, the diagonal of "
        "perfect calibration, and the scores of cases with and without the event."
    )
    at, curve = f.curve
    some = np.unique(np.linspace(0, at.size - 1, 5).round().astype(int))
    reads = "; ".join(
        f"predicted {score:.3g}: actual {mean:.3g} ({low:.3g} to {high:.3g})"
        for score, (mean, low, high) in zip(at[some], curve[some].tolist(), strict=True)
    )
    options = {"ci_probs": (f.ci_prob,)}
    title = "Calibration curve"
    return Figure("reliability", f.posterior, options, title, caption, f"{title}. {reads}.")


def _forest(f: Facts) -> Iterator[Figure]:
    """O/E of groups, periods or subgroups, each beside the others; or the curve of each."""
    post, rows = f.several, 0
    if post is not None and f.kind != "period":
        rows = sum(len(post.levels[axis]) for axis in f.axes)
    if post is not None and rows <= MOST_IN_A_FOREST:
        title = f"Observed / expected events by {f.kind}"
        caption = f"Estimates with {percent(f.ci_prob)} intervals of one fit."
        name, options = "drift", dict[str, Any](ci_prob=f.ci_prob)
        if f.kind != "period":
            name = "forest"
            caption += " Filled: the interval excludes 1. Squares: each alone."
            options |= {"by": f.axes[0]} if f.data.groups else {}
        named = "; ".join(
            f"{shortened(label)} {row['estimate']:.2f}" for label, row in f.clearly_off.items()
        )
        alt = f"{title}. Clearly off: {named or 'none'}."
        yield Figure(name, post, options, title, caption, alt)
    if post is None and 2 <= len(f.data.groups) <= MOST_CURVES:
        title = f"Calibration curve of each {f.kind}"
        yield Figure("reliability", f.groups, {"ci_probs": (f.ci_prob,)}, title, alt=title)


# Sections


def _parts(f: Facts, tables: Tables) -> Iterator[Section]:
    """Sites, periods or subgroups, a row each, and what the fit of all says."""
    names = [name for name in ("groups", "levels") if name in tables]
    if names:
        sentences = [*_unlike(f), *_explained(f), *_by_factor(f)]
        yield Section(f"By {f.kind}", (*sentences, *(tables[name] for name in names)))
    if "periods" in tables:
        title = "Observed / expected events over time"
        drawn = Figure("drift", f.periods, {"ci_prob": f.ci_prob}, title, alt=title)
        yield Section("Over time", (drawn, tables["periods"]))


def _unlike(f: Facts) -> Iterator[str]:
    """Sites that are unlike the others."""
    if f.sites is None:
        return
    named = ", ".join(
        f"{shortened(label)} ({chance(prob)})" for label, prob in f.sites.unlike().items()
    )
    if named:
        yield f"Unlike the others, with its probability: {named}."


def _explained(f: Facts) -> Iterator[str]:
    """How periods are explained, and when the curve changed."""
    if f.periods is None or f.kind != "period":
        return
    shares = f.periods.explanations
    yield (
        f"One curve for all periods has probability {chance(float(shares['constant']))}, one "
        f"sudden change {chance(float(shares['sudden']))} and gradual drift "
        f"{chance(float(shares['gradual']))}."
    )
    when = f.periods.when_changed()["prob"]
    equal, most = float(when.mean()), float(when.max())
    # Without these bars a month was named in a quarter of the simulated years in which nothing
    # changed, with them in 11 to 12 % (100 years a cell).
    if shares["constant"] < 0.5 and most >= max(0.1, min(2 * equal, 0.5)):
        into = shortened(str(when.idxmax()))
        yield f"The largest change was most probably into {into} (probability {chance(most)})."


def _by_factor(f: Facts) -> Iterator[str]:
    """Which level of each factor is worst."""
    if f.several is None:
        return
    for factor in dict.fromkeys(part.factor for part in f.subgroups if len(part.levels) == 1):
        worst = f.several.prob_worst(factor)
        yield (
            f"By {shortened(factor)} the calibration error is largest for "
            f"{shortened(str(worst.idxmax()))} with probability {chance(float(worst.max()))}."
        )


def _thresholds(f: Facts, tables: Tables) -> Iterator[Section]:
    """Decisions at the thresholds that were given."""
    if not f.thresholds:
        return
    over = f.decision_range
    at = np.linspace(over.lowest, over.highest, RANGE_STEPS)
    options = {"thresholds": at, "ci_prob": f.ci_prob}
    curve = Figure("net_benefit", {"The model": f.posterior}, options, "Decision curve")
    names = ("benefit", "lost", "classification")
    yield Section("Is it useful for decisions?", (curve, *(tables[name] for name in names)))


def _missing(f: Facts) -> Page:
    """What the outcomes that are missing could change, as a section; empty if none is."""
    if f.data.unknown is None:
        return Page("", "", ())
    page = known_fit(f.posterior if f.several is None else f.several).page(
        None if f.limit is None else f.limit.value, f.ci_prob
    )
    tables = [block for each in page.sections for block in each.blocks if isinstance(block, Table)]
    told: tuple[Block, ...] = (f"{page.subject}.", *page.answer, *tables)
    return replace(
        page,
        sections=(Section("Missing outcomes", told),),
        record={"missing_outcomes": page.record},
    )


def _appendix(
    f: Facts,
    verdict: Verdict,
    tables: Tables,
    advised: str,
    source: Mapping[str, object],
    notes: list[str],
) -> Iterator[Section]:
    """What stands behind the second page."""
    exact = _exactness(f)
    yield Section("All measures", (tables["measures"], tables["curve"], *exact), True)
    blocks: list[Block] = [] if f.thresholds else [tables["classification"]]
    if not f.posterior.problem.of_times:
        options = {"thresholds": f.thresholds}
        blocks.insert(0, Figure("risk_distribution", f.posterior, options, "Risks by outcome"))
    if blocks:
        yield Section("Risks by outcome, and whom a threshold selects", tuple(blocks), True)
    names = ("estimators", "families", "diagnostics", "imputations", "val_prob")
    computed = tuple(tables[name] for name in names if name in tables)
    yield Section("Estimators, families of curves and computation", computed, True)
    items = tripod_of(f, verdict, None, source)
    rows = [Row(item.number, item.number, {"text": item.text}, hint=item.topic) for item in items]
    title = "Items of the TRIPOD+AI checklist on calibration, filled in with this analysis"
    filled_in = Table("tripod", title, "Item", (texts("text", "This analysis"),), rows)
    yield Section("TRIPOD+AI", (filled_in,), True)
    yield Section("Methods in full", (methods(f),), True)
    yield Section("Data and settings", (_data_table(f, source),), True)
    yield Section("Code for the same numbers", (call_again(f),), True, True)
    keys = dict.fromkeys([*cited(" ".join([methods(f), *notes])), *ALSO_CITED])
    listed = tuple(f"{REFERENCES[key].text} doi:{REFERENCES[key].doi}" for key in keys)
    yield Section("References", listed, True, True)


def _exactness(f: Facts) -> Iterator[str]:
    """The probability of exact calibration, and how much it depends on the prior."""
    if not np.isfinite(f.prob_calibrated):
        return
    whose = "the model" if f.several is None else f"every {f.kind}"
    yield (
        f"That {whose} is exactly calibrated has probability {chance(f.prob_calibrated)}, from a "
        f"prior of {f.prior_calibrated:g}; at even prior odds it is "
        f"{chance(f.prob_calibrated_at(0.5))}."
    )


def tripod_of(
    f: Facts, verdict: Verdict, plan: Plan | None, source: Mapping[str, object] | None
) -> list[TripodItem]:
    """The items, in the words of `labels`."""
    items = tripod_items(f, verdict, to_do(f), plan, source)
    return [item._replace(text=f.worded(item.text)) for item in items]


def _data_table(f: Facts, source: Mapping[str, object]) -> Table:
    """What was assessed, and with which settings."""
    data, problem = f.posterior.data, f.comparison.problem
    cells = " cells of a grid" if data.is_compressed else ""
    lines = dict(source) | {
        "Cases": count(data.n),
        "Events": f"{count(data.events)} ({100 * data.events / data.n:.3g} %)",
        "Distinct predictions": count(data.score.size) + cells,
        "Prior on the curves": problem.prior.name,
        "Prior probability of exact calibration": f"{f.prior_calibrated:g}",
        "Seed": str(f.seed),
        "Fingerprint of the data": f.sha256[:16],
    }
    if f.data.groups:
        lines[f"{f.kind.capitalize()}s"] = count(len(f.data.groups))
    if f.limit is not None:
        when = "after the result was seen" if f.limit.moved else "before the result was seen"
        mark = {"": "", "new": "; the model is marked as new"}.get(
            f.limit.mark, "; the model is marked as validated before"
        )
        lines["Limit"] = f"{f.limit.value:g}, set {when}{mark}"
    rows = [
        Row(key, shortened(key), {"value": shortened(value, LONGEST_VALUE)})
        for key, value in lines.items()
    ]
    column: Column = texts("value", "Value")
    return Table("data", "Data and settings", "What", (column,), rows)


def call_again(f: Facts) -> str:
    """What to type to have these numbers again."""
    prior = repr(f.prior.name) if f.prior == PRESETS.get(f.prior.name) else repr(f.prior)
    cases = "y_true, y_prob"
    if f.data.follow_up is not None:
        horizon = f"{f.data.follow_up.horizon:g}"
        cases = f"bayescal.Survival(time, event), y_prob, horizon={horizon}"
    roles = f.own.split(" and ") if roles_of_groups(f.given) else []
    cases += "".join(f", {role}={role}" for role in roles)
    options = [f"thresholds=[{', '.join(f'{t:g}' for t in f.thresholds)}]"] if f.thresholds else []
    options += [] if f.limit is None else [f"limit={f.limit.value:g}"]
    options += [f"ci_prob={f.ci_prob:g}"] if f.ci_prob != 0.95 else []
    options += [f"prior={prior}"] if f.prior.name != "neutral" else []
    if f.several is None:
        options.append(f"prior_calibrated={f.prior_calibrated:g}")
    options += [f"draws={f.posterior.draws}", f"random_state={f.seed}"]
    return f"bayescal.assess({', '.join([cases, *options])})"
