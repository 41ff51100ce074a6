"""Tables of what stands beside: estimators, groups, diagnostics, and where the data came from."""

from __future__ import annotations

from collections.abc import Mapping

from bayescal._base.text import chance, count, percent, shortened
from bayescal.assessment.findings import Findings
from bayescal.assessment.html._table import NONE, Row, Table
from bayescal.assessment.performance import mean_score
from bayescal.assessment.words import UNDEFINED, estimator_row, of_group
from bayescal.validation.consistency import RARE

__all__ = ["data_table", "diagnostics_table", "estimators_table", "groups_table"]

LONGEST_VALUE = 80


def estimators_table(f: Findings) -> Table:
    """Each estimator beside what calibrated models give."""
    rows = []
    for name, row in f.estimators.iterrows():
        shown = estimator_row(row)
        share, verdict = _share(row["prob_exceeds"]), shown.verdict
        if verdict == UNDEFINED:
            share, verdict = NONE, f"{UNDEFINED}: {row['verdict']}"
        texts = (shown.estimate, shown.interval, shown.if_calibrated)
        cells = (*(text or NONE for text in texts), share, verdict)
        rows.append(Row(shown.title, cells, str(name)))
    level = percent(f.ci_prob)
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


def groups_table(f: Findings) -> Table:
    """Each group by itself."""
    rows = []
    for name, row in f.by_group.iterrows():
        measures = (
            of_group(row, functional) or NONE
            for functional in ("tce", "observed_expected", "calibration_slope")
        )
        cells = (count(row["cases"]), count(row["events"]), *measures, chance(row["prob_close"]))
        rows.append(Row(shortened(name, LONGEST_VALUE), cells))
    return Table(
        "groups",
        f"Each group by itself: estimates and {percent(f.ci_prob)} intervals",
        ("Group", "Cases", "Events", "TCE", "O/E", "Slope", f"P(TCE below {f.close:g})"),
        rows,
    )


def diagnostics_table(f: Findings) -> Table:
    """How far the draws can be trusted, family by family."""
    rows = [
        Row(
            str(name),
            (_k(row["pareto_k"]), f"{row['log_evidence_error']:.3f}", _k(row["pareto_k_loo"])),
        )
        for name, row in f.comparison.table.iterrows()
    ]
    return Table(
        "diagnostics",
        "Diagnostics of the draws",
        ("Curve", "Pareto k-hat", "Error of log evidence", "Largest k-hat, leave-one-out"),
        rows,
        stacks=True,
    )


def data_table(f: Findings, source: Mapping[str, object]) -> Table:
    """What was assessed, and with which settings."""
    data, settings = f.posterior.data, f.comparison.settings
    lines = {str(key): value for key, value in source.items() if value is not None}
    lines |= {
        "Cases": count(data.n),
        "Events": f"{count(data.events)} ({100 * data.events / data.n:.3g} %)",
        "Mean predicted probability": f"{mean_score(data):.4g}",
        "Distinct predictions": count(data.score.size) + (" cells" * data.is_compressed),
        "Groups": count(len(f.data.groups)) if f.data.groups else "none",
        "Prior on the curves": settings.prior.name,
        "Prior probability of exact calibration": f"{f.comparison.prior_prob['identity']:g}",
        "Close enough to none": f"a true calibration error below {f.close:g}",
        "Seed": str(f.seed),
    }
    rows = [Row(shortened(key), (shortened(value, LONGEST_VALUE),)) for key, value in lines.items()]
    return Table("data", "Data and settings", ("What", "Value"), rows, words=(1,))


def _share(share: float) -> str:
    """A share in per cent with one decimal, so that 4.9 % does not become 5 %."""
    return "< 0.5 %" if share < 0.005 else f"{100 * share:.1f} %"


def _k(value: float) -> str:
    return f"{value:.2f}" if abs(value) < float("inf") else NONE
