"""What a posterior says of itself when it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayescal.core.text import chance, count, interval
from bayescal.model.reversed import reversed_scores
from bayescal.posterior.checks.ends import cautions_at_ends
from bayescal.posterior.checks.undefined import undefined_measures
from bayescal.posterior.departures import AtPrevalence
from bayescal.posterior.functionals import main_functionals

__all__ = ["lines_of", "missing_in_words", "told_beside"]


def lines_of(post: Any) -> list[str]:
    """Cases, clusters, curve, error, and what missing data cost."""
    problem, atom, size = post.problem, post.prob_calibrated, len(post.imputations)
    curve = f"{problem.curve.name} curve" if post.prior_weights is None else "average over families"
    several = f"{size} imputations of " if size > 1 else ""
    lower, upper = post.interval("tce")
    told = interval(post.estimate("tce"), lower, upper, 0.95)
    known = "exact calibration was not considered"
    is_new = post._one_of is not None and post._one_of.is_new
    is_new = is_new and post._fitted is None and post._departure is None
    told_wrong = reversed_scores(post.data) if post.has_outcomes and not is_new else None
    return [
        *([] if is_new else [f"{several}{_cases(post)}"]),
        *([] if told_wrong is None else [str(told_wrong)]),
        *([] if post.design is None else [str(post.design)]),
        f"{curve}, {problem.prior.name} prior, {post.engine}",
        f"TCE {told}; {known if atom is None else f'P(exactly calibrated) {chance(atom)}'}",
        *([missing_in_words(post)] if size > 1 else []),
    ]


def _cases(post: Any) -> str:
    if post.has_outcomes:
        size: str = post.data.size_in_words
        return size
    told = f"{count(post.data.n, 'score')}, without outcomes"
    if post._fitted is not None:
        lower, upper = post._fitted_range
        told += (
            f", {100 * post.outside:.2g} % of them outside {lower:.3g} to {upper:.3g}, "
            "the range of the scores fitted"
        )
    if not isinstance(post._departure, AtPrevalence):
        return told
    (implied, lower, upper), (at, *_), (shift, *_) = post.prevalence_told.to_numpy()
    moved = f"the log-odds of all risks are shifted by {shift:+.2f}"
    if not post._departure.keeps_scores:
        return f"{told}\n  at a prevalence of {at:.3g}, not {implied:.3g}: {moved}"
    return (
        f"{told}\n  conflict: curve and scores imply a prevalence of {implied:.3g} ({lower:.3g} to "
        f"{upper:.3g}), told was {at:.3g}; the curve gives way: {moved}"
    )


def missing_in_words(post: Any) -> str:
    """The fractions of missing information of the main functionals."""
    shares = post.missing_information["missing_information"]
    told = [f"{name} {shares[name]:.2f}" for name in main_functionals() if name in shares.index]
    return f"missing information: {', '.join(told)}"


def told_beside(post: Any, asked: Sequence[str], shown: Sequence[str]) -> dict[str, Any]:
    """What is told beside a summary: how scores and weights are read, and which rows to doubt.

    Parameters
    ----------
    asked, shown : sequence of str
        Functionals, and those of them that the scores define.
    """
    problems = [one.problem for one in post.imputations]
    undefined, cautions = undefined_measures(problems), cautions_at_ends(problems)
    known = "is among the draws of distances"
    if post.prob_calibrated is None:
        known = "was not considered"
    edges, data = post.problem.edges, post.data
    return {
        "interval": f"equal-tailed; exact calibration {known}",
        "moved": edges.moved,
        "zero_read_as": edges.low,
        "one_read_as": edges.high,
        "pseudo_posterior": data.is_pseudo,
        "weight_type": data.weight_type,
        "undefined": {name: why for name, why in undefined.items() if name in asked},
        "cautions": {name: why for name, why in cautions.items() if name in shown},
        **({} if post.design is None else post.design.to_dict()),
        **({"imputations": len(problems)} if len(problems) > 1 else {}),
    }
