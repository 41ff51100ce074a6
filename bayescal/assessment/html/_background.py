"""Tables of what stands beside: estimators, groups, diagnostics, and where the data came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayescal._base.text import chance, count, percent, rounded, shortened
from bayescal.assessment.html._table import NONE, Row, Table
from bayescal.assessment.risk import mean_score
from bayescal.validation.consistency import RARE

if TYPE_CHECKING:
    from bayescal.assessment import Assessment

__all__ = ["data_table", "diagnostics_table", "estimators_table", "groups_table"]

LONGEST = 80


def estimators_table(a: Assessment) -> Table:
    """Each estimator beside what calibrated models give."""
    rows = []
    for name, row in a.estimators.iterrows():
        if row["estimate"] != row["estimate"]:
            cells = (NONE, NONE, NONE, NONE, f"undefined: {row['verdict']}")
        else:
            cells = (
                f"{row['estimate']:.3f}",
                f"{row['lower']:.3f} to {row['upper']:.3f}",
                f"{row['calibrated_lower']:.3f} to {row['calibrated_upper']:.3f}",
                _share(row["prob_exceeds"]),
                "as if calibrated" if row["prob_exceeds"] >= RARE else "too large for that",
            )
        rows.append(Row(str(row["title"]), cells, str(name)))
    level = percent(a.ci_prob)
    return Table(
        "estimators",
        "Estimators of calibration error, and what they are when a model is calibrated",
        (
            "Estimator",
            "Estimate",
            f"{level} interval",
            f"{percent(1 - 2 * RARE)} of calibrated models",
            "Share of them as large",
            "Verdict",
        ),
        rows,
        words=(5,),
        stacks=True,
    )


def groups_table(a: Assessment) -> Table:
    """Each group by itself."""
    rows = []
    for name, row in a.by_group.iterrows():
        measures = (
            _measure(row, functional)
            for functional in ("tce", "observed_expected", "calibration_slope")
        )
        cells = (count(row["cases"]), count(row["events"]), *measures, chance(row["prob_close"]))
        rows.append(Row(shortened(name, LONGEST), cells))
    return Table(
        "groups",
        f"Each group by itself: estimates and {percent(a.ci_prob)} intervals",
        ("Group", "Cases", "Events", "TCE", "O/E", "Slope", f"P(TCE below {a.close:g})"),
        rows,
    )


def diagnostics_table(a: Assessment) -> Table:
    """How far the draws can be trusted, family by family."""
    rows = [
        Row(
            str(name),
            (_k(row["pareto_k"]), f"{row['log_evidence_error']:.3f}", _k(row["pareto_k_loo"])),
        )
        for name, row in a.comparison.table.iterrows()
    ]
    return Table(
        "diagnostics",
        "Diagnostics of the draws",
        ("Curve", "Pareto k-hat", "Error of log evidence", "Largest k-hat, leave-one-out"),
        rows,
        stacks=True,
    )


def data_table(a: Assessment, source: Mapping[str, object]) -> Table:
    """What was assessed, and with which settings."""
    data, settings = a.posterior.data, a.comparison.settings
    told = {str(key): value for key, value in source.items() if value is not None}
    told |= {
        "Cases": count(data.n),
        "Events": f"{count(data.events)} ({100 * data.events / data.n:.3g} %)",
        "Mean predicted probability": f"{mean_score(data):.4g}",
        "Distinct predictions": count(data.score.size) + (" cells" * data.is_compressed),
        "Groups": count(len(a.data.groups)) if a.data.groups else "none",
        "Prior on the curves": settings.prior.name,
        "Prior probability of exact calibration": f"{a.comparison.prior_prob['identity']:g}",
        "Close enough to none": f"a true calibration error below {a.close:g}",
        "Seed": str(a.seed),
    }
    rows = [Row(shortened(key), (shortened(value, LONGEST),)) for key, value in told.items()]
    return Table("data", "Data and settings", ("What", "Value"), rows, words=(1,))


def _measure(row: Any, name: str) -> str:
    middle, low, high = (row[f"{name}_{part}"] for part in ("estimate", "lower", "upper"))
    if middle != middle:
        return NONE
    shown = rounded((middle, low, high), low, high)
    return f"{shown[0]} ({shown[1]} to {shown[2]})"


def _share(of: float) -> str:
    """One decimal, so that no share that is rare looks like one that is not."""
    return "< 0.5 %" if of < 0.005 else f"{100 * of:.1f} %"


def _k(value: float) -> str:
    return f"{value:.2f}" if abs(value) < float("inf") else NONE
