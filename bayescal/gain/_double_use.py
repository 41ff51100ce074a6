"""Were these patients used to fit the map? Equations that a fit satisfies and chance does not."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, gammainc, gammaln, xlog1py, xlogy

from bayescal._base.arrays import Floats
from bayescal._base.log_odds import clipped, log_odds_of, logarithms
from bayescal.data.table import levels_of
from bayescal.gain.paired import PairedPredictions

__all__ = ["double_use"]

CHANCE = 1e-4
DOUBLE_USE_SAME = 1e-6
PART_OF_AN_EVENT = 0.1
DIGITS = 12
DOUBLE_USE_ROUND = 1000
COLLINEAR = 1e-10


def double_use(pairs: PairedPredictions) -> str | None:
    """What shows that `after` was fitted to these patients.

    Returns
    -------
    str or None
        None when nothing shows it, which is no proof: a penalised or averaged map satisfies no
        equation exactly.

    Notes
    -----
    Two signs are looked for, in every row of `after`. Each has to be so exact that in patients
    that the map has not seen it would occur with probability below 1e-4.

    *Blocks.* For every distinct value of `after` the mean outcome is that value, as in isotonic
    regression, bins and trees. That a value has so many events among its m patients has at most
    the binomial probability at its own rate; and if the value is a fraction p / q in lowest terms
    that nobody rounded to (no multiple of .001), only one number of patients in q can have it.

    *Score equations.* At the maximum of the likelihood the sums of (y - after) times each term of
    the map are zero. Their score statistic U' I^-1 U follows a chi-squared law in unseen
    patients, and its lower tail gives the probability. The terms are 1 and logit(before), which
    any unpenalised logistic or beta map has, with or without others; for maps with fewer terms,
    which must then have this very form: a shift of the log-odds, their stretch, or a beta map
    with one exponent zero.
    """
    if pairs.is_unchanged:
        return None
    signs = [_of_one(pairs, after) for after in pairs.after]
    return signs[0] if all(signs) else None


def _of_one(pairs: PairedPredictions, after: Floats) -> str | None:
    chance = _chance_of_blocks(pairs.outcome, after, pairs.weight)
    if chance is not None:
        if chance < CHANCE:
            return "each distinct value after is the mean outcome of its patients"
        return None
    log_s, log_q = logarithms(pairs.before)
    one = np.ones_like(log_s)
    if _solves([one, log_s - log_q], pairs, after):
        return "the score equations of a logistic map hold exactly"
    nothing = np.zeros_like(one)
    for name, offset, terms in (
        ("a shift of the log-odds", log_s - log_q, [one]),
        ("a stretch of the log-odds", nothing, [log_s - log_q]),
        ("a beta map", nothing, [one, log_s]),
        ("a beta map", nothing, [one, log_q]),
    ):
        if _has_form(offset, terms, after) and _solves(terms, pairs, after):
            return f"the score equations of {name} hold exactly"
    return None


def _chance_of_blocks(outcome: Floats, after: Floats, weight: Floats) -> float | None:
    """How probable it is that every block has so many events; None if some has not."""
    levels = levels_of(np.round(after, DIGITS))
    cases, events = levels.totals(weight), levels.totals(weight * outcome)
    short = np.abs(events - levels.totals(weight * after))
    if short.max() > PART_OF_AN_EVENT:
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


def _solves(terms: list[Floats], pairs: PairedPredictions, after: Floats) -> bool:
    """Whether the score statistic is closer to zero than chance brings it."""
    basis = np.stack(terms)
    variance = pairs.weight * after * (1 - after)
    information = (basis * variance) @ basis.T
    scale = np.sqrt(np.diag(information))
    if not (scale > 0).all():
        return False
    information /= np.outer(scale, scale)
    if np.linalg.eigvalsh(information)[0] < COLLINEAR:
        return False
    score = basis @ (pairs.weight * (pairs.outcome - after)) / scale
    statistic = score @ np.linalg.solve(information, score)
    return bool(gammainc(len(terms) / 2, statistic / 2) < CHANCE)


def _has_form(offset: Floats, terms: list[Floats], after: Floats) -> bool:
    """Whether logit(after) is the offset plus a combination of the terms."""
    inner, log_odds = clipped(after), log_odds_of(after)
    basis, root = np.stack(terms, axis=1), np.sqrt(inner * (1 - inner))
    coefficients = np.linalg.lstsq(basis * root[:, None], (log_odds - offset) * root)[0]
    return bool(np.abs(expit(offset + basis @ coefficients) - after).max() < DOUBLE_USE_SAME)
