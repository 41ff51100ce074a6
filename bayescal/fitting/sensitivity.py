"""How much of each answer is the prior's: its sensitivity to the powers of prior and likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_items, check_choice
from bayescal.inference.comparison import power_scaling_of
from bayescal.inference.density import CurveDensity
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.imputed import in_turn
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["prior_sensitivity"]

ASKED = ("tce", "observed_expected", "calibration_slope")
# Sensitivity from which prior or likelihood is said to matter.
SENSITIVE = 0.05


def prior_sensitivity(post: CalibrationPosterior, names: Sequence[str] = ASKED) -> pd.DataFrame:
    """How much of each answer is the prior's, by power scaling.

    The prior, or the likelihood, is raised to powers near 1 by weighing the draws, and the change
    of the posterior of each functional is measured.

    Parameters
    ----------
    post : CalibrationPosterior
        Of one family of curves, as `bayescal.fit` returns. Of several imputations, the weights of
        the draws of each are measured from their own mean, so that all keep their share.
    names : sequence of str
        Functionals.

    Returns
    -------
    pandas.DataFrame
        Index: `names`. Columns: `prior` and `likelihood`, the sensitivities; `prior_width` and
        `posterior_width`, the widths of the 95 % intervals before and after the data; and
        `verdict`: "the prior matters little" (prior below 0.05), "the prior matters", or "the
        prior decides" (likelihood below 0.05 and prior not).

    Raises
    ------
    InputError
        If a name is unknown, or the posterior is averaged over families or made of stretches, whose
        draws have no common prior density, or is a view on one of several sites.

    References
    ----------
    Kallioinen et al. (2024), Detecting and diagnosing prior and likelihood sensitivity with
    power-scaling, Statistics and Computing 34.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 3000, random_state=1)
    >>> post = bc.fit(y_true, y_prob, curve="logistic", random_state=1)
    >>> bc.prior_sensitivity(post, ["calibration_slope"])["verdict"].item()
    'the prior matters little'
    """
    import pandas as pd

    curve = as_posterior(post).problem.curve
    asked = [check_choice(name, FUNCTIONALS, "names") for name in as_items(names, "names")]
    if not asked:
        raise InputError("names is empty: name a functional, such as 'tce'.")
    if post._one_of is not None:
        raise InputError(
            f"post is the curve of one site, {post._title!r}, whose prior the other sites are a "
            "part of. Fit that site by itself."
        )
    if post.prior_weights or curve.has_atoms:
        raise InputError(
            f"post is of the family {curve.name!r}, whose draws have no common prior density. Fit "
            "one family, such as curve='beta'."
        )
    if not curve.size:
        raise InputError("post is of exact calibration, which no prior can move.")
    log_prior, log_likelihood = (
        in_turn(np.stack(each)) for each in zip(*map(_densities, post.imputations), strict=True)
    )
    rows: dict[str, dict[str, Any]] = {}
    for name in asked:
        values, before = (_values(post, name, group) for group in ("posterior", "prior"))
        prior, likelihood = power_scaling_of(values, log_prior, log_likelihood)
        rows[name] = {
            "prior": prior,
            "likelihood": likelihood,
            "prior_width": _width(before),
            "posterior_width": _width(values),
            "verdict": _verdict(prior, likelihood),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "functional"
    return table


def _densities(post: CalibrationPosterior) -> tuple[Floats, Floats]:
    """Log prior and log likelihood of the draws of one data set, less their means."""
    u = np.column_stack(list(post.coordinates.values()))
    log_prior = post.problem.prior.logpdf(post.problem.curve.coordinates, u)
    log_likelihood = CurveDensity(post.problem).log_likelihood(u)
    return log_prior - log_prior.mean(), log_likelihood - log_likelihood.mean()


def _values(post: CalibrationPosterior, name: str, group: str) -> Floats:
    drawn = post.functional(name, population="sample", group=group)
    return np.asarray(drawn.to_numpy().ravel())


def _width(values: Floats) -> float:
    lower, upper = np.quantile(values, [0.025, 0.975])
    return float(upper - lower)


def _verdict(prior: float, likelihood: float) -> str:
    if not prior >= SENSITIVE:
        return "the prior matters little"
    return "the prior matters" if likelihood >= SENSITIVE else "the prior decides"
