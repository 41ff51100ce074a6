"""The tables of an assessment: rows of its numbers, and how each column shows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import check_choice
from bayescal.core.table import (
    MEDIA,
    NOT_TERMINAL,
    Column,
    Row,
    Table,
    chances,
    measured,
    rows_of,
)
from bayescal.core.text import Measured, capitalised, chance, count, decimals, percent, shortened
from bayescal.posterior.functionals import (
    FUNCTIONALS,
    NOT_DEFINED,
    SECTIONS,
    heading,
    main_functionals,
)
from bayescal.report.facts import Facts
from bayescal.report.followed import censoring_by_fifth, quarters, risks_words
from bayescal.report.performance import CLASSIFIED, OVERALL, VAL_PROB, no_panel
from bayescal.report.verdict import band
from bayescal.validation.consistency import RARE

if TYPE_CHECKING:
    import pandas as pd


ON_PAGE = MEDIA[:1]
# Rows of Table 1, beside the error and the performance.
FIRST_ROWS = {
    "observed_expected": "Observed / expected",
    "calibration_in_the_large": "Calibration in the large",
    "calibration_slope": "Calibration slope",
}
SELECTED = {
    "treated": ("Treated", "Treated"),
    "sensitivity": ("Sensitivity", "Sens."),
    "specificity": ("Specificity", "Spec."),
    "ppv": ("PPV", "PPV"),
    "npv": ("NPV", "NPV"),
}
# Tables of parts of the cases: what they show, and the head of their names.
OF_PARTS = {
    "levels": ("Levels of each factor", "Subgroup"),
    "combinations": ("Combinations of levels", "Subgroup"),
    "periods": ("Periods", "Period"),
}
DESCRIBES = (
    "Sensitivity, specificity, PPV and NPV describe whom a threshold selects. They do not say "
    "whether the model is useful: net benefit does."
)


class Tables(Mapping[str, Table]):
    """The tables of an assessment that its data define; each is made when it is first read."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._made: dict[str, Table] = {}

    def __getitem__(self, name: str) -> Table:
        if name not in self._made:
            make = self._known[check_choice(name, self._known, "name")]
            self._made[name] = make(self._facts)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"Tables({', '.join(self)})"

    @cached_property
    def _known(self) -> dict[str, Callable[[Facts], Table]]:
        f, sizes = self._facts, {len(part.levels) for part in self._facts.subgroups}
        every: dict[str, tuple[bool, Callable[[Facts], Table]]] = {
            "first": (True, first_table),
            "measures": (True, measures_table),
            "populations": (f.several is not None, populations_table),
            "groups": (bool(f.data.groups), groups_table),
            "spread": (f.sites is not None, spread_table),
            "levels": (1 in sizes, partial(parts_table, name="levels")),
            "combinations": (
                max(sizes, default=0) > 1,
                partial(parts_table, name="combinations"),
            ),
            "periods": (
                f.periods is not None and f.kind != "period",
                partial(parts_table, name="periods"),
            ),
            "followed": (f.posterior.problem.of_times, followed_table),
            "benefit": (bool(f.thresholds), benefit_table),
            "lost": (bool(f.thresholds), lost_table),
            "classification": (True, classification_table),
            "curve": (True, curve_table),
            "estimators": (f.has_estimators, estimators_table),
            "families": (f.several is None, lambda f: f.comparison.families()),
            "diagnostics": (True, diagnostics_table),
            "imputations": (f.is_imputed, imputations_table),
            "val_prob": (not f.posterior.problem.of_times, val_prob_table),
        }
        return {name: made for name, (is_defined, made) in every.items() if is_defined}


# Columns


def fixed(name: str, head: str, **options: Any) -> Column:
    """A number to the decimals of its row."""
    return Column(name, head, lambda row: as_fixed(row[name], row.decimals), **options)


def intervals(head: str, lower: str = "lower", upper: str = "upper", **options: Any) -> Column:
    """Both ends to the decimals of the row; of a row that is not defined, why."""

    def shown(row: Row) -> str:
        if math.isnan(row[lower]):
            return str(row.values.get("why", ""))
        return " to ".join(as_fixed(row[end], row.decimals) for end in (lower, upper))

    return Column("interval", head, shown, **options)


def summarised(name: str, head: str, estimate: str = "{}_estimate", **options: Any) -> Column:
    """An estimate and its interval, to the decimals that the interval deserves.

    The row has the numbers as `estimate` says, and with `_lower` and `_upper` in its place.
    """
    keys = (estimate.format(name), f"{name}_lower", f"{name}_upper")
    apart = FUNCTIONALS[name].apart if name in FUNCTIONALS else None
    return measured(name, head, keys, apart=apart, **options)


def counts(name: str, head: str, **options: Any) -> Column:
    """A number of cases."""
    return Column(name, head, lambda row: count(row[name]), **options)


def texts(name: str, head: str, **options: Any) -> Column:
    """A text as it is."""
    return Column(name, head, lambda row: str(row[name]), is_text=True, **options)


def texts_right(name: str, head: str) -> Column:
    """Numbers as text, to the right; empty where a row has none."""
    return Column(name, head, lambda row: str(row.values.get(name, "")))


def as_fixed(value: float, places: int) -> str:
    """A number to some decimals, nought without a sign; `NOT_DEFINED` of NaN."""
    return NOT_DEFINED if math.isnan(value) else f"{round(value, places) + 0.0:.{places}f}"


# Table 1, and all measures


def first_table(f: Facts) -> Table:
    """Table 1: what a paper reports, an estimate with its interval, and what the data alone say."""
    whose = f", own {f.kind}" if f.has_own_curves else ""
    label = f"True calibration error{whose}"
    rows = [_first_row("error", label, Measured.of(f.error), FUNCTIONALS["tce"].hint)]
    if f.has_own_curves:
        label = "The same, pooled curve"
        hint = f"errors of {f.kind}s cancel in it"
        rows.append(_first_row("tce", label, Measured.of(f.table.loc["tce"]), hint))
    for name in FIRST_ROWS:
        if name in f.table.index:
            numbers, known = Measured.of(f.table.loc[name]), FUNCTIONALS[name]
            label = f"{FIRST_ROWS[name]} (ideal {known.ideal:g})"
            rows.append(_first_row(name, label, numbers, known.hint, f.alone.get(name)))
    for name in ("c_statistic", "brier_score"):
        numbers = Measured.of(f.performance.loc[name])
        if np.isfinite(numbers.estimate):
            rows.append(_first_row(name, OVERALL[name].label, numbers, OVERALL[name].hint))
    exact = chance(f.prob_calibrated) if np.isfinite(f.prob_calibrated) else NOT_DEFINED
    label = "P(exactly calibrated)"
    rows.append(Row("prob_calibrated", label, {"shown": exact, "estimate": f.prob_calibrated}))
    if f.limit is not None:
        rows += _limit_rows(f)
    level = percent(f.ci_prob)
    columns = [texts_right("shown", f"Estimate ({level} CrI)")]
    columns += [texts_right("alone", "Data alone")] if f.alone else []
    return Table("first", "Table 1", "Measure", columns, rows)


def _first_row(
    name: str,
    label: str,
    numbers: Measured,
    hint: str,
    alone: Mapping[str, float] | None = None,
) -> Row:
    known = FUNCTIONALS.get(name)
    apart = known.apart if known else None
    values: dict[str, Any] = {"shown": numbers.told(apart), **numbers._asdict()}
    if alone is not None:
        values["alone"] = Measured.of(alone).told(apart)
        values |= {f"alone_{end}": value for end, value in alone.items()}
    return Row(name, label, values, hint=hint)


def _limit_rows(f: Facts) -> list[Row]:
    """P(error < limit), and its band by what kind of model it is."""
    assert f.limit is not None
    below = f.prob_below_limit
    new, validated = band(below)
    limit = f"P(error < {100 * f.limit.value:.3g} points)"
    few, before = "if it was made from few patients or by a machine", "if it was validated before"
    told = (
        ("prob_below_limit", limit, below, ""),
        ("prob_below_limit_if_new", "the same, a new model", new, few),
        ("prob_below_limit_if_validated", "the same, a validated one", validated, before),
    )
    return [
        Row(name, label, {"shown": chance(value), "estimate": value}, hint=hint)
        for name, label, value, hint in told
    ]


def measures_table(f: Facts) -> Table:
    """Every measure with its interval and its ideal value, each section in its own unit."""
    rows = [*_functional_rows(f.table, f.has_own_curves), *_performance_rows(f)]
    columns = (
        fixed("estimate", "Estimate"),
        intervals(f"{percent(f.ci_prob)} interval"),
        Column("ideal", "Ideal", lambda row: f"{row['ideal']:g}", media=MEDIA[:2]),
    )
    return Table(
        "measures", f"All measures, under the {f.prior.name} prior", "Measure", columns, rows
    )


def _functional_rows(summary: pd.DataFrame, is_pooled: bool) -> Iterator[Row]:
    """The functionals of a summary by section, and those that the scores do not define."""
    undefined = summary.attrs["undefined"]
    for section, title in SECTIONS.items():
        names = [name for name, each in FUNCTIONALS.items() if each.section == section]
        for name in (name for name in names if name in summary.index):
            known, caution = FUNCTIONALS[name], summary.attrs["cautions"].get(name, "")
            values: dict[str, Any] = Measured.of(summary.loc[name])._asdict()
            places = decimals(values["lower"], values["upper"], known.apart)
            values["ideal"] = known.ideal
            label = f"{heading(name)}{', pooled' if is_pooled and known.is_distance else ''}"
            yield Row(name, label, values, title, known.hint, caution, places, known.unit)
        for name in (name for name in names if name in undefined):
            known = FUNCTIONALS[name]
            missing = dict.fromkeys(Measured._fields, np.nan)
            values = {**missing, "ideal": known.ideal, "why": undefined[name]}
            yield Row(name, heading(name), values, title, known.hint, unit=known.unit)


def _performance_rows(f: Facts) -> Iterator[Row]:
    for name, row in f.performance.dropna(subset=["estimate"]).iterrows():
        known = OVERALL[str(name)]
        values: dict[str, Any] = Measured.of(row)._asdict()
        places = decimals(values["lower"], values["upper"])
        values["ideal"] = known.ideal
        title = "Performance of the predictions"
        yield Row(str(name), known.label, values, title, known.hint, "", places, known.unit)


def curve_table(f: Facts) -> Table:
    """The calibration curve at some predicted probabilities, with its interval."""
    rows, (at, curve) = [], f.curve
    for score, ends in zip(at, curve.tolist(), strict=True):
        values = dict(zip(("actual", "lower", "upper"), ends, strict=True))
        places = decimals(values["lower"], values["upper"])
        rows.append(Row(f"{score:.4g}", f"{score:.4g}", values, decimals=places))
    columns = fixed("actual", "Actual"), intervals(f"{percent(f.ci_prob)} interval")
    return Table("curve", "Actual probability at some predictions", "Predicted", columns, rows)


# Groups, periods, subgroups


def groups_table(f: Facts) -> Table:
    """Each group; of one fit of all, beside what its own cases say."""
    level = percent(f.ci_prob)
    columns = [counts("cases", "Cases"), counts("events", "Events", media=NOT_TERMINAL)]
    title = f"Each {f.kind} by itself: estimates and {level} intervals"
    for name in main_functionals():
        short = capitalised(FUNCTIONALS[name].short)
        media = MEDIA if name in ("tce", "observed_expected") else ON_PAGE
        columns.append(summarised(name, short, short=f"{short} ({level} interval)", media=media))
    if f.several is not None:
        title = (
            f"Estimates and {level} intervals of one fit, in which {f.kind}s are drawn towards "
            f"each other; “alone” is from the {f.kind}'s own cases"
        )
        columns += [_alone("observed_expected", MEDIA), _alone("calibration_slope", ON_PAGE)]
    rows = [replace(row, chosen=row.name in f.clearly_off) for row in rows_of(f.by_group)]
    head = capitalised(f.kind)
    return Table("groups", title, head, columns, rows, names_cases=True, stacks=True)


def _alone(name: str, media: tuple[str, ...]) -> Column:
    """What a group's own cases say of a measure."""

    def shown(row: Row) -> str:
        value = row[f"{name}_raw"]
        return NOT_DEFINED if math.isnan(value) else f"{value:.2f}"

    head = f"{capitalised(FUNCTIONALS[name].short)} alone"
    return Column(f"{name}_raw", head, shown, "Alone", media=media)


def _hinted(frame: pd.DataFrame, words: Mapping[str, tuple[str, str]]) -> list[Row]:
    """The rows of a data frame, each with its label and its hint."""
    return [
        replace(row, label=words[row.name][0], hint=words[row.name][1]) for row in rows_of(frame)
    ]


def spread_table(f: Facts) -> Table:
    """How much the groups differ, by the same fit."""
    labels = {
        "shift": ("SD of the shift", "in log-odds"),
        "log_slope": ("SD of the log slope", ""),
        "correlation": ("Correlation", "of shift and log slope"),
    }
    rows = _hinted(f.spread.add_prefix("spread_"), labels)
    column = summarised("spread", "Median (95 % interval)", "{}_median")
    return Table("spread", f"How much the {f.kind}s differ", f"Between {f.kind}s", [column], rows)


def populations_table(f: Facts) -> Table:
    """Whom the results are true of."""
    assert f.populations is not None
    names = {
        "these": (f"These {f.kind}s", f"the error against their own {f.own}"),
        "pooled": ("The same, pooled", "against the curve of all"),
        "average": (f"Average {f.kind}", ""),
        "now": ("Last period", ""),
        "next": (f"Next {f.kind}", ""),
    }
    rows = _hinted(f.populations, names)
    columns = [
        summarised(name, capitalised(FUNCTIONALS[name].short)) for name in main_functionals()
    ]
    title = f"Whom it is true of: estimates and {percent(f.ci_prob)} intervals of one fit"
    return Table("populations", title, "Population", columns, rows, stacks=True)


def parts_table(f: Facts, name: str) -> Table:
    """The levels of each factor, the combinations that occur, or the periods, of one fit."""
    what, head = OF_PARTS[name]
    if name == "periods":
        rows = rows_of(f.by_period)
    else:
        rows = [
            Row(f"{each.factor}: {each.level}", each.level, numbers, section=shortened(each.factor))
            for each, numbers in zip(f.subgroups, f.by_subgroup.to_dict("records"), strict=True)
            if (len(each.levels) > 1) == (name == "combinations")
        ]
    level = percent(f.ci_prob)
    columns = (
        counts("cases", "Cases"),
        counts("events", "Events"),
        summarised("observed_expected", "O/E", "{}", short=f"O/E ({level} interval)"),
        Column("raw", "O/E alone", lambda row: f"{row['observed_expected_raw']:.2f}", "Alone"),
        summarised("tce", "TCE", "{}", media=ON_PAGE),
        chances("prob_worst", "P(worst)", media=ON_PAGE),
    )
    title = f"{what}: estimates and {level} intervals of one fit"
    return Table(name, title, head, columns, rows, names_cases=True, stacks=True)


def followed_table(f: Facts) -> Table:
    """Times to an event: what was seen of the cases by the horizon, by fifth of the score."""
    data = f.posterior.data
    assert data.follow_up is not None
    horizon, competing = data.follow_up.horizon, data.follow_up.competing
    at = f"{horizon:g}"
    seen = censoring_by_fifth(data)
    seen.index = [risks_words(*ends) for ends in zip(seen["lowest"], seen["highest"], strict=True)]
    return Table(
        "followed",
        f"What was seen by {at}, by fifth of the predicted risk",
        "Predicted risk",
        (
            counts("cases", "Cases"),
            counts("events", f"Events by {at}", short="Events"),
            *[counts("competing", "Competing events", short="Competing")] * (competing > 0),
            counts("censored", "Left before", short="Left"),
            *(
                counts(f"at_risk_{n}", f"At risk at {time:.3g}", media=ON_PAGE)
                for n, time in enumerate(quarters(horizon), 1)
            ),
            counts("at_risk", f"Followed to {at}", short="Followed"),
        ),
        rows_of(seen),
    )


# Thresholds


def _of_1000(row: Row, places: int = 0) -> str:
    """Net benefit and its interval, of 1000 patients."""
    return "{} ({} to {})".format(*(as_fixed(1000 * each, places) for each in Measured.of(row)))


def benefit_table(f: Facts) -> Table:
    """Net benefit at the thresholds that were given."""
    level = percent(f.ci_prob)
    columns = (
        Column("model", f"By the model ({level} interval)", _of_1000, f"Of 1000 ({level})"),
        Column("treat_all", "Everyone", lambda row: as_fixed(1000 * row["treat_all"], 0)),
        chances("prob_best", "P(model best)"),
    )
    rows = rows_of(f.net_benefit.rename(index="{:g}".format))
    title = "Net benefit per 1000 patients, by the risk treated from on; treating no one has 0"
    return Table("benefit", title, "Treated from", columns, rows, stacks=True)


def lost_table(f: Facts) -> Table:
    """Net benefit lost to miscalibration, at each threshold and between the outer ones."""
    rows = []
    for name, numbers in f.net_benefit_lost.iterrows():
        at = str(name).partition("@")[2]
        rows.append(Row(at, f"at most, {at}" if " to " in at else at, numbers.to_dict()))
    head = f"Lost ({percent(f.ci_prob)} interval)"
    return Table(
        "lost",
        "Net benefit per 1000 patients that is lost to miscalibration",
        "Treated from",
        (Column("lost", head, lambda row: _of_1000(row, 1)),),
        rows,
    )


def classification_table(f: Facts) -> Table:
    """Sensitivity, specificity and predictive values, in percent."""

    def share(name: str) -> Column:
        def shown(row: Row) -> str:
            numbers = [100 * each for each in Measured.of(row, f"{name}_{{}}")]
            if math.isnan(numbers[0]):
                return NOT_DEFINED
            return "{:.0f} ({:.0f} to {:.0f})".format(*numbers)

        head, short = SELECTED[name]
        return Column(name, head, shown, short=short, media=MEDIA if name != "treated" else ON_PAGE)

    rows = rows_of(f.classification.rename(index="{:g}".format))
    none = "No threshold was given: these are the prevalence, half of it and twice it."
    return Table(
        "classification",
        f"Whom a threshold selects, in %: means and {percent(f.ci_prob)} intervals from draws",
        "Treated from",
        [share(name) for name in CLASSIFIED],
        rows,
        notes=(DESCRIBES,) if f.thresholds else (none, DESCRIBES),
        stacks=True,
    )


# What it rests on


def estimators_table(f: Facts) -> Table:
    """Each estimator beside what calibrated models give, and the verdict on it."""

    def verdict(row: Row) -> str:
        if math.isnan(row["estimate"]):
            return str(row["verdict"])
        is_larger = row["prob_exceeds"] < RARE
        return "larger than chance explains" if is_larger else "within chance"

    known = f.estimators[f.estimators["estimate"].notna()] if len(f.panel) else no_panel()
    ends = zip(known["calibrated_lower"], known["calibrated_upper"], strict=True)
    places = max((decimals(*each) for each in ends), default=3)
    rows = [
        Row(
            str(name),
            str(row["title"]),
            row.to_dict(),
            hint="of a loess curve, with the chance variation of outcomes" * (name == "ici"),
            decimals=places,
        )
        for name, row in f.estimators.iterrows()
    ]
    limits = ("calibrated_lower", "calibrated_upper")
    columns = (
        fixed("estimate", "Estimate", short="Value"),
        intervals(f"{percent(1 - 2 * RARE)} range if calibrated", *limits, short="If calibrated"),
        Column("verdict", "Verdict", verdict, is_text=True),
    )
    title = "Each estimate, and the range for a calibrated model"
    return Table("estimators", title, "Estimator", columns, rows, stacks=True)


def diagnostics_table(f: Facts) -> Table:
    """How far the draws can be trusted, family by family."""
    known = ("pareto_k", "log_evidence_error")
    if f.several is not None:
        own = {name: float(f.several.diagnostics.get(name, np.nan)) for name in known}
        rows = [Row("logistic", f"logistic, one a {f.kind}", own)]
    else:
        table = f.comparison.table[list(known)]
        rows = [row for row in rows_of(table) if np.isfinite(row["pareto_k"])]
    columns = (
        Column("pareto_k", "Pareto k-hat (limit 0.7)", lambda row: as_fixed(row["pareto_k"], 2)),
        fixed("log_evidence_error", "Error of the log evidence"),
    )
    return Table("diagnostics", "Draws by importance sampling", "Curve", columns, rows)


def imputations_table(f: Facts) -> Table:
    """What the missing data cost, by functional."""
    assert f.missing_information is not None
    cost = f.missing_information
    rows = rows_of(cost, {name: heading(name) for name in cost.index})
    heads = {
        "mean": "Mean",
        "sd_within": "Within",
        "sd_between": "Between",
        "sd": "Total",
        "missing_information": "Missing information",
    }
    columns = [fixed(name, head) for name, head in heads.items()]
    title = "Each measure over the imputations: its mean and standard deviations"
    return Table("imputations", title, "Measure", columns, rows)


def val_prob_table(f: Facts) -> Table:
    """The statistics of R's val.prob."""
    values = f.val_prob
    rows = [
        Row(name, name, {"value": float(values[name]), "meaning": meaning})
        for name, meaning in VAL_PROB.items()
    ]
    columns = (fixed("value", "Value"), texts("meaning", "Meaning"))
    return Table("val_prob", "The statistics of val.prob (R package rms)", "Name", columns, rows)
