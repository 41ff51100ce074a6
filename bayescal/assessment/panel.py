"""A panel of frequentist estimators, each beside what calibrated models give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.estimators.registry import ESTIMATORS
from bayescal.estimators.uncertainty.applied import applied_of
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.validation.consistency import RARE, CalibratedOutcomes, Consistency

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PANEL", "no_panel", "none_of_times", "panel_of", "resamples_for"]

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

    size = max(resamples_for(posts[0].problem.data), len(posts))
    calibrated = [
        CalibratedOutcomes(post, size, seed, (k, len(posts))) for k, post in enumerate(posts)
    ]
    rows = {}
    for name in names:
        try:
            checks = [each.check(applied_of(name, {})) for each in calibrated]
        except InputError as error:
            rows[name] = _undefined(name, str(error))
            continue
        simulated = np.concatenate([check.under_calibration for check in checks])
        known = [np.count_nonzero(~np.isnan(check.under_calibration)) for check in checks]
        exceeds = [check.prob_calibrated_exceeds for check in checks]
        low = np.nanquantile(simulated, RARE, method="lower")
        high = np.nanquantile(simulated, 1 - RARE, method="higher")
        share = float(np.average(exceeds, weights=known))
        rows[name] = {
            "title": ESTIMATORS[name].title,
            "estimate": float(np.mean([check.observed for check in checks])),
            "calibrated_lower": float(low),
            "calibrated_upper": float(high),
            "prob_exceeds": share,
            "verdict": _verdict(checks, share),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "estimator"
    return table


def _verdict(checks: Sequence[Consistency], share: float) -> str:
    if len(checks) == 1:
        return checks[0].verdict
    return LARGER_ON_AVERAGE if share < RARE else WITHIN_ON_AVERAGE


def no_panel() -> pd.DataFrame:
    """The panel of no estimator: where outcomes are not known."""
    import pandas as pd

    columns = ("title", "estimate", "calibrated_lower", "calibrated_upper", "prob_exceeds")
    return pd.DataFrame(columns=[*columns, "verdict"], index=pd.Index([], name="estimator"))


def none_of_times(panel: Sequence[str]) -> tuple[str, ...]:
    """No estimators, of times to an event; those that a user named are refused."""
    if tuple(panel) not in ((), PANEL):
        raise InputError(
            f"estimators={list(panel)!r} was given with times to an event, and estimators are of "
            "outcomes that are known. Leave estimators= out."
        )
    return ()


def resamples_for(data: CalibrationData) -> int:
    """Number of resamples: 400, and 200 above 20,000 cases."""
    return LARGE_RESAMPLES if data.effective_size > MANY_CASES else RESAMPLES


def _undefined(name: str, why: str) -> dict[str, object]:
    numbers = ("estimate", "calibrated_lower", "calibrated_upper", "prob_exceeds")
    return {"title": ESTIMATORS[name].title, **dict.fromkeys(numbers, np.nan), "verdict": why}
