"""Numbers of a figure: the curve with its bands, observed proportions, and counts of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level, as_levels
from bayescal.data.table import CalibrationData
from bayescal.data.times import TIME_STEPS, FollowUp
from bayescal.estimators.bins import as_bins, jeffreys
from bayescal.estimators.survival import aalen_johansen
from bayescal.plots import style
from bayescal.plots.text import label
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior, check_outcomes

HANDFUL = 5
MOST_BINS = 15
BARS = 50

BAND_POINTS = 61
STUB = 0.01
INSIDE = 1e-6

# Patients at whose scores curves with steps are evaluated: three a bar of the histogram.
MOST_PATIENTS = 200
# Curves with steps are smoothed over this share of the cases on either side: over AT_ONE by the
# root of their number, at most MOST_SHARE, but over LEAST_CASES. These were chosen by eye, as the
# least that leave no cliffs in 12 to 4000 cases. Below LEAST_SHARE a step is drawn as it is, since
# so many cases say where it is.
AT_ONE, MOST_SHARE, LEAST_CASES, LEAST_SHARE = 2.0, 0.1, 5, 0.005

_KNOWN: WeakKeyDictionary[CalibrationPosterior, dict[tuple[float, bool], tuple[Floats, ...]]]
# Mean and ends of the bands of posteriors, by probability: a report draws one curve twice.
_KNOWN = WeakKeyDictionary()


class Bands(NamedTuple):
    """Pointwise posterior of a calibration curve over the range of the observed scores.

    Attributes
    ----------
    score, mean : ndarray of shape (points,)
    lower, upper : ndarray of shape (bands, points)
        Equal-tailed, one row per band.
    at_scores : bool
        Whether the points are the few distinct scores, between which the curve is not known.
    share : float
        Share of the cases on either side over which each curve was smoothed.
    """

    score: Floats
    mean: Floats
    lower: Floats
    upper: Floats
    at_scores: bool = False
    share: float = 0.0


def curve_bands(
    post: CalibrationPosterior, ci_probs: Sequence[float], *, smoothed: bool = False
) -> Bands:
    """Posterior mean and equal-tailed bands of the curve, over the range of the observed scores.

    At the scores themselves where each of a few can have a risk of its own.

    Parameters
    ----------
    smoothed : bool
        Whether curves with steps are smoothed over the nearest cases, each before mean and bands
        are taken: so these are of the risk of cases with about a score. Where a step is, is known
        to a few cases only, and a mean of steps has cliffs that no case stands for.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.plots._numbers import curve_bands
    >>> post = bc.fit([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], random_state=0)
    >>> bands = curve_bands(post, [0.5, 0.95])
    >>> bands.score.min(), bands.score.max()
    (np.float64(0.2), np.float64(0.9))
    """
    levels = as_levels(ci_probs, "ci_probs")
    known, few = _KNOWN.setdefault(post, {}), bool(post.problem.frame.scores)
    share = _share(post) if smoothed and not few else 0.0
    score = post.data.score if few else _grid(post.data.score)
    missing = [level for level in levels if (level, smoothed) not in known]
    if missing:
        tails = np.array([side for level in missing for side in ((1 - level) / 2, (1 + level) / 2)])
        draws = _smoothed(post, score, share) if share else _curves(post, score)
        ends = np.quantile(draws, tails, axis=0).reshape(-1, 2, score.size)
        mean = draws.mean(axis=0)
        for level, pair in zip(missing, ends, strict=True):
            known[level, smoothed] = (mean, *pair)
    mean, lower, upper = zip(*(known[level, smoothed] for level in levels), strict=True)
    return Bands(score, mean[0], np.array(lower), np.array(upper), few, share)


def _curves(post: CalibrationPosterior, score: Floats) -> Floats:
    draws: Floats = post.curve(score).to_numpy().reshape(-1, score.size)
    return draws


def _share(post: CalibrationPosterior) -> float:
    """Share of the cases over which a curve is averaged; 0 of curves without steps."""
    if not post.problem.curve.in_cells:
        return 0.0
    n = post.data.effective_size
    share = max(min(AT_ONE / np.sqrt(n), MOST_SHARE), min(LEAST_CASES / n, 0.5))
    return float(share) if share >= LEAST_SHARE else 0.0


def _smoothed(post: CalibrationPosterior, score: Floats, share: float) -> Floats:
    """Each curve's distance from the diagonal, smoothed by local lines over the nearest cases.

    The weight of a case falls linearly with the number of cases between. A local mean would bend
    slopes at the ends; and there fewer cases are taken, where curves are steepest.
    """
    at, cases = post.data.score, post.data.trials
    rank = (np.cumsum(cases) - cases / 2) / cases.sum()
    if at.size > MOST_PATIENTS:
        even = np.searchsorted(rank, np.linspace(rank[0], rank[-1], MOST_PATIENTS))
        across = np.searchsorted(at, np.linspace(at[0], at[-1], BAND_POINTS))
        chosen = np.unique([*even, *across])
        at, rank = at[chosen], rank[chosen]
        cases = np.gradient(rank)
    own = np.interp(score, at, rank)
    ends = np.minimum(own - rank[0], rank[-1] - own) + share / 4
    right = np.clip(np.searchsorted(at, score), 1, at.size - 1)
    gap = rank[right] - rank[right - 1]
    reach = np.maximum(np.minimum(share, ends), 1.001 * gap)[:, None]
    kernel = np.maximum(1 - np.abs(rank - own[:, None]) / reach, 0) * cases
    apart = at - score[:, None]
    mean, first, second = (
        np.sum(kernel * apart**power, axis=1, keepdims=True) for power in range(3)
    )
    weight = kernel * (second + 1e-12 - first * apart)
    weight /= mean * (second + 1e-12) - first**2
    curves: Floats = _curves(post, at) @ weight.T
    curves += score - weight @ at
    return np.clip(curves, 0, 1, out=curves)


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


def as_models(
    post: CalibrationPosterior | Mapping[str, CalibrationPosterior],
) -> dict[str, CalibrationPosterior]:
    """Posteriors by name; one alone is called "Model"."""
    models = dict(post) if isinstance(post, Mapping) else {"Model": as_posterior(post)}
    for name, one in models.items():
        if not isinstance(one, CalibrationPosterior):
            raise InputError(
                f"post must be a CalibrationPosterior or a mapping of them, but {str(name)!r} is "
                f"{type(one).__name__}. Pass what bayescal.fit returns."
            )
    if not 1 <= len(models) <= len(style.MODELS):
        raise InputError(
            f"post holds {len(models)} models; from 1 to {len(style.MODELS)} can be told apart."
        )
    shown = {label(name): one for name, one in models.items()}
    if len(shown) < len(models):
        raise InputError("post holds long names that begin alike. Give shorter ones.")
    return shown


class Observed(NamedTuple):
    """Observed proportions of the event in bins of scores, ascending.

    Attributes
    ----------
    score : ndarray of shape (bins,)
        Mean score of the cases in the bin.
    trials, hits : ndarray of shape (bins,)
        Cases and events; effective ones when the weights are sampling weights, or cases left
        before the horizon.
    proportion, lower, upper : ndarray of shape (bins,)
        Observed proportion and its Jeffreys interval.
    """

    score: Floats
    trials: Floats
    hits: Floats
    proportion: Floats
    lower: Floats
    upper: Floats


class ScoreCounts(NamedTuple):
    """A histogram of the scores by outcome.

    Attributes
    ----------
    edges : ndarray of shape (bins + 1,)
    events, non_events : ndarray of shape (bins,)
        Cases in each bin.
    """

    edges: Floats
    events: Floats
    non_events: Floats


def observed_proportions(
    data: CalibrationData, bins: int | Literal["auto"] = "auto", ci_prob: float = 0.95
) -> Observed:
    """Observed proportions in bins that hold about equally many cases; ties stay together.

    Of times to an event they are those of Kaplan and Meier by the horizon, and with competing
    events those of Aalen and Johansen, without the bins in which at some time before it no case was
    under observation.

    Parameters
    ----------
    bins : int or "auto"
        At most this many bins. "auto" takes the cube root of the number of cases, at most 15 and
        with at least five cases each; when there are no more distinct scores than that and each
        has its five cases, every score is a bin.
    ci_prob : float in (0, 1)
        Probability of the Jeffreys intervals.

    References
    ----------
    Brown, Cai & DasGupta (2001), Interval estimation for a binomial proportion, Statistical
    Science 16, section 4.3: an endpoint is 0 (or 1) when no case (or every case) had the event.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.plots._numbers import observed_proportions
    >>> data = bc.CalibrationData.from_counts([0.1, 0.5, 0.9], [10, 10, 10], [0, 4, 9])
    >>> observed_proportions(data).proportion
    array([0. , 0.4, 0.9])
    """
    trials, hits = data.trials * data.weight_scale, data.hits * data.weight_scale
    starts = _bin_starts(trials, bins)
    cases, events = np.add.reduceat(trials, starts), np.add.reduceat(hits, starts)
    score = np.add.reduceat(trials * data.score, starts) / cases
    if data.follow_up is not None:
        risks = _risks_of(data, data.follow_up, starts)
        known = np.isfinite(risks[:, 0])
        score, (risk, cases) = score[known], risks[known].T
        events = risk * cases
    return Observed(
        score, cases, events, events / cases, *jeffreys(cases, events, as_level(ci_prob))
    )


def observed_of(
    post: CalibrationPosterior, bins: int | Literal["auto"] | None, ci_prob: float
) -> Observed | None:
    """Observed proportions of a posterior's data; None if not asked for.

    Parameters
    ----------
    bins : int, "auto" or None
        "auto" is None of data without outcomes.
    """
    automatic = isinstance(bins, str) and bins == "auto"
    if bins is None or (automatic and not post.has_outcomes):
        return None
    check_outcomes(post, "n_bins")
    return observed_proportions(post.problem.unclustered, bins, ci_prob)


def count_scores(data: CalibrationData, edges: Floats) -> ScoreCounts:
    """Count scores by outcome in bins.

    Scores without outcomes are counted among those without the event.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.plots._numbers import count_scores
    >>> data = bc.CalibrationData([0, 1, 1, 0], [0.2, 0.8, 0.9, 0.2])
    >>> count_scores(data, [0, 0.5, 1]).non_events
    array([2., 0.])
    """
    hits = data.hits if data.has_outcomes else np.zeros(data.score.size)
    events, _ = np.histogram(data.score, edges, weights=hits)
    non_events, _ = np.histogram(data.score, edges, weights=data.trials - hits)
    return ScoreCounts(np.asarray(edges), events, non_events)


def _risks_of(data: CalibrationData, followed: FollowUp, starts: NDArray[np.intp]) -> Floats:
    """Risk by the horizon and effective cases of each bin, of shape (bins, 2)."""
    bin_of = np.searchsorted(starts, followed.row, side="right") - 1
    weight = followed.weight * data.weight_scale
    parts = [bin_of == k for k in range(starts.size)]
    entry, last, event, other = followed.entry, followed.exit, followed.event, followed.other
    return np.array(
        [
            aalen_johansen(entry[k], last[k], event[k], other[k], weight[k], TIME_STEPS)
            for k in parts
        ]
    )


def _bin_starts(trials: Floats, bins: int | Literal["auto"]) -> NDArray[np.intp]:
    """Index of the first row of each bin; a bin takes rows until it has its share of the cases."""
    if isinstance(bins, str) and bins == "auto":
        if trials.size <= MOST_BINS and trials.min() >= HANDFUL:
            return np.arange(trials.size)
        wanted = min(round(trials.sum() ** (1 / 3)), int(trials.sum()) // HANDFUL, MOST_BINS)
    else:
        wanted = as_bins(bins)
    share = trials.sum() / max(wanted, 1) * (1 - 1e-9)
    starts, in_bin = [0], 0.0
    for row, cases in enumerate(trials.tolist()):
        if in_bin >= share:
            starts.append(row)
            in_bin = 0.0
        in_bin += cases
    if in_bin < min(share, HANDFUL) and len(starts) > 1:
        starts.pop()
    return np.array(starts)
