"""Proper scores, what they are made of, and what they bound; net benefit and discrimination.

Every function takes `(y_true, y_prob)` and needs NumPy and SciPy only; those of the taxonomy take
true probabilities in place of outcomes, and `dawid_sebastiani_score` and `gaussian_skce` a number
with its predicted mean and variance. Scores of an event also take many outcomes at the same scores
in one call, or a `CalibrationData`; on the grid of a large one, cases have the mean score of their
cell. All raise `InputError` where the arrays are not of the same cases, or a score is not known.
"""

from __future__ import annotations

from bayescal.scores.decision import DecisionCurve as DecisionCurve
from bayescal.scores.decision import dawid_sebastiani_score as dawid_sebastiani_score
from bayescal.scores.decision import decision_curve as decision_curve
from bayescal.scores.decision import gaussian_skce as gaussian_skce
from bayescal.scores.decision import net_benefit as net_benefit
from bayescal.scores.decision import standardised_net_benefit as standardised_net_benefit
from bayescal.scores.decomposition import Decomposition as Decomposition
from bayescal.scores.decomposition import calibration_upper_bound as calibration_upper_bound
from bayescal.scores.decomposition import canonical_calibration_error as canonical_calibration_error
from bayescal.scores.decomposition import (
    class_wise_calibration_error as class_wise_calibration_error,
)
from bayescal.scores.decomposition import corp_decomposition as corp_decomposition
from bayescal.scores.decomposition import murphy_decomposition as murphy_decomposition
from bayescal.scores.decomposition import proper_calibration_error as proper_calibration_error
from bayescal.scores.decomposition import proper_decomposition as proper_decomposition
from bayescal.scores.decomposition import top_label_calibration_error as top_label_calibration_error
from bayescal.scores.proper import (
    bernoulli_dawid_sebastiani_score as bernoulli_dawid_sebastiani_score,
)
from bayescal.scores.proper import brier_score as brier_score
from bayescal.scores.proper import c_statistic as c_statistic
from bayescal.scores.proper import log_score as log_score
from bayescal.scores.proper import root_brier_score as root_brier_score
from bayescal.scores.proper import scaled_brier_score as scaled_brier_score
from bayescal.scores.proper import somers_dxy as somers_dxy
from bayescal.scores.proper import spherical_score as spherical_score

__all__ = sorted(name for name, thing in globals().items() if callable(thing))


def __dir__() -> list[str]:
    return __all__
