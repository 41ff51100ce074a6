"""DriftPosterior: the curves of ordered periods, of the last one and of the next."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.errors import check_type
from bayescal._base.text import interval
from bayescal.data.data import CalibrationData
from bayescal.data.validate import as_level, as_number, as_scores, check_choice
from bayescal.multilevel.drift.draws import DrawnDrift
from bayescal.multilevel.drift.problem import DriftProblem
from bayescal.multilevel.drift.steps import steps_of
from bayescal.multilevel.drift.tree import drift_tree, read_drift
from bayescal.multilevel.drift.updating import gain_of_maps
from bayescal.multilevel.posterior.raw import raw_of_table
from bayescal.multilevel.posterior.rows import beside_raw
from bayescal.multilevel.posterior.several import SeveralCurves
from bayescal.multilevel.posterior.view import SiteView
from bayescal.multilevel.posterior.worst import ComparedCurves
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["DriftPosterior", "as_drift"]


class DriftPosterior(ComparedCurves, SeveralCurves[DrawnDrift]):
    """Posterior of the calibration curves of ordered periods.

    Three explanations are averaged: one curve for all periods (prior probability 1/2), one sudden
    change (1/4, each period but the first alike) and gradual drift, a random walk (1/4). A period,
    the present one and the next are views that answer as any posterior does.

    Parameters
    ----------
    tree : xarray.DataTree
        As written by `bayescal.fit` with periods.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> post = bc.fit(y_true, y_prob, periods=np.repeat([1, 2, 3], 200), random_state=1)
    >>> post.labels
    ('1', '2', '3')
    >>> post.explanations.index.tolist()
    ['constant', 'sudden', 'gradual']
    """

    _kind = "period"

    @staticmethod
    def _read(tree: xr.DataTree) -> DrawnDrift:
        return read_drift(tree)

    @staticmethod
    def _written(drawn: DrawnDrift) -> xr.DataTree:
        return drift_tree(drawn)

    @property
    def problem(self) -> DriftProblem:
        """The tables, the family of curves and the priors."""
        return self._drawn.problem

    @property
    def data(self) -> CalibrationData:
        """The table that was fitted, with a group a period."""
        return self.problem.data

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the periods, in order of time."""
        return self.problem.labels

    @property
    def draws(self) -> int:
        """Number of draws, over all chains."""
        return len(self._drawn.following)

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted.

        Returns
        -------
        dict
            pareto_k, the worst of an explanation that has at least a hundredth of the draws
            (above 0.7 is bad), ess, log_evidence and its error, and `verdict`, which is "ok" or
            says what is wrong.
        """
        return {"engine": self.engine, **self._drawn.stats, "verdict": self._drawn.verdict}

    def period(self, label: str) -> SiteView:
        """The posterior of one period's curve, which answers as any posterior does.

        Parameters
        ----------
        label : str
            One of `labels`.

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If there was no such period.
        """
        name = check_choice(label, self.labels, "label")
        if name not in self._views:
            index, (prior, _) = self.labels.index(name), self._priors
            u, problem = self._drawn.periods[index], self.problem.tables[name]
            self._views[name] = SiteView.of_site(name, problem, u, prior[index], self._drawn)
        return self._views[name]

    @cached_property
    def _views(self) -> dict[str, SiteView]:
        return {}

    @cached_property
    def _priors(self) -> tuple[Floats, Floats]:
        return self._drawn.of_prior()

    def now(self) -> SiteView:
        """The posterior of the last period's curve.

        Returns
        -------
        CalibrationPosterior
        """
        return self.period(self.labels[-1])

    def next_period(self, y_prob: ArrayLike | None = None) -> SiteView:
        """What the period after the last one will meet: one step on, where curves drift.

        Where the explanation is constant, or a sudden change, the curve stays as it is.

        Parameters
        ----------
        y_prob : array-like of shape (n,), optional
            Its scores; by default those of the last period.

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If a score is outside [0, 1].
        """
        problem = self.problem.tables[self.labels[-1]]
        if y_prob is not None:
            scores = as_scores(y_prob, "y_prob")
            problem = replace(problem, data=CalibrationData(np.zeros(scores.size), scores))
        u, prior = self._drawn.following, self._priors[1]
        return SiteView.of_site("The next period", problem, u, prior, self._drawn, is_new=True)

    def single_curve(self) -> SiteView:
        """The posterior of one curve for all periods: the answer, were there no change.

        Returns
        -------
        CalibrationPosterior
        """
        return self._single

    @cached_property
    def _single(self) -> SiteView:
        problem, drawn = self.problem.pooled, self._drawn
        prior = problem.sample_prior(problem.rng("prior"), self.draws)
        title = f"One curve for {len(self.labels)} periods"
        return SiteView.of_site(title, problem, drawn.single, prior, drawn)

    @property
    def explanations(self) -> pd.Series:
        """Posterior probability of each explanation: constant, sudden and gradual.

        Returns
        -------
        pandas.Series
            The values sum to one.
        """
        import pandas as pd

        first, *sudden, gradual = self._drawn.probabilities
        shares = {"constant": first, "sudden": sum(sudden), "gradual": gradual}
        return pd.Series(shares, name="probability").rename_axis("explanation")

    @property
    def prob_changed(self) -> float:
        """Probability that the curve changed at all, suddenly or gradually."""
        return float(1 - self._drawn.probabilities[0])

    def when_changed(self, delta: float = 0.0) -> pd.DataFrame:
        """When the curve changed most.

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
            `within_one`, the same for this period, the one before or the one after: where it is
            largest is the best answer to within one period.
        """
        import pandas as pd

        limit, steps = as_number(delta, "delta"), self._steps
        largest, rows = steps.argmax(axis=0), np.arange(steps.shape[1])
        counted = steps[largest, rows] > limit
        prob = np.bincount(largest[counted], minlength=len(steps)) / counted.size
        with np.errstate(invalid="ignore"):
            by_then = prob.cumsum() / prob.sum()
        sudden = self._drawn.probabilities[1:-1]
        columns = {
            "prob": prob,
            "by_then": by_then,
            "if_sudden": sudden / sudden.sum(),
            "within_one": np.convolve(sudden / sudden.sum(), np.ones(3))[1:-1],
        }
        return pd.DataFrame(columns, pd.Index(self.labels[1:], name="period"))

    @cached_property
    def _steps(self) -> Floats:
        return steps_of(self._drawn)

    def prob_now_above(
        self, limit: float, name: str = "tce", population: str = "bootstrap"
    ) -> float:
        """Probability that the present error, or another functional, is above a limit.

        Parameters
        ----------
        limit : float
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`; "tce" is the calibration error.
        population : {"bootstrap", "sample", "beta"}

        Returns
        -------
        float
        """
        value, functional = as_number(limit, "limit"), check_choice(name, FUNCTIONALS, "name")
        return float((self.now().functional(functional, population) > value).mean())

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
        level = as_level(ci_prob)
        problem, u = self.problem.tables[self.labels[-1]], self._drawn.periods[-1]
        curves = problem.probability(u)
        single = problem.probability(self._drawn.single).mean(axis=0)
        maps = {"now": curves.mean(axis=0), "all periods": single}
        return gain_of_maps(problem, curves, maps, level)

    @cached_property
    def periods(self) -> pd.DataFrame:
        """One row a period: its own estimates, and those that all periods have a part in.

        Returns
        -------
        pandas.DataFrame
            Index: period. Columns: cases, events; for observed_expected and calibration_slope the
            `raw` estimate from the period alone (not a number where there is none), the posterior
            mean and its 95 % interval; for tce the estimate and interval.
        """
        import pandas as pd

        views = {label: self.period(label) for label in self.labels}
        rows = {
            label: beside_raw(view, *raw_of_table(view.problem.table))
            for label, view in views.items()
        }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "period"
        return table

    def functional(self, name: str, population: str = "bootstrap", **options: Any) -> xr.DataArray:
        """Posterior of a functional in every period.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"}
        **options
            Passed to the functional.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, period).
        """
        import xarray as xr

        check_choice(name, FUNCTIONALS, "name")
        each = [self.period(label).functional(name, population, **options) for label in self.labels]
        labels = xr.DataArray(list(self.labels), dims="period", name="period")
        return xr.concat(each, labels).transpose("chain", "draw", "period")

    def _repr_html_(self) -> str:
        return self._card({"now": self.now(), "next period": self.next_period()})

    def _lines(self) -> list[str]:
        pooled, first, last = self.problem.pooled, self.labels[0], self.labels[-1]
        shares = ", ".join(f"{name} {value:.2f}" for name, value in self.explanations.items())
        now = self.now()
        return [
            f"{len(self.labels)} periods, {first} to {last}, {self.data.n:g} cases, "
            f"{self.data.events:g} events",
            f"{pooled.curve.name} curves, {pooled.prior.name} prior, {self.engine}",
            f"explanations: {shares}",
            f"TCE now {interval(now.estimate('tce'), *now.interval('tce'), 0.95)}",
        ]


def as_drift(post: Any) -> DriftPosterior:
    """A posterior of ordered periods, and nothing else."""
    cure = "Pass what bayescal.fit returns when periods= says when each case was."
    return check_type(post, DriftPosterior, "post", cure)
