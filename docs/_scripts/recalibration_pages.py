"""Benchmark pages on recalibration: a neural network, and how much data a map needs."""

from __future__ import annotations

import math

import pandas as pd

from benchmark_pages import PAGES, markdown, stored
from recalibration_figures import (
    SETTINGS,
    draw_errors,
    draw_gains,
    draw_sample_efficiency,
    draw_values,
)

FEW = 500


def with_interval(row: dict, digits: int) -> str:
    """Median and interval; in words if nothing of it is finite."""
    if row["upper"] == -math.inf:
        return "minus infinity"
    told = f"{row['median']:.{digits}f} ({row['lower']:.{digits}f} to {row['upper']:.{digits}f})"
    return told.replace(" ", "\N{NO-BREAK SPACE}")  # a cell of one line


def cifar_page() -> str:
    """Recalibration of a neural network, and how much test data it takes to see the gain."""
    record = stored("cifar")
    if not record:
        return ""
    rows, columns = record["table"], {
        "published_ece": "ECE, published",
        "ece": "ECE",
        "sweep_ece": "sweep",
        "debiased_ece": "debiased",
        "ks_error": "KS",
        "smooth_ece": "SmoothECE",
        "ls_ece": "LS-ECE",
        "tce_bpm": "TCE_bpm",
    }  # fmt: skip
    errors = pd.DataFrame(rows).set_index("method").astype({"published_ece": object})
    errors["published_ece"] = errors["published_ece"].where(errors["published_ece"].notna(), "")
    errors["TCE, posterior"] = [
        with_interval({"median": r["tce"], "lower": r["tce_lower"], "upper": r["tce_upper"]}, 4)
        for r in rows
    ]
    shown = errors.rename(columns=columns)[
        ["recalibrates", *columns.values(), "TCE, posterior", "accuracy"]
    ]
    gains = pd.DataFrame(
        {
            "method": row["method"],
            "TCE": with_interval(row["tce_gain"], 4),
            "Brier score": with_interval(row["brier_gain"], 4),
            "log score": with_interval(row["log_score_gain"], 3),
            "route": row["route"],
        }
        for row in rows
        if row["method"] != "none"
    ).set_index("method")
    sizes = pd.DataFrame(
        {
            "model": SETTINGS[one["setting"]],
            "n": one["n"],
            "test sets": one["subsets"],
            "ECE": one["estimates"]["ECE, 15 equal mass"]["improvement"],
            "SmoothECE": one["estimates"]["SmoothECE"]["improvement"],
            "TCE, posterior": with_interval({"median": tce["mean"]} | tce, 3),
            "true TCE": record["true_gains"].get(one["setting"], {}).get("tce", ""),
            "Brier": one["estimates"]["Brier, top label"]["improvement"],
            "Brier, posterior": with_interval({"median": brier["mean"]} | brier, 4),
            "true Brier": record["true_gains"].get(one["setting"], {}).get("brier", ""),
        }
        for one in record["against_size"]
        for tce, brier in [(one["posterior"]["tce"], one["posterior"]["brier"])]
        if one["setting"] != "perfect"
    ).set_index("model")
    left_out = pd.DataFrame(
        {"measure": name, "held": round(row["coverage"] * one["subsets"]), "of": one["subsets"]}
        for one in record["against_size"]
        if one["setting"] in ("mediocre", "bad")
        for name, row in one["posterior"].items()
    )
    count = left_out.groupby("measure")[["held", "of"]].sum()
    draw_errors(errors.reset_index(), PAGES / "cifar-errors.png")
    draw_values(record["against_size"], PAGES / "cifar-values.png")
    draw_gains(record["against_size"], record["true_gains"], PAGES / "cifar-gains.png")
    return "\n\n".join(
        [
            "# What did recalibrating a neural network gain?",
            "ResNet110 on CIFAR-10: every map is fitted to the 5000 validation cases and assessed "
            "on the 10 000 test cases. Made by `docs/benchmarks/cifar.py`; the logits are no "
            "part of "
            "the package.",
            "## Every method, by every estimator",
            "The methods and estimators that Dong et al. (AAAI 2025) compare, computed: top-label "
            "calibration error with 15 bins of equal mass, by the other estimators of their code, "
            "and the posterior median and 95 % interval of the true error. *Published* is the ECE "
            "of their Table 1, which [another page](../papers/dong.md) compares in full. "
            "The debiased error is of order 1, as in their code. Their own map is TPM.",
            markdown(shown, 4),
            "![Posterior interval of the calibration error left by each method](cifar-errors.png)",
            "Before recalibration the scores are too high in every bin, so that "
            "most estimators agree. After it they differ by as much as the methods do, and the "
            "posterior shows why: an interval of about 0 to .01 holds most of the maps.",
            "## Gains",
            "Median and 95 % interval of the gain over no recalibration, in the probability of the "
            "class that was predicted before. Route *curve*: the map is a function of that "
            f"probability alone. {_of_intervals(rows)}",
            markdown(gains),
            "## How much test data does it take to see a gain?",
            "Figures 1 to 3 of Gruber & Buettner (NeurIPS 2022), computed again. One fixed map, "
            "temperature scaling, is assessed on test sets of 100 cases and more: of the "
            "network, and of their simulated models of 100 classes, whose logits are t times too "
            "large. There the map repairs the model exactly and the true gain is known; at t = 1 "
            "there is nothing to repair.",
            "![Estimates of calibration error by test size, before and after](cifar-values.png)",
            "The square root of the Brier score bounds the calibration error from above, whatever "
            "the size. Binned and kernel estimates fall as the test set grows, most of all where "
            "there is no error left.",
            "![Estimated improvement by test size with the posterior gain](cifar-gains.png)",
            "So the improvement that they show grows with the size, though the map is the same; so "
            "does the posterior mean, while cases are few, but its interval holds the truth. "
            "The difference of Brier scores does not, and the posterior gain has its mean: what "
            "the posterior adds is the interval. Lines are means over test sets, the band is the "
            "mean ends of the 95 % interval. Test sets of the network overlap. At t = 1 before and "
            "after are equal, every estimate of improvement is zero, and so is the interval.",
            "Over the test sets of all sizes at t = 1.5 and 2.5, 95 % intervals held the true gain "
            + ", ".join(
                f"in {count.loc[name, 'held']} of {count.loc[name, 'of']} ({title})"
                for name, title in (
                    ("tce", "TCE"), ("brier", "Brier score"), ("log_score", "log score")
                )
            )
            + ".",
            markdown(sizes, 4),
        ]
    ) + "\n"  # fmt: skip


def _of_intervals(rows: list[dict]) -> str:
    """Whether intervals of gains exclude zero, and which log losses are infinite."""
    maps = [row for row in rows if row["method"] != "none"]
    ruled_out = [row["method"] for row in maps if row["log_score_gain"]["upper"] == -math.inf]
    measures = ("tce_gain", "brier_gain", "log_score_gain")
    improved = all(
        row[name]["lower"] > 0 or row[name]["upper"] == -math.inf
        for row in maps
        for name in measures
    )
    told = ["Every finite interval is above zero."] if improved else []
    if ruled_out:
        told.append(
            f"Where the log score is minus infinity ({'; '.join(ruled_out)}), the map gives "
            "probability 0 to what happened to some test cases, so that its log loss is infinite."
        )
    return " ".join(told)


def recalibrators_page() -> str:
    """How much data each recalibrator needs."""
    record = stored("recalibrators")
    if not record:
        return ""
    table = pd.DataFrame(record["cells"])
    summary, single = pd.DataFrame(record["summary"]), pd.DataFrame(record["per_truth"])
    draw_sample_efficiency(table, PAGES / "recalibrators.png")
    runs = ", ".join(f"{count} {group}" for group, count in record["runs"].items())
    lines = [
        "# How much data does a recalibrator need?",
        "Expected log loss on new cases, beyond that of the true probabilities, when a "
        f"recalibrator is fitted to n cases. Calibration sets for each size and truth: {runs}. "
        "Losses are integrated under the known truth. Probabilities are cut off at "
        f"{record['cut']:g} from 0 and 1, without which isotonic regression, binning and trees "
        "would have infinite losses. If maximum likelihood has no solution, the scores are not "
        "changed. Trees get a third of the runs. Made by `docs/benchmarks/recalibrators.py`.",
        "![Excess log loss by size, for each recalibrator](recalibrators.png)",
    ]
    for group, mine in table.groupby("group", sort=False):
        mean = mine.pivot_table(index="method", columns="n", values="log_loss", sort=False)
        lines += [
            f"## {group.capitalize()} truths",
            f"Mean excess log loss over {mine['truth'].nunique()} truths.",
            markdown(mean.rename(columns=lambda n: f"n = {n}"), 4),
        ]
    lines += [
        "## The Bayesian average against the best other",
        "At each size the other with the smallest mean loss is picked afterwards, on the same "
        "runs, which favours it. *Difference* is ours less theirs, paired by run: below zero, ours "
        "is better.",
        markdown(against_best(summary, ["group", "score", "n"]), 5),
    ]
    means = short_of_best(summary[summary["score"] == "log_loss"])
    truths = short_of_best(single)
    alone = int((truths["best_other"] == "none").sum())
    others = sorted(set(truths["best_other"]) - {"none"})
    lines += [
        "## Where it is not the best",
        "Up to 500 cases, where its log loss is worse than that of the best other by more than two "
        "standard errors. "
        + ("In the mean over truths:" if len(means) else "In the mean over truths it never is."),
        *([markdown(against_best(means, ["group", "n"]), 5)] if len(means) else []),
        f"Truth by truth, with the best other of each truth known: {len(truths)} of "
        f"{(single['n'] <= FEW).sum()} cells. In {alone} of them the best is no recalibration, "
        "because the scores are right, or nearly right for so few cases. In the others it is "
        f"{', '.join(others)}.",
        markdown(against_best(truths, ["group", "truth", "n"]), 5),
    ]
    return "\n\n".join(lines) + "\n"


def short_of_best(table: pd.DataFrame) -> pd.DataFrame:
    """Cells of few cases where ours is worse than the best other by more than noise."""
    short = table["short_of_best"] > 2 * table["standard_error"]
    return table[short & (table["n"] <= FEW)].sort_values("short_of_best", ascending=False)


def against_best(table: pd.DataFrame, index: list[str]) -> pd.DataFrame:
    """Ours, the best other, and their difference."""
    names = {
        "best_other": "best other",
        "other": "its loss",
        "short_of_best": "difference",
        "standard_error": "standard error",
    }
    shown = table.set_index(index)[["ours", *names]].rename(columns=names)
    numbers = shown.select_dtypes("number").columns
    return shown.assign(**(shown[numbers].round(5) + 0.0))
