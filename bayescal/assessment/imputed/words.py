"""What an assessment says of its imputations."""

from __future__ import annotations

from bayescal.assessment.findings import Findings
from bayescal.posterior.imputed.posterior import by_imputation

__all__ = ["imputations_note", "imputations_sentence"]

SHOWN = {
    "tce": "the true calibration error",
    "observed_expected": "O/E",
    "calibration_slope": "the slope",
}
FEW_IMPUTATIONS = 20
MUCH_MISSING = 0.3


def imputations_sentence(f: Findings) -> str:
    """How imputations were combined, for the methods; empty if nothing was imputed."""
    if f.missing_information is None:
        return ""
    return (
        f"{_count(f)} imputations were combined: the curves were fitted to each, and "
        "the draws of their posteriors were mixed in equal shares (Zhou and Reiter, 2010), with "
        "the deviations between imputations enlarged to Rubin's total variance (Rubin, 1987). "
        f"{_missing_information(f)} Estimators were computed on each imputation and "
        "averaged. "
    )


def imputations_note(f: Findings) -> str:
    """What a reader should know of the imputations; empty if nothing was imputed."""
    table = f.missing_information
    if table is None:
        return ""
    share = float(table["missing_information"].max())
    text = f"{_count(f)} imputations were combined. {_missing_information(f)}"
    if _count(f) < FEW_IMPUTATIONS and share > MUCH_MISSING:
        text += (
            f" With a fraction as large as {share:.2f}, {_count(f)} imputations are too few to "
            f"estimate the variance between them: impute at least {FEW_IMPUTATIONS} times."
        )
    return text


def _missing_information(f: Findings) -> str:
    """The fractions of missing information, in a sentence; empty if nothing was imputed."""
    table = f.missing_information
    if table is None:
        return ""
    shares = table["missing_information"]
    told = [f"{shares[name]:.2f} for {label}" for name, label in SHOWN.items() if name in shares]
    return f"The fraction of missing information is {', '.join(told)}."


def _count(f: Findings) -> int:
    return len(by_imputation(f.posterior))
