"""Results if those who left early were not like others with the same score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.errors import InputError, as_number, check_choice
from bayescal.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["leaving"]

LEAVING_NAMES = {"tce": "True calibration error", "observed_expected": "Observed over expected"}


def leaving(
    table: pd.DataFrame,
    name: str = "tce",
    ax: Axes | None = None,
    *,
    close: float | None = None,
) -> Axes:
    """Draw a measure by the hazard ratio of those who left early.

    Parameters
    ----------
    table : pandas.DataFrame
        The `table` of `bayescal.leaving_sensitivity`.
    name : {"tce", "observed_expected"}
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    close : float, optional
        Where to draw a line, such as the error that is close enough to none.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If it is no such table, or has no such measure.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> rng = np.random.default_rng(2)
    >>> risk = rng.uniform(0.05, 0.6, 400)
    >>> event, left = -rng.exponential(1, 400) / np.log1p(-risk), rng.uniform(0, 2, 400)
    >>> outcome = bc.Survival(np.minimum(event, left), event <= left)
    >>> post = bc.fit(outcome, risk, horizon=1, curve="logistic", draws=400, random_state=1)
    >>> told = bc.leaving_sensitivity(post)
    >>> bc.plots.leaving(told.table, close=told.close).get_ylabel()
    'True calibration error'
    """
    name = check_choice(name, LEAVING_NAMES, "name")
    line = None if close is None else as_number(close, "close")
    if not {"hazard_ratio", name} <= set(getattr(table, "columns", ())):
        raise InputError("table must be that of a bayescal.leaving_sensitivity.")
    shown = table.sort_values("hazard_ratio")
    ratio = shown["hazard_ratio"].to_numpy()
    middle, lower, upper = (shown[name + end].to_numpy() for end in ("", "_lower", "_upper"))
    axes = style.as_axes(ax, 5.4, 3.4)
    axes.fill_between(ratio, lower, upper, color=style.CURVE, alpha=0.25, lw=0, label="Interval")
    axes.plot(ratio, middle, color=style.CURVE, lw=2, marker="o", ms=4, label="Estimate")
    axes.axvline(1, color=style.DIAGONAL, lw=0.8, ls=":")
    if line is not None:
        axes.axhline(line, color=style.DIAGONAL, lw=0.8, ls="--")
    axes.set_xscale("log")
    ticks = np.unique(np.round(ratio, 2))
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    if name == "tce":
        axes.set_ylim(bottom=0)
    axes.set_xlabel("Hazard of those who left over that of others with the same score")
    axes.set_ylabel(LEAVING_NAMES[name])
    axes.spines[["top", "right"]].set_visible(False)
    return axes
