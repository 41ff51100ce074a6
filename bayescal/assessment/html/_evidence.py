"""Tables of what the evidence says: is it calibrated, which curve, which update."""

from __future__ import annotations

from bayescal._base.text import chance
from bayescal.assessment.findings import Findings
from bayescal.assessment.html._table import NONE, Row, Table, numeral
from bayescal.model.curves import CURVES, updates

__all__ = ["curves_table", "odds_table", "sensitivity_table", "updates_table"]

PRIORS = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9)


def sensitivity_table(f: Findings) -> Table:
    """Does the probability of calibration depend on the prior on the curves?"""
    own = f.comparison.prior_prob["identity"]
    columns = ("prob_calibrated", "average", "logistic", "beta")
    rows = [
        Row(
            str(name),
            tuple(_chance(row[column]) for column in columns),
            chosen=name == f.prior.name,
        )
        for name, row in f.comparison.sensitivity.iterrows()
    ]
    return Table(
        "sensitivity",
        "Probability of exact calibration, by prior on the curves",
        (
            "Prior on the curves",
            f"From prior {own:g}",
            "Even odds, all curves",
            "Even odds, logistic only",
            "Even odds, beta only",
        ),
        rows,
        stacks=True,
    )


def odds_table(f: Findings) -> Table:
    """The probability of calibration for readers who start elsewhere."""
    own = f.comparison.prior_prob["identity"]
    rows = [
        Row(f"{prior:g}", (chance(f.comparison.prob_calibrated_at(prior)),), chosen=prior == own)
        for prior in sorted({*PRIORS, own})
    ]
    return Table(
        "odds",
        "Probability of exact calibration, by what it was before",
        ("Prior probability", "Posterior probability"),
        rows,
    )


def curves_table(f: Findings) -> Table:
    """The families of curves: how probable, and how well each predicts."""
    rows = []
    for name, row in f.comparison.table.iterrows():
        cells = (
            f"{row['prior']:.2g}",
            chance(row["posterior_prob"]) if row["prior"] else NONE,
            numeral(row["bayes_factor"]),
            f"{row['elpd_diff']:.1f} ({row['elpd_diff_error']:.1f})",
            f"{row['stacking_weight']:.2f}",
        )
        rows.append(Row(str(name), cells, CURVES[str(name)].meaning))
    return Table(
        "curves",
        "Families of curves, from exact calibration to any smooth shape",
        (
            "Curve",
            "Prior",
            "Posterior",
            "Bayes factor",
            "Predicts better by (s.e.)",
            "Stacking",
        ),
        rows,
        stacks=True,
    )


def updates_table(f: Findings) -> Table:
    """What each update of the model is expected to gain."""
    advice = f.recommendation
    rows = []
    for name, row in advice.table.iterrows():
        update = updates()[str(name)]
        none = name == "identity"
        cells = (
            "0" if none else f"{row['gain']:.4f}",
            NONE if none else f"{row['se']:.4f}",
            NONE if none else chance(row["prob_better"]),
        )
        chosen = name == advice.choice
        hint = "recommended" if chosen else ""
        rows.append(Row(update[0].upper() + update[1:], cells, hint, chosen))
    return Table(
        "updates",
        "Gain in held-out log score per case over leaving the model alone",
        ("Update", "Expected gain", "Standard error", "Helps with probability"),
        rows,
        stacks=True,
    )


def _chance(probability: float) -> str:
    return NONE if probability != probability else chance(probability)
