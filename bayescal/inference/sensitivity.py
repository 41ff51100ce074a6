"""Does the probability of calibration depend on the prior? The same data under each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from bayescal.core.arrays import Floats
from bayescal.data.table import CalibrationData
from bayescal.inference.averaging import FamilySamples, Mixture
from bayescal.inference.density import density_of
from bayescal.model.curves import CURVES
from bayescal.model.draws import CHAINS
from bayescal.model.priors import MODEST, PRESETS, Prior
from bayescal.model.problem import Problem
from bayescal.posterior.functionals import CurveDraws, tce
from bayescal.posterior.population import draw_population
from bayescal.posterior.stored import with_chains

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["power_scaling", "power_scaling_of", "probabilities_by_prior"]

ALTERNATIVES = ("logistic", "beta")
ALPHAS = 0.99, 1.01
"""Powers of a density between which the change of the posterior is measured."""


def probabilities_by_prior(
    samples: FamilySamples, weights: Mapping[str, float], bic: float
) -> pd.DataFrame:
    """The probability of calibration under each preset, the prior in use, modest errors, and BIC.

    Parameters
    ----------
    samples : FamilySamples
        Of the comparison; families that it has drawn already are not drawn again.
    weights : mapping of str to float
        Prior probabilities of the families.
    bic : float
        Probability by BIC at even odds, against logistic recalibration.

    Returns
    -------
    pandas.DataFrame
        Indexed by prior; see `CurveComparison.prob_by_prior`.
    """
    import pandas as pd

    own = samples.problem.prior.name
    rows = {
        name: _probabilities(samples.under(prior), weights)
        for name, prior in _priors(samples).items()
    }
    if not samples.problem.frame.scores and _contradicted(samples.problem.data):
        nearer = samples.nearer_edges(10)
        rows[f"{own}, 0 and 1 read ten times nearer"] = _probabilities(nearer, weights)
    if np.isfinite(bic):
        rows["BIC"] = {"prob_calibrated": _shift_odds(bic, weights["identity"]), "logistic": bic}
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "prior"
    return table


def power_scaling(samples: FamilySamples) -> pd.DataFrame:
    """Power-scaling sensitivity of TCE in the beta family, under the same priors.

    Returns
    -------
    pandas.DataFrame
        Indexed by prior. Columns: tce_prior_sensitivity, tce_likelihood_sensitivity.

    References
    ----------
    Kallioinen et al. (2024), Detecting and diagnosing prior and likelihood sensitivity with
    power-scaling, Statistics and Computing 34.
    """
    import pandas as pd

    rows = {}
    for name, prior in _priors(samples).items():
        under = samples.under(prior)
        rows[name] = _power_scaling(under.problem, under["beta"].draws)
    return pd.DataFrame.from_dict(rows, orient="index")


def _priors(samples: FamilySamples) -> dict[str, Prior]:
    """The presets, the prior in use and that of modest errors, by name."""
    own = samples.problem.prior
    return PRESETS | {own.name: own, MODEST.name: MODEST}


def _contradicted(data: CalibrationData) -> bool:
    """Whether an outcome contradicts a score of exactly 0 or 1."""
    at_zero, at_one = data.score == 0, data.score == 1
    return bool(data.hits[at_zero].any() or (data.trials - data.hits)[at_one].any())


def _probabilities(samples: FamilySamples, weights: Mapping[str, float]) -> dict[str, float]:
    """Of exact calibration: by the average, and against each family under this prior alone."""
    mixture, exact = Mixture(samples, weights, CHAINS), samples["identity"].log_evidence
    rest = mixture.log_evidence_of_rest
    even = {name: float(expit(exact - samples[name].log_evidence)) for name in ALTERNATIVES}
    average = float(expit(exact - rest))
    calibrated = _shift_odds(average, weights["identity"])
    return {"prob_calibrated": calibrated} | even | {"average": average}


def _shift_odds(even: float, prior: float) -> float:
    """A probability at even prior odds, moved to another prior."""
    return even * prior / (even * prior + (1 - even) * (1 - prior))


def _power_scaling(problem: Problem, u: Floats) -> dict[str, float]:
    """Sensitivity of TCE in the beta family to prior and to likelihood."""
    of_beta = problem.of_family(CURVES["beta"])
    error = np.empty(u.shape[0])
    for part, population in draw_population(
        "sample", of_beta.stated, of_beta.trials, u.shape[0], of_beta.rng("")
    ):
        error[part] = tce(CurveDraws(of_beta.probability(u[part]), population))
    log_prior = of_beta.prior.logpdf(of_beta.curve.coordinates, u)
    log_likelihood = density_of(of_beta).log_likelihood(u)
    prior, likelihood = power_scaling_of(error, log_prior, log_likelihood)
    return {"tce_prior_sensitivity": prior, "tce_likelihood_sensitivity": likelihood}


def power_scaling_of(
    values: Floats, log_prior: Floats, log_likelihood: Floats
) -> tuple[float, float]:
    """Sensitivity of draws of a quantity to prior and to likelihood.

    Parameters
    ----------
    values, log_prior, log_likelihood : ndarray of shape (draws,)

    Returns
    -------
    prior, likelihood : float
        NaN where the draws hardly vary.
    """
    by_chain = with_chains(values, CHAINS)
    prior, likelihood = (
        _power_scale_sensitivity(by_chain, with_chains(each, CHAINS))
        for each in (log_prior, log_likelihood)
    )
    return prior, likelihood


def _power_scale_sensitivity(values: Floats, log_density: Floats) -> float:
    """By ArviZ, both of shape (chains, draws); NaN where draws hardly vary: nothing to scale.

    It is what `psense` gives, without the trees that it is asked of.
    """
    from arviz_stats.base import array_stats

    both, weights = (0, 1), []
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            for alpha in ALPHAS:
                weight = np.exp(array_stats.power_scale_lw(log_density, alpha=alpha, axis=both))
                weights.append(weight / weight.sum())
            return float(array_stats.power_scale_sense(values, *weights, *ALPHAS))
    except ValueError:
        return float("nan")
