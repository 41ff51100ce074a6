"""Groups of cases, each by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import InputError, as_level
from bayescal.core.text import count
from bayescal.data.roles import count_labels
from bayescal.data.table import CalibrationData
from bayescal.model.average import PRIOR_CALIBRATED
from bayescal.multilevel.rows import RATIO_AND_SLOPE, raw_of
from bayescal.posterior.functionals import main_functionals
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LEAST_SITES",
    "check_few_groups",
    "check_few_labels",
    "check_not_class_wise",
    "check_prior_calibrated",
    "check_roles",
    "group_table",
]

MOST_GROUPS = 200
LEAST_SITES = 3
"""Groups from which on one fit has a curve for each."""


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


def check_roles(data: CalibrationData) -> None:
    """Refuse roles that are not assessed together."""
    groups = [role for role in data.levels if role != "imputation"]
    if len(groups) > 1 and len(groups) != len(data.subgroups):
        raise InputError(
            f"the table has {' and '.join(groups)}, and groups are assessed by one of site, period "
            f"and subgroups. Forget the others, data.without({groups[-1]!r})."
        )


def check_prior_calibrated(data: CalibrationData, prior_calibrated: float) -> None:
    """Refuse a prior probability of exact calibration where one fit has a curve for each group."""
    as_level(prior_calibrated, "prior_calibrated")
    groups = len(data.groups)
    few = 1 if data.periods is not None or len(data.subgroups) > 1 else LEAST_SITES - 1
    if prior_calibrated != PRIOR_CALIBRATED and groups > few:
        raise InputError(
            f"prior_calibrated={prior_calibrated} was given with {groups} groups, whose curves "
            "are of one fit, whose prior probabilities of exact calibration are fixed. Leave it "
            "out; prob_calibrated_at() of the assessment has the probability from another prior."
        )


def check_not_class_wise(data: CalibrationData) -> None:
    """Refuse a class-wise table: each case is in it once a class, and pooling would hide errors.

    Such a table is known by its sums: every class has as many cases, and the events and the
    predicted probabilities of all classes add up to one a case.
    """
    if len(data.groups) < 2:
        return
    parts = [data.select(name) for name in data.groups]
    n = parts[0].n
    totals = [data.events, float(data.trials @ data.score)]
    if all(np.isclose(part.n, n, rtol=1e-9, atol=0) for part in parts) and np.allclose(
        totals, n, rtol=1e-6, atol=0
    ):
        raise InputError(
            f"the table is class-wise: it holds each of {count(n, 'case')} once for each of "
            f"{len(data.groups)} classes, and one assessment of all would hide that some classes "
            "are off. Fit a curve for each, fit(data, curve='logistic') or "
            "fit(labels, matrix, mode='class-wise'); or assess one class, "
            "assess(data.select(name)), or the top label, assess(labels, matrix)."
        )


def group_table(
    groups: Mapping[str, CalibrationPosterior], close: float, ci_prob: float
) -> pd.DataFrame:
    """One row a group; see `Assessment.by_group`. What a group does not define is NaN."""
    import pandas as pd

    shown = main_functionals()
    rows = {}
    for name, post in groups.items():
        summary = post.summary(ci_prob, names=shown).reindex(shown)
        row = post.data.counted()
        for functional in shown:
            for column in ("estimate", "lower", "upper"):
                row[f"{functional}_{column}"] = float(summary[column][functional])
        rows[name] = row | {
            "prob_close": post.prob_below(close),
            "prob_miscalibrated": 1 - post.prob_below(close),
            "prob_calibrated": np.nan if post.prob_calibrated is None else post.prob_calibrated,
        }
        if post._place is not None:
            raw = raw_of(post)
            rows[name] |= {f"{each}_raw": raw[each] for each in RATIO_AND_SLOPE}
    table = pd.DataFrame.from_dict(rows, orient="index").astype(np.float64)
    table.index.name = "group"
    counts = [name for name in ("cases", "events") if (table[name] % 1 == 0).all()]
    return table.astype(dict.fromkeys(counts, np.int64))
