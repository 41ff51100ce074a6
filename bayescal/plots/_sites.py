"""Sites in a forest: each site's estimate and interval, the average site and a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal.core.errors import InputError, as_level, check_choice
from bayescal.multilevel.posterior import MultilevelPosterior, as_multilevel
from bayescal.multilevel.rows import RATIO_AND_SLOPE
from bayescal.plots import style
from bayescal.plots._names import axis_label, ideal
from bayescal.plots.text import label, minus, percent, rounded
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["as_sites", "sites"]

MOST_SITES = 60
POOLED = ("Average site", "New site")


class SiteRow(NamedTuple):
    """One line of the forest.

    Attributes
    ----------
    raw : float
        The estimate from the site alone; not a number where there is none.
    cases : float
        Zero where they are not known.
    unlike : bool
        Whether it is probably unlike the others.
    """

    name: str
    middle: float
    lower: float
    upper: float
    raw: float
    cases: float
    unlike: bool = False


def as_sites(post: Any) -> MultilevelPosterior:
    """The posterior itself."""
    if len(as_multilevel(post, "sites").labels) > MOST_SITES:
        raise InputError(
            f"post holds {len(post.labels)} sites, and at most {MOST_SITES} fit on a figure. Its "
            "table, `post.table()`, has all of them."
        )
    return as_multilevel(post, "sites")


def sites(
    post: MultilevelPosterior,
    name: str = "observed_expected",
    ax: Axes | None = None,
    *,
    ci_prob: float = 0.95,
) -> Axes:
    """Draw a forest of sites, with the average site and the prediction for a new one.

    Sites stand in the order of their estimates. The interval of the average site says how well the
    average is known; that of a new site says what a site that has not been seen will meet. Sites
    that are unlike the others with a probability above 0.75 have a triangle, from ten sites on.

    Parameters
    ----------
    post : MultilevelPosterior
        Of at most 60 sites.
    name : str
        A name in `bayescal.functionals.FUNCTIONALS`. For "observed_expected" and
        "calibration_slope" the estimates from each site alone are hollow squares.
    ax : matplotlib.axes.Axes, optional
        By default on a new figure.
    ci_prob : float in (0, 1)

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the posterior is not of several sites, or the name is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, site=np.resize(["A", "B", "C"], 300), random_state=1)
    >>> ax = bc.plots.sites(post)
    >>> [text.get_text() for text in ax.get_yticklabels()][-2:]
    ['Average site', 'New site']
    """
    chosen, level = check_choice(name, FUNCTIONALS, "name"), as_level(ci_prob)
    rows = _rows(as_sites(post), chosen, level)
    axes = style.as_axes(ax, 7.2, 1.5 + 0.27 * len(rows))
    axes.axvline(ideal(chosen), color=style.DIAGONAL, lw=1, ls="--", zorder=0)
    largest = max(1.0, *(row.cases for row in rows))
    for height, row in enumerate(rows):
        pooled = row.name in POOLED and height >= len(rows) - len(POOLED)
        at = height + 0.6 * pooled
        colour = style.EVENTS if pooled else style.CURVE
        axes.plot([row.lower, row.upper], [at, at], color=colour, lw=2)
        size = 7 if pooled else 3 + 4 * np.sqrt(row.cases / largest)
        marker = "D" if pooled else "^" if row.unlike else "o"
        axes.plot(row.middle, at, marker, color=colour, ms=size + 3 * row.unlike)
        if np.isfinite(row.raw):
            axes.plot(row.raw, at, "s", mfc="none", mec=style.INK, ms=5, mew=0.9)
        axes.text(
            1.02,
            at,
            _numbers(row, FUNCTIONALS[chosen].apart),
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize="small",
            color=style.INK,
        )
    heights = [height + 0.6 * (height >= len(rows) - len(POOLED)) for height in range(len(rows))]
    axes.set_yticks(heights, [label(row.name) for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(heights[-1] + 0.7, -0.7)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(axis_label(chosen))
    axes.set_title(_title(rows, level), loc="left", fontsize="medium")
    return axes


def _title(rows: list[SiteRow], level: float) -> str:
    title = f"Estimates and {percent(level)} credible intervals; dashed: perfect calibration"
    if np.isfinite([row.raw for row in rows]).any():
        title += "\nSquares: each site alone. Larger dots: more cases"
    if any(row.unlike for row in rows):
        title += "\nTriangles: unlike the others with a probability above 0.75"
    return title


def _numbers(row: SiteRow, apart: float | None) -> str:
    numbers = row.middle, row.lower, row.upper
    middle, lower, upper = rounded(numbers, *numbers[1:], apart)
    return minus(f"{middle} ({lower} to {upper})")


def _rows(post: MultilevelPosterior, name: str, level: float) -> list[SiteRow]:
    table = post.table()
    raw = table[f"{name}_raw"] if name in RATIO_AND_SLOPE else table["cases"] * np.nan
    cases = table["cases"].fillna(0).to_dict()
    (axis,), unlike = post.levels, post.unlike()
    each = [
        _row(site, post.at({axis: site}), name, level, raw[site], cases[site], site in unlike)
        for site in post.labels
    ]
    pooled = [
        _row(title, view, name, level, np.nan, 0.0)
        for title, view in zip(POOLED, (post.average(), post.new()), strict=True)
    ]
    defined = sorted((row for row in each if row is not None), key=lambda row: row.middle)
    return [*defined, *(row for row in pooled if row is not None)]


def _row(
    title: str,
    view: Any,
    name: str,
    level: float,
    raw: float,
    cases: float,
    unlike: bool = False,
) -> SiteRow | None:
    """The numbers of one site; None if its scores do not define them."""
    table = view.summary(level, names=[name])
    if name not in table.index:
        return None
    middle, lower, upper = (float(table.loc[name, end]) for end in ("estimate", "lower", "upper"))
    return SiteRow(title, middle, lower, upper, raw, cases, unlike)
