"""Benchmark page on our estimators beside those of other packages."""

from __future__ import annotations

import math

import pandas as pd

from benchmark_pages import markdown, stored

LARGE = 10_000
MOST_COPIES = 2
SAME = 1e-6

WHY = {
    "ece_width": "relplot checks nothing. Ours looks at options and arguments, with one pass over "
    "the scores and one over the outcomes, and finds scores on an edge between bins, which count "
    "in the bin below; relplot puts them wherever rounding does.",
    "brier": "model-diagnostics compares the shapes of its arguments and nothing else. Ours takes "
    "one pass over the scores and one over the outcomes to find what is no probability and no "
    "outcome.",
    "slope": "The difference is half a millisecond with 200 cases: each Newton step computes the "
    "likelihood as well, and is halved if that falls.",
    "logit_smooth": "probcal finds the bandwidth to 1e-4 on a lattice; ours is exact to 1e-6, and "
    "its areas to 1e-9.",
    "ici_lowess": "A fit stands at each hundredth of the range, over three quarters of the cases: "
    "100 walks over the data.",
    "ici_interval": "Every resample cuts its own tree of scores, and is fitted at its own anchors.",
}


def comparisons(record: dict) -> pd.DataFrame:
    """Each quantity at each size: our time, that of the fastest peer, and how they compare."""
    rows = []
    for row in record["rows"]:
        ours, *peers = row["calls"]
        if peers:
            best = min(peers, key=lambda call: call["minimum"])
            rows.append(
                {
                    "name": row["quantity"],
                    "quantity": row["title"],
                    "n": row["n"],
                    "goal": row["goal"],
                    "bayescal, ms": milliseconds(ours),
                    "fastest peer": best["package"],
                    "its time, ms": milliseconds(best),
                    "ratio": best["minimum"] / ours["minimum"],
                    "unchecked": best["minimum"] / (row.get("unchecked") or math.inf),
                    "what differs": best["differs"],
                }
            )
    return pd.DataFrame(rows)


def values(record: dict, differing: bool) -> pd.DataFrame:
    """What a peer says and what we say: where a definition differs, or where numbers do alone."""
    rows = []
    for row in record["rows"]:
        ours, *peers = row["calls"]
        for call in peers:
            away = not math.isclose(call["value"], ours["value"], rel_tol=SAME)
            if bool(call["differs"]) if differing else away and not call["differs"]:
                rows.append(
                    {
                        "quantity": row["title"],
                        "n": row["n"],
                        "package": call["package"],
                        "bayescal": f"{ours['value']:.6g}",
                        "theirs": f"{call['value']:.6g}",
                        "what differs": call["differs"],
                    }
                )
    return pd.DataFrame(rows)


def every_time(record: dict, n: int) -> pd.DataFrame:
    """Milliseconds of every package at one size."""
    rows = {
        row["title"]: {call["package"]: milliseconds(call) for call in row["calls"]}
        for row in record["rows"]
        if row["n"] == n
    }
    table = pd.DataFrame.from_dict(rows, orient="index").fillna("")
    table.index.name = "ms"
    return table


def milliseconds(call: dict) -> str:
    """The least time of a call, to three digits."""
    time = 1000 * call["minimum"]
    return f"{time:.3g}" if time < 1000 else f"{time:.0f}"


def shown(table: pd.DataFrame) -> str:
    """A comparison in Markdown."""
    wanted = table.drop(columns=["name", "goal", "unchecked"]).set_index("quantity")
    return markdown(wanted.assign(ratio=[f"{ratio:.2f}" for ratio in wanted["ratio"]]))


def reasons(table: pd.DataFrame) -> str:
    """Why, for those of these quantities of which it is known."""
    named = table.drop_duplicates("name")
    return "\n".join(
        f"* {title}: {WHY[name]}{without_checks(table[table['name'] == name])}"
        for name, title in zip(named["name"], named["quantity"], strict=True)
        if name in WHY
    )


def without_checks(table: pd.DataFrame) -> str:
    """The ratios of one quantity if ours did not check its arguments, where that was measured."""
    known = table[table["unchecked"] > 0]
    if not len(known):
        return ""
    each = (
        f"{ratio:.2f} at n = {n:,}" for ratio, n in zip(known["unchecked"], known["n"], strict=True)
    )
    return f" Without checks the ratio would be {', '.join(each)}."


def losses(record: dict, table: pd.DataFrame) -> list[str]:
    """Every size at which a peer is faster or we miss the goal, and what takes more memory."""
    large = table[table["n"] >= LARGE]
    slower, short = large["ratio"] < 1, (large["ratio"] >= 1) & (large["ratio"] < large["goal"])
    lines = ["## Where we lose"]
    parts = (
        (f"A peer is faster at n of {LARGE:,} or more:", large[slower]),
        ("We are faster, but not by the five times we want for this quantity:", large[short]),
        (f"A peer is faster below n = {LARGE:,}, where we ask nothing of ourselves:",
         table[(table["n"] < LARGE) & (table["ratio"] < 1)]),
    )  # fmt: skip
    for what, result in parts:
        if len(result):
            lines += [what, shown(result)]
    why = reasons(table[(table["ratio"] < 1) | (table["ratio"] < table["goal"])])
    if why:
        lines += ["The causes:", why]
    titles = {row["quantity"]: row["title"] for row in record["rows"]}
    memory = pd.Series(record["memory"], name="copies of the input", dtype=float)
    if len(memory):
        memory = memory.rename(index=titles).rename_axis("quantity")
        over = memory[memory > MOST_COPIES].sort_values(ascending=False)
        lines += [
            "## Memory",
            "Peak memory of one call at n = 10^7 above that of the input, in multiples of the "
            f"input: outcomes and scores, 8 bytes each. We aim at no more than {MOST_COPIES}. "
            "Sorting alone takes 1: an order, and the scores in it.",
            markdown(memory.to_frame(), 2),
            f"More than {MOST_COPIES}: {', '.join(over.index) or 'none'}."
            + (f" {OVER}" if len(over) else ""),
        ]
    return lines


OVER = (
    "These put the cases in order of their scores and keep, for each distinct score, its cases, "
    "its events and their sums. Every array of n numbers is half an input."
)


def not_of_this_run(record: dict) -> str:
    """Packages that were not installed, and quantities that a second run measured."""
    titles = {row["quantity"]: row["title"] for row in record["rows"]}
    absent, again = record["absent"], [titles[name] for name in record.get("again", [])]
    return (f" Not installed: {', '.join(absent)}." if absent else "") + (
        f" Measured again in a second run, on the same machine: {'; '.join(again)}."
        if again
        else ""
    )


def peers_page() -> str:
    """Times and values of other packages, and where they do better."""
    record = stored("peers")
    if not record.get("rows"):
        return ""
    table = comparisons(record)
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    lines = [
        "# Are the estimators fast?",
        "Ours and those of other packages: the same quantity, the same data, one run. Times are "
        "CPU time of one thread, the least of several; packages take turns, so that a busy "
        "machine slows all of them. *Ratio* is the time of the fastest peer over ours. Made by "
        "`docs/benchmarks/peers.py`; what each package is asked to do stands in "
        "`docs/benchmarks/peer_calls.py`. We want never to be slower at n of 10,000 or more, and "
        "to be "
        "five times as fast on debiased ECE, sweep, SmoothECE, ICI and bootstrap intervals. "
        "Intervals take 1000 resamples, and 100 at n = 10^6.",
        f"{record['machine']['processor']}, Python {record['machine']['python']}; {versions}."
        + not_of_this_run(record),
    ]
    for n in sorted(table["n"].unique()):
        lines += [f"## n = {n:,}", shown(table[table["n"] == n].drop(columns="n"))]
    lines += losses(record, table)
    alone, stated = values(record, differing=False), values(record, differing=True)
    lines += [
        "## Do the values agree?",
        f"Where a peer claims our quantity its value is ours to {SAME:g}, relative"
        + (", but for these:" if len(alone) else ", without exception."),
    ]
    if len(alone):
        lines.append(markdown(alone.drop(columns="what differs").set_index("quantity")))
    lines += [
        "Where its definition or its accuracy differs:",
        markdown(stated.set_index("quantity")),
    ]
    lines.append("## Every time")
    for n in sorted(table["n"].unique()):
        lines += [f"Milliseconds at n = {n:,}:", markdown(every_time(record, n))]
    return "\n\n".join(lines) + "\n"
