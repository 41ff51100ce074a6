"""What an assessment says of its imputations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.fitting.imputed.posterior import ImputedPosterior
from bayescal.posterior.functionals import FUNCTIONALS, main_functionals
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["imputations_note", "imputations_sentence"]

FEW_IMPUTATIONS = 20
MUCH_MISSING = 0.3


def imputations_sentence(post: CalibrationPosterior) -> str:
    """How imputations were combined, for the methods; empty if nothing was imputed."""
    if not isinstance(post, ImputedPosterior):
        return ""
    return (
        f"{len(post.imputations)} imputations were combined: the curves were fitted to each, and "
        "the draws of their posteriors were mixed in equal shares (Zhou and Reiter, 2010), with "
        "the deviations between imputations enlarged to Rubin's total variance (Rubin, 1987). "
        f"{_missing_information(post)} Estimators were computed on each imputation and averaged. "
    )


def imputations_note(post: ImputedPosterior) -> str:
    """What a reader should know of the imputations."""
    m, share = len(post.imputations), float(_shares(post).max())
    text = f"{m} imputations were combined. {_missing_information(post)}"
    if m < FEW_IMPUTATIONS and share > MUCH_MISSING:
        text += (
            f" With a fraction as large as {share:.2f}, {m} imputations are too few to estimate "
            f"the variance between them: impute at least {FEW_IMPUTATIONS} times."
        )
    return text


def _missing_information(post: ImputedPosterior) -> str:
    """The fractions of missing information, in a sentence."""
    shares = _shares(post)
    told = [
        f"{shares[name]:.2f} ({FUNCTIONALS[name].words})"
        for name in main_functionals()
        if name in shares
    ]
    return f"The fraction of missing information is {', '.join(told)}."


def _shares(post: ImputedPosterior) -> pd.Series:
    return post.missing_information["missing_information"]
