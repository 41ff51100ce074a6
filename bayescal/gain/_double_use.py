"""Were these patients used to fit the map? Equations that a fit satisfies and chance does not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammainc, gammaln, xlog1py, xlogy

from bayescal.core.arrays import Floats, blocks
from bayescal.core.optimise import clipped, log_odds_of, logarithms
from bayescal.data.rows import levels_of
from bayescal.gain.paired import PairedPredictions

__all__ = ["double_use"]

CHANCE = 1e-4
DOUBLE_USE_SAME = 1e-6
PART_OF_AN_EVENT = 0.1
DIGITS = 12
DOUBLE_USE_ROUND = 1000
COLLINEAR = 1e-10
# Values that are looked at first, by their quantiles: of many cases the others are hardly needed.
MIDDLE = (0.495, 0.505)
CLOSE_VALUES = 1e-12

# Offset and terms of a map, from log s and log(1 - s) of the scores before.
Basis = Callable[[Floats, Floats], tuple[Floats | float, list[Floats]]]

# Maps of fewer terms than a logistic one: their names, whether they have a constant, and terms.
FORMS: tuple[tuple[str, bool, Basis], ...] = (
    ("a shift of the log-odds", True, lambda s, q: (s - q, [np.ones_like(s)])),
    ("a stretch of the log-odds", False, lambda s, q: (0.0, [s - q])),
    ("a beta map", True, lambda s, q: (0.0, [np.ones_like(s), s])),
    ("a beta map", True, lambda s, q: (0.0, [np.ones_like(s), q])),
)


def double_use(pairs: PairedPredictions) -> str | None:
    """What shows that `after` was fitted to these patients.

    Two signs are looked for, in every row of `after`. Each has to be so exact that in patients that
    the map has not seen it would occur with probability below 1e-4.

    *Blocks.* For every distinct value of `after` the mean outcome is that value, as in isotonic
    regression, bins and trees. That a value has so many events among its m patients has at most the
    binomial probability at its own rate; and if the value is a fraction p / q in lowest terms that
    nobody rounded to (no multiple of .001), only one number of patients in q can have it.

    *Score equations.* At the maximum of the likelihood the sums of (y - after) times each term of
    the map are zero. Their score statistic U' I^-1 U follows a chi-squared law in unseen patients,
    and its lower tail gives the probability. The terms are 1 and logit(before), which any
    unpenalised logistic or beta map has, with or without others; for maps with fewer terms, which
    must then have this very form: a shift of the log-odds, their stretch, or a beta map with one
    exponent zero.

    Where cases left before the horizon, no equation holds exactly of outcomes that are known.
    """
    if pairs.is_unchanged or np.isnan(pairs.outcome).any():
        return None
    signs = [_of_one(pairs, after) for after in pairs.after]
    return signs[0] if all(signs) else None


def _logistic(log_s: Floats, log_q: Floats) -> tuple[Floats | float, list[Floats]]:
    """Terms that every unpenalised logistic map has, and others beside them."""
    return 0.0, [np.ones_like(log_s), log_s - log_q]


def _of_one(pairs: PairedPredictions, after: Floats) -> str | None:
    chance = _chance_of_blocks(pairs, after)
    if chance is not None:
        if chance < CHANCE:
            return "each distinct value after is the mean outcome of its patients"
        return None
    balanced = _is_balanced(pairs, after)
    if balanced and _solves(_logistic, pairs, after):
        return "the score equations of a logistic map hold exactly"
    for name, has_constant, basis in FORMS:
        if not balanced and has_constant:
            continue
        if _has_form(basis, pairs, after) and _solves(basis, pairs, after):
            return f"the score equations of {name} hold exactly"
    return None


def _chance_of_blocks(pairs: PairedPredictions, after: Floats) -> float | None:
    """How probable it is that every value has so many events; None if some has not."""
    low, high = np.quantile(after[pairs.some], MIDDLE)
    middle = np.flatnonzero((after > low - CLOSE_VALUES) & (after < high + CLOSE_VALUES))
    if _chance_of(pairs, after, middle) is None:
        return None
    return _chance_of(pairs, after, slice(None))


def _chance_of(
    pairs: PairedPredictions, after: Floats, some: NDArray[np.intp] | slice
) -> float | None:
    after, weight = after[some], pairs.weight[some]
    levels = levels_of(np.round(after, DIGITS))
    cases, events = levels.totals(weight), levels.totals(weight * pairs.outcome[some])
    short = np.abs(events - levels.totals(weight * after))
    if short.max(initial=0) > PART_OF_AN_EVENT:
        return None
    rate = events / cases
    ways = gammaln(cases + 1) - gammaln(events + 1) - gammaln(cases - events + 1)
    log_chance = ways + xlogy(events, rate) + xlog1py(cases - events, -rate)
    whole_numbers = (cases % 1 == 0) & (events % 1 == 0) & (short < DOUBLE_USE_SAME)
    is_round = np.abs(rate * DOUBLE_USE_ROUND - np.round(rate * DOUBLE_USE_ROUND)) < DOUBLE_USE_SAME
    counted = whole_numbers & ~is_round
    size, hits = cases[counted].astype(np.int64), events[counted].astype(np.int64)
    denominator = size / np.gcd(size, hits)
    return float(np.exp(log_chance.sum() - np.log(denominator).sum()))


def _is_balanced(pairs: PairedPredictions, after: Floats) -> bool:
    """Whether as many events are predicted as there are, closer than chance brings it.

    It is the first of two equations, and alone gives a smaller statistic than both of them.
    """
    over = spread = 0.0
    for part in blocks(after.size):
        weight, rate = pairs.weight[part], after[part]
        over += float(weight @ (pairs.outcome[part] - rate))
        spread += float(weight @ (rate * (1 - rate)))
    return spread > 0 and bool(gammainc(1.0, over**2 / spread / 2) < CHANCE)


def _solves(basis: Basis, pairs: PairedPredictions, after: Floats) -> bool:
    """Whether the score statistic is closer to zero than chance brings it."""
    sums: list[Floats] = []
    for part in blocks(after.size):
        _, terms = basis(*logarithms(pairs.before[part]))
        columns, weight, rate = np.stack(terms), pairs.weight[part], after[part]
        over = columns @ (weight * (pairs.outcome[part] - rate))
        spread = (columns * (weight * rate * (1 - rate))) @ columns.T
        sums.append(np.column_stack([over, spread]))
    total = np.sum(sums, axis=0)
    score, information = total[:, 0], total[:, 1:]
    scale = np.sqrt(np.diag(information))
    if not (scale > 0).all():
        return False
    information = information / np.outer(scale, scale)
    if np.linalg.eigvalsh(information)[0] < COLLINEAR:
        return False
    score = score / scale
    statistic = score @ np.linalg.solve(information, score)
    return bool(gammainc(score.size / 2, statistic / 2) < CHANCE)


def _has_form(basis: Basis, pairs: PairedPredictions, after: Floats) -> bool:
    """Whether logit(after) is the offset plus a combination of the terms."""
    some = after[pairs.some]
    offset, terms = basis(*logarithms(pairs.before[pairs.some]))
    inner = clipped(some)
    root = np.sqrt(inner * (1 - inner))
    design = np.stack(terms, axis=1) * root[:, None]
    coefficients = np.linalg.lstsq(design, (log_odds_of(some) - offset) * root)[0]

    def furthest(part: slice) -> float:
        offset, terms = basis(*logarithms(pairs.before[part]))
        mapped = expit(offset + np.stack(terms, axis=1) @ coefficients)
        return float(np.abs(mapped - after[part]).max())

    return all(furthest(part) < DOUBLE_USE_SAME for part in blocks(after.size))
