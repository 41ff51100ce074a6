"""SubgroupPosterior: the curves of subgroups by crossed factors, drawn towards each other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import InputError, as_level, as_number, check_type
from bayescal.core.text import chance, interval, shortened
from bayescal.data.table import CrossedTable
from bayescal.multilevel.compared import OFF_BY, Part, parts_of, subgroups_of
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.robust import PROB_UNLIKE, clearly_unlike
from bayescal.multilevel.rows import beside_raw, raw_of, size_of
from bayescal.multilevel.view import CurveView

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SubgroupPosterior", "as_subgroups"]

MEASURED = ("tce", "observed_expected", "calibration_slope")


class SubgroupPosterior(MultilevelPosterior):
    """Posterior of the calibration curves of subgroups by several factors.

    Every combination of levels that occurs is a cell with a curve of its own: the average curve,
    plus an effect of its level of each factor, plus one of the cell. Effects are drawn towards zero
    as far as the data say that the levels of a factor are alike. A level of a factor, or any other
    subgroup, is the mixture of its cells by their cases.

    Parameters
    ----------
    tree : xarray.DataTree
        As written by `bayescal.fit` with several factors as groups.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> patients = {"sex": np.resize(["F", "M"], 600), "age": np.resize(["<80", "80+", "80+"], 600)}
    >>> post = bc.fit(y_true, y_prob, subgroup=patients, curve="logistic", random_state=1)
    >>> post.factors
    {'sex': ('F', 'M'), 'age': ('<80', '80+')}
    >>> bool(post.subgroup(sex="F").data.n == 300)
    True
    """

    _on_card = ("observed_expected",)

    @staticmethod
    def _serves(problem: MultilevelProblem) -> bool:
        """Whether a fit of this problem is of this class."""
        return problem.walk is None and not problem.terms[0].correlated

    @cached_property
    def table(self) -> CrossedTable:
        """The cases, by cell."""
        return CrossedTable(self.data)

    @property
    def factors(self) -> dict[str, tuple[str, ...]]:
        """The levels of each factor."""
        return self.levels

    def subgroup(self, levels: Mapping[str, Any] | None = None, /, **by_name: Any) -> CurveView:
        """The posterior of a subgroup's curve, which answers as any posterior does: `at`.

        Parameters
        ----------
        levels : mapping of str to str, optional
            The level of each factor that matters; for factors whose names are no Python names.
        **by_name
            The same, as `sex="F", age="80+"`. All cases, if there are none.

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If there is no such factor or level, or no case has all of the levels.
        """
        return self.at(levels, **by_name)

    @property
    def is_robust(self) -> bool:
        """Whether a level of a term may be unlike the others."""
        return self._free.unlike is not None

    def prob_unlike(self) -> pd.Series:
        """Probability that a level of the robust term is unlike the others.

        A level that is, is so in both its shift and its slope. Before the data the probability of
        each level is 0.1, whatever the others.

        Returns
        -------
        pandas.Series
            By cell, or by level of the factor whose effects are robust.

        Raises
        ------
        InputError
            If all effects are normal, as of fewer than ten cells by default.
        """
        import pandas as pd

        term = self.problem.robust_term
        if term is None or self._free.unlike is None:
            raise InputError(
                "the posterior has no probability that a cell is unlike the others: its effects "
                "are normal. Fit it with robust=True in the term of the cells, such as "
                "vary=['sex', 'age', bc.by('sex', 'age', robust=True)]."
            )
        parts = parts_of(self.levels, self.problem.cells, term.axes)
        groups = [self.problem.groups_with(each.levels)[0] for each in parts]
        index = pd.Index([each.level for each in parts], name=term.name)
        return pd.Series(self._free.unlike[groups].mean(axis=1), index, name="prob_unlike")

    def unlike_cells(self) -> dict[str, float]:
        """Cells that are unlike the others with a probability above 0.75, the most likely first.

        With their probabilities; empty where all effects are normal.
        """
        return clearly_unlike(self.prob_unlike()) if self.is_robust else {}

    @property
    def subgroups(self) -> pd.DataFrame:
        """One row a level and one a cell: estimates that borrow from the others, and raw ones.

        `report()` has other intervals and limits.

        Returns
        -------
        pandas.DataFrame
            Index: (factor, level); cells follow the levels, with the names of all factors. Columns:
            cases, events; for tce, observed_expected and calibration_slope the estimate, its 95 %
            interval (`_lower`, `_upper`), and the `_raw` estimate from the subgroup's cases alone
            (not a number where there is none; of tce that of its own logistic curve); `prob_off`,
            the probability that its TCE is above 0.05; and `prob_worst`, that its TCE is the
            largest of its factor; and of robust effects `prob_unlike`, of the levels that have it.
        """
        return self._subgroups

    @cached_property
    def _subgroups(self) -> pd.DataFrame:
        return self.report()

    def report(
        self, delta: float = OFF_BY, ci_prob: float = 0.95, *, of: str = "all"
    ) -> pd.DataFrame:
        """The table `subgroups` with another limit, interval or choice of rows.

        Parameters
        ----------
        delta : float
            Limit of the true calibration error for `prob_off`.
        ci_prob : float in (0, 1)
        of : {"all", "levels", "cells"}

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            If an argument is out of range or unknown.
        """
        import pandas as pd

        limit, level = as_number(delta, "delta"), as_level(ci_prob)
        parts = subgroups_of(self.table, of)
        rows = [self._row(each, limit, level) for each in parts]
        keys = [(each.factor, each.level) for each in parts]
        table = pd.DataFrame(rows, pd.MultiIndex.from_tuples(keys, names=["factor", "level"]))
        worst = [self.prob_worst(by) for by in dict.fromkeys(tuple(each.levels) for each in parts)]
        table = table.assign(prob_worst=np.concatenate(worst))
        if self.is_robust:
            unlike = self.prob_unlike()
            of_levels = pd.MultiIndex.from_product([[unlike.index.name], unlike.index])
            table["prob_unlike"] = unlike.set_axis(of_levels).reindex(table.index)
        return table

    def _row(self, part: Part, limit: float, level: float) -> dict[str, float]:
        view = self.at(part.levels)
        row = beside_raw(view, size_of(view), raw_of(view), MEASURED, level)
        return row | {"prob_off": 1 - view.prob_below(limit)}

    def _lines(self) -> list[str]:
        """What is printed below the name of the class."""
        view = self.at()
        error = interval(view.estimate("tce"), *view.interval("tce"), 0.95)
        return [*self._sizes(), *self._unlike(), f"TCE of all cases {error}"]

    def _unlike(self) -> list[str]:
        """A line on the levels that are likely to be unlike the others, if there are any."""
        unlike = self.unlike_cells()
        if not unlike:
            return []
        told = ", ".join(f"{shortened(label)} ({chance(each)})" for label, each in unlike.items())
        return [f"unlike the others: {told}; probability before the data {PROB_UNLIKE:g}"]

    def _shown(self) -> dict[str, CurveView]:
        return {
            f"{shortened(each.factor)} {shortened(each.level)}": self.at(each.levels)
            for each in self.parts()
        }


def as_subgroups(post: Any) -> SubgroupPosterior:
    """A posterior of crossed subgroups, and nothing else."""
    cure = "Pass what bayescal.fit returns when subgroup= has two columns or more."
    return check_type(post, SubgroupPosterior, "post", cure)
