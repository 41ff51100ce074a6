"""What updating a model would gain in the last period."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.arrays import Floats
from bayescal.model.problem import Problem
from bayescal.posterior.population import draw_population

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["gain_of_maps"]


def gain_of_maps(
    problem: Problem, curves: Floats, maps: dict[str, Floats], ci_prob: float
) -> pd.DataFrame:
    """Gain of replacing scores by a map of them, if events have the probabilities of a curve.

    Parameters
    ----------
    problem : Problem
        Whose scores are replaced.
    curves : ndarray of shape (draws, rows)
        Draws of the probability of an event at each score.
    maps : dict of str to ndarray of shape (rows,)
        Recalibrated scores.
    ci_prob : float

    Returns
    -------
    pandas.DataFrame
        Index: (map, score). Columns: mean, lower, upper, prob_gain.
    """
    import pandas as pd

    score = problem.score
    gains: dict[tuple[str, str], list[Floats]] = {
        (name, rule): [] for name in maps for rule in RULES
    }
    for part, population in draw_population(
        "bootstrap", score, problem.trials, len(curves), problem.rng("population")
    ):
        for (name, rule), blocks in gains.items():
            lost = RULES[rule](curves[part], score) - RULES[rule](curves[part], maps[name])
            blocks.append((population.weight * lost).sum(axis=-1))
    tail = (1 - ci_prob) / 2
    rows = {}
    for key, blocks in gains.items():
        gain = np.concatenate(blocks)
        lower, upper = np.quantile(gain, [tail, 1 - tail])
        rows[key] = {
            "mean": gain.mean(),
            "lower": lower,
            "upper": upper,
            "prob_gain": (gain > 0).mean(),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["map", "score"])
    return table


def _brier(curve: Floats, score: Floats) -> Floats:
    """Expected Brier score, up to what does not depend on the score."""
    return np.asarray((curve - score) ** 2)


def _log_score(curve: Floats, score: Floats) -> Floats:
    """Expected log score."""
    return np.asarray(-curve * np.log(score) - (1 - curve) * np.log1p(-score))


RULES = {"brier": _brier, "log_score": _log_score}
