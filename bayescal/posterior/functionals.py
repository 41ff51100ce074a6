"""What is computed from a draw: functionals of a calibration curve and a score distribution.

Each takes draws of the curve and of the population and returns one number per draw, which gives
its posterior and its interval. To add one, write it here and add its line to the
registry at the end of the file. The line carries its words, so that every table, figure and text
shows it. Net benefit itself is not in the registry: it needs a threshold, and has no ideal value at
perfect calibration.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import rel_entr

from bayescal.core import decision
from bayescal.core.arrays import Floats, power_mean
from bayescal.core.errors import as_order
from bayescal.core.versions import one_blas_thread
from bayescal.posterior.curve_draws import CurveDraws
from bayescal.posterior.functional import Functional, Side
from bayescal.posterior.lost import net_benefit_lost

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
    return draws.each(draws.distance.max(axis=1))


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
        below=Side(
            "too many events predicted",
            "events are rarer than predicted",
            "there were fewer events than predicted",
        ),
        above=Side(
            "too few events predicted",
            "events are more frequent than predicted",
            "there were more events than predicted",
        ),
        unclear="events are not clearly rarer or more frequent than predicted",
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
        below=Side(
            "over-confident",
            "predictions are too extreme (over-confident)",
            "its risks are too extreme, over-confident",
        ),
        above=Side(
            "under-confident",
            "predictions are too moderate (under-confident)",
            "its risks are too moderate, under-confident",
        ),
        negative=Side(
            "reversed",
            "predictions are reversed: where they are higher, events are rarer",
            "where its risks are higher, events are rarer",
        ),
        unclear="predictions are not clearly too extreme or too moderate",
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
