"""Figures of the explanation pages, simulated afresh whenever the documentation is built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.stats import norm

import bayescal as bc
from bayescal import estimators

DOCS = Path(__file__).resolve().parents[1]
FIGURES = DOCS / "generated" / "figures"

BLUE, ORANGE, GREEN, INK, GREY = "#0072B2", "#D55E00", "#009E73", "#333333", "#999999"
Floats = NDArray[np.float64]


def panels(width: float = 9.0, height: float = 3.6) -> tuple[Axes, Axes]:
    """Two axes side by side."""
    _, axes = plt.subplots(1, 2, figsize=(width, height), layout="constrained")
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return axes[0], axes[1]


def save(ax: Axes, name: str) -> None:
    figure = ax.figure
    figure.savefig(FIGURES / f"{name}.png", dpi=120)
    plt.close("all")


# Lindley: a shift with a normal prior, its estimate normal


INFORMATION = 0.21  # of one patient on the shift, at a risk of 0.3
SLOPE = 0.21  # of TCE in the shift


def prob_no_shift(z: Floats | float, n: Floats | float, scale: Floats | float) -> Floats:
    """Probability of no shift at even odds when its estimate is `z` standard errors from zero."""
    ratio = n * INFORMATION * np.square(scale)
    log_factor = 0.5 * np.log1p(ratio) - 0.5 * np.square(z) * ratio / (1 + ratio)
    return np.asarray(1 / (1 + np.exp(-log_factor)))


def prob_close(shift: float, n: Floats, scale: float, near: float) -> Floats:
    """Probability that the calibration error is below `near`, in the posterior of the shift."""
    error = 1 / np.sqrt(n * INFORMATION)
    shrink = scale**2 / (scale**2 + error**2)
    mean, sd = shrink * shift, np.sqrt(shrink) * error
    limit = near / SLOPE
    return np.asarray(norm.cdf((limit - mean) / sd) - norm.cdf((-limit - mean) / sd))


def draw_lindley() -> None:
    left, right = panels()
    scale = np.geomspace(0.03, 30, 200)
    for z, colour, dashes in ((1.5, BLUE, "-"), (2.5, ORANGE, "--"), (3.5, INK, ":")):
        label = f"z = {z}, p = {2 * norm.sf(z):.2g}"
        left.plot(scale, prob_no_shift(z, 1000, scale), color=colour, ls=dashes, label=label)
    for at, name in ((1, "neutral"), (10, "nearly flat")):
        left.axvline(at, color=GREY, lw=0.8)
        left.text(at * 1.06, 0.46, name, color=INK, fontsize="small", rotation=90)
    left.set(
        xscale="log",
        ylim=(0, 1),
        xlabel="Prior standard deviation of the shift",
        ylabel="P(calibrated), even odds",
        title="1000 patients, the same data, other priors",
    )
    left.legend(frameon=False, fontsize="small", loc="upper left")
    n = np.geomspace(50, 1e6, 300)
    shift = 0.01 / SLOPE
    z = shift * np.sqrt(n * INFORMATION)
    for scale_, dashes in ((1.0, "-"), (10.0, "--")):
        right.plot(n, prob_no_shift(z, n, scale_), color=ORANGE, ls=dashes)
        right.plot(n, prob_close(shift, n, scale_, 0.02), color=BLUE, ls=dashes)
    right.text(4e4, 0.5, "P(calibrated)", color=ORANGE)
    right.text(4e4, 0.92, "P(TCE < 0.02)", color=BLUE)
    right.plot([], [], color=INK, label="prior sd 1")
    right.plot([], [], color=INK, ls="--", label="prior sd 10")
    right.set(
        xscale="log",
        ylim=(0, 1.02),
        xlabel="Patients",
        title="A true calibration error of 0.01",
    )
    right.legend(frameon=False, fontsize="small", loc="lower left")
    save(left, "lindley")


# Estimators: what they say of a model whose error is known


ESTIMATORS: dict[str, tuple[Callable[..., Floats], str, str]] = {
    "ECE, 15 bins of equal width": (lambda y, s: estimators.ece(y, s), INK, "s"),
    "debiased ECE, L2": (lambda y, s: estimators.debiased_ece(y, s), ORANGE, "^"),
    "sweep": (lambda y, s: estimators.sweep_ece(y, s), GREEN, "D"),
    "SmoothECE": (lambda y, s: estimators.smooth_ece(y, s), BLUE, "o"),
}
SIZES = (50, 100, 200, 500, 1000, 2000, 5000)


def simulated(name: str, n: int, replicates: int = 300) -> tuple[Floats, Floats]:
    """Outcomes of shape (replicates, n) at scores that follow their law as closely as n can."""
    truth = bc.simulate.truth(name)
    t = (np.arange(n) + 0.5) / n
    scores, _ = truth.scores.quantiles(t, 1 - t)
    rng = np.random.default_rng(n)
    return (rng.random((replicates, n)) < truth.curve(scores)).astype(float), scores


def draw_estimators() -> None:
    both = panels(9.5, 3.9)
    names = ("clinical-middle-calibrated", "clinical-middle-overconfident")
    for ax, name in zip(both, names, strict=True):
        truth = bc.simulate.truth(name).tce()
        for index, (label, (estimate, colour, marker)) in enumerate(ESTIMATORS.items()):
            result = np.array([estimate(*simulated(name, n)) for n in SIZES])
            low, high = np.quantile(result, [0.05, 0.95], axis=1)
            at = np.array(SIZES) * 1.06 ** (index - 1.5)
            ax.vlines(at, low, high, color=colour, lw=1.2, alpha=0.7)
            ax.plot(at, result.mean(axis=1), marker, color=colour, ms=5, label=label)
        ax.axhline(truth, color=GREY, lw=1, zorder=0, label="the truth")
        ax.set(xscale="log", ylim=(-0.005, 0.24), xlabel="Patients")
        ax.set_xticks(SIZES, [str(n) for n in SIZES], fontsize="small")
        ax.minorticks_off()
        ax.set_title(f"True calibration error {truth:.3f}".replace("0.000", "0"))
    both[0].set_ylabel("Estimate: mean, 5 to 95 %")
    both[1].legend(frameon=False, fontsize="small")
    save(both[0], "estimators")


# Gain: the same map, judged on three sets of patients


def brier_gains(name: str, n: int = 200, runs: int = 100) -> dict[str, Floats]:
    """Mean Brier gain of a beta recalibration by where it is measured, a value for each run."""
    truth = bc.simulate.truth(name)
    _, scores = truth.sample(20_000, random_state=1)
    risk = truth.curve(scores)
    result: dict[str, list[float]] = {}
    for run in range(runs):
        y_true, y_prob = truth.sample(n, random_state=run)
        other_true, other_prob = truth.sample(n, random_state=10_000 + run)
        fitted = bc.recalibrate.BetaRecalibrator().fit(y_prob, y_true)
        crossed = bc.cross_fit(y_true, y_prob, fitted, n_repeats=1, random_state=run)[0]
        for where, y, before, after in (
            ("in-sample", y_true, y_prob, fitted.predict_proba(y_prob)[:, 1]),
            ("cross-fitted", y_true, y_prob, crossed),
            ("held out", other_true, other_prob, fitted.predict_proba(other_prob)[:, 1]),
            ("in truth", risk, scores, fitted.predict_proba(scores)[:, 1]),
        ):
            gain = np.mean((y - before) ** 2 - (y - after) ** 2)
            result.setdefault(where, []).append(float(gain))
    return {where: np.array(values) for where, values in result.items()}


def draw_gain() -> None:
    both = panels(9.0, 3.4)
    names = ("clinical-middle-calibrated", "clinical-middle-overconfident")
    for ax, name in zip(both, names, strict=True):
        result = brier_gains(name)
        rng = np.random.default_rng(0)
        for index, (where, values) in enumerate(reversed(result.items())):
            jitter = index + rng.uniform(-0.18, 0.18, values.size)
            colour = GREY if where == "in truth" else BLUE
            ax.plot(values, jitter, ".", color=colour, ms=4, alpha=0.6)
            ax.plot([values.mean()] * 2, [index - 0.32, index + 0.32], color=ORANGE, lw=2)
        ax.axvline(0, color=INK, lw=0.8)
        ax.set_yticks(range(len(result)), list(result)[::-1])
        ax.set_xlabel("Brier gain of a beta recalibration")
        ax.set_title(f"The model was {name.rsplit('-', 1)[1]}")
    save(both[0], "gain")


def write_figures() -> None:
    """Draw all of them."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    for draw in (
        draw_lindley,
        draw_estimators,
        draw_gain,
    ):
        draw()


if __name__ == "__main__":
    write_figures()
