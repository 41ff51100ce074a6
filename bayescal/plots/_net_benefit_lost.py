"""Net benefit lost to miscalibration, by the risk from which patients are treated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import as_flag, as_level
from bayescal.plots import style
from bayescal.plots._legend import legend_beneath
from bayescal.plots._limits import round_up
from bayescal.plots.text import interval, percent
from bayescal.posterior.lost import LOST, USUAL_THRESHOLDS, as_risks
from bayescal.posterior.posterior import as_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["net_benefit_lost"]

LOST_STEPS = 60
LOST_LEAST = 0.1  # of 1000 patients, the least height of the axis


def net_benefit_lost(
    post: CalibrationPosterior,
    between: tuple[float, float] | None = None,
    ax: Axes | None = None,
    *,
    ci_prob: float = 0.95,
    population: str = "bootstrap",
    legend: bool = True,
) -> Axes:
    """Draw the net benefit that is lost to miscalibration, by threshold.

    The estimate of the loss at each threshold with its interval, per 1000 patients. The title has
    the most that is lost anywhere in the range.

    Parameters
    ----------
    post : CalibrationPosterior
    between : pair of float, optional
        The lowest and the highest risk from which a patient is treated; by default from 0 to a
        round number above the highest score, at most 0.5.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    ci_prob : float in (0, 1)
    population : {"bootstrap", "sample", "beta"}
    legend : bool
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If an argument is out of range.

    References
    ----------
    Hu & Wu (2024), Predict to minimize swap regret for all payoff-bounded tasks, FOCS: the
    calibration decision loss.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.compare(y_true, y_prob, random_state=1).posterior
    >>> bc.plots.net_benefit_lost(post, (0.05, 0.3)).get_ylabel()
    'Net benefit lost per 1000 patients'
    """
    level, of = as_level(ci_prob), as_posterior(post)
    if between is None:
        highest = round_up(float(of.data.score.max()))
        between = (USUAL_THRESHOLDS[0], min(highest, USUAL_THRESHOLDS[1]))
    low, high = as_risks(between, "between")
    at = np.linspace(low, high, LOST_STEPS + 1)[1 if low == 0 else 0 :]
    rows = [_estimate_and_ends(of, level, population, float(t)) for t in at]
    middle, lower, upper = 1000 * np.transpose(rows)

    axes = style.as_axes(ax, 5.4, 3.6)
    band = f"{percent(level)} interval"
    axes.fill_between(at, lower, upper, color=style.CURVE, alpha=0.25, lw=0, label=band)
    axes.plot(at, middle, color=style.CURVE, lw=2, label="Estimate")
    axes.set_xlim(low, high if high > low else None)
    axes.set_ylim(0, max(1.06 * float(upper.max()), LOST_LEAST))
    axes.set_xlabel("Risk from which a patient is treated")
    axes.set_ylabel("Net benefit lost per 1000 patients")
    axes.locator_params(axis="y", nbins=style.TICKS)
    axes.spines[["top", "right"]].set_visible(False)
    most = [1000 * value for value in _estimate_and_ends(of, level, population, (low, high))]
    told = interval(most[0], most[1], most[2], level)
    title = f"Most that is lost from {low:g} to {high:g}, per 1000:\n{told}"
    axes.set_title(title, loc="left", fontsize="medium")
    if as_flag(legend, "legend"):
        legend_beneath(axes, columns=2, look=style.MODEL_LEGEND)
    return axes


def _estimate_and_ends(
    of: CalibrationPosterior,
    level: float,
    population: str,
    threshold: float | tuple[float, float],
) -> tuple[float, float, float]:
    """Estimate, lower and upper end of the loss."""
    lower, upper = of.interval(LOST, level, population=population, threshold=threshold)
    return of.estimate(LOST, level, population=population, threshold=threshold), lower, upper
