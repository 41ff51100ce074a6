"""Groups as ordered periods of one fit: whether the curve changed, and when."""

from __future__ import annotations

from typing import Any

from bayescal.assessment.findings import Findings
from bayescal.assessment.text.drift import ALIKE, LIKELY, stands_out
from bayescal.core.text import chance, shortened
from bayescal.multilevel.changes import explanation_prior
from bayescal.multilevel.posterior import MultilevelPosterior

__all__ = ["IN_USE", "drift_sentences", "period_sentences", "periods_record"]

IN_USE = (
    "A model in use changes outcomes: where patients are treated because of their score, fewer of "
    "them have the event, and the curve may change for that reason alone."
)


def period_sentences(f: Findings) -> list[str]:
    """What is said of the periods of an assessment; nothing without periods."""
    return [] if f.periods is None else drift_sentences(f.periods)


def drift_sentences(post: MultilevelPosterior) -> list[str]:
    """What is said of periods: how they are explained, when the curve changed, what is assumed."""
    shares, when = post.explanations, post.when_changed()
    none, *into_each, walk = explanation_prior(post.problem).tolist()
    explained = (
        f"One curve for all periods has probability {chance(float(shares['constant']))}, one "
        f"sudden change {chance(float(shares['sudden']))} and gradual drift "
        f"{chance(float(shares['gradual']))} (before the data {none:g}, "
        f"{sum(into_each):g} and {walk:g})."
    )
    into = str(when["prob"].idxmax())
    share = chance(float(when["prob"][into]))
    change = "It cannot be said into which period the largest change was: "
    changed = 1 - float(shares["constant"])
    if changed < LIKELY:
        change += f"the probability that there was one is {chance(changed)}."
    elif stands_out(when["prob"]):
        change = f"The largest change was most probably into {shortened(into)}: "
        change += f"probability {share} {ALIKE}."
    else:
        change += "no period stands out. "
        change += f"The highest probability is {share}, of {shortened(into)} {ALIKE}."
    return [explained, change, IN_USE]


def periods_record(f: Findings) -> dict[str, Any] | None:
    """The fit of periods for the record; None without periods."""
    post = f.periods
    if post is None:
        return None
    return {
        "explanations": post.explanations.to_dict(),
        "prob_changed": 1 - float(post.explanations["constant"]),
        "largest_change_into": post.when_changed()["prob"].to_dict(),
    }
