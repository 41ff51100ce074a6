"""Kernel calibration errors and their test (Widmann et al. 2019)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc, gammaincc, ndtr

from bayescal.core.arrays import Floats, RandomState, blocks, random_generator
from bayescal.core.errors import MOST_DRAWS, InputError, as_count, check_choice
from bayescal.core.text import documented
from bayescal.data.cases import is_matrix
from bayescal.data.rows import Levels, levels_of
from bayescal.data.weights import are_counts
from bayescal.estimators import registry
from bayescal.estimators.classes import read_classes
from bayescal.estimators.registry import Cases, OutcomesLike, Statistic, Tested

# Masses at ascending scores, (replicates, n), to sum_ij m_i m_j k(s_i, s_j), (replicates,).
Form = Callable[[Floats], Floats]

KERNEL_NARROWEST = {"gaussian": 1e-3, "laplace": 1e-9}
KERNEL_WIDEST = 1e9
KERNEL_REACH = 300.0
KERNEL_BLOCK = 1 << 18
KERNEL_TAIL = 8.6


def as_width(width: Any, kernel: str) -> float:
    """A width of this kernel that scores can be told apart by."""
    least = KERNEL_NARROWEST[check_choice(kernel, KERNEL_NARROWEST, "kernel")]
    return registry.as_between(
        width, "bandwidth", least, KERNEL_WIDEST, f" for the {kernel} kernel"
    )


def kernel_at(distance: Floats, kernel: str, width: float) -> Floats:
    """The kernel itself, 1 at distance 0."""
    scaled = distance / width
    return np.exp(-scaled) if kernel == "laplace" else np.exp(-0.5 * scaled**2)


def form_of(scores: Floats, kernel: str, width: float) -> Form:
    """The sum over all pairs of ascending scores, each with itself included."""
    make = laplace_form if kernel == "laplace" else gaussian_form
    return make(scores, width)


def laplace_form(scores: Floats, width: float) -> Form:
    """By F_j = sum_(i <= j) m_i exp(-(s_j - s_i) / w): sum_j F_j^2 (1 - exp(-2 gap_j / w)).

    gap_j is the distance to the next score, endless for the last: what F_j loses on its way there.
    Within a part F_j is a running sum of m_i growth_i, over growth_j.
    """
    gap = np.diff(scores, append=np.inf) / width
    parts = [
        (part, growth := np.exp((scores[part] - scores[part.start]) / width),
         -np.expm1(-2 * gap[part]) / growth**2, float(np.exp(-gap[part.stop - 1]) / growth[-1]))
        for part in _parts(scores, KERNEL_REACH * width)
    ]  # fmt: skip

    def form(masses: Floats) -> Floats:
        total = np.zeros(masses.shape[0])
        carried = np.zeros(masses.shape[0])
        for part, growth, lost, kept in parts:
            reached = masses[:, part] * growth
            reached[:, 0] += carried
            np.cumsum(reached, axis=1, out=reached)
            carried = reached[:, -1] * kept
            total += np.einsum("ri,i->r", np.square(reached, out=reached), lost)
        return total

    return form


def _parts(scores: Floats, reach: float) -> list[slice]:
    """Stretches of ascending scores, of bounded length and number."""
    cell = (scores - scores[0]) // reach
    starts = np.append(np.flatnonzero(np.diff(cell)) + 1, np.arange(0, scores.size, KERNEL_BLOCK))
    ends = np.append(np.unique(starts), scores.size).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def gaussian_form(scores: Floats, width: float) -> Form:
    """By the cosine series of the kernel, whose period is so long that no copy of it reaches back.

    k(d) = sum_k c_k cos(2 pi k d / period) with c_k > 0, so the sum is one of squared waves.
    """
    offset = scores - scores[0]
    period = offset[-1] + (KERNEL_TAIL + 0.4) * width
    highest = math.ceil(KERNEL_TAIL * period / (2 * math.pi * width))
    wave = 2 * math.pi / period * np.arange(highest + 1)
    power = width * math.sqrt(2 * math.pi) / period * np.exp(-0.5 * (wave * width) ** 2)
    power[1:] *= 2

    def form(masses: Floats) -> Floats:
        total = np.zeros(masses.shape[0])
        for part in blocks(wave.size, scores.size, KERNEL_BLOCK):
            angle = offset[:, None] * wave[part]
            total += ((masses @ np.cos(angle)) ** 2 + (masses @ np.sin(angle)) ** 2) @ power[part]
        return total

    return form


NULL_MOST_CELLS = 512
SYMMETRIC = 1e-5
NULL_LEAST = 1e-12
NULL_BLOCK = 1 << 17


def draw_calibrated(
    table: Levels, kernel: str, bandwidth: float, draws: int, rng: np.random.Generator
) -> Floats:
    """Unbiased squared errors of outcomes drawn from the scores, of shape (draws,)."""
    form = form_of(table.score, kernel, bandwidth)
    trials = table.trials.astype(np.int64)
    many = np.flatnonzero(trials > 1)
    values = np.empty(draws)
    for part in blocks(draws, trials.size, NULL_BLOCK):
        size = part.stop - part.start
        hits = (rng.random((size, trials.size)) < table.score).astype(np.float64)
        hits[:, many] = rng.binomial(trials[many], table.score[many], (size, many.size))
        values[part] = pairs_of_hits(table, form, hits).mean("unbiased")
    return values


def moments_of(table: Levels, kernel: str, width: float) -> tuple[float, float]:
    """Standard deviation and skewness of the unbiased squared error, whose mean is 0.

    Over outcomes drawn from the scores.

    With v and m the second and third central moments of an outcome, sum_(i != j) r_i r_j k_ij has
    the second moment 2 sum_(i != j) v_i v_j k_ij^2 and the third
    4 sum_(i != j) m_i m_j k_ij^3 + 8 sum_(i, j, l distinct) v_i v_j v_l k_ij k_jl k_li.
    More than 512 distinct scores are put together in as many cells.
    """
    score, trials = table.score, table.trials
    variance = score * (1 - score)
    third = variance * (1 - 2 * score)
    cell, cells = _cells(score)

    def total(values: Floats) -> Floats:
        return np.bincount(cell, trials * values, cells).astype(np.float64, copy=False)

    single, square, cube = (total(variance**order) for order in (1, 2, 3))
    position = total(score) / total(np.ones_like(score))
    similar = kernel_at(np.abs(position[:, None] - position), kernel, width)
    paired = similar**2 @ single
    second = 2 * (single @ paired - square.sum())
    product = similar * single
    distinct = np.sum((product @ product) * product.T) - 3 * square @ paired + 2 * cube.sum()
    skewed = total(third) @ similar**3 @ total(third) - total(third**2).sum()
    if second <= NULL_LEAST * square.sum():
        raise InputError(
            f"bandwidth {width:g} is so small that no two scores are alike, and there are no "
            "pairs to test. Make it larger."
        )
    sd = np.sqrt(second)
    pairs = table.total * (table.total - 1)
    return float(2 * sd / pairs), float((4 * skewed + 8 * distinct) / sd**3)


def _cells(score: Floats) -> tuple[NDArray[np.intp], int]:
    """The cell of each distinct score, without empty ones, and their number."""
    if score.size <= NULL_MOST_CELLS:
        return np.arange(score.size), score.size
    position = (score - score[0]) * (NULL_MOST_CELLS / (score[-1] - score[0]))
    _, cell = np.unique(
        np.minimum(position.astype(np.intp), NULL_MOST_CELLS - 1), return_inverse=True
    )
    return cell, int(cell[-1]) + 1


def pearson_sf(z: Floats, skewness: float) -> Floats:
    """Upper tail of the Pearson III law (a shifted gamma) of mean 0, variance 1, this skewness."""
    if abs(skewness) < SYMMETRIC:
        return np.asarray(ndtr(-z))
    shape = 4 / skewness**2
    at = np.maximum(shape + np.copysign(np.sqrt(shape), skewness) * z, 0)
    tail = gammaincc(shape, at) if skewness > 0 else gammainc(shape, at)
    return np.asarray(tail)


class PairSums(NamedTuple):
    """Sums over pairs of r r' k, with r the outcome minus the score: all, and each with itself."""

    every: Floats
    own: Floats
    cases: float

    def mean(self, form: str) -> Floats:
        """Mean over pairs, of both classes together; each case with itself if it is "biased"."""
        if form == "biased":
            return 2 * self.every / self.cases**2
        return 2 * (self.every - self.own) / (self.cases * (self.cases - 1))


def pairs_of_hits(table: Levels, form: Form, hits: Floats) -> PairSums:
    """Sums over pairs, from the events at each distinct score, (replicates, rows)."""
    score, trials = table.score, table.trials
    own = np.einsum("ri,i->r", hits, 1 - 2 * score) + np.sum(trials * score**2)
    return PairSums(form(hits - trials * score), own, table.total)


# The name of a kernel, or a function of two matrices of predictions.
ClassKernel: TypeAlias = str | Callable[[Floats, Floats], Any]

# Predictions (a, classes) and (b, classes) to (a, b), or to matrices, (a, b, classes, classes).
Matrices = Callable[[Floats, Floats], Floats]

DISTANCES = {"laplace": "cityblock", "gaussian": "euclidean"}
# Of the distances, so that of two classes both are the difference of the scores.
CLASS_SCALES = {"laplace": 0.5, "gaussian": 0.5**0.5}
CLASSES_BLOCK = 1 << 21


def pairs_of_classes(cases: Cases, kernel: ClassKernel, bandwidth: float) -> PairSums:
    """Sums over pairs of cases of r' k r, halved, since `PairSums` counts one class of two."""
    matrices = _matrices(kernel, bandwidth)
    prob = np.ascontiguousarray(cases.scores.T)
    size, classes = prob.shape
    weight = np.ones(size) if cases.weights is None else cases.weights
    every, own = np.zeros((2, len(cases.outcomes)))
    for part in blocks(size, size * matrices(prob[:1], prob[:1]).size, CLASSES_BLOCK):
        similar = matrices(prob[part], prob)
        itself = similar[np.arange(part.stop - part.start), np.arange(size)[part]]
        for row, labels in enumerate(cases.outcomes):
            residual = (labels[:, None] == np.arange(classes)) - prob
            weighed = weight[:, None] * residual
            if similar.ndim == 2:
                every[row] += np.sum(weighed[part] * (similar @ weighed))
                own[row] += weight[part] @ (itself * np.sum(residual[part] ** 2, axis=1))
            else:
                with_others = np.einsum("abkl,bl->ak", similar, weighed)
                every[row] += np.sum(weighed[part] * with_others)
                alone = np.einsum("ak,akl,al->a", residual[part], itself, residual[part])
                own[row] += weight[part] @ alone
    return PairSums(np.maximum(every, 0) / 2, own / 2, float(weight.sum()))


def block_mean_of_classes(cases: Cases, kernel: ClassKernel, bandwidth: float, size: int) -> Floats:
    """Mean of r' k r over pairs within blocks of consecutive cases, for each replicate."""
    matrices = _matrices(kernel, bandwidth)
    kept = cases.scores.shape[1] // size * size
    prob = cases.scores.T[:kept]
    total = np.zeros(len(cases.outcomes))
    for start in range(0, kept, size):
        part = slice(start, start + size)
        similar = matrices(prob[part], prob[part])
        happened = cases.outcomes[:, part, None] == np.arange(prob.shape[1])
        residual = happened - prob[part]
        form = "rik,ij,rjk->rij" if similar.ndim == 2 else "rik,ijkl,rjl->rij"
        products = np.einsum(form, residual, similar, residual)
        total += products.sum(axis=(1, 2)) - np.einsum("rii->r", products)
    return np.asarray(total / (kept * (size - 1)))


def _matrices(kernel: Any, bandwidth: float) -> Matrices:
    """The kernel as a function of two matrices of predictions, whose values are checked."""
    if callable(kernel):
        return lambda first, second: _checked(kernel, first, second)
    from scipy.spatial.distance import cdist

    width = as_width(bandwidth, kernel)
    metric, scale = DISTANCES[kernel], CLASS_SCALES[kernel]

    def similar(first: Floats, second: Floats) -> Floats:
        return kernel_at(scale * cdist(first, second, metric), kernel, width)

    return similar


def _checked(kernel: Callable[[Floats, Floats], Any], first: Floats, second: Floats) -> Floats:
    try:
        values = np.asarray(kernel(first, second), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"kernel does not take two matrices of predictions: {error}") from error
    classes = first.shape[1]
    pairs = (len(first), len(second))
    if values.shape not in (pairs, (*pairs, classes, classes)) or not np.isfinite(values).all():
        raise InputError(
            f"kernel must give a finite number for each pair of predictions, of shape {pairs}, or "
            f"a matrix for each, of shape {(*pairs, classes, classes)}; its shape is "
            f"{values.shape}."
        )
    return values


def _pairs_core(
    scores: Floats, weights: Floats | None, *, form: str, kernel: str, bandwidth: float
) -> Statistic:
    """The mean over pairs."""
    table = levels_of(scores, weights)
    _check_pairs(table.total, form)
    sums = form_of(table.score, kernel, bandwidth)
    return lambda outcomes: pairs_of_hits(table, sums, table.hits(outcomes)).mean(form)


def _kce_core(scores: Floats, weights: Floats | None, **options: Any) -> Statistic:
    """Core of `kce`."""
    square = _pairs_core(scores, weights, form="biased", **options)
    return lambda outcomes: np.sqrt(square(outcomes))


def _mmce_core(scores: Floats, weights: Floats | None, *, bandwidth: float) -> Statistic:
    """Core of `mmce`."""
    error = _kce_core(scores, weights, kernel="laplace", bandwidth=bandwidth)
    return lambda outcomes: error(outcomes) / np.sqrt(2)


KERNEL_DEAR = "Kernels of every distinct score, its residual and their running sums."


@registry.estimator(
    "Maximum mean calibration error",
    prepare=_mmce_core,
    paper="Kumar, Sarawagi & Jain 2018",
    estimates="kernel calibration error of residuals, with a Laplace kernel",
    span=(0, 1),
    bound="below TCE of order 1 in the population; biased upwards in a sample",
    dear=KERNEL_DEAR,
)
def mmce(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float = 0.4,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """MMCE of the event's scores: how alike the residuals of cases with similar scores are.

    sqrt(sum_ij r_i r_j exp(-|s_i - s_j| / h)) / n, with r the outcome minus the score and h the
    bandwidth. It is the largest mean of r f(s) over functions f of unit norm in the kernel's space.

    Parameters
    ----------
    %(replicated_cases)s
    bandwidth : float
        Of the kernel, from 1e-9 to 1e9. The authors' is 0.4.
    %(weights_by_kish)s

    %(returns_share)s

    Notes
    -----
    It is `kce` over the square root of 2, which counts both classes. Pairs of a case with itself
    are in the sum, so that a calibrated model with n cases gets about
    sqrt(mean of s (1 - s) / n); see `skce` for one without that bias.

    The sum over pairs takes a sort and one pass over the cases, and is exact.

    References
    ----------
    Kumar, Sarawagi & Jain, "Trainable Calibration Measures for Neural Networks from Kernel Mean
    Embeddings", ICML 2018, section 3.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.mmce([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 4)
    0.1264
    """
    cases = registry.read_ranked(y_true, y_prob, sample_weight)
    return registry.evaluate(_mmce_core, cases, bandwidth=as_width(bandwidth, "laplace"))


@registry.estimator(
    "Kernel calibration error",
    prepare=_kce_core,
    paper="Widmann, Lindsten & Zachariah 2019",
    estimates="kernel calibration error of both classes",
    span=(0, math.sqrt(2)),
    bound="below sqrt(2) times TCE of order 1 in the population; biased upwards in a sample",
    dear=KERNEL_DEAR,
)
def kce(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    kernel: ClassKernel = "laplace",
    bandwidth: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Kernel calibration error: the root of the biased `skce`.

    sqrt(2 sum_ij r_i r_j k(s_i, s_j)) / n, with r the outcome minus the score. For several classes
    it is sqrt(sum_ij r_i' k(p_i, p_j) r_j) / n, with r a vector.

    Parameters
    ----------
    y_true, y_prob
        As in `skce`.
    kernel : {"laplace", "gaussian"} or callable
        As in `skce`.
    bandwidth : float
        As in `skce`.
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        From 0 to sqrt(2); one for each replicate when `y_true` has leading dimensions.

    References
    ----------
    Widmann, Lindsten & Zachariah, "Calibration Tests in Multi-class Classification: A Unifying
    Framework", NeurIPS 2019.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.kce([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 4)
    0.1419
    """
    if is_matrix(y_prob):
        classes = read_classes(y_true, y_prob, sample_weight, "y_prob")
        return classes.result(np.sqrt(pairs_of_classes(classes, kernel, bandwidth).mean("biased")))
    cases = registry.read_ranked(y_true, y_prob, sample_weight)
    return registry.evaluate(
        _kce_core, cases, kernel=kernel, bandwidth=_as_width(bandwidth, kernel)
    )


def skce_core(
    scores: Floats,
    weights: Floats | None,
    *,
    form: str,
    kernel: str,
    bandwidth: float,
    block_size: int,
) -> Statistic:
    """Core of `skce`."""
    if form != "block":
        return _pairs_core(scores, weights, form=form, kernel=kernel, bandwidth=bandwidth)
    _check_unweighted(weights)
    return _block_mean(scores, kernel, bandwidth, block_size)


def _skce_of_classes(
    cases: Cases, form: str, kernel: ClassKernel, bandwidth: float, block_size: int
) -> Floats:
    """Each replicate's value, for labels and a matrix of probabilities."""
    if form == "block":
        _check_unweighted(cases.weights)
        most = cases.scores.shape[1]
        size = as_count(block_size, "block_size", 2, most, limit="the number of cases")
        return block_mean_of_classes(cases, kernel, bandwidth, size)
    sums = pairs_of_classes(cases, kernel, bandwidth)
    _check_pairs(sums.cases, form)
    return sums.mean(form)


def _as_width(width: Any, kernel: Any) -> float:
    if callable(kernel):
        raise InputError(
            "kernel is a function, which needs a matrix of probabilities as y_prob: pass the "
            "columns 1 - score and score, or the name of a kernel."
        )
    return as_width(width, kernel)


def _check_pairs(cases: float, form: str) -> None:
    if form == "unbiased" and not cases > 1:
        raise InputError(f"y_prob has {cases:.3g} cases, and a pair takes two.")


def _check_unweighted(weights: Floats | None) -> None:
    if weights is not None:
        raise InputError(
            "form='block' takes cases one by one in the order given, and so no sample_weight. "
            "Use form='unbiased'."
        )


def _block_mean(scores: Floats, kernel: str, bandwidth: float, size: int) -> Statistic:
    kept = scores.size // size * size
    blocks = scores[:kept].reshape(-1, size)

    def statistic(outcomes: NDArray[Any]) -> Floats:
        residual = (outcomes[:, :kept] - scores[:kept]).reshape(-1, *blocks.shape)
        total = np.zeros(outcomes.shape[0])
        for lag in range(1, size):
            like = kernel_at(np.abs(blocks[:, lag:] - blocks[:, :-lag]), kernel, bandwidth)
            total += np.einsum("rbi,rbi,bi->r", residual[..., lag:], residual[..., :-lag], like)
        return 4 * total / (kept * (size - 1))

    return statistic


@registry.estimator(
    "Squared kernel calibration error",
    prepare=skce_core,
    paper="Widmann, Lindsten & Zachariah 2019",
    estimates="squared kernel calibration error of both classes",
    span=(-2, 2),
    dear=KERNEL_DEAR,
)
def skce(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    form: str = "unbiased",
    kernel: ClassKernel = "laplace",
    bandwidth: float = 1.0,
    block_size: int = 2,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Squared kernel calibration error of all classes: unbiased, biased, or by blocks.

    The mean over pairs of cases of (e - p)' k(p, p') (e' - p'), with e the corner of the class that
    happened, p the prediction and k a kernel whose values are matrices, k(p, p') times the identity
    for those known by name. For an event it is 2 r r' k(s, s'), with r the outcome minus the score.
    It is 0 in the population if and only if the model is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; with a matrix of probabilities, column numbers. Leading dimensions are
        replicates. A table stands for outcomes, scores and weights.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Predicted probabilities of the event, or of each class.
    form : {"unbiased", "biased", "block"}
        "unbiased": over pairs of two different cases; may be negative. "biased": each case is
        paired with itself too; never negative. "block": over pairs within blocks of consecutive
        cases, in the order given, the rest of less than a block left out; unbiased, noisier.
    kernel : {"laplace", "gaussian"} or callable
        exp(-d / bandwidth), or exp(-d^2 / (2 bandwidth^2)), with d = |s - s'|. Of classes d is the
        total variation distance, half the sum of |p_k - p'_k|, for the Laplace kernel, and the
        Euclidean one over the square root of 2 for the Gaussian kernel; both are |s - s'| if there
        are two. With a matrix of probabilities it may be a function of two matrices, of shapes
        (a, n_classes) and (b, n_classes), that gives a positive definite kernel, of shape (a, b),
        or one whose values are matrices, of shape (a, b, n_classes, n_classes).
    bandwidth : float
        From 1e-9, or 1e-3 for the Gaussian kernel, to 1e9.
    block_size : int
        Cases in a block, at least 2; for "block" only.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases. Unless all are integers they are sampling weights, and are rescaled to
        Kish's effective sample size. "block" takes none.

    %(returns_number)s

    %(refuses)s
        Also if there is no pair of cases.

    Notes
    -----
    The sum over pairs is exact. Of an event it takes no visit to the pairs: with the Laplace kernel
    a sort and one pass over the cases, with the Gaussian kernel 1.4 (1 + 9 bandwidth) / bandwidth
    passes. Of a matrix of probabilities all pairs are visited.

    Of vectors (1 - s, s) the Euclidean distance is sqrt(2) |s - s'|. To match a program that takes
    such vectors, divide the bandwidth by the square root of 2.

    Widmann et al. write unbiased, biased and block for what they call SKCE_uq, SKCE_b and SKCE_ul.

    References
    ----------
    Widmann, Lindsten & Zachariah, "Calibration Tests in Multi-class Classification: A Unifying
    Framework", NeurIPS 2019, section 4.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> for form in ("unbiased", "biased", "block"):
    ...     print(form, round(estimators.skce(y_true, y_prob, form=form), 5))
    unbiased -0.00035
    biased 3e-05
    block 0.00096
    >>> y_prob = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]]
    >>> round(estimators.skce([0, 1, 1], y_prob), 4)
    0.0894
    """
    check_choice(form, ("biased", "unbiased", "block"), "form")
    if is_matrix(y_prob):
        classes = read_classes(y_true, y_prob, sample_weight, "y_prob")
        return classes.result(_skce_of_classes(classes, form, kernel, bandwidth, block_size))
    scale = _as_width(bandwidth, kernel)
    if form != "block":
        cases = registry.read_ranked(y_true, y_prob, sample_weight)
    else:
        cases = registry.read(y_true, y_prob, sample_weight, needs="order")
        as_count(block_size, "block_size", 2, cases.scores.size, limit="the number of cases")
    return registry.evaluate(
        skce_core, cases, form=form, kernel=kernel, bandwidth=scale, block_size=block_size
    )


FEWEST_DRAWS_OF_NULL = 19
NULL_SAME = 1e-9


@documented
def skce_test(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    method: str = "resampling",
    kernel: str = "laplace",
    bandwidth: float = 1.0,
    n_resamples: int = 999,
    random_state: RandomState = None,
    sample_weight: ArrayLike | None = None,
) -> Tested:
    """Test of calibration by the unbiased squared kernel calibration error, one-sided.

    Parameters
    ----------
    %(replicated_cases)s
    method : {"resampling", "moments"}
        "resampling": the share of sets of outcomes drawn from the scores, the data counted among
        them, whose statistic is at least as large. Its level is right at every number of cases.
        "moments": a Pearson III law with the variance and skewness that the statistic has if the
        scores are calibrated. No draws, no least p-value; see Notes.
    kernel : {"laplace", "gaussian"}
        As in `skce`.
    bandwidth : float
        As in `skce`.
    n_resamples : int
        Number of sets of outcomes drawn, at least 19; for "resampling" only.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Equal seeds and equal cases, in any order, give equal p-values.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases. "resampling" needs integers; for "moments" others are rescaled to Kish's
        effective sample size.

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df): `skce`, and no degrees of freedom.

    Raises
    ------
    InputError
        As `skce`; if every score is 0 or 1, where the outcomes of a calibrated model are no matter
        of chance; if "resampling" meets weights that are no integers.

    Notes
    -----
    The authors bootstrap the cases, or take the statistic by blocks to be normal, since for many
    classes and general targets the law of the statistic is not at hand. Given binary scores it is.

    With "moments", tests at level .05 of calibrated scores rejected .047 to .059 of the time with
    20 to 1000 uniform scores, and .049 to .051 with 200 clinical ones; with 100 scores crowded at
    0 and 1, where few outcomes are open, .010 to .015. Prefer "resampling" there.

    References
    ----------
    Widmann, Lindsten & Zachariah, "Calibration Tests in Multi-class Classification: A Unifying
    Framework", NeurIPS 2019, section 5.
    Broecker & Smith, "Increasing the Reliability of Reliability Diagrams", Weather and
    Forecasting 22, 2007.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("D3", 80, random_state=1)
    >>> for method in ("resampling", "moments"):
    ...     test = estimators.skce_test(y_true, y_prob, method=method, random_state=1)
    ...     print(round(test.statistic, 5), round(test.pvalue, 3))
    0.00342 0.022
    0.00342 0.024
    """
    check_choice(method, ("moments", "resampling"), "method")
    draws = as_count(n_resamples, "n_resamples", FEWEST_DRAWS_OF_NULL, MOST_DRAWS)
    options: dict[str, Any] = {"kernel": kernel, "bandwidth": bandwidth}
    cases = registry.read(y_true, y_prob, sample_weight)
    statistic = skce(cases, **options)
    table = levels_of(cases.scores, cases.weights)
    if not table.trials[(table.score > 0) & (table.score < 1)].sum() > 1:
        raise InputError(
            "y_prob is 0 or 1 for every case but one at most, where the pairs of a calibrated "
            "model are no matter of chance and the test is not defined."
        )
    if method == "moments":
        sd, skewness = moments_of(table, kernel, bandwidth)
        pvalue = pearson_sf(np.asarray(statistic) / sd, skewness)
    else:
        if not are_counts(table.trials):
            raise InputError(
                "sample_weight must hold whole numbers of cases, and y_true no shares, for "
                "method='resampling'. "
                "Round them, or use method='moments'."
            )
        rng = random_generator(random_state)
        drawn = np.sort(draw_calibrated(table, draws=draws, rng=rng, **options))
        below = np.searchsorted(drawn, statistic - NULL_SAME * np.abs(statistic))
        pvalue = (1 + draws - below) / (1 + draws)
    return registry.tested(statistic, pvalue)
