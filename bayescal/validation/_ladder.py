"""Intervals of the average and of each of its families, from one fit of each."""

from __future__ import annotations

import numpy as np

from bayescal.data.data import CalibrationData
from bayescal.fitting import compare
from bayescal.model.curves import averaged_families
from bayescal.posterior.evaluation import Evaluation
from bayescal.posterior.intervals import equal_tailed

__all__ = ["ladder_intervals"]

DRAWS = 1000


def ladder_intervals(
    data: CalibrationData, rng: np.random.Generator, ci_prob: float, *, draws: int = DRAWS
) -> dict[str, tuple[float, float]]:
    """Intervals of TCE of the average, and of each of its families alone.

    Parameters
    ----------
    draws : int
        Of each family.

    Returns
    -------
    dict of str to (float, float)
        Equal-tailed for the families.
    """
    families = averaged_families()
    ladder = compare(data, curves=families, draws=draws, random_state=rng)
    intervals = {"average": ladder.posterior.interval("tce", ci_prob)}
    for name in families:
        if name != "identity":
            alone = Evaluation(*ladder.of_family(name)).values([("tce", {})], "bootstrap")["tce"]
            intervals[name] = equal_tailed(alone, ci_prob)
    return intervals
