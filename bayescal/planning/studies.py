"""Simulated studies of any size, analysed: all at once where that is possible, else in batches."""

from __future__ import annotations

from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.files import as_path
from bayescal.core.text import shortened
from bayescal.model.curve import Curve
from bayescal.model.curves import CURVES
from bayescal.model.priors import PRESETS
from bayescal.planning.analysis import Analysis, analyse, analysis_seed
from bayescal.planning.approximate import LINEAR, NormalPosterior, logistic_slope_error
from bayescal.planning.closed_forms import (
    c_statistic_error,
    half_width,
    observed_expected_width,
)
from bayescal.planning.clusters import PlannedClusters
from bayescal.planning.result import Plan
from bayescal.planning.search import GRID_OF_SIZES, LARGEST_SIZE, Extent, Search
from bayescal.planning.setting import Setting
from bayescal.validation.batches import Arrays, Batch, Progress, run_batches, spans

__all__ = ["Studies"]

BATCH = 25
FIRST_SIZE = 1000
CORRECTED_BY = 32
FIRST_LOOK = 100
CLOSE_TO_ENDS = 1e-13
"""Scores nearer to 0 or 1 are read as the table says, and not by the approximation."""


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
        resume: Plan | str | PathLike[str] | None,
        clusters: PlannedClusters | None = None,
    ) -> None:
        self.analysis, self.setting, self.seed = analysis, setting, seed
        self.clusters = clusters
        self.half = half_width(analysis.ci_prob)
        self.known: dict[str, Arrays] = {}
        self._n_jobs, self._progress = n_jobs, progress
        self._folder: str | PathLike[str] | None = None
        self._ratios = np.ones(1)
        self._quick: dict[int, Floats] = {}
        if isinstance(resume, Plan):
            self.known = dict(resume.simulated)
        elif resume is None or isinstance(resume, (str, PathLike)):
            self._folder = None if resume is None else as_path(resume, "resume")
        else:
            raise InputError(
                "resume must be an earlier plan, or a folder for finished batches, got "
                f"{shortened(repr(resume))}."
            )
        run_batches([], "", n_jobs=n_jobs, progress=False, path=self._folder)

    @property
    def is_exact(self) -> bool:
        """Whether the analysis itself is computed for all studies at once."""
        analysis = self.analysis
        by_counts = analysis.of == "c_statistic" or analysis.method == "wald"
        return by_counts and analysis.conclude is None

    @property
    def is_approximate(self) -> bool:
        """Whether widths are computed by the normal approximation and then corrected."""
        analysis, score = self.analysis, self.setting.score
        inside = score.min() > CLOSE_TO_ENDS and score.max() < 1 - CLOSE_TO_ENDS
        return (
            not self.is_exact
            and analysis.conclude is None
            and analysis.of in LINEAR
            and inside
            and _is_smooth(self._family)
        )

    @property
    def _family(self) -> str | Curve:
        """The family by which widths are approximated."""
        return CURVES["beta"] if self.analysis.method == "average" else self.analysis.curve

    def values(self, n: int, extent: Extent = "all") -> Floats:
        """Widths, or conclusions as 1 and 0, of studies of one size, of shape (studies,).

        Parameters
        ----------
        extent : {"look", "around", "part", "all"}
            The first 25 studies, 50, about a hundred, or all; more where that costs little.
        """
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
        if self.is_approximate:
            if extent == "look":
                return self._widths(self.setting.part(range(min(self.setting.size, FIRST_LOOK))), n)
            if n not in self._quick:
                self._quick[n] = self._widths(self.setting, n)
            return self._quick[n] * np.resize(self._ratios, self.setting.size)
        most = {"look": 1, "around": 2, "part": FIRST_LOOK // BATCH, "all": None}[extent]
        return self._analysed(n, spans(self.setting.size, BATCH)[:most])

    def start(self, width: float) -> float:
        """A first guess of the size, by the width of the signed error in a few studies."""
        few = self.setting.part(range(min(self.setting.size, BATCH)))
        if self.is_exact or self.is_approximate:
            middle = float(np.median(self.values(FIRST_SIZE, "look")))
        else:
            told = few.told(FIRST_SIZE, self.seed)
            quick = NormalPosterior.of(few, *told, CURVES["logistic"], PRESETS["neutral"])
            middle = float(np.median(quick.widths("signed_error", self.half)))
            if self.clusters is not None:
                middle *= self.clusters.effect**0.5
        start = FIRST_SIZE * (middle / width) ** 2 if np.isfinite(middle) else float(FIRST_SIZE)
        bounded = self.is_exact or self.is_approximate
        if bounded and start > 2 * LARGEST_SIZE:
            raise InputError(
                f"width {width:g} is out of reach: it would take about {start:,.0f} patients, and "
                f"more than {LARGEST_SIZE:,} are not simulated. Ask for a wider interval."
            )
        return min(start, LARGEST_SIZE)

    def correct(self, n: int) -> None:
        """Fit some studies of a size, and correct the approximate widths by them."""
        n = n if self.clusters is None else self.clusters.independent(n)
        few = self.setting.part(range(min(self.setting.size, CORRECTED_BY)))
        quick = self._widths(few, n)
        fitted = np.array(
            [
                self.analysis.reliable_width(
                    few.study(n, self.seed, k), analysis_seed(self.seed, n, k)
                )
                for k in range(few.size)
            ]
        )
        ratio = fitted / quick
        reliable = ratio[np.isfinite(ratio) & (ratio > 0)]
        if reliable.size:
            self._ratios = reliable

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
        return 2 * self.half * logistic_slope_error(self.setting.score, trials, hits)

    def _widths(self, setting: Setting, n: int) -> Floats:
        assert isinstance(self._family, Curve)
        told = setting.told(n, self.seed)
        quick = NormalPosterior.of(setting, *told, self._family, self.analysis.prior)
        return quick.widths(self.analysis.of, self.half)

    def _analysed(self, n: int, parts: list[range]) -> Floats:
        """Results of batches, those known used again."""
        batches = [self._batch(n, span) for span in parts]
        todo = [batch for batch in batches if batch.file_name not in self.known]
        if todo:
            title = f"Studies of {n:,} patients"
            jobs = self._n_jobs if len(todo) > 1 else 1
            options: dict[str, Any] = {"progress": self._progress, "path": self._folder}
            results = run_batches(todo, title, n_jobs=jobs, **options)
            self.known |= {
                batch.file_name: result for batch, result in zip(todo, results, strict=True)
            }
        return np.concatenate([self.known[batch.file_name]["value"] for batch in batches])

    def _batch(self, n: int, span: range) -> Batch:
        part = self.setting.part(span)
        return Batch(
            partial(analyse, self.analysis, part, n, self.seed, span.start),
            len(span),
            {
                "what": "plan",
                "setting": part.fingerprint,
                "analysis": self.analysis.described(),
                "n": n,
                "seed": self.seed,
                "span": [span.start, span.stop],
            },
        )


def _is_smooth(curve: str | Curve) -> bool:
    return (
        isinstance(curve, Curve) and not curve.is_rough and not curve.has_atoms and curve.size > 0
    )
