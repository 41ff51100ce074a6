"""Performance of a model by its curve: accuracy, discrimination and scores, without outcomes.

If g is the risk at each score, then whatever is computed of scores and outcomes has a mean over the
outcomes, which is a functional of g and of the scores. Given draws of g it has an interval, for
patients whose outcomes nobody has yet. To add a measure, write it here and add its line to
`PERFORMANCE`, or, where it needs a threshold, to `AT_THRESHOLD`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from bayescal.core import decision
from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import zero_of
from bayescal.model.problem import Problem
from bayescal.posterior.curve_draws import CurveDraws
from bayescal.posterior.decisions import Treated, by_score
from bayescal.posterior.departures import AtPrevalence, Departure
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import reaching
from bayescal.posterior.intervals import equal_tailed

if TYPE_CHECKING:
    import pandas as pd

FURTHEST_SHIFT = 10.0  # in log-odds
NONE_OF_ALL = 1e-12  # share of the cases


class Measure(NamedTuple):
    """A measure of performance.

    `compute`: from CurveDraws to an array of shape (draws,); of a threshold from `Counts` to one of
    shape (draws, thresholds).
    """

    compute: Callable[[Any], Floats]
    label: str  # what tables call it


class Counts(NamedTuple):
    """Shares of all cases, by whether their score reaches a threshold and by their risk."""

    events: Floats  # (draws, 1): events
    treated: Floats  # (draws, thresholds): cases that reach the threshold
    detected: Floats  # (draws, thresholds): events among these
    thresholds: Floats  # (thresholds,)


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
    scores, divided by E_w g (1 - E_w g): NaN where no case or every one is an event. Scores ascend,
    so that cumulative sums give all pairs; rows of several groups can have one score.
    """
    weight = np.broadcast_to(draws.population.weight, draws.curve.shape)
    events = weight * draws.curve
    others = weight - events
    pairs, score = draws.events * (1 - draws.events), draws.population.score
    first = np.flatnonzero(np.diff(score, prepend=-1)) if score.ndim == 1 else np.arange(0)
    if 0 < first.size < score.size:
        events, others = (np.add.reduceat(each, first, axis=1) for each in (events, others))
    below = np.cumsum(others, axis=1) - others / 2
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


# Measures by name, in the order of tables.
PERFORMANCE: dict[str, Measure] = {
    "events": Measure(lambda draws: draws.events, "share of events"),
    "brier": Measure(brier, "Brier score"),
    "log_score": Measure(log_score, "log score"),
    "c_statistic": Measure(c_statistic, "C-statistic (AUC)"),
}

# Measures at a threshold: a prediction of the event is a score of at least the threshold.
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


def check_realised(kind: str, problem: Problem, departure: Departure | None) -> None:
    """Refuse realised outcomes of what are not exactly these cases."""
    if kind == "beta":
        raise InputError(
            "realised outcomes are those of exactly these cases: leave population out, or pass "
            "'sample'."
        )
    if isinstance(departure, AtPrevalence) and not departure.keeps_scores:
        raise InputError(
            "realised outcomes are those of exactly these cases, and at another prevalence the "
            "cases are others. Leave realised out, or use post.on(scores).at_prevalence(...)."
        )
    if problem.data.is_pseudo:
        raise InputError(
            "realised outcomes are drawn for each case, and sampling weights are not numbers of "
            "cases. Leave realised out, or pass sample_weight as counts."
        )


def performances(
    curves: CurvesOfTable, at: Floats, kind: str, *, realised: bool = False
) -> dict[str, Floats]:
    """Draws of every measure; those at a threshold of shape (draws, thresholds)."""
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


def summary(values: Mapping[str, Floats], at: Floats, level: float) -> pd.DataFrame:
    """Means and credible intervals of draws of measures; one defined in no draw has no row."""
    import pandas as pd

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
    return table


def shift_to_change(tables: Sequence[CurvesOfTable], at: Floats) -> pd.DataFrame:
    """How far the risks must shift, in log-odds, before another decision is best."""
    import pandas as pd

    rows = []
    for threshold in at:
        lower, upper, best = _range_of_best(tables, float(threshold))
        nearest = min(lower, upper, key=abs)
        rows.append((best, lower, upper, nearest, float(np.exp(nearest))))
    columns = ["best", "lower", "upper", "nearest", "odds_ratio"]
    return pd.DataFrame(rows, pd.Index(at, name="threshold"), columns)


def _draws(curves: CurvesOfTable, kind: str, realised: bool) -> Iterator[tuple[slice, CurveDraws]]:
    """The curves over the population; realised, shares of outcomes drawn from them instead."""
    rng, trials = curves.problem.rng("realised"), np.rint(curves.problem.trials).astype(np.int64)
    for part, draws in curves.draws("sample" if realised else kind):
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


def _range_of_best(parts: Sequence[CurvesOfTable], threshold: float) -> tuple[float, float, str]:
    """The shifts between which the best decision stays best, and which that is.

    Treating a group has a positive net benefit if its mean risk, which rises with the shift,
    exceeds a price that the threshold sets. So with rising shift none, then the model (those that
    reach the threshold), then all are best; where the others have the higher risk, none and then
    all.
    """
    each = [_sides(part, threshold) for part in parts]

    def crossing(*sides: int) -> float:
        """The shift from which on treating these sides is worth it."""
        those = [
            (log_odds, np.sum([shares[side] for side in sides], axis=0))
            for log_odds, *shares in each
        ]

        def gain(shift: float) -> float:
            value = 0.0
            for log_odds, weight in those:
                events = np.vecdot(expit(log_odds + shift), weight).mean()
                value += float(decision.net_benefit(events, weight.sum() / len(weight), threshold))
            return value

        if gain(-FURTHEST_SHIFT) >= 0:
            return -np.inf
        if gain(FURTHEST_SHIFT) <= 0:
            return np.inf
        return zero_of(gain, -FURTHEST_SHIFT, FURTHEST_SHIFT, 1e-6)

    treated, others = crossing(0), crossing(1)
    if treated >= others or not all(side.any() for _, *sides in each for side in sides):
        treated = others = crossing(0, 1)
    if treated > 0:
        return -np.inf, treated, "treat none"
    if others <= 0:
        return others, np.inf, "treat all"
    return treated, others, "model"


def _sides(curves: CurvesOfTable, threshold: float) -> tuple[Floats, Floats, Floats]:
    """Log-odds of the curves, and shares of all cases that reach a threshold and that do not.

    Each of shape (draws, rows). Each case counts once: that of patients like these is the same
    mean.
    """
    share = by_score(curves.problem, np.array([threshold])).share[:, 0]
    blocks = [draws for _, draws in curves.draws("sample")]
    inside = np.clip(np.concatenate([each.curve for each in blocks]), 1e-15, 1 - 1e-15)
    weight = np.concatenate(
        [np.broadcast_to(each.population.weight, each.curve.shape) for each in blocks]
    )
    return logit(inside), weight * share, weight * (1 - share)
