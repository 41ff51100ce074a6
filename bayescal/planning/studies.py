"""Simulated studies of any size, analysed: all at once where that is possible, else in batches."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.progress import Progress, bar
from bayescal.core.text import shortened
from bayescal.data.table import CalibrationData
from bayescal.fitting import fit
from bayescal.gain import recalibration_gain, recommend
from bayescal.model.curves import Curve
from bayescal.model.priors import Prior
from bayescal.planning._riley import (
    c_statistic_error,
    half_width,
    observed_expected_width,
    slope_error,
)
from bayescal.planning.search import GRID_OF_SIZES, Extent, Search
from bayescal.planning.setting import PlannedClusters, Setting, stream
from bayescal.posterior.intervals import verdict_of
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior

__all__ = [
    "CONCLUSIONS",
    "Analysis",
    "Studies",
    "analyse",
]

CONCLUSIONS = ("close enough", "miscalibrated", "update")


@dataclass(frozen=True)
class Analysis:
    """What is done with the data of a study, and what is asked of it.

    The interval of `of`, a functional or "gain", or what to `conclude`; `method` is "average" or
    "curve". `update` is the map that a gain is of, as points (score, probability) of a line.
    """

    of: str
    conclude: str | None
    limit: float
    method: str
    curve: Curve
    prior: Prior
    ci_prob: float
    draws: int
    update: tuple[Floats, Floats] | None = None

    def result(self, data: CalibrationData, seed: int) -> float:
        """Width of the interval, or 1 if what was to be concluded is concluded and 0 if not.

        A table that cannot be analysed has an infinite width.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                return self._result(data, seed)
        except InputError:
            return np.inf if self.conclude is None else 0.0

    def _result(self, data: CalibrationData, seed: int) -> float:
        if self.conclude == "update":
            advice = recommend(data, prior=self.prior, draws=self.draws, random_state=seed)
            return float(advice.choice not in (None, "identity"))
        if self.of == "gain":
            assert self.update is not None
            points = self.update
            gain = recalibration_gain(
                data,
                after=lambda score: np.interp(score, *points),
                prior=self.prior,
                draws=self.draws,
                random_state=seed,
            )
            lower, upper = gain.interval("brier", self.ci_prob)
            return upper - lower
        post = self.posterior(data, seed)
        if self.conclude is not None:
            below = post.prob_below(self.limit)
            return float(verdict_of(below, self.ci_prob) == self.conclude)
        lower, upper = post.interval(self.of, self.ci_prob)
        return upper - lower

    def posterior(self, data: CalibrationData, seed: int) -> CalibrationPosterior:
        """The posterior that the study will report."""
        options: dict[str, Any] = {"prior": self.prior, "draws": self.draws, "random_state": seed}
        family = None if self.method == "average" else self.curve
        return as_posterior(fit(data, curve=family, engine="importance", **options))


def analyse(analysis: Analysis, setting: Setting, n: int, seed: int, first: int) -> Floats:
    """Results of the analysis in simulated studies of one size, of shape (studies,)."""
    return np.array(
        [
            analysis.result(setting.study(n, seed, k, first), analysis_seed(seed, n, first + k))
            for k in range(setting.size)
        ]
    )


def analysis_seed(seed: int, n: int, study: int) -> int:
    """The seed of the analysis of one simulated study."""
    return int(stream(seed, "analysis", n, study).integers(2**31))


BATCH, MOST_JOBS = 25, 10_000
FIRST_LOOK = 100


class Studies:
    """Studies of any size, and the results of their analysis.

    Those of clusters are simulated as studies of fewer independent patients, whose intervals are
    longer or shorter by chance, as the design effect is estimated.
    """

    def __init__(
        self,
        analysis: Analysis,
        setting: Setting,
        seed: int,
        n_jobs: int,
        progress: Progress,
        clusters: PlannedClusters | None = None,
    ) -> None:
        self.analysis, self.setting, self.seed = analysis, setting, seed
        self.clusters = clusters
        self.half = half_width(analysis.ci_prob)
        self._n_jobs, self._progress = _as_jobs(n_jobs), progress
        self._known: dict[tuple[int, int], Floats] = {}

    @property
    def is_exact(self) -> bool:
        """Whether the analysis itself is computed for all studies at once."""
        analysis = self.analysis
        by_counts = analysis.of == "c_statistic" or analysis.method == "wald"
        return by_counts and analysis.conclude is None

    def values(self, n: int, extent: Extent = "all") -> Floats:
        """Widths, or conclusions as 1 and 0, of studies of one size, of shape (studies,)."""
        if self.clusters is None:
            return self._values(n, extent)
        values = self._values(self.clusters.independent(n), extent)
        if self.analysis.conclude is not None:
            return values
        return values * self.clusters.estimated(n, self.setting.size, self.seed)[: values.size]

    def _values(self, n: int, extent: Extent) -> Floats:
        """The same of independent patients."""
        if self.is_exact:
            return self._exact(n)
        most = {"look": 1, "around": 2, "part": FIRST_LOOK // BATCH, "all": None}[extent]
        return self._analysed(n, range(0, self.setting.size, BATCH)[:most])

    def around(self, n: float, search: Search) -> None:
        """Look at a size too, for the table and its figure."""
        near = min(GRID_OF_SIZES, key=lambda size: abs(np.log(size / n)))
        if near in search.values:
            return
        search.values[near] = self.values(near, "around")

    def _exact(self, n: int) -> Floats:
        trials, hits = self.setting.counts(n, self.seed)
        if self.analysis.of == "c_statistic":
            return 2 * self.half * c_statistic_error(trials, hits)
        if self.analysis.of == "observed_expected":
            return observed_expected_width(hits.sum(axis=1), n, self.half)
        return 2 * self.half * slope_error(self.setting.score, trials, hits)

    def _analysed(self, n: int, starts: range) -> Floats:
        """Results of batches of studies, each by its first one; those known are used again."""
        from joblib import Parallel, delayed

        todo = [start for start in starts if (n, start) not in self._known]
        parts = [self.setting.part(range(start, start + BATCH)) for start in todo]
        work = [
            delayed(analyse)(self.analysis, part, n, self.seed, start)
            for start, part in zip(todo, parts, strict=True)
        ]
        if todo:
            jobs = self._n_jobs if len(todo) > 1 else 1
            results = Parallel(n_jobs=jobs, return_as="generator")(work)
            total = sum(part.size for part in parts)
            with bar(f"Studies of {n:,} patients", total, self._progress) as advance:
                for start, result in zip(todo, results, strict=True):
                    self._known[n, start] = result
                    advance(result.size)
        return np.concatenate([self._known[n, start] for start in starts])


def _as_jobs(n_jobs: Any) -> int:
    is_integer = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if not is_integer or n_jobs == 0 or abs(n_jobs) > MOST_JOBS:
        raise InputError(
            "n_jobs must be a number of processes, or -1 for one a core, got "
            f"{shortened(repr(n_jobs))}."
        )
    return int(n_jobs)
