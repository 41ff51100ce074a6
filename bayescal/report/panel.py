"""A panel of frequentist estimators, each beside what calibrated models give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import InputError, check_choice
from bayescal.data.table import CalibrationData
from bayescal.estimators.registry import ESTIMATORS
from bayescal.estimators.survival import NUMBERS_OF_TIMES
from bayescal.estimators.uncertainty import applied_of
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.validation.consistency import (
    RARE,
    RESAMPLES_OF_TIMES,
    CalibratedOutcomes,
    Consistency,
    check_consistency,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PANEL", "no_panel", "panel_for", "panel_of", "resamples_for"]

PANEL = ("ece", "debiased_ece", "sweep_ece", "smooth_ece", "ici", "ks_error")
RESAMPLES = 400
MANY_CASES = 20_000
LARGE_RESAMPLES = 200
LARGER_ON_AVERAGE = "larger than calibrated models give, on average over the imputations"
WITHIN_ON_AVERAGE = "within what calibrated models give, on average over the imputations"


def panel_of(
    posts: Sequence[CalibrationPosterior], names: Sequence[str], seed: int
) -> pd.DataFrame:
    """Each estimator on the data, and whether calibration alone explains it.

    Parameters
    ----------
    posts : sequence of CalibrationPosterior
        That of the data, or those of all imputations: estimates are then averaged, and the
        simulated data sets are shared among the imputations.
    names : sequence of str
    seed : int

    Returns
    -------
    pandas.DataFrame
        Index: names. Columns: title, estimate, and from consistency resampling calibrated_lower,
        calibrated_upper (5 % and 95 % points of what calibrated models give at this n),
        prob_exceeds (share of them with a larger estimate) and verdict: "larger" if that share is
        below 5 %.

    Notes
    -----
    There is no bootstrap interval: near calibration these estimators are biased, a resample is
    biased once more, and 95 % intervals were [0, 0] for the debiased ECE in 42 % of simulated sets,
    or did not contain their own estimate in 8 %.
    """
    import pandas as pd

    of_times = posts[0].problem.of_times
    titles = NUMBERS_OF_TIMES if of_times else ESTIMATORS
    check = (_checks_of_times if of_times else _checks_of_outcomes)(posts, seed)
    rows = {}
    for name in names:
        title = titles[name].title
        try:
            checks = check(name)
        except InputError as error:
            rows[name] = _undefined(title, str(error))
            continue
        simulated = np.concatenate([check.under_calibration for check in checks])
        known = [np.count_nonzero(~np.isnan(check.under_calibration)) for check in checks]
        exceeds = [check.prob_calibrated_exceeds for check in checks]
        low = np.nanquantile(simulated, RARE, method="lower")
        high = np.nanquantile(simulated, 1 - RARE, method="higher")
        share = float(np.average(exceeds, weights=known))
        rows[name] = {
            "title": title,
            "estimate": float(np.mean([check.observed for check in checks])),
            "calibrated_lower": float(low),
            "calibrated_upper": float(high),
            "prob_exceeds": share,
            "verdict": _verdict(checks, share),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "estimator"
    return table


def _checks_of_outcomes(
    posts: Sequence[CalibrationPosterior], seed: int
) -> Callable[[str], list[Consistency]]:
    """Of known outcomes: the simulated data sets are drawn once for all estimators."""
    size = max(resamples_for(posts[0].problem.data), len(posts))
    calibrated = [
        CalibratedOutcomes(post, size, seed, (k, len(posts))) for k, post in enumerate(posts)
    ]
    return lambda name: [each.check(applied_of(name, {})) for each in calibrated]


def _checks_of_times(
    posts: Sequence[CalibrationPosterior], seed: int
) -> Callable[[str], list[Consistency]]:
    """Of times to an event: every estimator sees the same simulated data sets."""
    size = -(-RESAMPLES_OF_TIMES // len(posts))
    how: dict[str, Any] = {"n_resamples": size, "predict": False, "random_state": seed}
    return lambda name: [check_consistency(post, name, **how) for post in posts]


def _verdict(checks: Sequence[Consistency], share: float) -> str:
    if len(checks) == 1:
        return checks[0].verdict
    return LARGER_ON_AVERAGE if share < RARE else WITHIN_ON_AVERAGE


def no_panel() -> pd.DataFrame:
    """The panel of no estimator: where outcomes are not known."""
    import pandas as pd

    columns = ("title", "estimate", "calibrated_lower", "calibrated_upper", "prob_exceeds")
    return pd.DataFrame(columns=[*columns, "verdict"], index=pd.Index([], name="estimator"))


def panel_for(data: CalibrationData, names: Sequence[str]) -> tuple[str, ...]:
    """The estimators of a table as they were named; of times to an event none by default."""
    if data.follow_up is None:
        for name in names:
            check_choice(name, ESTIMATORS, "estimators")
        return tuple(names)
    if tuple(names) == PANEL:
        return ()
    if not {*names} <= {*NUMBERS_OF_TIMES}:
        raise InputError(
            f"estimators={[*names]!r} was given with times to an event, and other estimators are "
            f"of outcomes that are known. Choose from {', '.join(NUMBERS_OF_TIMES)}."
        )
    return tuple(names)


def resamples_for(data: CalibrationData) -> int:
    """Number of resamples: 400, and 200 above 20,000 cases."""
    return LARGE_RESAMPLES if data.effective_size > MANY_CASES else RESAMPLES


def _undefined(title: str, why: str) -> dict[str, object]:
    numbers = ("estimate", "calibrated_lower", "calibrated_upper", "prob_exceeds")
    return {"title": title, **dict.fromkeys(numbers, np.nan), "verdict": why}
