"""Simulation-based calibration of the default engine: every family, preset and two sizes.

Run `python docs/benchmarks/sbc.py`. Ranks of 1000 truths from the prior must be uniform, for every
coordinate, TCE and the curve at five scores; a configuration that fails at 99 % is run once more
with ten times as many truths, from another seed, and that verdict counts.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path
from typing import Any

from bayescal._base.versions import library_versions
from bayescal.validation import sbc, uniformity
from kept import folder

RESULTS = Path(__file__).parent / "results"
PRESETS = ("neutral", "clinical")
SIZES = (30, 300)
SEED = 20250


def verdict(curve: str, prior: str, n: int, simulations: int, options: Any) -> dict[str, Any]:
    start = time.perf_counter()
    result = sbc(
        curve,
        prior,
        n=n,
        n_simulations=simulations,
        random_state=SEED + simulations,
        n_jobs=options.jobs,
        path=options.path,
    )
    table = uniformity(result, options.prob)
    worst = table["level"].idxmin()
    families = {}
    if "family" in result.coords:
        probability = result["posterior_prob"]
        error = probability.std("simulation") / simulations**0.5
        mean = probability.mean("simulation")
        families = {
            "mean_posterior_prob": mean.to_series().to_dict(),
            "standard_errors_off": ((mean - result["prior_prob"]) / error).to_series().to_dict(),
        }
    return families | {
        "curve": curve,
        "prior": prior,
        "n": n,
        "simulations": simulations,
        "inside": bool(table["inside"].all()),
        "worst": str(worst),
        "worst_at": float(table.loc[worst, "worst_at"]),
        "difference": float(table.loc[worst, "difference"]),
        "joint_level": float(table["joint_level"].min()),
        "levels": {str(name): float(level) for name, level in table["level"].items()},
        "largest_pareto_k": float(result["pareto_k"].max()),
        "pareto_k_above_0.7": float((result["pareto_k"] > 0.7).mean()),
        "seconds": time.perf_counter() - start,
    }


def show(row: dict[str, Any]) -> None:
    print(
        f"{row['curve']:12s} {row['prior']:9s} n={row['n']:<4d} {row['simulations']:6d} truths: "
        f"{'inside ' if row['inside'] else 'OUTSIDE'} joint level {row['joint_level']:.3f} "
        f"({row['worst']} {row['difference']:+.3f} at {row['worst_at']:.2f}); "
        f"k-hat up to {row['largest_pareto_k']:.2f}, {row['seconds']:.0f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--prob", type=float, default=0.99)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--path", default=folder("sbc"), help="folder for finished batches, to resume from"
    )
    parser.add_argument(
        "--curves",
        nargs="+",
        default=["intercept", "temperature", "logistic", "beta", "spline", "average"],
    )
    parser.add_argument("--output", type=Path, default=RESULTS / "sbc.json")
    options = parser.parse_args()
    rows = []
    for curve, prior, n in product(options.curves, PRESETS, SIZES):
        row = verdict(curve, prior, n, options.simulations, options)
        show(row)
        rows.append(row)
        if not row["inside"]:
            again = verdict(curve, prior, n, 10 * options.simulations, options)
            show(again)
            rows.append(again | {"rerun": True})
    final = {(row["curve"], row["prior"], row["n"]): row["inside"] for row in rows}
    print(f"{sum(final.values())} of {len(final)} inside their {100 * options.prob:g} % band.")
    record = {
        "prob": options.prob,
        "versions": library_versions("bayescal", "numpy", "scipy", "arviz-stats"),
        "seconds": sum(row["seconds"] for row in rows),
        "runs": rows,
    }
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
