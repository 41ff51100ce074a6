"""DriftPosterior: the curves of ordered periods, of the last one and of the next."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError, as_level, as_number, check_choice, check_type
from bayescal.core.text import interval
from bayescal.inference import LowerBound, tce_lower_bound
from bayescal.multilevel.changes import explanation_probabilities
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.rows import beside_raw, known_of_group
from bayescal.multilevel.sites import ROW_FUNCTIONALS
from bayescal.multilevel.view import CurveView
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DriftPosterior", "as_drift"]


class DriftPosterior(MultilevelPosterior):
    """Posterior of the calibration curves of ordered periods.

    Three explanations are averaged: one curve for all periods (prior probability 0.5), one sudden
    change (0.4, a recent one more probable than an old one) and gradual drift, a random walk
    (0.1). A period, the present one and the next are views that answer as any posterior does.

    Parameters
    ----------
    tree : xarray.DataTree
        As written by `bayescal.fit` with periods.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> post = bc.fit(y_true, y_prob, period=np.repeat([1, 2, 3], 200), random_state=1)
    >>> post.labels
    ('1', '2', '3')
    >>> post.explanations.index.tolist()
    ['constant', 'sudden', 'gradual']
    """

    @staticmethod
    def _serves(problem: MultilevelProblem) -> bool:
        """Whether a fit of this problem is of this class."""
        return problem.is_walk

    def period(self, label: str) -> CurveView:
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
        (axis,) = self.levels
        return self.at({axis: check_choice(label, self.labels, "label")})

    def next_period(self, y_prob: ArrayLike | None = None) -> CurveView:
        """What the period after the last one will meet: `new`.

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
        return self._new(None, y_prob, "y_prob")

    def single_curve(self) -> CurveView:
        """The posterior of one curve for all periods: the answer, were there no change.

        It is a fit of one family by itself, in which exact calibration was not considered.

        Returns
        -------
        CalibrationPosterior
        """
        return self.average()

    @property
    def explanations(self) -> pd.Series:
        """Posterior probability of each explanation: constant, sudden and gradual.

        Returns
        -------
        pandas.Series
            The values sum to one.
        """
        import pandas as pd

        first, *sudden, gradual = explanation_probabilities(self._drawn)
        shares = {"constant": first, "sudden": sum(sudden), "gradual": gradual}
        return pd.Series(shares, name="probability").rename_axis("explanation")

    @property
    def prob_changed(self) -> float:
        """Probability that the curve changed at all, suddenly or gradually."""
        return float(1 - explanation_probabilities(self._drawn)[0])

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
        import pandas as pd

        limit, steps, explanation = as_number(delta, "delta"), self._steps, self._drawn.explanation
        assert explanation is not None
        counted, walk = steps.max(axis=0) > limit, explanation == len(self.labels)
        prob = np.bincount(steps.argmax(axis=0)[counted & walk], minlength=len(steps))
        prob = prob / counted.size
        sudden, changed = self._sudden, (explanation > 0) & ~walk
        for into, share in enumerate(sudden, 1):
            own = explanation == into
            some = counted[own if own.any() else changed]
            prob[into - 1] += share * changed.mean() * some.mean() if some.size else 0.0
        with np.errstate(invalid="ignore"):
            by_then = prob.cumsum() / prob.sum()
        columns = {
            "prob": prob,
            "by_then": by_then,
            "if_sudden": sudden,
            "within_one": np.convolve(sudden, np.ones(3))[1:-1],
        }
        return pd.DataFrame(columns, pd.Index(self.labels[1:], name="period"))

    @property
    def _sudden(self) -> Floats:
        """Probability of a sudden change into each period but the first, given one; all alike."""
        assert self._drawn.log_evidence is not None
        log = self._drawn.log_evidence[1:-1]
        weight = np.exp(log - log.max())
        return np.asarray(weight / weight.sum())

    @cached_property
    def _steps(self) -> Floats:
        return steps_of(self._drawn)

    def prob_now_above(
        self, limit: float, name: str = "tce", population: Any = "bootstrap"
    ) -> float:
        """Probability that the present error, or another functional, is above a limit.

        Parameters
        ----------
        limit : float
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`; "tce" is the calibration error.
        population : {"bootstrap", "sample", "beta"} or scores

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
        return table_of_gains(self._gains, as_level(ci_prob))

    @cached_property
    def _gains(self) -> dict[tuple[str, str], Floats]:
        """Draws of the gain of either update."""
        now = self.now()
        (curves,), score = now.tables, now.problem.stated
        single = now.problem.probability(self._drawn.average).mean(axis=0)
        maps = {"now": curves.observed.mean(axis=0), "all periods": single}
        gains = {
            (name, rule): [
                draws.mean(lost(draws.curve, score) - lost(draws.curve, maps[name]))
                for _, draws in curves.draws("bootstrap")
            ]
            for name in maps
            for rule, lost in RULES.items()
        }
        return {key: np.concatenate(each) for key, each in gains.items()}

    @property
    def lower_bound(self) -> LowerBound | None:
        """A lower bound of the error of all cases together, without a family of curves.

        See `bayescal.tce_lower_bound`. None where it is not defined, such as with sampling weights;
        `refused` says why.
        """
        return None if isinstance(self._lower_bound, str) else self._lower_bound

    @property
    def refused(self) -> dict[str, str]:
        """Why the lower bound is not defined of these data, by its name; empty where it is."""
        reason = self._lower_bound
        return {"lower_bound": reason} if isinstance(reason, str) else {}

    @cached_property
    def _lower_bound(self) -> LowerBound | str:
        try:
            return tce_lower_bound(self.data, random_state=self.problem.pooled.seed)
        except InputError as error:
            return str(error)

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

        rows = {}
        for label in self.labels:
            view = self.period(label)
            known = known_of_group(self.problem, label, view)
            rows[label] = beside_raw(view, *known, ROW_FUNCTIONALS)
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("period")

    def _shown(self) -> dict[str, CurveView]:
        return {"now": self.now(), "next period": self.new()}

    def _lines(self) -> list[str]:
        pooled, first, last = self.problem.pooled, self.labels[0], self.labels[-1]
        shares = ", ".join(f"{name} {value:.2f}" for name, value in self.explanations.items())
        now = self.now()
        return [
            f"{len(self.labels)} periods, {first} to {last}, {self.data.size_in_words}",
            f"{pooled.curve.name} curves, {pooled.prior.name} prior, {self.engine}",
            f"explanations: {shares}",
            f"TCE now {interval(now.estimate('tce'), *now.interval('tce'), 0.95)}",
        ]


def as_drift(post: Any) -> DriftPosterior:
    """A posterior of ordered periods, and nothing else."""
    cure = "Pass what bayescal.fit returns when period= says when each case was."
    return check_type(post, DriftPosterior, "post", cure)


def steps_of(drawn: MultilevelDraws) -> Floats:
    """Mean distance of the curves of neighbouring periods, over the scores of all periods.

    Of shape (periods - 1, draws), zero in draws without a change.
    """
    pooled, periods = drawn.problem.pooled, drawn.in_order()
    assert drawn.explanation is not None
    weight = pooled.trials / pooled.trials.sum()
    steps = np.zeros((len(periods) - 1, periods.shape[1]))
    moved = np.flatnonzero(drawn.explanation > 0)
    for part in blocks(moved.size, weight.size):
        rows = moved[part]
        last = pooled.probability(periods[0, rows])
        for index in range(len(steps)):
            curve = pooled.probability(periods[index + 1, rows])
            steps[index, rows] = np.abs(curve - last) @ weight
            last = curve
    return steps


def table_of_gains(gains: dict[tuple[str, str], Floats], ci_prob: float) -> pd.DataFrame:
    """The table of `DriftPosterior.gain_of_updating`."""
    import pandas as pd

    tail = (1 - ci_prob) / 2
    rows = {}
    for key, gain in gains.items():
        lower, upper = np.quantile(gain, [tail, 1 - tail])
        rows[key] = {
            "mean": gain.mean(),
            "lower": lower,
            "upper": upper,
            "prob_gain": (gain > 0).mean(),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["map", "score"])
    return table


def _brier(curve: Floats, score: Floats) -> Floats:
    """Expected Brier score, up to what does not depend on the score."""
    return np.asarray((curve - score) ** 2)


def _log_score(curve: Floats, score: Floats) -> Floats:
    """Expected log score."""
    return np.asarray(-curve * np.log(score) - (1 - curve) * np.log1p(-score))


RULES = {"brier": _brier, "log_score": _log_score}
