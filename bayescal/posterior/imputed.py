"""Draws of several imputations mixed in equal shares, widened where these are few, and their cost.

Draws of m imputations, mixed, have the variance W + B (m - 1) / m, with W the variance within
imputations and B that of their means (divisor m - 1). Rubin's total variance, which knows that the
mean of the m is not that of infinitely many, is W + B (1 + 1 / m). So the deviations of the
imputations from their common mean are enlarged by sqrt((m + 1) / (m - 1)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.model.draws import Part, at_centre

if TYPE_CHECKING:
    import pandas as pd

NEAREST_TO_CERTAIN = 1e-15


def between_factor(m: int) -> float:
    """How far the centres of m imputations are moved apart: sqrt((m + 1) / (m - 1)).

    Rubin (1987), section 3.1. Zhou & Reiter (2010), The American Statistician 64: a mixture of the
    draws alone needs a hundred imputations or more.
    """
    return float(np.sqrt((m + 1) / (m - 1)))


# With two imputations the interval of a slope, of which more than a fifth of the information is
# missing, covers .965 with this and .945 without, and is 8 % longer (200 studies).
def widened(values: Floats) -> Floats:
    """Draws by imputation, with their centres moved apart by `between_factor`.

    `values` (m, draws, ...); returns (m, draws, ...).
    """
    further = between_factor(len(values)) - 1
    centre = values.mean(axis=1, keepdims=True)
    apart = centre - centre[:1]  # exactly 0 of equal imputations
    return np.asarray(values + further * (apart - apart.mean(axis=0)))


def widening_of(distance: Floats) -> Floats:
    """By what to multiply distances, so that the centres of this one move apart as far.

    Zeros stay zeros, and distances that are ordered in a draw stay ordered where all are multiplied
    by the same.
    `distance` (m, draws); returns (m, 1).
    """
    centre = distance.mean(axis=1, keepdims=True)
    middle = centre.mean(axis=0)
    ratio = np.divide(centre, middle, out=np.ones_like(centre), where=(centre > 0) & (middle > 0))
    return np.asarray(ratio ** (between_factor(len(distance)) - 1))


def in_range(name: str, values: Floats) -> Floats:
    """Draws of a measure of performance, widened within the range that it can have.

    `name`: as in `CalibrationPosterior.performance`; `values` (m, draws): NaN where a draw does not
    define the measure; such draws do not move the others.
    """
    defined = ~np.isnan(values)
    number = defined.sum(axis=1, keepdims=True)
    total = np.where(defined, values, 0).sum(axis=1, keepdims=True)
    centre = np.divide(total, number, out=np.zeros(number.shape), where=number > 0)
    share = (number > 0) / np.maximum((number > 0).sum(axis=0), 1)
    apart = centre - (share * centre).sum(axis=0)
    moved = values + (between_factor(len(values)) - 1) * apart
    lowest = -np.inf if name == "net_benefit" else 0
    return np.asarray(np.clip(moved, lowest, np.inf if name == "log_score" else 1))


def in_turn(values: NDArray[Any]) -> NDArray[Any]:
    """Draws by imputation as one sequence, chain by chain, in which the imputations alternate.

    `values` (m, chains * draws, ...); returns (chains * draws * m, ...).
    """
    return values.swapaxes(0, 1).reshape(-1, *values.shape[2:])


def mixed(values: Sequence[Floats], *, is_widened: bool = True) -> Floats:
    """Draws of one table, or those of all imputations in turn."""
    if len(values) == 1:
        return values[0]
    stacked = np.stack(values)
    return in_turn(widened(stacked) if is_widened else stacked)


def mixed_curves(each: Sequence[Floats]) -> Floats:
    """Curves of all imputations in turn, of shape (draws of all, scores), widened in log-odds."""
    stacked = np.stack(each)
    for some in blocks(stacked.shape[2], len(stacked) * stacked.shape[1]):
        inside = np.clip(stacked[..., some], NEAREST_TO_CERTAIN, 1 - NEAREST_TO_CERTAIN)
        stacked[..., some] = expit(widened(logit(inside)))
    return in_turn(stacked)


def mixed_coordinates(parts: Sequence[Part]) -> dict[str, Floats]:
    """Working coordinates of all imputations in turn, at the centre of the first.

    Those of an average are not widened: its families have different coordinates. A spline has more
    deviations on more distinct scores; those that one imputation lacks are left out.
    """
    centre, is_widened = parts[0].problem.frame.centre, parts[0].averaged is None
    each = []
    for part in parts:
        drawn = dict(zip(part.problem.curve.coordinates, part.u.T.copy(), strict=True))
        each.append(at_centre(drawn, part.problem.frame.centre, centre))
    return {
        name: mixed([one[name] for one in each], is_widened=is_widened)
        for name in each[0]
        if all(name in one for one in each)
    }


def mixed_performances(each: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
    """Draws of measures of performance of one table, or of all imputations in turn."""
    if len(each) == 1:
        return dict(each[0])
    return {
        name: in_turn(in_range(name, np.stack([one[name] for one in each]))) for name in each[0]
    }


def missing_information(values: Mapping[str, Floats], index: str) -> pd.DataFrame:
    """The fraction of missing information of several quantities, by their draws (m, draws).

    With W the mean variance of the draws within an imputation, B the variance of the m means
    between them (divisor m - 1), and T = W + (1 + 1 / m) B, it is (1 + 1 / m) B / T. Rubin (1987),
    Multiple Imputation for Nonresponse in Surveys, section 3.3.
    """
    import pandas as pd

    rows = {}
    for name, draws in values.items():
        within = float(draws.var(axis=1).mean())
        between = float(draws.mean(axis=1).var(ddof=1))
        extra = (1 + 1 / len(draws)) * between
        total = within + extra
        rows[name] = {
            "mean": float(draws.mean()),
            "sd_within": np.sqrt(within),
            "sd_between": np.sqrt(between),
            "sd": np.sqrt(total),
            "missing_information": extra / total if total > 0 else 0.0,
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = index
    return table
