"""Tables behind the verdict: estimators, families of curves, draws, and R's val.prob."""

from __future__ import annotations

import math

import numpy as np

from bayescal.assessment.findings import Findings
from bayescal.assessment.tables.columns import as_fixed, fixed, intervals, words
from bayescal.assessment.val_prob import VAL_PROB
from bayescal.core.table import MEDIA, Column, Row, Table
from bayescal.core.text import chance, decimals, percent, ratio
from bayescal.model.curves import CURVES
from bayescal.validation.consistency import RARE

__all__ = ["diagnostics_table", "estimators_table", "families_table", "val_prob_table"]

K_HAT = "pareto_k"
AS_IF_CALIBRATED, LARGER = "within chance", "larger than chance explains"
TITLES = {"Integrated calibration index (Eavg)": "ICI (Eavg) of a loess curve"}
"""Titles that say how an estimator differs from a measure of the posterior of the same name."""
ICI_HINT = (
    "also contains the chance variation of these outcomes, so it differs from the true "
    "calibration error above"
)


def estimators_table(f: Findings) -> Table:
    """Each estimator beside what calibrated models give, and the verdict on it."""

    def verdict(row: Row) -> str:
        if math.isnan(row["estimate"]):
            return str(row["verdict"])
        return LARGER if row["prob_exceeds"] < RARE else AS_IF_CALIBRATED

    def within(row: Row) -> str:
        if math.isnan(row["estimate"]):
            return "undefined"
        return "no" if row["prob_exceeds"] < RARE else "yes"

    ranges = [
        (row["calibrated_lower"], row["calibrated_upper"])
        for _, row in f.estimators.iterrows()
        if not math.isnan(row["estimate"])
    ]
    places = max((decimals(*ends) for ends in ranges), default=3)
    rows = [
        Row(
            str(name),
            TITLES.get(str(row["title"]), str(row["title"])),
            row.to_dict(),
            hint=ICI_HINT if name == "ici" else "",
            decimals=places,
        )
        for name, row in f.estimators.iterrows()
    ]
    return Table(
        "estimators",
        "Each estimate, and the range for a calibrated model",
        "Estimator",
        (
            fixed("estimate", "Estimate", short="Value"),
            intervals(
                f"{percent(1 - 2 * RARE)} range if calibrated",
                "calibrated_lower",
                "calibrated_upper",
                short="If calibrated",
            ),
            Column("verdict", "Verdict", verdict, media=MEDIA[:1], is_text=True),
            Column("within", "Within chance", within, media=MEDIA[1:]),
        ),
        rows,
        stacks=True,
    )


def families_table(f: Findings) -> Table:
    """The families of curves: how probable, and how well each predicts."""

    def posterior(row: Row) -> str:
        return chance(row["posterior_prob"]) if row["prior"] else "not averaged"

    def elpd(row: Row) -> str:
        return f"{round(row['elpd_diff'], 1) + 0.0:.1f} ({row['elpd_diff_error']:.1f})"

    return Table(
        "families",
        "Families of curves, from exact calibration to any smooth shape",
        "Curve",
        (
            Column("prior", "Prior", lambda row: f"{row['prior']:.2f}"),
            Column("posterior_prob", "Posterior", posterior),
            Column("bayes_factor", "Bayes factor", lambda row: ratio(row["bayes_factor"])),
            Column("elpd", "Elpd (s.e.)", elpd),
            Column("stacking", "Stacking", lambda row: f"{row['stacking_weight']:.2f}"),
        ),
        [
            Row(str(name), str(name), row.to_dict(), hint=CURVES[str(name)].meaning)
            for name, row in f.comparison.table.iterrows()
        ],
        stacks=True,
    )


def diagnostics_table(f: Findings) -> Table:
    """How far the draws can be trusted, family by family."""
    rows = [
        Row(str(name), str(name), row[["pareto_k", "log_evidence_error"]].to_dict())
        for name, row in f.comparison.table.iterrows()
        if np.isfinite(row["pareto_k"])
    ]
    if f.several is not None:
        stats = f.several.diagnostics
        own = {name: float(stats.get(name, np.nan)) for name in ("pareto_k", "log_evidence_error")}
        rows = [Row("logistic", "logistic, one a group", own)]
    return Table(
        "diagnostics",
        "Draws by importance sampling",
        "Curve",
        (
            Column(
                "pareto_k", "Pareto k-hat (limit 0.7)", lambda row: as_fixed(row["pareto_k"], 2)
            ),
            fixed("log_evidence_error", "Error of the log evidence"),
        ),
        rows,
    )


def val_prob_table(f: Findings) -> Table:
    """The statistics of R's val.prob."""
    values = f.val_prob()
    return Table(
        "val_prob",
        "The statistics of val.prob (R package rms)",
        "Name",
        (fixed("value", "Value"), words("meaning", "Meaning")),
        [
            Row(name, name, {"value": float(values[name]), "meaning": meaning})
            for name, (meaning, _) in VAL_PROB.items()
        ],
    )
