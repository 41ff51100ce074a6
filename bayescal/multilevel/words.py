"""What a posterior of several curves says of itself when it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayescal.core.text import chance, count, interval, shortened
from bayescal.multilevel.curves import SELF_NAMED, counted
from bayescal.multilevel.robust import PROB_UNLIKE
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.words import missing_in_words

__all__ = ["lines_of", "on_card", "shown"]


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


def on_card(post: Any) -> Sequence[str]:
    """The functionals that a card shows of each."""
    return (
        ("observed_expected",) if post.problem.kind == "subgroups" else ("tce", "observed_expected")
    )


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
    known = f"; {len(problem.known)} sites known by their summaries" if problem.known else ""
    return [f"{sites}, {data.size_in_words}{known}"]


def _unlike(post: Any) -> list[str]:
    """A line on the levels that are likely to be unlike the others, if there are any."""
    unlike = post.unlike()
    if not unlike:
        return []
    told = ", ".join(f"{shortened(label)} ({chance(each)})" for label, each in unlike.items())
    return [f"unlike the others: {told}; probability before the data {PROB_UNLIKE:g}"]
