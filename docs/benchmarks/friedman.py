"""Figure 9 of Gruber & Buettner: predicted variances while a network is trained, Friedman 1.

    python docs/benchmarks/friedman.py

A network of 10, 200, 50 and 2 nodes (ReLU) predicts mean and log variance; Adam lowers the
Dawid-Sebastiani score on 100 training cases. At every twentieth of 1000 steps variance scaling is
fitted to 100 validation cases, and both variances are judged on 100 test cases, for five networks.
After the last step the posterior of the gain of each stands beside it. Their released code
recalibrates the variances of the validation cases in place of those of the test cases; here those
of the test cases are recalibrated.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import bayescal as bc

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "friedman.json"
FIGURE = HERE.parents[0] / "_static" / "friedman.png"
SIZES, STEPS, EVERY, NETWORKS, CASES = (10, 200, 50, 2), 1000, 20, 5, 100
RATE, MOMENTA, TINY = 1e-3, (0.9, 0.999), 1e-8
BEFORE, AFTER = "#D55E00", "#0072B2"
TITLES = {
    "dss": "Dawid-Sebastiani score",
    "mean_variance": "mean variance; dotted: mean squared error",
    "skce": "squared kernel calibration error",
    "ratio": "squared error / variance",
}
Floats = NDArray[np.float64]


class Network:
    """Layers with ReLU between them, trained by Adam with the score's own gradient."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.weights = []
        for wide, narrow in pairwise(SIZES):
            bound = 1 / np.sqrt(wide)
            for shape in ((wide, narrow), (narrow,)):
                self.weights.append(rng.uniform(-bound, bound, shape))
        self.moments = [np.zeros((2, *w.shape)) for w in self.weights]

    def layers(self, x: Floats) -> list[Floats]:
        values = [x]
        for at in range(0, len(self.weights), 2):
            inner = values[-1] @ self.weights[at] + self.weights[at + 1]
            values.append(inner if at == len(self.weights) - 2 else np.maximum(inner, 0))
        return values

    def predict(self, x: Floats) -> tuple[Floats, Floats]:
        """Means and variances."""
        mean, log_variance = self.layers(x)[-1].T
        return mean, np.exp(log_variance)

    def step(self, x: Floats, y: Floats, number: int) -> None:
        values = self.layers(x)
        mean, log_variance = values[-1].T
        scaled = (mean - y) / np.exp(log_variance)
        flow = np.column_stack([2 * scaled, 1 - scaled * (mean - y)]) / y.size
        gradients: list[Floats] = []
        for at in range(len(self.weights) - 2, -1, -2):
            gradients[:0] = [values[at // 2].T @ flow, flow.sum(axis=0)]
            flow = (flow @ self.weights[at].T) * (values[at // 2] > 0)
        for weight, moment, gradient in zip(self.weights, self.moments, gradients, strict=True):
            for order, decay in enumerate(MOMENTA):
                moment[order] += (1 - decay) * (gradient ** (order + 1) - moment[order])
            first, second = (m / (1 - d**number) for m, d in zip(moment, MOMENTA, strict=True))
            weight -= RATE * first / (np.sqrt(second) + TINY)


def measures(y: Floats, mean: Floats, variance: Floats) -> dict[str, float]:
    square = (y - mean) ** 2
    return {
        "dss": bc.scores.dawid_sebastiani_score(y, mean, variance),
        "mean_variance": float(variance.mean()),
        "skce": bc.scores.gaussian_skce(y, mean, variance),
        "ratio": float((square / variance).mean()),
        "mean_squared_error": float(square.mean()),
    }


def one_network(seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What every twentieth step gives before and after scaling, and the gain at the end."""
    rng = np.random.default_rng(seed)
    (x, y), (x_val, y_val), (x_test, y_test) = (
        bc.simulate.friedman_1(CASES, rng)[:2] for _ in range(3)
    )
    network, rows = Network(rng), []
    for number in range(1, STEPS + 1):
        network.step(x, y, number)
        if number % EVERY:
            continue
        scaling = bc.recalibrate.VarianceRecalibrator()
        scaling.fit(np.column_stack(network.predict(x_val)), y_val)
        mean, before = network.predict(x_test)
        after = scaling.transform(np.column_stack([mean, before]))[:, 1]
        sides = {"before": measures(y_test, mean, before), "after": measures(y_test, mean, after)}
        rows.append({"step": number, "slope": scaling.slope_} | sides)
    gains = {}
    for method in ("bootstrap", "gaussian"):
        gain = bc.variance_gain(y_test, mean, before, after, method=method, random_state=seed)
        gains[method] = gain.summary().to_dict("index") | {"prob_improved": gain.prob_improved}
    return rows, gains


def rounded(value: Any) -> Any:
    """The same with five significant digits of each number."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def draw(runs: list[list[dict[str, Any]]]) -> None:
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
    steps = [row["step"] for row in runs[0]]
    for ax, (name, title) in zip(axes.flat, TITLES.items(), strict=True):
        for side, colour, label in (
            ("before", BEFORE, "as predicted"),
            ("after", AFTER, "after variance scaling"),
        ):
            values = np.array([[row[side][name] for row in run] for run in runs])
            for line in values:
                ax.plot(steps, line, color=colour, linewidth=0.6, alpha=0.45)
            ax.plot(steps, values.mean(axis=0), color=colour, linewidth=2, label=label)
        if name == "mean_variance":
            values = np.array(
                [[row["before"]["mean_squared_error"] for row in run] for run in runs]
            )
            ax.plot(steps, values.mean(axis=0), color="#333333", linestyle=":", linewidth=1.6)
        if name != "skce" and name != "dss":
            ax.set_yscale("log")
        ax.set_title(title, loc="left", fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylim(2, 14)
    axes[1, 1].axhline(1, color="#999999", linewidth=0.8)
    axes[0, 0].legend(frameon=False, loc="upper center")
    for ax in axes[1]:
        ax.set_xlabel("training step")
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, dpi=110)


def main() -> None:
    plt.switch_backend("Agg")
    runs, gains = zip(*(one_network(seed) for seed in range(NETWORKS)), strict=True)
    draw(list(runs))
    record = rounded({"runs": runs, "gains": gains})
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")
    for row, gain in zip((run[-1] for run in runs), gains, strict=True):
        for side in ("before", "after"):
            print(side, {name: round(value, 3) for name, value in row[side].items()})
        for method, table in gain.items():
            mean, _, lower, upper = table["dss_gain"].values()
            print(f"  {method}: gain {mean:.2f} ({lower:.2f} to {upper:.2f})")


if __name__ == "__main__":
    main()
