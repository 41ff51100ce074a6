"""The calibration curves of several sites as small multiples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import InputError, as_level
from bayescal.core.text import told_apart
from bayescal.plots import style
from bayescal.plots._bands import curve_bands
from bayescal.plots._sites import as_sites
from bayescal.plots.text import count, label, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.multilevel.posterior import MultilevelPosterior
    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["site_curves"]

PANELS_A_ROW = 3
LONGEST_ABOVE = 24
"""Characters that stand above a panel."""


def site_curves(
    post: MultilevelPosterior,
    axes: Axes | list[Axes] | None = None,
    *,
    ci_prob: float = 0.95,
) -> list[Axes]:
    """Draw the calibration curve of every site beside that of the average site.

    Parameters
    ----------
    post : MultilevelPosterior
        Of at most 60 sites.
    axes : matplotlib.axes.Axes or sequence of them, optional
        One a site; by default on a new figure.
    ci_prob : float in (0, 1)
        Probability of the bands.

    Returns
    -------
    list of matplotlib.axes.Axes
        One a site, in the order of the labels.

    Raises
    ------
    InputError
        If the posterior is not of several sites, or there are not as many axes as sites.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, site=np.resize(["A", "B", "C"], 300), random_state=1)
    >>> [ax.get_title(loc="left") for ax in bc.plots.site_curves(post)]
    ['A (100 cases)', 'B (100 cases)', 'C (100 cases)']
    """
    labels, level = as_sites(post).labels, as_level(ci_prob)
    (axis,), cases = post.levels, post.table()["cases"]
    views = {site: post.at({axis: site}) for site in labels}
    bands = {site: curve_bands(view, [level]) for site, view in views.items()}
    panels = (
        _new_panels(len(labels), level)
        if axes is None
        else style.as_panels(axes, len(labels), "sites")
    )
    high = max(max(band.score.max(), band.upper.max()) for band in bands.values())
    high = min(1.0, np.ceil(high * 10) / 10)
    grid = np.linspace(0.001, min(high, 0.999), 100)
    names, _ = told_apart(labels, LONGEST_ABOVE)
    average = post.average().curve(grid).mean(("chain", "draw"))
    for panel, site in zip(panels, labels, strict=True):
        band = bands[site]
        style.probability_axes(panel, 0, high)
        panel.plot([0, high], [0, high], color=style.DIAGONAL, lw=1, ls="--")
        panel.plot(grid, average, color=style.EVENTS, lw=1)
        panel.fill_between(band.score, band.lower[0], band.upper[0], color=style.CURVE, alpha=0.2)
        panel.plot(band.score, band.mean, color=style.CURVE, lw=1.8)
        title = _title(label(names[site]), _size(views[site], cases[site]))
        panel.set_title(title, fontsize="medium", loc="left")
        panel.set(xlabel="", ylabel="")
        panel.tick_params(labelsize="small")
    return panels


def _title(name: str, size: str) -> str:
    """A site and its size, on two lines if one is too short for both."""
    one_line = f"{name} ({size})"
    return one_line if len(one_line) <= LONGEST_ABOVE else f"{name}\n({size})"


def _size(view: CalibrationPosterior, cases: float) -> str:
    """How many cases a site has, and whether it is known by its summary."""
    size = count(cases, "case") if np.isfinite(cases) else ""
    if view.has_outcomes:
        return size
    return f"{size}, summary" if size else "summary"


def _new_panels(sites: int, level: float) -> list[Axes]:
    import matplotlib.pyplot as plt

    if not sites:
        raise InputError("post holds no sites.")
    columns = min(sites, PANELS_A_ROW)
    rows = -(-sites // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(max(2.3 * columns, 4.8), 2.4 * rows + 1.0),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    panels = list(grid.flat)
    for unused in panels[sites:]:
        unused.remove()
    figure.suptitle(
        f"Blue: the site, with its {percent(level)} band. Orange: the average site.\n"
        "Dashed: perfect calibration",
        fontsize="medium",
        x=0.01,
        ha="left",
    )
    figure.supxlabel("Predicted probability", fontsize="medium")
    figure.supylabel("Probability of the event", fontsize="medium")
    return panels[:sites]
