"""fit() and compare() of scores that were imputed several times: each imputation, then all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bayescal._base.arrays import as_seed
from bayescal._base.errors import InputError
from bayescal.data.imputed.read import scores_of_imputations
from bayescal.data.validate import as_draws
from bayescal.fitting.imputed.combine import combine_imputations
from bayescal.fitting.imputed.posterior import ImputedPosterior
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["draws_of_each", "each_imputation", "fit_imputations"]

Result = TypeVar("Result")

FULL_SHARES = 5
FEWEST_DRAWS = 400


def draws_of_each(draws: Any, m: int) -> int:
    """Draws of each of m imputations: all that were asked for of up to five, of more a share.

    Parameters
    ----------
    draws : int
        As for one fit.
    m : int

    Returns
    -------
    int
        A multiple of four: five times `draws` in all, at least 400 each (or `draws`).
    """
    size = as_draws(draws)
    return as_draws(min(size, max(FEWEST_DRAWS, FULL_SHARES * size // m)))


def each_imputation(
    analyse: Callable[..., Result],
    y_true: Any,
    y_prob: Any,
    imputations: Any,
    *,
    draws: Any,
    random_state: Any,
    groups: Any = None,
    **options: Any,
) -> list[Result]:
    """What one function of outcomes and scores makes of every imputation, all with one seed.

    With one seed, equal imputations give equal draws, and what differs between imputations is not
    chance of the computation.

    Parameters
    ----------
    analyse : callable
        Of outcomes and scores, with `draws`, `random_state` and options.
    y_true : array-like of shape (n,)
    y_prob : None
    imputations : array-like of shape (m, n)
    draws : int
    random_state : int or numpy.random.Generator or None
    groups : None
    **options
        Of cases, such as sample_weight and cluster, and of the analysis.

    Returns
    -------
    list
    """
    scores = scores_of_imputations(y_true, y_prob, imputations, groups)
    seed, size = as_seed(random_state), draws_of_each(draws, len(scores))
    return [analyse(y_true, row, draws=size, random_state=seed, **options) for row in scores]


def fit_imputations(
    fit: Callable[..., CalibrationPosterior],
    *arguments: Any,
    periods: Any = None,
    known: Any = None,
    **options: Any,
) -> ImputedPosterior:
    """Fit every imputation, and combine them; see `each_imputation`.

    Raises
    ------
    InputError
        If periods or known sites were given, whose posteriors cannot be combined.
    """
    for name, value in {"periods": periods, "known": known}.items():
        if value is not None:
            raise InputError(
                f"{name} was given beside imputations, over which one curve can be combined. Fit "
                f"each imputation with {name}=, and compare the results."
            )
    return combine_imputations(each_imputation(fit, *arguments, **options))
