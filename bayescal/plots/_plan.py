"""Width of the interval, and probability of the goal, against the number of patients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.text import count, shortened
from bayescal.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plan"]

PLAN_COLUMNS = ("n", "studies", "width", "width_assured", "reached", "reached_error", "closed_form")
PLAN_HALF = 1.96
PLAN_CONCLUSIONS = {
    "close enough": "close enough",
    "miscalibrated": "miscalibrated",
    "update": "an update is recommended",
}


def plan(result: Any, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
    """Draw how width and assurance depend on the number of patients.

    On the left the mean width of the interval in simulated studies, and the width that a share
    `assurance` of them keeps to, beside the width by Riley's closed form where there is one. On
    the right the share of the studies that reach the goal, with its 95 % Monte Carlo interval. The
    vertical line is the planned size.

    Parameters
    ----------
    result : Plan, or pandas.DataFrame
        From `bayescal.plan`, or its `table`.
    axes : matplotlib.axes.Axes or sequence of them, optional
        Where to draw, one a panel; by default on a new figure. A plan for a conclusion, or for a
        mean width, has one panel.

    Returns
    -------
    list of matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `result` is not from `bayescal.plan`, or there are not as many axes as panels.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.simulate.scores(prevalence=0.2, c_statistic=0.75)
    >>> result = bc.plan(
    ...     width=0.3, of="calibration_slope", truth="clinical", scores=scores, random_state=1
    ... )
    >>> [panel.get_xlabel() for panel in bc.plots.plan(result)]
    ['Patients', 'Patients']
    """
    table = _as_table(result)
    draw = [_draw_widths] if table.attrs["width"] is not None else []
    if table.attrs["assurance"] is not None:
        draw = [*draw, _draw_assurance]
    panels = _new_panels(len(draw)) if axes is None else style.as_panels(axes, len(draw), "panels")
    for ax, panel in zip(panels, draw, strict=True):
        panel(ax, table)
        _finish(ax, table)
    return panels


def _draw_widths(ax: Axes, table: pd.DataFrame) -> None:
    attrs = table.attrs
    if table["closed_form"].notna().all():
        ax.plot(
            table["n"], table["closed_form"], color=style.DIAGONAL, ls=(0, (5, 2)), lw=1.2,
            label="Riley's closed form",
        )  # fmt: skip
    ax.plot(table["n"], table["width"], "o-", color=style.CURVE, ms=4, lw=1.4, label="Mean width")
    if attrs["assurance"] is not None:
        ax.plot(
            table["n"], table["width_assured"], "D-", color=style.EVENTS, ms=4, lw=1.4,
            label=f"Width kept to by {100 * attrs['assurance']:.3g} % of studies",
        )  # fmt: skip
    ax.axhline(attrs["width"], color=style.INK, lw=0.8, ls=":")
    ax.set_yscale("log")
    shown = [*table["width"], *table["width_assured"], *table["closed_form"], attrs["width"]]
    finite = [value for value in shown if np.isfinite(value)]
    ax.set_ylim(0.85 * min(finite), 1.2 * max(finite))
    _plain_ticks(ax.yaxis, 0.85 * min(finite), 1.2 * max(finite))
    ax.set_ylabel("Width of the interval")
    _title(ax, attrs["interval"])
    ax.legend(loc="upper right", **style.SMALL_LEGEND)


def _draw_assurance(ax: Axes, table: pd.DataFrame) -> None:
    attrs = table.attrs
    error = np.minimum(PLAN_HALF * table["reached_error"], 1.0)
    low, high = np.maximum(table["reached"] - error, 0), np.minimum(table["reached"] + error, 1)
    ax.vlines(table["n"], low, high, color=style.CURVE, lw=1.2)
    ax.plot(table["n"], table["reached"], "o-", color=style.CURVE, ms=4, lw=1.4)
    ax.axhline(attrs["assurance"], color=style.INK, lw=0.8, ls=":")
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("Share of studies")
    if attrs["conclude"] is None:
        _title(ax, f"With an interval no wider than {attrs['width']:g}")
    else:
        _title(ax, f"Concluding: {PLAN_CONCLUSIONS[attrs['conclude']]}")


def _finish(ax: Axes, table: pd.DataFrame) -> None:
    attrs = table.attrs
    n, error = attrs["n"], PLAN_HALF * attrs["monte_carlo_error"]
    ax.axvspan(max(n - error, 1), n + error, color=style.INK, alpha=0.12, lw=0)
    ax.axvline(n, color=style.INK, lw=1)
    ax.set_xscale("log")
    low, high = min(table["n"].min(), n), max(table["n"].max(), n)
    ax.set_xlim(low / 1.15, high * 1.15)
    _plain_ticks(ax.xaxis, low, high)
    ax.set_xlabel("Patients")
    ax.annotate(
        count(n), (n, 0), (3, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
        fontsize="x-small", color=style.INK,
    )  # fmt: skip
    ax.spines[["top", "right"]].set_visible(False)


def _plain_ticks(axis: Any, low: float, high: float) -> None:
    """Ticks of a logarithmic axis at 1, 2 and 5, as plain numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 1.5, 2, 3, 5, 7)]
    inside = [tick for tick in ticks if low <= tick <= high]
    axis.set_major_locator(FixedLocator(inside))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def _title(ax: Axes, text: str) -> None:
    from textwrap import fill

    ax.set_title(fill(text[0].upper() + text[1:], 44), loc="left", fontsize="small")


def _as_table(result: Any) -> pd.DataFrame:
    import pandas as pd

    table: pd.DataFrame = getattr(result, "table", result)
    is_plan = isinstance(table, pd.DataFrame) and {*PLAN_COLUMNS} <= {*map(str, table.columns)}
    if not is_plan or "monte_carlo_error" not in table.attrs:
        raise InputError(
            f"result must be what bayescal.plan returns, or its table, got "
            f"{shortened(repr(result))}."
        )
    return table


def _new_panels(size: int) -> list[Axes]:
    import matplotlib.pyplot as plt

    _, grid = plt.subplots(1, size, figsize=(4.4 * size, 3.5), squeeze=False, layout="constrained")
    return list(grid.flat)
