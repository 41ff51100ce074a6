"""Ranks of simulation-based calibration: how far their ECDF strays from uniform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.arrays import Floats
from bayescal.plots import style
from bayescal.plots.text import count, percent
from bayescal.validation.ranks import RankBand, rank_bands

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["rank_ecdf"]

ACROSS = 3


def rank_ecdf(
    dataset: xr.Dataset,
    axes: Axes | Sequence[Axes] | None = None,
    *,
    ci_prob: float = 0.99,
) -> list[Axes]:
    """Draw the ranks of simulation-based calibration, one small panel a quantity.

    Each panel shows the ECDF of the ranks minus that of uniform ranks, and the band that all
    curves of all panels stay inside with probability `ci_prob` if the engine is right. An ECDF
    above zero on the left and below it on the right means a posterior that is too narrow; the other
    way round, too wide; above zero throughout, truths that rank too low.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `bayescal.validation.sbc`.
    axes : matplotlib.axes.Axes or sequence of them, optional
        Where to draw, one a quantity; by default on a new figure.
    ci_prob : float in (0, 1)
        Probability of the band, over all quantities together.

    Returns
    -------
    list of matplotlib.axes.Axes
        The axes drawn on, one a quantity.

    Raises
    ------
    InputError
        If there are not as many axes as quantities, or the dataset is not from `sbc`.

    References
    ----------
    Säilynoja, Bürkner & Vehtari (2022), Graphical test for discrete uniformity and its
    applications in goodness-of-fit evaluation and multiple sample comparison, Statistics and
    Computing 32.

    Examples
    --------
    >>> import bayescal as bc
    >>> ranks = bc.validation.sbc("intercept", n=50, n_simulations=20, random_state=0, n_jobs=1)
    >>> len(bc.plots.rank_ecdf(ranks)) == ranks.sizes["quantity"]
    True
    """
    bands = rank_bands(dataset, ci_prob)
    size = dataset.sizes["simulation"]
    if axes is None:
        panels = _new_axes(bands, size, ci_prob)
    else:
        panels = style.as_panels(axes, len(bands.quantity), "quantities")
    reach = 1.1 * max(_off(curve, bands) for curve in (bands.lower, bands.upper, *bands.ecdf))
    for ax, name, ecdf in zip(panels, bands.quantity, bands.ecdf, strict=True):
        _draw(ax, name, ecdf, bands)
        ax.set(xlim=(0, 1), ylim=(-reach, reach))
    if axes is None:
        _label_outer(panels)
    return panels


def _draw(ax: Axes, name: str, ecdf: Floats, bands: RankBand) -> None:
    from arviz_plots.visuals import fill_between_y, line_xy, scatter_xy

    fraction = bands.fraction
    outside = (ecdf < bands.lower) | (ecdf > bands.upper)
    difference = _curve(fraction, ecdf - fraction)
    band = {"y_bottom": bands.lower - fraction, "y_top": bands.upper - fraction}
    fill_between_y(difference, ax, x=fraction, **band, color=style.CURVE, alpha=0.18)
    ax.axhline(0, color=style.DIAGONAL, lw=0.8, ls="--")
    line_xy(difference, ax, color=style.CURVE, width=1.2)
    if outside.any():
        scatter_xy(difference[:, outside], ax, color=style.EVENTS, size=6)
    ax.set_title(f"{name}: outside" if outside.any() else name, loc="left", fontsize="medium")
    ax.set_xlabel("Fractional rank")
    ax.set_ylabel("ECDF − uniform")
    ax.spines[["top", "right"]].set_visible(False)


def _curve(x: Floats, y: Floats) -> xr.DataArray:
    """Points of a line, as ArviZ's figures take them."""
    import xarray as xr

    return xr.DataArray([x, y], {"plot_axis": ["x", "y"]}, ("plot_axis", "point"))


def _off(curve: Floats, bands: RankBand) -> float:
    return float(np.abs(curve - bands.fraction).max())


def _new_axes(bands: RankBand, size: int, ci_prob: float) -> list[Axes]:
    """One panel a quantity, on a new figure."""
    import xarray as xr
    from arviz_plots import PlotCollection

    panels = len(bands.quantity)
    columns = min(panels, ACROSS)
    rows = -(-panels // columns)
    collection = PlotCollection.wrap(
        xr.Dataset({"ecdf": (("quantity", "point"), bands.ecdf)}, {"quantity": [*bands.quantity]}),
        cols=["quantity"],
        col_wrap=ACROSS,
        backend="matplotlib",
        figure_kwargs={
            "figsize": (2.6 * columns, 0.5 + 2.0 * rows),
            "sharex": True,
            "sharey": True,
            "layout": "constrained",
        },
    )
    collection.viz["figure"].item().suptitle(
        f"Ranks of {count(size, 'truth')} among posterior draws, "
        f"and the {percent(ci_prob)} band over all panels",
        fontsize="medium",
    )
    return [collection.get_target("ecdf", {"quantity": name}) for name in bands.quantity]


def _label_outer(panels: list[Axes]) -> None:
    """Label the lowest panel of each column and the first of each row, and no others."""
    for index, ax in enumerate(panels):
        lowest, first = index + ACROSS >= len(panels), index % ACROSS == 0
        ax.tick_params(labelbottom=lowest, labelleft=first)
        ax.set_xlabel(ax.get_xlabel() if lowest else "")
        ax.set_ylabel(ax.get_ylabel() if first else "")
