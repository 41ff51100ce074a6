"""Ordered periods: why their curves differ, when they changed, and what an update now gains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.arrays import Floats, blocks
from bayescal.multilevel.changes import explanation_prior, explanation_probabilities
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.posterior.imputed import mixed
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["gains_of_updating", "probabilities_of", "steps_of", "when_changed"]


def probabilities_of(each: Sequence[MultilevelDraws]) -> Floats:
    """Probability of no change, of a sudden one into each period, and of gradual ones."""
    return np.asarray(np.mean([explanation_probabilities(drawn) for drawn in each], axis=0))


def when_changed(each: Sequence[MultilevelDraws], delta: float) -> pd.DataFrame:
    """The table of `MultilevelPosterior.when_changed`, of the draws of each imputation."""
    import pandas as pd

    labels = each[0].problem.axes[each[0].problem.terms[0].name]
    steps = np.concatenate([steps_of(drawn) for drawn in each], axis=1)
    explanation = np.concatenate([drawn.explanation for drawn in each if _known(drawn)])
    counted, walk = steps.max(axis=0) > delta, explanation == len(labels)
    prob = np.bincount(steps.argmax(axis=0)[counted & walk], minlength=len(steps)) / counted.size
    sudden, changed = _into(each), (explanation > 0) & ~walk
    for into, share in enumerate(sudden, 1):
        own = explanation == into
        some = counted[own if own.any() else changed]
        prob[into - 1] += share * changed.mean() * some.mean() if some.size else 0.0
    with np.errstate(invalid="ignore"):
        by_then = prob.cumsum() / prob.sum()
    columns = {
        "prob": prob,
        "by_then": by_then,
        "if_sudden": sudden,
        "within_one": np.convolve(sudden, np.ones(3))[1:-1],
    }
    return pd.DataFrame(columns, pd.Index(labels[1:], name="period"))


def _known(drawn: MultilevelDraws) -> bool:
    return drawn.explanation is not None


def _into(each: Sequence[MultilevelDraws]) -> Floats:
    """Probability of a sudden change into each period but the first, given one; all alike."""
    weight = (probabilities_of(each) / explanation_prior(each[0].problem))[1:-1]
    return np.asarray(weight / weight.sum())


def steps_of(drawn: MultilevelDraws) -> Floats:
    """Mean distance of the curves of neighbouring periods, over the scores of all periods.

    Of shape (periods - 1, draws), zero in draws without a change.
    """
    pooled, periods = drawn.problem.pooled, drawn.in_order()
    assert drawn.explanation is not None
    weight = pooled.trials / pooled.trials.sum()
    steps = np.zeros((len(periods) - 1, periods.shape[1]))
    moved = np.flatnonzero(drawn.explanation > 0)
    for part in blocks(moved.size, weight.size):
        rows = moved[part]
        last = pooled.probability(periods[0, rows])
        for index in range(len(steps)):
            curve = pooled.probability(periods[index + 1, rows])
            steps[index, rows] = np.abs(curve - last) @ weight
            last = curve
    return steps


def gains_of_updating(
    now: CalibrationPosterior, each: Sequence[MultilevelDraws], ci_prob: float
) -> pd.DataFrame:
    """The table of `MultilevelPosterior.gain_of_updating`.

    Parameters
    ----------
    now : CalibrationPosterior
        Of the last period.
    each : sequence of MultilevelDraws
        Of each imputation.
    """
    import pandas as pd

    drawn = [
        _gains(*pair) for pair in zip(now.imputations, [one.average for one in each], strict=True)
    ]
    tail, rows = (1 - ci_prob) / 2, {}
    for key in drawn[0]:
        gain = mixed([one[key] for one in drawn])
        lower, upper = np.quantile(gain, [tail, 1 - tail])
        prob_gain = (gain > 0).mean()
        rows[key] = {"mean": gain.mean(), "lower": lower, "upper": upper, "prob_gain": prob_gain}
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["map", "score"])
    return table


def _gains(now: CalibrationPosterior, average: Floats) -> dict[tuple[str, str], Floats]:
    """Draws of the gain of either update, by map and score."""
    (curves,), problem = now.tables, now.problem
    score, single = problem.stated, problem.probability(average).mean(axis=0)
    maps = {"now": curves.observed.mean(axis=0), "all periods": single}
    gains = {
        (name, rule): [
            draws.mean(lost(draws.curve, score) - lost(draws.curve, maps[name]))
            for _, draws in curves.draws("bootstrap")
        ]
        for name in maps
        for rule, lost in SCORING_RULES.items()
    }
    return {key: np.concatenate(each) for key, each in gains.items()}


def _brier(curve: Floats, score: Floats) -> Floats:
    """Expected Brier score, up to what does not depend on the score."""
    return np.asarray((curve - score) ** 2)


def _log_score(curve: Floats, score: Floats) -> Floats:
    """Expected log score."""
    return np.asarray(-curve * np.log(score) - (1 - curve) * np.log1p(-score))


SCORING_RULES = {"brier": _brier, "log_score": _log_score}
