"""Pages of the benchmarks, filled from their stored results when the documentation is built.

`docs/benchmarks/NAME.json` becomes `docs/results/NAME.md`. Tables of the reproduced papers stand on
their own pages, which include `docs/results/papers-PAPER.inc`.
"""

from __future__ import annotations

import json
import math
from itertools import groupby
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
PAGES = DOCS / "results"
TITLES = {
    "claim": "Intervals of the calibration error",
    "coverage": "Numbers of one table",
    "structured": "Hospitals, subgroups, months, clusters, imputations and times",
    "gain": "What a recalibration gains",
    "planning": "Sample sizes",
    "speed": "Speed",
}
Record = dict[str, Any]


def stored(name: str) -> Record:
    """What a benchmark stored."""
    path = DOCS / "benchmarks" / f"{name}.json"
    record: Record = json.loads(path.read_text("utf-8"))
    return record


def shown(value: Any) -> str:
    """A cell: counts as they are, other numbers with three significant digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, float):
        return str(value).replace("|", "\\|")
    if abs(value) < 1e-12:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.1e}" if digits > 6 else f"{value:.{max(digits, 0)}f}"


def markdown(rows: list[Record]) -> str:
    """A table in Markdown; a row may leave columns empty."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [columns, ["---"] * len(columns)]
    lines += [[shown(row.get(name)) for name in columns] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def measured(record: Record) -> str:
    """When and with what it was measured."""
    return (
        f"Measured with bayescal {record['version']} (commit {record['commit']}) on "
        f"{record['date']}, {record['machine']}; seed {record['seed']}. Each table says how many "
        "repeats of each cell it rests on."
    )


def tables(record: Record, part: str | None = None) -> str:
    """Every table, or those of one part, each with its title and its repeats."""
    text = []
    for table in record["tables"].values():
        if part in (None, table["part"]):
            once = table["repeats"] == 1
            rests = "*Computed once.*" if once else f"*{table['repeats']} repeats.*"
            note = f"{table['note']} {rests}" if table["note"] else rests
            text.append(f"### {table['title']}\n\n{note}\n\n{markdown(table['rows'])}")
    return "\n\n".join(text)


def page(name: str) -> str:
    """The page of a benchmark."""
    record = stored(name)
    command = f"python docs/benchmarks/{name}.py"
    return (
        f"# {TITLES[name]}\n\n{record['asked']}\n\n{measured(record)} It is run again by "
        f"`{command}` in a clone, and before a release.\n\n## Results\n\n{tables(record)}\n"
    )


def of_papers() -> dict[str, str]:
    """Tables of each reproduced paper."""
    record = stored("papers")
    parts = groupby(record["tables"].values(), key=lambda table: table["part"])
    return {part: f"{measured(record)}\n\n{tables(record, part)}\n" for part, _ in parts}


def write_pages() -> None:
    """Write the page of every benchmark, and their index."""
    PAGES.mkdir(exist_ok=True)
    for name in TITLES:
        (PAGES / f"{name}.md").write_text(page(name), "utf-8")
    for part, text in of_papers().items():
        (PAGES / f"papers-{part}.inc").write_text(text, "utf-8")
    listed = "\n".join(["```{toctree}", ":maxdepth: 1", "", *TITLES, *archive(), "```"])
    (PAGES / "index.md").write_text(
        "# Benchmarks\n\nMeasured by the scripts in `docs/benchmarks`, by hand, before a release: "
        "numbers belong to the version that each page names. What other packages or simpler "
        f"methods do better stands in the same tables.\n\n{listed}\n",
        "utf-8",
    )


def archive() -> list[str]:
    """The page of studies made while building, where there is one."""
    return ["/studies"] if (DOCS / "studies.md").is_file() else []


if __name__ == "__main__":
    write_pages()
