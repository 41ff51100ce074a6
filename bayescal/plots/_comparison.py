"""Families of curves compared: how probable each is, and how well each predicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import check_type
from bayescal.inference import CurveComparison
from bayescal.plots import style
from bayescal.plots._legend import legend_beneath
from bayescal.plots.text import chance

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["comparison"]

ERRORS = 2
HALF = 0.19


def comparison(cmp: CurveComparison, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw a comparison of families of curves.

    Left: the posterior probability of each family, with its prior probability below. Right: how
    much better it predicts than `identity`, which uses the scores unchanged:
    the difference in expected log predictive density, by leave-one-out, plus and minus two
    standard errors.

    Parameters
    ----------
    cmp : CurveComparison
        From `bayescal.compare`.
    axes : two matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    list of matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `cmp` is not a comparison, or there are not two axes.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC, Statistics and Computing 27.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> left, right = bc.plots.comparison(bc.compare(y_true, y_prob, random_state=1))
    >>> left.get_xlabel()
    'Probability'
    """
    check_type(cmp, CurveComparison, "cmp", "Pass what bayescal.compare returns.")
    table = cmp.table
    panels = _new_panels(len(table)) if axes is None else style.as_panels(axes, 2, "panels")
    _draw_probabilities(panels[0], table)
    _draw_differences(panels[1], table)
    for ax in panels:
        ax.set_yticks(range(len(table)), [str(name) for name in table.index])
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(table) - 0.5, -0.5)
        ax.spines[["top", "right"]].set_visible(False)
    if axes is None:
        panels[1].tick_params(axis="y", labelleft=False)
    return panels


def _draw_probabilities(ax: Axes, table: pd.DataFrame) -> None:
    row = np.arange(len(table))
    posterior, prior = table["posterior_prob"].tolist(), table["prior"].tolist()
    ax.barh(row - HALF, posterior, 2 * HALF, color=style.CURVE, label="Posterior")
    ax.barh(
        row + HALF,
        prior,
        2 * HALF,
        color="white",
        ec=style.NON_EVENTS,
        hatch="////",
        label="Prior",
    )
    for at, (probability, before) in enumerate(zip(posterior, prior, strict=True)):
        shown = chance(probability) if before else "not in the average"
        x, y = (probability + 0.02, at - HALF) if before else (0.02, at)
        ax.text(x, y, shown, va="center", fontsize="medium", color=style.INK)
    ax.set_xlim(0, 1.12)
    ax.set_xticks(np.linspace(0, 1, 5))
    ax.set_xlabel("Probability")
    legend_beneath(ax, columns=2, look=style.LEGEND)
    identity = list(table.index).index("identity")
    ax.set_title(
        f"Exactly calibrated: {chance(posterior[identity])},\nfrom a prior of {prior[identity]:g}",
        loc="left",
        fontsize="medium",
    )


def _draw_differences(ax: Axes, table: pd.DataFrame) -> None:
    row = np.arange(len(table))
    difference, error = table["elpd_diff"].to_numpy(), table["elpd_diff_error"].to_numpy()
    ax.axvline(0, color=style.DIAGONAL, lw=1, ls="--")
    ax.hlines(
        row, difference - ERRORS * error, difference + ERRORS * error, color=style.CURVE, lw=2
    )
    ax.plot(difference, row, "o", color="white", mec=style.CURVE, ms=6)
    ax.set_xlabel("Log predictive density, less\nthat of identity (bars: 2 SE)")
    ax.set_title(_verdict(table), loc="left", fontsize="medium")


def _verdict(table: pd.DataFrame) -> str:
    best = str(table["elpd_diff"].idxmax())
    difference, error = float(table["elpd_diff"][best]), float(table["elpd_diff_error"][best])
    if difference <= ERRORS * error:
        return "No curve clearly predicts\nbetter than identity"
    return f"{best} predicts best:\n+{difference:.1f} (SE {error:.1f}) over identity"


def _new_panels(rows: int) -> list[Axes]:
    import matplotlib.pyplot as plt

    _, panels = plt.subplots(
        1, 2, figsize=(6.8, 1.7 + 0.42 * rows), sharey=True, layout="constrained"
    )
    return list(panels)
