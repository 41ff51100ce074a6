"""Benchmark page on the ends of the score scale, made from the stored results."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmark_pages import RESULTS, markdown, standard_error
from ends_drawn import AT, GROUPED, GROUPS, NEAR, SCORES
from ends_few import FEW
from ends_populations import JUMPS, POPULATIONS

CURVE = ("curve_0.01", "curve_0.05", "curve_0.95", "curve_0.99")
GATES = {"e90": 0.90, **dict.fromkeys(CURVE, 0.90), "emax": 0.85}
"""Coverage that is asked of 95 % intervals in every cell."""
SHOWN = {
    "tce": "TCE",
    "tce_2": "TCE_2",
    "e90": "E90",
    "emax": "Emax",
    "curve_0.01": "curve, 1 %",
    "curve_0.05": "curve, 5 %",
    "curve_0.5": "curve, 50 %",
    "curve_0.95": "curve, 95 %",
    "curve_0.99": "curve, 99 %",
}
VERSIONS = {"drawn": "drawn", "plain": "before"}
OF_BANDS = {
    "covered": "covers",
    "covered_away": "covers, away",
    "width": "width",
    "error": "error",
}
FALL = 0.02
"""By which a curve visibly falls."""
TINY = 1e-6
KEYS = ["population", "n"]


def ends_page() -> str:
    """What was asked, and the coverage in every cell."""
    table = stored("present")
    if table.empty:
        return ""
    cells = coverage(table)
    missed = misses(cells)
    judged = sum(gate.judged for gate in gates(cells))
    runs = table.groupby("n")["run"].nunique()
    counts = ", ".join(f"{count} of {n:,} patients" for n, count in runs.items())
    described = "\n".join(f"- *{truth.name}*: {truth.description}" for truth in POPULATIONS)
    paragraphs = [
        "# The ends of the score scale",
        "Networks, language models and many clinical scores put many cases near 0 and 1, and some "
        "labels are wrong. This page counts how often 95 % intervals contain the true value "
        "there: of TCE, E90 and Emax, and of the curve at the 1, 5, 50, 95 and 99 % points of the "
        "scores. The populations, and what is asked, were written down before the families `noise` "
        "and `lapse` were added; constants of these were chosen on other populations.",
        f"Data sets of each population: {counts}.",
        described,
        "## What is asked",
        "Coverage of at least .90 for E90 and for the curve at the 1, 5, 95 and 99 % points, and "
        "of at least .85 for Emax, in every cell (a population at one number of patients). A cell "
        "misses if its coverage is lower by more than two standard errors, those of a coverage "
        f"that is just as asked. Where there are {runs.min()} data sets, a cell only misses if its "
        f"coverage is far too low. {len(missed)} of {judged} coverages miss; E90 and Emax are not "
        f"asked of *{', '.join(JUMPS)}*.",
        markdown(missed, 2) if len(missed) else "None misses.",
        "## All cells",
        "Mean over populations:",
        markdown(cells.drop(columns="sets").groupby(level="n").mean().rename(columns=SHOWN), 2),
        "Every cell:",
        markdown(cells.rename(columns=SHOWN), 2),
        *drawn_section(stored("drawn")),
        *few_scores(),
    ]
    return "\n\n".join(paragraphs) + "\n"


def drawn_section(table: pd.DataFrame) -> list[str]:
    """Where the curve falls, and what its band covers, before draws are moved and after."""
    if table.empty:
        return []
    sets, groups = table[table["n"] > 0], table[table["n"] == 0]
    cells = sets.groupby(KEYS, sort=False).mean()
    fall = {version: groups[f"{version}_fall"] for version in VERSIONS}
    steep = {version: int((fall[version] >= FALL).sum()) for version in VERSIONS}
    bands = {
        f"{what}, {VERSIONS[version]}": cells[f"{version}_{column}"]
        for column, what in OF_BANDS.items()
        for version in VERSIONS
    }
    points = {f"curve, {100 * level:g} %": cells[f"drawn_at_{level:g}"] for level in AT}
    groups_of = groups.groupby("population", sort=False)
    rising = pd.DataFrame(
        {
            "groups": groups_of.size(),
            "patients": groups_of["patients"].median().astype(int),
            **{
                f"falls by {FALL:g}, {VERSIONS[version]}": groups_of[f"{version}_fall"].agg(
                    lambda falls: (falls >= FALL).mean()
                )
                for version in VERSIONS
            },
            **{
                f"error, {VERSIONS[version]}": groups_of[f"{version}_error"].mean()
                for version in VERSIONS
            },
            **{
                f"covers, {VERSIONS[version]}": groups_of[f"{version}_covered"].mean()
                for version in VERSIONS
            },
        }
    )
    steps = cells.loc[cells.index.get_level_values("population") != "wave", ["step", "true_step"]]
    return [
        "## The curve as it is drawn",
        "Draws of the curve of an average are [moved before they are drawn](../comparison.md), "
        "so that their mean passes gradually from cell to cell unless a jump is probable, and "
        "rises unless a fall is probable. *Before* is of the draws before they are moved. All "
        f"scores have logit s ~ Normal({SCORES.mean:g}, {SCORES.sd:g}).",
        f"Random groups: {len(groups)} groups, four of each of {len(groups) // GROUPS} data sets "
        f"of {GROUPED[0]} to {GROUPED[1]} patients, whose true curves rise and are smooth. The "
        f"mean curve falls by {FALL:g} or more in {steep['drawn']} of them ({steep['plain']} "
        "before). *Error* is the mean distance between the mean curve and the true curve, over "
        "the patients, and *covers* the share of patients at whose scores the 95 % band contains "
        "the true curve.",
        markdown(rising),
        "Curves that jump or bend: logit g = x + 1 or x - 1 from x = .2 on, and x before; and "
        f"x + .8 sin(2.2 x); x = logit s. {sets['run'].nunique()} data sets of each. *Away* "
        f"leaves out scores within {NEAR:g} log-odds of the jump.",
        markdown(pd.DataFrame(bands), 2),
        "Coverage of the drawn band at some quantiles of the scores:",
        markdown(pd.DataFrame(points), 2),
        f"Difference of the drawn curve between {NEAR:g} log-odds above and below the jump, and "
        "of the true curve:",
        markdown(steps.rename(columns={"step": "drawn", "true_step": "true"})),
    ]


OF_FEW = {
    "tce": "TCE",
    "tce_2": "TCE_2",
    "e90": "E90",
    "emax": "Emax",
    "signed_error": "signed error",
    "observed_expected": "O/E",
}


def few_scores() -> list[str]:
    """Coverage where there are few distinct scores, as paragraphs; none where not measured."""
    table = stored("few-present")
    if table.empty:
        return []
    described = "\n".join(f"- *{each.name}*: {each.description}" for each in FEW)
    return [
        "## Few distinct scores",
        "Stated confidences, clinical points and tenths. The populations were written down before "
        "the family `saturated` was tried on them, but its weight beside `pieces`, and the scales "
        "of its prior, were chosen on other data sets of the same populations. *Curve* is the mean "
        "over the scores, *least* the score with the lowest coverage; *P(exact)* is the mean "
        "probability of exact calibration.",
        described,
        markdown(coverage_of_few(table), 2),
        "Intervals of the curve, E90 and Emax cover .9 or more of the sets in the mean over "
        "populations at every number of patients. TCE covers less where errors are small and of "
        "both signs (*confidences, nearly* and *points, jagged*): in part of the draws an error "
        "counts only as far as its side is sure. A point at which the curve jumps (*points, "
        "jump*) is covered less as long as a smooth curve fits nearly as well. With 50 and 200 "
        "patients signed error and O/E of *points, too high* cover .82 to .85.",
    ]


def coverage_of_few(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage by population and number of patients, and the mean P(exactly calibrated)."""
    keys = [table[key] for key in KEYS]
    columns = {name: inside(table, target) for target, name in OF_FEW.items()}
    points = [name[:-5] for name in table.columns if name[:6] == "curve_" and name[-5:] == "_true"]
    curve = pd.DataFrame({name: inside(table, name) for name in points})
    curve = curve.where(~table[[f"{name}_true" for name in points]].isna().to_numpy())
    by_score = curve.astype(float).groupby(keys, sort=False).mean()
    cells = pd.DataFrame(columns).groupby(keys, sort=False).mean()
    return cells.assign(
        curve=by_score.mean(axis=1),
        least=by_score.min(axis=1),
        **{"P(exact)": table["prob_calibrated"].groupby(keys, sort=False).mean()},
        sets=table["run"].groupby(keys, sort=False).size(),
    )


def inside(table: pd.DataFrame, target: str) -> pd.Series:
    """Whether each interval contains the true value."""
    true, lower, upper = (table[f"{target}_{part}"] for part in ("true", "lower", "upper"))
    return (lower <= true + TINY) & (true - TINY <= upper)


def stored(part: str) -> pd.DataFrame:
    """A row for each data set of a part; none where it was not measured."""
    file = RESULTS / "ends" / f"{part}.npz"
    if not file.is_file():
        return pd.DataFrame()
    with np.load(file) as columns:
        return pd.DataFrame({name: columns[name] for name in columns.files if name != "versions"})


def coverage(table: pd.DataFrame) -> pd.DataFrame:
    """Share of intervals that contain the true value, and the number of data sets, by cell."""
    columns = {}
    for target in SHOWN:
        columns[target] = inside(table, target)
    cells = pd.DataFrame(columns).groupby([table[key] for key in KEYS], sort=False)
    return cells.mean().assign(sets=cells.size())


class Gate:
    """What is asked of one number: the cells that are judged, and those that miss."""

    def __init__(self, target: str, cells: pd.DataFrame) -> None:
        asked = GATES[target]
        if target in ("e90", "emax"):
            cells = cells.drop(index=[name for name in JUMPS if name in cells.index], level=0)
        least = asked - 2 * standard_error(asked, cells["sets"])
        short = cells[cells[target] < least - 1e-9]
        self.judged = len(cells)
        self.short = pd.DataFrame(
            {"number": SHOWN[target], "covers": short[target], "asked": asked}
        ).assign(least=least[short.index])


def gates(cells: pd.DataFrame) -> list[Gate]:
    return [Gate(target, cells) for target in GATES]


def misses(cells: pd.DataFrame) -> pd.DataFrame:
    """Coverages that are lower than asked."""
    short = pd.concat([gate.short for gate in gates(cells)])
    return short.sort_values("covers") if len(short) else short
