"""The average: draws of every family but exact calibration, in proportion to its probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal._base.arrays import Floats
from bayescal._base.sampling.importance import Sample, mix_samples
from bayescal.inference.density import sample_importance
from bayescal.inference.pieces import sample_pieces
from bayescal.model.curves import CURVES, in_average
from bayescal.model.pieces import RARELY_CALIBRATED
from bayescal.model.problem import Problem
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.tree import Averaged, Drawn

__all__ = [
    "average_posterior",
    "mix_families",
    "posterior_probabilities",
    "sample_family",
    "without_identity",
]


def average_posterior(
    problem: Problem,
    samples: Mapping[str, Sample],
    weights: Mapping[str, float],
    draws: int,
    often_calibrated: Sample,
) -> CalibrationPosterior:
    """Mix the families' draws by prior weight times evidence; `identity` is not among them.

    Exact calibration is a hypothesis with a probability of its own, which the posterior keeps
    beside its draws. Mixed in, it would pull every interval onto one point.

    Parameters
    ----------
    problem : Problem
        Of the average: one centre and one set of knots for all families.
    samples : mapping of str to Sample
        Draws and evidence of each family.
    weights : mapping of str to float
        Prior probabilities, `identity` included; families of weight zero are left out.
    draws : int
    often_calibrated : Sample
        Stretches that like the diagonal, for the lower reading of distances.

    Returns
    -------
    CalibrationPosterior
        Its tree holds an integer `family` per draw, an index into the attribute `families`.
    """
    curved = without_identity(weights)
    evidence = {name: sample.log_evidence for name, sample in samples.items()}
    mixed, part = mix_families(problem, samples, curved, draws)
    averaged = Averaged(
        families={name: weight for name, weight in curved.items() if weight > 0},
        prob_calibrated=posterior_probabilities(evidence, weights)["identity"],
        family=part,
        lower_reading=_lower_reading(problem, samples, weights, often_calibrated, draws),
    )
    return CalibrationPosterior.of_draws(Drawn.of_sample(problem, mixed, averaged))


def _lower_reading(
    problem: Problem,
    samples: Mapping[str, Sample],
    weights: Mapping[str, float],
    often_calibrated: Sample,
    draws: int,
) -> Floats:
    """Stretches that like the diagonal, and exact calibration, all of whose cells lie on it."""
    everywhere = replace(samples["identity"], draws=np.zeros_like(often_calibrated.draws))
    prior = weights["identity"]
    log_weights = np.log([prior, 1 - prior])
    rng = problem.rng("lower reading")
    return mix_samples([everywhere, often_calibrated], log_weights, draws, rng)[0].draws


def mix_families(
    problem: Problem, samples: Mapping[str, Sample], weights: Mapping[str, float], draws: int
) -> tuple[Sample, NDArray[np.intp]]:
    """The mixture itself, in the union of coordinates; see `average_posterior`.

    Returns
    -------
    mixed : Sample
    part : ndarray of shape (draws,)
        Which of the families with any weight each draw is of.
    """
    names = [name for name, weight in weights.items() if weight > 0]
    parts = [
        replace(
            samples[name],
            draws=in_average(CURVES[name], samples[name].draws, problem.curve, problem.frame),
        )
        for name in names
    ]
    log_weights = np.log([weights[name] for name in names])
    return mix_samples(parts, log_weights, draws, problem.rng("average"))


def without_identity(weights: Mapping[str, float]) -> dict[str, float]:
    """Prior weights of the other families, scaled to sum to 1."""
    others = {name: float(weight) for name, weight in weights.items() if name != "identity"}
    total = sum(others.values())
    return {name: weight / total for name, weight in others.items()}


def posterior_probabilities(
    log_evidence: Mapping[str, float], weights: Mapping[str, float]
) -> dict[str, float]:
    """Probability of each family given the data; zero for those without prior weight."""
    names = [name for name, weight in weights.items() if weight > 0]
    joint = np.array([np.log(weights[name]) + log_evidence[name] for name in names])
    share = dict(zip(names, np.exp(joint - logsumexp(joint)).tolist(), strict=True))
    return {name: share.get(name, 0.0) for name in log_evidence}


def sample_family(problem: Problem, name: str, draws: int) -> Sample:
    """Draws and evidence of one family at the constants of the average."""
    if name == "pieces":
        return sample_pieces(problem, draws, (RARELY_CALIBRATED,))[0]
    return sample_importance(problem.of_family(CURVES[name]), draws)
