"""Which curves of a posterior of several stand for all, and what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.text import chance, count, interval, shortened
from bayescal.data.table import CalibrationData
from bayescal.multilevel.curves import SELF_NAMED, counted
from bayescal.multilevel.mixture import OwnProblem
from bayescal.multilevel.term import PROB_UNLIKE
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.words import missing_in_words


def shown(post: Any) -> dict[str, CalibrationPosterior]:
    """The curves that stand for all, by their titles."""
    kind, axes = post.problem.kind, list(post.levels)
    if kind == "periods":
        return {"now": post.now(), "next period": post.new()}
    if kind == "subgroups":
        return {
            f"{shortened(each.factor)} {shortened(each.level)}": post.at(each.levels)
            for each in post.parts()
        }
    alone = kind == "sites" and axes[0] not in SELF_NAMED
    of = f"level of {shortened(axes[0])}" if alone else "site"
    average = f"average {of}" if kind == "sites" else "average"
    new = {f"new {of}": post.new(axis) for axis in axes if kind == "sites" or axis == "site"}
    return {average: post.average(), **new}


def lines_of(post: Any) -> list[str]:
    """What was fitted, which levels are unlike the others, and the error of the curves shown."""
    kind, pooled, size = post.problem.kind, post.problem.pooled, len(post.imputations)
    told, unlike, views = _size(post), _unlike(post), {}
    if kind == "subgroups":
        views = {"all cases": post.at()}
    elif kind == "periods":
        views = {"now": post.now()}
    else:
        views = {f"the {title}": view for title, view in shown(post).items()}
        views |= {"the sites together": post.at()} if unlike else {}
    of = "" if kind == "periods" else "of "
    explained = []
    if kind == "periods":
        shares = [f"{name} {value:.2f}" for name, value in post.explanations.items()]
        explained = [f"explanations: {', '.join(shares)}"]
    return [
        *([told[0]] if size == 1 else [f"{size} imputations of {told[0]}"]),
        *told[1:],
        f"{pooled.curve.name} curves, {pooled.prior.name} prior, {post.engine}",
        *explained,
        *unlike,
        *(f"TCE {of}{title} {_error(view)}" for title, view in views.items()),
        *([] if size == 1 else [f"{missing_in_words(post.average())} (of the average)"]),
    ]


def _error(view: CalibrationPosterior) -> str:
    lower, upper = view.interval("tce")
    return interval(view.estimate("tce"), lower, upper, 0.95)


def _size(post: Any) -> list[str]:
    problem, data = post.problem, post.data
    if problem.kind == "periods":
        first, *_, last = post.labels
        return [f"{len(post.labels)} periods, {first} to {last}, {data.size_in_words}"]
    if problem.kind != "sites":
        told = [f"{shortened(name)} ({len(each)})" for name, each in post.levels.items()]
        return [f"{', '.join(told)}: {len(problem.labels)} cells", data.size_in_words]
    sites = counted(problem)
    if not post.has_outcomes:
        return [f"{sites} known by their summaries, at {count(data.n, 'score')}"]
    known = (
        f"; {count(len(problem.known), 'site')} known by their summaries" if problem.known else ""
    )
    return [f"{sites}, {data.size_in_words}{known}"]


def _unlike(post: Any) -> list[str]:
    """A line on the levels that are likely to be unlike the others, if there are any."""
    unlike = post.unlike()
    if not unlike:
        return []
    told = ", ".join(f"{shortened(label)} ({chance(each)})" for label, each in unlike.items())
    return [f"unlike the others: {told}; probability before the data {PROB_UNLIKE:g}"]


# Groups from which on something is said of one that has not been seen.
LEAST_OF_NEXT = 5


def views_of(post: Any) -> dict[str, CalibrationPosterior]:
    """The populations that a fit of several curves tells apart, its own cases first.

    Of groups: these patients, the average group, and of five groups or more the next one. Of
    periods: these patients, the last period and, of periods alone, the next.
    """
    problem, views = post.problem, {"these": post.at()}
    if problem.walk is not None:
        views["now"] = post.now()
    if problem.is_walk:
        return views | {"next": post.new()}
    views["average"] = post.average()
    axis = "site" if "site" in post.levels or problem.kind != "sites" else next(iter(post.levels))
    if len(post.levels.get(axis, ())) >= LEAST_OF_NEXT:
        views["next"] = post.new(axis)
    return views


def own_error(
    curves: Mapping[str, CalibrationPosterior],
    data: CalibrationData,
    pooled: CalibrationPosterior,
) -> Floats:
    """Draws of the true calibration error against one's own group, of groups fitted by themselves.

    It is the mean of the errors of the groups, by the shares of the cases that they have in a draw
    of the population. Of groups that were fitted together it is that of `own()`.
    """
    parts = tuple(curves[label].problem for label in data.groups)
    rows, error = OwnProblem.of(pooled.problem, parts), np.zeros(pooled.draws)
    owner = np.repeat(np.arange(len(parts)), [part.score.size for part in parts])[rows.order]
    law, rng = rows.weights(data), pooled.problem.rng("shares")
    weight = law.weights(slice(0, pooled.draws), rng)
    for k, label in enumerate(data.groups):
        error += weight[:, owner == k].sum(axis=1) * curves[label].values_of("tce")
    return error
