"""Several models, or several groups, on one reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import InputError, as_flag
from bayescal.core.text import told_apart
from bayescal.plots import style
from bayescal.plots._bands import curve_bands, error_interval
from bayescal.plots._legend import legend_beneath
from bayescal.plots._limits import as_limits
from bayescal.plots._names import short_name
from bayescal.plots._observed import observed_of
from bayescal.plots._strip import draw_scores
from bayescal.plots.text import interval, label, percent
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["as_models", "draw_models"]

STRIP_NAME = 12


def as_models(
    post: CalibrationPosterior | Mapping[str, CalibrationPosterior],
) -> dict[str, CalibrationPosterior]:
    """Posteriors by name; one alone is called "Model"."""
    models = dict(post) if isinstance(post, Mapping) else {"Model": as_posterior(post)}
    for name, one in models.items():
        if not isinstance(one, CalibrationPosterior):
            raise InputError(
                f"post must be a CalibrationPosterior or a mapping of them, but {str(name)!r} is "
                f"{type(one).__name__}. Pass what bayescal.fit returns."
            )
    if not 1 <= len(models) <= len(style.MODELS):
        raise InputError(
            f"post holds {len(models)} models; from 1 to {len(style.MODELS)} can be told apart."
        )
    shown = {label(name): one for name, one in models.items()}
    if len(shown) < len(models):
        raise InputError("post holds long names that begin alike. Give shorter ones.")
    return shown


def draw_models(
    ax: Axes | None,
    models: Mapping[str, CalibrationPosterior],
    level: float,
    bins: int | None,
    limits: tuple[float, float] | str,
    p: float,
    legend: bool,
) -> Axes:
    """Draw the mean and a band of each model, its scores, and its error in the legend.

    Parameters
    ----------
    level : float
        Probability of the bands.
    bins : int or None
        Bins of observed proportions.
    limits : pair of float or {"auto", "full"}
    """
    bands = [curve_bands(one, [level]) for one in models.values()]
    errors = [error_interval(one, level, p) for one in models.values()]
    seen = [observed_of(one, bins, level) for one in models.values()]
    drawn = [part for band in bands for part in (band.score, band.mean)]
    drawn += [observed.proportion for observed in seen if observed is not None]
    low, high = as_limits(limits, np.concatenate(drawn))

    axes = style.as_axes(ax, 5.4, 7.3 + 0.2 * len(models))
    style.probability_axes(axes, low, high)
    axes.plot([low, high], [low, high], color=style.DIAGONAL, lw=1, ls="--", label="Ideal")
    for line, name, band, observed, error in zip(
        style.MODELS, models, bands, seen, errors, strict=False
    ):
        axes.fill_between(
            band.score, band.lower[0], band.upper[0], color=line.color, alpha=0.16, lw=0
        )
        entry = f"{name}: {short_name('tce', p=p)} {interval(*error, level)}"
        axes.plot(band.score, band.mean, color=line.color, ls=line.ls, lw=2, label=entry)
        if observed is not None:
            axes.plot(observed.score, observed.proportion, "o", ms=4, mfc="white", mec=line.color)
    strips = list(zip(style.MODELS, models.items(), strict=False))
    beside, _ = told_apart(models, STRIP_NAME)
    for below, (line, (name, one)) in enumerate(reversed(strips)):
        colours = (line.color, style.NON_EVENTS)
        names = (beside[name], "")
        draw_scores(
            axes,
            one.data,
            stack=(below, len(strips)),
            colours=colours,
            names=names,
        )
    axes.set_title(
        f"Means and {percent(level)} bands. Scores of the cases with\n"
        "the event upwards, of the others downwards",
        loc="left",
        fontsize="medium",
    )
    if as_flag(legend, "legend"):
        legend_beneath(axes, columns=1, look=style.MODEL_LEGEND)
    return axes
