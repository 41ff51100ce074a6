"""The posterior of the true calibration error, or of another functional."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_flag, as_level
from bayescal.plots._legend import legend_beneath
from bayescal.plots._names import ideal, short_name
from bayescal.plots.histogram import as_text, histogram
from bayescal.plots.text import chance, interval, minus
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.posterior import as_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["functional", "tce"]

Close = float | tuple[float, float]


def tce(
    post: CalibrationPosterior,
    ax: Axes | None = None,
    *,
    close: float | None = None,
    p: float = 1,
    ci_prob: float = 0.95,
    population: Any = "bootstrap",
    legend: bool = True,
) -> Axes:
    """Draw the posterior of the true calibration error.

    The histogram shows the draws. Those of an averaged posterior that are exactly 0 are a stem,
    labelled with their share; the title gives the probability of exact calibration. Below are the
    credible interval of `post.interval` and the estimate of `post.estimate`.

    Parameters
    ----------
    post : CalibrationPosterior
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    close : float, optional
        Limit for "close enough". The region from 0 to it is shaded, and its probability given.
    p : float, at least 1
        Norm of the error.
    ci_prob : float in (0, 1)
    population : {"bootstrap", "sample", "beta"} or scores
    legend : bool
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, for further changes.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 200, random_state=1)
    >>> cmp = bc.compare(y_true, y_prob, random_state=1)
    >>> ax = bc.plots.tce(cmp.posterior, close=0.02)
    >>> ax.get_xlabel()
    'True calibration error (TCE)'
    """
    return functional(
        post,
        "tce",
        ax,
        close=close,
        ci_prob=ci_prob,
        population=population,
        legend=legend,
        p=p,
    )


def functional(
    post: CalibrationPosterior,
    name: str = "tce",
    ax: Axes | None = None,
    *,
    close: Close | None = None,
    ci_prob: float = 0.95,
    population: Any = "bootstrap",
    legend: bool = True,
    **options: Any,
) -> Axes:
    """Draw the posterior of a functional, as `tce` does for the true calibration error.

    Parameters
    ----------
    post : CalibrationPosterior
    name : str
        A name in `bayescal.functionals.FUNCTIONALS`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    close : float or pair of float, optional
        Region of practical equivalence: from the first to the second, or up to this distance from
        the value at perfect calibration.
    ci_prob : float in (0, 1)
    population : {"bootstrap", "sample", "beta"} or scores
    legend : bool
        Whether to draw a legend.
    **options
        Passed to the functional, such as `p` for "tce".

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the name is unknown or an argument out of range.

    References
    ----------
    Kruschke, "Rejecting or accepting parameter values in Bayesian estimation", Advances in Methods
    and Practices in Psychological Science 1, 2018.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, curve="beta", random_state=1)
    >>> ax = bc.plots.functional(post, "observed_expected", close=(0.8, 1.25))
    >>> ax.get_title(loc="left").splitlines()[1]
    'P(O/E 0.8 to 1.25) > 0.99'
    """
    level = as_level(ci_prob)
    values = as_posterior(post).functional(name, population, **options).to_numpy().ravel()
    ends = post.interval(name, level, population=population, **options)
    estimate = post.estimate(name, level, population=population, **options)
    region = None if close is None else _as_region(close, name)
    title = _title(post, name, values, (estimate, *ends), level, region, population, options)
    axes = histogram(
        values, name, (estimate, *ends), level, region, ax, post.prob_calibrated is not None
    )
    axes.set_title(title, loc="left", fontsize="medium")
    if as_flag(legend, "legend"):
        legend_beneath(axes, columns=3)
    return axes


def _title(
    post: CalibrationPosterior,
    name: str,
    values: Floats,
    numbers: tuple[float, float, float],
    level: float,
    region: tuple[float, float] | None,
    population: str,
    options: dict[str, Any],
) -> str:
    """The estimate and its interval; then the probabilities."""
    apart = FUNCTIONALS[name].apart
    parts = [f"{short_name(name, **options)} {minus(interval(*numbers, level, apart))}"]
    if region is not None:
        inside = _prob_inside(post, name, values, region, population, options)
        parts.append(f"P({short_name(name, **options)} {as_text(region, name)}) {chance(inside)}")
    if post.prob_calibrated is not None and not FUNCTIONALS[name].is_distance:
        parts.append(f"P(exactly calibrated) {chance(post.prob_calibrated)}")
    return "\n".join([parts[0], "; ".join(parts[1:])]).strip()


def _prob_inside(
    post: CalibrationPosterior,
    name: str,
    values: Floats,
    region: tuple[float, float],
    population: str,
    options: dict[str, Any],
) -> float:
    """Probability of the region."""
    if FUNCTIONALS[name].is_distance and region[0] == 0:
        return post.prob_below(region[1], name, population=population, **options)
    return float(((values >= region[0]) & (values <= region[1])).mean())


def _as_region(close: Close, name: str) -> tuple[float, float]:
    """Limits of the region: as given, or one number either side of the value at calibration."""
    try:
        pair = np.ravel(np.asarray(close, dtype=float))
    except (TypeError, ValueError, OverflowError):
        pair = np.array([np.nan])
    if pair.size == 1 and 0 < pair[0] < np.inf:
        low = 0.0 if FUNCTIONALS[name].is_distance else ideal(name) - pair[0]
        return float(low), float(ideal(name) + pair[0])
    if pair.size == 2 and -np.inf < pair[0] < pair[1] < np.inf:
        return float(pair[0]), float(pair[1])
    raise InputError(
        f"close must be a positive number, or two numbers in order, got {close!r:.60}."
    )
