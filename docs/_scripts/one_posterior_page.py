"""Benchmark page on what the averaged posterior states, made from the stored results."""

from __future__ import annotations

import pandas as pd

import one_posterior_bars as asked
from benchmark_pages import markdown
from one_posterior_stored import data_sets, measured_version, precision, sizes, stored_parts

TITLES = {
    0: "Kinds of populations, one by one",
    1: "Stated probabilities",
    2: "Intervals of TCE",
    3: "False verdicts, by population",
    4: "Verdicts at .03",
    5: "Contradictions",
    6: "Numbers that can err either way",
    7: "E50, E90 and Emax",
    8: "Steadiness, and the estimate",
    9: "Cost",
    10: "Clusters, imputations and sampling weights",
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
LOW, LESS = 0.90, 0.04
"""A cell is shown as weak below this coverage, or when it lost more than this."""
LEVELS = (0.975, 0.95)


def one_posterior_page() -> str:
    """What was asked, what was measured, and where it is weak."""
    present, former = stored_parts("present"), stored_parts("former")
    if not {"kinds", "cells", "designs"} <= set(present) & set(former):
        return ""
    kinds, cells, designs = (present[part] for part in ("kinds", "cells", "designs"))
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
        "them. *Former* is the version before, in which the two ends of an interval came from "
        "different draws, and P(below) and P(above) did not add up to 1. It was given the same "
        "data. [What the draws of a distance are]"
        "(../comparison.md#what-the-draws-of-a-distance-are) describes the present method.",
        measured_version(),
        precision(cells, designs),
        "## What was asked",
        *_asked(asked.bars(present, former)),
        "## Stated probabilities",
        *_probabilities(present, former),
        "## Weaknesses by kind of population",
        *_kinds(present, former),
        "## Intervals of TCE",
        *_intervals(present, former),
        "## Verdicts",
        *_verdicts(present, former),
        "## The other numbers",
        *_others(present, former),
        "## Clusters, imputations and sampling weights",
        *_designs(present, former),
        "## The probability of exact calibration",
        *_exact(kinds, former["kinds"]),
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


def _probabilities(present: asked.Parts, former: asked.Parts) -> list[str]:
    table = _stated_and_true(asked.statements(present["kinds"]))
    for side, words in (("below", "P(below)"), ("above", "1 - P(above)")):
        then = asked.reliability(asked.statements(former["kinds"], side=side))
        table[f"former {words}"] = _arrow(then)
    by_n = {
        f"n = {n}": _arrow(asked.reliability(rows))
        for n, rows in asked.statements(present["kinds"]).groupby("n")
    }
    shown = (
        pd.concat([table, pd.DataFrame(by_n)], axis=1)
        .loc[table.index]
        .fillna("")
        .rename_axis("stated")
    )
    return [
        "A statement is P(TCE < limit), at the limits .01, .02, .03 and .05. Each cell of the "
        "table gives the mean stated probability, and the share of these statements in which the "
        "true error is below the limit.",
        markdown(shown),
        "Brier score of the statements: "
        f"{asked.brier(asked.statements(present['kinds'])):.3f}; former P(below) "
        f"{asked.brier(asked.statements(former['kinds'])):.3f}, former 1 - P(above) "
        f"{asked.brier(asked.statements(former['kinds'], side='above')):.3f}.",
    ]


def _stated_and_true(rows: pd.DataFrame) -> pd.DataFrame:
    table = asked.reliability(rows)
    result = pd.DataFrame({"statements": table["count"], "all": _arrow(table)})
    result.index.name = "stated"
    return result


def _arrow(table: pd.DataFrame) -> pd.Series:
    return table.apply(lambda row: f"{row['stated']:.2f} → {row['true']:.2f}", axis=1)


def _kinds(present: asked.Parts, former: asked.Parts) -> list[str]:
    rows = asked.statements(present["kinds"])
    columns = {}
    for kind, part in rows.groupby("kind", sort=False):
        table = asked.reliability(part)
        columns[kind] = _arrow(table[table["count"] >= asked.SOME])
    wide = pd.DataFrame(columns).T.fillna("")
    order = [name for name in asked.reliability(rows).index if name in wide]
    wide = wide[order].rename_axis("kind")
    then = {side: asked.statements(former["kinds"], side=side) for side in ("below", "above")}
    briers = pd.DataFrame(
        {
            "Brier": rows.groupby("kind").apply(asked.brier, include_groups=False),
            "former P(below)": then["below"]
            .groupby("kind")
            .apply(asked.brier, include_groups=False),
            "former 1 - P(above)": then["above"]
            .groupby("kind")
            .apply(asked.brier, include_groups=False),
        }
    )
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


def _intervals(present: asked.Parts, former: asked.Parts) -> list[str]:
    table = asked.by_cell(present["cells"], former["cells"])
    weak = table[
        (table["covered"] < LOW)
        | (table["covered"] < table["former"] - LESS)
        | (table["score"] > 1)
    ].sort_values("covered")
    words = (
        f"Cells in which coverage is below {LOW:.2f} or lower than the former's by more than "
        f"{LESS:.2f}, or in which the interval score (width + 40 times the miss) is larger than "
        "the former's:"
    )
    return [
        "*Interval too low* is the share of data sets in which the whole interval is below the "
        "true value, *interval too high* that in which it is above.",
        words if len(weak) else f"{words} none.",
        *([markdown(_readable(weak), 2)] if len(weak) else []),
        "All cells:",
        markdown(_readable(table), 2),
    ]


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Cells with headings that can be read."""
    shown = table.drop(columns=["calibrated", "sets"]).rename(
        columns={
            "covered": "95 %: covers",
            "former": "former",
            "covered_80": "80 %: covers",
            "former_80": "former, 80 %",
            "below": "interval too low",
            "above": "interval too high",
            "score": "score / former",
        }
    )
    return shown.rename_axis(index={"cell": "population"})


def _verdicts(present: asked.Parts, former: asked.Parts) -> list[str]:
    rows = []
    for level in LEVELS:
        for limit in asked.LIMITS["tce"]:
            for n, part in present["kinds"].groupby("n"):
                then = former["kinds"][former["kinds"]["n"] == n]
                now, before = (asked.verdicts(each, limit, level) for each in (part, then))
                rows.append(
                    {
                        "from": f"{level:g}",
                        "limit": f"{limit:g}",
                        "n": n,
                        "settled": now["settled"],
                        "wrong": now["wrong"],
                        "former settled": before["settled"],
                        "former wrong": before["wrong"],
                    }
                )
    false = asked.false_verdicts(present["cells"])
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


def _others(present: asked.Parts, former: asked.Parts) -> list[str]:
    rows = []
    for target in (*asked.DISTANCES, *asked.EITHER_WAY):
        table = asked.by_cell_either_way(present["cells"], former["cells"], target)
        lowest = table["covered"].idxmin()
        rows.append(
            {
                "number": NAMES[target],
                "95 %: covers": table["covered"].mean(),
                "former": table["former"].mean(),
                "score / former": asked.geometric(table["score"]),
                "least": table["covered"].min(),
                "where": ", n = ".join(map(str, lowest)),
            }
        )
    weak = []
    for target in ("e50", "e90", "emax"):
        table = asked.by_cell(present["cells"], former["cells"], target)
        low = table[table["covered"] < LOW].sort_values("covered")
        weak.append(low.assign(number=NAMES[target]).reset_index().set_index("number"))
    low = pd.concat(weak)
    columns = ["cell", "n", "covered", "former", "below", "above"]
    names = {"cell": "population", "below": "interval too low", "above": "interval too high"}
    errors = pd.DataFrame(
        {
            "present": asked.estimate_errors(present),
            "former": asked.estimate_errors(former),
        }
    ).rename_axis("patients")
    parts = [
        "Coverage and scores are means over all fixed cells; the last two columns give the cell "
        "with the lowest coverage.",
        markdown(pd.DataFrame(rows).set_index("number")),
        f"Cells in which E50, E90 or Emax is covered in less than {LOW:.2f}:",
        markdown(low[columns].rename(columns=names), 2) if len(low) else "None.",
        "Error of the estimate of TCE (root mean square), the mean over fixed cells and over "
        "kinds:",
        markdown(errors, 4),
        "Reports that contradict themselves, shares of all data sets:",
        markdown(_contradictions(present, former), 3),
    ]
    if "cost" in present and "cost" in former:
        cost = pd.DataFrame(
            {"present": asked.cost(present["cost"]), "former": asked.cost(former["cost"])}
        )
        parts += [
            "Processor seconds of `compare` and `summary` with 4000 draws, the least of the runs; "
            "the machine did other work at the same time:",
            markdown(cost, 3),
        ]
    return parts


def _contradictions(present: asked.Parts, former: asked.Parts) -> pd.DataFrame:
    columns = {}
    for name, parts in (("present", present), ("former", former)):
        every = [parts[part] for part in ("kinds", "cells", "designs")]
        columns[name] = asked.contradictions(pd.concat(every, ignore_index=True))
    return pd.DataFrame(columns).rename_axis("contradiction")


def _designs(present: asked.Parts, former: asked.Parts) -> list[str]:
    now, then = present["designs"], former["designs"]
    table = asked.by_cell(now, then)
    for target in ("observed_expected", "calibration_slope"):
        either = asked.by_cell_either_way(now, then, target)
        table[f"{NAMES[target]} covers"] = either["covered"]
        table[f"{NAMES[target]}, former"] = either["former"]
    return [
        "Intervals of TCE; the last four columns are the coverage of 95 % intervals of O/E and the "
        "slope.",
        markdown(_readable(table), 2),
    ]


def _exact(present: pd.DataFrame, former: pd.DataFrame) -> list[str]:
    columns = {}
    for name, table in (("present", present), ("former", former)):
        columns[f"{name}, prior .1, all kinds"] = _of_exact(table, "prob_calibrated")
        half = table[table["kind"] == "updated"]
        columns[f"{name}, even odds, kind “updated”"] = _of_exact(half, "prob_calibrated_even")
    wide = pd.DataFrame(columns)
    order = [f"{a:g} to {b:g}" for a, b in zip(asked.BINS, asked.BINS[1:], strict=False)]
    wide = wide.reindex([name for name in order if name in wide.index]).fillna("")
    exact = present["exact"].astype(float)
    half = exact[present["kind"] == "updated"].mean()
    return [
        f"{100 * exact.mean():.0f} % of the populations drawn at random are exactly calibrated; "
        f"of those of the kind “updated”, {100 * half:.0f} %. Each cell gives the mean stated "
        "probability of exact calibration, the share of these populations that are exactly "
        "calibrated, and in brackets the number of statements. The prior probability is .1 in the "
        "columns of all kinds, and one half in those of the kind “updated”:",
        markdown(wide.rename_axis("stated")),
    ]


def _of_exact(table: pd.DataFrame, column: str) -> pd.Series:
    rows = pd.DataFrame({"stated": table[column], "true": table["exact"].astype(bool)})
    bins = asked.reliability(rows)
    return _arrow(bins) + " (" + bins["count"].astype(str) + ")"
