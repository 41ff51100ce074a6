"""The model-averaged posterior: draws of every family, in proportion to its probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal._importance import Sample, mix_samples
from bayescal._tree import CHAINS, fit_tree, with_chains
from bayescal.curves import CURVES, in_average
from bayescal.data import CalibrationData
from bayescal.posterior import CalibrationPosterior
from bayescal.settings import Settings

__all__ = ["average_posterior", "mix_families", "posterior_probabilities"]


def average_posterior(
    settings: Settings,
    data: CalibrationData,
    samples: Mapping[str, Sample],
    weights: Mapping[str, float],
    draws: int,
) -> CalibrationPosterior:
    """Mix the families' draws by prior weight times evidence.

    Parameters
    ----------
    settings : Settings
        Of the average: one centre and one set of knots for all families.
    data : CalibrationData
    samples : mapping of str to Sample
        Draws and evidence of each family.
    weights : mapping of str to float
        Prior probabilities; families of weight zero are left out.
    draws : int

    Returns
    -------
    CalibrationPosterior
        Its tree holds an integer `family` per draw, an index into the attribute `families`.
    """
    import xarray as xr

    mixed, part = mix_families(settings, samples, weights, draws)
    coordinates = {
        name: with_chains(mixed.draws[:, column], CHAINS)
        for column, name in enumerate(settings.curve.coordinates)
    }
    kept = ("pareto_k", "ess", "log_evidence", "log_evidence_error")
    stats = xr.Dataset({name: getattr(mixed, name) for name in kept})
    tree = fit_tree(
        settings,
        data,
        coordinates | {"family": with_chains(part, CHAINS)},
        stats,
        engine="importance",
        chains=CHAINS,
        draws=draws // CHAINS,
        families={name: float(weights[name]) for name in samples if weights[name] > 0},
    )
    return CalibrationPosterior(tree)


def mix_families(
    settings: Settings, samples: Mapping[str, Sample], weights: Mapping[str, float], draws: int
) -> tuple[Sample, NDArray[np.intp]]:
    """The mixture itself, in the union of coordinates; see `average_posterior`.

    Returns
    -------
    mixed : Sample
    part : ndarray of shape (draws,)
        Which of the families with any weight each draw is of.
    """
    names = [name for name in samples if weights[name] > 0]
    parts = [
        replace(sample, draws=in_average(CURVES[name], sample.draws, settings.frame))
        for name, sample in samples.items()
        if weights[name] > 0
    ]
    log_weights = np.log([weights[name] for name in names])
    return mix_samples(parts, log_weights, draws, settings.rng("average"))


def posterior_probabilities(
    log_evidence: Mapping[str, float], weights: Mapping[str, float]
) -> dict[str, float]:
    """Probability of each family given the data; zero for those without prior weight."""
    names = [name for name, weight in weights.items() if weight > 0]
    joint = np.array([np.log(weights[name]) + log_evidence[name] for name in names])
    found = dict(zip(names, np.exp(joint - logsumexp(joint)).tolist(), strict=True))
    return {name: found.get(name, 0.0) for name in log_evidence}
