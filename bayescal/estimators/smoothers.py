"""Smooth curves of the outcomes in the score: local polynomials, regressions, splines."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr
from scipy.special import expit, log_expit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError, SeparationError, as_count, as_flag, check_choice
from bayescal.core.optimise import log_odds_of, logarithms, maximise
from bayescal.core.text import documented, shortened
from bayescal.data.cases import as_scores
from bayescal.data.rows import Levels, levels_of
from bayescal.data.table import CalibrationData
from bayescal.data.weights import SAME, quantile
from bayescal.estimators.registry import DOOR_BLOCK, OutcomesLike, read

# Events at each distinct score, (replicates, rows), to a smoothed curve, (replicates, scores).
Curve = Callable[[Floats], Floats]


# R's `loess` is the reference. scikit-misc, which has its code, cannot replace this: it takes
# weights as precisions, not as repeated patients, fails where only two or three scores differ, and
# fits one set of outcomes at a time, where a thousand at the same scores here share each local fit.
CELL = 0.2
MARGIN = 0.005
LOESS_STEP = 0.01
LOESS_EDGE = 0.999
# How much a power may add to a fit or its slope over the reach, for outcomes from 0 to 1.
MOST_SWAY = 100.0
# Least spread of the scores about lower powers, in reaches, that is more than rounding.
SPREAD = 1e-7
LOESS_BLOCK = 1 << 14
# Rows past which neighbouring ones are merged for local lines.
MOST_LOCAL_ROWS = 1 << 16


def loess(table: Levels, at: Floats, span: float) -> Curve:
    """Local quadratics at the vertices of a k-d tree, joined by cubics."""
    table, at = _magnified(table, at)
    anchors = _vertices(table, span)
    reaches = _reaches(table, anchors, max(1, int(table.total * span + 1e-5)))
    width, cell = np.diff(anchors), np.searchsorted(anchors[1:-1], at, side="right")
    share = (at - anchors[cell]) / width[cell]

    def curve(hits: Floats) -> Floats:
        fits = _fits(table, hits, anchors, reaches, degree=2)
        value, slope = np.moveaxis(fits, (2, 1), (0, 1))
        rise, first, last = np.diff(value), width * slope[:, :-1], width * slope[:, 1:]
        joined = np.zeros((len(hits), at.size))
        for term in (first + last - 2 * rise, 3 * rise - 2 * first - last, first, value):
            joined *= share
            joined += term[:, cell]
        return joined

    return curve


def lowess(table: Levels, at: Floats, span: float) -> Curve:
    """Local lines at scores a step apart, joined by lines."""
    table, at = _magnified(table, at)
    anchors = _steps(table.score)
    count = min(max(2, int(table.total * span + 1e-7)), math.ceil(table.total))
    least = 0.001 * float(np.ptp(table.score))
    few, reaches = _merged(table), _reaches(table, anchors, count)

    def curve(hits: Floats) -> Floats:
        merged = hits if few is table else np.add.reduceat(hits, _first_of(table), axis=1)
        fits = _fits(few, merged, anchors, reaches, degree=1, least=least)
        return np.stack([np.interp(at, anchors, values) for values in fits[..., 0].T])

    return curve


def _magnified(table: Levels, at: Floats) -> tuple[Levels, Floats]:
    """Scores times the power of two that makes their range about 1, for slopes that are finite.

    What lies beyond the range moves to its ends.
    """
    low, high = table.score[[0, -1]]
    power = -int(np.frexp(high - low)[1])
    inside = np.clip(at, low, high)
    return table._replace(score=np.ldexp(table.score, power)), np.ldexp(inside, power)


def _vertices(table: Levels, span: float) -> Floats:
    """Ends of the range, a little widened, and the scores at which cells are cut in two."""
    score, above = table.score, np.cumsum(table.trials)
    most = math.floor(table.total * span * CELL)
    margin = MARGIN * (score[-1] - score[0]) or MARGIN
    ends = (float(score[0] - margin), float(score[-1] + margin))
    cuts: list[float] = []
    cells = [(0, score.size - 1, *ends)]
    while cells:
        first, last, left, right = cells.pop()
        below = above[first] - table.trials[first]
        if above[last] - below <= most:
            continue
        half = math.floor((below + 1 + above[last]) / 2)
        # the row after which the cell's cases are most nearly halved; of two, the later
        end = max(last, first + 1)
        row = end - 1 - int(np.abs(above[first:end] - half)[::-1].argmin())
        cut = float(score[row])
        if left + SAME < cut < right - SAME:
            cuts.append(cut)
            cells.append((first, row, left, cut))
            if row < last:
                cells.append((row + 1, last, cut, right))
    return np.array([ends[0], *sorted(cuts), ends[1]])


def _steps(score: Floats) -> Floats:
    """The first and last score, and between them the farthest within each step."""
    step = LOESS_STEP * (score[-1] - score[0])
    rows = [0]
    while rows[-1] < score.size - 1:
        reached = int(np.searchsorted(score, score[rows[-1]] + step, side="right")) - 1
        rows.append(max(rows[-1] + 1, reached))
    return score[rows]


def _merged(table: Levels) -> Levels:
    """A long table with neighbouring rows merged: a local line hardly bends between them.

    The mean of the scores of a row stands for them; that moves a curve by about 1e-6 at most.
    """
    if table.score.size <= MOST_LOCAL_ROWS:
        return table
    first = _first_of(table)
    trials = np.add.reduceat(table.trials, first)
    score = np.add.reduceat(table.trials * table.score, first) / trials
    return table._replace(score=score, trials=trials)


def _first_of(table: Levels) -> NDArray[np.intp]:
    """Where the merged rows of a table begin: they have one width, and few scores stay alone."""
    low, high = table.score[[0, -1]]
    part = ((table.score - low) * (MOST_LOCAL_ROWS / (high - low))).astype(np.intp)
    return np.flatnonzero(np.diff(part, prepend=-1))


def _fits(
    table: Levels,
    hits: Floats,
    anchors: Floats,
    reaches: Floats,
    degree: int,
    least: float = 0.0,
) -> Floats:
    """Value and slope of weighted least squares at each anchor, (anchors, replicates, 2).

    By polynomials orthogonal under the weights about each anchor. A power is left out when the
    scores spread less about the lower ones than `least`, or not at all, or so little that it could
    add more than MOST_SWAY: then the fit has a lower degree.
    """
    start, size = _near(table.score, anchors, LOESS_EDGE * reaches)
    on_edge = size == 0
    start, size = np.where(
        on_edge, _near(table.score, anchors, (1 + SAME) * reaches), (start, size)
    )
    fits = np.zeros((anchors.size, len(hits), 2))
    for part in blocks(anchors.size, int(size.max()), LOESS_BLOCK):
        rows = start[part, None] + np.arange(size[part].max())
        inside = rows < (start + size)[part, None]
        rows = np.minimum(rows, table.score.size - 1)
        u = (table.score[rows] - anchors[part, None]) / reaches[part, None]
        closeness = np.where(on_edge[part, None], 1.0, _cube(1 - _cube(np.abs(u)))) * inside
        trials = closeness * table.trials[rows]
        shortest, length_before = np.zeros(len(u)), np.full(len(u), np.inf)
        power, before, kept = np.ones_like(u), np.zeros_like(u), np.full(len(u), True)
        at_anchor, at_before = np.tile([1.0, 0.0], (len(u), 1)), np.zeros((len(u), 2))
        for k in range(degree + 1):
            weighted = trials * power
            square = weighted * power
            length = square.sum(axis=1)
            sway = np.abs(weighted).sum(axis=1) * np.abs(at_anchor).max(axis=1)
            kept &= (length > shortest) & (sway <= MOST_SWAY * length)
            length = np.where(kept, length, 1.0)
            weighted, sums = closeness * power, np.zeros((len(u), len(hits)))
            for row in np.flatnonzero(kept):
                begin, count = start[part.start + row], size[part.start + row]
                sums[row] = hits[:, begin : begin + count] @ weighted[row, :count]
            fits[part] += (sums / length[:, None])[..., None] * at_anchor[:, None]
            if k == 0:
                shortest = length * np.maximum(least / reaches[part], SPREAD) ** 2
            mean = (np.einsum("ij,ij->i", square, u) / length)[:, None]
            carry = (length / length_before)[:, None]
            power, before = (u - mean) * power - carry * before, power
            shifted = np.stack([np.zeros(len(u)), at_anchor[:, 0]], axis=1)
            shifted -= mean * at_anchor + carry * at_before
            at_anchor, at_before, length_before = shifted, at_anchor, length
    fits[..., 1] /= reaches[:, None]
    return fits


def _near(score: Floats, anchors: Floats, reaches: Floats) -> tuple[Any, Any]:
    """The first row within reach of each anchor, and how many there are."""
    start = np.searchsorted(score, anchors - reaches)
    return start, np.searchsorted(score, anchors + reaches, side="right") - start


def _cube(x: Floats) -> Floats:
    """Third power, ten times as fast as `x**3`."""
    return x * x * x


def _reaches(table: Levels, anchors: Floats, count: int) -> Floats:
    """Distances within which the nearest `count` cases lie, and at least a rounding error."""
    above = np.cumsum(table.trials)
    cases = math.ceil(above[-1] * (1 - SAME))

    def nth(case: NDArray[np.intp]) -> Floats:
        row = np.searchsorted(above, case + SAME * above[-1], side="right")
        return np.asarray(table.score[np.minimum(row, table.score.size - 1)])

    first, last = np.zeros(anchors.size, np.intp), np.full(anchors.size, cases - count)
    while (searched := first < last).any():
        middle = (first + last) // 2
        enough = anchors - nth(middle) <= nth(middle + count) - anchors
        first = np.where(searched & ~enough, middle + 1, first)
        last = np.where(enough, middle, last)
    reach: Floats = np.maximum(anchors - nth(first), nth(first + count - 1) - anchors)
    return np.maximum(reach, SAME)


# Scores or positions, (n,), to the functions of them that a regression uses, (k, n).
Basis = Callable[[Floats], Floats]


def rcs_basis(table: Levels, n_knots: int) -> Basis:
    """A restricted cubic spline in the log-odds: cubic between knots, straight beyond them."""
    functions = restricted_cubic(log_odds_of(table.score), table.trials, n_knots)
    return lambda score: functions(log_odds_of(score))


def restricted_cubic(position: Floats, trials: Floats, n_knots: int) -> Basis:
    """Functions of a position with knots at quantiles of some; a line if fewer than 3 differ."""
    outer = {3: 0.1, 7: 0.025}.get(n_knots, 0.05)
    probs = np.linspace(outer, 1 - outer, n_knots)
    knots = np.unique([quantile(position, trials, prob) for prob in probs])
    if knots.size < 3:
        return lambda x: np.stack([np.ones_like(x), x])
    *inner, before, end = knots
    width, gap = end - knots[0], end - before

    def cubed(x: Floats, knot: float) -> Floats:
        above: Floats = np.maximum((x - knot) / width, 0)
        return above * above * above

    def functions(x: Floats) -> Floats:
        bends = [
            cubed(x, knot)
            - cubed(x, before) * (end - knot) / gap
            + cubed(x, end) * (before - knot) / gap
            for knot in inner
        ]
        return np.stack([np.ones_like(x), x, *bends])

    return functions


BASES: dict[str, Callable[[Levels, int], Basis]] = {
    # beta calibration, unconstrained
    "beta": lambda *_: lambda x: np.stack([np.ones_like(x), *logarithms(x)]),
    "logistic": lambda _, n_knots: lambda x: np.stack([np.ones_like(x), log_odds_of(x)]),
    "rcs": rcs_basis,
}


def full_rank(basis: Basis, table: Levels) -> Basis:
    """Combinations of the same functions that are orthonormal under the trials."""
    weighted = np.sqrt(table.trials) * basis(table.score)
    triangle, pivot = qr(weighted.T, mode="r", pivoting=True, overwrite_a=True)
    size = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(size > 1e-10 * size[0]))
    kept = pivot[:rank]
    change = np.linalg.inv(triangle[:rank, :rank]).T
    return lambda score: change @ basis(score)[kept]


def regression(basis: Basis, table: Levels, at: Floats) -> Curve:
    """Fitted probabilities of each replicate, NaN where the likelihood has no maximum."""
    functions = full_rank(basis, table)
    observed = functions(table.score)
    wanted = observed if at is table.score else functions(at)

    def curve(hits: Floats) -> Floats:
        fitted = np.full((len(hits), at.size), np.nan)
        for row, events in zip(fitted, hits, strict=True):
            likelihood = partial(_likelihood, observed, table.trials, events)
            mode = maximise(likelihood, np.zeros(len(observed)), tolerance=1e-18)
            curvature = np.linalg.eigvalsh(mode.information)
            if mode.converged and curvature[0] > 1e-12 * curvature[-1] and mode.value < -1e-9:
                row[:] = expit(mode.point @ wanted)
        return fitted

    return curve


def _likelihood(
    basis: Floats, trials: Floats, hits: Floats, coef: Floats
) -> tuple[float, Floats, Floats]:
    """Log likelihood, gradient and Hessian of a logistic regression.

    Residuals are those of every row, where `fit_logistic` has totals alone: far out, the totals
    lose the digits that tell whether outcomes are separated by five functions of few scores.
    """
    eta = coef @ basis
    fitted = expit(eta)
    value = float(hits @ eta + trials @ log_expit(-eta))
    weight = trials * fitted * (1 - fitted)
    return value, basis @ (hits - trials * fitted), -(basis * weight) @ basis.T


# A table and the scores at which the curve is wanted, to a function of the events.
Smoother = Callable[[Levels, Floats], Curve]

SPANS = {"loess": 0.75, "lowess": 2 / 3}


@documented
def flexible_curve(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Probability of the event at given scores, by a smoother of the outcomes.

    Parameters
    ----------
    %(replicated_cases)s
    scores : array-like of shape (n_scores,), optional
        Where the curve is wanted; at `y_prob`, or the rows of a table, when not given.
    smoother : {"loess", "lowess", "rcs", "logistic", "beta", "isotonic"}
        "loess": local quadratics with tricube weights, fitted at the vertices of a k-d tree and
        joined by cubics, which is R's `loess` as it comes. "lowess": local lines at scores one
        hundredth of the range apart, joined by lines, which is R's `lowess` with `iter=0`.
        "rcs": logistic regression on a restricted cubic spline of the log-odds, with knots at
        Harrell's quantiles. "logistic": the same on the log-odds. "beta": on log s and
        log(1 - s). "isotonic": the non-decreasing curve of least squares.
    span : float, optional
        Share of the cases that a local fit uses, above 0 and at most 1: 3/4 for "loess" and 2/3
        for "lowess" unless given. The other smoothers do not use it.
    n_knots : int
        Knots of "rcs", from 3 to 7; equal ones count once. The other smoothers do not use it.
    clip : bool
        Cut the curve off at 0 and 1, which a local fit may leave.
    %(weights_by_kish)s

    Returns
    -------
    ndarray of shape (n_scores,) or (..., n_scores)
        Rows of NaN for replicates in which the curve does not exist.

    %(refuses)s
        Also if the one set of outcomes is separated by the scores, so that a regression has no
        maximum likelihood.

    Notes
    -----
    A local fit may leave [0, 1]. It is returned as it is, as R does, unless `clip` is set. Beyond
    the observed scores the local and isotonic curves keep their end value; between them "isotonic"
    is linear.

    A local fit takes the highest power that the scores within its reach determine: one whose share
    of the fit can change by more than 100 for outcomes from 0 to 1 is left out. R's `loess` fails,
    or uses a pseudo-inverse, where scores are too few: when three quarters of the cases have one
    score, say. Scores nearer than 1e-12 to 0 or 1 are read as 1e-12 away by "rcs",
    "logistic" and "beta".

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Cleveland & Grosse, "Computational methods for local regression", Statistics and Computing 1,
    1991. Cleveland, "Robust Locally Weighted Regression and Smoothing Scatterplots", Journal of
    the American Statistical Association 74, 1979.

    Harrell, "Regression Modeling Strategies", second edition, 2015, section 2.4.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 2000, random_state=1)
    >>> estimators.flexible_curve(y_true, y_prob, [0.1, 0.3, 0.6]).round(2)
    array([0.19, 0.27, 0.48])
    """
    smooth = smoother_of(**as_smoothing(smoother, span, n_knots, clip))
    cases = read(y_true, y_prob, sample_weight)
    if scores is not None:
        at = as_scores(scores, "scores")
    else:
        at = y_true.score if isinstance(y_true, CalibrationData) else cases.scores
    table = levels_of(cases.scores, cases.weights)
    curve = smooth(table, at)
    replicates, size = cases.outcomes.shape
    values = np.empty((replicates, at.size))
    for part in blocks(replicates, size, DOOR_BLOCK):
        values[part] = curve(table.hits(cases.outcomes[part]))
    if not cases.shape and np.isnan(values).any():
        raise no_curve(smoother)
    curves = cases.result(values)
    assert not isinstance(curves, float)
    return curves


def as_smoothing(smoother: Any, span: Any, n_knots: Any, clip: Any = False) -> dict[str, Any]:
    """Options of a smoother, each valid; see `flexible_curve`."""
    check_choice(smoother, [*BASES, *SPANS, "isotonic"], "smoother")
    knots = as_count(n_knots, "n_knots", 3, 7)
    if span is not None and (not isinstance(span, (int, float, np.number)) or not 0 < span <= 1):
        raise InputError(f"span must be above 0 and at most 1, got {shortened(repr(span))}.")
    return {"smoother": smoother, "span": span, "n_knots": knots, "clip": as_flag(clip, "clip")}


def smoother_of(smoother: str, span: float | None, n_knots: int, clip: bool = False) -> Smoother:
    """The smoother that options ask for."""
    if clip:
        plain = smoother_of(smoother, span, n_knots)

        def cut_off(table: Levels, at: Floats) -> Curve:
            curve = plain(table, at)
            return lambda hits: np.clip(curve(hits), 0, 1)

        return cut_off
    if smoother in BASES:
        return lambda table, at: regression(BASES[smoother](table, n_knots), table, at)
    if smoother == "isotonic":
        return isotonic
    local = loess if smoother == "loess" else lowess
    return partial(local, span=SPANS[smoother] if span is None else float(span))


def isotonic(table: Levels, at: Floats) -> Curve:
    """Pool adjacent violators."""

    def curve(hits: Floats) -> Floats:
        values = np.empty((hits.shape[0], at.size))
        for value, rate in zip(values, hits / table.trials, strict=True):
            from scipy.optimize import isotonic_regression

            steps = isotonic_regression(rate, weights=table.trials).x
            value[:] = np.interp(at, table.score, steps)
        return values

    return curve


def no_curve(smoother: str) -> SeparationError:
    """The error for a regression whose likelihood has no maximum."""
    return SeparationError(
        f"y_true is perfectly separated by the scores, or holds one class only, so the {smoother!r}"
        " curve does not exist. Pass smoother='loess', or use bayescal.fit for a posterior."
    )
