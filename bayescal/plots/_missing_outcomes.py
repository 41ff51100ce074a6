"""The error of all cases, by how far missing outcomes are from missing at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import as_level, check_type
from bayescal.plots import style
from bayescal.plots.text import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from bayescal.fitting.unknown import KnownFit

__all__ = ["missing_outcomes"]

DELTAS_DRAWN = tuple(np.linspace(-1.5, 1.5, 13).tolist())
BAND = 0.25


def missing_outcomes(
    result: KnownFit,
    close: float,
    ax: Axes | None = None,
    *,
    deltas: ArrayLike = DELTAS_DRAWN,
    ci_prob: float = 0.95,
) -> Axes:
    """Draw the calibration error of all cases, if outcomes are not missing at random.

    Parameters
    ----------
    result : KnownFit
        As `bayescal.fit_known` gives it.
    close : float in (0, 1)
        The largest error that is accepted: a dotted line. Points are filled where the verdict is
        that of outcomes missing at random.
    ax : matplotlib.axes.Axes, optional
        By default on a new figure.
    deltas : array-like of shape (k,)
        By how much the log-odds of missing outcomes differ from those of the known.
    ci_prob : float in (0, 1)

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `close` is outside (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> known = np.where(np.arange(300) % 3 > 0, y_true, np.nan)
    >>> result = bc.fit_known(known, y_prob, random_state=1)
    >>> bc.plots.missing_outcomes(result, 0.05, deltas=[-1, 0, 1]).get_ylabel()
    'TCE of all cases'
    """
    from bayescal.fitting.unknown import KnownFit

    check_type(result, KnownFit, "result", "Pass what bayescal.fit_known returns.")
    limit, level = as_level(close, "close"), as_level(ci_prob)
    table = result.verdicts(limit, deltas, level).sort_index()
    at_random = result.verdicts(limit, [0.0], level)["verdict"].iloc[0]
    axes = style.as_axes(ax, 6.4, 3.6)
    at, same = table.index.to_numpy(), (table["verdict"] == at_random).to_numpy()
    axes.axhline(limit, color=style.EVENTS, lw=1.2, ls=":", zorder=0)
    axes.axvline(0, color=style.DIAGONAL, lw=1, ls="--", zorder=0)
    axes.fill_between(at, table["lower"], table["upper"], color=style.CURVE, alpha=BAND, lw=0)
    axes.plot(at, table["estimate"], color=style.CURVE, lw=1.5)
    estimate = table["estimate"].to_numpy()
    axes.plot(at[same], estimate[same], "o", color=style.CURVE, ms=5)
    axes.plot(at[~same], estimate[~same], "o", mfc="white", mec=style.CURVE, ms=5)
    axes.set_xlabel("Delta: log-odds of missing outcomes less those of the known")
    axes.set_ylabel("TCE of all cases")
    axes.set_title(
        f"Estimate and {percent(level)} interval; filled: {at_random}, as if missing at random",
        loc="left",
        fontsize="small",
    )
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    return axes
