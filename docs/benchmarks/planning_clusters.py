"""Planned sizes of studies of clusters and of sites: `python docs/benchmarks/planning_clusters.py`.

Sizes are planned by `bayescal.plan` with `icc=` and `cluster_size=`, or with `sites=` and
`heterogeneity=`. Then studies of each size are drawn case by case and analysed with
`bayescal.fit(..., cluster=)` or `bayescal.fit(..., vary="site")`. Cases of one cluster share an
effect on the log-odds, whose intra-cluster correlation is measured on many clusters. The model is
calibrated for the population. Results are kept cell by cell, so that a run that was stopped goes on
where it was.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import bayescal as bc
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "planning_clusters.json"
MEAN, SPREAD, FRAILTY = -1.6, 1.1, 0.7
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
ASSURANCE, DRAWS = 0.8, 1000
UNEQUAL = [4, 8, 12, 20, 36, 60]
BETWEEN = {"shift": 0.3, "log_slope": 0.15}

CLUSTERS: dict[str, dict[str, Any]] = {
    "O/E, clusters of 10": {"of": "observed_expected", "width": 0.3, "cluster_size": 10},
    "O/E, clusters of 40": {"of": "observed_expected", "width": 0.4, "cluster_size": 40},
    "O/E, clusters of 4 to 60": {"of": "observed_expected", "width": 0.4, "cluster_size": UNEQUAL},
    "slope, clusters of 40": {"of": "calibration_slope", "width": 0.4, "cluster_size": 40},
    "TCE, clusters of 10": {"of": "tce", "width": 0.06, "cluster_size": 10},
}
SITES: dict[str, dict[str, Any]] = {
    "O/E of the average site": {"of": "observed_expected", "width": 0.5, "sites": 12},
    "slope of the average site": {"of": "calibration_slope", "width": 0.6, "sites": 12},
    "TCE of the average site": {"of": "tce", "width": 0.08, "sites": 12},
    "O/E of the next site": {
        "of": "observed_expected", "width": 1.3, "sites": 12, "population": "new site",
    },
}  # fmt: skip


def scores_of(x: np.ndarray) -> np.ndarray:
    """Risk of the population at log-odds of the median cluster."""
    return np.asarray(WEIGHTS @ expit(x + FRAILTY * NODES[:, None]))


def sizes(total: int, cluster_size: Any) -> np.ndarray:
    """Cluster of each case, of clusters of these sizes by turns."""
    each = np.atleast_1d(cluster_size)
    return np.repeat(np.arange(total), np.resize(each, total))[:total]


def clustered(n: int, cluster_size: Any, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Outcomes, scores and clusters of one study."""
    cluster = sizes(n, cluster_size)
    x = MEAN + SPREAD * rng.standard_normal(n)
    effect = FRAILTY * rng.standard_normal(cluster[-1] + 1)
    outcome = (rng.random(n) < expit(x + effect[cluster])).astype(int)
    return outcome, scores_of(x), cluster


def correlation() -> float:
    """Of the residuals of two cases of one cluster, in 400,000 clusters of two."""
    y, s, _ = clustered(800_000, 2, np.random.default_rng(1))
    pairs = (y - s).reshape(-1, 2)
    return float(pairs.prod(axis=1).mean() / (pairs**2).mean())


def of_sites(n: int, number: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Outcomes, scores and sites of one study."""
    site = rng.integers(0, number, n)
    x = MEAN + SPREAD * rng.standard_normal(n)
    shift = BETWEEN["shift"] * rng.standard_normal(number)
    slope = np.exp(BETWEEN["log_slope"] * rng.standard_normal(number))
    outcome = rng.random(n) < expit(MEAN + shift[site] + slope[site] * (x - MEAN))
    return outcome.astype(int), expit(x), site


def width_of(cell: dict[str, Any], n: int, seed: int) -> float:
    """The width of the interval in one study, analysed as planned."""
    rng = np.random.default_rng([seed, n])
    options: dict[str, Any] = {"curve": "logistic", "draws": DRAWS, "random_state": seed}
    if "sites" in cell:
        y, s, site = of_sites(n, cell["sites"], rng)
        sites = bc.fit(bc.CalibrationData(y, s, site=site), vary="site", **options)
        post = sites.new() if cell.get("population") == "new site" else sites.average()
    else:
        y, s, cluster = clustered(n, cell["cluster_size"], rng)
        post = bc.fit(y, s, cluster=cluster, **options)
    lower, upper = post.interval(cell["of"])
    return float(upper - lower)


def planned(**goal: Any) -> tuple[int, float | None]:
    """The planned size, and its Monte Carlo error."""
    result = bc.plan(**goal)
    return result.n, result.monte_carlo_error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--studies-of-sites", type=int, default=60)
    options = parser.parse_args()
    kept: dict[str, Any] = {}
    finished = Rows("planning_clusters")
    icc = correlation()
    x = MEAN + SPREAD * np.random.default_rng(2).standard_normal(4000)
    truth = bc.simulate.truth("calibrated")
    common: dict[str, Any] = {
        "truth": truth, "assurance": ASSURANCE, "analysis": "curve", "curve": "logistic",
        "n_jobs": 1, "random_state": 1,
    }  # fmt: skip
    for name, cell in (CLUSTERS | SITES).items():
        is_sites = "sites" in cell
        own: dict[str, Any] = {"n_simulations": 50, "heterogeneity": BETWEEN}
        if not is_sites:
            own = {"n_simulations": 400, "icc": icc}
        planning = partial(
            planned, scores=expit(x) if is_sites else scores_of(x), **common, **own, **cell
        )
        n, error = finished.cell(f"{name}, plan", planning)
        studies = options.studies_of_sites if is_sites else options.studies
        widths = np.array(finished.of(name, studies, partial(width_of, cell, n)))
        share = float(np.mean(widths <= cell["width"]))
        kept[name] = {
            "width": cell["width"],
            "n": n,
            "n_error": error,
            "studies": studies,
            "share": share,
            "share_error": float(np.sqrt(max(share * (1 - share), 0.01) / studies)),
            "mean_width": float(widths.mean()),
            "assured_width": float(np.quantile(widths, ASSURANCE)),
            "icc": None if is_sites else icc,
        }
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
