"""A fit of ordered periods in words: the error now, whether and when it changed, an update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayescal.core.text import chance, excludes, shortened
from bayescal.multilevel.posterior import MultilevelPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALIKE", "LIKELY", "changed_in_words", "gain_in_words", "now_in_words", "stands_out"]

# Without this bar a month was named in a quarter of the simulated years in which nothing changed,
# with it in 11 to 12 % (100 years a cell).
LIKELY = 0.5
"""Probability of a change from which on it is said when."""
ALIKE = "(before the data each period is as probable as another)"
"""What is assumed wherever it is said when the curve changed."""
WIDE = 2.0
"""Ratio of the ends of the interval of O/E from which on it cannot be said whether O/E fits."""
LEAST_PROBABILITY = 0.1
"""Least probability of a change into a period that stands out."""


def now_in_words(post: MultilevelPosterior, populations: pd.DataFrame, close: float) -> str:
    """How large the error is in the last period, and which way risks are off."""
    row: Any = populations.loc["now"]
    lower, upper = (float(row[f"observed_expected_{end}"]) for end in ("lower", "upper"))
    way = "the number of events fits"
    if excludes(lower, upper, 1):
        way = f"risks are too {'low' if lower > 1 else 'high'}"
    elif upper >= WIDE * lower:
        way = "the data are too few to say whether the number of events fits"
    above = chance(float(row["prob_miscalibrated"]))
    return (
        f"Now, in {shortened(post.labels[-1])}: {way}, with {100 * lower:.0f} to {100 * upper:.0f} "
        f"events for 100 predicted. The error is above {close:g} with probability {above}."
    )


def changed_in_words(post: MultilevelPosterior) -> str:
    """Whether the curve changed, and since when."""
    changed = 1 - float(post.explanations["constant"])
    told = f"The curve has changed with probability {chance(changed)}."
    when = post.when_changed()
    if changed < LIKELY or len(when) < 2 or when["if_sudden"].isna().any():
        return told
    if not stands_out(when["if_sudden"]):
        return f"{told} If it changed once and suddenly, it cannot be said when."
    period = str(when["if_sudden"].idxmax())
    sudden, near = float(when["if_sudden"][period]), float(when["within_one"][period])
    return (
        f"{told} If it changed once and suddenly, it did in {shortened(period)} with probability "
        f"{chance(sudden)}, and in it or a period beside it with probability {chance(near)} "
        f"{ALIKE}."
    )


def stands_out(probability: pd.Series) -> bool:
    """Whether the most probable period of a change is clearly more probable than the others.

    Its probability is at least 0.1, and at least one half or twice an equal share of them all.
    """
    equal = float(probability.mean())
    return float(probability.max()) >= max(LEAST_PROBABILITY, min(2 * equal, LIKELY))


def gain_in_words(gains: pd.DataFrame) -> str:
    """What an update to the present curve would gain."""
    row: Any = gains.xs(("now", "brier"))
    return (
        "If risks were updated to the present curve, the sum of the Brier scores of 1000 new "
        f"patients would fall by {1000 * row['mean']:.1f} ({1000 * row['lower']:.1f} to "
        f"{1000 * row['upper']:.1f}; it falls with probability {chance(row['prob_gain'])})."
    )
