"""Performance of a model by its curve: accuracy, discrimination and scores, without outcomes.

If g is the risk at each score, then whatever is computed of scores and outcomes has a mean over the
outcomes, which is a functional of g and of the scores. Given draws of g it has an interval, for
patients whose outcomes nobody has yet. To add a measure, write it here and add its line to
`PERFORMANCE`, or, where it needs a threshold, to `AT_THRESHOLD`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from bayescal.core import decision
from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_flag, as_level, as_levels
from bayescal.data.cases import as_vector
from bayescal.posterior.curve_draws import CurveDraws
from bayescal.posterior.decisions.measures import DecisionMeasures
from bayescal.posterior.decisions.strategies import Treated, by_score
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import reaching
from bayescal.posterior.intervals import equal_tailed

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["AT_THRESHOLD", "PERFORMANCE", "PerformanceMeasures", "c_statistic"]

FURTHEST_SHIFT = 10.0  # in log-odds
NONE_OF_ALL = 1e-12  # share of the cases


class Measure(NamedTuple):
    """A measure of performance.

    Attributes
    ----------
    compute : callable
        From CurveDraws to an array of shape (draws,); of a threshold from `Counts` to one of shape
        (draws, thresholds).
    label : str
        What tables call it.
    """

    compute: Callable[[Any], Floats]
    label: str


class Counts(NamedTuple):
    """Shares of all cases, by whether their score reaches a threshold and by their risk.

    Attributes
    ----------
    events : ndarray of shape (draws, 1)
        Events.
    treated : ndarray of shape (draws, thresholds)
        Cases that reach the threshold.
    detected : ndarray of shape (draws, thresholds)
        Events among these.
    thresholds : ndarray of shape (thresholds,)
    """

    events: Floats
    treated: Floats
    detected: Floats
    thresholds: Floats


def brier(draws: CurveDraws) -> Floats:
    """Brier score, E_w[g (1 - s)^2 + (1 - g) s^2]."""
    score = draws.population.score
    return draws.mean(draws.curve * (1 - 2 * score) + score**2)


def log_score(draws: CurveDraws) -> Floats:
    """Log score, -E_w[g log s + (1 - g) log(1 - s)]."""
    score = draws.population.score
    return -draws.mean(draws.curve * logit(score) + np.log1p(-score))


def c_statistic(draws: CurveDraws) -> Floats:
    """C-statistic: how often, of an event and a non-event, the event has the higher score.

    The sum over pairs of scores s > s' of w g(s) w' (1 - g(s')), and half of that over equal
    scores, divided by E_w g (1 - E_w g). Scores ascend, so that cumulative sums give all pairs.

    Returns
    -------
    ndarray of shape (draws,)
        NaN in a draw of which every case, or none, is an event.
    """
    weight = np.broadcast_to(draws.population.weight, draws.curve.shape)
    events = weight * draws.curve
    others = weight - events
    below = np.cumsum(others, axis=1) - others / 2
    pairs = draws.events * (1 - draws.events)
    total = np.vecdot(events, below)
    return np.asarray(np.divide(total, pairs, out=np.full_like(total, np.nan), where=pairs > 0))


def _share(part: Floats, of: Floats) -> Floats:
    """A share, NaN of nothing: differences of sums are zero up to rounding."""
    total = np.broadcast_to(of, part.shape)
    some = total > NONE_OF_ALL
    share: Floats = np.divide(part, total, out=np.full(part.shape, np.nan), where=some)
    return np.clip(share, 0, 1)


def _correct(c: Counts) -> Floats:
    """Events that reach the threshold and others that do not."""
    return c.detected + (1 - c.events) - (c.treated - c.detected)


PERFORMANCE: dict[str, Measure] = {
    "events": Measure(lambda draws: draws.events, "share of events"),
    "brier": Measure(brier, "Brier score"),
    "log_score": Measure(log_score, "log score"),
    "c_statistic": Measure(c_statistic, "C-statistic (AUC)"),
}
"""Measures by name, in the order of tables."""

AT_THRESHOLD: dict[str, Measure] = {
    "treated": Measure(lambda c: c.treated, "share that reaches the threshold"),
    "accuracy": Measure(_correct, "accuracy"),
    "sensitivity": Measure(lambda c: _share(c.detected, c.events), "sensitivity"),
    "specificity": Measure(
        lambda c: _share(1 - c.events - (c.treated - c.detected), 1 - c.events), "specificity"
    ),
    "ppv": Measure(lambda c: _share(c.detected, c.treated), "positive predictive value"),
    "npv": Measure(
        lambda c: _share(1 - c.treated - (c.events - c.detected), 1 - c.treated),
        "negative predictive value",
    ),
    "net_benefit": Measure(
        lambda c: decision.net_benefit(c.detected, c.treated, c.thresholds), "net benefit"
    ),
}
"""Measures at a threshold: a prediction of the event is a score of at least the threshold."""


class PerformanceMeasures(DecisionMeasures):
    """How well a model predicts, by its curve and the scores it is seen on."""

    def performance(
        self, thresholds: Any = (), population: Any = "bootstrap", *, realised: bool = False
    ) -> xr.Dataset:
        """Posterior of the model's performance: Brier score, C-statistic, accuracy, and others.

        Each is a mean over outcomes that follow the curve, so that it needs none: on the scores of
        `post.on(scores)` it is an estimate before the outcomes are known. It holds if the curve is
        unchanged.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Scores from which an event is predicted, in (0, 1), for the measures that need one.
        population : {"bootstrap", "sample", "beta"} or scores
        realised : bool
            What the outcomes of exactly these cases will give, once they are known, instead of
            what they give on average. Outcomes are drawn, so that intervals are wider; `population`
            must then be left out, or "sample".

        Returns
        -------
        xarray.Dataset
            With dims (chain, draw): `events`, `brier`, `log_score` and `c_statistic`. With dims
            (chain, draw, threshold), if thresholds are given: `treated` (the share that reaches the
            threshold), `accuracy`, `sensitivity`, `specificity`, `ppv`, `npv` and `net_benefit`.
            NaN where a measure is not defined, such as the predictive value of a threshold that no
            score reaches.

        Raises
        ------
        InputError
            If a threshold is not inside (0, 1), the population is unknown, or realised outcomes are
            asked of sampling weights.

        Notes
        -----
        Past 128 distinct scores neighbouring ones are merged, as in `net_benefit`; two cases of
        one merged row count as equal scores in the C-statistic.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true[:200], y_prob[:200], random_state=1)
        >>> later = post.on(y_prob[200:])
        >>> later.performance([0.3])["accuracy"].dims
        ('chain', 'draw', 'threshold')
        """
        import xarray as xr

        at, realised = _as_thresholds(thresholds), as_flag(realised, "realised")
        of, kind = self._over(population)
        values = of._performances(at, _kind_of(of, kind, realised), realised=realised)
        variables: dict[str, Any] = {}
        for name, drawn in values.items():
            by = {"threshold": at} if name in AT_THRESHOLD else {}
            variables[name] = of._array(drawn, name, **by)
        return xr.Dataset(variables)

    def performance_summary(
        self,
        thresholds: Any = (),
        ci_prob: float = 0.95,
        *,
        population: Any = "bootstrap",
        realised: bool = False,
    ) -> pd.DataFrame:
        """`performance` as a table of means and credible intervals.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
        ci_prob : float in (0, 1)
        population : {"bootstrap", "sample", "beta"} or scores
        realised : bool
            All as in `performance`.

        Returns
        -------
        pandas.DataFrame
            Index: measure, at a threshold as "accuracy@0.3". Columns: label, mean, lower, upper.
            Draws in which a measure is not defined are left out; a measure defined in none has no
            row.
        """
        import pandas as pd

        level, at = as_level(ci_prob), _as_thresholds(thresholds)
        realised = as_flag(realised, "realised")
        of, kind = self._over(population)
        values = of._performances(at, _kind_of(of, kind, realised), realised=realised)
        rows: dict[str, tuple[Any, ...]] = {}
        for name, measure in PERFORMANCE.items():
            rows[name] = _row(measure.label, values[name], level)
        for column, threshold in enumerate(at):
            for name, measure in AT_THRESHOLD.items():
                drawn = values[name][:, column]
                if not np.isnan(drawn).all():
                    rows[f"{name}@{threshold:g}"] = _row(measure.label, drawn, level)
        table = pd.DataFrame.from_dict(
            rows, orient="index", columns=["label", "mean", "lower", "upper"]
        )
        table.index.name = "measure"
        table.attrs.update(
            ci_prob=level, realised=realised, population=kind, outside=float(of.outside)
        )
        return table

    def shift_to_change(self, thresholds: Any) -> pd.DataFrame:
        """How far the risks must shift, in log-odds, before another decision is best.

        At each threshold, treating by the model is compared with treating all and treating none, by
        expected net benefit. A shift d replaces the curve g by expit(logit g + d) at every score:
        it stands for a change of the curve that scores without outcomes cannot show.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            In (0, 1).

        Returns
        -------
        pandas.DataFrame
            Index: threshold. Columns: best, which is "model", "treat all" or "treat none";
            lower and upper, the shifts between which it stays best, infinite where no shift within
            10 changes it; nearest, that of the two which is nearer to zero; and odds_ratio,
            exp(nearest).

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, random_state=1)
        >>> post.on(y_prob).shift_to_change([0.2]).loc[0.2, "best"]
        'model'
        """
        import pandas as pd

        at = np.array(as_levels(as_vector(thresholds, "thresholds"), "thresholds"))
        rows = []
        for threshold in at:
            lower, upper, best = _range_of_best(self._posterior.parts, float(threshold))
            nearest = min(lower, upper, key=abs)
            rows.append((best, lower, upper, nearest, float(np.exp(nearest))))
        columns = ["best", "lower", "upper", "nearest", "odds_ratio"]
        return pd.DataFrame(rows, pd.Index(at, name="threshold"), columns)

    def _performances(self, at: Floats, kind: str, *, realised: bool) -> dict[str, Floats]:
        """Draws of every measure; those at a threshold of shape (draws, thresholds)."""
        (curves,) = self._posterior.parts
        size = len(curves.u)
        values = {name: np.empty(size) for name in PERFORMANCE}
        values |= {name: np.empty((size, at.size)) for name in AT_THRESHOLD if at.size}
        treated = by_score(curves.problem, at) if at.size else None
        for part, draws in _draws(curves, kind, realised):
            for name, measure in PERFORMANCE.items():
                values[name][part] = measure.compute(draws)
            if treated is not None:
                counts = _counts(draws, at, treated)
                for name, measure in AT_THRESHOLD.items():
                    values[name][part] = measure.compute(counts)
        return values


def _as_thresholds(thresholds: Any) -> Floats:
    """Checked thresholds, of which there may be none."""
    if isinstance(thresholds, tuple) and not thresholds:
        return np.empty(0)
    return np.array(as_levels(as_vector(thresholds, "thresholds"), "thresholds"))


def _kind_of(of: PerformanceMeasures, kind: str, realised: bool) -> str:
    """The population, which is the sample where its outcomes are drawn."""
    if not realised:
        return kind
    if kind == "beta":
        raise InputError(
            "realised outcomes are those of exactly these cases: leave population out, or pass "
            "'sample'."
        )
    if of.has_other_weights:
        raise InputError(
            "realised outcomes are those of exactly these cases, and at another prevalence the "
            "cases are others. Leave realised out, or use post.on(scores).at_prevalence(...)."
        )
    if of.problem.data.is_pseudo:
        raise InputError(
            "realised outcomes are drawn for each case, and sampling weights are not numbers of "
            "cases. Leave realised out, or pass sample_weight as counts."
        )
    return "sample"


def _draws(curves: CurvesOfTable, kind: str, realised: bool) -> Iterator[tuple[slice, CurveDraws]]:
    """The curves over the population; realised, shares of outcomes drawn from them instead."""
    rng, trials = curves.problem.rng("realised"), np.rint(curves.problem.trials).astype(np.int64)
    for part, draws in curves.draws(kind):
        if realised:
            hits = rng.binomial(trials, np.clip(draws.curve, 0, 1))
            yield part, CurveDraws(hits / trials, draws.population)
        else:
            yield part, draws


def _counts(draws: CurveDraws, at: Floats, treated: Treated) -> Counts:
    own = draws.population.score.ndim == 1
    detected, reached = reaching(draws, at, *(treated if own else ()))
    reached = np.broadcast_to(reached, detected.shape)
    return Counts(draws.events[:, None], reached, detected, at)


def _row(label: str, drawn: Floats, level: float) -> tuple[Any, ...]:
    known = drawn[~np.isnan(drawn)]
    if not known.size:
        return label, np.nan, np.nan, np.nan
    return label, float(known.mean()), *equal_tailed(known, level)


def _range_of_best(parts: tuple[CurvesOfTable, ...], threshold: float) -> tuple[float, float, str]:
    """The shifts between which the best decision stays best, and which that is.

    Treating a group of patients has a positive net benefit if their mean risk exceeds a price that
    the threshold sets, and the mean rises with the shift. So with rising shift none, then the model
    (those that reach the threshold), then all are best; where the others have the higher risk, none
    and then all.
    """
    from scipy.optimize import brentq

    worth = [_Worth.of(part, threshold) for part in parts]

    def crossing(gain: Callable[[_Worth, float], float]) -> float:
        def total(shift: float) -> float:
            return sum(gain(each, shift) for each in worth)

        if total(-FURTHEST_SHIFT) >= 0:
            return -np.inf
        if total(FURTHEST_SHIFT) <= 0:
            return np.inf
        return float(brentq(total, -FURTHEST_SHIFT, FURTHEST_SHIFT, xtol=1e-6))

    treated = crossing(lambda each, shift: each.of_treated(shift))
    others = crossing(lambda each, shift: each.of_others(shift))
    if treated >= others or any(each.treats_all_or_none for each in worth):
        treated = others = crossing(lambda each, d: each.of_treated(d) + each.of_others(d))
    if treated > 0:
        return -np.inf, treated, "treat none"
    if others <= 0:
        return others, np.inf, "treat all"
    return treated, others, "model"


class _Worth(NamedTuple):
    """What treating is worth, by whether the score reaches a threshold, under shifts of the curve.

    Attributes
    ----------
    log_odds : ndarray of shape (draws, rows)
        Of the curve.
    treated : ndarray of shape (draws, rows)
        Share of all cases that are in a row and reach the threshold.
    others : ndarray of shape (draws, rows)
        The same of those that do not.
    """

    log_odds: Floats
    treated: Floats
    others: Floats
    threshold: float

    @classmethod
    def of(cls, curves: CurvesOfTable, threshold: float) -> _Worth:
        """Of the cases at hand, each counted once; that of patients like these is the same mean."""
        share = by_score(curves.problem, np.array([threshold])).share[:, 0]
        blocks = [draws for _, draws in curves.draws("sample")]
        inside = np.clip(np.concatenate([each.curve for each in blocks]), 1e-15, 1 - 1e-15)
        weight = np.concatenate(
            [np.broadcast_to(each.population.weight, each.curve.shape) for each in blocks]
        )
        return cls(logit(inside), weight * share, weight * (1 - share), threshold)

    @property
    def treats_all_or_none(self) -> bool:
        """Whether all scores are on one side of the threshold."""
        return not self.others.any() or not self.treated.any()

    def of_treated(self, shift: float) -> float:
        """Mean net benefit of treating those that reach the threshold."""
        return self._mean(shift, self.treated)

    def of_others(self, shift: float) -> float:
        """Mean net benefit of treating the others."""
        return self._mean(shift, self.others)

    def _mean(self, shift: float, weight: Floats) -> float:
        events = np.vecdot(expit(self.log_odds + shift), weight).mean()
        return float(decision.net_benefit(events, weight.sum() / len(weight), self.threshold))
