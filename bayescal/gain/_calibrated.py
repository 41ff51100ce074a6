"""Is a prediction exactly calibrated? The families whose evidence says so, drawn once."""

from __future__ import annotations

from bayescal.data.data import CalibrationData
from bayescal.inference.averaging import posterior_probabilities
from bayescal.inference.ladder import in_order, prior_probabilities
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import average_of, smooth_families
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare

__all__ = ["calibration_samples", "prob_calibrated"]


def calibration_samples(
    data: CalibrationData, prior: Prior, draws: int, seed: int
) -> FamilySamples:
    """The smooth families, exact calibration and stretches, each drawn when it is asked for.

    Parameters
    ----------
    data : CalibrationData
    prior : Prior
    draws, seed : int

    Returns
    -------
    FamilySamples
    """
    names = in_order(smooth_families())
    problem = prepare(data, curve=average_of(names), prior=prior, random_state=seed)
    return FamilySamples(problem, names, draws)


def prob_calibrated(samples: FamilySamples) -> float:
    """Posterior probability of exact calibration, as in `compare` of the same families.

    Parameters
    ----------
    samples : FamilySamples

    Returns
    -------
    float
    """
    evidence = {name: sample.log_evidence for name, sample in samples.items()}
    return posterior_probabilities(evidence, prior_probabilities(list(samples)))["identity"]
