"""The figures of the report, each with words for whoever cannot see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from bayescal import plots
from bayescal._base.arrays import Floats
from bayescal._base.text import chance, percent, shortened
from bayescal.assessment.findings import Findings
from bayescal.assessment.html._measures import round_scores
from bayescal.assessment.html._svg import Zone, drawing, inline_svg, lay_out
from bayescal.assessment.words import curve_rows, headline, numbers
from bayescal.plots.style import MODEL_LEGEND
from bayescal.plots.text import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["error_figure", "groups_figure", "reliability_figure"]

ZONES = 48
MOST_GROUPS_DRAWN = 6


def reliability_figure(f: Findings) -> Markup:
    """The reliability diagram; pointing at it reads off the curve."""
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(5.2, 5.35), layout="constrained")
        axes = plots.reliability(
            f.posterior, figure.subplots(), ci_probs=sorted({0.5, f.ci_prob}), on_diagonal=True
        )
        axes.set_title("", loc="left")
        lay_out(figure)
        return inline_svg(
            figure,
            "reliability",
            "Reliability diagram",
            _curve_in_words(f),
            _zones(f, axes, 72 * figure.get_figheight()),
        )


def error_figure(f: Findings) -> Markup:
    """The posterior of the true calibration error."""
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        axes = plots.tce(f.posterior, figure.subplots(), close=f.close, ci_prob=f.ci_prob)
        axes.set_title("", loc="left")
        description = (
            f"Histogram of posterior draws. Exact calibration has probability "
            f"{chance(f.prob_calibrated)}. {headline(f)}"
        )
        return inline_svg(figure, "error", "Posterior of the true calibration error", description)


def groups_figure(f: Findings) -> Markup | None:
    """A curve for each group; None if they are too many to tell apart."""
    from matplotlib.figure import Figure

    if not 2 <= len(f.groups) <= MOST_GROUPS_DRAWN:
        return None
    with drawing():
        figure = Figure(figsize=(5.2, 5.6 + 0.2 * len(f.groups)), layout="constrained")
        drawn = figure.subplots()
        axes = plots.reliability(f.groups, drawn, ci_probs=(f.ci_prob,), legend=False)
        axes.set_title("", loc="left")
        lines, _ = axes.get_legend_handles_labels()
        names = ["Ideal", *map(label, f.groups)]
        look = MODEL_LEGEND | {"frameon": False}
        figure.legend(lines, names, loc="outside lower center", **look)
        sentences = [
            f"{shortened(name)}: true calibration error "
            f"{numbers(post.summary(f.ci_prob).loc['tce'])[0]}."
            for name, post in f.groups.items()
        ]
        return inline_svg(figure, "by-group", "Calibration curves by group", " ".join(sentences))


def _zones(f: Findings, axes: Axes, height: float) -> list[Zone]:
    """Upright strips over the range of the curve, which say what it is there."""
    score = f.posterior.data.score
    low, high = axes.get_xlim()
    edges = np.linspace(max(low, score.min()), min(high, score.max()), ZONES + 1)
    if edges[0] == edges[-1]:
        return []
    middle = (edges[:-1] + edges[1:]) / 2
    corners = axes.transData.transform(np.column_stack([edges, np.full(edges.size, low)]))
    top = float(axes.transData.transform((low, axes.get_ylim()[1]))[1])
    bottom = float(corners[0, 1])
    strips = zip(corners[:-1, 0], np.diff(corners[:, 0]), _readings(f, middle), strict=True)
    return [
        Zone(float(x), height - top, float(width), top - bottom, says) for x, width, says in strips
    ]


def _readings(f: Findings, score: Floats) -> list[str]:
    """The curve at some scores, a clause each."""
    return [
        f"Predicted {at:.3g}: actual {middle} ({low} to {high})"
        for at, (middle, low, high) in zip(score, curve_rows(f, score), strict=True)
    ]


def _curve_in_words(f: Findings) -> str:
    at = round_scores(f.posterior.data.score)
    few = at[np.unique(np.linspace(0, at.size - 1, 5).round().astype(int))]
    return (
        "Probability of the event against predicted probability: the posterior mean of the "
        f"calibration curve with its 50 % and {percent(f.ci_prob)} bands, observed proportions in "
        f"bins, and the diagonal of perfect calibration. {'; '.join(_readings(f, few))}."
    )
