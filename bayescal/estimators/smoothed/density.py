"""Calibration errors by kernel density: of log-odds (LS-ECE) and of scores (KDE-ECE)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from bayescal._base.arrays import Floats, blocks
from bayescal._base.errors import InputError
from bayescal.data.table import tabulate
from bayescal.data.validate import as_order, check_choice, is_matrix
from bayescal.estimators.classes import read_classes
from bayescal.estimators.door import Cases, OutcomesLike, Statistic, evaluate, read
from bayescal.estimators.registry import estimator
from bayescal.estimators.smoothed._beta_kernel import (
    BETA_FINE,
    Scores,
    likeliest_bandwidth,
    put_together,
    ratio_norm,
)
from bayescal.estimators.smoothed._cosines import (
    MOST_CELLS,
    absolute_area,
    as_bandwidth,
    cosines,
    fast_size,
    log_odds_line,
    series,
    too_small,
)
from bayescal.estimators.smoothed._dirichlet_kernel import class_norm, likeliest_class_bandwidth
from bayescal.estimators.smoothed._triweight import NARROWEST, triweight_norms

__all__ = ["kde_ece", "ls_ece"]

DENSITY_NODES = 64
"""Nodes at which smoothed log-odds are evaluated, to the bandwidth."""
KDE_EDGE = 1e-6
ONE_CASE = "y_true has only one case: leaving it out leaves none to compare."
DENSITY_BLOCK = 1 << 22
GROUP = 1 << 17


def _ls_core(scores: Floats, weights: Floats | None, *, bandwidth: float) -> Statistic:
    """Core of `ls_ece`."""
    line, start = log_odds_line(scores, bandwidth)
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
    pieces: Floats = (13 * (height[:, :-1] + height[:, 1:]) - sides[:, :-3] - sides[:, 3:]) / 24
    return pieces


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

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or `bandwidth` is not
        positive or too small to resolve.

    Notes
    -----
    The integral is computed, to about 1e-8; the authors draw noise and average, and print other
    digits each time (.1363 for .1355 with 10,000 draws). Unlike in SmoothECE a score is compared
    with the outcomes at its noisy position, so that noise alone makes a calibrated model's value a
    little more than zero.

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
    table = tabulate(np.clip(scores, KDE_EDGE, 1 - KDE_EDGE), weights)
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

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, an option is out of
        range, "ratio" has only one case, or "triweight" finds no bandwidth because the scores of
        the events are all (nearly) equal.

    Notes
    -----
    For "ratio", scores within 1e-6 of 0 or 1 are moved there, since the kernel vanishes at the
    ends. The authors' code returns twice the mean for two classes, takes no root, and gives NaN
    at a score of 1. Its choice of bandwidth divides the likelihood by the bandwidth once more and
    counts a tied score as a neighbour, so that it ends at the least candidates (7e-5 and 1e-5
    where the likelihood peaks at .01 and .05); here equal scores are left out together. The
    likelihood is that of at most 256 scores, evenly spaced by rank. Where more than 2^25 pairs of
    scores are near each other, which some 6,000 scores can have, scores within 1/32 of the kernel's
    width are put together, each with the first three moments of its events: this changed the value
    by at most 1e-6 with 10,000 cases, over three truths and six bandwidths, and with 30,000 cases,
    over two truths at a bandwidth of 1e-4.

    Of two columns it is 2^(1/p) times that of the second alone. Of several classes it is far above
    0 for a calibrated model: with predictions spread evenly over three classes and p = 2 it was .28
    with 178 cases and .21 with 1000, the mean of 20 simulated samples. Of a matrix all
    pairs of cases are visited, and probabilities within 1e-6 of 0 are moved there, after which each
    row is divided by its sum.

    For "triweight", the authors' code integrates on a grid of steps of 1.3e-4 that leaves out the
    ends, and takes no root. With 36 % of the scores at 1 it says .0419 for .0416.

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
    width = None if bandwidth is None else as_bandwidth(bandwidth, "bandwidth")
    narrowest = 1e-9 if form == "ratio" else NARROWEST
    if width is not None and width < narrowest:
        raise InputError(
            f"bandwidth = {width:g} is too small to resolve: take at least {narrowest:.1g}."
        )
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
