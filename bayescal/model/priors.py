"""Priors by name, by parts, from published results of earlier studies, and from a posterior."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_items, as_level, as_number, check_choice
from bayescal.core.text import shortened
from bayescal.model.prior import (
    CLINICAL,
    Distribution,
    Heterogeneity,
    Normal,
    Prior,
    Rate,
    StudentT,
)

__all__ = [
    "MODEST",
    "PRESETS",
    "Heterogeneity",
    "Normal",
    "Prior",
    "Rate",
    "StudentT",
    "as_prior",
    "from_posterior",
    "from_studies",
]


def __dir__() -> list[str]:
    """Public names only."""
    return __all__


LEAST_PUBLISHED = 3
LEAST_PUBLISHED_LEVEL = 1e-3

# Of which coordinate each tells.
PUBLISHED_MEASURES = {
    "observed_expected": "shift",
    "calibration_in_the_large": "shift",
    "calibration_slope": "log_slope",
    "asymmetry": "asymmetry",
}
TAILS = ("normal", "t")
SEARCHED = 60  # scales of heterogeneity at which the search for the best begins
LARGEST_ESTIMATE = 1e6
COORDINATES = ("shift", "log_slope", "asymmetry")
NEW_SITE, AVERAGE_SITE = "new site", "average site"

# Correlation of two coordinates beyond which leaving it out is warned of.
STRONG = 0.5
LEAST_NU, LARGEST_NU = 2.1, 60.0

# Degrees of freedom beyond which a t law is written as a normal one.
NEARLY_NORMAL = 30.0

# Coordinates whose prior may be given by its standard deviation alone.
SCALED = ("shift", "log_slope", "asymmetry")

# The presets: "neutral" by default; "clinical" follows the spread between external validations.
PRESETS: dict[str, Prior] = {
    "neutral": Prior(name="neutral"),
    "clinical": CLINICAL,
}

# A log slope of .3 in place of .2: on 200 data sets a cell, slopes from .5 to 1.4 and 200 to 1000
# cases, interval scores of the slope are .81 to .97 of those with .2, and a slope of .6 is covered
# in .84, .88 and .94 (.79, .82 and .92). Of calibrated models the score is up to 1.06 times as
# large.
# Errors of the size that a competent model has at its next hospital.
#
# The presets allow much larger errors. Against these a model with a small error is easily taken
# for exactly calibrated, so the sensitivity of P(calibrated) is shown against this prior too.
#
# The log slope counts both how slopes differ between hospitals and that new models are often too
# extreme; with scores whose log-odds have a standard deviation of 1.1 it moves risks about as far
# as the shift does. With 0.2 the average drew slopes of 0.5 to 0.7, and of 1.4, too close to 1.
MODEST = Prior(
    shift=Normal(0.0, 0.35),
    log_slope=Normal(0.0, 0.3),
    asymmetry=Normal(0.0, 0.25),
    roughness=((0.15, 1.0),),
    centre="mean",
    name="modest",
)


class Predictive(NamedTuple):
    """What a random-effects meta-analysis predicts for the next study."""

    mean: float  # mean over studies
    sd: float  # standard deviation of the next study's true value, uncertainty of the mean included
    between: float  # standard deviation between studies
    studies: int


def from_studies(
    *,
    observed_expected: Sequence[Any] | None = None,
    calibration_in_the_large: Sequence[Any] | None = None,
    calibration_slope: Sequence[Any] | None = None,
    asymmetry: Sequence[Any] | None = None,
    prevalence: float | None = None,
    ci_prob: float = 0.95,
    tails: str = "t",
    name: str = "studies",
) -> Prior:
    """A prior from the published results of earlier validations.

    Each measure is summarised by a random-effects meta-analysis (restricted maximum likelihood).
    Its predictive distribution for the true value in the next study becomes the prior of a
    coordinate. What no study reports keeps the prior of the preset "clinical".

    Parameters
    ----------
    observed_expected : sequence of (estimate, lower, upper), optional
        Ratios of observed to expected events, analysed on the log scale. They become the prior of
        the shift: log(O/E) / (1 - prevalence), in log-odds.
    calibration_in_the_large : sequence of (estimate, lower, upper), optional
        Shifts in log-odds at slope 1 (mean calibration), instead of `observed_expected`.
    calibration_slope : sequence of (estimate, lower, upper), optional
        Slopes, analysed as they are. The prior of the log slope has mean log m and standard
        deviation sd / m, with m and sd those of the predictive distribution.
    asymmetry : sequence of (estimate, lower, upper), optional
        log(alpha / beta) of beta curves.
    prevalence : float in (0, 1), optional
        Share of events, with `observed_expected`; without it events are taken to be rare, and the
        shift is log(O/E).
    ci_prob : float in (0, 1)
        Probability of the published intervals.
    tails : {"t", "normal"}
        "t" has as many degrees of freedom as there are studies, less two. It allows for the
        uncertainty of the standard deviation between studies; "normal" takes it as known.
    name : str
        What tables and figures call the prior.

    Returns
    -------
    Prior
        Its shift acts at the score whose log-odds is the mean (`centre="mean"`).

    Raises
    ------
    InputError
        If no measure or fewer than three studies are given, an interval does not contain its
        estimate, or both `observed_expected` and `calibration_in_the_large` are given.

    Notes
    -----
    On 4000 simulated sets of studies with a standard deviation between studies of twice their mean
    standard error, 95 % of the predictive distribution contained the true value of the next study
    in .80, .87 and .93 of the sets of 4, 8 and 20 studies with normal tails, and in .94, .92 and
    .95 with tails of t.

    References
    ----------
    Higgins, Thompson & Spiegelhalter (2009), A re-evaluation of random-effects meta-analysis,
    Journal of the Royal Statistical Society A 172. Debray et al. (2019), A framework for
    meta-analysis of prediction model studies with binary and time-to-event outcomes, Statistical
    Methods in Medical Research 28.

    Examples
    --------
    >>> from bayescal.model.priors import from_studies
    >>> slopes = [(0.9, 0.8, 1.0), (1.1, 0.9, 1.3), (0.8, 0.7, 0.9), (1.0, 0.8, 1.2)]
    >>> prior = from_studies(calibration_slope=slopes)
    >>> round(prior.log_slope.mu, 3), round(prior.log_slope.sigma, 3), prior.log_slope.nu
    (-0.076, 0.128, 2.0)
    """
    level = as_level(ci_prob)
    if level < LEAST_PUBLISHED_LEVEL:
        raise InputError(f"ci_prob must be at least {LEAST_PUBLISHED_LEVEL:g}, got {level:g}.")
    check_choice(tails, TAILS, "tails")
    given = {
        "observed_expected": observed_expected,
        "calibration_in_the_large": calibration_in_the_large,
        "calibration_slope": calibration_slope,
        "asymmetry": asymmetry,
    }
    if all(studies is None for studies in given.values()):
        raise InputError(
            f"no studies were given: pass at least one of {', '.join(PUBLISHED_MEASURES)}."
        )
    if observed_expected is not None and calibration_in_the_large is not None:
        raise InputError(
            "observed_expected and calibration_in_the_large are two measures of one shift: pass "
            "one of them."
        )
    if prevalence is not None and observed_expected is None:
        raise InputError("prevalence was given without observed_expected, of which it is needed.")
    rare = 1 - as_level(prevalence, "prevalence") if prevalence is not None else 1.0
    coordinates: dict[str, Distribution] = {}
    for measure, studies in given.items():
        if studies is None:
            continue
        scale = math.log if measure == "observed_expected" else float
        expected = next_study(*_as_estimates(studies, measure, level, scale))
        mu, sigma = expected.mean, expected.sd
        if measure == "observed_expected":
            mu, sigma = mu / rare, sigma / rare
        elif measure == "calibration_slope":
            if mu <= 0:
                raise InputError(
                    f"calibration_slope has a mean of {mu:.3g} over studies, and a "
                    "curve that falls has no log slope. Check the estimates."
                )
            mu, sigma = math.log(mu), sigma / mu
        law = (
            Normal(mu, sigma) if tails == "normal" else StudentT(expected.studies - 2.0, mu, sigma)
        )
        coordinates[PUBLISHED_MEASURES[measure]] = law
    changed: dict[str, Any] = {"name": name} | coordinates
    return replace(CLINICAL, **changed)


def next_study(estimate: Floats, error: Floats) -> Predictive:
    """The predictive distribution for the next study, by restricted maximum likelihood.

    `estimate`, `error` (studies,): estimates and their standard errors.
    """
    from scipy.optimize import minimize_scalar

    def loss(between: float) -> float:
        variance = error**2 + between**2
        weight = 1 / variance
        mean = weight @ estimate / weight.sum()
        residual = weight @ (estimate - mean) ** 2
        return float((np.log(variance).sum() + np.log(weight.sum()) + residual) / 2)

    widest = 10 * (np.ptp(estimate) + error.max())
    scales = np.concatenate([[0.0], np.geomspace(1e-6, 1, SEARCHED) * widest])
    best = int(np.argmin([loss(scale) for scale in scales]))
    ends = scales[max(best - 1, 0)], scales[min(best + 1, SEARCHED)]
    between = float(minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-9}).x)
    if loss(0.0) <= loss(between):
        between = 0.0
    weight = 1 / (error**2 + between**2)
    mean, variance = float(weight @ estimate / weight.sum()), float(1 / weight.sum())
    return Predictive(mean, math.sqrt(between**2 + variance), between, estimate.size)


def _as_estimates(
    studies: Any, measure: str, level: float, scale: Callable[[float], float]
) -> tuple[Floats, Floats]:
    """Estimates and standard errors on the scale of the analysis, each of shape (studies,)."""
    rows = as_items(studies, measure)
    if len(rows) < LEAST_PUBLISHED:
        raise InputError(
            f"{measure} has {len(rows)} studies, and how much studies differ takes at least "
            f"{LEAST_PUBLISHED}. State the prior itself with bc.priors.Prior."
        )
    ends = np.array([_as_row(row, measure, at) for at, row in enumerate(rows)])
    if scale is math.log:
        if (ends <= 0).any():
            at = int(np.argmax((ends <= 0).any(axis=1)))
            raise InputError(f"{measure}[{at}] must be positive ratios, got {_shown(rows[at])}.")
        ends = np.log(ends)
    half = float(ndtri((1 + level) / 2))
    return ends[:, 0], (ends[:, 2] - ends[:, 1]) / (2 * half)


def _as_row(row: Any, measure: str, at: int) -> tuple[float, float, float]:
    where = f"{measure}[{at}]"
    try:
        numbers = [as_number(value, where) for value in row]
    except TypeError:
        numbers = []
    if len(numbers) != 3 or isinstance(row, (str, bytes)):
        raise InputError(f"{where} must be (estimate, lower, upper), got {_shown(row)}.")
    estimate, lower, upper = numbers
    if not lower <= estimate <= upper or lower == upper:
        raise InputError(
            f"{where} must be an estimate inside its interval, as (estimate, lower, upper), got "
            f"{_shown(row)}."
        )
    if max(map(abs, numbers)) > LARGEST_ESTIMATE:
        raise InputError(f"{where} must be numbers below 1e6, got {_shown(row)}.")
    return estimate, lower, upper


def _shown(row: Any) -> str:
    return shortened(repr(row))


def from_posterior(post: Any, site: str = NEW_SITE, *, name: str | None = None) -> Prior:
    """A prior from a posterior: where the next hospital, or the next data, start.

    Each coordinate has a normal or t distribution fitted to its draws by maximum likelihood.

    Parameters
    ----------
    post : MultilevelPosterior or CalibrationPosterior
        As `bayescal.fit` returns. Of one curve, the posterior itself becomes the prior.
    site : str
        Of several sites: "new site", a site that has not been seen; "average site"; or the name
        of a site.
    name : str, optional
        What tables and figures call the prior; by default "posterior", or the site.

    Returns
    -------
    Prior
        Its shift acts at the score where that of the posterior acts.

    Raises
    ------
    InputError
        If `post` is no posterior of one family with these coordinates, or there is no such site.

    Warns
    -----
    UserWarning
        When two coordinates are correlated by more than 0.5.

    Notes
    -----
    The coordinates of a `Prior` are independent, so the correlation of the draws is lost. What a
    family does not have keeps the prior that the posterior was fitted with, and so does the
    roughness of a spline: its deviations are not carried over.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> sites = np.repeat(["A", "B", "C"], 200)
    >>> post = bc.fit(y_true, y_prob, site=sites, curve="logistic", random_state=1)
    >>> bc.priors.from_posterior(post, "new site").name
    'new site'
    """
    view, label = _view(post, site)
    draws = _coordinates(view)
    _warn_of_correlation(draws)
    before = view.problem.prior
    fitted = {key: marginal(values) for key, values in draws.items()}
    kept = {key: before.of(key) for key in COORDINATES if key not in fitted}
    return Prior(
        **fitted | kept,
        roughness=before.roughness,
        centre=view.problem.frame.centre,
        name=label if name is None else name,
        others=before.others,
    )


def marginal(values: Floats) -> Distribution:
    """The t law of greatest likelihood, or a normal one where its tails are nearly normal.

    `values` (draws,).
    """
    from scipy.optimize import minimize

    normal = Normal(float(values.mean()), float(values.std()))
    standard = (values - normal.mu) / normal.sigma

    def law(point: Floats) -> StudentT:
        nu, scale = np.exp(point[[0, 2]])
        return StudentT(float(nu), float(point[1]), float(scale))

    best = minimize(
        lambda point: -law(point).logpdf(standard).mean(),
        np.array([np.log(8.0), 0.0, -0.1]),
        method="L-BFGS-B",
        bounds=[(np.log(LEAST_NU), np.log(LARGEST_NU)), (-1, 1), (-5, 1)],
    )
    fitted = law(best.x)
    if fitted.nu > NEARLY_NORMAL:
        return normal
    return StudentT(fitted.nu, normal.mu + normal.sigma * fitted.mu, normal.sigma * fitted.sigma)


def _view(post: Any, site: Any) -> tuple[Any, str]:
    """The posterior of one curve, and what it is called."""
    if not isinstance(site, str):
        raise InputError(f"site must be the name of a site, got {shortened(repr(site))}.")
    if not hasattr(post, "average"):
        if not hasattr(post, "coordinates") or not hasattr(post, "problem"):
            raise InputError(
                f"post must be a posterior, as bayescal.fit returns, got {shortened(repr(post))}."
            )
        if site != NEW_SITE:
            raise InputError(f"site is {shortened(repr(site))}, but the posterior is of one curve.")
        return post, "posterior"
    if site == NEW_SITE:
        return post.new(), site
    if site == AVERAGE_SITE:
        return post.average(), site
    if site not in post.labels:
        known = ", ".join(map(repr, (NEW_SITE, AVERAGE_SITE, *post.labels)))
        raise InputError(f"site must be one of {known}, got {shortened(repr(site))}.")
    (axis,) = post.levels
    return post.at({axis: site}), site


def _coordinates(view: Any) -> dict[str, Floats]:
    drawn: dict[str, Floats] = view.coordinates
    known = {key: drawn[key] for key in COORDINATES if key in drawn}
    if not known or view.prior_weights:
        raise InputError(
            f"post is of the family {view.problem.curve.name!r}, whose draws are not of a shift "
            "and a slope alone. Fit curve='logistic' or 'beta' for a posterior to start from."
        )
    return known


def _warn_of_correlation(draws: dict[str, Floats]) -> None:
    if len(draws) < 2:
        return
    names = list(draws)
    correlation = np.corrcoef(np.array(list(draws.values())))
    np.fill_diagonal(correlation, 0)
    first, second = np.unravel_index(np.abs(correlation).argmax(), correlation.shape)
    largest = float(correlation[first, second])
    if abs(largest) > STRONG:
        warnings.warn(
            f"{names[first]} and {names[second]} have a correlation of {largest:.2f} in the "
            "posterior, which a prior of independent coordinates leaves out.",
            UserWarning,
            stacklevel=3,
        )


def as_prior(prior: str | Prior | Mapping[str, Any]) -> Prior:
    """A preset by name, a Prior, or a mapping that changes parts of the neutral preset.

    Parameters
    ----------
    prior : {"neutral", "clinical"}, Prior, or mapping
        A mapping may set shift, log_slope, asymmetry, roughness, centre, name and others. A number
        for shift, log_slope or asymmetry is the standard deviation of a normal prior with mean 0.

    Returns
    -------
    Prior

    Raises
    ------
    InputError
        If the name or a key is unknown, or a standard deviation is not positive.

    Examples
    --------
    >>> from bayescal.model.priors import Normal, as_prior
    >>> as_prior({"shift": Normal(0, 0.3)}).log_slope
    StudentT(nu=3.0, mu=0.0, sigma=0.35)
    >>> as_prior({"shift": 0.3}).shift
    Normal(mu=0.0, sigma=0.3)
    """
    if isinstance(prior, Prior):
        return prior
    if isinstance(prior, Mapping):
        known = ("shift", "log_slope", "asymmetry", "roughness", "centre", "name", "others")
        for key in prior:
            check_choice(key, known, "the prior's keys")
        return Prior(**{key: _with_scale(key, value) for key, value in prior.items()})
    return PRESETS[check_choice(prior, PRESETS, "prior")]


def _with_scale(key: str, value: Any) -> Any:
    """A part of a prior; a number in place of a distribution is the scale of a normal one."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if key not in SCALED or not is_number:
        return value
    try:
        return Normal(0.0, float(value))
    except InputError:
        raise InputError(
            f"prior[{key!r}] must be a positive number, the standard deviation of a normal prior "
            f"with mean 0, or a distribution of bayescal.priors, got {shortened(repr(value))}."
        ) from None
