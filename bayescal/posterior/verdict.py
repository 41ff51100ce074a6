"""Whether draws can be trusted, and what the data say of a floor and a ceiling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.sampling import BAD_K
from bayescal.model.clusters import Design, cluster_design
from bayescal.model.draws import Part, worst_of
from bayescal.model.families import RATE_PRIORS
from bayescal.model.lapse import RATES
from bayescal.model.prior import Prior
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.stored import posterior_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["convergence", "diagnosed", "of_imputations", "rates_table", "verdict_of"]


# A rate whose interval is longer than this share of its prior's is not said to be known.
MOST_OF_THE_PRIOR = 0.5
# Least share of the draws with a floor and a ceiling.
FEWEST_BOUNDED = 0.5
PRIOR_DRAWS = 20_000


def rates_table(draws: Mapping[str, Floats], prior: Prior, ci_prob: float) -> pd.DataFrame:
    """The floor and the ceiling of the curve, those whose posterior has left the prior.

    On most clinical scores the data do not tell a floor from a flatter slope. Draws of an average
    are zero where they are of a family without floor and ceiling.
    """
    import pandas as pd

    rows: dict[str, tuple[float, ...]] = {}
    bounded = np.any([draws[name] > 0 for name in RATES if name in draws], axis=0)
    levels = (1 - ci_prob) / 2, (1 + ci_prob) / 2
    even, prior = np.random.default_rng(0), prior.with_others(RATE_PRIORS)
    for name, title in zip(RATES, ("floor", "ceiling"), strict=True):
        if name not in draws or bounded.mean() < FEWEST_BOUNDED:
            continue
        before, rate = prior.of(name).sample(even, PRIOR_DRAWS), draws[name][bounded]
        short = np.ptp(np.quantile(rate, levels))
        if short <= MOST_OF_THE_PRIOR * np.ptp(np.quantile(before, levels)):
            risk = rate if title == "floor" else 1 - rate
            rows[title] = (float(risk.mean()), *equal_tailed(risk, ci_prob))
    columns = ["estimate", "lower", "upper"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns, dtype=np.float64)


BAD_R_HAT = 1.01


def verdict_of(numbers: Mapping[str, float | str], cure: str = "sample with engine='nuts'") -> str:
    """What is wrong with draws of these diagnostics, or "ok": never of an unknown number."""
    unknown = [
        name for name, number in numbers.items() if isinstance(number, float) and math.isnan(number)
    ]
    if unknown:
        return f"{', '.join(unknown)} cannot be computed, so the draws cannot be checked"
    if float(numbers.get("pareto_k", 0)) > BAD_K:
        return f"Pareto k-hat is above {BAD_K}: {cure}"
    if float(numbers.get("divergences", 0)) > 0:
        return "divergences: the sampler missed part of the posterior; use a tighter prior"
    if float(numbers.get("r_hat", 1)) > BAD_R_HAT:
        return f"r-hat is above {BAD_R_HAT}: the chains disagree; draw more"
    return "ok"


def convergence(posterior: xr.Dataset) -> dict[str, float]:
    """The largest r-hat and the smallest effective sizes of any variable.

    `posterior`: draws with dims (chain, draw, ...); returns r_hat, ess_bulk and ess_tail.
    """
    import arviz_stats

    def each(values: xr.Dataset) -> list[float]:
        return [float(values[name].max()) for name in values.data_vars]

    def least(values: xr.Dataset) -> float:
        return min(float(values[name].min()) for name in values.data_vars)

    return {
        "r_hat": max(each(arviz_stats.rhat(posterior))),
        "ess_bulk": least(arviz_stats.ess(posterior, method="bulk")),
        "ess_tail": least(arviz_stats.ess(posterior, method="tail")),
    }


def diagnosed(parts: Sequence[Part], design: Design | None) -> dict[str, Any]:
    """How far draws can be trusted: numbers and a verdict; of several imputations the worst.

    `design`: what clusters make of the number of cases, over all imputations.
    """
    each = [_numbers(part) for part in parts]
    verdicts = [_verdict(part, numbers) for part, numbers in zip(parts, each, strict=True)]
    told = {} if design is None else design.to_dict()
    if len(parts) == 1:
        return {**each[0], **told, "verdict": verdicts[0]}
    return {**worst_of(each), **told, "verdict": of_imputations(verdicts)}


def of_imputations(verdicts: Sequence[Any]) -> str:
    """One verdict of those of all imputations, which are counted from 1."""
    bad = [f"imputation {k}: {each}" for k, each in enumerate(verdicts, 1) if each != "ok"]
    return "; ".join(bad) or "ok"


def _numbers(part: Part) -> dict[str, float]:
    """What importance sampling tells of itself, or the chains of NUTS of each other."""
    if "diverging" not in part.stats:
        return {name: value for name, value in part.stats.items() if not np.ndim(value)}
    drawn, curve = posterior_of(part), part.problem.curve
    kept = {*curve.variables, *curve.coordinates} & set(drawn.data_vars)
    return convergence(drawn[sorted(kept)]) | {"divergences": float(part.stats["diverging"].sum())}


def _verdict(part: Part, numbers: Mapping[str, Any]) -> str:
    """NUTS, the cure of importance sampling, samples one family of single cases."""
    cure, clusters = "sample with engine='nuts'", part.problem.clusters
    if clusters is not None:
        cure = "fit a simpler curve, such as curve='logistic'"
    elif part.averaged is not None:
        cure = "fit one family with engine='nuts', such as curve='beta'"
    if clusters is None:
        return verdict_of(numbers, cure)
    design = cluster_design(part.problem)
    verdict = verdict_of({**numbers, **design.to_dict()}, cure)
    return design.verdict if verdict == "ok" else verdict
