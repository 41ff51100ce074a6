"""MultilevelPosterior: several related curves, compared draw by draw."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import as_level, as_number, check_choice, check_type
from bayescal.core.text import card, interval, rounded, shortened
from bayescal.multilevel.compared import (
    OFF_BY,
    Part,
    Side,
    off_by,
    share_off,
    shares_of_worst,
    two_of,
)
from bayescal.multilevel.measures import SeveralMeasures
from bayescal.multilevel.view import CurveView
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.intervals import SUMMARY_COLUMNS, equal_tailed

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.inference.loo import LeaveOneOut

__all__ = ["MultilevelPosterior", "as_multilevel"]


class MultilevelPosterior(SeveralMeasures):
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

    _on_card: Sequence[str] = ("tce", "observed_expected")

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
        return share_off(off_by(values, name, side), limit)

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

    @property
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
        import pandas as pd

        drawn, varying = self._free, self.problem.varying
        if self._is_walk:
            scales = drawn.groups[:, :, self.problem.columns].std(axis=0)[None]
        else:
            scales = drawn.scales
        rows: dict[Any, dict[str, float]] = {}
        for k, term in enumerate(self.problem.terms):
            for column, name in enumerate(varying):
                row = _described(scales[k, :, column])
                if len(scales) > 1:
                    row["prob_largest"] = float((scales[:, :, column].argmax(axis=0) == k).mean())
                rows[(term.name, name) if len(scales) > 1 else name] = row
        if drawn.correlation is not None and len(varying) > 1:
            rows["correlation"] = _described(drawn.correlation)
        table = pd.DataFrame.from_dict(rows, orient="index")
        if len(scales) > 1:
            table.index = pd.MultiIndex.from_tuples(list(rows), names=["term", "coordinate"])
        return table

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
        from bayescal.multilevel.left_out import left_out  # loads an optimiser

        return left_out(self._free)

    def _sizes(self) -> list[str]:
        """What was fitted, as the first lines that are printed below the name of the class."""
        pooled = self.problem.pooled
        told = ", ".join(f"{shortened(name)} ({len(each)})" for name, each in self.levels.items())
        return [
            f"{told}: {len(self.problem.labels)} cells",
            self.data.size_in_words,
            f"{pooled.curve.name} curves, {pooled.prior.name} prior, {self.engine}",
        ]

    def _lines(self) -> Sequence[str]:
        """What is printed below the name of the class."""
        return [*self._sizes(), *(_error_of(title, view) for title, view in self._shown().items())]

    def __repr__(self) -> str:
        return "\n".join([type(self).__name__, *(f"  {line}" for line in self._lines())])

    def _repr_html_(self) -> str:
        rows = {}
        for title, view in self._shown().items():
            for name in self._on_card:
                lower, upper = view.interval(name)
                apart = FUNCTIONALS[name].apart
                middle, low, high = rounded(
                    (view.estimate(name), lower, upper), lower, upper, apart
                )
                rows[f"{FUNCTIONALS[name].label}, {title}"] = middle, f"{low} to {high}"
        return card(repr(self), SUMMARY_COLUMNS, rows)

    def _values(self, parts: Sequence[Part], name: str, population: Any) -> Floats:
        """Draws of a functional of each curve, of shape (parts, draws)."""
        check_choice(name, FUNCTIONALS, "name")
        return np.stack([self.at(each.levels).values_of(name, population) for each in parts])


def _error_of(title: str, view: CurveView) -> str:
    """The calibration error of a curve as a line."""
    return f"TCE of the {title} {interval(view.estimate('tce'), *view.interval('tce'), 0.95)}"


def _described(values: Floats) -> dict[str, float]:
    lower, upper = equal_tailed(values, 0.95)
    named = {"mean": values.mean(), "median": np.median(values), "lower": lower, "upper": upper}
    return {name: float(value) for name, value in named.items()}


def as_multilevel(post: Any) -> MultilevelPosterior:
    """A posterior of several curves, and nothing else."""
    cure = "Pass what bayescal.fit returns of sites, factors or periods."
    return check_type(post, MultilevelPosterior, "post", cure)
