"""The risk-coverage curve: wrong answers by the share of cases that are answered."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayescal._base.errors import as_flag
from bayescal.data.validate import as_level
from bayescal.plots import style
from bayescal.plots._legend import legend_beneath
from bayescal.plots.text import interval, percent
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.posterior import as_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["risk_coverage"]


def risk_coverage(
    post: CalibrationPosterior,
    ax: Axes | None = None,
    *,
    accuracy: float | None = None,
    ci_prob: float = 0.95,
    population: str = "bootstrap",
    legend: bool = True,
) -> Axes:
    """Draw the risk-coverage curve of selective prediction.

    The mean share of wrong answers with its interval, if cases are answered from the highest score
    down. The title has the area under the curve.

    Parameters
    ----------
    post : CalibrationPosterior
        Of right and wrong answers, such as ``bc.fit(labels, matrix)``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    accuracy : float in (0, 1), optional
        Also mark the threshold above which answers are right at least so often, with probability
        0.95.
    ci_prob : float in (0, 1)
    population : {"bootstrap", "sample"}
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
    Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
    classifiers, ICLR.

    Examples
    --------
    >>> import bayescal as bc
    >>> right, sure = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> post = bc.fit(right, sure, random_state=1)
    >>> bc.plots.risk_coverage(post).get_xlabel()
    'Share of cases answered (coverage)'
    """
    level, answers = as_level(ci_prob), as_posterior(post).selective(population)
    curve, area = answers.risk_coverage(ci_prob=level), answers.aurc
    promise = None if accuracy is None else answers.threshold(accuracy)

    axes = style.as_axes(ax, 5.4, 3.6)
    at, band = curve.index.to_numpy(), f"{percent(level)} interval"
    axes.fill_between(
        at, curve["lower"], curve["upper"], color=style.CURVE, alpha=0.25, lw=0, label=band
    )
    axes.plot(at, curve["risk"], color=style.CURVE, lw=2, label="Posterior mean")
    if promise is not None and accuracy is not None:
        told = f"Score of at least {_shown(promise.threshold)}: accuracy {accuracy:g} or more"
        axes.axvline(promise.coverage, color=style.EVENTS, ls="--", lw=1.2, label=told)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.06 * float(curve["upper"].max()))
    axes.set_xlabel("Share of cases answered (coverage)")
    axes.set_ylabel("Share of answers that are wrong (risk)")
    axes.spines[["top", "right"]].set_visible(False)
    shown = interval(float(area.mean()), *equal_tailed(area, level), level)
    axes.set_title(f"Area under the curve (AURC) {shown}", loc="left", fontsize="medium")
    if as_flag(legend, "legend"):
        legend_beneath(axes, columns=2, look=style.MODEL_LEGEND)
    return axes


def _shown(score: float) -> str:
    """A score to three digits; near 1, two digits of its distance from 1."""
    if score <= 0.99 or score == 1:
        return f"{score:.3g}"
    return f"{score:.{1 - math.floor(math.log10(1 - score))}f}"
