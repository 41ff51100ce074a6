"""The value of information by threshold, and which strategy is probably best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_flag, check_type
from bayescal.plots import style
from bayescal.plots._legend import legend_beneath
from bayescal.plots.text import count

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["value_of_information"]

LINES = (
    ("of_recalibrating", " of recalibrating", style.MODELS[0]),
    ("", "", style.MODELS[1]),
)
SHADES = {
    "treat_none": ("Treat no one", "#ffffff"),
    "treat_all": ("Treat everyone", "#bbbbbb"),
    "model": ("Model", "#56B4E9"),
    "updated_model": ("Updated model", style.CURVE),
}
"""Each strategy's name and colour, from light to dark."""

ALONE = 0.05  # around a single threshold
FEW_THRESHOLDS = 12  # thresholds, which are then marked
PALEST = 0.35
CURE = "Pass what post.value_of_information(thresholds) returns."


def value_of_information(
    dataset: xr.Dataset, ax: Axes | None = None, *, legend: bool = True
) -> Axes:
    """Draw the value of information by threshold.

    The expected value of perfect information, of the choice among the strategies and of
    recalibrating, per 1000 patients; if the dataset has them, also those of a further study of each
    size, in paler colours. The strip above is the probability that each strategy is best.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `CalibrationPosterior.value_of_information`; of several sites, one site of it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    legend : bool
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on; its strip is among its `child_axes`.

    Raises
    ------
    InputError
        If the dataset is another, or of several sites.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> worth = post.value_of_information(np.linspace(0.05, 0.5, 10), n_more=500)
    >>> bc.plots.value_of_information(worth).get_ylabel()
    'Net benefit per 1000 patients'
    """
    ordered = _checked(dataset)
    at = ordered["threshold"].to_numpy()
    shown = as_flag(legend, "legend")
    axes = style.as_axes(ax, 5.8, 4.9)
    _draw_values(axes, at, ordered)
    axes.set_xlabel("Risk at which a patient is treated")
    axes.set_ylabel("Net benefit per 1000 patients")
    axes.locator_params(axis="y", nbins=style.TICKS)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    around = ALONE if at.size == 1 else 0.0
    axes.set_xlim(max(at[0] - around, 0), min(at[-1] + around, 1))
    strip = _draw_strip(axes, at, ordered)
    kinds = "perfect (EVPI) and sample (EVSI)" if "evsi" in ordered else "perfect"
    title = f"Expected value of {kinds} information;\nabove, P(best strategy)"
    axes.set_title(title, loc="left", fontsize="medium")
    if shown:
        _draw_legend(axes, strip)
    return axes


def _checked(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset in ascending order of the thresholds, each once."""
    import xarray as xr

    check_type(dataset, xr.Dataset, "dataset", CURE)
    missing = {"evpi", "prob_best", "threshold"} - {str(name) for name in dataset.variables}
    if missing:
        raise InputError(f"dataset has no {', '.join(sorted(missing))}. {CURE}")
    if "site" in dataset.dims:
        raise InputError(
            "dataset is of several sites: draw one of them, such as dataset.sel(site='north')."
        )
    if not dataset.sizes["threshold"]:
        raise InputError(f"dataset has no thresholds. {CURE}")
    return dataset.drop_duplicates("threshold").sortby("threshold")


def _draw_values(ax: Axes, at: Floats, dataset: xr.Dataset) -> None:
    """Lines of perfect information, and paler ones of further studies."""
    marker = "o" if at.size <= FEW_THRESHOLDS else ""
    for ending, label, line in LINES:
        suffix = f"_{ending}" if ending else ""
        if f"evpi{suffix}" not in dataset:
            continue
        values = 1000 * dataset[f"evpi{suffix}"].to_numpy()
        look = {"color": line.color, "ls": line.ls, "marker": marker, "ms": 4}
        ax.plot(at, values, lw=2, label=f"EVPI{label}", clip_on=False, **look)
        if f"evsi{suffix}" not in dataset:
            continue
        sizes = np.atleast_1d(dataset["n_more"].to_numpy())
        sampled = dataset[f"evsi{suffix}"].to_numpy().reshape(at.size, sizes.size)
        for index in np.argsort(sizes):
            alpha = PALEST + (0.85 - PALEST) * (index + 1) / sizes.size
            name = f"EVSI{label}, n = {count(float(sizes[index]))}"
            ax.plot(at, 1000 * sampled[:, index], lw=1, alpha=alpha, label=name, **look)


def _draw_strip(ax: Axes, at: Floats, dataset: xr.Dataset) -> Axes:
    """The probability that each strategy is best, as layers."""
    strip = ax.inset_axes((0, 1.04, 1, 0.16), sharex=ax)
    shares = dataset["prob_best"].transpose("strategy", "threshold")
    names = [str(name) for name in shares["strategy"].to_numpy()]
    labels, colors = zip(*(SHADES[name] for name in names), strict=True)
    if at.size > 1:
        strip.stackplot(at, shares, labels=labels, colors=colors, ec=style.INK, lw=0.4)
    else:
        bottom = 0.0
        for label, color, share in zip(labels, colors, shares.to_numpy()[:, 0], strict=True):
            strip.bar(at, share, 0.02, bottom, label=label, color=color, ec=style.INK, lw=0.4)
            bottom += float(share)
    strip.set_ylim(0, 1)
    strip.set_yticks([0, 0.5, 1], ["0", "", "1"], fontsize="x-small")
    strip.tick_params(axis="x", labelbottom=False, length=0)
    strip.set_ylabel("P(best)", fontsize="x-small")
    strip.spines[["top", "right"]].set_visible(False)
    strip.set_label("best")
    return strip


def _draw_legend(ax: Axes, strip: Axes) -> None:
    """One legend of the lines and of the strip's layers."""
    lines, _ = ax.get_legend_handles_labels()
    layers, _ = strip.get_legend_handles_labels()
    legend_beneath(ax, columns=3, look=style.MODEL_LEGEND | {"handles": [*lines, *layers]})
