"""The score distribution as part of the uncertainty: whose calibration error is it?

Each draw of a calibration curve is averaged over a draw of the population of scores. Three
populations are on offer: the Bayesian bootstrap of the observed scores, the observed scores
themselves, and a Beta density with a posterior of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, digamma, expit, log_expit, logit, ndtri, polygamma

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError, check_choice
from bayescal.core.optimise import maximise
from bayescal.core.sampling import importance_sample
from bayescal.core.text import in_natural_order
from bayescal.data.cases import aligned, as_scores
from bayescal.data.clusters import Clusters
from bayescal.model.clusters import inflation_of

if TYPE_CHECKING:
    from scipy import sparse

LEVELS = 1 << 13  # of a table of quantiles: its mean and variance are right to 0.1 %


class Bootstrap(Protocol):
    """A law of the weights of the rows, one vector for each draw of a curve."""

    def weights(self, part: slice, rng: np.random.Generator) -> Floats:
        """Weights of a block of draws, of shape (draws of the block, rows); each sums to 1."""

    def worth(self, values: Floats) -> float:
        """Independent cases whose mean varies as that of these values by row, for each case."""


class CaseBootstrap(NamedTuple):
    """Weights of independent cases: Dirichlet(trials), each of which may stand for others."""

    trials: Floats  # (rows,): cases of each row
    stand_for: Floats | None = None  # (rows,): what each of them stands for

    def weights(self, part: slice, rng: np.random.Generator) -> Floats:
        """Weights of a block of draws, of shape (draws of the block, rows)."""
        weight = dirichlet(self.trials, part.stop - part.start, rng)
        if self.stand_for is not None:
            weight *= self.stand_for
            weight /= weight.sum(axis=1, keepdims=True)
        return weight

    def worth(self, values: Floats) -> float:
        """One: cases are independent."""
        return 1.0


def dirichlet(trials: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Weights of shape (draws, rows) that sum to 1 over the rows, of the law Dirichlet(trials)."""
    gammas = _gammas(trials, draws, rng)
    total = gammas.sum(axis=1, keepdims=True)
    gammas *= 1 / np.where(total == 0, 1, total)
    gammas[total[:, 0] == 0] = trials / trials.sum()
    return gammas


def _gammas(shape: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Gamma variables of the shapes given, one a column, of shape (draws, rows).

    Where the shapes are 1, or 2 and more, they are read off tables of quantiles with 16 random bits
    a number; their mean and variance are within 0.1 % of the law's.
    """
    single = shape == 1
    if not (single | (shape >= 2)).all():
        return rng.standard_gamma(shape, (draws, shape.size))
    bits = rng.integers(1 << 64, size=(draws, -(-shape.size // 4)), dtype=np.uint64)
    level = bits.view(np.uint16)[:, : shape.size] & (LEVELS - 1)
    exponential, normal = _quantiles()
    if single.all():
        return exponential.take(level, mode="clip")
    # Cubes of normal variables: Wilson & Hilferty (1931), The distribution of chi-square, PNAS 17.
    scale, root = np.cbrt(shape), normal.take(level, mode="clip")
    root *= scale / (3 * np.sqrt(shape))
    root += scale * (1 - 1 / (9 * shape))
    gammas = root * root
    gammas *= root
    gammas[:, single] = exponential.take(level[:, single], mode="clip")
    return gammas


@cache
def _quantiles() -> tuple[Floats, Floats]:
    """Exponential and normal quantiles at the middles of `LEVELS` even steps."""
    middle = (np.arange(LEVELS) + 0.5) / LEVELS
    return -np.log(middle), ndtri(middle)


# Of a stratum; of more, random groups are drawn, whose variance is right to a few per cent.
MOST_CLUSTERS = 2000
# From so many on, 1 - 2 / k is read as 1, which takes a tenth of the time.
MANY_CLUSTERS = 200


@dataclass(frozen=True)
class ClusterBootstrap:
    """Weights of the cases of clusters, drawn for whole clusters within each stratum.

    A stratum of k clusters keeps its cases, shared by Dirichlet(a, ..., a) with a = 1 - 2 / k:
    nearly the Dirichlet(1, ..., 1) of many clusters, and right for few, where means then vary as
    those of k clusters drawn anew do. Two clusters stand for their stratum by turns. Rubin (1981),
    Annals of Statistics 9; Rao & Wu (1988), JASA 83.
    """

    cases: sparse.csr_array  # (clusters, rows): cases of each cluster in each row
    stratum: NDArray[np.intp]  # (clusters,)

    @classmethod
    def of(cls, clusters: Clusters, row: NDArray[np.intp], rows: int) -> Self:
        """That of clusters whose entries are in these rows, of shape (entries,)."""
        return cls(clusters.matrix(clusters.trials, row, rows), clusters.stratum)

    def weights(self, part: slice, rng: np.random.Generator) -> Floats:
        """Weights of a block of draws, of shape (draws of the block, rows)."""
        size, few = part.stop - part.start, self._in_groups(rng)
        weight = np.empty((size, few.cases.shape[1]))
        for some in blocks(size, few.stratum.size):
            weight[some] = few._shares(some.stop - some.start, rng) @ few.cases
        weight /= weight.sum(axis=1, keepdims=True)
        return weight

    def worth(self, values: Floats) -> float:
        """Independent cases whose mean varies as that of these values by row, for each case."""
        total = self.cases.sum(axis=0)
        away = values - total @ values / total.sum()
        apart, clusters = self.cases @ away, np.bincount(self.stratum)
        apart -= (np.bincount(self.stratum, apart) / clusters)[self.stratum]
        variance = apart**2 @ (clusters / (clusters - 1))[self.stratum]
        return float(total @ away**2 / variance) if variance > 0 else 1.0

    # Without it, intervals of a gain from 8 clusters of unequal size covered .85 to .90 of known
    # gains; with it, from 8 and 20 clusters, .90 to .98 (200 data sets a cell).
    def stretch(self, values: Floats) -> float:
        """How far draws of a mean must be moved from their centre where clusters are few.

        The draws of k clusters vary as residuals do, which are the smaller the more of the cases a
        cluster has, and know their own variance only to some degrees of freedom. Both follow from
        how much each cluster adds to the variance of the total, its cases equally correlated. A 95
        % interval is then as long as Student's, with an unbiased standard error. Bell & McCaffrey
        (2002).
        """
        size = np.asarray(self.cases.sum(axis=1), np.float64)
        k = np.bincount(self.stratum).astype(np.float64)
        spread = self._spread(values, size, k)
        share = size / np.bincount(self.stratum, size)[self.stratum]
        total, first, second, square, once, twice = (
            np.bincount(self.stratum, part)
            for part in (
                spread, spread * share, spread * share**2, share**2, spread**2, spread**2 * share,
            )
        )  # fmt: skip
        factor = k / (k - 1)
        seen = factor * (total * (1 + square) - 2 * first)
        noise = (square * total) ** 2 + 2 * second * total + 2 * first**2
        noise += once * (1 + 2 * square) - 4 * (square * first * total + twice)
        degrees = max(seen.sum() ** 2 / (factor**2 @ noise), 1.0)
        return float(np.sqrt(inflation_of(degrees) * total.sum() / seen.sum()))

    def _spread(self, values: Floats, size: Floats, k: Floats) -> Floats:
        """What each cluster adds to the variance of the total, up to a factor."""
        cases = self.cases.sum(axis=0)
        away = values - cases @ values / cases.sum()
        apart = self.cases @ away
        apart -= (np.bincount(self.stratum, apart) / k)[self.stratum]
        single = float(cases @ away**2 / cases.sum())
        pairs = float(size @ np.maximum(size - 1, 0))
        if single * pairs == 0:
            return size
        together = float(apart**2 @ (k / (k - 1))[self.stratum])
        alike = np.clip((together - single * size.sum()) / (single * pairs), 0, 1)
        return np.asarray(size * (1 + np.maximum(size - 1, 0) * alike))

    def _in_groups(self, rng: np.random.Generator) -> ClusterBootstrap:
        """Of many clusters random groups, whose totals vary as much for each cluster."""
        clusters = np.bincount(self.stratum)
        if clusters.max() <= MOST_CLUSTERS:
            return self
        from scipy import sparse

        groups = np.minimum(clusters, MOST_CLUSTERS)
        shuffled = rng.permutation(self.stratum.size)
        shuffled = shuffled[np.argsort(self.stratum[shuffled], kind="stable")]
        layer = self.stratum[shuffled]
        index = np.arange(layer.size) - (np.cumsum(clusters) - clusters)[layer]
        group = (np.cumsum(groups) - groups)[layer] + index % groups[layer]
        entries = (np.ones(layer.size), (group, shuffled))
        member = sparse.csr_array(entries, shape=(groups.sum(), layer.size))
        return ClusterBootstrap(member @ self.cases, np.repeat(np.arange(groups.size), groups))

    def _shares(self, draws: int, rng: np.random.Generator) -> Floats:
        """Share of each cluster in its stratum, of shape (draws, clusters)."""
        clusters = np.bincount(self.stratum)
        first = np.cumsum(clusters) - clusters
        shape = (draws, self.stratum.size)
        if clusters.min() >= MANY_CLUSTERS:
            gammas = rng.standard_exponential(shape)
        else:
            gammas = rng.standard_gamma((1 - 2 / clusters)[self.stratum], shape)
        if clusters.size == 1 and clusters[0] > 2:
            return gammas
        total = np.add.reduceat(gammas, first, axis=1)
        none = total == 0
        if none.any():
            draw, layer = np.nonzero(none)
            chosen = first[layer] + rng.integers(clusters[layer])
            gammas[draw, chosen] = 1.0
            total[none] = 1.0
        gammas *= (clusters / total)[:, self.stratum]
        return gammas


# The populations by name, and what each stands for.
POPULATIONS = {
    "bootstrap": "patients like these: the Bayesian bootstrap, Dirichlet(trials) over the scores",
    "sample": "exactly these patients: the observed scores, each counted as often as it occurs",
    "beta": "a Beta density of scores (Dong et al.), its parameters drawn from their posterior",
}

POPULATION_NODES = 256
SHAPE_SIGMA = 3.0
SHAPE_MEAN = 1000.0
LARGEST_LOG_SHAPE = 30.0


class Population(NamedTuple):
    """Draws of the score distribution.

    `trials` (rows,): whole case counts, when the population is the observed sample itself; `inside`
    (rows,): what log-odds are of, where scores of 0 and 1 are read as others.
    """

    score: Floats  # (rows,): as the user stated them
    weight: Floats  # (rows,): sums to 1 over the rows
    trials: Floats | None = None
    merged: bool = False  # whether the cases of a row differ in score, which is their mean
    inside: Floats | None = None


def scores_by(scores: Any, labels: ArrayLike) -> dict[str, Floats]:
    """The scores of each label, in the order of the labels."""
    if isinstance(scores, str):
        raise InputError(
            f"by was given with population={scores!r}, and a posterior no longer knows the order "
            "of its cases. Pass the score of each case with its label: population=scores, "
            "by=labels."
        )
    scores, labels = aligned(population=scores, by=labels)
    known, label = as_scores(scores, "population"), np.asarray(labels)
    if label.shape != known.shape:
        raise InputError(
            f"by has {label.size} labels, and population {known.size} scores. Pass one label a "
            "score."
        )
    if any(each is None or each != each for each in label.tolist()):
        raise InputError("by has missing labels. Leave these scores out, or give them a name.")
    told = label.astype(str)
    return {name: known[told == name] for name in in_natural_order(np.unique(told).tolist())}


def draw_population(
    kind: str,
    score: Floats,
    trials: Floats,
    draws: int,
    rng: np.random.Generator,
    merged: bool = False,
    bootstrap: Bootstrap | None = None,
    stated: Floats | None = None,
) -> Iterator[tuple[slice, Population]]:
    """Draw score distributions, one for each draw of a curve, a block of draws at a time.

    Blocks keep the working memory small; the numbers do not depend on them. `score` lies inside (0,
    1) and `stated` has the scores as they came in; cases of `merged` rows differ in score.
    `bootstrap`, by default of the cases, also says how many cases tell as much of a "beta" density.
    """
    check_choice(kind, POPULATIONS, "population")
    if kind == "beta" and score.size == 1:
        kind = "sample"  # equal scores have no Beta law but the spike they are
    rows = POPULATION_NODES if kind == "beta" else score.size
    # Larger blocks are new memory of the system each time: with twice as many numbers a fit with
    # its TCE takes a third longer, a summary as long. Groups of clusters are drawn block by block.
    parts = blocks(draws, rows)
    as_stated = score if stated is None else stated
    if kind == "sample":
        counts = None if merged or (trials % 1 != 0).any() else trials
        fixed = Population(as_stated, trials / trials.sum(), counts, merged, score)
        yield from ((part, fixed) for part in parts)
    elif kind == "bootstrap":
        law = CaseBootstrap(trials) if bootstrap is None else bootstrap
        for part in parts:
            yield part, Population(as_stated, law.weights(part, rng), None, merged, score)
    else:
        worth = 1.0 if bootstrap is None else min(bootstrap.worth(logit(score)), 1.0)
        a, b = _beta_shapes(score, worth * trials, draws, rng)
        for part in parts:
            yield part, _beta_nodes(a[part], b[part])


def _beta_shapes(
    score: Floats, trials: Floats, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draws of (a, b), each of shape (draws,), from the posterior of a Beta law of scores.

    Each has the prior density exp(-(log a)^2 / 18 - a / 1000) in log a: wide enough to leave any
    law of scores alone, and proper when the scores are nearly equal.
    """
    log_s, log_1ms = np.log(score), np.log1p(-score)
    n, sum_s, sum_1ms = trials.sum(), trials @ log_s, trials @ log_1ms

    def log_density(v: Floats) -> Floats:
        a, b = np.exp(np.minimum(v, LARGEST_LOG_SHAPE)).T
        likelihood = (a - 1) * sum_s + (b - 1) * sum_1ms - n * betaln(a, b)
        return np.asarray(
            likelihood - (a + b) / SHAPE_MEAN - 0.5 * np.sum(v**2, axis=1) / SHAPE_SIGMA**2
        )

    def objective(v: Floats) -> tuple[float, Floats, Floats]:
        shape = np.exp(np.minimum(v, LARGEST_LOG_SHAPE))
        both = digamma(shape.sum())
        score_vector = np.array([sum_s, sum_1ms]) - n * (digamma(shape) - both) - 1 / SHAPE_MEAN
        trigamma = np.diag(polygamma(1, shape)) - polygamma(1, shape.sum())
        gradient = shape * score_vector - v / SHAPE_SIGMA**2
        hessian = np.diag(shape * score_vector - 1 / SHAPE_SIGMA**2)
        hessian -= n * np.outer(shape, shape) * trigamma
        return float(log_density(v[None])[0]), gradient, hessian

    mode = maximise(objective, np.zeros(2))
    a, b = np.exp(importance_sample(log_density, mode, draws, rng).draws.T)
    return a, b


def _beta_nodes(a: Floats, b: Floats) -> Population:
    """Beta(a, b) laws as nodes and weights, of shape (draws, nodes).

    The nodes are spread by a hyperbolic sine round the mean log-odds, so that neither a spike at an
    end nor a long tail loses mass.
    """
    a, b = a[:, None], b[:, None]
    centre = digamma(a) - digamma(b)
    spread = np.sqrt(polygamma(1, a) + polygamma(1, b))
    x = np.linspace(-4.2, 4.2, POPULATION_NODES)
    log_odds = centre + spread * np.sinh(x)
    log_weight = a * log_expit(log_odds) + b * log_expit(-log_odds) + np.log(np.cosh(x))
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    return Population(np.clip(expit(log_odds), 1e-12, 1 - 1e-12), weight)
