"""Where studies would be done: scores, clusters, and a curve that may be true for each study."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_number
from bayescal.core.optimise import clipped
from bayescal.core.text import count, shortened
from bayescal.data.cases import as_scores
from bayescal.data.table import CalibrationData
from bayescal.model.clusters import inflation_of
from bayescal.model.curve import Curve
from bayescal.model.curves import Frame, as_curve
from bayescal.model.priors import PRESETS, Prior, as_prior
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.functionals import FUNCTIONALS, CurveDraws
from bayescal.posterior.population import Population
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.validation.simulate import ScoresOfSetting, names
from bayescal.validation.simulate import truth as truth_of
from bayescal.validation.truths import Truth, population

__all__ = [
    "PlannedClusters",
    "Setting",
    "as_clusters",
    "as_nodes",
    "as_truth",
    "setting_of",
    "stream",
]

POPULATION_ROWS = 20_000


def as_nodes(
    scores: Any, name: str, size: int = POPULATION_ROWS, *, log_odds: bool = False
) -> tuple[Floats, Floats]:
    """Scores, ascending, and weights that sum to 1, each of shape (rows,)."""
    if isinstance(scores, Truth):
        scores = scores.scores
    if isinstance(scores, (CalibrationPosterior, MultilevelPosterior)):
        scores = scores.data
    if isinstance(scores, CalibrationData):
        table = scores.pooled()
        return _merged(table.score, table.trials / table.trials.sum(), size)
    if hasattr(scores, "quantiles"):
        values, _, weight = population(scores, size)
        return values, weight
    if hasattr(scores, "ppf"):
        return _of_distribution(scores, name, size, log_odds)
    if isinstance(scores, str) or not hasattr(scores, "__len__"):
        raise InputError(
            f"{name} must be scores, a posterior, a law of scores such as "
            f"simulate.scores(prevalence=, c_statistic=), or a distribution of SciPy, got "
            f"{shortened(repr(scores))}."
        )
    values, cases = np.unique(as_scores(scores, name), return_counts=True)
    return _merged(values, np.asarray(cases / cases.sum()), size)


def _of_distribution(law: Any, name: str, size: int, log_odds: bool) -> tuple[Floats, Floats]:
    t = (np.arange(size) + 0.5) / size
    values = np.asarray(law.ppf(t**2 * (3 - 2 * t)), dtype=np.float64)
    weight = t * (1 - t)
    if not np.isfinite(values).all() or (not log_odds and (values.min() < 0 or values.max() > 1)):
        raise InputError(
            f"{name} is a distribution of {'numbers' if log_odds else 'scores'} that are not "
            f"{'finite' if log_odds else 'inside [0, 1]'}. Pass one that is."
        )
    return values, weight / weight.sum()


def _merged(score: Floats, weight: Floats, size: int) -> tuple[Floats, Floats]:
    """At most so many rows: neighbouring scores of about equal weight, and their mean."""
    if score.size <= size:
        return score, weight
    middle = np.cumsum(weight) - weight / 2
    row = np.minimum((size * middle).astype(np.intp), size - 1)
    total = np.bincount(row, weight, size)
    mean = np.bincount(row, weight * score, size)
    filled = total > 0
    return mean[filled] / total[filled], np.asarray(total[filled], dtype=np.float64)


# Rows of a simulated table: scores at which cases are counted.
SIMULATED_ROWS = 128
FINE_LOG_ODDS = np.linspace(-40, 40, 1601)
LEAST_PREVALENT = 1e-6

Assumed = Truth | Prior | CalibrationPosterior


def stream(seed: int, *labels: str | int) -> np.random.Generator:
    """A generator of its own for each list of labels, in whatever order they are asked for."""
    return np.random.default_rng(np.random.SeedSequence([seed, *json.dumps(labels).encode()]))


@dataclass(frozen=True)
class Setting:
    """Scores, ascending, and true curves, one row of each a simulated study.

    `score` has shape (studies, rows), or (1, rows) where it is the same in all; `weight` (rows,);
    `curve` (studies, rows). `described` says in words what is assumed.
    """

    score: Floats
    weight: Floats
    curve: Floats
    described: str

    @property
    def size(self) -> int:
        """Number of studies."""
        return len(self.curve)

    @cached_property
    def prevalence(self) -> float:
        """Share of events, on average over the studies."""
        return float((self.curve @ self.weight).mean())

    @cached_property
    def mean_score(self) -> Floats:
        """Scores on average over the studies, of shape (rows,)."""
        return np.asarray(self.score.mean(axis=0))

    @cached_property
    def mean_curve(self) -> Floats:
        """True curve on average over the studies, of shape (rows,)."""
        return np.asarray(self.curve.mean(axis=0))

    def score_of(self, study: int) -> Floats:
        """Scores of one study, of shape (rows,)."""
        return np.asarray(self.score[study if len(self.score) > 1 else 0])

    def part(self, span: range) -> Setting:
        """Some of the studies."""
        rows = slice(span.start, span.stop)
        score = self.score[rows] if len(self.score) > 1 else self.score
        return replace(self, score=score, curve=self.curve[rows])

    def counts(self, n: int, seed: int, first: int = 0) -> tuple[Floats, Floats]:
        """Cases and events at each score of every study, each of shape (studies, rows)."""
        trials, hits = np.empty((2, *self.curve.shape))
        for k, curve in enumerate(self.curve):
            rng = stream(seed, "study", n, first + k)
            cases = rng.multinomial(n, self.weight)
            trials[k] = cases
            hits[k] = rng.binomial(cases, curve)
        return trials, hits

    def study(self, n: int, seed: int, study: int, first: int = 0) -> CalibrationData:
        """One of the studies, as it will be analysed; parameters as in `counts`."""
        trials, hits = self.part(range(study, study + 1)).counts(n, seed, first + study)
        seen = trials[0] > 0
        score = self.score_of(study)[seen]
        return CalibrationData.from_counts(score, trials[0][seen], hits[0][seen])

    def functional(self, name: str) -> Floats:
        """True value of a functional in each study, of shape (studies,)."""
        inside = clipped(self.score)
        score = inside[0] if len(inside) == 1 else inside
        weight = self.weight if score.ndim == 1 else np.broadcast_to(self.weight, inside.shape)
        draws = CurveDraws(self.curve, Population(score, weight))
        return FUNCTIONALS[name].compute(draws)


def as_truth(truth: Any) -> Assumed:
    """What is assumed to be true: a known curve, a prior of curves, or a posterior."""
    if isinstance(truth, (Truth, Prior, CalibrationPosterior)):
        return truth
    if isinstance(truth, MultilevelPosterior):
        if len(truth.levels) > 1:
            raise InputError(
                f"truth is a posterior of {' and '.join(truth.levels)}, and a study is of one "
                "curve. Pass one of them, such as post.average() or post.at(...)."
            )
        return truth.new()
    if isinstance(truth, Mapping):
        try:
            return as_prior(truth)
        except InputError as error:
            raise InputError(f"truth is a mapping, and {error}") from error
    known = (*PRESETS, *names())
    if not isinstance(truth, str) or truth not in known:
        raise InputError(
            f"truth must be one of {', '.join(map(repr, PRESETS))}, a bc.priors.Prior, a "
            f"posterior, or a bc.simulate.Truth or its name, got {shortened(repr(truth))}."
        )
    return PRESETS[truth] if truth in PRESETS else truth_of(truth)


def setting_of(
    truth: Assumed, scores: Any, size: int, seed: int, family: str | Curve = "beta"
) -> Setting:
    """The scores and true curves of so many studies."""
    if scores is None and isinstance(truth, Prior):
        raise InputError(
            "scores is missing, and truth is a prior, which says nothing of them. Pass those of a "
            "pilot, or "
            "bc.simulate.scores(prevalence=, c_statistic=)."
        )
    rng = stream(seed, "truth")
    if isinstance(scores, ScoresOfSetting):
        score, weight, curve = _of_risks(truth, scores, size, rng, family)
    else:
        score, weight = as_nodes(truth if scores is None else scores, "scores", SIMULATED_ROWS)
        if np.ptp(score) == 0:
            raise InputError(
                f"scores are all {score[0]:g}: their calibration is one ratio, and the sample size "
                "that of a proportion."
            )
        curve = _curves(truth, score, weight, size, rng, family)
        score = score[None]
    of_scores = _described_scores(scores, weight.size)
    described = f"truth: {_described(truth)}; scores: {of_scores}"
    setting = Setting(score, weight, curve, described)
    if not LEAST_PREVALENT < setting.prevalence < 1 - LEAST_PREVALENT:
        raise InputError(
            f"scores and truth give a prevalence of {setting.prevalence:.3g}: without events, or "
            "without non-events, no calibration can be measured."
        )
    return setting


def _curves(
    truth: Assumed,
    score: Floats,
    weight: Floats,
    size: int,
    rng: np.random.Generator,
    family: str | Curve,
) -> Floats:
    """True curves at scores that are common to all studies, of shape (size, rows)."""
    if isinstance(truth, Truth):
        return np.tile(truth.curve(score), (size, 1))
    if isinstance(truth, Prior):
        inside = clipped(score)
        curve = as_curve(family)
        frame = Frame(truth.centre_for(logit(inside), weight))
        return curve.probability(_coordinates(truth, curve, size, rng), inside, frame)
    return _posterior_curves(truth, score, size, rng)


def _coordinates(prior: Prior, curve: Curve, size: int, rng: np.random.Generator) -> Floats:
    drawn = prior.sample(curve.coordinates, rng, size)
    return np.column_stack([drawn[name] for name in curve.coordinates])


def _posterior_curves(
    post: CalibrationPosterior, score: Floats, size: int, rng: np.random.Generator
) -> Floats:
    """Draws of a posterior at scores, exactly calibrated as often as is probable.

    Those of the curve of an average over families are given that it is not.
    """
    drawn = post.curve(score).to_numpy().reshape(-1, score.size)
    rows = rng.choice(len(drawn), size, replace=len(drawn) < size)
    curves = drawn[rows]
    exact = rng.random(size) < (0.0 if post.exact is None else post.prob_calibrated or 0.0)
    curves[exact] = score
    return curves


def _of_risks(
    truth: Assumed, law: ScoresOfSetting, size: int, rng: np.random.Generator, family: str | Curve
) -> tuple[Floats, Floats, Floats]:
    """Scores at which true curves give risks of a known law, weights, and these risks."""
    t = (np.arange(SIMULATED_ROWS) + 0.5) / SIMULATED_ROWS
    weight = t * (1 - t) / (t * (1 - t)).sum()
    mean, sd = law.settings(size, rng)
    risk = mean[:, None] + sd[:, None] * ndtri(t**2 * (3 - 2 * t))
    score = np.empty_like(risk)
    fine = expit(FINE_LOG_ODDS)
    inside = clipped(fine)
    if isinstance(truth, Prior):
        curve = as_curve(family)
        u = _coordinates(truth, curve, size, rng)
        shift = u[:, curve.coordinates.index("shift")] if "shift" in curve.coordinates else 0 * mean
        centre = expit(mean - shift) if truth.centre == "mean" else np.full(size, truth.centre)
        for k in range(size):
            on_grid = curve.log_odds(u[k : k + 1], inside, Frame(float(centre[k])))[0]
            score[k] = _inverse(risk[k], on_grid, logit(inside))
    else:
        curves = logit(clipped(_curves(truth, inside, weight, size, rng, family)))
        for k in range(size):
            score[k] = _inverse(risk[k], curves[k], logit(inside))
    return clipped(expit(score)), weight, expit(risk)


def _inverse(risk: Floats, curve: Floats, log_odds: Floats) -> Floats:
    """Log-odds of scores at which a curve, made to rise, reaches log-odds of risks."""
    rising = np.maximum.accumulate(curve) + 1e-9 * np.arange(curve.size)
    return np.interp(risk, rising, log_odds)


def _described(value: Any) -> str:
    """A truth, in words."""
    if isinstance(value, Truth):
        return f"{value.name} ({value.description})"
    if isinstance(value, Prior):
        return f"prior {value.name!r}"
    return f"a posterior of {count(value.data.n, 'case')}"


def _described_scores(value: Any, rows: int) -> str:
    """Which scores the simulated patients have: very scores, or points of a law."""
    if value is None or isinstance(value, Truth):
        return "those of the truth"
    if isinstance(value, ScoresOfSetting):
        known = f"prevalence {_number(value.prevalence)}, c-statistic {_number(value.c_statistic)}"
        return f"a law with {known}, at {SIMULATED_ROWS} of its quantiles"
    if isinstance(value, CalibrationPosterior | MultilevelPosterior):
        value = value.data
    if isinstance(value, CalibrationData):
        return f"the very scores of {count(value.n, 'case')}{_in_rows(value.score.size, rows)}"
    if hasattr(value, "quantiles") or hasattr(value, "ppf"):
        law = shortened(repr(value)) if hasattr(value, "quantiles") else "a distribution"
        return f"the law {law}, at {SIMULATED_ROWS} of its quantiles"
    distinct = np.unique(as_scores(value, "scores")).size
    return f"these very {len(value):,} scores{_in_rows(distinct, rows)}"


def _in_rows(distinct: int, rows: int) -> str:
    return f", {distinct:,} distinct, by the means of {rows}" if rows < distinct else ""


def _number(known: float | tuple[float, float]) -> str:
    if isinstance(known, tuple):
        return f"{known[0]:g} (sd {known[1]:g})"
    return f"{known:g}"


LARGEST_CLUSTER = 1e6


@dataclass(frozen=True)
class PlannedClusters:
    """Sizes of clusters, and the correlation of the residuals of two of their patients.

    `weighted` is the sum of the squared sizes over the sum of the sizes: the cluster size that a
    patient meets (Eldridge, Ashby & Kerry, International Journal of Epidemiology 2006).
    """

    icc: float
    size: float
    weighted: float

    @property
    def effect(self) -> float:
        """The design effect: the variance over that of as many independent patients."""
        return 1 + (self.weighted - 1) * self.icc

    @property
    def described(self) -> str:
        """In words."""
        unequal = "" if self.weighted <= self.size * (1 + 1e-9) else "on average "
        return (
            f"clusters of {unequal}{self.size:g} patients with an intra-cluster correlation of "
            f"{self.icc:g} (design effect {self.effect:.3g})"
        )

    def independent(self, patients: int) -> int:
        """Independent patients who tell as much as these.

        They are fewer by the design effect, and by what the analysis adds where there are few
        clusters to estimate it from.
        """
        fewer = self.effect * inflation_of(self._degrees(patients))
        return max(round(patients / fewer), 1)

    def estimated(self, patients: int, size: int, seed: int) -> Floats:
        """How long intervals are by chance, as the design effect of each study is estimated.

        Over what they are with the true one; of shape (size,), the same for each study whenever it
        is simulated.
        """
        degrees = self._degrees(patients)
        if np.isinf(degrees):
            return np.ones(size)
        return np.asarray(
            np.sqrt(stream(seed, "clusters", patients).chisquare(degrees, size) / degrees)
        )

    def number(self, patients: float) -> int:
        """Clusters of so many patients."""
        return math.ceil(patients / self.size - 1e-9)

    def _degrees(self, patients: float) -> float:
        """Of the estimated variance: clusters less one, by the pairs of patients that inform it."""
        if self.weighted == 1:
            return np.inf
        clusters = patients / self.weighted
        return max((clusters - 1) * self.weighted / (self.weighted - 1), 1.0)


def as_clusters(icc: Any, cluster_size: Any) -> PlannedClusters | None:
    """Clusters as `plan` takes them; None of independent patients."""
    if icc is None and cluster_size is None:
        return None
    if icc is None or cluster_size is None:
        given, missing = ("cluster_size", "icc") if icc is None else ("icc", "cluster_size")
        raise InputError(f"{given} was given without {missing}. Pass both, or neither.")
    correlation = as_number(icc, "icc")
    if not 0 <= correlation < 1:
        raise InputError(f"icc must be from 0 to below 1, got {correlation:g}.")
    try:
        sizes = np.atleast_1d(np.asarray(cluster_size, dtype=np.float64))
    except (TypeError, ValueError):
        sizes = np.empty(0)
    if sizes.ndim != 1 or not sizes.size or not ((sizes >= 1) & (sizes <= LARGEST_CLUSTER)).all():
        raise InputError(
            "cluster_size must be the patients of a cluster, or those of each of several, each "
            f"from 1 to {LARGEST_CLUSTER:,.0f}, got {shortened(repr(cluster_size))}."
        )
    return PlannedClusters(correlation, float(sizes.mean()), float(sizes @ sizes / sizes.sum()))
