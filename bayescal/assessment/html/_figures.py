"""The figures of a report, each with words for whoever cannot see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from markupsafe import Markup

from bayescal import plots
from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import points_words
from bayescal.assessment.html._svg import THEMED, Zone, drawing, fit_height, inline_svg, lay_out
from bayescal.assessment.tables.decisions import benefit_table
from bayescal.assessment.tables.groups import groups_table
from bayescal.assessment.tables.measures import SHOWN_SCORES, round_scores
from bayescal.assessment.text.periods import period_sentences
from bayescal.assessment.text.sites import site_sentences
from bayescal.assessment.text.subgroups import subgroup_sentences
from bayescal.assessment.verdict.words import headline, of_draws
from bayescal.assessment.words import curve_rows
from bayescal.core.arrays import Floats
from bayescal.core.text import percent, shortened, told_apart
from bayescal.multilevel.compared import subgroups_of
from bayescal.plots.histogram import histogram
from bayescal.plots.style import DIAGONAL, EVENTS
from bayescal.plots.text import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Drawn",
    "benefit_figure",
    "calibration_figure",
    "card_figure",
    "error_figure",
    "groups_figure",
    "periods_figure",
    "reliability_figure",
    "risks_figure",
    "sites_figure",
    "subgroups_figure",
]

ZONES = 48
MOST_GROUPS_DRAWN = 6
MOST_SITES = 60
MOST_SUBGROUPS = 80
LONGEST_GROUP = 24
RANGE_STEPS = 61
DOTS_PER_INCH = 200


class Drawn(NamedTuple):
    """A figure, its words, and what is said where it is pointed at.

    Attributes
    ----------
    name : str
        Unique in a report.
    title, words : str
        What it is, and what it shows.
    """

    figure: Figure
    name: str
    title: str
    words: str
    zones: Sequence[Zone] = ()

    def svg(self) -> Markup:
        """The figure for a page."""
        with drawing():
            return inline_svg(self.figure, self.name, self.title, self.words, self.zones)

    def save(self, file: BinaryIO) -> None:
        """The figure as a PNG picture."""
        with drawing():
            self.figure.savefig(file, format="png", dpi=DOTS_PER_INCH, facecolor="white")


def reliability_figure(f: Findings) -> Drawn:
    """The reliability diagram; pointing at it reads off the curve."""
    return _reliability(f, "reliability", has_zones=True)


def card_figure(f: Findings) -> Markup:
    """The reliability diagram with its own colours, for a notebook, which has not the page's."""
    colours = {name: code for code, name in THEMED.items()} | {"var(--ink)": "currentColor"}
    drawn = str(_reliability(f, f"card-{f.sha256[:12]}-{f.seed}", has_zones=False).svg())
    for name, code in colours.items():
        drawn = drawn.replace(name, code)
    return Markup('<div style="max-width:26em">{}</div>').format(Markup(drawn))


def _reliability(f: Findings, name: str, *, has_zones: bool) -> Drawn:
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(5.4, 5.8), layout="constrained")
        axes = plots.reliability(f.posterior, figure.subplots(), ci_probs=sorted({0.5, f.ci_prob}))
        axes.set_title("", loc="left")
        lay_out(figure)
        return Drawn(
            figure,
            name,
            "Reliability diagram",
            _curve_in_words(f),
            _zones(f, axes, 72 * figure.get_figheight()) if has_zones else (),
        )


def calibration_figure(f: Findings) -> Drawn:
    """The calibration plot as one of the essentials: the curve and its band alone."""
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(5.4, 5.2), layout="constrained")
        options: dict[str, Any] = {"ci_probs": (f.ci_prob,), "n_bins": None, "legend": False}
        axes = plots.reliability(f.posterior, figure.subplots(), **options)
        axes.set_title("", loc="left")
        at = round_scores(f.posterior.data.score, SHOWN_SCORES)
        told = f"The posterior mean of the curve with its {percent(f.ci_prob)} band."
        words = f"{told} {'; '.join(_readings(f, at))}."
        return Drawn(figure, "calibration", "Smoothed calibration plot", words)


def error_figure(f: Findings) -> Drawn:
    """The posterior of the true calibration error."""
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(5.4, 3.0), layout="constrained")
        numbers = f.error["estimate"], f.error["lower"], f.error["upper"]
        histogram(
            *(f.error_draws, "tce", numbers, f.ci_prob, (0.0, f.close), figure.subplots()),
            has_exact=f.posterior.prob_calibrated is not None,
            legend=True,
        )
        description = f"Histogram of the draws of the error. {of_draws(f)} {headline(f)}"
        return Drawn(figure, "error", "Posterior of the true calibration error", description)


def benefit_figure(f: Findings, name: str) -> Drawn:
    """The decision curve over `decision_range`, with the thresholds that were given."""
    from matplotlib.figure import Figure

    over = f.decision_range
    at = np.linspace(over.lowest, over.highest, RANGE_STEPS)
    with drawing():
        figure = Figure(figsize=(5.4, 5.2), layout="constrained")
        posts = {name: f.posterior}
        axes = plots.net_benefit(posts, at, ax=figure.subplots(), ci_prob=f.ci_prob)
        for threshold in f.thresholds:
            axes.axvline(threshold, color=DIAGONAL, lw=1, ls="--")
        axes.set_xlim(over.lowest, over.highest)
        axes.set_title("", loc="left")
        words = [f"Thresholds from {over.lowest:g} to {over.highest:g}."]
        if f.thresholds:
            words += [
                f"Treating from a risk of {threshold} on: {cells['model']} per 1000 patients."
                for threshold, cells in benefit_table(f).texts().items()
            ]
        return Drawn(figure, "benefit-figure", "Decision curve", " ".join(words))


def risks_figure(f: Findings) -> Drawn | None:
    """The risks of the cases with the event and of the others; None of times to an event."""
    from matplotlib.figure import Figure

    if f.posterior.problem.of_times:
        return None
    with drawing():
        figure = Figure(figsize=(5.4, 5.2), layout="constrained")
        axes = figure.subplots(2, 1, sharex=True)
        plots.risk_distribution(f.posterior, axes, thresholds=f.thresholds)
        return Drawn(figure, "risks-figure", "Predicted risks by outcome", _risks_in_words(f))


def _risks_in_words(f: Findings) -> str:
    """Median and quartiles of the risks, by outcome."""
    data = f.posterior.problem.unclustered
    told = []
    for name, cases in (("with", data.hits), ("without", data.trials - data.hits)):
        total = np.cumsum(cases)
        if total[-1] > 0:
            at = np.searchsorted(total, np.array([0.25, 0.5, 0.75]) * total[-1])
            low, middle, high = data.score[np.minimum(at, data.score.size - 1)]
            told.append(
                f"Of the cases {name} the event, half have a risk below {middle:.3g}, a quarter "
                f"below {low:.3g} and a quarter above {high:.3g}."
            )
    return " ".join(told)


def groups_figure(f: Findings) -> Drawn:
    """A curve for each group; of many groups, the error of each with its interval."""
    sentences = " ".join(
        f"{shortened(name)}: true calibration error {cells['tce']}."
        for name, cells in groups_table(f).texts().items()
    )
    few = 2 <= len(f.groups) <= MOST_GROUPS_DRAWN
    drawn = _group_curves(f) if few else _group_errors(f)
    title = "Calibration curves by group" if few else "True calibration error by group"
    return Drawn(drawn, "by-group", title, sentences)


def sites_figure(f: Findings) -> Drawn | None:
    """A forest of the groups as sites, with the average group and a new one; None of too many."""
    from matplotlib.figure import Figure

    if f.sites is None or len(f.sites.labels) > MOST_SITES:
        return None
    with drawing():
        figure = Figure(figsize=(6.6, 1.3 + 0.25 * len(f.sites.labels)), layout="constrained")
        (axes,) = plots.forest(f.sites, figure.subplots(), ci_prob=f.ci_prob)
        axes.set_title("", loc="left")
        title = "Observed / expected events of each group, of the average group and of a new one"
        return Drawn(figure, "sites-figure", title, " ".join(site_sentences(f)))


def periods_figure(f: Findings) -> Drawn | None:
    """O/E over the periods, and when the curve changed most; None without periods."""
    from matplotlib.figure import Figure

    if f.periods is None:
        return None
    with drawing():
        figure = Figure(figsize=(6.6, 4.6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        for axes in plots.drift(f.periods, axes=(above, below), ci_prob=f.ci_prob):
            axes.set_title("", loc="left")
        above.set_ylabel("O/E")
        below.set_ylabel("P(largest)")
        title = "Observed / expected events of each period, and when the curve changed most"
        return Drawn(figure, "periods-figure", title, " ".join(period_sentences(f)))


def subgroups_figure(f: Findings) -> Drawn | None:
    """A forest of the levels of every factor; None without factors, or of too many levels."""
    from matplotlib.figure import Figure

    if f.subgroups is None or f.crossed is None:
        return None
    number = len(subgroups_of(f.crossed, "levels"))
    if number > MOST_SUBGROUPS:
        return None
    with drawing():
        height = 1.0 + 0.27 * (number + 1.7 * len(f.crossed.names))
        figure = Figure(figsize=(6.6, height), layout="constrained")
        (axes,) = plots.forest(f.subgroups, figure.subplots(), ci_prob=f.ci_prob)
        axes.set_title("", loc="left")
        title = "Observed / expected events of each level of each factor"
        return Drawn(figure, "subgroups-figure", title, " ".join(subgroup_sentences(f)))


def _group_curves(f: Findings) -> Figure:
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=(5.4, 7.2 + 0.2 * len(f.groups)), layout="constrained")
        names, _ = told_apart(f.groups, LONGEST_GROUP)
        posts = {names[name]: post for name, post in f.groups.items()}
        axes = plots.reliability(posts, figure.subplots(), ci_probs=(f.ci_prob,))
        axes.set_title("", loc="left")
        fit_height(figure)
        return figure


def _group_errors(f: Findings) -> Figure:
    from matplotlib.figure import Figure

    parts = ("estimate", "lower", "upper")
    table = f.by_group[[f"tce_{part}" for part in parts]].set_axis(parts, axis=1)
    names, _ = told_apart(table.index, LONGEST_GROUP)
    table.index = [label(names[str(name)]) for name in table.index]
    with drawing():
        figure = Figure(figsize=(5.4, 0.9 + 0.23 * len(table)), layout="constrained")
        (axes,) = plots.forest(table, figure.subplots(), ci_prob=f.ci_prob)
        axes.axvline(f.close, color=EVENTS, lw=1, ls=":")
        axes.set_xlabel("True calibration error")
        return figure


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
        f"calibration curve with its 50 % and {percent(f.ci_prob)} bands, "
        f"{points_words(f.posterior.data)}, and the diagonal of perfect calibration. "
        f"{'; '.join(_readings(f, few))}."
    )
