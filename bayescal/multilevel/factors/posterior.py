"""SubgroupPosterior: the curves of subgroups by crossed factors, drawn towards each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.card import card
from bayescal._base.errors import InputError, check_type
from bayescal._base.text import interval, rounded, shortened
from bayescal.data.crossed import CrossedTable
from bayescal.data.data import CalibrationData
from bayescal.data.validate import as_level, as_number, check_choice
from bayescal.multilevel.factors.answers import (
    OFF_BY,
    SubgroupAnswers,
    check_levels,
    subgroups_of,
)
from bayescal.multilevel.factors.problem import SubgroupsProblem
from bayescal.multilevel.factors.rows import subgroup_table
from bayescal.multilevel.factors.tree import DrawnSubgroups, read_subgroups, subgroups_tree
from bayescal.multilevel.posterior.several import SeveralCurves, diagnosed
from bayescal.multilevel.posterior.view import SiteView
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.intervals import SUMMARY_COLUMNS

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["SubgroupPosterior", "as_subgroups"]


class SubgroupPosterior(SubgroupAnswers, SeveralCurves[DrawnSubgroups]):
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
    >>> post = bc.fit(y_true, y_prob, groups=patients, curve="logistic", random_state=1)
    >>> post.factors
    {'sex': ('F', 'M'), 'age': ('<80', '80+')}
    >>> bool(post.subgroup(sex="F").data.n == 300)
    True
    """

    @staticmethod
    def _read(tree: xr.DataTree) -> DrawnSubgroups:
        return read_subgroups(tree)

    @staticmethod
    def _written(drawn: DrawnSubgroups) -> xr.DataTree:
        return subgroups_tree(drawn)

    @property
    def problem(self) -> SubgroupsProblem:
        """The tables, the family of curves and the priors."""
        return self._drawn.problem

    @property
    def table(self) -> CrossedTable:
        """The cases, by cell."""
        return self.problem.table

    @property
    def data(self) -> CalibrationData:
        """The table that was fitted, with a group a cell."""
        return self.table.data

    @property
    def centre(self) -> float:
        """Score at which the shift acts: that of the mean log-odds of all scores."""
        return self.problem.pooled.frame.centre

    @property
    def draws(self) -> int:
        """Number of draws, over all chains."""
        return len(self._drawn.average)

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted; see `HierarchicalPosterior.diagnostics`."""
        return diagnosed(self.engine, self._drawn.stats)

    def subgroup(self, levels: Mapping[str, Any] | None = None, /, **by_name: Any) -> SiteView:
        """The posterior of a subgroup's curve, which answers as any posterior does.

        Parameters
        ----------
        levels : mapping of str to str, optional
            The level of each factor that matters; for factors whose names are no Python names.
        **by_name
            The same, as `sex="F", age="80+"`. All cases, if there are none.

        Returns
        -------
        CalibrationPosterior
            Of the cases with all of these levels. Its curve is, at each score, the mean of the
            curves of their cells, weighted by how many of the cases near that score each has.

        Raises
        ------
        InputError
            If there is no such factor or level, or no case has all of the levels.
        """
        given = {} if levels is None else levels
        if not isinstance(given, Mapping):
            raise InputError(
                "levels must be a level for each of some factors, such as {'sex': 'F'}, got "
                f"{shortened(repr(given))}."
            )
        chosen = check_levels(self.table, {**given, **by_name})
        key = tuple(sorted(chosen.items()))
        if key not in self._views:
            cells = self.table.cells_with(chosen)
            title = ", ".join(f"{name} {level}" for name, level in chosen.items()) or "All cases"
            problem = self.problem.subgroup(title, cells)
            u, prior = (_side_by_side(values[cells]) for values in (self._drawn.cells, self._prior))
            self._views[key] = SiteView.of_site(title, problem, u, prior, self._drawn)
        return self._views[key]

    @cached_property
    def _views(self) -> dict[tuple[tuple[str, str], ...], SiteView]:
        return {}

    @cached_property
    def _prior(self) -> Floats:
        return self._drawn.of_prior()

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
            largest of its factor.
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
        limit, level = as_number(delta, "delta"), as_level(ci_prob)
        rows = subgroups_of(self.table, of)
        views = [self.subgroup(each.levels) for each in rows]
        return subgroup_table(rows, views, limit, level)

    def functional(self, name: str, population: str = "bootstrap", *, of: str = "all") -> Any:
        """Posterior of a functional in every subgroup.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"}
        of : {"all", "levels", "cells"}

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, subgroup), and coordinates `factor` and `level` of subgroups.
        """
        import xarray as xr

        check_choice(name, FUNCTIONALS, "name")
        rows = subgroups_of(self.table, of)
        each = [self.subgroup(row.levels).functional(name, population) for row in rows]
        joined = xr.concat(each, "subgroup").transpose("chain", "draw", "subgroup")
        return joined.assign_coords(
            factor=("subgroup", [row.factor for row in rows]),
            level=("subgroup", [row.level for row in rows]),
        )

    @property
    def heterogeneity(self) -> pd.DataFrame:
        """Which factor matters: how much the curves of its levels differ.

        Returns
        -------
        pandas.DataFrame
            Index: (term, coordinate); terms are the factors and their interaction, coordinates
            shift and log_slope. Columns: mean, median, lower and upper (95 %, equal-tailed) of the
            standard deviation between the levels' effects, and `prob_largest`, the probability that
            it is the largest of all terms.
        """
        import pandas as pd

        rows, varying = {}, self.problem.varying
        for column, name in enumerate(varying):
            scales = self._drawn.scales[:, :, column]
            largest = np.bincount(scales.argmax(axis=1), minlength=scales.shape[1]) / len(scales)
            for k, term in enumerate(self.problem.terms):
                lower, median, upper = np.quantile(scales[:, k], [0.025, 0.5, 0.975])
                rows[term, name] = {
                    "mean": scales[:, k].mean(),
                    "median": median,
                    "lower": lower,
                    "upper": upper,
                    "prob_largest": largest[k],
                }
        order = [(term, name) for term in self.problem.terms for name in varying]
        index = pd.MultiIndex.from_tuples(order, names=["term", "coordinate"])
        return pd.DataFrame([rows[key] for key in order], index)

    def _repr_html_(self) -> str:
        table, rows = self.report(of="levels"), {}
        for each, (_, row) in zip(
            subgroups_of(self.table, "levels"), table.iterrows(), strict=True
        ):
            factor, level = shortened(each.factor), shortened(each.level)
            lower, upper = row["observed_expected_lower"], row["observed_expected_upper"]
            middle, low, high = rounded((row["observed_expected"], lower, upper), lower, upper)
            rows[f"O/E, {factor} {level}"] = middle, f"{low} to {high}"
        return card(repr(self), SUMMARY_COLUMNS, rows)

    def _lines(self) -> Sequence[str]:
        pooled, table = self.problem.pooled, self.table
        factors = ", ".join(
            f"{shortened(name)} ({len(levels)})" for name, levels in table.levels.items()
        )
        view = self.subgroup()
        return [
            f"{factors}: {len(table.cells)} cells",
            f"{self.data.n:g} cases, {self.data.events:g} events",
            f"{pooled.curve.name} curves, {pooled.prior.name} prior, {self.engine}",
            f"TCE of all cases {interval(view.estimate('tce'), *view.interval('tce'), 0.95)}",
        ]


def as_subgroups(post: Any) -> SubgroupPosterior:
    """A posterior of crossed subgroups, and nothing else."""
    cure = "Pass what bayescal.fit returns when groups= has a column for each of several factors."
    return check_type(post, SubgroupPosterior, "post", cure)


def _side_by_side(cells: Floats) -> Floats:
    """Coordinates of cells, of shape (cells, draws, d), as (draws, cells * d)."""
    return np.asarray(cells.transpose(1, 0, 2).reshape(cells.shape[1], -1))
