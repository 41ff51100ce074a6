"""The binned reliability diagram, with as many bins as predict new outcomes best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import RandomState
from bayescal.core.errors import as_flag
from bayescal.core.text import documented
from bayescal.estimators.binned import binned_reliability as numbers_of
from bayescal.estimators.registry import OutcomesLike
from bayescal.plots import style
from bayescal.plots._legend import legend_beneath
from bayescal.plots.text import count, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["binned_reliability"]

LIGHTEST, DARKEST = 0.12, 0.75
"""Opacity of a bar without cases, and of the one with the most."""


@documented
def binned_reliability(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    n_bins: int | Literal["cross-validated"] = "cross-validated",
    most_bins: int = 50,
    n_folds: int = 10,
    ci_prob: float = 0.95,
    legend: bool = True,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Axes:
    """Draw the binned reliability diagram: the mean outcome in bins of equal width.

    Bars are as dark as there are cases in them; points are the mean scores and outcomes, with
    Jeffreys intervals. The number of bins is by default the one that predicts outcomes best in
    cross-validation, as in the binned diagrams of Błasiok and Nakkiran. `bayescal.estimators.
    binned_reliability` has the numbers, and says what they are.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or CalibrationData
        Outcomes, 0 or 1. A table stands for outcomes, scores and weights.
    %(scores)s
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    n_bins : int or "cross-validated"
        Number of bins.
    most_bins : int
        Numbers of bins from 1 to this are compared, at most 1000.
    n_folds : int
        Parts of the cases that are left out in turn.
    ci_prob : float in (0, 1)
        Probability of the interval of each bin.
    legend : bool
        Whether to draw a legend.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases, or sampling weights.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Decides which cases are left out together.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, for further changes.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or an option is out of
        range.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, section 6.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> ax = bc.plots.binned_reliability(y_true, y_prob, random_state=1)
    >>> ax.get_ylabel()
    'Probability of the event'
    """
    bins = numbers_of(
        y_true,
        y_prob,
        n_bins=n_bins,
        most_bins=most_bins,
        n_folds=n_folds,
        ci_prob=ci_prob,
        sample_weight=sample_weight,
        random_state=random_state,
    )
    axes = style.as_axes(ax, 5, 5.2)
    style.probability_axes(axes, 0, 1)
    axes.plot([0, 1], [0, 1], color=style.DIAGONAL, lw=1, ls="--", label="Ideal")
    filled = np.flatnonzero(bins.trials > 0)
    shade = LIGHTEST + (DARKEST - LIGHTEST) * bins.trials / bins.trials.max()
    for at in filled:
        axes.stairs(
            bins.outcome[at : at + 1],
            bins.edges[at : at + 2],
            fill=True,
            color=style.NON_EVENTS,
            alpha=shade[at],
            lw=0,
        )
    axes.plot([], [], "s", color=style.NON_EVENTS, label="Mean outcome, dark where cases are many")
    ends = [bins.outcome - bins.lower, bins.upper - bins.outcome]
    points, *_ = axes.errorbar(
        bins.score[filled],
        bins.outcome[filled],
        yerr=np.maximum(ends, 0)[:, filled],
        fmt="o",
        ms=4,
        mfc="white",
        mec=style.INK,
        mew=0.8,
        ecolor=style.INK,
        elinewidth=0.7,
        label=f"{percent(bins.ci_prob)} interval",
    )
    points.set_clip_on(False)  # so that markers at 0 and 1 are not cut
    chosen = ", cross-validated" if bins.candidates.size else ""
    text = f"ECE {bins.ece:.3f} ({count(bins.n_bins, 'bin')}{chosen})"
    axes.plot([], [], ls="", label=text)
    if as_flag(legend, "legend"):
        legend_beneath(axes, columns=2)
    return axes
