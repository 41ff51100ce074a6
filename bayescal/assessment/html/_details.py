"""Tables behind the verdict: updates, net benefit, estimators, groups, families, settings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayescal._base.text import chance, count, percent, ratio, shortened, told_apart
from bayescal.assessment.findings import Findings
from bayescal.assessment.html._table import Row, Table
from bayescal.assessment.text.tripod import tripod_items
from bayescal.assessment.treatment import benefit_rows, information_rows
from bayescal.assessment.val_prob import VAL_PROB
from bayescal.assessment.words import UNDEFINED, estimator_row, of_group
from bayescal.model.curves import CURVES
from bayescal.validation.consistency import RARE

__all__ = [
    "benefit_table",
    "data_table",
    "diagnostics_table",
    "estimators_table",
    "families_table",
    "groups_table",
    "information_table",
    "tripod_table",
    "updates_table",
    "val_prob_table",
]

LONGEST_VALUE = 80
UNDEFINED_NUMBER = "not defined"
ICI_HINT = (
    "also contains the chance variation of these outcomes, so it differs from the true "
    "calibration error above"
)


def updates_table(f: Findings) -> Table:
    """The expected gain of each update relative to no update."""
    advice = f.recommendation
    measures = ("brier", *(f"net_benefit@{threshold:g}" for threshold in f.thresholds))
    rows = []
    for index, row in advice.table.drop("identity").iterrows():
        name = str(index)
        update = CURVES[name].update
        gains = (advice.shown(name, measure) for measure in measures)
        chosen = name == advice.choice
        hint = "recommended" if chosen else ""
        cells = (*gains, chance(row["prob_better"]))
        rows.append(Row(update[0].upper() + update[1:], cells, hint, chosen))
    return Table(
        "updates",
        f"Expected gain on new patients, per 1000 of them ({percent(f.ci_prob)} interval)",
        (
            "Update",
            "Fall of the Brier score",
            *(f"Rise of net benefit at {t:g}" for t in f.thresholds),
            "P(better)",
        ),
        rows,
        stacks=True,
    )


def benefit_table(f: Findings) -> Table:
    """Net benefit at the thresholds that were given."""
    rows = [
        Row(row.threshold, (row.model, row.treat_all, row.prob_best))
        for row in benefit_rows(f.net_benefit)
    ]
    return Table(
        "benefit",
        "Net benefit per 1000 patients, by the risk treated from on; treating no one has 0",
        ("Treated from", f"By the model ({percent(f.ci_prob)} interval)", "Everyone", "Model best"),
        rows,
        stacks=True,
    )


def information_table(f: Findings) -> Table:
    """The value of information at the thresholds that were given."""
    rows = [
        Row(row.threshold, (row.best, row.evpi, row.of_recalibrating))
        for row in information_rows(f.information)
    ]
    return Table(
        "information",
        "Expected value of perfect information, in net benefit per 1000 patients",
        ("Treated from", "Ahead now (probability)", "Of the choice", "Of recalibrating"),
        rows,
        words=(1,),
        stacks=True,
    )


def estimators_table(f: Findings) -> Table:
    """Each estimator beside what calibrated models give."""
    rows = []
    for name, row in f.estimators.iterrows():
        shown = estimator_row(row)
        if shown.verdict == UNDEFINED:
            cells = (UNDEFINED_NUMBER, "", str(row["verdict"]))
        else:
            cells = (shown.estimate, shown.if_calibrated, shown.verdict)
        rows.append(Row(shown.title, cells, ICI_HINT if name == "ici" else ""))
    return Table(
        "estimators",
        "Each estimate, and the range for a calibrated model",
        ("Estimator", "Estimate", f"{percent(1 - 2 * RARE)} range if calibrated", "Verdict"),
        rows,
        words=(3,),
        stacks=True,
    )


def groups_table(f: Findings) -> Table:
    """Each group by itself."""
    rows = []
    names, omitted = told_apart(f.by_group.index, LONGEST_VALUE)
    begin = f". Each name begins with: {shortened(omitted.strip())}" if omitted else ""
    for name, row in f.by_group.iterrows():
        measures = (
            of_group(row, functional) or UNDEFINED_NUMBER
            for functional in ("tce", "observed_expected", "calibration_slope")
        )
        cells = (count(row["cases"]), count(row["events"]), *measures, chance(row["prob_close"]))
        rows.append(Row(names[str(name)], cells))
    return Table(
        "groups",
        f"Each group by itself: estimates and {percent(f.ci_prob)} intervals{begin}",
        ("Group", "Cases", "Events", "TCE", "O/E", "Slope", f"P(TCE below {f.close:g})"),
        rows,
        stacks=True,
    )


def families_table(f: Findings) -> Table:
    """The families of curves: how probable, and how well each predicts."""
    rows = []
    for name, row in f.comparison.table.iterrows():
        posterior = chance(row["posterior_prob"]) if row["prior"] else "not averaged"
        cells = (
            f"{row['prior']:.2f}",
            posterior,
            ratio(row["bayes_factor"]),
            f"{round(row['elpd_diff'], 1) + 0.0:.1f} ({row['elpd_diff_error']:.1f})",
            f"{row['stacking_weight']:.2f}",
        )
        rows.append(Row(str(name), cells, CURVES[str(name)].meaning))
    return Table(
        "families",
        "Families of curves, from exact calibration to any smooth shape",
        ("Curve", "Prior", "Posterior", "Bayes factor", "Elpd (s.e.)", "Stacking"),
        rows,
        stacks=True,
    )


def diagnostics_table(f: Findings) -> Table:
    """How far the draws can be trusted, family by family."""
    rows = [
        Row(str(name), (f"{row['pareto_k']:.2f}", f"{row['log_evidence_error']:.3f}"))
        for name, row in f.comparison.table.iterrows()
        if np.isfinite(row["pareto_k"])
    ]
    return Table(
        "diagnostics",
        "Draws by importance sampling",
        ("Curve", "Pareto k-hat (limit 0.7)", "Error of the log evidence"),
        rows,
    )


def val_prob_table(f: Findings) -> Table:
    """The statistics of R's val.prob."""
    values = f.val_prob()
    rows = []
    for name, (meaning, _) in VAL_PROB.items():
        value = float(values[name])
        shown = UNDEFINED_NUMBER if value != value else f"{round(value, 3) + 0.0:.3f}"
        rows.append(Row(name, (shown, meaning)))
    return Table(
        "val-prob",
        "The statistics of val.prob (R package rms)",
        ("Name", "Value", "Meaning"),
        rows,
        words=(2,),
    )


def tripod_table(f: Findings) -> Table:
    """The items of TRIPOD+AI on calibration, filled in."""
    rows = [Row(item.number, (item.text,), item.topic) for item in tripod_items(f)]
    caption = "Items of the TRIPOD+AI checklist on calibration, filled in with this analysis"
    return Table("tripod", caption, ("Item", "This analysis"), rows, words=(1,))


def data_table(f: Findings, source: Mapping[str, object]) -> Table:
    """What was assessed, and with which settings."""
    data, problem = f.posterior.data, f.comparison.problem
    lines = dict(source)
    cells = " cells of a grid" if data.is_compressed else ""
    lines |= {
        "Cases": count(data.n),
        "Events": f"{count(data.events)} ({100 * data.events / data.n:.3g} %)",
        "Distinct predictions": count(data.score.size) + cells,
    }
    if f.data.groups:
        lines["Groups"] = count(len(f.data.groups))
    lines |= {
        "Prior on the curves": problem.prior.name,
        "Prior probability of exact calibration": f"{f.comparison.prior_prob['identity']:g}",
        "Close enough": f"a true calibration error below {f.close:g}",
        "Seed": str(f.seed),
    }
    rows = [Row(shortened(key), (shortened(value, LONGEST_VALUE),)) for key, value in lines.items()]
    return Table("data", "Data and settings", ("What", "Value"), rows, words=(1,))
