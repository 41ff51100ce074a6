"""Intervals, regions and probabilities of draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.text import rounded
from bayescal.posterior.functionals import FUNCTIONALS, NOT_DEFINED

if TYPE_CHECKING:
    import pandas as pd

INTERVALS_ROUNDING = 1e-9
SUMMARY_COLUMNS = ("estimate", "credible interval")


def equal_tailed(values: Floats, ci_prob: float) -> tuple[float, float]:
    """Quantiles that leave the same probability on either side."""
    tail = (1 - ci_prob) / 2
    lower, upper = np.quantile(values, [tail, 1 - tail])
    return float(lower), float(upper)


def share_below(values: Floats, x: float) -> float:
    """Share of the draws below x."""
    return float(np.mean(values < x))


def sure_region(error: Floats, level: float) -> tuple[NDArray[np.int8], float]:
    """The largest set of scores whose sides of the diagonal are sure jointly, and that probability.

    Of errors g - s (draws, rows): 1 where above, -1 where below, 0 where the diagonal cannot be
    ruled out. Scores enter in order of how sure their side is. Bolin & Lindgren (2015), JRSS B 77.
    """
    above, below = (error > 0).mean(axis=0), (error < 0).mean(axis=0)
    side = np.where(above >= below, 1, -1)
    order = np.argsort(-np.maximum(above, below), kind="stable")
    on_side = (error * side > 0)[:, order]
    joint = np.logical_and.accumulate(on_side, axis=1).mean(axis=0)
    size = int(np.count_nonzero(joint >= level))
    region = np.zeros(side.size, dtype=np.int8)
    region[order[:size]] = side[order[:size]]
    return region, float(joint[size - 1]) if size else 1.0


def verdict_of(prob_below: float, ci_prob: float) -> str:
    """What the probability that the true calibration error is below a limit says of it.

    "close enough" or "miscalibrated" with probability (1 + ci_prob) / 2 at least, else "cannot
    tell".
    """
    enough = (1 + ci_prob) / 2 - INTERVALS_ROUNDING
    if prob_below >= enough:
        return "close enough"
    return "miscalibrated" if 1 - prob_below >= enough else "cannot tell"


def summary_rows(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """A summary's estimates and intervals as text, by label, for `SUMMARY_COLUMNS`."""
    rows = {}
    for name, row in table.iterrows():
        ends = row["lower"], row["upper"]
        middle, low, high = rounded((row["estimate"], *ends), *ends, FUNCTIONALS[str(name)].apart)
        rows[FUNCTIONALS[str(name)].label] = middle, f"{low} to {high}"
    for name, why in table.attrs["undefined"].items():
        rows[FUNCTIONALS[name].label] = NOT_DEFINED, why
    return rows


# On either side; it is Jeffreys' prior of which model is right where the two differ.
PRIOR_PATIENTS = 0.5


def among_few(gain: Floats, size: float, cases: float, rng: np.random.Generator) -> Floats:
    """Draws of a mean gain, as if half a patient more had gained and half a patient had lost.

    Resampling patients cannot show what none of them shows: two patients for whom two predictions
    differ, and who gain both, would gain in every draw. So the draws know of half a patient on
    either side. Of many who differ this changes nothing. `size` is what a patient for whom they
    differ typically gains or loses; its sign only says which half a patient is drawn first.
    """
    more, fewer = rng.gamma(PRIOR_PATIENTS, size=(2, gain.size))
    total = rng.gamma(cases, size=gain.size)
    return np.asarray((gain * total + size * (more - fewer)) / (total + more + fewer))
