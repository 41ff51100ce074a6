"""Recalibrators: scikit-learn estimators that map predicted probabilities to better ones.

All share `fit(X, y)`, `predict_proba(X)` and `transform(X)`, where X are the probabilities of a
model; those of `VarianceRecalibrator` are predicted means and variances. Fit them to cases that
the model was not trained on.
"""

from __future__ import annotations

from bayescal.recalibrate._base import Recalibrator
from bayescal.recalibrate.bayesian import BayesianRecalibrator
from bayescal.recalibrate.bbq import BBQRecalibrator
from bayescal.recalibrate.beta import BetaRecalibrator
from bayescal.recalibrate.calibration_tree import ProbabilityCalibrationTreeRecalibrator
from bayescal.recalibrate.classifier import RecalibratedClassifier
from bayescal.recalibrate.decision_tree import DecisionTreeRecalibrator
from bayescal.recalibrate.diagonal import DiagonalRecalibrator
from bayescal.recalibrate.ensemble_temperature import EnsembleTemperatureRecalibrator
from bayescal.recalibrate.histogram import HistogramRecalibrator
from bayescal.recalibrate.intercept import InterceptRecalibrator
from bayescal.recalibrate.isotonic import IsotonicRecalibrator
from bayescal.recalibrate.logistic import LogisticRecalibrator
from bayescal.recalibrate.monotone import MonotoneRecalibrator
from bayescal.recalibrate.smooth import SmoothRecalibrator
from bayescal.recalibrate.spline import SplineRecalibrator
from bayescal.recalibrate.temperature import TemperatureRecalibrator
from bayescal.recalibrate.tpm import TPMRecalibrator
from bayescal.recalibrate.variance import VarianceRecalibrator
from bayescal.recalibrate.vector_scaling import VectorScalingRecalibrator

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
