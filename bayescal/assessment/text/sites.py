"""Groups as sites of one hierarchical fit: what is said beside its tables, and its record."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal.assessment.findings import Findings
from bayescal.assessment.words import with_interval
from bayescal.core.text import chance, count, ratio, shortened
from bayescal.fitting import fit
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.robust import PROB_UNLIKE
from bayescal.posterior.functionals import main_functionals

__all__ = ["site_sentences", "sites_record"]

MOST_NAMED = 5
OE = "observed_expected"
CALM = 3.0  # natural units of evidence that do not decide


def site_sentences(f: Findings) -> list[str]:
    """What is said beside the tables of sites: who is unlike, and whether they have one curve."""
    if f.sites is None:
        return []
    sentences = [*_unlike(f, f.sites), _evidence(f, f.sites)]
    return [text for text in sentences if text]


def _unlike(f: Findings, post: MultilevelPosterior) -> list[str]:
    """Groups that are unlike the others, and what all groups are with them."""
    unlike = post.unlike()
    if not unlike:
        return []
    named = ", ".join(
        f"{shortened(label)} (probability {chance(prob)})"
        for label, prob in list(unlike.items())[:MOST_NAMED]
    )
    more = count(len(unlike) - MOST_NAMED, "other group") if len(unlike) > MOST_NAMED else ""
    return [
        f"Unlike the others: {named}{f'; and {more}' if more else ''}. Before the data the "
        f"probability is {PROB_UNLIKE:g} for each group. The average group is the centre of the "
        f"groups that are like each other: its O/E is {_of(post.average(), f, OE)}, and that "
        f"of all groups together {_of(post.at(), f, OE)}."
    ]


def _evidence(f: Findings, post: MultilevelPosterior) -> str:
    """Whether the data prefer a curve for each group; nothing where no evidence was computed."""
    rise = log_bayes_factor(f, post)
    if not np.isfinite(rise):
        return ""
    factor = ratio(float(np.exp(min(abs(rise), 700))))
    if abs(rise) < CALM:
        return "The data do not decide whether the groups have one curve or a curve each."
    if rise > 0:
        return (
            "A curve for each group explains the outcomes better than one logistic curve for all "
            f"(Bayes factor {factor}): what is said of all groups together hides differences."
        )
    return (
        "One logistic curve for all groups explains the outcomes better than a curve each "
        f"(Bayes factor {factor})."
    )


def sites_record(f: Findings) -> dict[str, Any] | None:
    """The hierarchical fit for the record; None of fewer than three groups."""
    if f.sites is None:
        return None
    post = f.sites
    return {
        "new_group": _functionals(post.new(), f),
        "average_group": _functionals(post.average(), f),
        "heterogeneity": post.heterogeneity.to_dict(orient="index"),
        "log_bayes_factor": log_bayes_factor(f, post),
        "prob_close": post.new().prob_below(f.close),
        "prob_unlike": post.prob_unlike().to_dict() if post.problem.robust_term is not None else {},
    }


def log_bayes_factor(f: Findings, post: MultilevelPosterior) -> float:
    """Evidence of a curve for each group against one for all, in natural units.

    Both under the prior of the average group. Not a number where NUTS took over from importance
    sampling, since it computes no evidence.
    """
    pooled = post.problem.pooled
    one = fit(
        f.data.pooled(),
        curve="logistic",
        prior=pooled.prior,
        draws=post.draws,
        random_state=f.seed,
        edge=f.options.get("edge"),
    )
    several, single = (float(each.diagnostics.get("log_evidence", np.nan)) for each in (post, one))
    return several - single


def _functionals(view: Any, f: Findings) -> dict[str, dict[str, float]]:
    table = view.summary(f.ci_prob, names=main_functionals())
    rows: dict[str, dict[str, float]] = table[["estimate", "lower", "upper"]].to_dict("index")
    return rows


def _of(view: Any, f: Findings, name: str) -> str:
    lower, upper = view.interval(name, f.ci_prob)
    return with_interval({"estimate": view.estimate(name), "lower": lower, "upper": upper})
