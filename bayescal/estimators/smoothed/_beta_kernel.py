"""Kernel regression of outcomes with beta kernels, each case left out of its own estimate.

On the stretched line of `_stretched` every kernel is about one unit wide, or wider. With
many scores, those within a small part of a unit are put together at their mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma, expit, logit, logsumexp, polygamma

from bayescal._base.arrays import Floats, blocks, power_mean

__all__ = ["BETA_FINE", "Scores", "likeliest_bandwidth", "put_together", "ratio_norm"]

CANDIDATES = np.concatenate([np.logspace(-5, -1, 15), np.linspace(0.2, 1, 5)])
JUDGES = 256
NO_WEIGHT = 1e-300
"""Weights below it have no reciprocal."""
BETA_BLOCK = 1 << 18
MOST_PAIRS = 1 << 25
"""Pairs of near scores up to which the kernel is evaluated between the scores themselves."""
BETA_CELLS = 32
"""Cells to a unit of the stretched line, between which kernels are evaluated."""
BETA_FINE = 512
"""The same for the gaps, which are added up."""
FEW_PAIRS = 1 << 22
BETA_COARSE = 8
"""The same for likelihoods, which are compared between bandwidths each twice the last."""
BETA_REACH = 30.0
"""Units beyond which kernels do not meet, and how far beyond the nearest score they may."""
BETA_NODES = 1 << 17


class Scores(NamedTuple):
    """Scores in ascending order, and the cases at each.

    Attributes
    ----------
    score, trials : ndarray of shape (rows,)
    start : ndarray of int of shape (rows,) or None
        Where each begins among the scores that were put together; None where none were.
    """

    score: Floats
    trials: Floats
    start: NDArray[np.intp] | None = None

    def row_of(self, index: NDArray[np.intp]) -> NDArray[np.intp]:
        """The row that each of the scores put together went to."""
        return index if self.start is None else np.searchsorted(self.start, index, "right") - 1

    def sums(self, hits: Floats) -> Floats:
        """Events of each row, (replicates, rows), from those at the scores put together."""
        return hits if self.start is None else np.add.reduceat(hits, self.start, axis=1)


def put_together(
    scores: Scores, bandwidth: float, cells: int = BETA_CELLS, pairs: int = MOST_PAIRS
) -> Scores:
    """The same cases in so many cells to a unit, unless few enough pairs of scores are near."""
    ends = scores.score[[0, -1]]
    length = float(np.ptp(_stretched(ends, bandwidth)))
    if scores.score.size**2 * min(1, 2 * BETA_REACH / max(length, 1)) <= pairs:
        return scores._replace(start=None)
    low, high = ends
    fine = expit(np.linspace(logit(low), logit(high), BETA_NODES))
    fine = np.union1d(fine, np.linspace(low, high, BETA_NODES))
    line = _stretched(fine, bandwidth)
    edges = np.interp(np.arange(line[0], line[-1], 1 / cells), line, fine)
    start = np.unique(np.searchsorted(scores.score, edges[1:]))
    start = np.append(0, start[(start > 0) & (start < scores.score.size)])
    trials = np.add.reduceat(scores.trials, start)
    score = np.add.reduceat(scores.trials * scores.score, start) / trials
    return Scores(score, trials, start)


def _stretched(score: Floats, bandwidth: float) -> Floats:
    """A line on which kernels are about a unit wide: by arcsine, and by log-odds at the ends."""
    line: Floats = logit(score) + 2 / np.sqrt(bandwidth) * np.arcsin(np.sqrt(score))
    return line


def ratio_norm(scores: Scores, hits: Floats, bandwidth: float, order: float) -> Floats:
    """The norm of the gaps, for events and the other cases at each score.

    Parameters
    ----------
    hits : ndarray of shape (replicates, rows)
        Events of each row.

    Notes
    -----
    Kernels are evaluated between cells, with the first three moments of the events in each. Within
    a cell a rate follows the slope of the mean outcome from cell to cell, so that gaps are those
    of the scores themselves where they change sign.
    """
    cells = put_together(scores, bandwidth)
    masses = np.concatenate([hits, scores.trials[None]])
    ahead, cell = np.zeros_like(scores.score), np.arange(scores.score.size)
    if cells.start is not None:
        cell = cells.row_of(cell)
        ahead = scores.score - cells.score[cell]
    moments = [
        cells.sums(masses * ahead**power) for power in range(1 if cells.start is None else 3)
    ]
    at_events, at_others, mean = _rates(cells, moments, bandwidth)
    rate = np.stack([at_events[:, cell], at_others[:, cell]], axis=1)
    if cells.start is not None:
        rate += (np.gradient(mean, cells.score, axis=1)[:, cell] * ahead)[:, None]
    share = np.stack([hits, scores.trials - hits], axis=1) / scores.trials.sum()
    gap = np.where(share > 0, rate - scores.score, 0)
    share, gap = (values.reshape(len(hits), -1) for values in (share, gap))
    return power_mean(gap, order, lambda power: (share * power).sum(axis=-1))


def _rates(cells: Scores, moments: list[Floats], bandwidth: float) -> tuple[Floats, Floats, Floats]:
    """Mean outcome around each cell, for an event and another case of it left out, and for none.

    `moments` are those of the events of each replicate and, last, of the cases, about the score of
    each cell, from the zeroth.
    """
    score, trials, hits = cells.score, cells.trials, moments[0][:-1]
    series = moments if cells.start is None else _in_log_odds(score, moments, bandwidth)
    rates = np.empty((3, *hits.shape))
    first, last = _near(_stretched(score, bandwidth))
    for part in blocks(score.size, int((last - first).mean()), BETA_BLOCK):
        row = np.arange(part.start, part.stop)
        near = slice(first[part].min(), last[part].max())
        kernel = _log_beta_kernel(score[row], score[near], bandwidth)
        own = (row - part.start, row - near.start)
        kernel[own] = np.where(trials[row] > 1, kernel[own], -np.inf)
        kernel -= kernel.max(axis=1, keepdims=True)
        np.exp(kernel, out=kernel)
        tied = kernel[own].copy()
        kernel[own] = 0
        scaled = logit(score[row]) / bandwidth
        sums = np.zeros((len(hits) + 1, row.size))
        for power, term in enumerate(series):
            sums += scaled**power * (term[:, near] @ kernel.T)
        events, total = sums[:-1], sums[-1]
        for rate, outcome, cases in zip(
            rates,
            (1, 0, 0),
            (hits[:, row], trials[row] - hits[:, row], np.zeros_like(hits[:, row])),
            strict=True,
        ):
            left_out = np.minimum(cases, 1)
            rest = events + tied * (hits[:, row] - outcome * left_out)
            rate[:, part] = rest / (total + tied * (trials[row] - left_out))
    return rates[0], rates[1], rates[2]


def _near(line: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row that can matter to each, and the first beyond those that can."""
    step = np.concatenate([[np.inf], np.diff(line), [np.inf]])
    reach = BETA_REACH + np.minimum(step[:-1], step[1:])
    return np.searchsorted(line, line - reach), np.searchsorted(line, line + reach, side="right")


def _in_log_odds(score: Floats, moments: list[Floats], bandwidth: float) -> list[Floats]:
    """Coefficients of powers of a point's log-odds / bandwidth, in the kernel's Taylor series.

    The kernel's logarithm has the derivative (log-odds - middle) / bandwidth in its centre.
    """
    mass, first, second = moments
    ends = score / bandwidth + 1, (1 - score) / bandwidth + 1
    middle = (digamma(ends[0]) - digamma(ends[1])) / bandwidth
    spread = (polygamma(1, ends[0]) + polygamma(1, ends[1])) / bandwidth**2
    half = second / 2
    return [
        mass - first * middle + half * (middle**2 - spread),
        first - 2 * half * middle,
        half,
    ]


def _log_beta_kernel(at: Floats, centre: Floats, bandwidth: float) -> Floats:
    """Log density at each point (rows) of the beta kernel around each centre (columns)."""
    first, second = centre / bandwidth, (1 - centre) / bandwidth
    log_kernel: Floats = np.stack([np.log(at), np.log1p(-at)], axis=1) @ np.stack([first, second])
    log_kernel -= betaln(first + 1, second + 1)
    return log_kernel


def likeliest_bandwidth(scores: Scores) -> float:
    """The candidate of largest leave-one-out likelihood, equal scores left out together."""
    if scores.score.size == 1:
        return float(CANDIDATES[-1])  # with one score there is nothing to weigh
    size = scores.score.size
    judges = np.unique(np.linspace(0, size - 1, min(JUDGES, size)).round().astype(int))
    score, trials = scores.score[judges], scores.trials[judges]
    fine = put_together(scores, float(CANDIDATES[0]), pairs=FEW_PAIRS)

    def likelihood(bandwidth: float) -> float:
        rows = put_together(fine, bandwidth, BETA_COARSE, FEW_PAIRS)
        own = rows.row_of(fine.row_of(judges))
        others = np.broadcast_to(rows.trials, (judges.size, rows.score.size)).copy()
        others[np.arange(judges.size), own] -= trials
        others[others < NO_WEIGHT] = 0
        kernel = _log_beta_kernel(score, rows.score, bandwidth)
        return float(trials @ logsumexp(kernel, axis=1, b=others))

    return float(CANDIDATES[int(np.argmax([likelihood(float(h)) for h in CANDIDATES]))])
