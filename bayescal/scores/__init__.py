"""Proper scores, what they are made of, and what they bound; net benefit and discrimination.

Every function takes `(y_true, y_prob)` and needs NumPy and SciPy only; those of the taxonomy take
true probabilities in place of outcomes, and `dawid_sebastiani_score` and `gaussian_skce` a number
with its predicted mean and variance. Scores of an event also take many outcomes at the same scores
in one call, or a `CalibrationData`; on the grid of a large one, cases have the mean score of their
cell.
"""

from __future__ import annotations

from bayescal.scores.decision import (
    DecisionCurve,
    dawid_sebastiani_score,
    decision_curve,
    gaussian_skce,
    net_benefit,
    standardised_net_benefit,
)
from bayescal.scores.decomposition import (
    Decomposition,
    calibration_upper_bound,
    canonical_calibration_error,
    class_wise_calibration_error,
    corp_decomposition,
    murphy_decomposition,
    proper_calibration_error,
    proper_decomposition,
    top_label_calibration_error,
)
from bayescal.scores.proper import (
    bernoulli_dawid_sebastiani_score,
    brier_score,
    c_statistic,
    log_score,
    root_brier_score,
    scaled_brier_score,
    somers_dxy,
    spherical_score,
)

__all__ = [
    "DecisionCurve",
    "Decomposition",
    "bernoulli_dawid_sebastiani_score",
    "brier_score",
    "c_statistic",
    "calibration_upper_bound",
    "canonical_calibration_error",
    "class_wise_calibration_error",
    "corp_decomposition",
    "dawid_sebastiani_score",
    "decision_curve",
    "gaussian_skce",
    "log_score",
    "murphy_decomposition",
    "net_benefit",
    "proper_calibration_error",
    "proper_decomposition",
    "root_brier_score",
    "scaled_brier_score",
    "somers_dxy",
    "spherical_score",
    "standardised_net_benefit",
    "top_label_calibration_error",
]


def __dir__() -> list[str]:
    return sorted(__all__)
