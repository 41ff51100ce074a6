"""The average risk, and what follows from its size."""

from __future__ import annotations

from bayescal.data.data import CalibrationData

__all__ = ["close_enough", "is_extreme", "mean_score", "observed_expected"]

CLOSE = 0.03
SHARE_OF_RISK = 0.25
LEAST_CLOSE = 1e-4
RARE_RISK = 0.05


def mean_score(data: CalibrationData) -> float:
    """Average predicted probability over the cases."""
    return float(data.trials @ data.score / data.n)


def observed_expected(data: CalibrationData) -> float | None:
    """Events over the sum of the predicted probabilities; None where no event was expected."""
    expected = float(data.trials @ data.score)
    return data.events / expected if expected > 0 else None


def is_extreme(risk: float) -> bool:
    """Whether an average risk is so far from one half that the prior on it matters."""
    return not RARE_RISK <= risk <= 1 - RARE_RISK


def close_enough(data: CalibrationData) -> float:
    """A true calibration error that would do no harm, to one digit.

    It is 0.03, or a quarter of the mean score (or of one minus it) when that is smaller.
    """
    mean = mean_score(data)
    share = SHARE_OF_RISK * min(mean, 1 - mean)
    return float(f"{min(CLOSE, max(share, LEAST_CLOSE)):.1g}")
