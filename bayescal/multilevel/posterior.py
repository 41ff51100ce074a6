"""MultilevelPosterior: several related curves, of sites, subgroups or periods, and each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_flag, as_level, as_number, check_choice, check_type
from bayescal.core.text import card, rounded, shortened
from bayescal.data.cases import as_scores
from bayescal.data.stored import write_tree
from bayescal.data.table import CalibrationData
from bayescal.model.draws import worst_of
from bayescal.multilevel import changes
from bayescal.multilevel.compared import (
    OFF_BY,
    Part,
    Side,
    check_levels,
    heterogeneity,
    left_out,
    off_by,
    parts_of,
    prob_unlike,
    shares_of_worst,
    table_of_curves,
    two_of,
)
from bayescal.multilevel.curves import SELF_NAMED, Curves
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MultilevelProblem, problem_of_all
from bayescal.multilevel.term import LEAST_ROBUST, Vary, clearly_unlike
from bayescal.multilevel.tree import tree_of_several
from bayescal.multilevel.words import lines_of, shown
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.intervals import SUMMARY_COLUMNS
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.stored import check_tree, tree_of_all, trees_of
from bayescal.posterior.words import of_imputations

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescal.inference.loo import LeaveOneOut


PERIOD = "period"
# Most draws of curves whose evaluations are kept: those of 40 hospitals in 24 months are 4 million
# and would need 3 GB.
MOST_KEPT = 1 << 19
CURVE_AT = np.linspace(0.05, 0.95, 19)
# What data a fit of each kind is of.
FITTED_BY = {
    "sites": "site= says which site each case is from",
    "subgroups": "subgroup= has two columns or more",
    "periods": "period= says when each case was",
}

Measured = TypeVar("Measured", "xr.DataArray", "xr.Dataset")


class MultilevelPosterior:
    """Posterior of several related calibration curves: of sites, subgroups or periods.

    Every group of cases has a curve of its own, drawn towards the others as far as the data say
    that they are alike. `at` gives the curve of some levels, `average` that of the average, and
    `new` that of a level that has not been seen: each answers as the posterior of one curve does,
    and can be saved. Questions of all curves take `by`, what they are compared by.

    Parameters
    ----------
    tree : xarray.DataTree
        As written by `bayescal.fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> site = np.repeat(["A", "B", "C"], 200)
    >>> post = bc.fit(y_true, y_prob, site=site, curve="logistic", random_state=1)
    >>> post.levels
    {'site': ('A', 'B', 'C')}
    >>> post.at(site="A").tce().dims
    ('chain', 'draw')
    """

    _fits: tuple[Curves, ...]
    """The draws of each imputation."""

    def __init__(self, tree: xr.DataTree | Sequence[Curves]) -> None:
        if isinstance(tree, Sequence):
            self._fits = tuple(tree)
            return
        trees = trees_of(check_tree(tree))
        if "terms" not in trees[0].attrs:
            raise InputError("tree is not that of several curves. Read a file with bayescal.load.")
        self._fits, self._tree = tuple(map(Curves.of_tree, trees)), tree

    # What was fitted and drawn

    @cached_property
    def _tree(self) -> xr.DataTree:
        return tree_of_all([fit.tree for fit in self._fits])

    @property
    def tree(self) -> xr.DataTree:
        """The `xarray.DataTree` in ArviZ's schema; coordinates have a dim for the curves."""
        return self._tree

    def to_datatree(self, derived: bool = False, scores: ArrayLike | None = None) -> xr.DataTree:
        """The posterior as a tree for ArviZ; see `CalibrationPosterior.to_datatree`.

        Parameters
        ----------
        derived : bool
            Whether the group posterior has `tce`, `observed_expected`, `calibration_slope` and
            `event_prob` of all cases together, the average's coordinates and the scales, in place
            of the coordinates of each curve.
        scores : array-like of shape (k,), optional

        Returns
        -------
        xarray.DataTree
            With the index of each observation's curve, such as `site_of_obs`, in constant_data.
        """
        return tree_of_several(self, as_flag(derived, "derived"), scores)

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """Write the tree to a NetCDF file; `bayescal.load` reads it back.

        Parameters
        ----------
        path : str or path-like
        """
        write_tree(self.tree, path)

    def sel(self, imputation: int | None = None, **levels: Any) -> Any:
        """One imputation, or the curve at some levels: `at`.

        Parameters
        ----------
        imputation : int, optional
            Counted from 1.
        **levels
            As `site="A"` or `sex="F", age="80+"`.

        Returns
        -------
        MultilevelPosterior or CalibrationPosterior
            The first if only an imputation is named.

        Raises
        ------
        InputError
            If there is no such imputation, axis or level.
        """
        post: MultilevelPosterior = self
        if imputation is not None:
            size = len(self._fits)
            if size == 1 or isinstance(imputation, bool) or imputation not in range(1, size + 1):
                told = "none was imputed" if size == 1 else f"they are numbered from 1 to {size}"
                raise InputError(f"imputation is {imputation!r}, and {told}.")
            post = self.imputations[imputation - 1]
        return post.at(levels) if levels or imputation is None else post

    @cached_property
    def imputations(self) -> tuple[Self, ...]:
        """The posterior of each imputation; itself alone where nothing was imputed."""
        return (self,) if len(self._fits) == 1 else tuple(type(self)([each]) for each in self._fits)

    @cached_property
    def problem(self) -> MultilevelProblem:
        """The tables, the family of curves, the terms and the priors."""
        return problem_of_all([fit.problem for fit in self._fits])

    @property
    def data(self) -> CalibrationData:
        """The table that was fitted, with its groups; scores alone if there are no patients."""
        data = self.problem.data
        return data if self.has_outcomes else data.without_outcomes()

    @property
    def has_outcomes(self) -> bool:
        """Whether there are groups with patients, beside sites known by their summaries."""
        return self.problem.has_outcomes

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """What curves are told apart by, such as site, or sex and age, with its levels in order."""
        return dict(self.problem.axes)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the curves, in order: of the sites, of the periods in time, or of the cells."""
        axes = self.problem.axes
        return next(iter(axes.values())) if len(axes) == 1 else self.problem.labels

    @property
    def vary(self) -> tuple[Vary, ...]:
        """The terms that curves vary by, as `bayescal.fit` takes them."""
        return tuple(term.vary for term in self.problem.terms)

    @property
    def draws(self) -> int:
        """Number of draws, over all chains and imputations."""
        return sum(fit.free.size for fit in self._fits)

    @property
    def engine(self) -> str:
        """The engine that drew it: "importance" or "nuts"."""
        return ", ".join(sorted({fit.free.engine for fit in self._fits}))

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted.

        Returns
        -------
        dict
            For importance: pareto_k (above 0.7 is bad; of periods, the worst of an explanation with
            at least a hundredth of the draws), ess, log_evidence and its error, and of sites
            site_ess, the least share of a site's proposals that count. For NUTS: the largest r_hat,
            the smallest ess, and divergences. `verdict` is "ok" or says what is wrong. Of several
            imputations it is the worst of each, and `verdict` names them, counted from 1.
        """
        each = [fit.free for fit in self._fits]
        verdicts = [drawn.verdict for drawn in each]
        verdict = verdicts[0] if len(each) == 1 else of_imputations(verdicts)
        told = each[0].stats if len(each) == 1 else worst_of([drawn.stats for drawn in each])
        return {"engine": self.engine, **told, "verdict": verdict}

    @cached_property
    def prob_calibrated(self) -> dict[str, float] | None:
        """Probability of exact calibration, of every site and of the average site.

        Each of three models explains the data: the curve of every site is the diagonal, with prior
        probability 0.01; that of the average site is, and the sites' differ from it, with 0.11;
        neither. `average_site` is the probability of the first two together. Of ordered periods
        the first is exactly calibrated with prior probability 0.2, and every one with 0.1.

        Returns
        -------
        dict or None
            every_site and average_site: of several factors that every cell is exactly calibrated,
            or the average; of periods that every period is, or the first. The mean over
            imputations. None where NUTS drew, which computes no evidence.
        """
        each = [fit.explained.prob_calibrated for fit in self._fits]
        known = [exact._asdict() for exact in each if exact is not None]
        if len(known) < len(each):
            return None
        return {name: float(np.mean([one[name] for one in known])) for name in known[0]}

    @property
    def _free(self) -> MultilevelDraws:
        """The draws of the fit, of the first imputation."""
        return self._fits[0].free

    @property
    def _drawn(self) -> MultilevelDraws:
        """Those that every number is read from, of the first imputation."""
        return self._fits[0].drawn

    # Each of the curves

    def _view(self, key: Mapping[str, Any]) -> CalibrationPosterior:
        """The posterior of one curve; the last ones keep what was evaluated."""
        name = repr(key)
        if name not in self._views:
            if len(self._views) * self.draws > MOST_KEPT:
                del self._views[next(iter(self._views))]
            self._views[name] = CalibrationPosterior([fit.part(key) for fit in self._fits])
        return self._views[name]

    @cached_property
    def _views(self) -> dict[str, CalibrationPosterior]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the views, which are made again when they are asked for."""
        return {name: value for name, value in self.__dict__.items() if name != "_views"}

    def at(
        self, levels: Mapping[str, Any] | None = None, /, **by_name: Any
    ) -> CalibrationPosterior:
        """The posterior of the curve at some levels, which answers as any posterior does.

        Parameters
        ----------
        levels : mapping of str to str, optional
            The level of each axis that matters; for axes whose names are no Python names.
        **by_name
            The same, as `site="A"` or `sex="F", age="80+"`. All cases, if there are none.

        Returns
        -------
        CalibrationPosterior
            Of the cases with all of these levels. If they are of several groups its curve is, at
            each score, the mean of the curves of the groups, weighted by how many of the cases near
            that score each has. Errors of groups cancel in it; `own` has those of the patients.

        Raises
        ------
        InputError
            If there is no such axis or level, or no case has all of the levels.
        """
        return self._view({"at": check_levels(self.problem, as_mapping(levels) | by_name)})

    def own(
        self, levels: Mapping[str, Any] | None = None, /, **by_name: Any
    ) -> CalibrationPosterior:
        """The posterior of these patients, each with the curve of their own group.

        Its distances are those of each patient's risk from the score, averaged over patients. In
        those of the pooled curve, `at()`, errors of groups cancel, and in O/E of either.

        Parameters
        ----------
        levels : mapping of str to str, optional
            Whose patients, as `at` takes them, such as those of one hospital, each with the curve
            of their own month; all patients, if there are none.
        **by_name
            The same, as `site="A"`.

        Returns
        -------
        CalibrationPosterior
            Its measures; the curve itself is the pooled one.

        Raises
        ------
        InputError
            If there are no patients, or as `at`.
        """
        if not self.has_outcomes:
            raise InputError(
                "own() is of patients, and all sites are known by their summaries. Ask for at() "
                "of a site, average() or new()."
            )
        return self._view({"own": check_levels(self.problem, as_mapping(levels) | by_name)})

    def now(
        self, levels: Mapping[str, Any] | None = None, /, **by_name: Any
    ) -> CalibrationPosterior:
        """The posterior of the curve of the last period, where curves change with time.

        Parameters
        ----------
        levels : mapping of str to str, optional
            Levels of other axes, as `at` takes them.
        **by_name
            The same, as `site="A"`.

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If there are no periods, or as `at`.
        """
        walk, given = self.problem.walk, as_mapping(levels) | by_name
        name = PERIOD if walk is None else walk.name
        periods = self.levels.get(name)
        check_levels(self.problem, given)
        if periods is None:
            raise InputError(
                f"now() is the last period, and there are levels of {' and '.join(self.levels)} "
                "alone. Fit data that say with period= when each case was, or ask for at(), "
                "average() or new()."
            )
        if name in given:
            raise InputError(
                f"now() is the last {name}, {periods[-1]!r}, and {name}={given[name]!r} was "
                f"given. Use at({name}=...) for another."
            )
        return self.at(given | {name: periods[-1]})

    def average(self) -> CalibrationPosterior:
        """The posterior of the curve without effects, over the scores of all cases.

        Of sites it is that of the average site, the centre of those that are like each other; of
        ordered periods alone that of one curve for all of them, the answer were there no change.
        Where other terms stand beside periods it is the average in the last period.

        Returns
        -------
        CalibrationPosterior
        """
        return self._view({"average": True})

    def new(self, by: str | None = None, scores: ArrayLike | None = None) -> CalibrationPosterior:
        """What a level that has not been seen will meet: a new site, or the next period.

        Parameters
        ----------
        by : str, optional
            What the level is of; it may be left out where all curves are of one axis. Effects of
            other axes are those of the average; of periods, those of the last one.
        scores : array-like of shape (n,), optional
            Its scores; by default those of all cases, of the next period those of the last one.

        Returns
        -------
        CalibrationPosterior
            Of the next period alone, the curve is one step on where curves drift, and as it is
            where the explanation is no change or a sudden one. Beside other terms it is that of
            the average, one step on.

        Raises
        ------
        InputError
            If there is no such axis, or a score is outside [0, 1].
        """
        key = {"new": self._one_axis(by)}
        if scores is None:
            return self._view(key)
        key["scores"] = as_scores(scores, "scores").tolist()
        return CalibrationPosterior([fit.part(key) for fit in self._fits])

    def _one_axis(self, by: Any) -> str:
        """The axis that is named, or the only one."""
        names = list(self.levels)
        if by is None and len(names) > 1:
            raise InputError(
                f"curves differ by {' and '.join(names)}. Say which of them is meant, such as "
                f"by={names[0]!r}."
            )
        return names[0] if by is None else check_choice(by, names, "by")

    # Measures of every curve

    def parts(self, by: str | Sequence[str] | None = None) -> list[Part]:
        """The curves that a question compares.

        Parameters
        ----------
        by : str or sequence of str, optional
            One axis, whose levels are compared; or several, for the combinations of their levels
            that occur. By default the levels of every axis in turn.

        Returns
        -------
        list of Part
            Each with `factor`, `level`, and `levels`, which `at` takes.
        """
        return parts_of(self.problem.axes, self.problem.cells, by)

    def curve(self, scores: ArrayLike | None = None, *, by: Any = None) -> xr.DataArray:
        """Draws of the calibration curve of every site, level or period.

        Parameters
        ----------
        scores : array-like of shape (k,), optional
            Where to evaluate them, in [0, 1]; by default 0.05, 0.10, ..., 0.95.
        by : str or sequence of str, optional
            As in `functional`.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site, score).
        """
        at = CURVE_AT if scores is None else scores
        return self._each(lambda view: view.curve(at), by)

    def predict(self, y_prob: ArrayLike, *, by: Any = None) -> xr.DataArray:
        """Recalibrated probabilities of new cases, were they from each site, level or period.

        Parameters
        ----------
        y_prob : array-like of shape (n,)
        by : str or sequence of str, optional
            As in `functional`.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site, obs). `new().predict(y_prob)` is for cases of a site that
            has not been seen, and `now().predict(y_prob)` for cases of the last period.
        """
        return self._each(lambda view: view.predict(y_prob), by)

    def risks(
        self,
        y_prob: Any,
        thresholds: Any = (),
        ci_prob: float = 0.95,
        *,
        at: str | Mapping[str, Any] | None = None,
    ) -> pd.DataFrame:
        """The actual risk of single patients here, elsewhere and later, by their score.

        Parameters
        ----------
        y_prob : float or array-like of shape (n,)
            The model's probabilities of the patients.
        thresholds : float or array-like of shape (k,)
            Risks from which a patient is treated, in (0, 1).
        ci_prob : float in (0, 1)
        at : str or mapping of str to str, optional
            Where the patients are: a level, such as their hospital, or the levels of several axes,
            as `at` takes them. Its curve comes first.

        Returns
        -------
        pandas.DataFrame
            Index: (curve, patient). Curves of sites: the one of `at`, the average site and a new
            site; of periods: now and the next period; of factors: every level. Columns as of
            `CalibrationPosterior.risks`.

        Raises
        ------
        InputError
            If a score is outside [0, 1], a threshold outside (0, 1), or there is no such level.

        Examples
        --------
        >>> import numpy as np
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> site = np.resize(["A", "B", "C"], 300)
        >>> post = bc.fit(y_true, y_prob, site=site, curve="logistic", random_state=1)
        >>> post.risks(0.25, at="A").index.get_level_values("curve").tolist()
        ['A', 'average site', 'new site']
        """
        import pandas as pd

        views = shown(self)
        if at is not None:
            levels = at if isinstance(at, Mapping) else {self._one_axis(None): at}
            levels = check_levels(self.problem, levels, "at")
            views = {", ".join(levels.values()): self.at(levels)} | views
        tables = [view.risks(y_prob, thresholds, ci_prob) for view in views.values()]
        return pd.concat(tables, keys=list(views), names=["curve", "patient"])

    def tce(self, p: float = 1, population: Any = "bootstrap", *, by: Any = None) -> xr.DataArray:
        """Posterior of the true calibration error of every site, level or period.

        Parameters
        ----------
        p : float, at least 1
        population : {"bootstrap", "sample", "beta"} or scores
        by : str or sequence of str, optional
            As in `functional`.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site), values in [0, 1].
        """
        return self._each(lambda view: view.tce(p, population), by)

    def functional(
        self, name: str, population: Any = "bootstrap", *, by: Any = None, **options: Any
    ) -> xr.DataArray:
        """Posterior of a functional of every site, level or period.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"} or scores
        by : str or sequence of str, optional
            What is compared: one axis, such as "sex", or several, for the combinations of their
            levels; by default the levels of every axis.
        **options
            Passed to the functional.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site), or `period`; of factors `subgroup`, which has the
            coordinates `factor` and `level`.
        """
        check_choice(name, FUNCTIONALS, "name")
        return self._each(lambda view: view.functional(name, population, **options), by)

    def net_benefit(
        self, thresholds: ArrayLike, population: Any = "bootstrap", *, by: Any = None
    ) -> xr.Dataset:
        """Posterior of the net benefit of every curve, as `CalibrationPosterior.net_benefit`.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
        population : {"bootstrap", "sample", "beta"} or scores
        by : str or sequence of str, optional
            As in `functional`.

        Returns
        -------
        xarray.Dataset
            Its variables have a dim `site`, `period` or `subgroup`.
        """
        return self._each(lambda view: view.net_benefit(thresholds, population), by)

    def summary(self, ci_prob: float = 0.95, *, by: Any = None, **options: Any) -> pd.DataFrame:
        """Every functional of every curve with its credible interval.

        Parameters
        ----------
        ci_prob : float in (0, 1)
        by : str or sequence of str, optional
            As in `functional`.
        **options
            `p`, `population` and `names`, as of `CalibrationPosterior.summary`.

        Returns
        -------
        pandas.DataFrame
            Index: (site, functional), or `period`; of factors (factor, level, functional). Columns:
            estimate, mean, median, lower, upper.
        """
        return self._stacked(lambda view: view.summary(ci_prob, **options), by)

    def _stacked(self, of: Callable[[CalibrationPosterior], pd.DataFrame], by: Any) -> pd.DataFrame:
        """A table of every curve, one below the other."""
        import pandas as pd

        parts = self.parts(by)
        names, keys = self._index(parts)
        tables = [of(self.at(each.levels)) for each in parts]
        return pd.concat(tables, keys=keys, names=[*names, "functional"])

    def _index(self, parts: Sequence[Part]) -> tuple[list[str], list[Any]]:
        """Names and keys of the rows of a table of curves."""
        if len({each.factor for each in parts}) == 1 and parts[0].factor in SELF_NAMED:
            return [parts[0].factor], [each.level for each in parts]
        return ["factor", "level"], [(each.factor, each.level) for each in parts]

    def _each(self, measure: Callable[[CalibrationPosterior], Measured], by: Any) -> Measured:
        """A measure of every curve, side by side."""
        import xarray as xr

        parts = self.parts(by)
        (dim, *_), labels = self._index(parts)
        each = [measure(self.at(part.levels)) for part in parts]
        if dim in SELF_NAMED:
            joined = xr.concat(each, xr.DataArray(labels, dims=dim, name=dim))
            return joined.transpose("chain", "draw", dim, ..., missing_dims="ignore")
        joined = xr.concat(each, "subgroup").assign_coords(
            factor=("subgroup", [part.factor for part in parts]),
            level=("subgroup", [part.level for part in parts]),
        )
        return joined.transpose("chain", "draw", "subgroup", ..., missing_dims="ignore")

    def _values(self, parts: Sequence[Part], name: str, population: Any) -> Floats:
        """Draws of a functional of each curve, of shape (parts, draws)."""
        check_choice(name, FUNCTIONALS, "name")
        return np.stack([self.at(each.levels).values_of(name, population) for each in parts])

    # How curves differ

    def prob_worst(
        self,
        by: str | Sequence[str] | None = None,
        name: str = "tce",
        population: Any = "bootstrap",
        *,
        side: Side = "both",
    ) -> pd.Series:
        """Probability that a site, level or period is the one furthest from calibration.

        Parameters
        ----------
        by : str or sequence of str, optional
            What is compared, as in `functional`; by default every level of every axis, as in
            `prob_any_above`. `list(post.levels)` compares the combinations of all factors.
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`; "tce" is the calibration error. Its
            distance from its value at perfect calibration is compared.
        population : {"bootstrap", "sample", "beta"} or scores
        side : {"both", "above", "below"}
            "above" compares how far it is above that value, "below" how far below: of O/E, which
            has most events beyond those predicted, and which has fewest.

        Returns
        -------
        pandas.Series
            By level, of several axes by (factor, level); the values sum to one.

        Raises
        ------
        InputError
            If a name is unknown, or `side` is "below" for an error, which has one side.
        """
        import pandas as pd

        compared = self.parts(by)
        off = off_by(self._values(compared, name, population), name, side)
        index = pd.Index([each.level for each in compared], name=compared[0].factor)
        if len({each.factor for each in compared}) > 1:
            pairs = [(each.factor, each.level) for each in compared]
            index = pd.MultiIndex.from_tuples(pairs, names=["factor", "level"])
        return pd.Series(shares_of_worst(off), index, name="prob_worst")

    def prob_any_above(
        self,
        x: float,
        name: str = "tce",
        population: Any = "bootstrap",
        *,
        by: str | Sequence[str] | None = None,
        side: Side = "both",
    ) -> float:
        """Probability that one site, level or period or more is off by more than `x`.

        Parameters
        ----------
        x : float
            Distance of the functional from its value at perfect calibration: 0.1 of O/E is below
            0.9 or above 1.1.
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"} or scores
        by : str or sequence of str, optional
            Which curves count, as in `functional`; by default every level of every axis. Of small
            cells the data say little: with 64 cells of 60 patients each it is likely that one of
            them is off by more than 0.05, even where no subgroup is.
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
        values = self._values(self.parts(by), name, population)
        return float((off_by(values, name, side) > limit).any(axis=0).mean())

    def prob_differs(
        self,
        by: str | None = None,
        first: Any = None,
        second: Any = None,
        delta: float = OFF_BY,
        name: str = "observed_expected",
        population: Any = "bootstrap",
    ) -> float:
        """Probability that a functional differs by more than `delta` between levels.

        Parameters
        ----------
        by : str, optional
            Whose levels; it may be left out where all curves are of one axis.
        first, second : str, optional
            Two levels; by default any two, those that differ most in each draw.
        delta : float
            In units of the functional: of O/E, or of probability.
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`, such as "signed_error", the mean error.
        population : {"bootstrap", "sample", "beta"} or scores

        Returns
        -------
        float

        Raises
        ------
        InputError
            If there is no such axis or level, only one level was given, or a name is unknown.
        """
        limit = as_number(delta, "delta")
        compared = two_of(self.parts(self._one_axis(by)), first, second)
        values = self._values(compared, name, population)
        return float((np.ptp(values, axis=0) > limit).mean())

    def differences(
        self,
        by: str | None = None,
        name: str = "observed_expected",
        delta: float = OFF_BY,
        ci_prob: float = 0.95,
        population: Any = "bootstrap",
    ) -> pd.DataFrame:
        """How far every two levels are apart.

        Parameters
        ----------
        by : str, optional
            Whose levels; it may be left out where all curves are of one axis.
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        delta : float
            Difference that counts, in units of the functional.
        ci_prob : float in (0, 1)
        population : {"bootstrap", "sample", "beta"} or scores

        Returns
        -------
        pandas.DataFrame
            Index: (first, second), two levels. Columns: mean, lower and upper of the functional of
            the first minus that of the second; `prob_positive`, that it is above zero; and
            `prob_differs`, that it is further than `delta` from zero.

        Raises
        ------
        InputError
            If there is no such axis, or a name is unknown.
        """
        import pandas as pd

        limit, level = as_number(delta, "delta"), as_level(ci_prob)
        compared = self.parts(self._one_axis(by))
        values = self._values(compared, name, population)
        rows = {}
        for one, other in combinations(range(len(compared)), 2):
            difference = values[one] - values[other]
            lower, upper = np.quantile(difference, [(1 - level) / 2, 1 - (1 - level) / 2])
            rows[compared[one].level, compared[other].level] = {
                "mean": difference.mean(),
                "lower": lower,
                "upper": upper,
                "prob_positive": float((difference > 0).mean()),
                "prob_differs": float((np.abs(difference) > limit).mean()),
            }
        index = pd.MultiIndex.from_tuples(list(rows), names=["first", "second"])
        return pd.DataFrame(list(rows.values()), index)

    @cached_property
    def heterogeneity(self) -> pd.DataFrame:
        """How much curves differ: standard deviations between levels, in shift and log slope.

        Returns
        -------
        pandas.DataFrame
            Columns: mean, median, lower, upper (95 %, equal-tailed). Index: shift and log_slope,
            and their correlation, between sites; of robust effects between those that are like
            each other. Of several factors (term, coordinate), where terms
            are the factors and their interaction, and a column `prob_largest`, the probability
            that it is the largest of all terms. Of periods, the standard deviation over the periods
            fitted, which is zero where nothing changed.
        """
        return heterogeneity([fit.free for fit in self._fits])

    def table(self, by: Any = None, delta: float = OFF_BY, ci_prob: float = 0.95) -> pd.DataFrame:
        """One row a curve: its own estimates, and those that the others have a part in.

        Parameters
        ----------
        by : str or sequence of str, optional
            Which curves, as in `functional`; by default all levels, and of several axes then their
            combinations.
        delta : float
            Limit of the true calibration error for `prob_off`, and of the distance from the average
            curve for `prob_differs`.
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: site, period, or (factor, level). Columns: cases, events (not a number where they
            are not known); for tce, observed_expected and calibration_slope the estimate, its
            interval (`_lower`, `_upper`), and the `_raw` estimate from these cases alone (not a
            number where there is none; of tce that of their logistic curve); `prob_off`, the
            probability that TCE is above `delta`; `prob_worst`, that it is the largest of its
            factor; of sites `prob_differs`, the probability that the curve is further than `delta`
            from that of the average site, on average over the site's scores; and of robust effects
            `prob_unlike`.

        Raises
        ------
        InputError
            If an argument is out of range or unknown.
        """
        return table_of_curves(self, by, as_number(delta, "delta"), as_level(ci_prob))

    def prob_unlike(self) -> pd.Series:
        """Probability that a site, or another level of a robust term, is unlike the others.

        A level that is, is so in both its shift and its slope. Before the data the probability is
        0.1; with fewer than ten sites the data change little.

        Returns
        -------
        pandas.Series
            By site, by cell, or by level of the factor whose effects are robust.

        Raises
        ------
        InputError
            If all effects are normal, as of `bayescal.by("site", robust=False)` and of fewer than
            ten cells.
        """
        return prob_unlike([fit.free for fit in self._fits])

    def unlike(self) -> dict[str, float]:
        """Levels that are unlike the others with a probability above 0.75, the most likely first.

        With their probabilities. There are none where all effects are normal, nor among fewer than
        ten sites, of which the data say little more than the prior.
        """
        few = self.problem.kind == "sites" and len(self.labels) < LEAST_ROBUST
        return {} if self._free.unlike is None or few else clearly_unlike(self.prob_unlike())

    @cached_property
    def loo(self) -> LeaveOneOut:
        """Leave-one-out log density of these curves, by PSIS.

        Each case is predicted by the curve of its own group, fitted without the case: the average
        and the other groups lose what it said, too. Where cases come in clusters whole clusters are
        left out, with all of their cases in whatever groups they are.

        Returns
        -------
        LeaveOneOut
            `elpd`, the sum over patients, and its standard error `error`; `pointwise`, of each
            distinct case or cluster, and their `count`; and the largest `pareto_k`, which should
            be below 0.7. Two fits of the same cases are compared by the difference of `elpd`.

        Raises
        ------
        InputError
            If there are no groups with cases, or several imputations.

        References
        ----------
        Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using leave-one-out
        cross-validation and WAIC, Statistics and Computing 27.
        """
        if len(self._fits) > 1:
            raise InputError(
                "loo is of one imputation, whose cases are weighed one by one. Read it of each: "
                "imputations[0].loo."
            )
        return left_out(self._free)

    @cached_property
    def missing_information(self) -> pd.DataFrame:
        """What the missing data cost, for each functional of every site, level or period.

        Returns
        -------
        pandas.DataFrame
            Index as of `summary`. Columns as of `CalibrationPosterior.missing_information`; those
            of the average are in `average().missing_information`.
        """
        return self._stacked(lambda view: view.missing_information, None)

    @property
    def explanations(self) -> pd.Series:
        """Posterior probability of each explanation: constant, sudden and gradual.

        Returns
        -------
        pandas.Series
            The values sum to one.
        """
        import pandas as pd

        first, *sudden, gradual = changes.probabilities_of(self._of_periods())
        shares = {"constant": first, "sudden": sum(sudden), "gradual": gradual}
        return pd.Series(shares, name="probability").rename_axis("explanation")

    def when_changed(self, delta: float = 0.0) -> pd.DataFrame:
        """When the curve changed most, with all periods equally probable before the data.

        In each draw, the largest step is the one from a period to the next by which the curve
        moved most, on average over the scores of all periods.

        Parameters
        ----------
        delta : float
            Steps up to this size, in probability, are not counted.

        Returns
        -------
        pandas.DataFrame
            Index: every period but the first. Columns: `prob`, the probability that the largest
            step led into this period and was larger than delta, which sum to the probability of
            such a step; `by_then`, the probability that it was in this period or before, given
            that there was one (not a number if no draw has one); `if_sudden`, the probability that
            the change was into this period, given that there was one sudden change; and
            `within_one`, the same for this period, the one before or the one after.

        Notes
        -----
        The fit takes a recent sudden change for more probable than an old one, because it is asked
        for the present. Here each period has the same prior probability of a sudden change; the
        probability that there was one is that of the fit.
        """
        return changes.when_changed(self._of_periods(), as_number(delta, "delta"))

    def gain_of_updating(self, ci_prob: float = 0.95) -> pd.DataFrame:
        """What recalibrating now would gain in patients like those of the last period.

        Scores are replaced by the posterior mean of the present curve, or by that of one curve for
        all periods, and events have the probabilities of the present curve. The means say what to
        expect of either update, under the prior; the first cannot be below zero.

        Parameters
        ----------
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: map ("now", "all periods") and score ("brier", "log_score"). Columns: mean,
            lower and upper, falls of the mean score of a patient, and prob_gain, the probability
            that it falls.
        """
        each = self._of_periods()
        return changes.gains_of_updating(self.now(), each, as_level(ci_prob))

    def _of_periods(self) -> list[MultilevelDraws]:
        """The draws of each imputation; refused where curves are not of periods alone."""
        if self.problem.kind != "periods":
            raise InputError(
                f"this is of periods alone, and curves differ by {' and '.join(self.levels)}. Fit "
                "the cases with vary=bc.walk('period')."
            )
        return [fit.drawn for fit in self._fits]

    # Words

    def __repr__(self) -> str:
        return "\n".join([type(self).__name__, *(f"  {line}" for line in lines_of(self))])

    def _repr_html_(self) -> str:
        rows, names = {}, ["tce", "observed_expected"]
        if self.problem.kind == "subgroups":
            names.remove("tce")
        for title, view in shown(self).items():
            for name in names:
                lower, upper = view.interval(name)
                apart = FUNCTIONALS[name].apart
                middle, low, high = rounded(
                    (view.estimate(name), lower, upper), lower, upper, apart
                )
                rows[f"{FUNCTIONALS[name].label}, {title}"] = middle, f"{low} to {high}"
        return card(repr(self), SUMMARY_COLUMNS, rows)


def as_mapping(levels: Any) -> dict[str, Any]:
    """Levels by axis, as they are given by position."""
    given = {} if levels is None else levels
    if not isinstance(given, Mapping):
        raise InputError(
            "levels must be a level for each of some factors, such as {'sex': 'F'}, got "
            f"{shortened(repr(given))}."
        )
    return dict(given)


def as_multilevel(post: Any, kind: str = "") -> MultilevelPosterior:
    """A posterior of several curves, of one kind if it is named, and nothing else."""
    cure = "Pass what bayescal.fit returns of sites, factors or periods."
    if kind:
        cure = f"Pass what bayescal.fit returns when {FITTED_BY[kind]}."
    checked: MultilevelPosterior = check_type(post, MultilevelPosterior, "post", cure)
    if kind and checked.problem.kind != kind:
        raise InputError(
            f"post is of {' and '.join(checked.levels)}, and must be of {kind}. {cure}"
        )
    return checked
