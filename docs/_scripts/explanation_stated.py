"""Is a stated P(calibrated) right? `python docs/_scripts/explanation_stated.py`, some minutes.

Half of the simulated models are calibrated; the others err as competent models do. The table on
the page "What does P(calibrated) mean?" comes from here.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from scipy.special import expit, logit

import bayescal as bc
from bayescal.model.priors import MODEST

DATA_SETS, CASES = 600, 200
SHIFT, LOG_SLOPE = 0.35, 0.3
EDGES = [0.0, 0.5, 0.75, 1.0]


def one_data_set(run: int) -> dict[str, float]:
    """P(calibrated) at even odds under two priors, and whether it is."""
    rng = np.random.default_rng([2026, run])
    calibrated = run % 2 == 0
    _, y_prob = bc.simulate.sample("clinical-middle-calibrated", CASES, random_state=rng)
    log_odds = logit(y_prob)
    shift, log_slope = rng.normal(0, [SHIFT, LOG_SLOPE]) * (not calibrated)
    centre = log_odds.mean()
    risk = expit(centre + shift + np.exp(log_slope) * (log_odds - centre))
    y_true = rng.random(CASES) < risk
    stated = {
        name: bc.compare(
            y_true, y_prob, prior=prior, draws=500, random_state=run
        ).prob_calibrated_at(0.5)
        for name, prior in {"neutral": "neutral", "modest": MODEST}.items()
    }
    return stated | {"calibrated": calibrated}


def main() -> None:
    warnings.simplefilter("ignore")
    runs = pd.DataFrame([one_data_set(run) for run in range(DATA_SETS)])
    tables = {}
    for name in ("neutral", "modest"):
        grouped = runs.groupby(pd.cut(runs[name], EDGES))
        tables[name] = grouped.agg(
            data_sets=(name, "size"), stated=(name, "mean"), calibrated=("calibrated", "mean")
        )
    print(pd.concat(tables, axis=1).rename_axis("stated").round(2).to_string())


if __name__ == "__main__":
    main()
