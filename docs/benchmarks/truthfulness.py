"""Which measures reward a lie? `python docs/benchmarks/truthfulness.py`.

A forecaster knows the exact risk of each case. Told honestly, predictions are calibrated. Told as
one of three values, each the mean risk of a third of the cases, they are calibrated too, and say
less. A measure is truthful if honesty does not look worse. Means over data sets of 200 cases.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta

import bayescal as bc
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED, CASES, DRAWS = 34_005, 200, 1000
SHAPE = (1.0, 1.0)
"""Of the Beta law of the risks."""
EDGES = beta.ppf([0, 1 / 3, 2 / 3, 1], *SHAPE)
VALUES = 3 * np.diff(beta.cdf(EDGES, SHAPE[0] + 1, SHAPE[1])) * SHAPE[0] / sum(SHAPE)
"""Mean risk of each third."""


def posterior_error(y: Any, s: Any) -> float:
    """The estimate of the averaged posterior."""
    return bc.fit(y, s, draws=DRAWS, random_state=1).estimate("tce")


MEASURES: dict[str, Callable[..., Any]] = {
    "ECE, 10 bins": lambda y, s: bc.estimators.ece(y, s, n_bins=10),
    "SmoothECE": bc.estimators.smooth_ece,
    "debiased ECE": lambda y, s: bc.estimators.debiased_ece(y, s, p=1),
    "kuiper_error": bc.estimators.kuiper_error,
    "TCE of the averaged posterior": posterior_error,
    "ATB, its root": lambda y, s: bc.estimators.averaged_two_bin_error(y, s) ** 0.5,
    "ATB": bc.estimators.averaged_two_bin_error,
    "Brier score": bc.scores.brier_score,
}


def told(run: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Outcomes, and predictions told honestly or as one of three values."""
    rng = np.random.default_rng([SEED, run])
    risk = rng.beta(*SHAPE, CASES)
    y = (rng.random(CASES) < risk).astype(int)
    third = np.clip(np.searchsorted(EDGES, risk) - 1, 0, 2)
    return {"exact risks": (y, risk), "three values": (y, VALUES[third])}


def measured(run: int) -> dict[str, list[float]]:
    """Each measure of one set, told honestly and as one of three values."""
    ways = told(run).values()
    return {name: [float(measure(*each)) for each in ways] for name, measure in MEASURES.items()}


def rows_of(runs: int) -> list[dict[str, Any]]:
    """Means of each measure, the difference with its standard error, and how often honesty wins."""
    sets, rows = Rows("truthfulness").of("all", runs, measured), []
    for name in MEASURES:
        honest, lie = np.array([each[name] for each in sets]).T
        less = honest - lie
        rows.append(
            {
                "measure": name,
                "sets": len(sets),
                "honest": float(honest.mean()),
                "lie": float(lie.mean()),
                "difference": float(less.mean()),
                "error": float(less.std(ddof=1) / np.sqrt(less.size)),
            }
        )
    return rows


def page_table(rows: list[dict[str, Any]]) -> str:
    """Rows of a table in Markdown."""
    lines = ["| measure | exact risks | three values | difference |", "|---|---|---|---|"]
    for row in rows:
        digits = 6 if row["measure"] == "ATB" else 4
        honest, lie, error = (f"{row[key]:.{digits}f}" for key in ("honest", "lie", "error"))
        difference = f"{row['difference']:+.{digits}f} ± {error}"
        lines.append(f"| {row['measure']} | {honest} | {lie} | {difference} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=RESULTS / "truthfulness.json")
    options = parser.parse_args()
    options.out.write_text(json.dumps(rows_of(options.runs), indent=1) + "\n")


if __name__ == "__main__":
    main()
