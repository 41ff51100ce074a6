"""The figures of the report, each with words for whoever cannot see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from bayescal import plots
from bayescal._base.arrays import Floats
from bayescal._base.text import chance, percent, rounded, shortened
from bayescal.assessment.html._measures import curve_at, round_scores
from bayescal.assessment.html._svg import Zone, drawing, inline_svg
from bayescal.assessment.words import headline, numbers
from bayescal.plots import _style
from bayescal.plots.text import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.assessment import Assessment

__all__ = ["error_figure", "groups_figure", "reliability_figure"]

ZONES = 48
MOST_GROUPS = 6


def reliability_figure(a: Assessment) -> Markup:
    """The reliability diagram; pointing at it reads off the curve."""
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(5.2, 5.35), layout="constrained")
        axes = a.plot(figure.subplots(), ci_probs={0.5, a.ci_prob}, on_diagonal=True)
        axes.set_title("", loc="left")
        figure.draw_without_rendering()
        return inline_svg(
            figure,
            "reliability",
            "Reliability diagram",
            _curve_in_words(a),
            _zones(a, axes, 72 * figure.get_figheight()),
        )


def error_figure(a: Assessment) -> Markup:
    """The posterior of the true calibration error."""
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        axes = plots.tce(a.posterior, figure.subplots(), close=a.close, ci_prob=a.ci_prob)
        axes.set_title("", loc="left")
        said = (
            f"Histogram of posterior draws. Exact calibration has probability "
            f"{chance(a.prob_calibrated)}. {headline(a)}"
        )
        return inline_svg(figure, "error", "Posterior of the true calibration error", said)


def groups_figure(a: Assessment) -> Markup | None:
    """A curve for each group; None if they are too many to tell apart."""
    from matplotlib.figure import Figure

    if not 2 <= len(a.groups) <= MOST_GROUPS:
        return None
    with drawing():
        figure = Figure(figsize=(5.2, 5.6 + 0.2 * len(a.groups)), layout="constrained")
        drawn = figure.subplots()
        axes = plots.reliability(a.groups, drawn, ci_probs=(a.ci_prob,), legend=False)
        axes.set_title("", loc="left")
        lines, _ = axes.get_legend_handles_labels()
        names = ["Ideal", *map(label, a.groups)]
        look = _style.MODEL_LEGEND | {"frameon": False}
        figure.legend(lines, names, loc="outside lower center", **look)
        said = [
            f"{shortened(name)}: true calibration error "
            f"{numbers(post.summary(a.ci_prob).loc['tce'])[0]}."
            for name, post in a.groups.items()
        ]
        return inline_svg(figure, "by-group", "Calibration curves by group", " ".join(said))


def _zones(a: Assessment, axes: Axes, height: float) -> list[Zone]:
    """Upright strips over the range of the curve, which say what it is there."""
    score = a.posterior.data.score
    low, high = axes.get_xlim()
    edges = np.linspace(max(low, score.min()), min(high, score.max()), ZONES + 1)
    if edges[0] == edges[-1]:
        return []
    middle = (edges[:-1] + edges[1:]) / 2
    corners = axes.transData.transform(np.column_stack([edges, np.full(edges.size, low)]))
    top = float(axes.transData.transform((low, axes.get_ylim()[1]))[1])
    bottom = float(corners[0, 1])
    strips = zip(corners[:-1, 0], np.diff(corners[:, 0]), _readings(a, middle), strict=True)
    return [
        Zone(float(x), height - top, float(width), top - bottom, says) for x, width, says in strips
    ]


def _readings(a: Assessment, score: Floats) -> list[str]:
    said = []
    for at, (mean, lower, upper) in zip(score, curve_at(a, score), strict=True):
        middle, low, high = rounded((mean, lower, upper), lower, upper)
        said.append(f"Predicted {at:.3g}: actual {middle} ({low} to {high})")
    return said


def _curve_in_words(a: Assessment) -> str:
    at = round_scores(a.posterior.data.score)
    few = at[np.unique(np.linspace(0, at.size - 1, 5).round().astype(int))]
    return (
        "Probability of the event against predicted probability: the posterior mean of the "
        f"calibration curve with its 50 % and {percent(a.ci_prob)} bands, observed proportions in "
        f"bins, and the diagonal of perfect calibration. {'; '.join(_readings(a, few))}."
    )
