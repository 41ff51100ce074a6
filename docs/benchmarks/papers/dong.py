"""Tables and figures of Dong et al. (AAAI 2025), computed again.

    python docs/benchmarks/papers/dong.py --jobs 2

About eleven minutes of one core. It stores `results/papers/dong.json`, and `results/ead.json`,
which is Table 4. The logits are looked for in BAYESCAL_DATA, or `shared` beside the clone; without
them Table 1 and Figure 3 stay as they were stored. `PARTS` says which function makes what; `--only`
makes some of them again and keeps the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import dong_network as network
import dong_printed as printed
import dong_simulated as simulated

import ead

RESULTS = HERE.parent / "results" / "papers" / "dong.json"
RUNS = 100

Run = Callable[..., Any]


def runs_of(work: Run, runs: int, jobs: int) -> list[Any]:
    """Results of `work(run)`, in order."""
    if jobs == 1:
        return [work(run) for run in range(runs)]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(work, range(runs), chunksize=max(1, runs // 20)))


def table_1(jobs: int) -> dict[str, Any] | None:
    """Table 1 and the random divisions."""
    if not network.CIFAR.is_file():
        return None
    divisions = network.splits(runs_of(network.split, RUNS, jobs))
    return {"rows": network.table_1(), "splits": divisions}


def table_4(jobs: int) -> dict[str, Any]:
    """Settings of Table 4, whose rows go to a file of their own."""
    record = ead.measure(RUNS, 10_000, jobs=jobs)
    ead.RESULTS.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    return record["settings"]


def figure_3(jobs: int) -> dict[str, Any] | None:
    """Figure 1a and what there is of Figure 3."""
    return network.figure_3() if network.CIFAR.is_file() else None


def figure_5(jobs: int) -> dict[str, Any]:
    """Figures 1c and 5."""
    return {
        name: simulated.figure_5(name, runs_of(partial(simulated.metrics, name=name), RUNS, jobs))
        | {"limit": simulated.far_limit(name)}
        for name in simulated.TRUTHS
    }


def coverage(jobs: int) -> list[dict[str, Any]]:
    """Bias, root mean squared error and coverage."""
    rows = []
    for name in printed.TABLE_2:
        for n in simulated.INTERVAL_SIZES:
            work = partial(one_interval, name=name, n=n)
            rows.append(simulated.intervals(name, n, runs_of(work, RUNS, jobs)))
    return rows


def one_interval(run: int, name: str, n: int) -> list[float]:
    """The bootstrap is dear: only the first data sets of the smaller size have it."""
    return simulated.interval(run, name, n, run < simulated.BOOTSTRAPPED[n])


def theorem_4(jobs: int) -> dict[str, Any]:
    """Sample efficiency."""
    return {
        name: simulated.theorem_4(
            name,
            [
                runs_of(partial(simulated.curve_errors, name=name, n=n), RUNS, jobs)
                for n in simulated.EFFICIENCY_SIZES
            ],
        )
        for name in simulated.TRUTHS
    }


def errata(jobs: int) -> dict[str, Any]:
    """What the printed numbers imply."""
    return printed.errata()


PARTS: dict[str, Callable[[int], Any]] = {
    "errata": errata,
    "table_1": table_1,
    "figure_3": figure_3,
    "theorem_4": theorem_4,
    "table_4": table_4,
    "figure_5": figure_5,
    "coverage": coverage,
}


def stored() -> dict[str, Any]:
    """Results of the full run, with the rows of Table 4."""
    record = json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {}
    if ead.RESULTS.is_file():
        record["table_4"] = json.loads(ead.RESULTS.read_text("utf-8"))
    return record


# Tables of the page and of the notebook, as text


def number(value: float, digits: int = 4) -> str:
    """Without the zero before the point."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-+").startswith("0.") else text


def shown_table_1(record: dict[str, Any], fitted_to: str) -> pd.DataFrame:
    """Ours, and the difference from print where there is a printed row."""
    rows = {}
    for method, values in record["table_1"]["rows"][fitted_to].items():
        known = printed.TABLE_1.get(method.split(",")[0])
        cells = [number(value, 5) for value in values]
        if known:
            cells = [
                f"{cell} ({value - old:+.5f})".replace("+0.", "+.").replace("-0.", "-.")
                for cell, value, old in zip(cells, values, known, strict=True)
            ]
        rows[method] = cells
    return framed(rows, printed.COLUMNS, "map")


def shown_printed() -> pd.DataFrame:
    """Table 1 as printed."""
    rows = {
        name: [number(value, 5) for value in values] for name, values in printed.TABLE_1.items()
    }
    return framed(rows, printed.COLUMNS, "map")


def shown_splits(record: dict[str, Any]) -> pd.DataFrame:
    """Mean, standard deviation, and how often at most the printed number."""
    rows = {"TPM, printed": [number(value, 5) for value in printed.TABLE_1["TPM"]]}
    for name, row in record["table_1"]["splits"]["rows"].items():
        rows[name] = [
            f"{number(mean, 5)} ± {number(sd, 5)} ({count})"
            for mean, sd, count in zip(
                row["mean"], row["sd"], row["as_low_as_printed"], strict=True
            )
        ]
    return framed(rows, printed.COLUMNS, "map")


def shown_table_4(record: dict[str, Any]) -> pd.DataFrame:
    """Histogram binning and the paper's curve: ours beside print."""
    rows = {}
    for name, row in record["table_4"]["truths"].items():
        cells = []
        for index, key in enumerate(("histogram", "paper")):
            ours, known = row[key]["ead"], row["ead_printed"]
            old = f"{number(known[index][0])} ± {number(known[index][1])}" if known else ""
            difference = f"{ours['mean'] - known[index][0]:+.4f}" if known else ""
            error = f"{number(ours['mean'])} ± {number(ours['sd'])}"
            cells += [old, error, difference.replace("0.", ".", 1)]
        rows[name] = [*cells, f"{row['wilcoxon_p']:.1e}", str(row["runs_won"])]
    columns = (
        *("histograms, printed", "ours", "difference"),
        *("curve, printed", "ours ", "difference "),
        *("P", "runs won"),
    )
    return framed(rows, columns, "population")


def shown_coverage(record: dict[str, Any]) -> pd.DataFrame:
    """Bias, root mean squared error and coverage of both."""
    rows = {}
    for cell in record["coverage"]:
        ours, bootstrap, sd = (
            cell["rows"][key] for key in ("posterior", "TCE_bpm, bootstrap", "TCE_bpm, true sd")
        )
        rows[f"{cell['truth']}, n = {cell['n']}"] = [
            number(cell["tce"]),
            *(f"{row['bias']:+.4f}".replace("0.", ".", 1) for row in (sd, ours)),
            *(number(row["rmse"]) for row in (sd, ours)),
            *(f"{row['covered']}/{row['of']}" if row["of"] else "" for row in (bootstrap, sd)),
            f"{ours['covered']}/{ours['of']}",
        ]
    columns = (
        *("TCE", "bias, TCE_bpm", "bias, ours", "RMSE, TCE_bpm", "RMSE, ours"),
        *("covered, bootstrap", "covered, true sd", "covered, ours"),
    )
    return framed(rows, columns, "population")


def shown_figure_5(record: dict[str, Any], n: int = 5000) -> pd.DataFrame:
    """Mean over runs at one size, and at how many of ten sizes TCE_bpm is the closest."""
    rows, index = {}, simulated.SIZES.index(n)
    for name, row in record["figure_5"].items():
        rows[name] = [
            number(row["tce"]),
            *(number(values[index]) for values in row["mean"].values()),
            f"{row['closest'].count('TCE_bpm')}/10",
            number(row["limit"]),
        ]
    columns = ("TCE", *simulated.METRICS, "TCE_bpm closest", "TCE_bpm at 10^6")
    return framed(rows, columns, "population")


def shown_theorem_4(record: dict[str, Any]) -> pd.DataFrame:
    """The error that 95 % of data sets stay below."""
    rows = {"bound, 3 points": [number(v) for v in bounds(3)]}
    rows |= {f"bound, {simulated.BINS} bins": [number(v) for v in bounds(simulated.BINS)]}
    for name, row in record["theorem_4"].items():
        for key, title in (("curve", "curve"), ("histogram", "15 bins")):
            rows[f"{name}, {title}"] = [number(value) for value in row[key]]
    return framed(rows, [f"n = {n}" for n in simulated.EFFICIENCY_SIZES], "error")


def bounds(points: int) -> list[float]:
    """The paper's, at delta = .05."""
    return simulated.bound(simulated.EFFICIENCY_SIZES, 0.05, points).tolist()


def framed(rows: dict[str, list[str]], columns: Any, index: str) -> pd.DataFrame:
    """A table of texts."""
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(columns))
    return table.rename_axis(index)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    record = json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        start = time.perf_counter()
        result = PARTS[name](options.jobs)
        if result is None:
            print(f"{name}: no data at {network.CIFAR}; set BAYESCAL_DATA to their folder")
            continue
        record[name] = result
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
