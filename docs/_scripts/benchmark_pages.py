"""Benchmark pages, made from the stored results whenever the documentation is built."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

DOCS = Path(__file__).resolve().parents[1]
RESULTS = DOCS / "benchmarks" / "results"
PAGES = DOCS / "results"

POPULATIONS = {
    "development": "Development populations",
    "held-out": "Held-out populations",
    "second": "Populations held out before",
    "near": "Close to calibration",
    "rare": "Rare events",
}
OURS = "average", "logistic", "noise", "beta", "lapse", "spline", "pieces"
RIVALS = ("ece_basic", "debiased_basic", "smooth_basic")
LABELS = {
    "average": "average",
    "ece_basic": "ECE, basic bootstrap",
    "ece_percentile": "ECE, percentile bootstrap",
    "debiased_basic": "debiased ECE, basic bootstrap",
    "debiased_percentile": "debiased ECE, percentile bootstrap",
    "smooth_basic": "SmoothECE, basic bootstrap",
    "smooth_percentile": "SmoothECE, percentile bootstrap",
    "bins_beta11": "bins, Beta(1, 1)",
    "logistic_ici": "ICI, logistic, simulated",
    "rcs_ici": "ICI, cubic spline, simulated",
}


def stored(name: str) -> dict:
    """A benchmark's stored record, or nothing."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def cells(populations: str) -> pd.DataFrame:
    """Every cell of the coverage benchmark on some populations."""
    result = [
        pd.DataFrame(json.loads(path.read_text("utf-8"))["cells"])
        for path in sorted(RESULTS.glob(f"coverage-{populations}-*.json"))
    ]
    return pd.concat(result, ignore_index=True) if result else pd.DataFrame()


def standard_error(share, sets):
    """Error by chance of a share of so many data sets."""
    return (share * (1 - share) / sets) ** 0.5


def markdown(table: pd.DataFrame, digits: int = 3) -> str:
    """A table in Markdown, its index as the first columns."""
    flat = table.reset_index()
    shown = flat.map(lambda x: f"{x:.{digits}f}" if isinstance(x, float) else str(x))
    lines = [list(map(str, flat.columns)), ["---"] * flat.shape[1], *shown.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def by_size(table: pd.DataFrame, method: str, column: str) -> pd.DataFrame:
    """One method: populations by sizes."""
    mine = table[table["method"] == method]
    wide = mine.pivot(index="truth", columns="size", values=column)
    wide.index.name = "population"
    return wide.loc[mine["truth"].unique()].rename(columns=lambda n: f"n = {n}")


def draw_coverage(table: pd.DataFrame, path: Path) -> None:
    """Coverage of the average and of its rivals, a panel for each size."""
    sizes = sorted(table["size"].unique())
    names = list(table["truth"].unique())[::-1]
    figure, axes = plt.subplots(
        1, len(sizes), figsize=(2.1 * len(sizes) + 2, 0.28 * len(names) + 1.4), sharey=True,
        layout="constrained",
    )  # fmt: skip
    styles = {
        "average": ("o", "#0072B2"),
        "ece_basic": ("s", "#999999"),
        "logistic_ici": ("D", "#009E73"),
        "rcs_ici": ("^", "#D55E00"),
        "smooth_basic": ("v", "#333333"),
    }
    for ax, size in zip(np.atleast_1d(axes), sizes, strict=True):
        here = table[table["size"] == size]
        ax.axvspan(0.92, 1.0, color="#0072B2", alpha=0.08, lw=0)
        ax.axvline(0.95, color="#666666", lw=0.8, ls="--")
        for method, (marker, colour) in styles.items():
            mine = here[here["method"] == method].set_index("truth")["coverage"]
            if len(mine):
                at = [names.index(name) for name in mine.index]
                ax.plot(mine, at, marker, color=colour, ms=5, label=LABELS[method], alpha=0.9)
        ax.set_xlim(-0.03, 1.03)
        ax.set_title(f"n = {size}", fontsize="medium")
        ax.set_yticks(range(len(names)), names, fontsize="small")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="#eeeeee")
        ax.set_axisbelow(True)
    first = np.atleast_1d(axes)[0]
    figure.supxlabel("Share of 95 % intervals that hold the true calibration error", fontsize=10)
    handles, labels = first.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def overall(table: pd.DataFrame) -> pd.DataFrame:
    """Each method over all cells of a size."""
    grouped = table.groupby(["method", "size"])
    result = grouped.agg(
        mean=("coverage", "mean"), worst=("coverage", "min"), score=("mean_interval_score", "mean")
    )
    wide = result.unstack("size")
    wide.columns = [f"{what}, n = {size}" for what, size in wide.columns]
    wide.index = [LABELS.get(name, name) for name in wide.index]
    wide.index.name = "method"
    return wide.sort_values(next(c for c in wide.columns if c.startswith("score")))


def counted(table: pd.DataFrame) -> str:
    """How many data sets a cell rests on."""
    runs = table.groupby("method")["runs"].max()
    ours = runs["average"]
    rivals = runs.drop([name for name in OURS if name in runs])
    if rivals.empty or (rivals == ours).all():
        return f"{ours} data sets a cell."
    return f"{ours} data sets a cell, and {rivals.min()} for the rivals."


def short_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Cells of the average whose coverage is surely below what we aim at."""
    ours = table[table["method"] == "average"].rename(columns={"truth": "population"})
    aim = ours["size"].map(lambda n: 0.90 if n < 100 else 0.92)
    short = ours[ours["coverage_upper"] < aim].set_index("population")
    shown = {
        "size": "n",
        "tce_true": "true TCE",
        "coverage": "coverage",
        "coverage_upper": "upper limit",
        "mean_interval_score": "score",
    }
    return short[[*shown]].rename(columns=shown)


def against_one_rival(table: pd.DataFrame) -> pd.DataFrame:
    """Mean interval score of the average over that of the rival that is best over all cells."""
    score = table.pivot_table(
        index=["truth", "size"], columns="method", values="mean_interval_score"
    )
    rivals = [name for name in score.columns if name not in OURS]
    if not rivals:
        return pd.DataFrame()
    score = score.dropna()
    best = score[rivals].mean().idxmin()
    size = score.index.get_level_values("size")
    result = score.groupby(size).mean()
    cells_best = score[rivals].min(axis=1).groupby(size).mean()
    wide = pd.DataFrame(
        {
            "average": result["average"],
            LABELS[best]: result[best],
            "ratio": result["average"] / result[best],
            "best rival of each cell": cells_best,
            "ratio to it": result["average"] / cells_best,
        }
    )
    wide.index.name = "n"
    return wide


def losses(table: pd.DataFrame) -> pd.DataFrame:
    """Cells where a rival's interval score is better than the average's."""
    best = table[~table["method"].isin(OURS)]
    if best.empty:
        return pd.DataFrame()
    best = best.loc[best.groupby(["truth", "size"])["mean_interval_score"].idxmin()]
    ours = table[table["method"] == "average"]
    both = ours.merge(best, on=["truth", "size"], suffixes=("", "_rival"))
    both["ratio"] = both["mean_interval_score"] / both["mean_interval_score_rival"]
    lost = both[both["ratio"] > 1].sort_values("ratio", ascending=False)
    lost = lost.rename(columns={"truth": "population", "method_rival": "rival"})
    lost["rival"] = lost["rival"].map(lambda name: LABELS.get(name, name))
    return lost.set_index("population")[["size", "rival", "ratio", "coverage", "coverage_rival"]]


def coverage_page() -> str:
    """Coverage, width and score of intervals for the true calibration error."""
    lines = [
        "# Intervals compared with other methods",
        "Coverage of 95 % intervals of the true calibration error, on simulated populations where "
        "it is known. The interval score is the width plus a penalty for missing (Gneiting & "
        "Raftery, 2007); smaller is better. Made by `docs/benchmarks/interval_coverage.py`; the "
        "populations are defined in `docs/benchmarks/truths.py`. Rows named by a family (*beta*, "
        "*spline*, ...) are of a fit of it alone, which does not know of exact calibration: its "
        "intervals never contain the error 0 of a calibrated model.",
    ]
    for name, title in POPULATIONS.items():
        table = cells(name)
        if table.empty:
            continue
        lines.append(f"## {title}")
        lines.append(f"{NOTES[name]} {counted(table)}")
        draw_coverage(table, PAGES / f"coverage-{name}.png")
        lines.append(
            f"![Coverage of several intervals, by population and size](coverage-{name}.png)"
        )
        lines.append("Coverage of the average:")
        lines.append(markdown(by_size(table, "average", "coverage")))
        lines.append("Its mean interval score:")
        lines.append(markdown(by_size(table, "average", "mean_interval_score")))
        short = short_cells(table)
        if short.empty:
            lines.append(
                "We aim at a coverage of .92 from 100 cases on, and .90 with 50. No cell is "
                "clearly below (the upper 99 % Clopper-Pearson limit of its coverage reaches it)."
            )
        else:
            lines.append(
                "We aim at a coverage of .92 from 100 cases on, and .90 with 50. These cells are "
                "clearly below: their upper 99 % Clopper-Pearson limit does not reach it."
            )
            lines.append(markdown(short))
        ratio = against_one_rival(table)
        if not ratio.empty:
            lines.append(
                "Mean interval score over the populations, with that of the other method that is "
                "best over all of them, and that of the best other method of each cell:"
            )
            lines.append(markdown(ratio))
        lines.append("All methods, over the populations: mean and worst coverage, mean score.")
        lines.append(markdown(overall(table)))
        lost = losses(table)
        if not lost.empty:
            lines.append(
                f"In {len(lost)} cells the best other method has a smaller "
                "interval score. These are all of them, by the ratio of ours to theirs."
            )
            lines.append(markdown(lost))
    return "\n\n".join(lines) + "\n"


NOTES = {
    "development": "The spline, its priors and the weights of the average were chosen with these.",
    "held-out": "Held out at first; the method was later chosen with these as well.",
    "second": "Held out at first; the method was later chosen with these as well.",
    "near": "A shift or a slope that is 1.5, 2.5 or 4 standard errors with n cases. For such small "
    "errors intervals are most likely to be too narrow.",
    "rare": "One event in a hundred cases, and fewer.",
}


def gain_page() -> str:
    """Coverage of the gain's intervals."""
    record = stored("gain_coverage")
    if not record:
        return ""
    table = pd.DataFrame(record["cells"])
    lines = [
        "# Coverage of the gain",
        "Coverage, width and power of 95 % intervals of the gain of a recalibration, for every row "
        "that is printed, in six scenarios with a known gain. *Excludes zero* is the power, or the "
        "error rate where the gain is zero. *Curve* and *paired* are the two routes of "
        f"`recalibration_gain` ({_paired_runs(table)}), *paired t* and *paired bootstrap* two "
        "usual intervals. Where few patients cross a threshold, *paired* excludes zero too often. "
        "Made by `docs/benchmarks/gain_coverage.py`.",
    ]
    for measure, title in GAINS.items():
        mine = table[table["measure"] == measure]
        if mine.empty:
            continue
        mine = mine.rename(columns={"truth": "scenario", "mean_width": "width"})
        wide = mine.set_index(["scenario", "size", "method"])[
            ["gain", "runs", "coverage", "width", "excludes_zero"]
        ]
        lines.append(f"## {title}")
        ours = mine[mine["method"].isin(("curve", "paired"))]
        short = ours[ours["coverage_upper"] < NOMINAL]
        if not short.empty:
            cells = "; ".join(
                f"{row['scenario']}, n = {row['size']}, {row['method']}: {row['coverage']:.2f}"
                for _, row in short.iterrows()
            )
            lines.append(f"Falls short (upper 99 % limit of its coverage below .95): {cells}.")
        lines.append(markdown(wide, 4))
    return "\n\n".join([*lines, *clustered_part(), *cross_fit_part()]) + "\n"


def _paired_runs(table: pd.DataFrame) -> str:
    """How many data sets there are by pairs, each of which takes long."""
    runs = table.loc[table["method"] == "paired", "runs"].max()
    return f"*paired* with {runs} data sets, so that two errors of .95 are {two_errors(runs):.2f}"


def two_errors(runs: float) -> float:
    """Two standard errors of a coverage near .95."""
    return 2 * standard_error(0.95, runs)


def clustered_part() -> list[str]:
    """Coverage of the gain's intervals where cases come in few clusters."""
    record = stored("gain_clusters")
    if not record:
        return []
    table = pd.DataFrame(record["cells"])
    names = GAINS | {"net_benefit@0.3": "Net benefit, treating from .3"}
    table["measure"] = pd.Categorical(table["measure"].map(names), list(names.values()))
    table = table.sort_values(["measure", "clusters", "sizes", "icc"])
    table["measure"] = table["measure"].astype(str)
    keys = ["measure", "clusters", "sizes", "icc"]
    wide = table.set_index(keys)[["gain", "runs", "coverage", "width"]]
    short = table[table["coverage"] < NOMINAL - two_errors(table["runs"].min())]
    named = "; ".join(
        f"{row.measure}, {row.clusters} clusters, {row.sizes}, ICC {row.icc:g}: {row.coverage:.3f}"
        for row in short.itertuples()
    )
    return [
        "## Few clusters",
        "The same of 400 cases in 8 or 20 clusters, of one size or of sizes that differ much. "
        "Residuals of one cluster have the correlation *ICC*. The draws of the paired bootstrap of "
        "clusters are stretched to the length of Student's interval with the degrees of freedom "
        "that the sizes leave. Two standard errors of a coverage near .95 are .03 with 200 data "
        "sets. Made by `docs/benchmarks/gain_clusters.py`.",
        f"Below .95 by more than that: {named}." if named else "No coverage is below .95 by more.",
        markdown(wide, 4),
    ]


GAINS = {
    "brier": "Brier score",
    "log_score": "Log score",
    "tce": "True calibration error",
    "net_benefit@0.2": "Net benefit, treating from .2",
    "net_benefit@0.4": "Net benefit, treating from .4",
}
NOMINAL = 0.95


def cross_fit_part() -> list[str]:
    """Coverage of cross-fit intervals, by what they are held to be about."""
    record = stored("cross_fit_coverage")
    if not record:
        return []
    table = pd.DataFrame(record["cells"]).rename(columns={"truth": "population", "size": "n"})
    return [
        "## Cross-fitted",
        "The same intervals from 10-fold cross-fits with two repeats: how often they contain the "
        "mean gain of the procedure (maps fitted to nine tenths of the patients), and that of the "
        "one map fitted to all patients. Made by `docs/benchmarks/cross_fit_coverage.py`.",
        markdown(table.set_index(["population", "map", "n", "measure"]), 4),
    ]


def sbc_page() -> str:
    """Simulation-based calibration."""
    runs = pd.DataFrame(stored("sbc").get("runs", []))
    if runs.empty:
        return ""
    table = runs.set_index(["curve", "prior", "n"])[
        ["simulations", "inside", "joint_level", "worst", "largest_pareto_k"]
    ]
    return (
        "# Simulation-based calibration\n\n"
        "Truths are drawn from the prior, and outcomes from each truth; the rank of the truth "
        "among posterior draws must be uniform (Talts et al., 2018). *Inside* "
        "says whether all ranks are in their joint 99 % band; *joint level* is the probability of "
        "ranks at least as far from uniform, over all quantities, and *worst* the quantity that is "
        "farthest. Made by `docs/benchmarks/sbc.py`.\n\n"
        + markdown(table)
        + "\n\n## The probability of each family\n\n"
        "Over truths drawn from the average, exact calibration among them, the mean of the "
        "posterior probability of a family must be its prior probability. In brackets: by how "
        f"many standard errors it differs: by {_most_off(runs):.1f} at most.\n\n"
        + markdown(_families(runs))
        + "\n"
    )


def _most_off(runs: pd.DataFrame) -> float:
    """By how many standard errors the probability of a family is off, at most."""
    averages = runs.loc[runs["curve"] == "average", "standard_errors_off"]
    return max(abs(off) for each in averages for off in each.values())


def _families(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean posterior probability of each family of an average, beside its prior."""
    averages = runs[runs["curve"] == "average"]
    rows = {}
    for row in averages.to_dict("records"):
        off = row["standard_errors_off"]
        rows[f"{row['prior']}, n = {row['n']}"] = {
            name: f"{mean:.3f} ({off[name]:+.1f})"
            for name, mean in row["mean_posterior_prob"].items()
        }
    from bayescal.inference.candidates import prior_probabilities
    from bayescal.model.curves import averaged_families

    prior = prior_probabilities(averaged_families())
    rows["prior"] = {name: f"{value:.3f}" for name, value in prior.items()}
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "prior of the curves, n"
    return table


def write_pages() -> None:
    """Write every page for which there are results, and their index."""
    from checks_page import checks_page
    from clusters_page import clusters_page
    from digits_page import digits_page
    from drift_page import drift_page
    from ends_page import ends_page
    from imputation_page import imputation_page
    from information_page import information_page
    from learning_pages import class_joint_page
    from number_pages import numbers_page
    from one_posterior_page import one_posterior_page
    from optimism_page import optimism_page
    from peer_pages import peers_page
    from planning_page import planning_page
    from recalibration_pages import cifar_page, recalibrators_page
    from recommend_page import recommend_page
    from site_doors_page import site_doors_page
    from sites_page import sites_page
    from speed_page import speed_page
    from subgroup_pages import subgroups_page
    from variance_page import variance_page
    from verdict_page import verdict_page
    from versions_page import sentence, versions_page

    PAGES.mkdir(exist_ok=True)
    pages = {
        "one_posterior": one_posterior_page(),
        "verdict": verdict_page(),
        "ends": ends_page(),
        "digits": digits_page(),
        "numbers": numbers_page(),
        "coverage": coverage_page(),
        "gain": gain_page(),
        "recommend": recommend_page(),
        "optimism": optimism_page(),
        "variance": variance_page(),
        "sites": sites_page(),
        "site_doors": site_doors_page(),
        "drift": drift_page(),
        "imputation": imputation_page(),
        "information": information_page(),
        "clusters": clusters_page(),
        "cifar": cifar_page(),
        "recalibrators": recalibrators_page(),
        "subgroups": subgroups_page(),
        "class_joint": class_joint_page(),
        "sbc": sbc_page(),
        "planning": planning_page(),
        "speed": speed_page(),
        "peers": peers_page(),
    }
    names = [name for name, text in pages.items() if text]
    for name in names:
        (PAGES / f"{name}.md").write_text(pages[name].rstrip() + sentence(name), "utf-8")
    (PAGES / "versions.md").write_text(versions_page(), "utf-8")
    (PAGES / "checks.md").write_text(checks_page(), "utf-8")
    listed = "\n".join(["```{toctree}", ":maxdepth: 1", "", *names, "checks", "versions", "```"])
    (PAGES / "index.md").write_text(
        "# Benchmarks\n\nMeasured by the scripts in `docs/benchmarks/`. Each page also shows where "
        "the results are bad, or other methods are better.\n\n"
        f"{listed}\n",
        "utf-8",
    )


if __name__ == "__main__":
    write_pages()
