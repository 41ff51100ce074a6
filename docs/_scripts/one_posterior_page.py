"""Benchmark page on what the averaged posterior states, made from the stored results."""

from __future__ import annotations

import pandas as pd

import one_posterior_bars as asked
from benchmark_pages import markdown
from one_posterior_stored import data_sets, precision, sizes, stored_parts

TITLES = {
    0: "Kinds of populations, one by one",
    1: "Stated probabilities",
    2: "Intervals of TCE",
    3: "False verdicts, by population",
    4: "Verdicts at .03",
    5: "Contradictions",
    6: "Numbers that can err either way",
    7: "E50, E90 and Emax",
    8: "Steadiness",
    9: "Clusters, imputations and sampling weights",
}
NAMES = {
    "tce": "TCE_1",
    "tce_2": "TCE_2",
    "e50": "E50",
    "e90": "E90",
    "emax": "Emax",
    "signed_error": "signed error",
    "observed_expected": "O/E",
    "calibration_slope": "slope",
    "curve_0.05": "curve, 5 %",
    "curve_0.5": "curve, 50 %",
    "curve_0.95": "curve, 95 %",
}
KINDS = {
    "development": "overfitted logistic models on new patients, 3 to 12 predictors",
    "case_mix": "three groups of patients that the model does not know",
    "waves": "a smooth error of four random waves on the log-odds",
    "stretches": "exact but on one or two stretches of the scores; 15 in 100 everywhere",
    "treatment": "treated from a score on, which lowers the odds; the rest may be off, too",
    "labels": "events that are missed, events that are none; scores massed near 0 and 1",
    "updated": "just recalibrated: one half exact, one half with a small error",
    "transport": "shift with heavy tails, slope, asymmetry; 1 in 10 exact",
}
LOW = 0.90
"""A cell is shown as weak below this coverage."""
LEVELS = (0.975, 0.95)


def one_posterior_page() -> str:
    """What was asked, what was measured, and where it is weak."""
    parts = stored_parts()
    if not {"kinds", "cells", "designs"} <= set(parts):
        return ""
    kinds, cells, designs = (parts[part] for part in ("kinds", "cells", "designs"))
    count = kinds.groupby(["kind", "n"]).size()
    paragraphs = [
        "# Is what a report states true?",
        "A report states an interval, a probability that the true calibration error is below a "
        "limit, and a verdict. On simulated patients the true error is known, so we can count how "
        f"often the statements are true. This page rests on {len(kinds)} populations that were "
        f"drawn at random, of {kinds['kind'].nunique()} kinds with {sizes(kinds)} patients "
        f"({count.min()} of each kind and size); on {len(cells.groupby(['cell', 'n']))} fixed "
        f"cells (a population at one number of patients) with {data_sets(cells, ['cell', 'n'])} "
        f"data sets each; and on {designs['cell'].nunique()} cells with clusters, imputations or "
        f"sampling weights and {data_sets(designs, ['cell'])} data sets each. The populations, "
        "and the table of what is asked, were written down before the method was run on any of "
        "them, except for what is asked of numbers that can err either way. That table also "
        "compared with an earlier method; these conditions are left out. [What the draws of a "
        "distance are](../comparison.md#one-set-of-draws) describes the method.",
        precision(cells, designs),
        "## What was asked",
        *_asked(asked.bars(parts)),
        "## Stated probabilities",
        *_probabilities(kinds),
        "## Weaknesses by kind of population",
        *_kinds(kinds),
        "## Intervals of TCE",
        *_intervals(cells),
        "## Verdicts",
        *_verdicts(kinds, cells),
        "## The other numbers",
        *_others(parts),
        "## Clusters, imputations and sampling weights",
        *_designs(designs),
        "## The probability of exact calibration",
        *_exact(kinds),
        "Made by `docs/benchmarks/one_posterior.py`; the populations are in "
        "`one_posterior_kinds.py`, `one_posterior_cells.py` and `one_posterior_designs.py` beside "
        "it, and what is asked in `docs/_scripts/one_posterior_bars.py`.",
    ]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _asked(bars: list[asked.Bar]) -> list[str]:
    failed = [bar for bar in bars if not bar.met]
    first = f"{len(bars) - len(failed)} of {len(bars)} conditions are met."
    if failed:
        first += " Not met:\n\n" + "\n".join(
            f"- {TITLES[bar.number]}: {_plain(bar.what)}; asked {bar.relation} {bar.bound:g}, "
            f"measured {bar.measured:.4f}"
            for bar in failed
        )
    table = pd.DataFrame(
        {
            "": TITLES[bar.number],
            "measured of": _plain(bar.what),
            "asked": f"{bar.relation} {bar.bound:g}",
            "measured": f"{bar.measured:.4f}",
            "met": "yes" if bar.met else "**no**",
        }
        for bar in bars
    )
    table[""] = table[""].where(~table[""].duplicated(), "")
    return [first, markdown(table.set_index(""))]


def _plain(words: str) -> str:
    """A target by its printed name."""
    name, colon, rest = words.partition(":")
    return f"{NAMES.get(name, name)}{colon}{rest}"


def _probabilities(kinds: pd.DataFrame) -> list[str]:
    rows = asked.statements(kinds)
    table = _stated_and_true(rows)
    by_n = {f"n = {n}": _arrow(asked.reliability(part)) for n, part in rows.groupby("n")}
    shown = table.join(pd.DataFrame(by_n)).fillna("").rename_axis("stated")
    share = rows["true"].mean()
    return [
        "A statement is P(TCE < limit), at the limits .01, .02, .03 and .05. Each cell of the "
        "table gives the mean stated probability, and the share of these statements in which the "
        "true error is below the limit.",
        markdown(shown),
        f"Brier score of the statements: {asked.brier(rows):.3f}. If every statement were the "
        f"share that is true in all, {share:.2f}, it would be {share * (1 - share):.3f}.",
    ]


def _stated_and_true(rows: pd.DataFrame) -> pd.DataFrame:
    table = asked.reliability(rows)
    result = pd.DataFrame({"statements": table["count"], "all": _arrow(table)})
    result.index.name = "stated"
    return result


def _arrow(table: pd.DataFrame) -> pd.Series:
    return table.apply(lambda row: f"{row['stated']:.2f} → {row['true']:.2f}", axis=1)


def _kinds(kinds: pd.DataFrame) -> list[str]:
    rows = asked.statements(kinds)
    columns = {}
    for kind, part in rows.groupby("kind", sort=False):
        table = asked.reliability(part)
        columns[kind] = _arrow(table[table["count"] >= asked.SOME])
    wide = pd.DataFrame(columns).T.fillna("")
    order = [name for name in asked.reliability(rows).index if name in wide]
    wide = wide[order].rename_axis("kind")
    by_kind = rows.groupby("kind")
    briers = by_kind.apply(asked.brier, include_groups=False).to_frame("Brier score")
    sure = asked.sure_and_true(rows, ["kind", "n"])
    least = sure.loc[sure["mean"].groupby("kind").idxmin()].reset_index("n")
    briers["sure and true, least by n"] = least["mean"]
    briers["n"] = least["n"]
    briers["sure statements"] = least["size"]
    return [
        "\n".join(f"- *{_plain_kind(name)}*: {words}" for name, words in KINDS.items()),
        "A report cannot know of which kind its model is. Stated and true by kind, in bins with "
        f"{asked.SOME} statements and more:",
        markdown(wide.rename(_plain_kind)),
        "A statement is *sure* if its probability is at least .975 or at most .025. The share of "
        "these that are true is shown for the number of patients where it is least, with that "
        "number and the number of sure statements.",
        markdown(briers.loc[wide.index].rename(_plain_kind)),
    ]


def _plain_kind(name: str) -> str:
    return name.replace("_", " ")


def _intervals(cells: pd.DataFrame) -> list[str]:
    table = asked.by_cell(cells)
    weak = table[table["covered"] < LOW].sort_values("covered")
    words = f"Cells in which coverage is below {LOW:.2f}:"
    return [
        "*Interval too low* is the share of data sets in which the whole interval is below the "
        "true value, *interval too high* that in which it is above. The score is the mean of the "
        "width + 40 times the miss.",
        words if len(weak) else f"{words} none.",
        *([_readable(weak)] if len(weak) else []),
        "All cells:",
        _readable(table),
    ]


def _readable(table: pd.DataFrame) -> str:
    """Cells with headings that can be read."""
    shown = table.drop(columns="calibrated").rename(
        columns={
            "covered": "95 %: covers",
            "covered_80": "80 %: covers",
            "below": "interval too low",
            "above": "interval too high",
        }
    )
    for name in ("width", "score"):
        shown[name] = shown[name].map("{:.4f}".format)
    return markdown(shown.rename_axis(index={"cell": "population"}), 2)


def _verdicts(kinds: pd.DataFrame, cells: pd.DataFrame) -> list[str]:
    rows = [
        {"from": f"{level:g}", "limit": f"{limit:g}", "n": n}
        | dict(asked.verdicts(part, limit, level))
        for level in LEVELS
        for limit in asked.LIMITS["tce"]
        for n, part in kinds.groupby("n")
    ]
    false = asked.false_verdicts(cells)
    worst = false[(false > 0).any(axis=1)].sort_values("miscalibrated", ascending=False)
    worst = worst.rename(columns={"close": "close enough"}).rename_axis(
        index={"cell": "population"}
    )
    return [
        "*Settled* is the share of reports with a verdict, *wrong* the share of these verdicts "
        "that are wrong; a verdict needs the probability in the first column.",
        markdown(pd.DataFrame(rows).set_index("from").fillna(0.0)),
        "Cells with a false verdict (*miscalibrated* at 1.25 times the true error, *close enough* "
        "at .8 times):",
        markdown(worst, 2) if len(worst) else "None.",
    ]


def _others(parts: asked.Parts) -> list[str]:
    cells, rows, weak = parts["cells"], [], []
    for target in (*asked.DISTANCES, *asked.EITHER_WAY):
        share = asked.coverage_by_cell(cells, target)
        where = ", n = ".join(map(str, share.idxmin()))
        rows.append(
            {
                "number": NAMES[target],
                "95 %: covers": share.mean(),
                "least": share.min(),
                "where": where,
            }
        )
    for target in ("e50", "e90", "emax"):
        table = asked.by_cell(cells, target)
        low = table[table["covered"] < LOW].sort_values("covered")
        weak.append(low.assign(number=NAMES[target]).reset_index().set_index("number"))
    low = pd.concat(weak)
    columns = ["cell", "n", "covered", "below", "above"]
    names = {"cell": "population", "below": "interval too low", "above": "interval too high"}
    every = pd.concat([parts[part] for part in ("kinds", "cells", "designs")], ignore_index=True)
    contradictions = asked.contradictions(every).to_frame("share").rename_axis("contradiction")
    return [
        "Coverage is a mean over all fixed cells; the last two columns give the cell with the "
        "lowest coverage.",
        markdown(pd.DataFrame(rows).set_index("number")),
        f"Cells in which E50, E90 or Emax is covered in less than {LOW:.2f}:",
        markdown(low[columns].rename(columns=names), 2) if len(low) else "None.",
        "Error of the estimate of TCE (root mean square), the mean over fixed cells and over "
        "kinds:",
        markdown(asked.estimate_errors(parts).to_frame("error").rename_axis("patients"), 4),
        "Reports that contradict themselves, shares of all data sets:",
        markdown(contradictions, 3),
    ]


def _designs(designs: pd.DataFrame) -> list[str]:
    table = asked.by_cell(designs)
    for target in ("observed_expected", "calibration_slope"):
        table[f"{NAMES[target]} covers"] = asked.coverage_by_cell(designs, target)
    return [
        "Intervals of TCE; the last two columns are the coverage of 95 % intervals of O/E and the "
        "slope.",
        _readable(table),
    ]


def _exact(kinds: pd.DataFrame) -> list[str]:
    half = kinds[kinds["kind"] == "updated"]
    columns = {
        "prior .1, all kinds": _of_exact(kinds, "prob_calibrated"),
        "even odds, kind “updated”": _of_exact(half, "prob_calibrated_even"),
    }
    wide = pd.DataFrame(columns)
    order = [f"{a:g} to {b:g}" for a, b in zip(asked.BINS, asked.BINS[1:], strict=False)]
    wide = wide.reindex([name for name in order if name in wide.index]).fillna("")
    share, share_of_updated = (100 * table["exact"].mean() for table in (kinds, half))
    return [
        f"{share:.0f} % of the populations drawn at random are exactly calibrated; of those of the "
        f"kind “updated”, {share_of_updated:.0f} %. Each cell gives the mean stated "
        "probability of exact calibration, the share of these populations that are exactly "
        "calibrated, and in brackets the number of statements. The prior probability is .1 in the "
        "column of all kinds, and one half in that of the kind “updated”:",
        markdown(wide.rename_axis("stated")),
    ]


def _of_exact(table: pd.DataFrame, column: str) -> pd.Series:
    rows = pd.DataFrame({"stated": table[column], "true": table["exact"].astype(bool)})
    bins = asked.reliability(rows)
    return _arrow(bins) + " (" + bins["count"].astype(str) + ")"
