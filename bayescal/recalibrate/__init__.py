"""Recalibrators: scikit-learn estimators that map predicted probabilities to better ones.

All share `fit(X, y)`, `predict_proba(X)` and `transform(X)`, where X are the probabilities of a
model; those of `VarianceRecalibrator` are predicted means and variances. Fit them to cases that
the model was not trained on.
"""

from __future__ import annotations

from bayescal.recalibrate.base import Recalibrator
from bayescal.recalibrate.bayesian import BayesianRecalibrator, TPMRecalibrator
from bayescal.recalibrate.classifier import RecalibratedClassifier
from bayescal.recalibrate.regression import (
    BetaRecalibrator,
    EnsembleTemperatureRecalibrator,
    InterceptRecalibrator,
    LogisticRecalibrator,
    SplineRecalibrator,
    TemperatureRecalibrator,
    VectorScalingRecalibrator,
)
from bayescal.recalibrate.steps import (
    BBQRecalibrator,
    DiagonalRecalibrator,
    HistogramRecalibrator,
    IsotonicRecalibrator,
    MonotoneRecalibrator,
    SmoothRecalibrator,
)
from bayescal.recalibrate.trees import (
    DecisionTreeRecalibrator,
    ProbabilityCalibrationTreeRecalibrator,
)
from bayescal.recalibrate.variance import VarianceRecalibrator

__all__ = [
    "BBQRecalibrator",
    "BayesianRecalibrator",
    "BetaRecalibrator",
    "DecisionTreeRecalibrator",
    "DiagonalRecalibrator",
    "EnsembleTemperatureRecalibrator",
    "HistogramRecalibrator",
    "InterceptRecalibrator",
    "IsotonicRecalibrator",
    "LogisticRecalibrator",
    "MonotoneRecalibrator",
    "ProbabilityCalibrationTreeRecalibrator",
    "RecalibratedClassifier",
    "Recalibrator",
    "SmoothRecalibrator",
    "SplineRecalibrator",
    "TPMRecalibrator",
    "TemperatureRecalibrator",
    "VarianceRecalibrator",
    "VectorScalingRecalibrator",
]


def __dir__() -> list[str]:
    return sorted(__all__)
