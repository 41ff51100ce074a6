"""How strongly leaving would have to depend on the outcome for the verdict to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.errors import InputError
from bayescal._base.text import rounded
from bayescal.assessment.performance import close_enough
from bayescal.data.validate import as_floats, as_level
from bayescal.posterior.intervals import verdict_of
from bayescal.posterior.leaving import other_hazard
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LeavingSensitivity", "leaving_sensitivity"]

OF_LEAVING = ("observed_expected", "tce")
FARTHEST_DELTA, STEP_OF_DELTA, NEAR_DELTA = 2.0, 0.25, 0.05
MOST_DELTA = 5.0


@dataclass(frozen=True)
class LeavingSensitivity:
    """Results if those who left had another hazard than others with the same score.

    Attributes
    ----------
    table : pandas.DataFrame
        Index: delta, the log hazard ratio of those who left. Columns: hazard_ratio; estimate, lower
        and upper of O/E and of the true calibration error (`observed_expected`,
        `observed_expected_lower`, ..., `tce_upper`); prob_close, the probability that the error is
        below `close`; and verdict.
    changes_at : tuple of float or None
        The nearest delta below 0 and the nearest above 0 at which the verdict is another one; None
        where it stays the same up to 2, which is a hazard ratio of 7.4.
    close, ci_prob : float
    """

    table: pd.DataFrame
    changes_at: tuple[float | None, float | None]
    close: float
    ci_prob: float

    def __repr__(self) -> str:
        lines = ["LeavingSensitivity", "  hazard ratio   O/E                   TCE"]
        for row in self.table.itertuples():
            cells = [f"{row.hazard_ratio:<12.2f}"]
            for name in OF_LEAVING:
                middle, low, high = (getattr(row, name + end) for end in ("", "_lower", "_upper"))
                shown = rounded((middle, low, high), low, high)
                cells.append(f"{shown[0]} ({shown[1]} to {shown[2]})".ljust(20))
            lines.append(f"  {'   '.join(cells)}  {row.verdict}")
        return "\n".join([*lines, f"  {self.told}"])

    @property
    def told(self) -> str:
        """At which hazard ratios the verdict changes, as a sentence."""
        ends = [f"{np.exp(delta):.2f}" for delta in self.changes_at if delta is not None]
        if not ends:
            return "The verdict stays the same for hazard ratios from 0.14 to 7.4."
        return (
            "The verdict changes if the hazard of those who left was "
            f"{' or '.join(ends)} times that of others with the same score."
        )


def leaving_sensitivity(
    post: CalibrationPosterior,
    deltas: ArrayLike = (-1.0, -0.5, 0.0, 0.5, 1.0),
    *,
    close: float | None = None,
    ci_prob: float = 0.95,
) -> LeavingSensitivity:
    """Results if those who left early were not like others with the same score.

    A fit of times to an event takes those who left to have the outlook of others with the same
    score. The data cannot say whether they had. Here their hazard, from the time at which they
    left, is that of the others times exp(delta).

    Parameters
    ----------
    post : CalibrationPosterior
        Of times to an event, as `bayescal.fit` returns.
    deltas : array-like of shape (k,)
        Log hazard ratios, from -5 to 5: above 0 those who left had the event more often.
    close : float in (0, 1), optional
        A true calibration error that is close enough to none, as in `bayescal.assess`.
    ci_prob : float in (0, 1)

    Returns
    -------
    LeavingSensitivity

    Raises
    ------
    InputError
        If the posterior is not of times to an event, nobody left before the horizon, or an argument
        is out of range.

    Notes
    -----
    The curve of all cases is the curve that was fitted, g, plus the mean over those who left of the
    difference that delta makes to their risk after leaving. How many left, and when, is read off
    the fifth of the cases with the nearest scores.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> rng = np.random.default_rng(2)
    >>> risk = rng.uniform(0.05, 0.6, 400)
    >>> event, left = -rng.exponential(1, 400) / np.log1p(-risk), rng.uniform(0, 2, 400)
    >>> outcome = bc.Survival(np.minimum(event, left), event <= left)
    >>> post = bc.fit(outcome, risk, horizon=1, curve="logistic", draws=400, random_state=1)
    >>> table = bc.leaving_sensitivity(post, [0, 1]).table
    >>> bool(table.loc[0, "tce"] < table.loc[1, "tce"])
    True
    """
    import pandas as pd

    of, level = as_posterior(post), as_level(ci_prob)
    at = as_floats(deltas, "deltas")
    if not (np.abs(at) <= MOST_DELTA).all() or not at.size:
        raise InputError(
            f"deltas must be log hazard ratios from -{MOST_DELTA:g} to {MOST_DELTA:g}, such as "
            f"[-1, 0, 1], got {deltas!r}."
        )
    enough = close_enough(of.data) if close is None else as_level(close, "close")
    base = other_hazard(of.problem, 0.0)

    def seen(delta: float) -> CalibrationPosterior:
        return of._departing(base.at(delta))

    def verdict(delta: float) -> str:
        return verdict_of(seen(delta).prob_tce_below(enough), level)

    rows = []
    for delta in at:
        there = seen(float(delta))
        summary = there.summary(level, names=list(OF_LEAVING))
        row: dict[str, float | str] = {"hazard_ratio": float(np.exp(delta))}
        for name in OF_LEAVING:
            ends = zip(("", "_lower", "_upper"), ("estimate", "lower", "upper"), strict=True)
            each: dict[Any, Any] = summary.loc[name].to_dict()
            row |= {name + end: float(each[column]) for end, column in ends}
        below = there.prob_tce_below(enough)
        rows.append(row | {"prob_close": below, "verdict": verdict_of(below, level)})
    table = pd.DataFrame(rows, index=pd.Index(at, name="delta"))
    here = verdict(0.0)
    changes = _nearest(verdict, here, -1), _nearest(verdict, here, 1)
    return LeavingSensitivity(table, changes, enough, level)


def _nearest(verdict: Callable[[float], str], here: str, sign: int) -> float | None:
    """The nearest delta on one side at which the verdict is another one."""
    same = 0.0
    for far in np.arange(STEP_OF_DELTA, FARTHEST_DELTA + STEP_OF_DELTA / 2, STEP_OF_DELTA):
        if verdict(sign * far) != here:
            other = float(far)
            while other - same > NEAR_DELTA:
                middle = (same + other) / 2
                same, other = (middle, other) if verdict(sign * middle) == here else (same, middle)
            return sign * other
        same = float(far)
    return None
