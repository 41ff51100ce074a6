"""Are the numbers of one table true? Populations with a known curve, by kind and size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import bayescal as bc
from populations import KINDS, drawn
from record import Row, judged, means, run, stated

ASKED = (
    "Do 95 % intervals of one table hold the true value, how narrow are they, and are stated "
    "probabilities true?"
)
SIZES = (100, 300, 1000, 4000)
NUMBERS = {
    "TCE": "tce",
    "E90": "e90",
    "largest error": "emax",
    "O/E": "observed_expected",
    "slope": "calibration_slope",
    "in the large": "calibration_in_the_large",
}
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles of the scores at which the curve is read."""
LIMITS = (0.02, 0.05)


class Study(NamedTuple):
    """One data set with its truth, and our posterior."""

    kind: str
    n: int
    truth: Any
    y: np.ndarray
    s: np.ndarray
    post: Any


@cache
def studies(seed: int, repeats: int) -> tuple[Study, ...]:
    """Every kind at every size, each population new; fitted once for all tables."""
    made = []
    for n in SIZES:
        for kind in KINDS:
            for index in range(repeats):
                truth, rng = drawn(kind, n, index, seed)
                y, s = truth.sample(n, rng)
                if 3 <= y.sum() <= n - 3:
                    post = bc.fit(y, s, draws=1000, random_state=index)
                    made.append(Study(truth.name, n, truth, y, s, post))
        print(f"  {n} cases: {len(made)} fits so far", flush=True)
    return tuple(made)


def intervals(seed: int, repeats: int) -> Iterator[Row]:
    """Every interval of every study."""
    at = np.array(LEVELS)
    for it in studies(seed, repeats):
        for title, name in NUMBERS.items():
            true = it.truth.functional(name)
            labels = {"number": title, "kind": it.kind, "n": it.n}
            yield judged(it.post.interval(name), 0.0 if abs(true) < 1e-9 else true, **labels)
        s = it.truth.scores.quantiles(at, 1 - at)[0]
        draws = it.post.curve(s).to_numpy().reshape(-1, s.size)
        for true, each in zip(it.truth.curve(s), draws.T, strict=True):
            ends = np.quantile(each, [0.025, 0.975])
            yield judged(ends, true, number="curve at a score", kind=it.kind, n=it.n)


def by_size(seed: int, repeats: int) -> list[Row]:
    """Intervals by size

    95 % intervals of each number, over all kinds of populations. The interval score is the width
    and 40 times what is missed: lower is better.
    """
    return means(intervals(seed, repeats), "number", "n")


def by_kind(seed: int, repeats: int) -> list[Row]:
    """Intervals by kind of population

    Over all sizes. In a calibrated population the true errors are 0, which is an end of the range,
    so that their intervals hold it or do not for another reason than elsewhere.
    """
    return means(intervals(seed, repeats), "number", "kind")


def probabilities(seed: int, repeats: int) -> list[Row]:
    """Stated probabilities

    The mean of what was said in a bin, and the share of these statements that were true, with
    their number. A Brier score below that of the base rate says that the statements tell studies
    apart.
    """

    def pairs() -> Iterator[tuple[str, float, bool]]:
        for it in studies(seed, repeats):
            tce = it.truth.functional("tce")
            slope = it.truth.functional("calibration_slope")
            ratio = it.truth.functional("observed_expected")
            for limit in LIMITS:
                yield f"TCE < {limit:g}", it.post.prob_below(limit), tce < limit
            draws = it.post.functional("calibration_slope").to_numpy()
            yield "slope < 0.9", float((draws < 0.9).mean()), slope < 0.9
            draws = it.post.functional("observed_expected").to_numpy()
            yield "O/E > 1.05", float((draws > 1.05).mean()), ratio > 1.05

    return stated(pairs())


PARTS = {by_size: 30, by_kind: 30, probabilities: 30}


def main(arguments: Any = None) -> None:
    run("coverage", ASKED, PARTS, 57_001, arguments)


if __name__ == "__main__":
    main()
