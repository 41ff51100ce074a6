"""Smoothers of the outcomes, as thin lines to hold a posterior against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_items, check_choice
from bayescal.estimators.smooth import smooth_ece_curve
from bayescal.estimators.smoothers import flexible_curve
from bayescal.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.data.table import CalibrationData

__all__ = ["as_overlays", "draw_overlays", "smoother_at"]

NAMES = {
    "smooth": "SmoothECE's curve",
    "isotonic": "Isotonic (CORP)",
    "loess": "Loess",
    "lowess": "Lowess",
    "rcs": "Restricted cubic spline",
    "logistic": "Logistic recalibration",
    "beta": "Beta recalibration",
}


def as_overlays(overlay: str | Sequence[str]) -> list[str]:
    """Names of smoothers, checked: known, and no more than colours can tell apart."""
    names = [overlay] if isinstance(overlay, str) else as_items(overlay, "overlay")
    if len(names) > len(style.OVERLAYS):
        raise InputError(
            f"overlay names {len(names)} smoothers, but {len(style.OVERLAYS)} are as many as can "
            "be told apart. Choose among them."
        )
    return [check_choice(name, NAMES, "overlay") for name in names]


def smoother_at(data: CalibrationData, name: str, score: Floats) -> Floats:
    """A smoother of the outcomes at these scores.

    Parameters
    ----------
    name : str
        "smooth", or a smoother of `bayescal.estimators.flexible_curve`.
    score : ndarray of shape (points,)

    Returns
    -------
    ndarray of shape (points,)
    """
    if name == "smooth":
        return smooth_ece_curve(data, grid=score).outcome
    return flexible_curve(data, scores=score, smoother=name)


def draw_overlays(ax: Axes, lines: dict[str, Floats], score: Floats) -> None:
    """Draw them, each labelled."""
    for line, (name, values) in zip(style.OVERLAYS, lines.items(), strict=False):
        ax.plot(score, values, color=line.color, ls=line.ls, lw=1.2, label=NAMES[name])
