"""The risk of one patient: here, elsewhere and later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayescal.core.errors import InputError, as_level
from bayescal.plots import style
from bayescal.plots.text import chance, label, percent
from bayescal.posterior.posterior import as_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.multilevel.posterior import MultilevelPosterior
    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["risks"]


def risks(
    post: CalibrationPosterior | MultilevelPosterior,
    y_prob: float,
    ax: Axes | None = None,
    *,
    threshold: float | None = None,
    at: Any = None,
    ci_prob: float = 0.95,
) -> Axes:
    """Draw the actual risk of one patient, with an interval for each curve that may hold.

    Parameters
    ----------
    post : CalibrationPosterior or MultilevelPosterior
        Of several curves, a row each: this hospital, the average one and a new one; now and the
        next period.
    y_prob : float in [0, 1]
        The model's probability of the patient: the dashed line.
    ax : matplotlib.axes.Axes, optional
        By default on a new figure.
    threshold : float in (0, 1), optional
        The risk from which a patient is treated: a dotted line. Beside each row stands the
        probability that the actual risk is on its other side than the score.
    at : str or mapping of str to str, optional
        Where the patient is, as of `MultilevelPosterior.risks`.
    ci_prob : float in (0, 1)

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the score is not one number in [0, 1], or as `MultilevelPosterior.risks`.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> bc.plots.risks(post, 0.25, threshold=0.2).get_xlabel()
    'Risk'
    """
    from bayescal.multilevel.posterior import MultilevelPosterior

    limit = None if threshold is None else as_level(threshold, "threshold")
    thresholds = () if limit is None else (limit,)
    if isinstance(post, MultilevelPosterior):
        table = post.risks(y_prob, thresholds, ci_prob, at=at)
        names = table.index.get_level_values("curve").tolist()
    elif at is not None:
        raise InputError("at= is of several curves, and the posterior has one. Leave it out.")
    else:
        table = as_posterior(post).risks(y_prob, thresholds, ci_prob)
        names = ["These patients"] * len(table)
    if len(names) != len(set(names)):
        raise InputError(f"y_prob must be the score of one patient, and holds {len(table)}.")
    axes = style.as_axes(ax, 6.4, 1.2 + 0.4 * len(names))
    axes.axvline(float(table["score"].iloc[0]), color=style.DIAGONAL, lw=1, ls="--", zorder=0)
    if limit is not None:
        axes.axvline(limit, color=style.EVENTS, lw=1.2, ls=":", zorder=0)
    for height, (name, row) in enumerate(zip(names, table.to_dict("records"), strict=True)):
        axes.plot([row["lower"], row["upper"]], [height, height], color=style.CURVE, lw=2)
        axes.plot(row["risk"], height, "o", color=style.CURVE, ms=5)
        if limit is not None:
            flips = f"P(other decision) {chance(row[f'flips@{limit:g}'])}"
            axes.annotate(
                flips, (1.01, height), xycoords=axes.get_yaxis_transform(), va="center", fontsize=8
            )
        names[height] = label(str(name))
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("Risk")
    axes.set_title(
        f"Mean and {percent(ci_prob)} interval; dashed: the score", loc="left", fontsize="small"
    )
    axes.spines[["top", "right"]].set_visible(False)
    return axes
