"""How often intervals of O/E are right of several sites whose patients are measured several times.

Run `python docs/benchmarks/survival_site_clusters.py --runs 200`. Each set has five sites of 40
patients with five measurements each. Patients have a random effect on the log-odds of the risk by
the horizon, sites differ in level, and 40 % leave by their score. O/E with `cluster=` and without
is held against the curve of the population of each site, of the average site, and of a sixth one.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions
from survival_coverage import RESULTS

SEED, DRAWS, SITES, PATIENTS, VISITS = 2057, 400, 5, 40, 5
MEAN, BETWEEN, WITHIN, EFFECT_SD = -1.0, 0.6, 0.9, 1.0
SHIFT, SHIFT_SD = 0.2, 0.3
LEAVING, BY_SCORE, LATEST = 0.6, 0.9, 2.0
AT, WEIGHT = hermegauss(41)
WEIGHT = WEIGHT / WEIGHT.sum()
TOTAL = float(np.hypot(BETWEEN, WITHIN))
CURVES = ("sites", "average site", "next site")
KINDS = {True: "with `cluster=`", False: "without"}


def truth(shift):
    """O/E of a site of this shift, over its patients and the law of the scores."""
    x = MEAN + TOTAL * AT
    curve = WEIGHT @ expit(shift + x + EFFECT_SD * AT[:, None])
    return float(WEIGHT @ curve / (WEIGHT @ expit(x)))


def study(run):
    """Times, whether they are events, risks, sites, patients, and the shift of each site."""
    rng = np.random.default_rng([SEED, run])
    shift = SHIFT + SHIFT_SD * rng.standard_normal(SITES + 1)
    patient = np.repeat(np.arange(SITES * PATIENTS), VISITS)
    site = patient // PATIENTS
    own, effect = rng.standard_normal((2, SITES * PATIENTS))
    x = MEAN + BETWEEN * own[patient] + WITHIN * rng.standard_normal(patient.size)
    z = (x - MEAN) / TOTAL
    g = expit(shift[site] + x + EFFECT_SD * effect[patient])
    event = (-rng.exponential(1, x.size) / np.log1p(-g)) ** np.exp(0.3 * z)
    left = np.minimum(rng.exponential(1, x.size) / (LEAVING * np.exp(BY_SCORE * z)), LATEST)
    return np.minimum(event, left), event <= left, expit(x), site, patient, shift


def one(run):
    """Of each fit and curve: whether the truth is inside, the width and the error."""
    time, event, risk, site, patient, shift = study(run)
    rows = []
    for clustered, kind in KINDS.items():
        how = {"horizon": 1, "groups": site, "draws": DRAWS, "random_state": run}
        if clustered:
            how["cluster"] = patient
        post = bc.fit(bc.Survival(time, event), risk, **how)
        asked = [("sites", post.site(str(k)), shift[k]) for k in range(SITES)]
        asked += [("average site", post.average_site(), SHIFT)]
        asked += [("next site", post.new_site(), shift[-1])]
        for name, view, of_curve in asked:
            row, value = view.summary(names=["observed_expected"]).iloc[0], truth(of_curve)
            inside = bool(row["lower"] <= value <= row["upper"])
            width, error = float(row["upper"] - row["lower"]), float(row["median"] - value)
            rows.append((kind, name, inside, width, error))
    return rows


def summarise(runs):
    """Shares of intervals that hold the truth, mean widths and mean errors of the median."""
    rows = []
    for kind in KINDS.values():
        for curve in CURVES:
            own = [row[2:] for run in runs for row in run if row[:2] == (kind, curve)]
            values = dict(zip(("coverage", "width", "error"), np.mean(own, axis=0), strict=True))
            rows.append({"fit": kind, "curve": curve} | values)
    versions = library_versions("bayescal", "numpy", "scipy")
    return {"versions": versions, "data_sets": len(runs), "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_site_clusters.json")
    options = parser.parse_args()
    runs = []
    for run in range(options.runs):
        runs.append(one(run))
        options.out.write_text(json.dumps(summarise(runs), indent=1) + "\n")


if __name__ == "__main__":
    main()
