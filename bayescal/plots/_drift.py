"""Drift: an error from period to period, and when it changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import InputError, as_level, as_number, check_choice
from bayescal.multilevel.posterior import MultilevelPosterior, as_multilevel
from bayescal.multilevel.rows import RATIO_AND_SLOPE
from bayescal.plots import style
from bayescal.plots._names import axis_label, ideal
from bayescal.plots.text import chance, label, percent
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["drift"]

MOST_TICKS = 12
BAND_ALPHA = 0.25


def drift(
    post: MultilevelPosterior,
    name: str = "observed_expected",
    axes: Sequence[Axes] | None = None,
    *,
    limit: float | None = None,
    ci_prob: float = 0.95,
) -> list[Axes]:
    """Draw an error over the periods, and below it when the curve changed most.

    Parameters
    ----------
    post : MultilevelPosterior
    name : str
        A name in `bayescal.functionals.FUNCTIONALS`. For "observed_expected" and
        "calibration_slope" the estimates from each period alone are hollow squares.
    axes : sequence of two matplotlib.axes.Axes, optional
        By default on a new figure.
    limit : float, optional
        A value to draw a dotted line at, such as the largest error that is accepted.
    ci_prob : float in (0, 1)

    Returns
    -------
    list of matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the posterior is not of periods, the name is unknown or undefined in these periods, or a
        number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, period=np.repeat([1, 2, 3], 100), random_state=1)
    >>> above, below = bc.plots.drift(post)
    >>> below.get_ylabel()
    'P(largest change)'
    """
    chosen, level = check_choice(name, FUNCTIONALS, "name"), as_level(ci_prob)
    line = None if limit is None else as_number(limit, "limit")
    labels = as_multilevel(post, "periods").labels
    above, below = _panels(axes)
    at, ends = np.arange(len(labels)), _ends(post, chosen, level)
    above.axhline(ideal(chosen), color=style.DIAGONAL, lw=1, ls="--", zorder=0)
    if line is not None:
        above.axhline(line, color=style.EVENTS, lw=1.2, ls=":", zorder=0)
    above.fill_between(at, ends[1], ends[2], color=style.CURVE, alpha=BAND_ALPHA, lw=0)
    above.plot(at, ends[0], "o-", color=style.CURVE, lw=1.8, ms=4)
    title = f"Estimate and {percent(level)} credible interval"
    raw = post.table()[f"{chosen}_raw"] if chosen in RATIO_AND_SLOPE else None
    if raw is not None:
        above.plot(at, raw.to_numpy(), "s", mfc="none", mec=style.INK, ms=5, mew=0.9)
        title += "; squares: each period alone"
    above.set_title(title, loc="left", fontsize="medium")
    above.set_ylabel(axis_label(chosen))
    below.bar(at[1:], post.when_changed()["prob"], color=style.EVENTS, width=0.7)
    below.set_ylabel("P(largest change)")
    below.set_title(
        "Explanations: "
        + ", ".join(f"{name} {chance(share)}" for name, share in post.explanations.items()),
        loc="left",
        fontsize="small",
    )
    step = -(-len(labels) // MOST_TICKS)
    for panel in (above, below):
        panel.set_xlim(-0.5, len(labels) - 0.5)
        panel.set_xticks(at[::step], [label(each) for each in labels[::step]])
        panel.spines[["top", "right"]].set_visible(False)
    above.tick_params(axis="x", labelbottom=False)
    if max(map(len, labels)) > 4:
        below.tick_params(axis="x", rotation=45)
    return [above, below]


def _panels(axes: Sequence[Axes] | None) -> list[Axes]:
    """The two axes to draw on: those given, or new ones."""
    if axes is not None:
        return style.as_panels(axes, 2, "panels")
    import matplotlib.pyplot as plt

    heights = {"height_ratios": [3, 1.2]}
    _, made = plt.subplots(2, 1, figsize=(7.2, 5.2), layout="constrained", gridspec_kw=heights)
    return list(made)


def _ends(post: MultilevelPosterior, name: str, level: float) -> np.ndarray:
    """Estimate and ends of the interval in each period, of shape (3, periods)."""
    rows = []
    (axis,) = post.levels
    for period in post.labels:
        table = post.at({axis: period}).summary(level, names=[name])
        if name not in table.index:
            raise InputError(f"name={name!r} is not defined by the scores of period {period!r}.")
        rows.append(table.loc[name, ["estimate", "lower", "upper"]].to_numpy(np.float64))
    return np.array(rows).T
