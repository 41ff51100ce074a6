"""Whether printed digits are the same with another seed: `docs/benchmarks/digits.py`.

Every data set is compared ten times, with ten seeds; the summary of each is stored in
`results/digits.npz`. `docs/_scripts/digits_page.py` counts in how many rows the printed numbers
differ by at most one unit of their last digit.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import bayescal as bc
from bayescal._base.text import rounded
from bayescal.validation.simulate import BetaScores, LogitNormalScores, Truth
from ends import store
from ends_populations import POPULATIONS
from truths import RoundedScores, on_log_odds

RESULTS = Path(__file__).parent / "results"
SEED, SETS, SEEDS = 80_029, 4, 10
SHOWN = ("estimate", "lower", "upper")


class Kind(NamedTuple):
    """A population, and the number of patients of its data sets."""

    truth: Truth
    n: int


def linear(name: str, scores, shift: float = 0, slope: float = 1) -> Truth:
    return Truth(name, name, scores, on_log_odds(lambda x: shift + slope * x))


def of_ends(name: str) -> Truth:
    return next(truth for truth in POPULATIONS if truth.name == name)


CLINICAL = LogitNormalScores(-1.5, 1.1)
KINDS = (
    Kind(linear("too low", LogitNormalScores(-0.5, 1.2), 0.2, 0.8), 200),
    Kind(linear("calibrated", CLINICAL), 1000),
    Kind(linear("overconfident", CLINICAL, 0.3, 0.7), 1000),
    Kind(linear("rare events", LogitNormalScores(-4.0, 0.9), -0.2), 3000),
    Kind(linear("nearly calibrated", CLINICAL, 0.05, 0.95), 100_000),
    Kind(of_ends("softened network, noise"), 1000),
    Kind(of_ends("label noise"), 30_000),
    Kind(linear("a chart of 13 values", RoundedScores(12, 0.35), 0.1, 0.9), 800),
    Kind(linear("wide scores", BetaScores(0.6, 1.1), 0, 0.85), 5000),
)


def data_set(kind: Kind, run: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([SEED, kind.n, run, *kind.truth.name.encode()])
    return kind.truth.sample(kind.n, rng)


def of_seeds(kind: Kind, run: int) -> list[dict[str, object]]:
    """The summary of one data set under each seed."""
    warnings.simplefilter("ignore")
    y, s = data_set(kind, run)
    rows = []
    for seed in range(SEEDS):
        summary = bc.compare(y, s, random_state=seed).posterior.summary()
        names = {"kind": kind.truth.name, "n": kind.n, "run": run, "seed": seed}
        rows += [
            names | {"row": str(name)} | {part: float(row[part]) for part in SHOWN}
            for name, row in summary.iterrows()
        ]
    return rows


def steadiness(
    table: pd.DataFrame, shown: Callable[..., tuple[str, ...]] = rounded
) -> pd.DataFrame:
    """Of each row of each data set, by how much its printed numbers differ between seeds.

    Parameters
    ----------
    table : pandas.DataFrame
        As `of_seeds` gives it.
    shown : callable
        Numbers, lower and upper end to the numbers as printed.

    Returns
    -------
    pandas.DataFrame
        `units`, the largest difference in units of the last digit (of the coarser, if two seeds
        differ in it), and `share`, that of the ends before rounding over the interval's length.
    """
    rows = {}
    for key, seeds in table.groupby(["kind", "n", "run", "row"], sort=False):
        printed = [shown(tuple(row), *row[1:]) for row in seeds[list(SHOWN)].to_numpy()]
        places = min(len(text[0].partition(".")[2]) for text in printed)
        ranges = np.ptp(np.array(printed, dtype=float), axis=0)
        length = (seeds["upper"] - seeds["lower"]).mean()
        moved = max(np.ptp(seeds["lower"]), np.ptp(seeds["upper"]))
        rows[key] = {"units": round(float(ranges.max()) * 10**places), "share": moved / length}
    index = pd.MultiIndex.from_tuples(rows, names=["kind", "n", "run", "row"])
    return pd.DataFrame(rows.values(), index)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=SETS, help="of each kind")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    work = [partial(of_seeds, kind, run) for kind in KINDS for run in range(options.sets)]
    parts = Parallel(n_jobs=options.jobs, verbose=1)(delayed(each)() for each in work)
    store([row for rows in parts for row in rows], options.output / "digits.npz")


if __name__ == "__main__":
    main()
