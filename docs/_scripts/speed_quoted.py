"""Sentences about speed that pages quote: `python docs/_scripts/speed_quoted.py` rewrites them.

In README.md and on the pages they stand between `<!-- speed:name -->` and `<!-- /speed -->`, and
come from the stored results of `docs/benchmarks/speed.py`, and of `tables.py` for files.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from benchmark_pages import DOCS, stored

__all__ = ["QUOTED", "QUOTING", "SAMPLERS", "Record", "count", "duration", "quoted", "two_digits"]

QUOTING = (
    "README.md",
    "docs/model.md",
    "docs/explanation/engine.md",
    "docs/how-to/large-data.md",
    "docs/how-to/many-predictions.md",
)
BLOCK = re.compile(r"<!-- speed:([\w-]+) -->\n(.*?)\n<!-- /speed -->", re.DOTALL)
SAMPLERS = {
    "nutpie": "nutpie (compiled before)",
    "blackjax": "blackjax (compiled before)",
    "pymc": "`pm.sample`",
}


def duration(seconds: float) -> str:
    """To two digits, in the unit in which that reads best."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            return f"{two_digits(seconds / size)} {unit}"
    raise AssertionError


def two_digits(number: float) -> str:
    return f"{float(f'{number:.2g}'):g}"


def count(n: int) -> str:
    """10^7 as readers say it."""
    words = {10**6: "a million", 10**7: "ten million", 10**8: "a hundred million"}
    return words.get(n, f"{n:,}".replace(",", " "))


class Record:
    """The stored results, and questions to them."""

    def __init__(self, record: dict) -> None:
        self.record = record
        self.rows = record.get("fit", {}).get("rows", {})
        self.sizes = {
            (row["what"], row["n"]): row
            for row in record.get("sizes", {}).get("rows", [])
            if "seconds" in row
        }

    def fit_times(self, name: str) -> float:
        """How many times as long as ours a sampler takes."""
        return self.rows[name]["seconds"] / self.rows["bayescal"]["seconds"]

    def a_draw(self, name: str) -> float:
        """Seconds for each effective draw."""
        row = self.rows[name]
        draws = min(row["effective_draws"], row.get("weighted_draws", float("inf")))
        return row["seconds"] / draws

    def seconds(self, what: str, n: int) -> float:
        return self.sizes[what, n]["seconds"]

    def largest(self, what: str, other: str = "") -> int:
        """The most cases at which one kind of work was measured, or two."""
        return max(n for name, n in self.sizes if name == what and (other or what, n) in self.sizes)


# What other pages quote


def small(of: Record) -> str:
    n = of.largest("fit", "numpy.sort")
    fit, sort = of.seconds("fit", n), of.seconds("numpy.sort", n)
    others = [
        f"{label} takes {two_digits(of.fit_times(name))} times as long"
        for name, label in SAMPLERS.items()
        if "seconds" in of.rows[name]
    ]
    cases, ours = of.record["fit"]["cases"], duration(of.rows["bayescal"]["seconds"])
    average = duration(of.rows["bayescal, average"]["seconds"])
    return (
        f"At {cases} patients a warm fit of the average over families with its TCE takes {average} "
        f"of one core, and of one family {ours}. For the same posterior of one family "
        f"{', '.join(others)}. One family for {count(n)} predictions takes {duration(fit)}, and "
        f"one sort of them {duration(sort)}."
    )


def many(of: Record) -> str:
    n = of.largest("table", "numpy.sort")
    table, sort = (of.seconds(what, n) for what in ("table", "numpy.sort"))
    megabytes = of.sizes["table", n]["megabytes"]
    return (
        f"Making the table of {count(n)} predictions takes {duration(table)} and "
        f"{two_digits(megabytes)} MB beside them; sorting the scores takes {duration(sort)}."
    )


def costs(of: Record) -> str:
    n = of.largest("fit", "numpy.sort")
    rows = {
        "`bc.fit` and its TCE, 200 cases, warm": of.rows["bayescal, average"]["seconds"],
        'the same for one family, `curve="beta"`': of.rows["bayescal"]["seconds"],
    }
    rows |= {
        f"{label}, that of one family": of.rows[name]["seconds"]
        for name, label in SAMPLERS.items()
        if "seconds" in of.rows[name]
    }
    rows |= {
        f"{count(n)} predictions: table, fit of one family and TCE": of.seconds("fit", n),
        "making that table, in a run of its own": of.seconds("table", n),
        "sorting those scores with NumPy": of.seconds("numpy.sort", n),
    }
    table = [f"| {what} | {duration(seconds)} |" for what, seconds in rows.items()]
    return "\n".join(["| what | one core |", "|---|---:|", *table])


def families(of: Record) -> str:
    ratios = [
        of.seconds("spline", n) / of.seconds("beta", n)
        for what, n in of.sizes
        if what == "spline" and ("beta", n) in of.sizes
    ]
    least, most = (two_digits(ratio) for ratio in (min(ratios), max(ratios)))
    return f"A fit of `spline` takes {least} to {most} times as long as one of `beta`."


def stretches(of: Record) -> str:
    known = [(n, row["seconds"]) for (what, n), row in of.sizes.items() if what == "pieces"]
    times = [seconds for _, seconds in known]
    least, most = duration(min(times)), duration(max(times))
    first, last = count(min(known)[0]), count(max(known)[0])
    return f"A fit takes {least} to {most} of one core, from {first} to {last} cases."


def cells(of: Record) -> str:
    names = ("tce_at_mode", "curve_at_mode", "mode_in_sd")
    tce, curve, mode = (f"{float(of.record['grid'][name]):.5f}".rstrip("0") for name in names)
    return (
        "On five simulated sets of 20 000 cases, at the posterior mode, it moved the TCE by "
        f"{tce}, the curve by {curve}, and the coordinates by {mode} posterior standard deviations "
        "at most."
    )


def files(of: Record) -> str:
    """The largest file from the disk and from the system's memory, beside pyarrow's reading."""
    rows = stored("tables")["disk"]
    n = max(row["cases"] for row in rows)
    ours, fastest = ({}, {})
    for row in rows:
        chosen = ours if row["reader"] == "bayescal" else fastest
        known = chosen.get(row["file"])
        if row["cases"] == n and (known is None or row["seconds"] < known["seconds"]):
            chosen[row["file"]] = row
    times = {file: two_digits(ours[file]["seconds"] / fastest[file]["seconds"]) for file in ours}
    cold, warm = ours["cold"], ours["warm"]
    return (
        f"From the disk, on {cold['processors']} cores, {count(n)} rows "
        f"({cold['megabytes_file']} MB) become a table in {duration(cold['seconds'])}, which is "
        f"{times['cold']} times what pyarrow takes to read the same columns and forget them. From "
        f"the system's memory it is {duration(warm['seconds'])}, and {times['warm']} times. The "
        f"processor works for {duration(cold['processor'])} in all, for pyarrow's reading alone "
        f"for {duration(fastest['cold']['processor'])}. The process has {cold['megabytes_most']} "
        "MB at most."
    )


QUOTED: dict[str, Callable[[Record], str]] = {
    "small": small,
    "many": many,
    "costs": costs,
    "families": families,
    "stretches": stretches,
    "cells": cells,
    "files": files,
}


def quoted(text: str, record: dict) -> str:
    """A page with the blocks that it quotes written afresh."""
    of = Record(record)

    def block(match: re.Match[str]) -> str:
        name = match[1]
        return f"<!-- speed:{name} -->\n{QUOTED[name](of)}\n<!-- /speed -->"

    return BLOCK.sub(block, text)


def main() -> None:
    record = stored("speed")
    for name in QUOTING:
        path = DOCS.parent / name
        path.write_text(quoted(path.read_text("utf-8"), record), "utf-8")


if __name__ == "__main__":
    main()
