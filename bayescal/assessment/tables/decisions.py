"""Tables of what to do: updates, net benefit, and what it is worth to know more."""

from __future__ import annotations

from typing import Any

from bayescal.assessment.findings import Findings
from bayescal.assessment.tables.columns import chances
from bayescal.assessment.words import is_reversed
from bayescal.core.table import Column, Row, Table
from bayescal.core.text import capitalised, chance, percent
from bayescal.model.curves import CURVES

__all__ = ["benefit_table", "information_table", "lost_table", "updates_table"]

IN_WORDS = {
    "treat_none": "treat no one",
    "treat_all": "treat everyone",
    "model": "the model",
    "updated_model": "the updated model",
}
SMALLEST = 0.05  # per 1000 patients


def updates_table(f: Findings) -> Table:
    """The expected gain of each update relative to no update."""
    advice = f.recommendation
    heads = {"brier": "Fall of the Brier score"}
    heads |= {f"net_benefit@{t:g}": f"Rise of net benefit at {t:g}" for t in f.thresholds}
    rows = []
    for index, numbers in advice.table.drop("identity").iterrows():
        name = str(index)
        chosen = name == advice.choice and not is_reversed(f)
        hint = "recommended" if chosen else ""
        label = capitalised(CURVES[name].update)
        rows.append(Row(name, label, numbers.to_dict(), hint=hint, chosen=chosen))

    def gain(measure: str, head: str) -> Column:
        return Column(measure, head, lambda row: advice.shown(row.name, measure))

    return Table(
        "updates",
        f"Expected gain on new patients, per 1000 of them ({percent(f.ci_prob)} interval)",
        "Update",
        [*(gain(*each) for each in heads.items()), chances("prob_better", "P(better)")],
        rows,
        stacks=True,
    )


def benefit_table(f: Findings) -> Table:
    """Net benefit at the thresholds that were given."""
    level = percent(f.ci_prob)

    def model(row: Row) -> str:
        middle, low, high = (_of_1000(row[key]) for key in ("estimate", "lower", "upper"))
        return f"{middle} ({low} to {high})"

    return Table(
        "benefit",
        "Net benefit per 1000 patients, by the risk treated from on; treating no one has 0",
        "Treated from",
        (
            Column(
                "model", f"By the model ({level} interval)", model, f"Net benefit of 1000 ({level})"
            ),
            Column("treat_all", "Everyone", lambda row: _of_1000(row["treat_all"]), "Treating all"),
            chances("prob_best", "Model best", short="P(model best)"),
        ),
        [Row(f"{t:g}", f"{t:g}", row.to_dict()) for t, row in f.net_benefit.iterrows()],
        stacks=True,
    )


def lost_table(f: Findings) -> Table:
    """Net benefit lost to miscalibration, at each threshold and between the outer ones."""
    rows = []
    for name, numbers in f.net_benefit_lost.iterrows():
        at = str(name).partition("@")[2]
        rows.append(Row(at, f"at most, {at}" if " to " in at else at, numbers.to_dict()))
    level = percent(f.ci_prob)
    return Table(
        "lost",
        "Net benefit per 1000 patients that is lost to miscalibration",
        "Treated from",
        (Column("lost", f"Lost ({level} interval)", lost_per_1000),),
        rows,
        short="Lost to miscalibration, per 1000, from",
    )


def information_table(f: Findings) -> Table:
    """The value of information at the thresholds that were given."""

    def best(row: Row) -> str:
        return f"{IN_WORDS[row['best']]} ({chance(float(row['prob_best']))})"

    return Table(
        "information",
        "Expected value of perfect information, in net benefit per 1000 patients",
        "Treated from",
        (
            Column("best", "Ahead now (probability)", best, "Ahead now", is_text=True),
            Column("evpi", "Of the choice", lambda row: _tenths(row["evpi"]), "Choice"),
            Column(
                "evpi_of_recalibrating",
                "Of recalibrating",
                lambda row: _tenths(row["evpi_of_recalibrating"]),
                "Curve",
            ),
        ),
        [Row(f"{t:g}", f"{t:g}", row.to_dict()) for t, row in f.information.iterrows()],
        short="Perfect information, per 1000, from",
        stacks=True,
    )


def lost_per_1000(row: Any) -> str:
    """Net benefit lost and its interval, of 1000 patients: `3.9 (0.0 to 13.9)`."""
    middle, low, high = (f"{1000 * row[key]:.1f}" for key in ("estimate", "lower", "upper"))
    return f"{middle} ({low} to {high})"


def _of_1000(value: float) -> str:
    """Patients of 1000, without a minus before nought."""
    return f"{round(1000 * value) + 0:d}"


def _tenths(value: float) -> str:
    """Patients of 1000, to one decimal."""
    return f"{1000 * value:.1f}" if 1000 * value >= SMALLEST else f"< {SMALLEST:g}"
