"""What one asks of subgroups: which is off, which is the worst, and whether two differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.crossed import CrossedTable
from bayescal.data.validate import as_level, as_number, check_choice
from bayescal.multilevel.factors.problem import INTERACTION
from bayescal.multilevel.posterior.view import SiteView
from bayescal.multilevel.posterior.worst import Side, off_by, share_off, shares_of_worst
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KINDS_OF_SUBGROUPS", "OFF_BY", "Subgroup", "SubgroupAnswers", "subgroups_of"]

OFF_BY = 0.05
"""A difference, or a distance from perfect calibration, that is counted by default."""
KINDS_OF_SUBGROUPS = ("all", "levels", "cells")


class Subgroup(NamedTuple):
    """A level of a factor, or a cell, which has a level of every factor.

    Attributes
    ----------
    factor : str
        Of a cell, the names of all factors.
    level : str
        Of a cell, its level of every factor.
    levels : dict of str to str
        By factor.
    """

    factor: str
    level: str
    levels: dict[str, str]


def subgroups_of(table: CrossedTable, of: str = "all") -> list[Subgroup]:
    """The levels of every factor, then the cells that occur.

    Parameters
    ----------
    table : CrossedTable
    of : {"all", "levels", "cells"}
    """
    check_choice(of, KINDS_OF_SUBGROUPS, "of")
    levels = [
        Subgroup(name, level, {name: level})
        for name, each in table.levels.items()
        for level in each
    ]
    order = sorted(range(len(table.cells)), key=lambda k: tuple(table.codes[k]))
    joint = INTERACTION.join(table.names)
    cells = [
        Subgroup(joint, ", ".join(cell), dict(zip(table.names, cell, strict=True)))
        for cell in (table.cells[k] for k in order)
    ]
    return levels * (of != "cells") + cells * (of != "levels")


class SubgroupAnswers(ABC):
    """Probabilities over several subgroups at once, draw by draw."""

    @property
    @abstractmethod
    def table(self) -> CrossedTable:
        """The cases, by cell."""

    @abstractmethod
    def subgroup(self, levels: Mapping[str, Any] | None = None, /, **by_name: Any) -> SiteView:
        """The posterior of one subgroup's curve."""

    @property
    def factors(self) -> dict[str, tuple[str, ...]]:
        """The levels of each factor."""
        return dict(self.table.levels)

    def prob_any_above(
        self,
        x: float,
        name: str = "tce",
        population: str = "bootstrap",
        *,
        of: str = "levels",
        side: Side = "both",
    ) -> float:
        """Probability that one subgroup or more is off by more than `x`.

        Parameters
        ----------
        x : float
            Distance of the functional from its value at perfect calibration.
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"}
        of : {"levels", "cells", "all"}
            Which subgroups count: every level of every factor, every cell, or both. Of small cells
            the data say little: with 64 cells of 60 patients each it is likely that one of them is
            off by more than 0.05, even where no subgroup is.
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
        return share_off(self._off(subgroups_of(self.table, of), name, population, side), limit)

    def prob_worst(
        self,
        factor: str | None = None,
        name: str = "tce",
        population: str = "bootstrap",
        *,
        side: Side = "both",
    ) -> pd.Series:
        """Probability that a level is the one that is furthest from calibration in its factor.

        Parameters
        ----------
        factor : str, optional
            By default, the cells are compared.
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`; its distance from its value at perfect
            calibration is compared.
        population : {"bootstrap", "sample", "beta"}
        side : {"both", "above", "below"}
            "above" compares how far it is above that value, "below" how far below.

        Returns
        -------
        pandas.Series
            By level; the values sum to one.

        Raises
        ------
        InputError
            If there is no such factor, a name is unknown, or `side` is "below" for an error, which
            has one side.
        """
        import pandas as pd

        compared = self._of_factor(factor)
        index = pd.Index([each.level for each in compared], name=compared[0].factor)
        shares = shares_of_worst(self._off(compared, name, population, side))
        return pd.Series(shares, index, name="prob_worst")

    def prob_differs(
        self,
        factor: str,
        first: Any = None,
        second: Any = None,
        delta: float = OFF_BY,
        name: str = "observed_expected",
        population: str = "bootstrap",
    ) -> float:
        """Probability that a functional differs by more than `delta` between levels of a factor.

        Parameters
        ----------
        factor : str
        first, second : str, optional
            Two of its levels; by default any two, those that differ most in each draw.
        delta : float
            In units of the functional: of O/E, or of probability.
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`, such as "signed_error", the mean error.
        population : {"bootstrap", "sample", "beta"}

        Returns
        -------
        float

        Raises
        ------
        InputError
            If there is no such factor or level, only one level was given, or a name is unknown.
        """
        limit = as_number(delta, "delta")
        compared = self._of_factor(check_choice(factor, self.table.names, "factor"))
        if (first is None) != (second is None):
            raise InputError(
                "first and second go together, and only one was given, "
                f"{shortened(repr(second if first is None else first))}. Give two levels of "
                f"{shortened(factor)}, or none for any two."
            )
        if first is not None:
            known = [each.level for each in compared]
            at = [
                known.index(check_choice(str(level), known, argument))
                for level, argument in ((first, "first"), (second, "second"))
            ]
            compared = [compared[k] for k in at]
        values = self._values(compared, name, population)
        return float((np.ptp(values, axis=0) > limit).mean())

    def differences(
        self,
        factor: str,
        name: str = "observed_expected",
        delta: float = OFF_BY,
        ci_prob: float = 0.95,
        population: str = "bootstrap",
    ) -> pd.DataFrame:
        """How far every two levels of a factor are apart.

        Parameters
        ----------
        factor : str
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        delta : float
            Difference that counts, in units of the functional.
        ci_prob : float in (0, 1)
        population : {"bootstrap", "sample", "beta"}

        Returns
        -------
        pandas.DataFrame
            Index: (first, second), two levels. Columns: mean, lower and upper of the functional of
            the first minus that of the second; `prob_positive`, that it is above zero; and
            `prob_differs`, that it is further than `delta` from zero.

        Raises
        ------
        InputError
            If there is no such factor, or a name is unknown.
        """
        import pandas as pd

        limit, tail = as_number(delta, "delta"), (1 - as_level(ci_prob)) / 2
        compared = self._of_factor(check_choice(factor, self.table.names, "factor"))
        values = self._values(compared, name, population)
        rows = {}
        for one, other in combinations(range(len(compared)), 2):
            difference = values[one] - values[other]
            lower, upper = np.quantile(difference, [tail, 1 - tail])
            rows[compared[one].level, compared[other].level] = {
                "mean": difference.mean(),
                "lower": lower,
                "upper": upper,
                "prob_positive": float((difference > 0).mean()),
                "prob_differs": float((np.abs(difference) > limit).mean()),
            }
        index = pd.MultiIndex.from_tuples(list(rows), names=["first", "second"])
        return pd.DataFrame(list(rows.values()), index)

    def _of_factor(self, factor: str | None) -> list[Subgroup]:
        """The levels of a factor; the cells, if there is none."""
        if factor is None:
            return subgroups_of(self.table, "cells")
        name = check_choice(factor, self.table.names, "factor")
        return [each for each in subgroups_of(self.table, "levels") if each.factor == name]

    def _values(self, subgroups: list[Subgroup], name: str, population: str) -> Floats:
        """Draws of a functional of each subgroup, of shape (subgroups, draws)."""
        check_choice(name, FUNCTIONALS, "name")
        views = [self.subgroup(each.levels) for each in subgroups]
        return np.stack([view.functional(name, population).to_numpy().ravel() for view in views])

    def _off(self, subgroups: list[Subgroup], name: str, population: str, side: Side) -> Floats:
        """How far each subgroup is off, of shape (subgroups, draws)."""
        return off_by(self._values(subgroups, name, population), name, side)


def check_levels(table: CrossedTable, given: Mapping[str, Any]) -> dict[str, str]:
    """Levels by factor as text.

    Raises
    ------
    InputError
        If there is no such factor or level, or no case has all of the levels.
    """
    levels = {}
    for factor, level in given.items():
        known = table.levels[check_choice(factor, table.names, "factor")]
        levels[factor] = check_choice(str(level), known, f"level of {factor}")
    if not table.cells_with(levels):
        told = ", ".join(f"{factor}={level!r}" for factor, level in levels.items())
        raise InputError(
            f"no case has {told}. Ask for fewer levels: the subgroup of some is all cases that "
            "have these."
        )
    return levels
