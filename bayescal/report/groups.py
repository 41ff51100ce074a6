"""Groups of cases: which may be assessed, each by itself, and whom the results are true of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import InputError, as_level
from bayescal.core.text import Measured, count, excludes
from bayescal.data.roles import count_labels
from bayescal.data.table import CalibrationData
from bayescal.model.curves import PRIOR_CALIBRATED
from bayescal.multilevel.compared import RATIO_AND_SLOPE, raw_of
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.term import Vary, by, crossed, walk
from bayescal.multilevel.words import views_of
from bayescal.posterior.functionals import main_functionals
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.report.performance import told

if TYPE_CHECKING:
    import pandas as pd


MOST_GROUPS = 200
# Groups from which on one fit has a curve for each.
LEAST_SITES = 3


def check_few_groups(groups: int) -> None:
    """Refuse more than 200 groups."""
    if groups > MOST_GROUPS:
        raise InputError(
            f"site holds {groups:,} distinct labels, and at most {MOST_GROUPS} can be assessed "
            "one by one. Give a label that many cases share, such as their hospital."
        )


def check_few_labels(labels: Any) -> None:
    """Refuse labels of more than 200 groups, before any case is read."""
    check_few_groups(count_labels(labels, "site"))


def check_groups(data: CalibrationData, prior_calibrated: float) -> None:
    """Refuse many groups of one role, a class-wise table, and a prior of one curve."""
    roles, number = roles_of_groups(data), len(data.groups)
    check_few_groups(max([len(data.levels[role]) for role in roles], default=0))
    if len(roles) < 2:
        _check_not_class_wise(data)
    as_level(prior_calibrated, "prior_calibrated")
    few = 1 if data.periods is not None or len(roles) > 1 else LEAST_SITES - 1
    if prior_calibrated != PRIOR_CALIBRATED and number > few:
        raise InputError(
            f"prior_calibrated={prior_calibrated} was given with {number} groups, whose curves "
            "are of one fit, whose prior probabilities of exact calibration are fixed. Leave it "
            "out; prob_calibrated_at() of the facts has the probability from another prior."
        )


def roles_of_groups(data: CalibrationData) -> list[str]:
    """The roles that groups are told apart by."""
    return [role for role in data.levels if role != "imputation"]


def leading(data: CalibrationData) -> CalibrationData:
    """Cases by several roles as groups by the one that leads: by site, else by the only subgroup.

    Several subgroups have no groups: their levels and combinations are told by name.
    """
    first = ("site",) if "site" in data.levels else data.subgroups
    others = [role for role in roles_of_groups(data) if role not in first]
    return data.pooled() if len(first) > 1 else data.without(others)


def terms_of_roles(data: CalibrationData) -> tuple[Vary, ...]:
    """A term for each role of a table, with the interaction of several subgroups.

    Effects of sites are normal even where no other role is left, so that the evidence of a fit
    without one role is compared with that of the fit with all.
    """
    names = data.subgroups
    terms = crossed(names) if len(names) > 1 else tuple(by(name, robust=False) for name in names)
    of_site = (by("site", robust=False),) if "site" in data.levels else ()
    return *of_site, *terms, *((walk(),) if data.periods is not None else ())


def _check_not_class_wise(data: CalibrationData) -> None:
    """Refuse a table that holds every case once for each class.

    It is known by its sums: every class has as many cases, and events and predicted probabilities
    of all classes add up to one a case.
    """
    if len(data.groups) < 2:
        return
    parts = [data.select(name) for name in data.groups]
    n = parts[0].n
    totals = [data.events, float(data.trials @ data.score)]
    alike = all(np.isclose(part.n, n, rtol=1e-9, atol=0) for part in parts)
    if alike and np.allclose(totals, n, rtol=1e-6, atol=0):
        raise InputError(
            f"the table is class-wise: it holds each of {count(n, 'case')} once for each of "
            f"{len(data.groups)} classes, and one assessment of all would hide that some classes "
            "are off. Fit a curve for each, fit(data, curve='logistic') or "
            "fit(labels, matrix, mode='class-wise'); or assess one class, "
            "assess(data.select(name)), or the top label, assess(labels, matrix)."
        )


def main_numbers(post: CalibrationPosterior, ci_prob: float) -> dict[str, float]:
    """The main functionals with both ends; what the scores do not define is NaN."""
    shown = main_functionals()
    summary = post.summary(ci_prob, names=shown).reindex(shown)
    return {
        f"{name}_{end}": value
        for name in shown
        for end, value in Measured.of(summary.loc[name])._asdict().items()
    }


def group_table(groups: Mapping[str, CalibrationPosterior], ci_prob: float) -> pd.DataFrame:
    """One row a group; what a group does not define is NaN.

    `_raw` is what the cases of a group say by themselves, where one fit is of all groups.
    """
    import pandas as pd

    rows = {}
    for name, post in groups.items():
        exact = np.nan if post.prob_calibrated is None else post.prob_calibrated
        numbers = post.data.counted() | main_numbers(post, ci_prob)
        rows[name] = numbers | {"prob_calibrated": exact}
        if post._one_of is not None:
            raw = raw_of(post)
            rows[name] |= {f"{each}_raw": raw[each] for each in RATIO_AND_SLOPE}
    table = pd.DataFrame.from_dict(rows, orient="index").astype(np.float64).rename_axis("group")
    counts = [name for name in ("cases", "events") if (table[name] % 1 == 0).all()]
    return table.astype(dict.fromkeys(counts, np.int64))


def populations_of(post: MultilevelPosterior, ci_prob: float) -> pd.DataFrame:
    """One row a population, all of one fit.

    The distance of the patients of these groups is twice there: `these` against the curve of their
    own group, `pooled` against the curve of all.
    """
    import pandas as pd

    rows = {name: main_numbers(view, ci_prob) for name, view in views_of(post).items()}
    pooled = dict(rows["these"])
    error = told(post.own().values_of("tce"), ci_prob)
    rows["these"] |= {f"tce_{end}": value for end, value in error.items()}
    others = {name: row for name, row in rows.items() if name != "these"}
    rows = {"these": rows["these"], "pooled": pooled, **others}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("population")


def clearly_off(
    curves: Mapping[str, CalibrationPosterior], ci_prob: float
) -> dict[str, dict[str, float]]:
    """Estimate, lower and upper end of O/E where its interval excludes 1."""
    off = {}
    for label, view in curves.items():
        lower, upper = view.interval("observed_expected", ci_prob)
        if excludes(lower, upper, 1):
            estimate = view.estimate("observed_expected")
            off[label] = {"estimate": estimate, "lower": lower, "upper": upper}
    return off


def clearly_off_of(
    post: MultilevelPosterior, ci_prob: float, axes: Sequence[str]
) -> dict[str, dict[str, float]]:
    """The same of the levels of some axes and, of several, of their combinations.

    A combination is left out if one of its levels is named and off on the same side.
    """
    parts = [part for axis in axes for part in post.parts(axis)]
    levels = {view._title: view for view in (post.at(part.levels) for part in parts)}
    off = clearly_off(levels, ci_prob)
    if len(axes) < 2:
        return off
    cells, above = {}, {(label, row["estimate"] > 1) for label, row in off.items()}
    for part in post.parts(axes):
        view = post.at(part.levels)
        too_few = view.estimate("observed_expected") > 1
        within = (post.at({axis: level})._title for axis, level in part.levels.items())
        if not any((label, too_few) in above for label in within):
            cells[view._title] = view
    return off | clearly_off(cells, ci_prob)


def furthest_first(off: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The furthest from 1 first."""
    return dict(sorted(off.items(), key=lambda row: -abs(np.log(row[1]["estimate"]))))
