"""Decision curves: what treating by the model is worth, and how surely it is worth more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import as_flag, as_level
from bayescal.data.cases import as_vector
from bayescal.plots import style
from bayescal.plots._legend import legend_beneath
from bayescal.plots._limits import round_up
from bayescal.plots._several import as_models
from bayescal.plots.text import percent

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["net_benefit"]

STEPS = 100
BELOW = 0.12
DECISION_LEAST = 1e-3  # of the range that axes show
LETTERS_OF_A_ROW = 48
"""What fits in a row of the legend of a figure of the usual size, beside its lines."""


def net_benefit(
    post: CalibrationPosterior | Mapping[str, CalibrationPosterior],
    thresholds: Any = None,
    ax: Axes | None = None,
    *,
    ci_prob: float = 0.95,
    population: Any = "bootstrap",
    legend: bool = True,
) -> Axes:
    """Draw the decision curve of a model, or of several.

    The posterior median of the net benefit of treating the patients with a score of at least the
    threshold, with a pointwise band, and of treating everyone and no one. The strip above
    is the probability that the model is better than both.

    Parameters
    ----------
    post : CalibrationPosterior or mapping of str to CalibrationPosterior
        A fit, or several by name. Several are drawn side by side; to compare two on the same
        patients use `bayescal.recalibration_gain`, which keeps the pairs.
    thresholds : array-like, optional
        Risks at which a patient is treated, in (0, 1); by default 99 from 0 to a round
        number above the highest score.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    ci_prob : float in (0, 1)
    population : {"bootstrap", "sample", "beta"} or scores
    legend : bool
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on; its strip is among its `child_axes`.

    Raises
    ------
    InputError
        If an argument is out of range, or there are more models than can be told apart.

    References
    ----------
    Vickers & Elkin (2006), Decision curve analysis, Medical Decision Making 26.
    Cruz & Korthauer (2024), Bayesian decision curve analysis with bayesDCA, Statistics in
    Medicine 43.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> ax = bc.plots.net_benefit(bc.fit(y_true, y_prob, random_state=1))
    >>> ax.get_xlabel()
    'Risk at which a patient is treated'
    """
    level = as_level(ci_prob)
    models = as_models(post)
    if thresholds is None:
        highest = max(float(one.data.score.max()) for one in models.values())
        thresholds = round_up(highest) * np.arange(1, STEPS) / STEPS
    at = np.unique(as_vector(thresholds, "thresholds"))
    benefit = {name: one.net_benefit(at, population) for name, one in models.items()}

    axes = style.as_axes(ax, 5.4, 4.2)
    top = _draw_curves(axes, at, benefit, level)
    axes.set_xlim(0, at.max())
    axes.set_ylim(-BELOW * top, 1.06 * top)
    axes.set_xlabel("Risk at which a patient is treated")
    axes.set_ylabel("Net benefit per patient")
    axes.locator_params(axis="y", nbins=style.TICKS)
    axes.spines[["top", "right"]].set_visible(False)
    _draw_strip(axes, at, benefit)
    axes.set_title(_title(benefit, at, level), loc="left", fontsize="medium")
    if as_flag(legend, "legend"):
        longest = max(map(len, axes.get_legend_handles_labels()[1]))
        columns = min(max(LETTERS_OF_A_ROW // longest, 1), 3)
        legend_beneath(axes, columns=columns, look=style.MODEL_LEGEND)
    return axes


def _draw_curves(ax: Axes, at: Floats, benefit: Mapping[str, xr.Dataset], level: float) -> float:
    """Each model, everyone (by the first model) and no one; returns the highest point."""
    shade = 0.25 if len(benefit) == 1 else 0.15
    tops = [DECISION_LEAST]
    for line, (name, one) in zip(style.MODELS, benefit.items(), strict=False):
        lower, median, upper = _quantiles(one["model"], level)
        ax.fill_between(at, lower, upper, color=line.color, alpha=shade, lw=0)
        ax.plot(at, median, color=line.color, ls=line.ls, lw=2, label=name)
        tops.append(float(upper.max()))
    lower, median, upper = _quantiles(next(iter(benefit.values()))["treat_all"], level)
    ax.fill_between(at, lower, upper, color=style.NON_EVENTS, alpha=0.25, lw=0)
    ax.plot(at, median, color=style.INK, lw=1, label="Treat everyone")
    ax.axhline(0, color=style.INK, lw=1, ls=":", label="Treat no one")
    return max(*tops, float(upper.max()))


def _draw_strip(ax: Axes, at: Floats, benefit: Mapping[str, xr.Dataset]) -> None:
    """The probability that each model is better than treating everyone and than no one."""
    strip = ax.inset_axes((0, 1.04, 1, 0.16), sharex=ax)
    for line, one in zip(style.MODELS, benefit.values(), strict=False):
        probability = one["prob_best"].to_numpy()
        if len(benefit) == 1:
            strip.fill_between(at, probability, color=line.color, alpha=0.25, lw=0)
        strip.plot(at, probability, color=line.color, ls=line.ls, lw=1.2)
    strip.set_ylim(0, 1.04)
    strip.set_yticks([0, 0.5, 1], ["0", "", "1"], fontsize="x-small")
    strip.grid(axis="y", color=style.NON_EVENTS, lw=0.4)
    strip.xaxis.set_visible(False)
    strip.set_ylabel("P(best)", fontsize="x-small")
    strip.spines[["top", "right"]].set_visible(False)
    strip.set_label("best")


def _quantiles(values: xr.DataArray, level: float) -> tuple[Floats, Floats, Floats]:
    lower, median, upper = np.quantile(
        values.to_numpy(), [(1 - level) / 2, 0.5, (1 + level) / 2], axis=(0, 1)
    )
    return lower, median, upper


def _title(benefit: Mapping[str, xr.Dataset], at: Floats, level: float) -> str:
    """Where the model is probably the best choice, when there is one model."""
    bands = f"Median and {percent(level)} band of the net benefit"
    if len(benefit) > 1:
        return f"{bands};\nabove, P(better than treating everyone or no one)"
    best = at[next(iter(benefit.values()))["prob_best"].to_numpy() >= level]
    if not best.size:
        return f"Nowhere better than treating everyone or no one\nwith probability {level:g}"
    return (
        "Better than treating everyone or no one, with\n"
        f"probability {level:g} or more, {_where(best, at)}"
    )


def _where(best: Floats, at: Floats) -> str:
    """Thresholds as text: "for risks" of one range, "at some risks" of one with gaps."""
    if best[0] == best[-1]:
        return f"at {best[0]:.3g}"
    inside = np.count_nonzero((at >= best[0]) & (at <= best[-1]))
    which = "for risks" if inside == best.size else "at some risks"
    return f"{which} from {best[0]:.3g} to {best[-1]:.3g}"
