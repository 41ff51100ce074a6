"""Does the probability of calibration depend on the prior? The same data under each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logsumexp

from bayescal._base.arrays import Floats
from bayescal.data.data import CalibrationData
from bayescal.inference.averaging import sample_family
from bayescal.inference.density import CurveDensity, sample_importance
from bayescal.model.curves import CURVES
from bayescal.model.priors import MODEST, PRESETS
from bayescal.model.problem import Settings
from bayescal.posterior.functionals import CurveDraws, tce
from bayescal.posterior.population import draw_population
from bayescal.posterior.tree import CHAINS, with_chains

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["prior_sensitivity"]

ALTERNATIVES = ("logistic", "beta")


def prior_sensitivity(
    settings: Settings,
    data: CalibrationData,
    weights: Mapping[str, float],
    draws: int,
    bic: float,
    pieces: float,
) -> pd.DataFrame:
    """The probability of calibration under each preset, the prior in use, modest errors, and BIC.

    Parameters
    ----------
    settings : Settings
        Of the comparison.
    data : CalibrationData
    weights : mapping of str to float
        Prior probabilities of the families.
    draws : int
    bic : float
        Probability by BIC at even odds, against logistic recalibration.
    pieces : float
        Log evidence of `pieces`, whose prior is the same under all of them.

    Returns
    -------
    pandas.DataFrame
        Indexed by prior; see `CurveComparison.sensitivity`.
    """
    import pandas as pd

    priors = PRESETS | {settings.prior.name: settings.prior}
    priors[MODEST.name] = MODEST
    rows = {}
    for name, prior in priors.items():
        under = settings.with_prior(prior, data)
        evidence = _evidence(under, data, weights, draws) | {"pieces": pieces}
        rows[name] = _probabilities(evidence, weights) | _power_scaling(under, data, draws)
    if _contradicted(data):
        nearer = settings.with_edges(settings.edges.nearer(10), data)
        evidence = _evidence(nearer, data, weights, draws)
        evidence["pieces"] = sample_family(nearer, data, "pieces", draws).log_evidence
        rows[f"{settings.prior.name}, 0 and 1 read ten times nearer"] = _probabilities(
            evidence, weights
        )
    rows["BIC"] = {"prob_calibrated": _shift_odds(bic, weights["identity"]), "logistic": bic}
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "prior"
    return table


def _evidence(
    settings: Settings, data: CalibrationData, weights: Mapping[str, float], draws: int
) -> dict[str, float]:
    """Log evidence of every family but `pieces`."""
    wanted = {*ALTERNATIVES, *(curve for curve, weight in weights.items() if weight > 0)}
    return {
        curve: sample_family(settings, data, curve, draws).log_evidence
        for curve in CURVES
        if curve in wanted and curve != "pieces"
    }


def _contradicted(data: CalibrationData) -> bool:
    """Whether an outcome contradicts a score of exactly 0 or 1."""
    at_zero, at_one = data.score == 0, data.score == 1
    return bool(data.hits[at_zero].any() or (data.trials - data.hits)[at_one].any())


def _probabilities(evidence: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    others = [name for name, weight in weights.items() if weight > 0 and name != "identity"]
    share = np.array([weights[name] for name in others])
    rest = float(logsumexp([evidence[name] for name in others], b=share / share.sum()))
    even = {
        "logistic": float(expit(evidence["identity"] - evidence["logistic"])),
        "beta": float(expit(evidence["identity"] - evidence["beta"])),
        "average": float(expit(evidence["identity"] - rest)),
    }
    return {"prob_calibrated": _shift_odds(even["average"], weights["identity"])} | even


def _shift_odds(even: float, prior: float) -> float:
    """A probability at even prior odds, moved to another prior."""
    return even * prior / (even * prior + (1 - even) * (1 - prior))


def _power_scaling(settings: Settings, data: CalibrationData, draws: int) -> dict[str, float]:
    """Power-scaling sensitivity of TCE in the beta family, to prior and to likelihood.

    Kallioinen et al. (2024), Detecting and diagnosing prior and likelihood sensitivity with
    power-scaling, Statistics and Computing 34.
    """
    import xarray as xr

    of_beta = settings.of_family(CURVES["beta"])
    u = sample_importance(of_beta, data, draws).draws
    score = of_beta.edges.inside(data.score)
    error = np.empty(u.shape[0])
    trials = data.trials * data.weight_scale
    for part, population in draw_population("sample", score, trials, u.shape[0], of_beta.rng("")):
        curve = of_beta.curve.probability(u[part], score, of_beta.frame)
        error[part] = tce(CurveDraws(curve, population))
    density = CurveDensity(of_beta, data)

    def group(name: str, values: Floats) -> xr.Dataset:
        return xr.Dataset({name: (("chain", "draw"), with_chains(values, CHAINS))})

    tree = xr.DataTree.from_dict(
        {
            "posterior": group("tce", error),
            "log_prior": group("curve", of_beta.prior.logpdf(of_beta.curve.coordinates, u)),
            "log_likelihood": group("outcomes", density.log_likelihood(u)),
        }
    )
    return {
        "tce_prior_sensitivity": _psense(tree, "prior"),
        "tce_likelihood_sensitivity": _psense(tree, "likelihood"),
    }


def _psense(tree: xr.DataTree, group: str) -> float:
    """By ArviZ; NaN where the draws hardly vary, so that there is nothing to scale."""
    import arviz_stats

    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(arviz_stats.psense(tree, group=group)["tce"])
    except ValueError:
        return float("nan")
