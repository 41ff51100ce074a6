"""What is computed from a draw: functionals of a calibration curve and a score distribution.

Each takes draws of the curve and of the population and returns one number per draw, which gives
its posterior and its interval. To add one, write it here and add its line to the
registry `FUNCTIONALS`. The line carries its words, so that every table, figure and text
shows it. Net benefit itself is not in the registry: it needs a threshold, and has no ideal value at
perfect calibration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import rel_entr

from bayescal.core import decision
from bayescal.core.arrays import Floats, is_single, power_mean
from bayescal.core.decision import least_treated
from bayescal.core.errors import InputError, as_items, as_level, as_levels, as_order
from bayescal.core.text import capitalised, shortened
from bayescal.core.versions import one_blas_thread
from bayescal.data.cases import as_vector
from bayescal.data.table import CalibrationData
from bayescal.model.problem import Problem
from bayescal.posterior.curve_draws import CurveDraws

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FUNCTIONALS",
    "CurveDraws",
    "Functional",
    "calibration_in_the_large",
    "calibration_intercept",
    "calibration_slope",
    "cloglog_intercept",
    "cloglog_slope",
    "cutoff_error",
    "e50",
    "e90",
    "emax",
    "heading",
    "ici",
    "kl_error",
    "main_functionals",
    "net_benefit",
    "net_benefit_lost",
    "net_benefit_of_all",
    "observed_expected",
    "reaching",
    "signed_error",
    "tce",
    "usual_functionals",
]


def __dir__() -> list[str]:
    """Public names only."""
    return __all__


# What functionals are measured in, in the order of panels, and the labels of their axes.
UNITS = {
    "probability": "Error (difference in probability)",
    "ratio": "Ratio",
    "log-odds": "Log-odds",
    "log hazard": "Log cumulative hazard",
    "net benefit": "Net benefit per patient",
    "nats": "Log score per patient",
}

# Parts of a table of functionals, and their titles. Each is shown to one number of decimals.
SECTIONS = {
    "size": "Size of the error, as a probability",
    "direction": "Direction of the error",
}

# Its name in the registry.
LOST = "net_benefit_lost"

# Up to which a patient without the event who is treated costs no more than one missed.
USUAL_THRESHOLDS = (0.0, 0.5)
MOST_THRESHOLDS = 256

# In the place of a number.
NOT_DEFINED = "not defined"

# Scores of 32 bits so near to 1 show that those of 1 may have been rounded: steps are 6e-8.
NEAREST_IN_32_BITS = 1e-5

# Share of the cases with a score of exactly 0 or 1 from which on no line in log-odds is shown.
#
# Their log-odds are infinite, so that the line depends on the values that they are read as. In
# 5000 cases of which a third of the scores of 1 are wrong, values of 1 - .02 to 1 - 1e-6 give
# slopes from .99 to .85 where this share is 0.5 %, but from .55 to .08 where it is 10 %.
MOST_AT_ENDS = 0.005


@dataclass(frozen=True)
class Functional:
    """A functional as the registry knows it, with its words.

    Attributes
    ----------
    compute : callable
        From CurveDraws and options to an array of shape (draws,).
    label : str
        What tables call it, in lower case, with its abbreviation in brackets.
    short : str
        What rows of a figure and sentences about several call it.
    hint : str
        What it is, in a few words beneath its label.
    unit : str
        A key of `UNITS`.
    section : str
        A key of `SECTIONS`.
    ideal : float
        Its value when the model is perfectly calibrated.
    on_sample : bool
        Whether it depends on the observed scores alone, whatever the population and its weights.
    is_distance : bool
        Whether it is never negative, and zero only at calibration. Chance makes such a functional
        larger. In the draws of an average that are exactly calibrated it is 0.
    is_main : bool
        Whether it is shown where there is room for a few: of groups, sites and imputations.
    is_extra : bool
        Whether a summary has it only where it is asked for, by its name or by its option.
    of_times : bool
        Whether a summary of times to an event has it by itself, though it is an extra one.
    needs_line : bool
        Whether it is undefined where the scores define no line in log-odds.
    needs_inside : bool
        Whether it is infinite where a score is exactly 0 or 1, and so refused.
    is_of_ends : bool
        Whether its interval is less sure where many scores are near 0 or 1.
    caution : str
        What a reader must know of its interval; empty where it covers as it should.
    same_as : str
        The functional that it equals at that one's default options; a summary has that row only.
    definition : str
        How the methods section of a paper defines it, as a sentence without its full stop; empty
        where the label says it.
    result : str
        How a paper tells its value, as a clause with `{}` for the numbers; empty where a paper does
        not.
    """

    compute: Callable[..., Floats]
    label: str
    short: str
    hint: str = ""
    unit: str = "probability"
    section: str = "size"
    ideal: float = 0.0
    on_sample: bool = False
    is_distance: bool = False
    is_main: bool = False
    is_extra: bool = False
    of_times: bool = False
    needs_line: bool = False
    needs_inside: bool = False
    is_of_ends: bool = False
    caution: str = ""
    same_as: str = ""
    definition: str = ""
    result: str = ""

    @property
    def title(self) -> str:
        """The label as a heading: `True calibration error (TCE)`."""
        return capitalised(self.label)

    @property
    def words(self) -> str:
        """The label without its abbreviation: `true calibration error`."""
        return self.label.partition(" (")[0]

    @property
    def apart(self) -> float | None:
        """The value that the end of an interval is not rounded onto: the ideal, if it has sides."""
        return None if self.is_distance else self.ideal


def risk_table(draws: Floats, scores: Floats, thresholds: Any, ci_prob: float) -> pd.DataFrame:
    """One row a patient: score, risk with its interval, and how probably a decision is another.

    `draws` (draws, patients): of the risk; `scores` (patients,); `thresholds` (k,): risks from
    which a patient is treated.
    """
    import pandas as pd

    level = as_level(ci_prob)
    values = [thresholds] if is_single(thresholds) else thresholds
    at = as_levels(as_vector(values, "thresholds"), "thresholds") if len(values) else ()
    lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    columns = {"score": scores, "risk": draws.mean(axis=0), "lower": lower, "upper": upper}
    for threshold in at:
        least = least_treated(threshold)
        is_other = (draws >= least) != (scores >= least)
        columns[f"flips@{threshold:g}"] = is_other.mean(axis=0)
    return pd.DataFrame(columns, pd.RangeIndex(scores.size, name="patient"))


def as_risks(threshold: Any, name: str = "threshold") -> tuple[float, float]:
    """The lowest and the highest threshold: of a number that number, twice.

    `threshold`: the pair ascends; its first may be 0; `name`: what errors call it; returns `low,
    high`.
    """
    if np.isscalar(threshold) or (isinstance(threshold, np.ndarray) and not threshold.ndim):
        return (as_level(threshold, name),) * 2
    given = as_items(threshold, name)
    if len(given) != 2:
        raise InputError(
            f"{name} must be a risk, or the lowest and the highest risk of a range, got "
            f"{shortened(repr(threshold))}."
        )
    first, last = given
    low = 0.0 if np.isscalar(first) and first == 0 else as_level(first, name)
    high = as_level(last, name)
    if low > high:
        raise InputError(
            f"{name} must have the lowest risk first, got {shortened(repr(threshold))}. Swap them."
        )
    return low, high


def lost_options(thresholds: Any) -> dict[str, dict[str, Any]]:
    """Options of the functional at each threshold and over their range, by the name of the row."""
    at = sorted(set(as_levels(thresholds, "thresholds")))
    rows: dict[str, dict[str, Any]] = {f"{LOST}@{t:g}": {"threshold": t} for t in at}
    if len(at) > 1:
        rows[f"{LOST}@{at[0]:g} to {at[-1]:g}"] = {"threshold": (at[0], at[-1])}
    return rows


def net_benefit_lost(
    draws: CurveDraws, threshold: float | tuple[float, float] = USUAL_THRESHOLDS
) -> Floats:
    """Net benefit lost to miscalibration at a threshold, or the most that is lost over a range.

    E_w [(g - t) (1(g >= t) - 1(s >= t))] / (1 - t), which is never negative.

    Parameters
    ----------
    draws : CurveDraws
    threshold : float in (0, 1) or pair of float
        The risk t from which a patient is treated; or the lowest and the highest such risk. By
        default all up to one half, where treating a patient without the event costs no more than
        leaving one with the event untreated.

    Returns
    -------
    ndarray of shape (draws,)
        In net benefit per patient.

    Notes
    -----
    Over a range the loss is highest at an end of it, or where a score begins or ceases to be
    treated: between scores it is convex but for the factor 1 / (1 - t). Cases of a row that differ
    in score are taken as evenly spread between the neighbouring rows.

    2 (1 - t) times the loss, integrated over all t, is E_w (g - s)^2; and (1 - t) times it is at
    most E_w |g - s|.

    References
    ----------
    Kleinberg, Paes Leme, Schneider & Teng (2023), U-calibration: forecasting for an unknown agent,
    COLT. Hu & Wu (2024), Predict to minimize swap regret for all payoff-bounded tasks, FOCS: the
    calibration decision loss.
    """
    low, high = as_risks(threshold)
    is_spread = draws.population.merged or draws.population.score.ndim > 1
    lost_at = _of_spread(draws) if is_spread else _of_points(draws)
    lost = np.zeros(len(draws.curve))
    for t in _thresholds(draws, low, high):
        np.maximum(lost, lost_at(t, t < high) / (1 - t), out=lost)
    return lost


# From a threshold, and whether thresholds just above it count too, to E_w |g - t| of the lost.
LostAt = Callable[[float, bool], Floats]


def _thresholds(draws: CurveDraws, low: float, high: float) -> Floats:
    """Where the loss may be highest."""
    score = draws.population.score
    inside = np.unique(score[(low < score) & (score < high)])
    some = np.linspace(0, inside.size - 1, min(inside.size, MOST_THRESHOLDS)).astype(np.intp)
    return np.unique(np.concatenate([[low, high], inside[some]]))


def _of_points(draws: CurveDraws) -> LostAt:
    """Of scores that each treat all of their cases or none."""
    score, curve = draws.population.score, draws.curve

    def lost(t: float, treated: Any) -> Floats:
        short = np.where(treated, -1.0, 1.0) * (curve - t)
        return draws.mean(np.maximum(short, 0, out=short))

    def at(t: float, above: bool) -> Floats:
        here = lost(t, score >= least_treated(t))
        return np.maximum(here, lost(t, least_treated(score) > t)) if above else here

    return at


def _of_spread(draws: CurveDraws) -> LostAt:
    """Of scores that are spread evenly between rows, with the error of their row."""
    score, error = draws.population.score, draws.error
    middle = (score[..., 1:] + score[..., :-1]) / 2
    first, last = 2 * score[..., :1] - middle[..., :1], 2 * score[..., -1:] - middle[..., -1:]
    lower = np.concatenate([np.maximum(first, 0), middle], axis=-1)
    upper = np.concatenate([middle, np.minimum(last, 1)], axis=-1)
    width = np.maximum(upper - lower, np.finfo(float).tiny)

    def at(t: float, above: bool) -> Floats:
        low, high = lower - t, upper - t
        near, far = np.clip(0.0, low, high), np.clip(-error, low, high)
        return draws.mean(((near + error) ** 2 - (far + error) ** 2) / (2 * width))

    return at


def tce(draws: CurveDraws, p: float = 1) -> Floats:
    """True calibration error: (E_w |g - s|^p)^(1/p), the root taken inside each draw.

    Parameters
    ----------
    draws : CurveDraws
    p : float, at least 1
        The norm; `inf` is the largest error.

    Returns
    -------
    ndarray of shape (draws,)
        In [0, 1].

    Raises
    ------
    InputError
        If `p` is below 1.

    References
    ----------
    Dong et al. (2025), Combining priors with experience: confidence calibration based on binomial
    process modeling, AAAI, Algorithm 2.
    """
    order = as_order(p, infinite=True)
    if order == 1:
        return draws.mean(draws.distance)
    error = np.where(draws.population.weight > 0, draws.distance, 0)
    if np.isinf(order):
        return draws.each(error.max(axis=1))
    return draws.each(power_mean(error, order, draws.mean))


def ici(draws: CurveDraws) -> Floats:
    """Integrated calibration index: E_w |g - s|, which is `tce` at p = 1."""
    return tce(draws, 1)


def e50(draws: CurveDraws) -> Floats:
    """Median of |g - s| over the population."""
    return np.asarray(draws.error_quantiles[0])


def e90(draws: CurveDraws) -> Floats:
    """90th percentile of |g - s| over the population."""
    return np.asarray(draws.error_quantiles[1])


def emax(draws: CurveDraws) -> Floats:
    """Largest |g - s| over the observed scores."""
    return draws.each(draws.largest)


def cutoff_error(draws: CurveDraws) -> Floats:
    """Cutoff calibration error: the largest |E_w [(g - s) 1(s in I)]| over intervals I of scores.

    No other cutoff of the same score has a net benefit that is larger by more than this over 1 - t
    than that of the threshold t itself. `bayescal.estimators.kuiper_error` is its estimator.

    References
    ----------
    Rossellini, Soloff, Barber, Ren & Willett (2025), Can a calibration metric be both testable and
    actionable?, COLT, arXiv:2502.19851.
    """
    order = np.argsort(draws.population.score, axis=-1)
    sums = np.broadcast_to(draws.population.weight, draws.error.shape) * draws.error
    walk = np.cumsum(np.take_along_axis(sums, np.atleast_2d(order), axis=1), axis=1)
    return np.asarray(np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0))


def kl_error(draws: CurveDraws) -> Floats:
    """Kullback-Leibler calibration error: E_w [g log(g / s) + (1 - g) log((1 - g) / (1 - s))].

    What the log score would fall by, per patient and in natural units, if every score became the
    risk that it has. It is infinite where the score of a case is 0 or 1 and its risk is not: a
    posterior of data with such scores refuses it.

    References
    ----------
    Popordanoska, Gruber, Tiulpin, Buettner & Blaschko (2024), Consistent and asymptotically
    unbiased estimation of proper calibration errors, AISTATS, arXiv:2312.08589.
    """
    score = draws.population.score
    each = rel_entr(draws.curve, score) + rel_entr(1 - draws.curve, 1 - score)
    each = np.where(draws.population.weight > 0, each, 0)
    return np.maximum(draws.mean(each), 0)


def signed_error(draws: CurveDraws) -> Floats:
    """E_w (g - s): positive when events are more frequent than predicted."""
    return draws.events - draws.predicted


def observed_expected(draws: CurveDraws) -> Floats:
    """Observed over expected events: E_w g / E_w s."""
    return draws.events / draws.predicted


def calibration_in_the_large(draws: CurveDraws) -> Floats:
    """The shift a that makes E_w expit(logit s + a) = E_w g: the intercept with slope fixed at 1.

    Zero when the average prediction is right. Not the
    `calibration_intercept`, which is fitted with the slope.
    """
    return draws.shift


def calibration_intercept(draws: CurveDraws) -> Floats:
    """Intercept a of the line a + b logit s nearest to the curve, fitted jointly with b.

    What a logistic regression of the outcomes on the log-odds tends to. It is the log-odds of an
    event at score one half, not calibration-in-the-large.
    """
    return draws.line[0]


def calibration_slope(draws: CurveDraws) -> Floats:
    """Slope b of the line a + b logit s nearest to the curve: below 1 is overconfident."""
    return draws.line[1]


def cloglog_intercept(draws: CurveDraws) -> Floats:
    """Intercept a of the line a + b log(-log(1 - s)) nearest to the curve's log(-log(1 - g)).

    Fitted jointly with the slope b: what a binomial regression with complementary log-log link
    tends to. It is the log of the cumulative hazard at a score of 1 - 1/e.
    """
    return draws.cloglog_line[0]


def cloglog_slope(draws: CurveDraws) -> Floats:
    """Slope b of the line a + b log(-log(1 - s)) nearest to the curve's log(-log(1 - g)).

    Under proportional hazards it is the slope of the model's linear predictor in a Cox regression.
    """
    return draws.cloglog_line[1]


def net_benefit(
    draws: CurveDraws,
    thresholds: Floats,
    share: Floats | None = None,
    excess: Floats | None = None,
) -> Floats:
    """Net benefit of treating whoever has a score of at least t, for each threshold t.

    E_w [1(s >= t) (g - (1 - g) t / (1 - t))]: events treated, less the non-events treated, each
    of which counts as much as the threshold says. A score within a relative 1e-12 below t reaches
    it, so that rounding decides nothing.

    Parameters
    ----------
    draws : CurveDraws
    thresholds : ndarray of shape (thresholds,)
        In (0, 1).
    share : ndarray of shape (rows, thresholds), optional
        Share of the cases of each row whose score reaches the threshold, where that is not read
        off the scores of the population.
    excess : ndarray of shape (rows, thresholds), optional
        Where cases of several scores share a row: what their scores add to the sum over those that
        reach the threshold. Inside a row the curve runs parallel to the diagonal.

    Returns
    -------
    ndarray of shape (draws, thresholds)

    References
    ----------
    Vickers & Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 26, 2006.
    """
    return decision.net_benefit(*reaching(draws, thresholds, share, excess), thresholds)


@one_blas_thread
def reaching(
    draws: CurveDraws,
    thresholds: Floats,
    share: Floats | None = None,
    excess: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Events among the cases that reach each threshold, and these cases, as shares of all.

    Parameters as in `net_benefit`.

    Returns
    -------
    events : ndarray of shape (draws, thresholds)
    cases : ndarray of shape (draws, thresholds) or (1, thresholds)
    """
    weight = np.atleast_2d(draws.population.weight)
    score = draws.population.score
    if share is None and score.ndim == 1:
        share = (score[:, None] >= decision.least_treated(thresholds)).astype(np.float64)
    if share is not None:
        events, cases = (weight * draws.curve) @ share, weight @ share
        if excess is not None:
            events = events + weight @ excess
    else:
        events = _above(score, weight * draws.curve, thresholds)
        cases = _above(score, weight, thresholds)
    return events, cases


def net_benefit_of_all(draws: CurveDraws, thresholds: Floats) -> Floats:
    """Net benefit of treating everyone: E_w [g - (1 - g) t / (1 - t)] for each threshold t.

    Parameters
    ----------
    draws : CurveDraws
    thresholds : ndarray of shape (thresholds,)

    Returns
    -------
    ndarray of shape (draws, thresholds)
    """
    events, cases = reaching(draws, thresholds, np.ones((draws.curve.shape[1], 1)))
    return decision.net_benefit(events, cases, thresholds)


def _above(score: Floats, values: Floats, thresholds: Floats) -> Floats:
    """Sums over the scores that reach each threshold, where every draw has scores of its own."""
    spread = np.broadcast_to(values, score.shape)
    least = decision.least_treated(thresholds)
    return np.stack([np.sum(spread, axis=1, where=score >= low) for low in least], axis=1)


_distance = partial(Functional, is_distance=True)


_direction = partial(Functional, section="direction")


# The functionals by name, in the order of tables.
FUNCTIONALS: dict[str, Functional] = {
    "tce": _distance(
        tce,
        "true calibration error (TCE)",
        "TCE",
        "mean distance of prediction and actual risk",
        is_main=True,
        definition="The true calibration error is the mean absolute difference between the curve "
        "and the predicted probability",
    ),
    "ici": _distance(ici, "integrated calibration index (ICI)", "ICI", same_as="tce"),
    "e50": _distance(e50, "median error (E50)", "E50", "half of the predictions are off by less"),
    "e90": _distance(
        e90,
        "90th percentile of error (E90)",
        "E90",
        "one prediction in ten is off by more",
        is_of_ends=True,
    ),
    "emax": _distance(
        emax,
        "largest error (Emax)",
        "Emax",
        "over the observed predictions",
        on_sample=True,
        is_of_ends=True,
        caution="the interval of Emax is too short where the curve jumps or bends quickly; in "
        "simulations it contained the true value in at least 89 % of data sets of 200 cases, but "
        "in some populations in 28 % of those of 5000 and in none of a million",
    ),
    "signed_error": Functional(
        signed_error,
        "mean signed error",
        "mean signed error",
        "actual risk minus prediction; negative: too high",
    ),
    "observed_expected": _direction(
        observed_expected,
        "observed / expected events (O/E)",
        "O/E",
        "below 1: risks too high on average",
        unit="ratio",
        ideal=1.0,
        is_main=True,
        result="the ratio of observed to expected events was {}",
    ),
    "calibration_in_the_large": _direction(
        calibration_in_the_large,
        "calibration-in-the-large",
        "calibration-in-the-large",
        "intercept with the slope fixed at 1, in log-odds",
        unit="log-odds",
        result="calibration-in-the-large (the intercept with the slope fixed at 1) was {}",
    ),
    "calibration_slope": _direction(
        calibration_slope,
        "calibration slope",
        "slope",
        "below 1: predictions too extreme",
        unit="ratio",
        ideal=1.0,
        is_main=True,
        needs_line=True,
        definition="Calibration slope and intercept are those of the line in log-odds closest to "
        "the curve (Cox, 1958)",
        result="the calibration slope was {}",
    ),
    "calibration_intercept": _direction(
        calibration_intercept,
        "intercept fitted jointly with the slope",
        "intercept, with slope",
        "in log-odds, at a prediction of one half; “Intercept” of R's val.prob",
        unit="log-odds",
        needs_line=True,
        result="the jointly fitted intercept was {}",
    ),
    "cloglog_slope": Functional(
        cloglog_slope,
        "slope in complementary log-log",
        "slope, cloglog",
        "below 1: predictions too extreme; under proportional hazards that of a Cox regression",
        unit="ratio",
        section="direction",
        ideal=1.0,
        is_extra=True,
        of_times=True,
        needs_line=True,
        definition="Slope and intercept in complementary log-log are those of the line closest to "
        "the curve on that scale",
        result="the slope in complementary log-log was {}",
    ),
    "cloglog_intercept": Functional(
        cloglog_intercept,
        "intercept in complementary log-log",
        "intercept, cloglog",
        "log of the cumulative hazard at a prediction of 0.63, fitted jointly with that slope",
        unit="log hazard",
        section="direction",
        is_extra=True,
        of_times=True,
        needs_line=True,
        result="the intercept fitted jointly with that slope was {}",
    ),
    "cutoff_error": _distance(
        cutoff_error,
        "cutoff calibration error",
        "cutoff error",
        "largest error of all predictions between two, as a share of all cases",
        is_extra=True,
    ),
    "kl_error": _distance(
        kl_error,
        "Kullback-Leibler calibration error",
        "KL error",
        "fall of the log score, per patient, if each prediction became its actual risk",
        unit="nats",
        is_extra=True,
        needs_inside=True,
    ),
    "net_benefit_lost": _distance(
        net_benefit_lost,
        "net benefit lost to miscalibration",
        "net benefit lost",
        "per patient, by treating where the score and not the actual risk reaches the threshold",
        unit="net benefit",
        is_extra=True,
    ),
}


def usual_functionals(*, of_times: bool = False) -> tuple[str, ...]:
    """Names of those that a summary has by itself: all that differ, but for the extra ones.

    Parameters
    ----------
    of_times : bool
        Whether the outcomes are times to an event.
    """
    return tuple(
        name
        for name, each in FUNCTIONALS.items()
        if not each.same_as and (not each.is_extra or (of_times and each.of_times))
    )


def main_functionals() -> tuple[str, ...]:
    """Names of those that are shown where there is room for a few."""
    return tuple(name for name, each in FUNCTIONALS.items() if each.is_main)


def heading(name: str) -> str:
    """The title of a row, with the short names of all that it also is: `... (TCE, ICI)`."""
    known = FUNCTIONALS[name]
    same = ", ".join([known.short, *(e.short for e in FUNCTIONALS.values() if e.same_as == name)])
    return known.title.replace(f"({known.short})", f"({same})")


def undefined_measures(tables: Sequence[Problem]) -> dict[str, str]:
    """Functionals that these scores do not define, and why, such as "17 % of scores are 1".

    Where scores of 0 and 1 are read as they are, because there are few, one of them is enough.
    """
    lines = [name for name, each in FUNCTIONALS.items() if each.needs_line]
    if any(np.ptp(table.score) == 0 for table in tables):
        return dict.fromkeys(lines, "all scores are equal")
    most = max((table.data for table in tables), key=share_at_ends)
    as_they_are = any(table.frame.scores for table in tables) and share_at_ends(most) > 0
    if share_at_ends(most) < MOST_AT_ENDS and not as_they_are:
        return {}
    ends = [f"{end:g}" for end in (0, 1) if (most.score == end).any()]
    share = 100 * share_at_ends(most)
    shown = f"{share:.0f}" if share >= 10 else f"{share:.2g}"
    told = f"{shown} % of scores are {' or '.join(ends)}"
    inner = most.score[(most.score > 0) & (most.score < 1)]
    if most.is_single and inner.size and 1 - inner.max() < NEAREST_IN_32_BITS:
        told += ", to which 32 bits round: pass scores of 64 bits"
    return dict.fromkeys(lines, told)


def refuse_infinite(name: str, data: CalibrationData) -> None:
    """Refuse a functional that is infinite on these scores.

    `name`: a name in the registry.
    """
    if FUNCTIONALS[name].needs_inside and share_at_ends(data) > 0:
        raise InputError(
            f"{name} is infinite: {100 * share_at_ends(data):.2g} % of scores are exactly 0 or 1, "
            "where the risk is not. Fit scores that are moved inside, such as to [0.001, 0.999]."
        )


def share_at_ends(data: CalibrationData) -> float:
    """Share of the cases with a score of exactly 0 or 1."""
    at_end = (data.score == 0) | (data.score == 1)
    return float(data.trials[at_end].sum() / data.n)
