"""Tables of what was measured: the main results, all measures, limits, the curve, ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.assessment.findings import Findings
from bayescal.assessment.performance import OVERALL, values_in_data
from bayescal.assessment.tables.columns import as_fixed, chances, fixed, intervals
from bayescal.assessment.words import STATES, counted, in_the_data, kind_of
from bayescal.core.arrays import Floats
from bayescal.core.table import MEDIA, Column, Row, Table
from bayescal.core.text import capitalised, chance, decimals, percent
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functional import SECTIONS
from bayescal.posterior.functionals import FUNCTIONALS, heading

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "curve_table",
    "first_table",
    "functional_rows",
    "imputations_table",
    "measure_columns",
    "measures_table",
    "near_table",
    "round_scores",
    "stretches_table",
]

ERRORS_SHOWN = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
ROUND = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    *(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    *(0.95, 0.98, 0.99, 0.995),
)
FEWEST, SHOWN_SCORES = 3, 7


def measures_table(f: Findings, name: str = "measures") -> Table:
    """Every measure with its interval and its ideal value, each section in its own unit."""
    in_data = values_in_data(f.posterior.data)
    return Table(
        name,
        f"All measures{_of_whom(f)}, under the {f.prior.name} prior",
        "Measure",
        measure_columns(f.ci_prob),
        [*_beside_own(f, functional_rows(f.table, in_data)), *_performance_rows(f)],
        stacks=True,
    )


def _beside_own(f: Findings, rows: list[Row]) -> list[Row]:
    """The error against the patients' own groups first, and others named as of the pooled curve."""
    if not f.has_own_curves:
        return rows
    known, at = FUNCTIONALS["tce"], next(k for k, row in enumerate(rows) if row.name == "tce")
    own = Row(
        "own_error",
        f"TCE against patients' own {kind_of(f)}s",
        {**f.error, "ideal": known.ideal},
        rows[at].section,
        f"mean distance from the curve of each patient's own {kind_of(f)}",
        decimals=_places(f.error, known.apart),
        unit=known.unit,
    )
    pooled = [
        replace(row, label=f"{row.label}, pooled", hint="; ".join(filter(None, (hint, row.hint))))
        if row.name in FUNCTIONALS and FUNCTIONALS[row.name].is_distance
        else row
        for row in rows
        for hint in [f"of the curve of all together, in which errors of {kind_of(f)}s cancel"]
    ]
    return [*pooled[:at], own, *pooled[at:]]


def measure_columns(ci_prob: float) -> tuple[Column, ...]:
    """The columns of a table of measures."""
    return (
        fixed("estimate", "Estimate"),
        intervals(f"{percent(ci_prob)} interval"),
        Column("ideal", "Ideal", lambda row: f"{row['ideal']:g}", media=MEDIA[:2]),
    )


def functional_rows(summary: pd.DataFrame, in_data: Mapping[str, float]) -> list[Row]:
    """The functionals of a summary by section, and those that the scores do not define."""
    rows = []
    for section, title in SECTIONS.items():
        names = [name for name, each in FUNCTIONALS.items() if each.section == section]
        defined = [name for name in names if name in summary.index]
        for name in defined:
            known, caution = FUNCTIONALS[name], summary.attrs["cautions"].get(name, "")
            places = _places(summary.loc[name], known.apart)
            own = f"{as_fixed(in_data[name], places)} in the data" if name in in_data else ""
            hint = "; ".join(filter(None, (own, known.hint, caution)))
            values = summary.loc[name, ["estimate", "lower", "upper"]].to_dict()
            values["ideal"] = known.ideal
            rows.append(Row(name, heading(name), values, title, hint, caution, places, known.unit))
        undefined = summary.attrs["undefined"]
        rows += [_undefined(name, title, undefined[name]) for name in names if name in undefined]
    return rows


def _undefined(name: str, section: str, why: str) -> Row:
    known = FUNCTIONALS[name]
    missing = dict.fromkeys(("estimate", "lower", "upper"), np.nan)
    values = {**missing, "ideal": known.ideal, "why": why}
    return Row(name, heading(name), values, section, known.hint, unit=known.unit)


def _performance_rows(f: Findings) -> list[Row]:
    table = f.performance.dropna(subset=["estimate"])
    return [
        Row(
            str(name),
            OVERALL[str(name)].label,
            {
                **{key: float(row[key]) for key in ("estimate", "lower", "upper")},
                "ideal": OVERALL[str(name)].ideal,
            },
            "Performance of the predictions",
            OVERALL[str(name)].hint,
            decimals=_places(row),
            unit=OVERALL[str(name)].unit,
        )
        for name, row in table.iterrows()
    ]


def _places(row: Any, apart: float | None = None) -> int:
    """The decimals that an interval deserves, with no end rounded onto the value `apart`."""
    return decimals(row["lower"], row["upper"], apart)


def first_table(f: Findings) -> Table:
    """The few numbers of the first screen."""
    rows = []
    for name, known in FUNCTIONALS.items():
        if not known.is_main:
            continue
        label, hint = capitalised(known.words), f"ideal {known.ideal:g}"
        if name == "tce":
            hint = f"close enough: below {f.close:g}"
        if name in f.table.index:
            hint += in_the_data(f.posterior.data, name, f.table.loc[name])
            row: Any = f.table.loc[name].to_dict()
            if name == "tce" and f.has_own_curves:
                row, hint = f.error, f"against patients' own {kind_of(f)}s; limit {f.close:g}"
            places = _places(row, known.apart)
            rows.append(Row(name, label, row, hint=hint, decimals=places))
        elif name in f.table.attrs["undefined"]:
            values = _undefined(name, "", f.table.attrs["undefined"][name]).values
            rows.append(Row(name, label, values, hint=hint))
    for name, each in OVERALL.items():
        row = f.performance.loc[name]
        if each.in_short and np.isfinite(row["estimate"]):
            values = row.to_dict()
            rows.append(Row(name, each.words, values, hint=each.in_short, decimals=_places(row)))

    def estimate(row: Row) -> str:
        shown = np.isfinite(row["estimate"])
        return as_fixed(row["estimate"], row.decimals) if shown else NOT_DEFINED

    columns = (
        Column("estimate", "Estimate", estimate),
        intervals(f"{percent(f.ci_prob)} interval"),
    )
    return Table("first", f"Main results{_of_whom(f)}", "Measure", columns, rows)


def _of_whom(f: Findings) -> str:
    """Whose measures they are, where there are several populations; else empty."""
    return "" if f.several is None else f" of the patients of these {counted(f.several)}"


def near_table(f: Findings) -> Table:
    """Probabilities that the true calibration error is below, and above, several limits."""
    upper = f.error["upper"]
    errors = {error for error in ERRORS_SHOWN if error <= 4 * max(upper, f.close)} | {f.close}
    rows: list[Row] = []
    for error in sorted(errors):
        values = {"below": f.prob_tce_below(error), "above": f.prob_tce_above(error)}
        row = Row(f"{error:g}", f"{error:g}", values, chosen=error == f.close)
        alike = rows and all(chance(rows[-1][key]) == chance(values[key]) for key in values)
        if alike and not rows[-1].chosen:
            rows[-1] = row if row.chosen else rows[-1]
        elif not alike:
            rows.append(row)
    title = "Probability that the error is below, and above, a limit"
    return Table(
        "near", title, "Limit", (chances("below", "Below"), chances("above", "Above")), rows
    )


def curve_table(f: Findings, scores: Floats | None = None, name: str = "curve") -> Table:
    """The calibration curve at some predicted probabilities, with its interval."""
    at = round_scores(f.posterior.data.score) if scores is None else scores
    curve = f.curve_at(at)
    rows = []
    for score, ends in zip(at, curve.tolist(), strict=True):
        values = dict(zip(("actual", "lower", "upper"), ends, strict=True))
        rows.append(Row(f"{score:.4g}", f"{score:.4g}", values, decimals=_places(values)))
    columns = fixed("actual", "Actual"), intervals(f"{percent(f.ci_prob)} interval")
    return Table(name, "Actual probability at some predictions", "Predicted", columns, rows)


def stretches_table(f: Findings) -> Table:
    """Ranges of predictions that are calibrated, too high or too low."""
    rows = [
        Row(f"{part.start:.3g}", f"{part.start:.3g} to {part.stop:.3g}", part._asdict())
        for part in f.stretches
    ]
    return Table(
        "stretches",
        "Ranges of predictions, and on which side of the outcomes they are",
        "Predicted",
        (
            Column("state", "State", lambda row: STATES.get(row["state"], "open"), is_text=True),
            Column(
                "probability",
                "Probability",
                lambda row: chance(row["probability"]) if np.isfinite(row["probability"]) else "",
            ),
            Column("cases", "Share of cases", lambda row: f"{row['cases']:.2f}"),
        ),
        rows,
    )


def imputations_table(f: Findings) -> Table:
    """What the missing data cost, by functional."""
    assert f.missing_information is not None
    rows = [
        Row(str(name), heading(str(name)), row.to_dict())
        for name, row in f.missing_information.iterrows()
    ]
    heads = {
        "mean": "Mean",
        "sd_within": "Within",
        "sd_between": "Between",
        "sd": "Total",
        "missing_information": "Missing information",
    }
    return Table(
        "imputations",
        "Each measure over the imputations: its mean and standard deviations",
        "Measure",
        [fixed(name, head) for name, head in heads.items()],
        rows,
    )


def round_scores(score: Floats, most: int | None = None) -> Floats:
    """Round probabilities within the range of the scores, or some of the scores themselves.

    Returns
    -------
    ndarray
        Ascending.
    """
    values = np.array([value for value in ROUND if score.min() <= value <= score.max()])
    if values.size < FEWEST:
        distinct = np.unique(score)
        index = np.linspace(0, distinct.size - 1, min(distinct.size, 5)).round().astype(int)
        values = distinct[index]
    if most is None or values.size <= most:
        return np.asarray(values)
    return np.asarray(values[np.linspace(0, values.size - 1, most).round().astype(int)])
