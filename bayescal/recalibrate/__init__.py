"""Recalibrators: scikit-learn estimators that map predicted probabilities to better ones.

All share `fit(X, y)`, `predict_proba(X)` and `transform(X)`, where X are the probabilities of a
model; those of `VarianceRecalibrator` are predicted means and variances. Fit them to cases that
the model was not trained on.
"""

from __future__ import annotations

from bayescal.recalibrate.base import Recalibrator as Recalibrator
from bayescal.recalibrate.bayesian import BayesianRecalibrator as BayesianRecalibrator
from bayescal.recalibrate.bayesian import TPMRecalibrator as TPMRecalibrator
from bayescal.recalibrate.classifier import RecalibratedClassifier as RecalibratedClassifier
from bayescal.recalibrate.regression import BetaRecalibrator as BetaRecalibrator
from bayescal.recalibrate.regression import (
    EnsembleTemperatureRecalibrator as EnsembleTemperatureRecalibrator,
)
from bayescal.recalibrate.regression import InterceptRecalibrator as InterceptRecalibrator
from bayescal.recalibrate.regression import LogisticRecalibrator as LogisticRecalibrator
from bayescal.recalibrate.regression import SplineRecalibrator as SplineRecalibrator
from bayescal.recalibrate.regression import TemperatureRecalibrator as TemperatureRecalibrator
from bayescal.recalibrate.regression import VectorScalingRecalibrator as VectorScalingRecalibrator
from bayescal.recalibrate.steps import BBQRecalibrator as BBQRecalibrator
from bayescal.recalibrate.steps import DiagonalRecalibrator as DiagonalRecalibrator
from bayescal.recalibrate.steps import HistogramRecalibrator as HistogramRecalibrator
from bayescal.recalibrate.steps import IsotonicRecalibrator as IsotonicRecalibrator
from bayescal.recalibrate.steps import MonotoneRecalibrator as MonotoneRecalibrator
from bayescal.recalibrate.steps import SmoothRecalibrator as SmoothRecalibrator
from bayescal.recalibrate.trees import DecisionTreeRecalibrator as DecisionTreeRecalibrator
from bayescal.recalibrate.trees import (
    ProbabilityCalibrationTreeRecalibrator as ProbabilityCalibrationTreeRecalibrator,
)
from bayescal.recalibrate.variance import VarianceRecalibrator as VarianceRecalibrator

__all__ = sorted(name for name, thing in globals().items() if callable(thing))


def __dir__() -> list[str]:
    return __all__
