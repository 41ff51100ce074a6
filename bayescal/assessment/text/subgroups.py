"""Subgroups by several factors in words and numbers, for a fairness review."""

from __future__ import annotations

from typing import Any

from bayescal.assessment.findings import Findings
from bayescal.assessment.words import with_interval
from bayescal.core.text import chance, shortened
from bayescal.multilevel.compared import OFF_BY, subgroups_of
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.robust import PROB_UNLIKE

__all__ = ["subgroup_sentences", "subgroups_record"]

MEASURE = "observed_expected"
SPREAD_MATTERS = 0.5
MOST_NAMED = 5


def subgroup_sentences(f: Findings) -> list[str]:
    """What is said of all subgroups, of each factor, and of which factor matters."""
    post = f.subgroups
    if post is None:
        return []
    return [
        f"{_factors(post)} were fitted at once: each of the {len(post.problem.cells)} combinations "
        "that occur has a calibration curve of its own, and those of small subgroups are drawn "
        "towards the others, as far as the data say that subgroups are alike.",
        f"At least one level has a true calibration error above {f.close:g} with probability "
        f"{chance(post.prob_any_above(f.close))}, and at least one combination with "
        f"probability {chance(post.prob_any_above(f.close, by=list(post.levels)))}.",
        *(_of_factor(post, factor) for factor in post.levels),
        _what_matters(post),
        *_unlike(post),
    ]


def _factors(post: MultilevelPosterior) -> str:
    told = [f"{shortened(name)} ({len(levels)} levels)" for name, levels in post.levels.items()]
    return f"The subgroups {', '.join(told[:-1])} and {told[-1]}"


def _of_factor(post: MultilevelPosterior, factor: str) -> str:
    worst = post.prob_worst(factor)
    differs = post.prob_differs(factor, delta=OFF_BY, name=MEASURE)
    return (
        f"By {shortened(factor)}: observed / expected events differ by more than {OFF_BY:g} "
        f"between some levels with probability {chance(differs)}; the calibration error is largest "
        f"for {shortened(worst.idxmax())} with probability {chance(float(worst.max()))}."
    )


def _what_matters(post: MultilevelPosterior) -> str:
    """The term whose effects differ most, or that none stands out."""
    rows = post.heterogeneity.reset_index().to_dict("records")
    of_one = [row for row in rows if row["coordinate"] == rows[0]["coordinate"]]
    row = max(of_one, key=lambda each: float(each["prob_largest"]))
    first = row["term"]
    spread = with_interval(row | {"estimate": row["median"]})
    share = chance(row["prob_largest"])
    if row["prob_largest"] < SPREAD_MATTERS:
        return (
            "The data do not decide which factor matters most: the largest differences are those "
            f"of {shortened(first)}, with probability {share}."
        )
    return (
        f"What matters most is {shortened(first)}, with probability {share}: its effects have a "
        f"standard deviation of {spread} in log-odds."
    )


def _unlike(post: MultilevelPosterior) -> list[str]:
    """Combinations that are unlike what their levels say."""
    named = [
        f"{shortened(label)} (probability {chance(prob)})"
        for label, prob in list(post.unlike().items())[:MOST_NAMED]
    ]
    if not named:
        return []
    return [
        f"Unlike the others: {'; '.join(named)}. Before the data the probability is "
        f"{PROB_UNLIKE:g} for each combination."
    ]


def subgroups_record(f: Findings) -> dict[str, Any] | None:
    """The subgroups for the record; None without several factors."""
    post = f.subgroups
    if post is None:
        return None
    rows = zip(subgroups_of(post.problem), f.by_subgroup.to_dict("records"), strict=True)
    return {
        "factors": {name: list(levels) for name, levels in post.levels.items()},
        "limit": f.close,
        "rows": [
            {"factor": each.factor, "level": each.level, "levels": each.levels, **numbers}
            for each, numbers in rows
        ],
        "prob_any_level_off": post.prob_any_above(f.close),
        "prob_any_combination_off": post.prob_any_above(f.close, by=list(post.levels)),
        "heterogeneity": post.heterogeneity.reset_index().to_dict("records"),
        "differences": {
            factor: post.differences(factor).reset_index().to_dict("records")
            for factor in post.levels
        },
    }
