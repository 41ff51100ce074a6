"""The curve that is drawn, where it falls, what its band covers: `docs/benchmarks/ends_drawn.py`.

Curves of an average are moved before they are drawn, so that their mean passes gradually from cell
to cell and rises, unless a jump or a fall is probable. Every data set is evaluated twice: the draws
as they are (`plain`), and as they are drawn and predict (`drawn`). Results are in `results/ends/`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit, logit

import bayescal as bc
from bayescal.validation.simulate import LogitNormalScores, Truth
from ends import RESULTS, store
from truths import on_log_odds

SEED = 80_028
RUNS, SETS_OF_GROUPS, GROUPS = 100, 25, 4
SIZES = (1000, 5000)
GROUPED = (800, 2000)
"""Patients of a set that is split at random into groups."""
DRAWS = 1000
SCORES = LogitNormalScores(-0.3, 1.4)
AT = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
GRID = np.linspace(0.005, 0.995, 199)
STEP, NEAR = 0.2, 0.25
"""Log-odds at which curves jump, and how near to it scores are counted apart."""


def truth(name: str, curve: Callable[[np.ndarray], np.ndarray]) -> Truth:
    return Truth(name, name, SCORES, on_log_odds(curve))


ROUGH = (
    truth("jump up", lambda x: x + (x > STEP)),
    truth("jump down", lambda x: x - (x > STEP)),
    truth("wave", lambda x: x + 0.8 * np.sin(2.2 * x)),
)
RISING = (
    truth("calibrated", lambda x: x),
    truth("overconfident", lambda x: 0.75 * x),
    truth("too low", lambda x: x + 0.35),
    truth("underconfident", lambda x: 1.2 * x - 0.2),
    truth("bent", lambda x: x + 0.25 * np.tanh(x)),
)


class Case(NamedTuple):
    """Outcomes and scores of one fit."""

    y: np.ndarray
    s: np.ndarray


def one_set(known: Truth, n: int, run: int) -> Iterator[Case]:
    """One data set."""
    yield Case(*known.sample(n, stream(known, n, run)))


def groups(known: Truth, n: int, run: int) -> Iterator[Case]:
    """A data set of a random number of patients, split at random into groups."""
    rng = stream(known, n, run)
    y, s = known.sample(int(rng.integers(*GROUPED)), rng)
    group = rng.integers(0, GROUPS, y.size)
    for number in range(GROUPS):
        yield Case(y[group == number], s[group == number])


def stream(known: Truth, n: int, run: int) -> np.random.Generator:
    return np.random.default_rng([SEED, n, run, *known.name.encode()])


def of_case(known: Truth, case: Case) -> dict[str, float]:
    """Of the plain and of the drawn curve: error of the mean, largest fall, coverage of bands."""
    post = bc.compare(*case, draws=DRAWS, random_state=1).posterior
    grid = GRID[(case.s.min() <= GRID) & (case.s.max() >= GRID)]
    at = np.concatenate([grid, [known.score_quantile(level) for level in AT], post.problem.score])
    of_grid, of_levels = slice(0, grid.size), slice(grid.size, grid.size + len(AT))
    of_cases = slice(grid.size + len(AT), at.size)
    weight = post.problem.trials / post.problem.n
    near = np.abs(logit(post.problem.score) - STEP) < NEAR
    true, row = known.curve(at), {"patients": float(case.y.size)}
    for version, draws in {
        "plain": post.problem.probability(post._drawn.u, at),
        "drawn": post.curve(at).to_numpy().reshape(-1, at.size),
    }.items():
        mean, (lower, upper) = draws.mean(axis=0), np.quantile(draws, [0.025, 0.975], axis=0)
        inside = (lower <= true) & (true <= upper)
        drawn = mean[of_grid]
        row |= {
            f"{version}_fall": float((np.maximum.accumulate(drawn) - drawn).max()),
            f"{version}_error": float(weight @ np.abs(mean - true)[of_cases]),
            f"{version}_covered": float(weight @ inside[of_cases]),
            f"{version}_covered_away": float(
                np.average(inside[of_cases][~near], weights=weight[~near])
            ),
            f"{version}_width": float(weight @ (upper - lower)[of_cases]),
        }
        row |= {
            f"{version}_at_{level:g}": float(c)
            for level, c in zip(AT, inside[of_levels], strict=True)
        }
    sides = expit(np.array([STEP - NEAR, STEP + NEAR]))
    steps = post.curve(sides).to_numpy().reshape(-1, 2).mean(axis=0)
    row["step"], row["true_step"] = float(np.diff(steps)[0]), float(np.diff(known.curve(sides))[0])
    return row


def batch(make, known: Truth, n: int, run: int) -> list[dict[str, object]]:
    warnings.simplefilter("ignore")
    names = {"population": known.name, "n": n, "run": run}
    return [names | of_case(known, case) for case in make(known, n, run)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="of each cell")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    work = [(one_set, known, n, k) for n in SIZES for known in ROUGH for k in range(options.runs)]
    sets = max(1, options.runs * SETS_OF_GROUPS // (RUNS * len(RISING)))
    work += [(groups, known, 0, k) for known in RISING for k in range(sets)]
    parts = Parallel(n_jobs=options.jobs, verbose=1)(delayed(batch)(*each) for each in work)
    store([row for rows in parts for row in rows], options.output / "drawn.npz")


if __name__ == "__main__":
    main()
