"""Tables of groups, sites and subgroups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayescal.assessment.findings import Findings
from bayescal.assessment.populations import population_names
from bayescal.assessment.tables.columns import chances, counts, measured, words
from bayescal.assessment.words import whose_words
from bayescal.core.table import MEDIA, NOT_TERMINAL, Column, Row, Table
from bayescal.core.text import capitalised, chance, percent, shortened
from bayescal.multilevel.compared import subgroups_of
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS, main_functionals

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.multilevel.posterior import MultilevelPosterior

__all__ = [
    "groups_table",
    "populations_table",
    "spread_table",
    "subgroups_table",
    "table_of_populations",
]

PAGE = MEDIA[:1]


def groups_table(f: Findings) -> Table:
    """Each group; of one fit of all, beside what its own cases say."""
    level = percent(f.ci_prob)
    events = counts("events", "Events", media=NOT_TERMINAL)
    columns = [counts("cases", "Cases"), events, *_main_columns(f)]
    title = f"Each group by itself: estimates and {level} intervals"
    if f.several is not None:
        title = (
            f"Estimates and {level} intervals of one fit, in which groups are drawn towards each "
            "other; “alone” is from the group's own cases"
        )
        raw = {"observed_expected": MEDIA, "calibration_slope": PAGE}
        columns[-1:-1] = [_alone(name, media) for name, media in raw.items()]
    rows = [Row(str(name), str(name), row.to_dict()) for name, row in f.by_group.iterrows()]
    return Table(
        "groups",
        title,
        "Group" if f.data.periods is None else "Period",
        columns,
        rows,
        names_cases=True,
        stacks=True,
    )


def _alone(name: str, media: tuple[str, ...]) -> Column:
    """What a group's own cases say of a measure."""
    head = f"{capitalised(FUNCTIONALS[name].short)} alone"

    def shown(row: Row) -> str:
        value = row[f"{name}_raw"]
        return NOT_DEFINED if math.isnan(value) else f"{value:.2f}"

    return Column(f"{name}_raw", head, shown, "Alone", media=media)


def _main_columns(f: Findings) -> list[Column]:
    """The main functionals, and the probability that the error is below the limit."""
    level, columns = percent(f.ci_prob), []
    for name in main_functionals():
        short = capitalised(FUNCTIONALS[name].short)
        media = MEDIA if name in ("tce", "observed_expected") else PAGE
        columns.append(measured(name, short, short=f"{short} ({level} interval)", media=media))
    limit, short = f"P(TCE below {f.close:g})", f"P(< {f.close:g})"
    return [*columns, chances("prob_close", limit, short=short, media=MEDIA[:2])]


def spread_table(f: Findings) -> Table:
    """How much the groups differ, by the same fit."""
    assert f.sites is not None
    labels = {
        "shift": ("SD of the shift", "in log-odds"),
        "log_slope": ("SD of the log slope", ""),
        "correlation": ("Correlation", "of shift and log slope"),
    }
    rows = [
        Row(str(name), labels[str(name)][0], dict(row), hint=labels[str(name)][1])
        for name, row in f.sites.heterogeneity.add_prefix("spread_").iterrows()
    ]
    head = "Median (95 % interval)"
    columns = (measured("spread", head, "{}_median"),)
    return Table("spread", "How much the groups differ", "Between groups", columns, rows)


def populations_table(f: Findings) -> Table:
    """Whom the results are true of, each with a verdict of its own."""
    assert f.populations is not None and f.several is not None
    return table_of_populations(f.populations, f.several, f.close, f.ci_prob)


def table_of_populations(
    populations: pd.DataFrame, several: MultilevelPosterior, close: float, ci_prob: float
) -> Table:
    """The populations of a fit of several curves, as `populations_of` gives them."""
    names, level = population_names(several), percent(ci_prob)
    columns = [measured(name, capitalised(FUNCTIONALS[name].short)) for name in main_functionals()]
    columns.append(chances("prob_close", f"P(TCE below {close:g})", media=PAGE))
    columns.append(words("verdict", "Verdict", media=PAGE))
    told, kind = populations.copy(), whose_words(several)[0].removeprefix("every ")
    cancel = (told.index == "average") & (told["verdict"] == "close enough")
    if told["verdict"]["these"] != "close enough":
        told.loc[cancel, "verdict"] = ""  # no page leads with the average, in which errors cancel
    rows = []
    for name, row in told.iterrows():
        whose = f"against their own {kind}s" if name == "these" else ""
        caution = _verdict_on(row, close, f" {whose}".rstrip())
        rows.append(Row(str(name), names[str(name)], row.to_dict(), "", whose, caution))
    title = f"Whom it is true of: estimates and {level} intervals of one fit"
    return Table("populations", title, "Population", columns, rows, stacks=True)


def _verdict_on(row: pd.Series, close: float, whose: str) -> str:
    """The verdict on a population and what it rests on."""
    below = chance(float(row["prob_close"]))
    verdict = f"{row['verdict']}: " if row["verdict"] else ""
    return f"{verdict}the error{whose} is below {close:g} with probability {below}"


def subgroups_table(f: Findings, of: str = "levels") -> Table:
    """The levels of each factor, or the combinations that occur, of one fit."""
    assert f.crossed is not None
    every = subgroups_of(f.crossed, of)
    table = f.by_subgroup if of == "levels" else f.by_subgroup.iloc[-len(every) :]
    rows = [
        Row(f"{each.factor}: {each.level}", each.level, numbers, section=shortened(each.factor))
        for each, numbers in zip(every, table.to_dict("records"), strict=False)
    ]
    level, page = percent(f.ci_prob), MEDIA[:1]
    what = "Levels of each factor" if of == "levels" else "Combinations of levels"
    return Table(
        "levels" if of == "levels" else "combinations",
        f"{what}: estimates and {level} intervals of one fit",
        "Subgroup",
        (
            counts("cases", "Cases"),
            counts("events", "Events"),
            measured("observed_expected", "O/E", "{}", short=f"O/E ({level} interval)"),
            Column("raw", "O/E alone", lambda row: f"{row['observed_expected_raw']:.2f}", "Alone"),
            measured("tce", "TCE", "{}", media=page),
            chances("prob_off", f"P(TCE above {f.close:g})", short=f"P(TCE > {f.close:g})"),
            chances("prob_worst", "P(worst)", media=page),
        ),
        rows,
        names_cases=True,
        stacks=True,
    )
