"""Methods for coverage: our posteriors, and intervals of the true calibration error by others.

A posterior is read for whatever is asked of it. Anything else takes a table, a generator and the
level, and gives the two ends of an interval of TCE. To add one, write it and add its line to the
registries at the foot of the file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import DiagnosticWarning, EdgeWarning, InputError
from bayescal.data.data import CalibrationData
from bayescal.estimators import estimator_interval, ici_interval
from bayescal.fitting import compare, fit
from bayescal.model.curves import CURVES, Curve
from bayescal.model.mixture import WEIGHTS
from bayescal.model.priors import Prior
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.validation._targets import Interval

__all__ = ["INTERVALS", "POSTERIORS", "average", "family"]

POSTERIOR_DRAWS = 4000
FAMILY_DRAWS = 1000
BOOTSTRAP_RESAMPLES = 500
SIMULATIONS = 1000
BINS = 10


def family(
    data: CalibrationData,
    rng: np.random.Generator,
    *,
    curve: str | Curve,
    prior: str | Prior | Mapping[str, Any] = "neutral",
) -> CalibrationPosterior:
    """Posterior of one family, as `bayescal.fit` gives it.

    Always by the importance engine, so that thousands of data sets stay affordable.
    """
    return _fitted(data, rng, curve=curve, prior=prior)


def average(data: CalibrationData, rng: np.random.Generator) -> CalibrationPosterior:
    """Averaged posterior, at the default prior weights."""
    return _fitted(data, rng)


def family_intervals(
    data: CalibrationData, rng: np.random.Generator, ci_prob: float
) -> dict[str, Interval]:
    """Intervals of TCE of the average, and of each of its families from the same fits."""
    names = ("identity", *WEIGHTS)
    compared = compare(data, curves=names, draws=FAMILY_DRAWS, random_state=rng)
    intervals = {"average": compared.posterior.interval("tce", ci_prob)}
    for name in names:
        if name != "identity":
            curves = CurvesOfTable(*compared.of_family(name))
            intervals[name] = equal_tailed(
                curves.values([("tce", {})], "bootstrap")["tce"], ci_prob
            )
    return intervals


def _fitted(
    data: CalibrationData, rng: np.random.Generator, **options: Any
) -> CalibrationPosterior:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)
        warnings.simplefilter("ignore", EdgeWarning)
        posterior: CalibrationPosterior = fit(
            data, engine="importance", draws=POSTERIOR_DRAWS, random_state=rng, **options
        )
    return posterior


def bootstrap(
    data: CalibrationData,
    rng: np.random.Generator,
    ci_prob: float,
    *,
    estimator: str,
    short: str,
    **options: Any,
) -> dict[str, Interval]:
    """Percentile and basic (reflected) bootstrap of an estimator, from the same resamples.

    All of (0, 1) when the estimator is undefined on these data.
    """
    try:
        interval = estimator_interval(
            data,
            estimator=estimator,
            ci_prob=ci_prob,
            n_resamples=BOOTSTRAP_RESAMPLES,
            random_state=rng,
            **options,
        )
    except InputError:
        return {f"{short}_percentile": (0.0, 1.0), f"{short}_basic": (0.0, 1.0)}
    reflected = (2 * interval.estimate - interval.upper, 2 * interval.estimate - interval.lower)
    return {
        f"{short}_percentile": (_clip(interval.lower), _clip(interval.upper)),
        f"{short}_basic": (_clip(reflected[0]), _clip(reflected[1])),
    }


ece_bootstrap = partial(bootstrap, estimator="ece", short="ece", binning="mass", n_bins=BINS)
debiased_bootstrap = partial(
    bootstrap, estimator="debiased_ece", short="debiased", n_bins=BINS, p=1
)
smooth_bootstrap = partial(bootstrap, estimator="smooth_ece", short="smooth")


def ece_percentile(data: CalibrationData, rng: np.random.Generator, ci_prob: float) -> Interval:
    """Percentile bootstrap of ECE in ten equal-mass bins."""
    return ece_bootstrap(data, rng, ci_prob)["ece_percentile"]


def ece_basic(data: CalibrationData, rng: np.random.Generator, ci_prob: float) -> Interval:
    """Basic (reflected) bootstrap of ECE in ten equal-mass bins, clipped to [0, 1]."""
    return ece_bootstrap(data, rng, ci_prob)["ece_basic"]


def bins_beta11(data: CalibrationData, rng: np.random.Generator, ci_prob: float) -> Interval:
    """Ten equal-mass bins, the rate of each with a Beta(1, 1) prior of its own."""
    bin_index = _equal_mass_bins(data.trials[None])[0]
    trials, hits, expected = (
        np.bincount(bin_index, values, BINS)
        for values in (data.trials, data.hits, data.trials * data.score)
    )
    filled = trials > 0
    trials, hits, expected = trials[filled], hits[filled], expected[filled]
    rate = rng.beta(1 + hits, 1 + trials - hits, (POSTERIOR_DRAWS, trials.size))
    return equal_tailed(np.abs(rate - expected / trials) @ trials / data.n, ci_prob)


def simulated_ici(
    data: CalibrationData, rng: np.random.Generator, ci_prob: float, *, smoother: str
) -> Interval:
    """ICI of a regression, simulated from the normal approximation of its coefficients.

    All of (0, 1) when the fit does not exist, or outcomes are so nearly separated that its
    covariance cannot be computed.
    """
    try:
        return ici_interval(
            data,
            smoother=smoother,
            ci_prob=ci_prob,
            draws=SIMULATIONS,
            random_state=rng,
        )
    except (InputError, np.linalg.LinAlgError):
        return 0.0, 1.0


def _equal_mass_bins(trials: Floats) -> NDArray[np.intp]:
    """Bin of each row, by where the middle of its cases falls; equal scores stay together."""
    middle = np.cumsum(trials, axis=1) - trials / 2
    share = middle / trials.sum(axis=1, keepdims=True)
    return np.asarray(np.minimum(BINS * share, BINS - 1), dtype=np.intp)


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


PosteriorMaker = Callable[[CalibrationData, np.random.Generator], CalibrationPosterior]
IntervalMaker = Callable[
    [CalibrationData, np.random.Generator, float], Interval | dict[str, Interval]
]

POSTERIORS: dict[str, PosteriorMaker] = {
    **{name: partial(family, curve=name) for name in CURVES},
    "average": average,
}
"""Posteriors by name; a family of curves stands for its posterior under the neutral prior."""

INTERVALS: dict[str, IntervalMaker] = {
    "families": family_intervals,
    "ece_percentile": ece_percentile,
    "ece_basic": ece_basic,
    "ece": ece_bootstrap,
    "debiased": debiased_bootstrap,
    "smooth": smooth_bootstrap,
    "bins_beta11": bins_beta11,
    "logistic_ici": partial(simulated_ici, smoother="logistic"),
    "rcs_ici": partial(simulated_ici, smoother="rcs"),
}
"""Methods by name that give intervals of TCE alone."""
