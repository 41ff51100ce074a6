"""How a benchmark is run and stored: parts that make tables, and one small JSON file.

A part is a function of (seed, repeats) that returns rows: the first line of its docstring is the
title of their table, the rest stands below the title on the page. Or it returns several tables.
"""

from __future__ import annotations

import argparse
import datetime
import inspect
import json
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
FIELDS = ("asked", "version", "commit", "date", "machine", "seed", "tables")
"""What the page of a benchmark needs."""

Row = dict[str, Any]
Part = Callable[[int, int], Iterable[Row] | dict[str, list[Row]]]


def run(name: str, asked: str, parts: dict[Part, int], seed: int, arguments: Any = None) -> None:
    """Run the parts, each with its number of repeats, and store their tables."""
    # numba asks for a package called coverage, and would find the script of that name.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]
    named = {part.__name__: part for part in parts}
    parser = argparse.ArgumentParser(description=asked)
    parser.add_argument("--repeats", type=float, default=1.0, help="times the usual repeats")
    parser.add_argument("--quick", action="store_true", help="two repeats of everything")
    parser.add_argument("--only", nargs="+", choices=named, default=list(named))
    parser.add_argument("--output", type=Path, default=HERE / f"{name}.json")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    tables = kept(options.output)
    for title in options.only:
        repeats = 2 if options.quick else max(2, round(options.repeats * parts[named[title]]))
        begin = time.process_time()
        made = named[title](seed, repeats)
        seconds = round(time.process_time() - begin)
        print(f"{name}: {title}, {repeats} repeats, {seconds} s", flush=True)
        heading, _, note = inspect.getdoc(named[title]).partition("\n\n")
        told = {"part": title, "repeats": repeats, "seconds": seconds}
        several = isinstance(made, dict)
        for table, rows in (made if several else {heading: list(made)}).items():
            print(f"{table}\n{pd.DataFrame(rows).to_string(index=False)}", flush=True)
            tables[f"{title}: {table}" if several else title] = {
                "title": table,
                "note": "" if several else note,
                **told,
                "rows": rounded(rows),
            }
        record = {
            "asked": asked,
            "version": version("bayescal"),
            "commit": commit(),
            "date": datetime.date.today().isoformat(),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "seed": seed,
            "tables": {k: t for p in named for k, t in tables.items() if t["part"] == p},
        }
        options.output.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def kept(path: Path) -> dict[str, Any]:
    """Tables of the run before, so that one part can be measured again by itself."""
    return json.loads(path.read_text("utf-8"))["tables"] if path.is_file() else {}


def commit() -> str:
    """The commit of the clone, as far as there is one."""
    done = subprocess.run(
        ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


def rounded(value: Any) -> Any:
    """The same with four significant digits, and without what JSON does not have."""
    if isinstance(value, dict):
        return {str(name): rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if isinstance(value, np.bool_ | bool):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.4g}") if np.isfinite(value) else None
    return value


def judged(ends: Sequence[float], true: float, **labels: Any) -> Row:
    """One 95 % interval against the truth: held or not, its width, and its interval score.

    The score is the width and 40 times what is missed, as Gneiting and Raftery (2007, eq. 43)
    define it: lower is better.
    """
    lower, upper = map(float, ends)
    missed = max(lower - true, true - upper, 0.0)
    width = upper - lower
    scored = {"coverage": float(missed <= 1e-9), "width": width, "score": width + 40 * missed}
    return labels | scored


def means(rows: Iterable[Row], *by: str) -> list[Row]:
    """Means of the numbers of rows, and how many rows there were, by some of their labels."""
    table = pd.DataFrame(list(rows))
    measured = table.select_dtypes("number").columns.difference(["n", *by], sort=False)
    grouped = table.groupby(list(by), sort=False)
    return (
        grouped[list(measured)].mean().assign(sets=grouped.size()).reset_index().to_dict("records")
    )


def stated(pairs: Iterable[tuple[str, float, bool]]) -> list[Row]:
    """Stated probabilities against what was true: Brier score, and shares in three bins."""
    table = pd.DataFrame(list(pairs), columns=["statement", "said", "true"])
    rows = []
    for name, part in table.groupby("statement", sort=False):
        stated, true = part["said"].to_numpy(), part["true"].to_numpy(float)
        row = {"statement": name, "Brier": np.mean((stated - true) ** 2), "base": true.var()}
        for low, high in ((0, 0.2), (0.2, 0.8), (0.8, 1.001)):
            here = (low <= stated) & (stated < high)
            title = f"said {low:g} to {min(high, 1):g}"
            row[title] = (
                f"{stated[here].mean():.2f}, true {true[here].mean():.2f} ({here.sum()})"
                if here.any()
                else "never"
            )
        rows.append(row)
    return rows
