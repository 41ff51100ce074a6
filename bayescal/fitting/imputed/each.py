"""Imputations as the outermost map: what one function makes of each, all with one seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bayescal._base.arrays import as_seed
from bayescal.data.data import CalibrationData
from bayescal.data.validate import as_draws

__all__ = ["draws_of_each", "each_imputation"]

Result = TypeVar("Result")

FULL_SHARES = 5
FEWEST_DRAWS = 400


def draws_of_each(draws: Any, m: int) -> int:
    """Draws of each of m imputations: all that were asked for of up to five, of more a share.

    Parameters
    ----------
    draws : int
        As for one fit.

    Returns
    -------
    int
        A multiple of four: five times `draws` in all, at least 400 each (or `draws`).
    """
    size = as_draws(draws)
    return as_draws(min(size, max(FEWEST_DRAWS, FULL_SHARES * size // m)))


def each_imputation(
    analyse: Callable[..., Result],
    data: CalibrationData,
    *,
    draws: Any,
    random_state: Any,
    **options: Any,
) -> list[Result]:
    """What one function of a table makes of every imputation, all with one seed.

    With one seed, equal imputations give equal draws, and what differs between imputations is not
    chance of the computation.

    Parameters
    ----------
    analyse : callable
        Of a table, with `draws`, `random_state` and options.
    data : CalibrationData
        Of several imputations.
    """
    seed, size = as_seed(random_state), draws_of_each(draws, len(data.imputations))
    return [analyse(each, draws=size, random_state=seed, **options) for each in data.imputations]
