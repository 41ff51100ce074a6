"""Figures of the benchmarks on recalibration, drawn from their stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd

SETTINGS = {
    "resnet110": "ResNet110, CIFAR-10",
    "perfect": "simulated, t = 1",
    "mediocre": "simulated, t = 1.5",
    "bad": "simulated, t = 2.5",
}
ESTIMATORS = {
    "ECE, 15 equal width": "#D55E00",
    "ECE, 15 equal mass": "#E69F00",
    "KS": "#009E73",
    "KDE-ECE": "#CC79A7",
    "SmoothECE": "#56B4E9",
    "TCE_bpm": "#888888",
}
BRIER = {"Brier, top label": "#882255"}
POSTERIOR = "#0072B2"
RECALIBRATORS = {
    "isotonic": ("#999999", "-"),
    "histogram, 10 bins": ("#999999", ":"),
    "BBQ": ("#CC79A7", "-"),
    "spline": ("#009E73", ":"),
    "monotone": ("#009E73", "-"),
    "temperature": ("#E69F00", ":"),
    "logistic": ("#E69F00", "-"),
    "beta": ("#D55E00", "-"),
    "TPM": ("#56B4E9", "-"),
    "decision tree": ("#8C564B", ":"),
    "bayesian, average": (POSTERIOR, "-"),
}


def draw_errors(table: pd.DataFrame, path: Path) -> None:
    """Posterior interval of the calibration error that each method left."""
    figure, ax = plt.subplots(figsize=(6.4, 0.27 * len(table) + 0.9), layout="constrained")
    index = range(len(table))[::-1]
    sides = [table["tce"] - table["tce_lower"], table["tce_upper"] - table["tce"]]
    ax.errorbar(
        table["tce"], index, xerr=sides, fmt="o", color=POSTERIOR, ms=4, label="posterior, 95 %"
    )
    ax.plot(table["ece"], index, "x", color="#D55E00", ms=5, label="ECE, 15 equal mass")
    ax.set_yticks(index, table["method"], fontsize="small")
    ax.set_xlim(left=0)
    ax.set_xlabel("Top-label calibration error on 10 000 test cases")
    ax.legend(frameon=False)
    _plain(ax)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_values(records: Sequence[dict[str, Any]], path: Path) -> None:
    """Mean value of each estimator against the size of the test set, before and after."""
    figure, axes = plt.subplots(
        2, len(SETTINGS), figsize=(10.5, 5.4), sharex=True, sharey=True, layout="constrained"
    )
    styles = ESTIMATORS | {"root Brier, all classes": "black"}
    for column, (setting, title) in enumerate(SETTINGS.items()):
        mine = [record for record in records if record["setting"] == setting]
        size = [record["n"] for record in mine]
        for ax, side in zip(axes[:, column], ("before", "after"), strict=True):
            for name, colour in styles.items():
                value = [record["estimates"][name][side] for record in mine]
                line = "--" if colour == "black" else "-"
                ax.plot(size, value, line, marker="o", ms=3, lw=1.2, color=colour, label=name)
            ax.set(xscale="log", yscale="log")
            _plain(ax)
        axes[0, column].set_title(title, fontsize="medium")
    axes[0, 0].set_ylabel("Before")
    axes[1, 0].set_ylabel("After")
    figure.supxlabel("Test cases", fontsize=10)
    _shared_legend(figure, axes[0, 0], 4)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_gains(records: Sequence[dict[str, Any]], true: dict[str, Any], path: Path) -> None:
    """Estimated improvement against the size of the test set, with the posterior gain."""
    figure, axes = plt.subplots(
        2, len(SETTINGS), figsize=(10.5, 5.6), sharex=True, sharey="row", layout="constrained"
    )
    rows = (("tce", ESTIMATORS), ("brier", BRIER))
    for column, (setting, title) in enumerate(SETTINGS.items()):
        mine = [record for record in records if record["setting"] == setting]
        size = [record["n"] for record in mine]
        for ax, (measure, styles) in zip(axes[:, column], rows, strict=True):
            gain = pd.DataFrame([record["posterior"][measure] for record in mine])
            ax.fill_between(
                size, gain["lower"], gain["upper"], color=POSTERIOR, alpha=0.18, lw=0,
                label="95 % credible interval",
            )  # fmt: skip
            ax.plot(size, gain["mean"], color=POSTERIOR, lw=2, label="posterior gain")
            for name, colour in styles.items():
                fall = [record["estimates"][name]["improvement"] for record in mine]
                ax.plot(size, fall, marker="o", ms=3, lw=1, color=colour, label=name)
            if setting in true:
                ax.axhline(true[setting][measure], color="black", ls="--", lw=1, label="truth")
            ax.axhline(0, color="#666666", lw=0.5)
            ax.set_xscale("log")
            _plain(ax)
        axes[0, column].set_title(title, fontsize="medium")
    axes[0, 0].set_ylabel("Fall in calibration error")
    axes[1, 0].set_ylabel("Fall in Brier score")
    figure.supxlabel("Test cases", fontsize=10)
    both = {
        label: handle
        for ax in (axes[0, 1], axes[1, 1])
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        both.values(), both.keys(), loc="outside upper center", ncols=5, frameon=False, fontsize=8
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_sample_efficiency(cells: pd.DataFrame, path: Path) -> None:
    """Excess log loss against the size of the calibration set, a panel for each group."""
    groups = list(cells["group"].unique())
    figure, axes = plt.subplots(
        1, len(groups), figsize=(10, 4.8), sharey=True, squeeze=False, layout="constrained"
    )
    for ax, group in zip(axes[0], groups, strict=True):
        mine = cells[cells["group"] == group]
        mean = mine.pivot_table(index="method", columns="n", values="log_loss")
        for name, (colour, line) in RECALIBRATORS.items():
            thick = 2.6 if name == "bayesian, average" else 1.2
            ax.plot(mean.columns, mean.loc[name], line, color=colour, lw=thick, label=name)
        ax.axhline(mean.loc["none"].mean(), color="black", lw=0.8, ls="--", label="none")
        truths = mine["truth"].nunique()
        ax.set_title(f"{group.capitalize()}: mean over {truths} truths", fontsize="medium")
        ax.set(xscale="log", yscale="log", xlabel="Calibration cases")
        ax.set_xticks(list(mean.columns), [str(n) for n in mean.columns])
        ax.minorticks_off()
        _plain(ax)
    axes[0, 0].set_ylabel("Excess log loss per new case")
    _shared_legend(figure, axes[0, 0], 6)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _plain(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#eeeeee")
    ax.set_axisbelow(True)


def _shared_legend(figure: Any, ax: Any, columns: int) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=columns, frameon=False, fontsize=8
    )
