"""A prior for the next study from the posterior of earlier ones."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.model.prior import Distribution, Normal, Prior, StudentT

__all__ = ["from_posterior", "marginal"]

COORDINATES = ("shift", "log_slope", "asymmetry")
NEW_SITE, AVERAGE_SITE = "new site", "average site"
STRONG = 0.5
"""Correlation of two coordinates beyond which leaving it out is warned of."""
LEAST_NU, LARGEST_NU = 2.1, 60.0
NEARLY_NORMAL = 30.0
"""Degrees of freedom beyond which a t law is written as a normal one."""


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

    Parameters
    ----------
    values : ndarray of shape (draws,)
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
