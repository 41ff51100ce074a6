"""Prior and posterior of each coordinate, and of the true calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_items, as_level, check_choice
from bayescal.plots import style
from bayescal.plots._legend import legend_beneath
from bayescal.plots._names import axis_label, ideal, short_name
from bayescal.plots._shares import edges_over, shares_of
from bayescal.plots.text import interval, minus
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.posterior import as_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["prior_posterior"]

PRIOR_ACROSS = 2
TAIL = 0.005
LEAST = 0.01  # of the range that axes show


def prior_posterior(
    post: CalibrationPosterior,
    axes: Axes | Sequence[Axes] | None = None,
    *,
    coordinates: Sequence[str] | None = None,
    ci_prob: float = 0.95,
) -> list[Axes]:
    """Draw prior and posterior of each working coordinate, and of the true calibration error.

    If the two agree, the data contain little information and the result depends on the prior.
    Stems are probabilities of exactly one value, which an averaged posterior can have; a stem as
    high as the highest bar has probability 1.

    Parameters
    ----------
    post : CalibrationPosterior
    axes : matplotlib.axes.Axes or sequence of them, optional
        Where to draw, one a quantity; by default on a new figure.
    coordinates : sequence of str, optional
        Working coordinates, derived variables such as "alpha", or functionals. By default the
        coordinates (a spline's deviations left out), and "tce".
    ci_prob : float in (0, 1)
        Of the intervals in the titles.

    Returns
    -------
    list of matplotlib.axes.Axes
        The axes drawn on, one a quantity.

    Raises
    ------
    InputError
        If a name is unknown, or there are not as many axes as quantities.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, curve="logistic", random_state=1)
    >>> [panel.get_xlabel() for panel in bc.plots.prior_posterior(post)][0]
    'Shift (log-odds)'
    """
    level = as_level(ci_prob)
    draws = {name: _both(post, name) for name in _as_names(as_posterior(post), coordinates)}
    panels = (
        _new_panels(len(draws)) if axes is None else style.as_panels(axes, len(draws), "quantities")
    )
    for ax, (name, (prior, posterior)) in zip(panels, draws.items(), strict=True):
        _draw(ax, name, prior, posterior)
        tail = (1 - level) / 2
        lower, median, upper = np.quantile(posterior, [tail, 0.5, 1 - tail])
        apart = None
        if name in FUNCTIONALS:
            lower, upper = post.interval(name, level)
            apart = FUNCTIONALS[name].apart
        ax.set_title(
            f"{short_name(name)}\n{minus(interval(median, lower, upper, level, apart))}",
            loc="left",
            fontsize="medium",
        )
    legend_beneath(panels[0], columns=2, look=style.LEGEND)
    return panels


def _draw(ax: Axes, name: str, prior: Floats, posterior: Floats) -> None:
    distance = name in FUNCTIONALS and FUNCTIONALS[name].is_distance
    at, floor = ideal(name), 0.0 if distance else -np.inf
    reached = tuple(np.quantile(np.concatenate([prior, posterior]), [TAIL, 1 - TAIL]))
    looks = (
        (prior, style.DIAGONAL, "--", 0.15, "o", "Prior"),
        (posterior, style.CURVE, "-", 0.45, "D", "Posterior"),
    )
    histograms = []
    for values, *_ in looks:
        edges = edges_over(values, at, (at,), floor)
        histograms.append(shares_of(values, edges, at))
    densities = [shares.share / np.diff(shares.edges) for shares in histograms]
    top = max(float(density.max()) for density in densities) or 1.0
    for shares, density, (_, colour, dashes, fill, marker, label) in zip(
        histograms, densities, looks, strict=True
    ):
        ax.stairs(density / top, shares.edges, fill=True, color=colour, alpha=fill, lw=0)
        ax.stairs(density / top, shares.edges, color=colour, ls=dashes, lw=1.2, label=label)
        if shares.atom:
            ax.vlines(at, 0, shares.atom, color=colour, lw=2, ls=dashes)
            ax.plot(at, shares.atom, marker, color=colour, ms=6, clip_on=False)
    ax.axvline(at, color=style.DIAGONAL, lw=0.8, ls=":", zorder=0)
    low, high = min(*reached, at), max(*reached, at + LEAST)
    ax.set_xlim(low - 0.02 * (high - low), high)
    ax.set_ylim(0, 1.06)
    ax.set_yticks([])
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlabel(axis_label(name))
    ax.spines[["top", "right", "left"]].set_visible(False)


def _both(post: CalibrationPosterior, name: str) -> tuple[Floats, Floats]:
    if name in FUNCTIONALS:
        draws = (post.functional(name, group=group) for group in ("prior", "posterior"))
    else:
        draws = (post.tree[group].to_dataset()[name] for group in ("prior", "posterior"))
    prior, posterior = (values.to_numpy().ravel() for values in draws)
    return prior, posterior


def _as_names(post: CalibrationPosterior, coordinates: Sequence[str] | None) -> list[str]:
    smooth = [
        name
        for name in post.problem.curve.coordinates
        if not name.startswith(("deviation", "cell_"))
    ]
    if coordinates is None:
        return [*smooth, "tce"]
    variables = [str(name) for name in post.tree["posterior"].to_dataset().data_vars]
    known = [name for name in variables if name != "family"]
    asked = as_items(coordinates, "coordinates")
    if not asked:
        raise InputError("coordinates is empty: name one, such as 'tce'.")
    return [check_choice(name, [*known, *FUNCTIONALS], "coordinates") for name in asked]


def _new_panels(size: int) -> list[Axes]:
    import matplotlib.pyplot as plt

    columns = min(size, PRIOR_ACROSS)
    rows = -(-size // columns)
    _, grid = plt.subplots(
        rows,
        columns,
        figsize=(3.4 * columns, 2.7 * rows),
        squeeze=False,
        layout="constrained",
    )
    for ax in grid.flat[size:]:
        ax.remove()
    return list(grid.flat[:size])
