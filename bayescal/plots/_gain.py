"""The posterior of what a recalibration gained, and where nothing was gained."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import check_type
from bayescal.core.text import NO_CHANGE, count, signed
from bayescal.gain import RecalibrationGain
from bayescal.plots import style
from bayescal.plots.text import chance, minus, percent, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["gain"]

GAIN_BARS = 60
WIDTH = 62
FALLS = {
    "tce": "Fall in true calibration error",
    "brier": "Fall in Brier score",
    "log_score": "Fall in log score",
    "brier_calibration": "Fall in Brier score by calibration",
    "brier_refinement": "Fall in Brier score by refinement",
    "log_calibration": "Fall in log score by calibration",
    "log_refinement": "Fall in log score by refinement",
}


def gain(
    result: RecalibrationGain,
    measure: str = "brier",
    ax: Axes | None = None,
    *,
    ci_prob: float = 0.95,
) -> Axes:
    """Draw the posterior of one gain.

    The histogram is darker where the gain is positive; the bar below it is the credible interval,
    and the point the estimate. The title gives the probability of a gain, and on which patients
    it was estimated. A gain that is infinite, or exactly 0, is not drawn but said. For "tce" the
    bar can be wider than the histogram, because predictions may be exactly calibrated; the title
    gives the probabilities of this.

    Parameters
    ----------
    result : RecalibrationGain
        From `bayescal.recalibration_gain`.
    measure : str
        A row of `result.summary(parts=True)`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    ci_prob : float in (0, 1)

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `result` is not a gain, or the measure is unknown.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, before = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> gain = bc.recalibration_gain(y_true, before, 0.15 + 0.6 * before, random_state=1)
    >>> bc.plots.gain(gain).get_xlabel()
    'Fall in Brier score per patient'
    """
    check_type(
        result, RecalibrationGain, "result", "Pass what bayescal.recalibration_gain returns."
    )
    lower, upper = result.interval(measure, ci_prob)
    estimate = float(result.summary(ci_prob, parts=True)["estimate"][measure])
    values = result.draws[measure].to_numpy().ravel()
    axes = style.as_axes(ax, 5, 3.2)
    if measure in result.unchanged or not np.isfinite(values).all():
        return _in_words(axes, result, measure, values)
    low, high = min(*np.quantile(values, [0.002]), lower), max(*np.quantile(values, [0.998]), upper)
    room = 0.04 * (high - low) or 0.01
    width = (high - low + 2 * room) / GAIN_BARS
    edges = width * np.arange(np.floor((low - room) / width), np.ceil((high + room) / width) + 1)
    share = np.histogram(values, edges)[0] / values.size
    helped = edges[:-1] > -width / 2
    for part, colour in ((~helped, style.NON_EVENTS), (helped, style.CURVE)):
        axes.stairs(np.where(part, share, 0), edges, fill=True, color=colour, alpha=0.55, lw=0)
    top = share.max()
    axes.axvline(0, color=style.DIAGONAL, lw=1, ls="--")
    axes.plot([lower, upper], [-0.06 * top] * 2, color=style.INK, lw=3, solid_capstyle="butt")
    axes.plot(estimate, -0.06 * top, "o", color="white", mec=style.INK, ms=6)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(-0.14 * top, 1.08 * top)
    axes.set_yticks([])
    name = FALLS.get(measure, _net_benefit(measure))
    axes.set_xlabel(f"{name} per patient")
    axes.spines[["top", "right", "left"]].set_visible(False)
    middle, first, last = map(minus, rounded((estimate, lower, upper), lower, upper))
    title = (
        f"{name}: {middle} ({percent(ci_prob)} CrI {first} to {last}). "
        f"Probability that it helped {chance(result.prob_above(0, measure))}. "
    )
    if measure == "tce":
        exact = result.prob_calibrated
        title += (
            f"P(exactly calibrated) {chance(exact['before'])} before, "
            f"{chance(exact['after'])} after. "
        )
    title += f"{result.evidence[0].upper()}{result.evidence[1:]}."
    axes.set_title("\n".join(wrap(title, WIDTH)), loc="left", fontsize="medium")
    return axes


def _in_words(axes: Axes, result: RecalibrationGain, measure: str, values: Floats) -> Axes:
    """What cannot be drawn, in words."""
    name = FALLS.get(measure, _net_benefit(measure))
    if measure in result.unchanged:
        told = NO_CHANGE
    else:
        (side,) = [sign for sign in (-np.inf, np.inf) if (values == sign).any()][:1]
        share = float((values == side).mean())
        told = signed(side) if share == 1 else f"{signed(side)}, with probability {chance(share)}"
        sides = (f"{side}: {count(n, 'case')}" for side, n in result.contradicted.items())
        told += f"\nprobability 0 was given to what happened\n({', '.join(sides)})"
    axes.text(0.5, 0.5, told, ha="center", va="center", transform=axes.transAxes, color=style.INK)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xlabel(f"{name} per patient")
    axes.spines[["top", "right", "left"]].set_visible(False)
    title = f"{name}: {told.partition(chr(10))[0]}. "
    title += f"{result.evidence[0].upper()}{result.evidence[1:]}."
    axes.set_title("\n".join(wrap(title, WIDTH)), loc="left", fontsize="medium")
    return axes


def _net_benefit(measure: str) -> str:
    return f"Rise in net benefit, treating from {measure.rpartition('@')[2]}"
