"""How often intervals of several sites are right where high risks leave before the horizon.

Run `python docs/benchmarks/survival_sites.py --runs 200`. Each set has five sites with 300 patients
whose curves differ, hazards that are not proportional, and 40 % who leave by their score. O/E and
slope are held against the truth of each site, of the average site, and of a sixth site with a curve
of its own. The same studies without leaving stand beside, as known outcomes.
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
from kept import Rows
from survival_coverage import RESULTS

SEED, DRAWS, SITES, PATIENTS = 2041, 400, 5, 300
MEAN, SPREAD = -1.0, 1.1
SHIFT, SLOPE, SHIFT_SD, SLOPE_SD = -0.45, 0.7, 0.3, 0.1
LEAVING, BY_SCORE, LATEST = 0.6, 0.9, 2.0
MEASURES = ("observed_expected", "calibration_slope")
CURVES = ("sites", "average site", "next site")
AT, WEIGHT = hermegauss(60)
KINDS = {True: "leaving by score", False: "known outcomes"}


def truth(shift, slope):
    """O/E and slope of a curve, over the law of the scores."""
    x, weight = MEAN + SPREAD * AT, WEIGHT / WEIGHT.sum()
    return float(weight @ expit(shift + slope * x) / (weight @ expit(x))), slope


def study(run):
    """Times that would be seen, when each patient leaves, risks, sites, and the curves of sites.

    The last curve is that of a site without patients.
    """
    rng = np.random.default_rng([SEED, run])
    shift = SHIFT + SHIFT_SD * rng.standard_normal(SITES + 1)
    slope = SLOPE * np.exp(SLOPE_SD * rng.standard_normal(SITES + 1))
    site = np.repeat(np.arange(SITES), PATIENTS)
    z = rng.standard_normal(site.size)
    x = MEAN + SPREAD * z
    g = expit(shift[site] + slope[site] * x)
    event = (-rng.exponential(1, x.size) / np.log1p(-g)) ** np.exp(0.7 * z)
    left = rng.exponential(1, x.size) / (LEAVING * np.exp(BY_SCORE * z))
    return event, np.minimum(left, LATEST), expit(x), site, shift, slope


def one(run):
    """Of each study, curve and measure: whether the truth is inside, the width and the error."""
    event, left, risk, site, shift, slope = study(run)
    sites = [truth(*curve) for curve in zip(shift, slope, strict=True)]
    true = {"average site": truth(SHIFT, SLOPE), "next site": sites[-1]}
    rows = []
    for leaves, kind in KINDS.items():
        until = left if leaves else np.full(left.size, LATEST)
        outcome = bc.Survival(np.minimum(event, until), event <= until)
        how = {"horizon": 1, "groups": site, "draws": DRAWS, "random_state": run}
        post = bc.fit(outcome, risk, **how)
        shown = {"average site": post.average_site(), "next site": post.new_site()}
        asked = [(name, view, true[name]) for name, view in shown.items()]
        asked += [("sites", post.site(str(k)), sites[k]) for k in range(SITES)]
        for name, view, values in asked:
            table = view.summary(names=MEASURES)
            for measure, value in zip(MEASURES, values, strict=True):
                row = table.loc[measure]
                inside = bool(row["lower"] <= value <= row["upper"])
                width = float(row["upper"] - row["lower"])
                rows.append((kind, name, measure, inside, width, float(row["median"] - value)))
    return rows


def summarise(runs):
    """Shares of intervals that hold the truth, mean widths and mean errors of the median."""
    rows = []
    for kind in KINDS.values():
        for curve in CURVES:
            for measure in MEASURES:
                key = (kind, curve, measure)
                own = [row[3:] for run in runs for row in run if tuple(row[:3]) == key]
                inside, width, error = np.mean(own, axis=0).tolist()
                rows.append(
                    {
                        "study": kind,
                        "curve": curve,
                        "measure": measure,
                        "coverage": inside,
                        "width": width,
                        "error": error,
                    }
                )
    versions = library_versions("bayescal", "numpy", "scipy")
    return {"versions": versions, "data_sets": len(runs), "rows": rows}


def page_table(results):
    """A row for each kind of study and curve, in Markdown."""
    lines = [
        "| study | curve | O/E: covered | width | slope: covered | width |",
        "|---|---|---|---|---|---|",
    ]
    for kind in KINDS.values():
        for curve in CURVES:
            told = [kind, curve]
            for row in results["rows"]:
                if (row["study"], row["curve"]) == (kind, curve):
                    told += [f"{row['coverage']:.2f}", f"{row['width']:.2f}"]
            lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_sites.json")
    options = parser.parse_args()
    runs = Rows("survival_sites").of("both studies", options.runs, one)
    options.out.write_text(json.dumps(summarise(runs), indent=1) + "\n")


if __name__ == "__main__":
    main()
