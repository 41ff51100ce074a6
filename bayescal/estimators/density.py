"""Calibration errors by kernel densities of the scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, digamma, expit, gammaln, logit, logsumexp, polygamma, spherical_jn

from bayescal.core.arrays import Floats, blocks, power_mean
from bayescal.core.errors import InputError, as_order, check_choice
from bayescal.core.optimise import log_odds_of
from bayescal.data.cases import is_matrix
from bayescal.data.rows import levels_of
from bayescal.estimators.classes import read_classes
from bayescal.estimators.registry import Cases, OutcomesLike, Statistic, estimator, evaluate, read
from bayescal.estimators.smooth import (
    MOST_CELLS,
    absolute_area,
    as_bandwidth,
    cosines,
    fast_size,
    open_line,
    series,
    too_small,
)

CANDIDATES = np.concatenate([np.logspace(-5, -1, 15), np.linspace(0.2, 1, 5)])
JUDGES = 256
# Weights below it have no reciprocal.
NO_WEIGHT = 1e-300
BETA_BLOCK = 1 << 18
# Pairs of near scores up to which the kernel is evaluated between the scores themselves.
MOST_PAIRS = 1 << 25
# Cells to a unit of the stretched line, between which kernels are evaluated.
BETA_CELLS = 32
# The same for the gaps, which are added up.
BETA_FINE = 512
FEW_PAIRS = 1 << 22
# The same for likelihoods, which are compared between bandwidths each twice the last.
BETA_COARSE = 8
# Units beyond which kernels do not meet, and how far beyond the nearest score they may.
BETA_REACH = 30.0
BETA_NODES = 1 << 17


class Scores(NamedTuple):
    """Scores in ascending order, and the cases at each.

    `start` is where each begins among the scores that were put together; None where none were.
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
    return np.asarray(logit(score) + 2 / np.sqrt(bandwidth) * np.arcsin(np.sqrt(score)))


def ratio_norm(scores: Scores, hits: Floats, bandwidth: float, order: float) -> Floats:
    """The norm of the gaps, for events and the other cases at each score; hits (replicates, rows).

    Kernels are evaluated between cells, with the first three moments of their events. Within a cell
    a rate follows the slope of the mean outcome, so that gaps are of the scores where they change
    sign.
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

    return float(max(CANDIDATES, key=likelihood))


DIRICHLET_BLOCK = 1 << 21


def class_norm(
    prob: Floats, labels: NDArray[np.intp], weight: Floats, bandwidth: float, order: float
) -> Floats:
    """The norm of class frequencies around each prediction less it, (replicates,).

    prob, (n, classes), is inside the simplex; labels (replicates, n); weights are more than 1 in
    all.
    """
    size, classes = prob.shape
    gap = np.empty((len(labels), size, classes))
    happened = labels[..., None] == np.arange(classes)
    for part in blocks(size, size, DIRICHLET_BLOCK):
        row = np.arange(part.stop - part.start)
        mass = np.broadcast_to(weight, (row.size, size)).copy()
        mass[row, np.arange(size)[part]] -= np.minimum(weight[part], 1)
        log_kernel = _log_kernel(prob[part], prob, bandwidth)
        log_kernel -= np.where(mass > 0, log_kernel, -np.inf).max(axis=1, keepdims=True)
        kernel = mass * np.exp(np.minimum(log_kernel, 0))
        kernel /= kernel.sum(axis=1, keepdims=True)
        gap[:, part] = kernel @ happened - prob[part]
    share = np.repeat(weight / weight.sum(), classes)
    counted = np.where(share > 0, gap.reshape(len(labels), -1), 0)
    return power_mean(counted, order, lambda power: power @ share)


def likeliest_class_bandwidth(prob: Floats, weight: Floats) -> float:
    """The candidate of largest leave-one-out likelihood, equal predictions left out together."""
    rows, member = np.unique(prob, axis=0, return_inverse=True)
    trials = np.bincount(member.ravel(), weight)
    if len(rows) == 1:
        return float(CANDIDATES[-1])
    judges = np.unique(np.linspace(0, len(rows) - 1, min(JUDGES, len(rows))).round().astype(int))
    others = np.broadcast_to(trials, (judges.size, len(rows))).copy()
    others[np.arange(judges.size), judges] = 0

    def likelihood(bandwidth: float) -> float:
        kernel = _log_kernel(rows[judges], rows, bandwidth)
        return float(trials[judges] @ logsumexp(kernel, axis=1, b=others))

    return float(max(CANDIDATES, key=likelihood))


def _log_kernel(at: Floats, centre: Floats, bandwidth: float) -> Floats:
    """Log density at each point (rows) of the Dirichlet law around each centre (columns)."""
    log_kernel: Floats = np.log(at) @ (centre.T / bandwidth)
    log_kernel -= gammaln(centre / bandwidth + 1).sum(axis=1)
    log_kernel += gammaln(centre.sum(axis=1) / bandwidth + centre.shape[1])
    return log_kernel


TRIWEIGHT_CELLS = 256
# Cells and nodes to the bandwidth: the cosines of the kernel die out only as 1 / k^4.
TRIWEIGHT_NODES = 1024
MOST_NODES = 1 << 18
NARROWEST = 3e-4
# Bandwidth at which the densities are constant.
TRIWEIGHT_FLAT = 1e3
TRIWEIGHT_GROUP = 1 << 17


def triweight_norms(
    scores: Floats,
    outcomes: NDArray[Any],
    weights: Floats | None,
    bandwidth: float | None,
    order: float,
) -> Floats:
    """The norm of score less local mean outcome, NaN where the events give no bandwidth."""
    weight = np.ones(scores.size) if weights is None else weights
    total = float(weight.sum())
    values = np.full(outcomes.shape[0], np.nan)
    for part in blocks(values.size, max(scores.size, TRIWEIGHT_NODES), TRIWEIGHT_GROUP):
        hits = outcomes[part] * (weight / total)
        width = _spread(scores, hits) * (2 * total) ** -0.2
        if bandwidth is not None:
            width[:] = min(bandwidth, TRIWEIGHT_FLAT)
        row = np.flatnonzero(width >= NARROWEST)
        if row.size:
            masses = np.concatenate([weight[None] / total, hits[row]])
            values[part.start + row] = _norms(scores, masses, width[row], order)
    return values


def _spread(scores: Floats, hits: Floats) -> Floats:
    """Standard deviation of the scores of the events; 0 without events."""
    events = np.maximum(hits.sum(axis=1), np.finfo(float).tiny)
    middle = float(scores.mean())
    mean = hits @ (scores - middle) / events
    square = hits @ (scores - middle) ** 2 / events
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0)))


def _norms(scores: Floats, masses: Floats, width: Floats, order: float) -> Floats:
    """The norm for each bandwidth, from the masses of all cases and of each set of events."""
    least = min(1.0, float(width.min()))
    coefs = cosines(scores, masses, fast_size(TRIWEIGHT_CELLS / least))
    intervals = fast_size(min(TRIWEIGHT_NODES / least, MOST_NODES))
    wave = 3 * np.pi * width[:, None] * np.arange(1, coefs.shape[1])
    damping = 105 * spherical_jn(3, wave) / wave**3
    kernel = np.concatenate([np.ones((width.size, 1)), damping], axis=1)
    density, events = series(coefs[:1] * kernel, intervals), series(coefs[1:] * kernel, intervals)
    covered = density > 1e-9 * density.max(axis=1, keepdims=True)
    rate = events / np.where(covered, density, 1)
    gap = np.where(covered, np.linspace(0, 1, intervals + 1) - rate, 0)
    return power_mean(
        gap, order, lambda power: np.trapezoid(power * density, dx=1 / intervals, axis=1)
    )


# Nodes at which smoothed log-odds are evaluated, to the bandwidth.
DENSITY_NODES = 64
KDE_EDGE = 1e-6
ONE_CASE = "y_true has only one case: leaving it out leaves none to compare."
DENSITY_BLOCK = 1 << 22
GROUP = 1 << 17


def _ls_core(scores: Floats, weights: Floats | None, *, bandwidth: float) -> Statistic:
    """Core of `ls_ece`."""
    line, start = open_line(log_odds_of(scores), bandwidth)
    wanted = DENSITY_NODES * line.length / min(bandwidth, 1)
    if wanted > MOST_CELLS and bandwidth < 1:
        raise too_small(bandwidth, 2 * DENSITY_NODES * line.length / MOST_CELLS)
    intervals = fast_size(min(wanted, MOST_CELLS))
    one = np.broadcast_to(1 / scores.size, scores.size)
    share = one if weights is None else weights / weights.sum()
    probability = expit(start + line.length * np.linspace(0, 1, intervals + 1))

    def smooth(masses: Floats) -> Floats:
        coefs = cosines(line.position, masses, line.cells(bandwidth / 2))
        wave = np.pi * bandwidth / line.length * np.arange(coefs.shape[1])
        return series(coefs * np.exp(-0.5 * wave**2), intervals)

    expected = probability * smooth(share[None])

    def statistic(outcomes: NDArray[Any]) -> Floats:
        values = np.empty(outcomes.shape[0])
        for part in blocks(values.size, intervals, GROUP):
            gap = smooth(outcomes[part] * share) - expected
            values[part] = absolute_area(gap, _pieces(gap) / intervals, 1 / intervals)[0]
        return values

    return statistic


def _pieces(height: Floats) -> Floats:
    """Integral between neighbouring nodes a step apart, of what vanishes at both ends."""
    sides = np.pad(height, ((0, 0), (1, 1)))
    return np.asarray((13 * (height[:, :-1] + height[:, 1:]) - sides[:, :-3] - sides[:, 3:]) / 24)


@estimator(
    "Logit-smoothed ECE",
    prepare=_ls_core,
    paper="Chidambaram, Lee, McSwiggen & Rezchikov 2024",
    estimates="calibration error of the model whose log-odds have Gaussian noise added",
    span=(0, 1),
    cost="n",
)
def ls_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float = 1 / 15,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """LS-ECE: the calibration error left when Gaussian noise is added to the log-odds.

    With t = logit s + bandwidth z, E_t |E[y | t] - expit t| = integral over the real line of
    |sum_i w_i (y_i - expit t) phi_sigma(t - logit s_i)| dt, w_i the share of each case.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    bandwidth : float
        Standard deviation of the noise, in log-odds. The authors match 15 bins by 1/15.
    %(weights)s

    %(returns_share)s

    %(refuses)s
        Also if `bandwidth` is too small to resolve.

    Notes
    -----
    The integral is computed, to about 1e-8. Unlike in SmoothECE a score is compared with the
    outcomes at its noisy position, so that noise alone makes a calibrated model's value a little
    more than zero.

    References
    ----------
    Chidambaram, Lee, McSwiggen & Rezchikov, "How Flawed Is ECE? An Analysis via Logit Smoothing",
    ICML 2024.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> round(estimators.ls_ece(y_true, y_prob), 4)
    0.0425
    """
    cases = read(y_true, y_prob, sample_weight, single=True)
    return evaluate(_ls_core, cases, bandwidth=as_bandwidth(bandwidth))


def _kde_core(
    scores: Floats, weights: Floats | None, *, form: str, bandwidth: float | None, p: float
) -> Statistic:
    """Core of `kde_ece`."""
    if form == "triweight":
        return lambda outcomes: triweight_norms(scores, outcomes, weights, bandwidth, p)
    table = levels_of(np.clip(scores, KDE_EDGE, 1 - KDE_EDGE), weights)
    if table.total <= 1:
        raise InputError(ONE_CASE)
    every = Scores(table.score, table.trials)
    chosen = likeliest_bandwidth(every) if bandwidth is None else bandwidth
    fine = put_together(every, chosen, BETA_FINE)
    return lambda outcomes: ratio_norm(fine, fine.sums(table.hits(outcomes)), chosen, p)


def _norm_of_classes(cases: Cases, bandwidth: float | None, order: float) -> Floats:
    """KDE-ECE of labels and a matrix of probabilities, for each replicate."""
    size = cases.scores.shape[1]
    weight = np.ones(size) if cases.weights is None else cases.weights
    kept = weight > 0
    weight = weight[kept]
    if weight.sum() <= 1:
        raise InputError(ONE_CASE)
    prob = np.maximum(cases.scores.T[kept], KDE_EDGE)
    prob /= prob.sum(axis=1, keepdims=True)
    chosen = likeliest_class_bandwidth(prob, weight) if bandwidth is None else bandwidth
    return class_norm(prob, cases.outcomes[:, kept], weight, chosen, order)


@estimator(
    "KDE-ECE",
    prepare=_kde_core,
    paper="Popordanoska, Sayer & Blaschko 2022; Zhang, Kailkhura & Han 2020",
    estimates="calibration error, with the mean outcome at each score by kernel regression",
    span=(0, 1),
    dear="Twenty bandwidths are compared by their likelihoods, and kernels evaluated between "
    "some thousand cells, for any number of cases.",
)
def kde_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    form: str = "ratio",
    bandwidth: float | None = None,
    p: float = 1,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """KDE-ECE: the mean gap between score and a kernel regression of the outcomes, in two forms.

    "ratio" (Popordanoska et al.): (mean_j |r_j - s_j|^p)^(1/p), where r_j = sum_(i != j)
    k(s_j; s_i) y_i / sum_(i != j) k(s_j; s_i), and k(.; s) is the density of a beta distribution
    with parameters s / bandwidth + 1 and (1 - s) / bandwidth + 1.

    "triweight" (Zhang et al.): (integral from 0 to 1 of |t - pi f_1(t) / f(t)|^p f(t) dt)^(1/p),
    where pi is the share of events, and f_1 and f are densities of the scores of events and of all
    cases, by one triweight kernel reflected at 0 and 1.

    Of a matrix of class probabilities "ratio" is the canonical calibration error,
    (mean_j sum_k |r_jk - p_jk|^p)^(1/p), where r_j are the frequencies of the classes around p_j,
    and k(.; p) is the density of a Dirichlet distribution with parameters p / bandwidth + 1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; with a matrix of probabilities, column numbers. Leading dimensions are
        replicates. A table stands for outcomes, scores and weights.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Predicted probabilities of the event, or of each class.
    form : {"ratio", "triweight"}
        See above.
    bandwidth : float, optional
        Of the beta kernel as above, or the standard deviation of the triweight kernel. By default
        that of largest leave-one-out likelihood among the authors' 20 candidates, and
        sd(scores of the events) (2 n)^(-1/5).
    p : float
        Order of the norm, at least 1.
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        From 0 to 1, or to 2^(1/p) of a matrix; one for each replicate when `y_true` has leading
        dimensions. A replicate where it is undefined is NaN.

    %(refuses)s
        Also if "ratio" has only one case, or "triweight" finds no bandwidth because the scores of
        the events are all (nearly) equal.

    Notes
    -----
    For "ratio", scores within 1e-6 of 0 or 1 are moved there, since the kernel vanishes at the
    ends. The bandwidth is chosen by the likelihood of at most 256 scores, evenly spaced by rank, of
    which equal ones are left out together. Where more than 2^25 pairs of
    scores are near each other, which some 6,000 scores can have, scores within 1/32 of the kernel's
    width are put together, each with the first three moments of its events: this changed the value
    by at most 1e-6 with 10,000 cases, over three truths and six bandwidths, and with 30,000 cases,
    over two truths at a bandwidth of 1e-4.

    Of two columns it is 2^(1/p) times that of the second alone. Of several classes it is far above
    0 for a calibrated model: with predictions spread evenly over three classes and p = 2 it was .28
    with 178 cases and .21 with 1000, the mean of 20 simulated samples. Of a matrix all
    pairs of cases are visited, and probabilities within 1e-6 of 0 are moved there, after which each
    row is divided by its sum.

    References
    ----------
    Popordanoska, Sayer & Blaschko, "A Consistent and Differentiable Lp Canonical Calibration Error
    Estimator", NeurIPS 2022.

    Zhang, Kailkhura & Han, "Mix-n-Match: Ensemble and Compositional Methods for Uncertainty
    Calibration in Deep Learning", ICML 2020.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> round(estimators.kde_ece(y_true, y_prob, bandwidth=0.02), 4)
    0.0145
    >>> round(estimators.kde_ece(y_true, y_prob, form="triweight"), 4)
    0.0192
    >>> y_prob = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]]
    >>> round(estimators.kde_ece([0, 1, 1], y_prob, bandwidth=0.1), 4)
    1.3185
    """
    check_choice(form, ("ratio", "triweight"), "form")
    order = as_order(p)
    width = None if bandwidth is None else as_bandwidth(bandwidth)
    narrowest = 1e-9 if form == "ratio" else NARROWEST
    if width is not None and width < narrowest:
        raise too_small(width, narrowest)
    if is_matrix(y_prob):
        check_choice(form, ("ratio",), "form")
        classes = read_classes(y_true, y_prob, sample_weight, "y_prob")
        return classes.result(_norm_of_classes(classes, width, order))
    cases = read(y_true, y_prob, sample_weight, single=form == "ratio")
    if form == "ratio":
        cases = cases.ranked()
    value = evaluate(_kde_core, cases, form=form, bandwidth=width, p=order, block=DENSITY_BLOCK)
    if isinstance(value, float) and np.isnan(value):
        raise InputError(
            "y_true has no two events at clearly different scores, so that form='triweight' finds "
            "no bandwidth. Say bandwidth=."
        )
    return value
