"""Coverage of TCE at several sites, exact calibration included.

Run `python docs/benchmarks/sites_tce.py`. The data sets are those of `sites.py`. The lower ends of
intervals of the TCE of the average site and of a new one are by the reading that gives exact
calibration its probability: how often do the intervals cover, and how large is that probability?
"""

from __future__ import annotations

import numpy as np

import bayescal as bc
import sites


def one_run(size: int, spread: float, truth: str, seed: int) -> sites.Run:
    """Coverage of both intervals, and the probabilities of exact calibration."""
    _, new_at, outcome, score, site = sites.draw(size, spread, truth, seed)
    labels = np.array([f"{k:03}" for k in range(size)])[site]
    data = bc.CalibrationData(outcome, score, site=labels)
    post = bc.fit(data, vary=sites.NORMAL, curve="logistic", random_state=seed)
    row, population = {}, np.array([sites.POPULATION[truth]])
    views = {"average": (post.average_site(), population), "new": (post.new_site(), new_at)}
    for name, (view, at) in views.items():
        error = np.abs(sites.curve(at, np.sort(score)) - np.sort(score)).mean(axis=1)
        lower, upper = view.interval("tce", population="sample")
        row[f"{name}.tce"] = float(np.mean((lower <= error) & (error <= upper)))
        row[f"{name}.calibrated"] = float(view.prob_calibrated)
    return row


if __name__ == "__main__":
    sites.run_cells("sites_tce", one_run)
