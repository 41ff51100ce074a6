"""How far each of several curves is off, and which is furthest: of sites, periods and subgroups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import as_number, check_choice
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["ComparedCurves", "Side", "off_by", "share_off", "shares_of_worst"]

Side: TypeAlias = Literal["both", "above", "below"]
"""Which side of the value at perfect calibration counts."""
COMPARED_SIDES = ("both", "above", "below")


def off_by(values: Floats, name: str, side: Side = "both") -> Floats:
    """How far draws of a functional are from its value at perfect calibration.

    Parameters
    ----------
    values : ndarray
    name : str
        A name in `bayescal.functionals.FUNCTIONALS`.
    side : {"both", "above", "below"}
        "both" takes the distance; "above" how far above that value, negative below it; "below"
        the opposite.

    Returns
    -------
    ndarray
        In units of the functional.

    Raises
    ------
    InputError
        If the side is unknown, or the functional is a distance, which is never below.
    """
    functional = FUNCTIONALS[check_choice(name, FUNCTIONALS, "name")]
    check_choice(side, COMPARED_SIDES, "side")
    if side == "below" and functional.is_distance:
        raise InputError(
            f"side='below' was given for {name!r}, which is a distance and never below its value "
            "at perfect calibration, 0. Leave side= out, or choose a functional that has two "
            "sides, such as 'observed_expected'."
        )
    off: Floats = values - functional.ideal
    if side == "both":
        return np.abs(off)
    return off if side == "above" else -off


def shares_of_worst(off: Floats) -> Floats:
    """Share of the draws in which each curve is furthest off; equal ones divide a draw.

    Parameters
    ----------
    off : ndarray of shape (curves, draws)

    Returns
    -------
    ndarray of shape (curves,)
        They sum to one.
    """
    largest = off == off.max(axis=0)
    return np.asarray((largest / largest.sum(axis=0)).mean(axis=1))


def share_off(off: Floats, limit: float) -> float:
    """Share of the draws in which a curve or more is off by more than the limit.

    Parameters
    ----------
    off : ndarray of shape (curves, draws)
    limit : float
    """
    return float((off > limit).any(axis=0).mean())


class ComparedCurves(ABC):
    """What one asks of all curves of a posterior at once, draw by draw: which is the worst."""

    _kind: str
    """What each curve is of: "site" or "period"."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the curves, in order."""

    @abstractmethod
    def functional(self, name: str, population: str = "bootstrap", **options: Any) -> xr.DataArray:
        """Posterior of a functional of every curve, which are the last dimension."""

    def prob_worst(
        self, name: str = "tce", population: str = "bootstrap", *, side: Side = "both"
    ) -> pd.Series:
        """Probability that a site, or period, is the one that is furthest from calibration.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`; "tce" is the calibration error. Its
            distance from its value at perfect calibration is compared.
        population : {"bootstrap", "sample", "beta"}
        side : {"both", "above", "below"}
            "above" compares how far it is above that value, "below" how far below: of O/E, which
            has most events beyond those predicted, and which has fewest.

        Returns
        -------
        pandas.Series
            By site, or by period; the values sum to one.

        Raises
        ------
        InputError
            If a name is unknown, or `side` is "below" for an error, which has one side.
        """
        import pandas as pd

        shares = shares_of_worst(self._off(name, population, side))
        return pd.Series(shares, pd.Index(self.labels, name=self._kind), name="prob_worst")

    def prob_any_above(
        self,
        x: float,
        name: str = "tce",
        population: str = "bootstrap",
        *,
        side: Side = "both",
    ) -> float:
        """Probability that one site, or period, or more is off by more than `x`.

        Parameters
        ----------
        x : float
            Distance of the functional from its value at perfect calibration: 0.1 of O/E is below
            0.9 or above 1.1.
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"}
        side : {"both", "above", "below"}
            "above" counts values above that at perfect calibration only, "below" those below.

        Returns
        -------
        float

        Raises
        ------
        InputError
            If `x` is not a number, a name is unknown, or `side` is "below" for an error, which has
            one side.
        """
        limit = as_number(x, "x")
        return share_off(self._off(name, population, side), limit)

    def _off(self, name: str, population: str, side: Side) -> Floats:
        """How far each curve is off, of shape (curves, draws)."""
        check_choice(side, COMPARED_SIDES, "side")
        values = self.functional(name, population).to_numpy()
        return off_by(values.reshape(-1, values.shape[-1]).T, name, side)
