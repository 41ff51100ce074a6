"""Figures 4, 8 and 9 and Tables 1 and 2 of Gruber & Buettner, of networks trained on Friedman 1.

The networks are those of `friedman`. Three variances are judged on the test cases: as predicted;
after variance scaling, fitted to the validation cases; and what the released notebook judges, the
scaled variances of the validation cases. In the paper the first, fourth and eighth of these figures
and tables are of the Residential Building data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import bayescal as bc
import friedman

EVERY = 50
TABLED = (500, 750, 1000, 1250, 1500, 1750, 2000)
SIDES = ("predicted", "scaled", "released")
MEASURES = ("dss", "mean_variance", "skce", "ratio", "mean_squared_error")
RESIDENTIAL = {
    "MSE": (10.48, 5.87, 4.3, 3.51, 3.12, 2.74, 2.57),
    "mean variance, calibrated": (11.04, 6.89, 5.4, 4.55, 4.11, 3.63, 3.32),
    "mean variance, uncalibrated": (0.83, 0.83, 0.83, 0.83, 0.83, 0.82, 0.82),
    "ratio, calibrated": {
        500: (0.82, 2.17),
        1000: (0.79, 2.43),
        1500: (0.79, 2.56),
        2000: (0.79, 2.59),
    },
    "ratio, uncalibrated": {
        500: (11.33, 30.72),
        1000: (5.36, 15.09),
        1500: (4.07, 12.13),
        2000: (3.51, 11.22),
    },
}
"""Tables 1 and 2 as printed, of the Residential Building data."""

Floats = NDArray[np.float64]


def one_network(seed: int, steps: int, every: int = EVERY) -> tuple[Floats, dict[int, Any]]:
    """Measures of shape (times, sides, measures), and squared errors over variances by step."""
    rng = np.random.default_rng(seed)
    (x, y), (x_val, y_val), (x_test, y_test) = (
        bc.simulate.friedman_1(friedman.CASES, rng)[:2] for _ in range(3)
    )
    network, rows, ratios = friedman.Network(rng), [], {}
    for step in range(1, steps + 1):
        network.step(x, y, step)
        if step % every:
            continue
        of_val = np.column_stack(network.predict(x_val))
        scaling = bc.recalibrate.VarianceRecalibrator().fit(of_val, y_val)
        mean, predicted = network.predict(x_test)
        variances = {
            "predicted": predicted,
            "scaled": scaling.transform(np.column_stack([mean, predicted]))[:, 1],
            "released": scaling.transform(of_val)[:, 1],
        }
        measured = [friedman.measures(y_test, mean, variances[side]) for side in SIDES]
        rows.append([[each[name] for name in MEASURES] for each in measured])
        if step in TABLED:
            ratios[step] = {side: (y_test - mean) ** 2 / variances[side] for side in SIDES}
    return np.array(rows), ratios


def networks(count: int, steps: int, every: int = EVERY) -> dict[str, Any]:
    """Curves of every network, for each measure and side, and the rows of both tables."""
    made = [one_network(seed, steps, every) for seed in range(count)]
    values = np.array([rows for rows, _ in made])
    times = list(range(every, steps + 1, every))
    ratios = {}
    for step in made[0][1]:
        pooled = {side: np.concatenate([r[step][side] for _, r in made]) for side in SIDES}
        ratios[str(step)] = {
            side: {"mean": float(each.mean()), "sd": float(each.std(ddof=1))}
            for side, each in pooled.items()
        }
    return {
        "steps": times,
        "networks": count,
        "curves": {
            name: {side: values[:, :, at, column].tolist() for at, side in enumerate(SIDES)}
            for column, name in enumerate(MEASURES)
        },
        "ratios": ratios,
    }


def mean_at(record: dict[str, Any], name: str, side: str, step: int) -> float:
    """Over networks, of one measure at one step of what `networks` returns."""
    return float(np.mean(record["curves"][name][side], axis=0)[record["steps"].index(step)])
