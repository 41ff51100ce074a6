"""The score distribution as part of the uncertainty: whose calibration error is it?

Each draw of a calibration curve is averaged over a draw of the population of scores. Three
populations are on offer: the Bayesian bootstrap of the observed scores, the observed scores
themselves, and a Beta density with a posterior of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, digamma, expit, log_expit, logit, polygamma

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError, check_choice
from bayescal.core.optimise import maximise
from bayescal.core.sampling import importance_sample
from bayescal.core.text import in_natural_order
from bayescal.data.cases import as_scores
from bayescal.posterior.populations.bootstrap import Bootstrap, CaseBootstrap

__all__ = ["POPULATIONS", "Population", "draw_population", "scores_by"]

POPULATIONS = {
    "bootstrap": "patients like these: the Bayesian bootstrap, Dirichlet(trials) over the scores",
    "sample": "exactly these patients: the observed scores, each counted as often as it occurs",
    "beta": "a Beta density of scores (Dong et al.), its parameters drawn from their posterior",
}
"""The populations by name, and what each stands for."""

POPULATION_NODES = 256
SHAPE_SIGMA = 3.0
SHAPE_MEAN = 1000.0
LARGEST_LOG_SHAPE = 30.0


class Population(NamedTuple):
    """Draws of the score distribution.

    Attributes
    ----------
    score : ndarray of shape (rows,) or (draws, rows)
        As the user stated them.
    weight : ndarray of shape (rows,) or (draws, rows)
        Sums to 1 over the rows.
    trials : ndarray of shape (rows,) or None
        Whole case counts, when the population is the observed sample itself.
    merged : bool
        Whether the cases of a row differ in score, which is their mean.
    inside : ndarray of shape (rows,) or None
        What log-odds are of, where scores of 0 and 1 are read as others.
    """

    score: Floats
    weight: Floats
    trials: Floats | None = None
    merged: bool = False
    inside: Floats | None = None


def scores_by(scores: Any, labels: ArrayLike) -> dict[str, Floats]:
    """The scores of each label, in the order of the labels."""
    if isinstance(scores, str):
        raise InputError(
            f"by was given with population={scores!r}, and a posterior no longer knows the order "
            "of its cases. Pass the score of each case with its label: population=scores, "
            "by=labels."
        )
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

    Blocks keep the working memory small; the numbers do not depend on them.

    Parameters
    ----------
    kind : {"bootstrap", "sample", "beta"}
    score : ndarray of shape (rows,)
        Scores strictly inside (0, 1).
    trials : ndarray of shape (rows,)
        Cases at each score.
    merged : bool
        Whether the cases of a row differ in score, which is their mean.
    bootstrap : Bootstrap, optional
        What "bootstrap" draws; by default that of the cases. It also says how many cases tell as
        much of a "beta" density.
    stated : ndarray of shape (rows,), optional
        The same scores as they came in, where those of 0 and 1 are moved; a "beta" density has
        none of these.

    Yields
    ------
    part : slice
        The draws this block is for.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.posterior.population import draw_population
    >>> rng = np.random.default_rng(0)
    >>> blocks = draw_population("bootstrap", np.array([0.2, 0.6]), np.ones(2), 1000, rng)
    >>> [population.weight.shape for _, population in blocks]
    [(1000, 2)]
    """
    check_choice(kind, POPULATIONS, "population")
    if kind == "beta" and score.size == 1:
        kind = "sample"  # equal scores have no Beta law but the spike they are
    rows = POPULATION_NODES if kind == "beta" else score.size
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

    The nodes are spread by a hyperbolic sine round the mean log-odds, so that neither a spike at
    an end nor a long tail loses mass.
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
