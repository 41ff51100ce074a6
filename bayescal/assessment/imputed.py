"""Several imputations: estimates averaged, intervals by Rubin's rules, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from bayescal.data.matrices import FEW_IMPUTATIONS
from bayescal.posterior.functionals import FUNCTIONALS, main_functionals
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["combined_estimates", "imputations_note", "imputations_sentence"]

MUCH_MISSING = 0.3


def combined_estimates(tables: Sequence[pd.DataFrame], ci_prob: float) -> pd.DataFrame:
    """The mean of estimates over imputations; intervals, if there are any, know how these differ.

    Either arm of an interval is the root of the mean squared arm within an imputation and
    z^2 (1 + 1 / m) B, with z the normal quantile and B the variance of the estimates. Tables have
    the columns title and estimate, and others that are averaged; one alone, or without rows, is
    returned as it is.

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys, section 3.1.
    """
    first = tables[0]
    if len(tables) == 1 or first.empty:
        return first
    table = first.copy()
    for column in first.columns.drop("title"):
        table[column] = np.mean([one[column].to_numpy(dtype=np.float64) for one in tables], axis=0)
    estimates = np.array([one["estimate"].to_numpy(dtype=np.float64) for one in tables])
    extra = ndtri((1 + ci_prob) / 2) ** 2 * (1 + 1 / len(tables)) * estimates.var(axis=0, ddof=1)
    for end, sign in (("lower", -1), ("upper", 1)):
        if end in table:
            arms = [(one[end] - one["estimate"]).to_numpy(dtype=np.float64) for one in tables]
            arm = np.sqrt(np.mean(np.square(arms), axis=0) + extra)
            table[end] = table["estimate"] + sign * arm
    return table


def imputations_sentence(post: CalibrationPosterior) -> str:
    """How imputations were combined, for the methods; empty if nothing was imputed."""
    if len(post.imputations) == 1:
        return ""
    return (
        f"{len(post.imputations)} imputations were combined: the curves were fitted to each, and "
        "the draws of their posteriors were mixed in equal shares (Zhou and Reiter, 2010), with "
        "the deviations between imputations enlarged to Rubin's total variance (Rubin, 1987). "
        f"{_missing_information(post)} Estimators were computed on each imputation and averaged. "
    )


def imputations_note(post: CalibrationPosterior) -> str:
    """What a reader should know of the imputations."""
    m, share = len(post.imputations), float(_shares(post).max())
    text = f"{m} imputations were combined. {_missing_information(post)}"
    if post.data.has_imputed_outcomes:
        text += (
            " Outcomes were imputed too, so that the number of events is a mean over the "
            "imputations."
        )
    if m < FEW_IMPUTATIONS and (share > MUCH_MISSING or post.data.has_imputed_outcomes):
        text += (
            f" With a fraction as large as {share:.2f}, {m} imputations are too few to estimate "
            f"the variance between them: impute at least {FEW_IMPUTATIONS} times."
        )
    return text


def _missing_information(post: CalibrationPosterior) -> str:
    """The fractions of missing information, in a sentence."""
    shares = _shares(post)
    told = [
        f"{shares[name]:.2f} ({FUNCTIONALS[name].words})"
        for name in main_functionals()
        if name in shares
    ]
    return f"The fraction of missing information is {', '.join(told)}."


def _shares(post: CalibrationPosterior) -> pd.Series:
    return post.missing_information["missing_information"]
