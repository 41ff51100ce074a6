"""Benchmark page on speed, from the stored results of `docs/benchmarks/speed.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from benchmark_pages import PAGES, markdown, stored
from speed_quoted import SAMPLERS, Record, count, duration, many, small, two_digits

STARTS = {
    "interpreter": "Python alone",
    "libraries": "NumPy, SciPy's special functions and xarray",
    "import": "`import bayescal`",
    "fit": "first fit",
    "fit and TCE": "first fit and its TCE",
    "family and TCE": "first fit of one family and its TCE",
    "demo": "`bayescal demo`",
    "error message": "an error message of the command line",
}
SAME = {"ece": ("relplot ECE", "netcal ECE"), "smooth_ece": ("relplot SmoothECE",)}
LEFT = (
    "numpy.sort", "table", "chunks", "fit", "average", "summary", "compare", "assess", "page",
    "gain", "pairs", "nutpie", "blackjax", "pymc",
)  # fmt: skip
RIGHT = (
    "numpy.sort", "ece", "smooth_ece", "relplot ECE", "netcal ECE", "relplot SmoothECE",
    "probcal SmoothECE",
)  # fmt: skip


def speed_page() -> str:
    """The page, and its figure; nothing where there are no results."""
    record = stored("speed")
    of = Record(record)
    if not of.sizes or not of.rows:
        return ""
    draw(of, PAGES / "speed.png")
    parts = [
        *heading(record),
        *small_part(of),
        *sizes_part(of),
        *cold_part(record),
        *peers_part(of),
        *threads_part(stored("threads")),
        *nodes_part(stored("nodes")),
    ]
    return "\n\n".join([*parts, *losses(of)]) + "\n"


def heading(record: dict) -> list[str]:
    measured = record["sizes"]["measured"]
    machine, versions = measured["machine"], measured["versions"]
    there = ", ".join(f"{name} {v}" for name, v in versions.items() if v != "absent")
    note = f" ({machine['note']})" if "note" in machine else ""
    absent = ", ".join(name for name, v in versions.items() if v == "absent")
    return [
        "# Speed",
        "Made by `python docs/benchmarks/speed.py`. Times are CPU seconds of one thread, medians "
        "of several calls in a warm process, unless said otherwise; memory is the peak above the "
        "input.",
        f"Measured on {measured['on']}: {machine['processor']}, {machine['system']}, Python "
        f"{machine['python']}{note}; {there}. Not installed: {absent or 'none'}.",
    ]


def small_part(of: Record) -> list[str]:
    rows = {}
    labels = {"nothing": "a call that does nothing", "bayescal": "bayescal, one family"}
    for name, row in of.rows.items():
        label = {**labels, **SAMPLERS}.get(name, name)
        if "seconds" not in row:
            rows[label] = {"fit + TCE": "not installed"}
            continue
        rows[label] = {
            "fit + TCE": duration(row["seconds"]),
            "times ours": two_digits(of.fit_times(name)),
        }
        if "effective_draws" in row:
            least = min(row["effective_draws"], row.get("weighted_draws", float("inf")))
            rows[label] |= {
                "least effective draws": f"{least:.0f}",
                "an effective draw": duration(of.a_draw(name)),
                "mean TCE": f"{row['tce']:.4f}",
            }
    table = pd.DataFrame.from_dict(rows, orient="index").fillna("")
    table.index.name = f"n = {of.record['fit']['cases']}"
    return [
        "## A fit at 200 patients",
        small(of),
        "The beta curve under the neutral prior, 4000 draws (4 chains of 1000), then the TCE of "
        "each draw; and the average over families, which is the default. Compiled samplers take "
        "new data as arguments, adapt for 400 steps, and are timed without compilation; "
        "`pm.sample` adapts for its own 1000. Effective draws are the fewest among the "
        "coordinates and the TCE; ours are also at most the effective size of the importance "
        "weights.",
        markdown(table),
    ]


def sizes_part(of: Record) -> list[str]:
    titles = of.record["sizes"]["titles"]
    tables = []
    for key, shown in (("seconds", duration), ("megabytes", lambda mb: f"{mb:.0f}")):
        sizes = sorted({n for _, n in of.sizes})
        rows = {
            titles[what]: {
                f"10^{len(str(n)) - 1}": shown(of.sizes[what, n][key])
                if key in of.sizes.get((what, n), {})
                else ""
                for n in sizes
            }
            for what in dict.fromkeys(what for what, _ in of.sizes)
        }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "n"
        tables.append(markdown(table))
    failed = [
        f"{titles[row['what']]} at {count(row['n'])} ({row['failed']})"
        for row in of.record["sizes"]["rows"]
        if "failed" in row
    ]
    return [
        "## Cost against the number of cases",
        "![Processor time against the number of cases, on log scales.](speed.png)",
        many(of),
        tables[0],
        "Megabytes, peak above the input:",
        tables[1],
        *([f"Without a result: {'; '.join(failed)}."] if failed else []),
    ]


def cold_part(record: dict) -> list[str]:
    rows = {
        STARTS[name]: {
            "CPU": duration(row["seconds"]),
            "by the clock": duration(row["wall"]),
            "peak, MB": f"{row['mb']:.0f}",
        }
        for name, row in record.get("cold", {}).get("rows", {}).items()
    }
    if not rows:
        return []
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("fresh process")
    return [
        "## Cold start",
        "Medians of five; what the libraries alone take is the floor.",
        markdown(table),
    ]


def peers_part(of: Record) -> list[str]:
    rows = of.record.get("estimators", {}).get("rows", [])
    if not rows:
        return []
    result = {}
    for row in rows:
        result[row["title"], f"{row['n']:,}".replace(",", " ")] = {
            call["package"]: duration(call["minimum"]) for call in row["calls"]
        }
    table = pd.DataFrame.from_dict(result, orient="index").fillna("").rename_axis(["quantity", "n"])
    return [
        "## Estimators beside those of other packages",
        "The least of several turns; [the page on peers](peers.md) has every quantity, and where "
        "definitions differ.",
        markdown(table),
    ]


def threads_part(record: dict) -> list[str]:
    """What threads of the linear algebra cost, and what the limit to one saves."""
    rows = {
        name: {
            f"{what}, {title}": duration(row[what][key])
            for what in ("one thread", "all threads", "all threads, no limit")
            for key, title in (("cpu", "CPU"), ("clock", "clock"))
        }
        for name, row in record.get("rows", {}).items()
    }
    if not rows:
        return []
    return [
        "## Threads",
        "Made by `python docs/benchmarks/threads.py` with 1000 cases on "
        f"{record['cores']} cores. "
        "Fits, posteriors and gains run their linear algebra in one thread, and leave the setting "
        "of the user as it was. *One thread* and *all threads* are that setting; the last two "
        "columns are without the limit. Least seconds of three "
        " fresh processes with five calls each.",
        markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis("call")),
    ]


def nodes_part(record: dict) -> list[str]:
    """What Gauss nodes cost, against merged rows."""
    rows = {
        name: {
            "merged rows": duration(row["rows"]["seconds"]),
            "nodes": duration(row["nodes"]["seconds"]),
            "ratio": f"{row['ratio']:.2f}",
            "log evidence, rows less nodes": f"{gap:.3f}" if (gap := bias_of(row)) else "",
        }
        for name, row in record.get("rows", {}).items()
    }
    if not rows:
        return []
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("call")
    return [
        "## Nodes against merged rows",
        "Made by `python docs/benchmarks/nodes.py`. Likelihoods are sums over the nodes of a Gauss "
        "rule ([the engine](../explanation/engine.md)); they could also be sums over rows in which "
        "neighbouring scores are merged, as those of a spline are. "
        "Least CPU seconds of three turns of fresh processes, and the time of merged rows over "
        "that of nodes. Nodes give the log evidence of all rows; that of several sites was off by "
        "the last column.",
        markdown(table),
    ]


def bias_of(row: dict) -> float | None:
    """How far merged rows moved the log evidence."""
    if "log_evidence" not in row["nodes"]:
        return None
    return row["rows"]["log_evidence"] - row["nodes"]["log_evidence"]


def losses(of: Record) -> list[str]:
    """Wherever another is faster."""
    titles = of.record["sizes"]["titles"]
    lines = []
    for ours, others in SAME.items():
        for other in others:
            slower = [
                f"{count(n)} ({duration(row['seconds'])} against {duration(of.seconds(other, n))})"
                for (what, n), row in of.sizes.items()
                if what == ours and (other, n) in of.sizes and row["seconds"] > of.seconds(other, n)
            ]
            if slower:
                lines.append(f"* {titles[other]} is faster than ours at {', '.join(slower)}.")
    for row in of.record.get("estimators", {}).get("rows", []):
        ours, *peers = row["calls"]
        for call in peers:
            if call["minimum"] < ours["minimum"]:
                differs = f" ({call['differs']})" if call["differs"] else ""
                lines.append(
                    f"* {row['title']} at {count(row['n'])}: {call['package']} takes "
                    f"{duration(call['minimum'])}, ours {duration(ours['minimum'])}{differs}."
                )
    longer = [
        n
        for what, n in of.sizes
        if what == "fit" and n <= of.largest("numpy.sort")
        if of.seconds("fit", n) > of.seconds("numpy.sort", n)
    ]
    if longer:
        lines.append(
            "* A fit with its TCE takes longer than one sort of the scores up to "
            f"{count(max(longer))}."
        )
    cold = of.record.get("cold", {}).get("rows", {})
    if {"fit and TCE", "libraries"} <= cold.keys():
        ours, floor = cold["fit and TCE"], cold["libraries"]
        lines.append(
            f"* The first fit with its TCE of a process takes {duration(ours['seconds'])} and "
            f"{ours['mb']:.0f} MB, the libraries alone {duration(floor['seconds'])} and "
            f"{floor['mb']:.0f} MB."
        )
    return ["## Where we lose", "\n".join(lines) or "Nowhere in these results."]


def draw(of: Record, path: Path) -> None:
    """Time against cases: answers on the left, estimators on the right."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 7.5), sharey=True, layout="constrained")
    for axis, names, title in zip(axes, (LEFT, RIGHT), ("Answers", "Estimators"), strict=True):
        for index, name in enumerate(names):
            points = sorted(
                (n, row["seconds"]) for (what, n), row in of.sizes.items() if what == name
            )
            if points:
                axis.plot(*zip(*points, strict=True), **style(of, name, index))
        axis.set(xscale="log", yscale="log", xlabel="cases", title=title)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
    axes[0].set_ylabel("CPU seconds of one thread")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def style(of: Record, name: str, index: int) -> dict:
    """Rivals are dashed, the sort is dotted."""
    rival = " " in name or name in SAMPLERS
    return {
        "label": of.record["sizes"]["titles"][name],
        "marker": "os^Dv"[index % 5],
        "markersize": 5,
        "linewidth": 1.4,
        "color": "black" if name == "numpy.sort" else "0.5" if rival else f"C{(index - 1) % 10}",
        "linestyle": ":" if name == "numpy.sort" else "--" if rival else "-",
    }
