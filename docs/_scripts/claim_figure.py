"""The figure of the claim, from what `docs/benchmarks/claim.py` stored: coverage, and width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmark_pages import stored

OURS = "bayescal"
PANELS: dict[str, dict[str, str]] = {
    "Binned ECE": {
        "ECE, 10 equal-width, bootstrap": "equal-width, bootstrap",
        "ECE, 10 equal-mass, bootstrap": "equal-mass, bootstrap",
        "ECE, 10 equal-mass, basic bootstrap": "equal-mass, basic b.",
    },
    "Debiased ECE (L2)": {
        "debiased ECE, bootstrap": "bootstrap",
        "debiased ECE, Sun et al.": "Sun et al.",
    },
    "SmoothECE": {"SmoothECE, bootstrap": "bootstrap"},
    "ICI": {
        "ICI, loess, bootstrap": "loess, bootstrap",
        "ICI, spline, simulated": "spline, simulated",
    },
}
STYLES = (("#D55E00", "o", "-"), ("#0072B2", "s", "--"), ("#009E73", "^", "-."))
"""Colours that are told apart without sight of colour too, by marker and dashes."""


def chance(share: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Wilson's 95 % interval of a share, as lengths below and above it."""
    z = 1.96
    middle = (share + z**2 / (2 * sets)) / (1 + z**2 / sets)
    half = z * np.sqrt(share * (1 - share) / sets + z**2 / (4 * sets**2)) / (1 + z**2 / sets)
    return np.clip([share - (middle - half), middle + half - share], 0, None)


def draw(path: Path, dpi: int = 120) -> None:
    """Draw and save it."""
    rows = stored("claim")["tables"]["by_size"]["rows"]
    figure, axes = plt.subplots(
        2, 4, figsize=(10, 6), sharex=True, sharey="row", layout="constrained"
    )
    for (title, methods), top, below in zip(PANELS.items(), *axes, strict=True):
        line(top, below, rows, OURS, OURS, ("black", "D", "-"), width=2.4)
        for (name, label), style in zip(methods.items(), STYLES, strict=False):
            line(top, below, rows, name, label, style)
        top.axhspan(0.93, 0.97, color="0.88", lw=0, zorder=0)
        top.set(title=title, ylim=(0, 1.03), xscale="log", xlim=(40, 6500))
        below.set(xlabel="Patients", yscale="log", ylim=(0.006, 0.35))
        below.set_xticks([50, 500, 5000], ["50", "500", "5000"])
        below.minorticks_off()
        below.set_yticks([0.01, 0.02, 0.05, 0.1, 0.2], ["0.01", "0.02", "0.05", "0.1", "0.2"])
        below.legend(fontsize="small", frameon=False, loc="lower left", handlelength=2.6)
        for ax in (top, below):
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(axis="y", color="0.9", lw=0.6)
    axes[0, 0].set_ylabel("Coverage of 95 % intervals")
    axes[1, 0].set_ylabel("Mean width")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi)
    plt.close(figure)


def line(
    top: Any, below: Any, rows: list[Any], name: str, label: str, style: Any, width: float = 1.3
) -> None:
    """One method in both panels; thin dots where its own aim is covered otherwise."""
    colour, marker, dashes = style
    mine = [row for row in rows if row["method"] == name]
    n, share, own, sets, wide = (
        np.array([row[key] for row in mine])
        for key in ("n", "coverage", "own aim", "sets", "width")
    )
    look = {"color": colour, "marker": marker, "ms": 4, "lw": width}
    top.errorbar(n, share, chance(share, sets), ls=dashes, capsize=1.5, elinewidth=0.9, **look)
    if np.abs(own - share).max() > 0.005:
        top.plot(n, own, ls=":", mfc="white", **look | {"lw": 0.9})
    below.plot(n, wide, ls=dashes, label=label, **look)


if __name__ == "__main__":
    draw(Path(__file__).resolve().parents[1] / "paper" / "figure.png", dpi=150)
