"""What the registry knows of a functional: how it is computed, its unit and its words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal.core.arrays import Floats, is_single
from bayescal.core.decision import least_treated
from bayescal.core.errors import as_level, as_levels
from bayescal.core.text import capitalised, excludes
from bayescal.data.cases import as_vector

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SECTIONS", "UNITS", "Functional", "Side", "risk_table"]


# What functionals are measured in, in the order of panels, and the labels of their axes.
UNITS = {
    "probability": "Error (difference in probability)",
    "ratio": "Ratio",
    "log-odds": "Log-odds",
    "log hazard": "Log cumulative hazard",
    "net benefit": "Net benefit per patient",
    "nats": "Log score per patient",
}

# Parts of a table of functionals, and their titles. Each is shown to one number of decimals.
SECTIONS = {
    "size": "Size of the error, as a probability",
    "direction": "Direction of the error",
}


class Side(NamedTuple):
    """What it means that a functional lies on one side of its ideal value."""

    way: str  # in a few words; empty if this alone does not say that a model is off
    clause: str  # as a clause, of the predictions
    verdict: str = ""  # as a clause of the verdict, of the model; empty where `way` is


@dataclass(frozen=True)
class Functional:
    """A functional as the registry knows it, with its words.

    Attributes
    ----------
    compute : callable
        From CurveDraws and options to an array of shape (draws,).
    label : str
        What tables call it, in lower case, with its abbreviation in brackets.
    short : str
        What rows of a figure and sentences about several call it.
    hint : str
        What it is, in a few words beneath its label.
    unit : str
        A key of `UNITS`.
    section : str
        A key of `SECTIONS`.
    ideal : float
        Its value when the model is perfectly calibrated.
    on_sample : bool
        Whether it depends on the observed scores alone, whatever the population and its weights.
    is_distance : bool
        Whether it is never negative, and zero only at calibration. Chance makes such a functional
        larger. In the draws of an average that are exactly calibrated it is 0.
    is_main : bool
        Whether it is shown where there is room for a few: of groups, sites and imputations.
    is_extra : bool
        Whether a summary has it only where it is asked for, by its name or by its option.
    of_times : bool
        Whether a summary of times to an event has it by itself, though it is an extra one.
    needs_line : bool
        Whether it is undefined where the scores define no line in log-odds.
    needs_inside : bool
        Whether it is infinite where a score is exactly 0 or 1, and so refused.
    is_of_ends : bool
        Whether its interval is less sure where many scores are near 0 or 1.
    caution : str
        What a reader must know of its interval; empty where it covers as it should.
    same_as : str
        The functional that it equals at that one's default options; a summary has that row only.
    definition : str
        How the methods section of a paper defines it, as a sentence without its full stop; empty
        where the label says it.
    result : str
        How a paper tells its value, as a clause with `{}` for the numbers; empty where a paper does
        not.
    below, above : Side or None
        What it means that it is below, or above, its ideal value.
    negative : Side or None
        What it means instead that it is below 0.
    unclear : str
        The clause where its interval contains the ideal value.
    """

    compute: Callable[..., Floats]
    label: str
    short: str
    hint: str = ""
    unit: str = "probability"
    section: str = "size"
    ideal: float = 0.0
    on_sample: bool = False
    is_distance: bool = False
    is_main: bool = False
    is_extra: bool = False
    of_times: bool = False
    needs_line: bool = False
    needs_inside: bool = False
    is_of_ends: bool = False
    caution: str = ""
    same_as: str = ""
    definition: str = ""
    result: str = ""
    below: Side | None = None
    above: Side | None = None
    negative: Side | None = None
    unclear: str = ""

    @property
    def title(self) -> str:
        """The label as a heading: `True calibration error (TCE)`."""
        return capitalised(self.label)

    @property
    def words(self) -> str:
        """The label without its abbreviation: `true calibration error`."""
        return self.label.partition(" (")[0]

    @property
    def apart(self) -> float | None:
        """The value that the end of an interval is not rounded onto: the ideal, if it has sides."""
        return None if self.is_distance else self.ideal

    def side(self, lower: float, upper: float) -> Side | None:
        """On which side of its ideal value an interval lies; None if it contains it."""
        if upper < 0 and self.negative is not None:
            return self.negative
        if not excludes(lower, upper, self.ideal):
            return None
        return self.below if upper < self.ideal else self.above


def risk_table(draws: Floats, scores: Floats, thresholds: Any, ci_prob: float) -> pd.DataFrame:
    """One row a patient: score, risk with its interval, and how probably a decision is another.

    `draws` (draws, patients): of the risk; `scores` (patients,); `thresholds` (k,): risks from
    which a patient is treated.
    """
    import pandas as pd

    level = as_level(ci_prob)
    values = [thresholds] if is_single(thresholds) else thresholds
    at = as_levels(as_vector(values, "thresholds"), "thresholds") if len(values) else ()
    lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    columns = {"score": scores, "risk": draws.mean(axis=0), "lower": lower, "upper": upper}
    for threshold in at:
        least = least_treated(threshold)
        is_other = (draws >= least) != (scores >= least)
        columns[f"flips@{threshold:g}"] = is_other.mean(axis=0)
    return pd.DataFrame(columns, pd.RangeIndex(scores.size, name="patient"))
