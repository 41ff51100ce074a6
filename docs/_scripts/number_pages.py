"""Benchmark page on the interval beside every number that is printed."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from benchmark_pages import PAGES, markdown, standard_error, stored

AIM, HIGH = 0.92, 0.98
PANELS = 5
NUMBERS = {
    "observed_expected": "O/E",
    "calibration_in_the_large": "calibration-in-the-large",
    "calibration_slope": "slope",
    "calibration_intercept": "intercept",
    "signed_error": "signed error",
    "curve@10%": "curve, 10 %",
    "curve@30%": "curve, 30 %",
    "curve@50%": "curve, 50 %",
    "curve@70%": "curve, 70 %",
    "curve@90%": "curve, 90 %",
    "tce": "TCE$_1$",
    "tce_2": "TCE$_2$",
    "e50": "E50",
    "e90": "E90",
    "emax": "Emax",
    "net_benefit@0.1": "net benefit at .1",
    "net_benefit@0.3": "net benefit at .3",
}
DISTANCES = ("tce", "tce_2", "e50", "e90", "emax")
GROUPS = {
    "near": ("#0072B2", "close to calibration"),
    "development": ("#E69F00", "development populations"),
    "held-out": ("#009E73", "held-out populations"),
}
COLUMNS = {
    "truth": "population",
    "size": "n",
    "coverage": "covered",
    "coverage_lower": "from",
    "coverage_upper": "to",
    "misses_below": "too low",
    "misses_above": "too high",
}


def judged(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with a verdict: short by more than two Monte Carlo errors, or above .98."""
    least = AIM - 2 * standard_error(AIM, cells["runs"])
    return cells.assign(short=cells["coverage"] < least, high=cells["coverage"] > HIGH)


def readable(target: str) -> str:
    """A number's name outside a figure."""
    return NUMBERS[target].replace("$_1$", "_1").replace("$_2$", "_2")


def short_size(n: int) -> str:
    """A number of patients as a tick label."""
    if n >= 1_000_000:
        return f"{n / 1_000_000:g}M"
    return f"{n / 1000:g}k" if n >= 10_000 else str(n)


def draw_numbers(cells: pd.DataFrame, path: Path) -> None:
    """A panel for each number, a dot for each population and size."""
    shown = [target for target in NUMBERS if target in set(cells["target"])]
    sizes = sorted(cells["size"].unique())
    rows = -(-len(shown) // PANELS)
    figure, axes = plt.subplots(
        rows, PANELS, figsize=(12, 2.1 * rows + 0.7), sharey=True, layout="constrained",
        squeeze=False,
    )  # fmt: skip
    for ax in axes.flat[len(shown) :]:
        ax.set_visible(False)
    lowest = min(0.6, cells["coverage"].min() - 0.03)
    for ax, target in zip(axes.flat, shown, strict=False):
        mine = cells[cells["target"] == target]
        ax.axhspan(AIM, 1.01, color="#0072B2", alpha=0.07, lw=0)
        ax.axhline(0.95, color="#666666", lw=0.8, ls="--")
        for shift, (group, (colour, label)) in zip((-0.25, 0, 0.25), GROUPS.items(), strict=True):
            here = mine[mine["group"] == group]
            order = here.groupby("size")["truth"].rank() / (here["truth"].nunique() + 1) - 0.5
            x = here["size"].map(sizes.index) + shift + 0.22 * order
            ax.plot(x, here["coverage"], "o", color=colour, ms=3.2, alpha=0.8, label=label)
            short = here[here["short"]]
            ax.plot(x[short.index], short["coverage"], "o", mfc="none", mec="#D55E00", ms=7)
        ax.set_title(NUMBERS[target], fontsize="medium", loc="left")
        ax.set_xticks(range(len(sizes)), [short_size(size) for size in sizes])
        ax.set_xlim(-0.6, len(sizes) - 0.4)
        ax.set_ylim(lowest, 1.02)
        ax.tick_params(labelsize="small")
        ax.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("Patients", fontsize=10)
    figure.supylabel("Share of 95 % intervals that contain the true value", fontsize=10)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def by_number(cells: pd.DataFrame) -> pd.DataFrame:
    """Mean and lowest coverage of each number, and how many cells are short or high."""
    grouped = cells.groupby("target")
    table = grouped.agg(
        cells=("coverage", "size"),
        mean=("coverage", "mean"),
        lowest=("coverage", "min"),
        short=("short", "sum"),
        high=("high", "sum"),
    )
    table = table.loc[[target for target in NUMBERS if target in table.index]]
    table.index = pd.Index([readable(target) for target in table.index], name="number")
    return table.rename(columns={"short": "cells that fall short", "high": "cells above .98"})


def by_patients(cells: pd.DataFrame) -> pd.DataFrame:
    """The same of numbers that can err either way and of distances, by number of patients."""
    columns = {}
    distance = cells["target"].isin(DISTANCES)
    for name, rows in (("either way", cells[~distance]), ("distances", cells[distance])):
        grouped = rows.groupby("size")
        columns[f"{name}: mean"] = grouped["coverage"].mean()
        columns[f"{name}: fall short"] = grouped["short"].agg(lambda s: f"{s.sum()} of {s.size}")
    return pd.DataFrame(columns).rename_axis("patients")


def listed(cells: pd.DataFrame) -> str:
    """Cells one by one, worst first."""
    shown = cells.sort_values("coverage").set_index(
        cells.sort_values("coverage")["target"].map(readable).rename("number")
    )
    return markdown(shown[list(COLUMNS)].rename(columns=COLUMNS), 2)


def numbers_page() -> str:
    """Coverage of the interval beside every number."""
    record = stored("number_coverage")
    if not record:
        return ""
    every = judged(pd.DataFrame(record["cells"]))
    apart = every[every["remark"] != ""]
    cells = every[every["remark"] == ""]
    draw_numbers(cells, PAGES / "numbers.png")
    distance = cells["target"].isin(DISTANCES)
    fewest, most = cells["runs"].min(), cells["runs"].max()
    more = f"; {most} where coverage was worst" if most > fewest else ""
    paragraphs = [
        "# Coverage of every printed number",
        "A report prints a 95 % interval with each number. On simulated patients the true value "
        "is known, so we can count how often the interval contains it: it should be 95 times in "
        f"100. Each dot is one population at one number of patients ({fewest} simulated data sets"
        f"{more}). Dots with a ring fall short: they are below .92 by more than two standard "
        "errors, as about one in fifty would be by chance of those whose coverage is just .92. "
        "The fits average over `identity`, `logistic`, `beta`, `spline` and `pieces`, with 1000 "
        "draws; the default average also has `noise` and `lapse` and 4000 draws.",
        "![Coverage by number, population and size](numbers.png)",
        "*Close to calibration* are models whose risks are off by 1, 1.5 or 2.5 standard errors. "
        "The data can hardly detect such errors, and intervals are most likely to be too narrow. "
        "Coverage above .98 means that the interval is wider than necessary. *Curve, 10 %* is the "
        "value of the curve at the 10 % quantile of the scores.",
        markdown(by_number(cells)),
        "By number of patients, of the numbers that can err either way and of the distances (TCE, "
        "E50, E90, Emax):",
        markdown(by_patients(cells)),
        "## Where coverage is too low",
    ]
    for title, rows in (
        ("Numbers that can err either way", cells[~distance & cells["short"]]),
        ("Distances from calibration", cells[distance & cells["short"]]),
    ):
        text = listed(rows) if len(rows) else "Every cell covers."
        paragraphs += [f"**{title}.**", text]
    paragraphs.append(
        "*From* and *to* are the 99 % interval of the coverage itself. *Too low* is the share of "
        "intervals that lie below the true value, *too high* the share above."
    )
    if len(apart):
        paragraphs += [
            "## Points of the curve shown apart",
            "Within .2 log-odds of a jump no smooth curve can follow, and scores within a "
            "millionth of 0 or 1 are read as rounded. These do not count above.",
            listed(apart[apart["short"]]) if apart["short"].any() else "All of them cover.",
        ]
    paragraphs.append(
        "Made by `docs/benchmarks/number_coverage.py`; the populations stand in "
        "`docs/benchmarks/truths.py`."
    )
    return "\n\n".join(paragraphs) + "\n"
