"""The posterior of a calibration curve as numbers for a figure: its mean and its bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import as_levels

if TYPE_CHECKING:
    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["Bands", "curve_bands", "error_interval"]

_KNOWN: WeakKeyDictionary[CalibrationPosterior, dict[float, tuple[Floats, Floats, Floats]]]
_KNOWN = WeakKeyDictionary()
"""Mean and ends of the bands of posteriors, by probability: a report draws one curve twice."""

BAND_POINTS = 61
STUB = 0.01
INSIDE = 1e-4


class Bands(NamedTuple):
    """Pointwise posterior of a calibration curve over the range of the observed scores.

    Attributes
    ----------
    score, mean : ndarray of shape (points,)
    lower, upper : ndarray of shape (bands, points)
        Equal-tailed, one row per band.
    at_scores : bool
        Whether the points are the few distinct scores, between which the curve is not known.
    """

    score: Floats
    mean: Floats
    lower: Floats
    upper: Floats
    at_scores: bool = False


def curve_bands(post: CalibrationPosterior, ci_probs: Sequence[float]) -> Bands:
    """Posterior mean and equal-tailed bands of the curve, over the range of the observed scores.

    At the scores themselves where each of a few can have a risk of its own.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.plots._bands import curve_bands
    >>> post = bc.fit([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], random_state=0)
    >>> bands = curve_bands(post, [0.5, 0.95])
    >>> bands.score.min(), bands.score.max()
    (np.float64(0.2), np.float64(0.9))
    """
    levels = as_levels(ci_probs, "ci_probs")
    known = _KNOWN.setdefault(post, {})
    missing = [level for level in levels if level not in known]
    few = bool(post.problem.frame.scores)
    score = post.data.score if few else _grid(post.data.score)
    if missing:
        tails = np.array([side for level in missing for side in ((1 - level) / 2, (1 + level) / 2)])
        draws = post.curve(score).to_numpy().reshape(-1, score.size)
        ends = np.quantile(draws, tails, axis=0).reshape(-1, 2, score.size)
        mean = draws.mean(axis=0)
        known |= {level: (mean, *pair) for level, pair in zip(missing, ends, strict=True)}
    mean, lower, upper = zip(*(known[level] for level in levels), strict=True)
    return Bands(score, mean[0], np.array(lower), np.array(upper), few)


def error_interval(
    post: CalibrationPosterior, ci_prob: float, p: float
) -> tuple[float, float, float]:
    """Estimate, lower and upper end of the true calibration error."""
    lower, upper = post.interval("tce", ci_prob, p=p)
    return post.estimate(p=p), lower, upper


def _grid(score: Floats) -> Floats:
    """Scores at which a curve is drawn, from lowest to highest, denser near 0 and 1."""
    low, high = score.min(), score.max()
    if low == high:
        low, high = max(low - STUB, 0.0), min(high + STUB, 1.0)
    first, last = logit(np.clip([low, high], INSIDE, 1 - INSIDE))
    bent = np.clip(expit(np.linspace(first, last, BAND_POINTS)), low, high)
    return np.unique(np.concatenate([np.linspace(low, high, BAND_POINTS), bent]))
