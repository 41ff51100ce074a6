"""The analysis that the study will run, on one simulated table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import DiagnosticWarning, EdgeWarning, InputError
from bayescal.core.sampling import BAD_K
from bayescal.data.table import CalibrationData
from bayescal.fitting import fit
from bayescal.gain import recalibration_gain, recommend
from bayescal.model.curves import Curve
from bayescal.model.priors import Prior
from bayescal.planning.setting import Setting, stream
from bayescal.posterior.intervals import verdict_of
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior

__all__ = ["CONCLUSIONS", "Analysis", "analyse"]

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
    curve: str | Curve
    prior: Prior
    ci_prob: float
    draws: int
    update: tuple[Floats, Floats] | None = None

    @property
    def nothing(self) -> float:
        """The result of a study that cannot be analysed."""
        return np.inf if self.conclude is None else 0.0

    def result(self, data: CalibrationData, seed: int) -> float:
        """Width of the interval, or 1 if what was to be concluded is concluded and 0 if not.

        A table that cannot be analysed has an infinite width.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiagnosticWarning)
                warnings.simplefilter("ignore", EdgeWarning)
                warnings.simplefilter("ignore", UserWarning)
                return self._result(data, seed)
        except InputError:
            return self.nothing

    def _result(self, data: CalibrationData, seed: int) -> float:
        if self.conclude == "update":
            advice = recommend(data, prior=self.prior, draws=self.draws, random_state=seed)
            return float(advice.choice not in (None, "identity"))
        if self.of == "gain":
            assert self.update is not None
            at, updated = self.update
            gain = recalibration_gain(
                data,
                after=_line_through(at, updated),
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

    def reliable_width(self, data: CalibrationData, seed: int) -> float:
        """The width, or NaN where importance sampling is unreliable."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticWarning)
            post = self.posterior(data, seed)
            lower, upper = post.interval(self.of, self.ci_prob)
        return upper - lower if float(post.diagnostics["pareto_k"]) <= BAD_K else np.nan


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


def _line_through(at: Floats, values: Floats) -> Callable[[Floats], Floats]:
    return lambda score: np.interp(score, at, values)
