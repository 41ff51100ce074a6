"""Whom a fit of several curves is asked about: its own cases, the average group, the next one."""

from __future__ import annotations

from bayescal.multilevel.drift import DriftPosterior
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.sites import HierarchicalPosterior
from bayescal.multilevel.view import CurveView

__all__ = ["views_of"]


def views_of(post: MultilevelPosterior) -> dict[str, CurveView]:
    """The populations that a fit of several curves tells apart, its own cases first.

    Of groups: these patients, the average group, and of five groups or more the next one. Of
    ordered periods: these patients, the last period and the next. Of subgroups by several factors:
    these patients and the average subgroup.
    """
    if isinstance(post, DriftPosterior):
        return {"these": post.at(), "now": post.now(), "next": post.new()}
    views = {"these": post.at(), "average": post.average()}
    if isinstance(post, HierarchicalPosterior) and not post.is_of_few:
        views["next"] = post.new()
    return views
