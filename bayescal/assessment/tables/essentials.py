"""Tables of the essentials of STRATOS: whom a threshold selects, and each group's own numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayescal.assessment.essentials import CLASSIFIED
from bayescal.assessment.findings import Findings
from bayescal.assessment.tables.columns import counts, measured
from bayescal.core.table import MEDIA, Column, Row, Table
from bayescal.core.text import percent
from bayescal.multilevel.compared import subgroups_of
from bayescal.posterior.checks.undefined import NOT_DEFINED

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["classification_table", "essentials_groups_table", "essentials_levels_table"]

HEADS = {
    "treated": ("Treated", "Treated"),
    "sensitivity": ("Sensitivity", "Sens."),
    "specificity": ("Specificity", "Spec."),
    "ppv": ("PPV", "PPV"),
    "npv": ("NPV", "NPV"),
}
MOST_BENEFITS = 3
"""Of which the tables of groups have a column."""
NOTHING_GIVEN = (
    "No threshold was given, so these are the prevalence, half of it and twice it, within 0.01 and "
    "0.99. They describe the model and decide nothing."
)
DESCRIBES = (
    "Sensitivity, specificity, PPV and NPV describe whom a threshold selects. They do not say "
    "whether the model is useful: net benefit does."
)


def classification_table(f: Findings) -> Table:
    """Sensitivity, specificity and predictive values, in percent."""
    rows = [Row(f"{t:g}", f"{t:g}", row.to_dict()) for t, row in f.classification.iterrows()]
    notes = [NOTHING_GIVEN] if f.decision_range.is_default else []
    return Table(
        "classification",
        f"Whom a threshold selects, in %: means and {percent(f.ci_prob)} intervals from draws",
        "Treated from",
        [_share(name) for name in CLASSIFIED],
        rows,
        notes=(*notes, DESCRIBES),
        stacks=True,
    )


def _share(name: str) -> Column:
    def shown(row: Row) -> str:
        numbers = [100 * row[f"{name}_{part}"] for part in ("estimate", "lower", "upper")]
        if math.isnan(numbers[0]):
            return NOT_DEFINED
        return "{:.0f} ({:.0f} to {:.0f})".format(*numbers)

    head, short = HEADS[name]
    media = MEDIA if name != "treated" else MEDIA[:1]
    return Column(name, head, shown, short=short, media=media)


def essentials_groups_table(f: Findings) -> Table:
    """The C-statistic and the net benefit of each group by itself."""
    frame = f.essentials_by_group
    rows = [Row(str(name), str(name), row.to_dict()) for name, row in frame.iterrows()]
    return _by_part(f, "essentials_groups", "Each group", "Group", rows)


def essentials_levels_table(f: Findings) -> Table:
    """The C-statistic and the net benefit of each level of each factor."""
    assert f.crossed is not None
    frame: pd.DataFrame = f.essentials_by_subgroup
    levels = subgroups_of(f.crossed, "levels")
    rows = [
        Row(str(name), part.level, numbers, section=part.factor)
        for part, (name, numbers) in zip(levels, frame.to_dict("index").items(), strict=True)
    ]
    return _by_part(f, "essentials_levels", "Each level of each factor", "Subgroup", rows)


def _by_part(f: Findings, name: str, of: str, head: str, rows: list[Row]) -> Table:
    level = percent(f.ci_prob)
    columns = [
        counts("cases", "Cases"),
        counts("events", "Events"),
        measured("c_statistic", "C-statistic", short=f"C-statistic ({level} interval)"),
        *(_benefit(t) for t in f.decision_range.thresholds[:MOST_BENEFITS]),
    ]
    title = f"{of}: C-statistic, and net benefit per 1000 patients of treating by the model"
    return Table(
        name, f"{title} ({level} intervals)", head, columns, rows, names_cases=True, stacks=True
    )


def _benefit(threshold: float) -> Column:
    at = f"net_benefit@{threshold:g}"

    def shown(row: Row) -> str:
        numbers = (round(1000 * row[f"{at}_{part}"]) for part in ("estimate", "lower", "upper"))
        return "{} ({} to {})".format(*numbers)

    return Column(at, f"Net benefit from {threshold:g}", shown, media=MEDIA[:1])
