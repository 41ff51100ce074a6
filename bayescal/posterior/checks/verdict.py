"""Whether draws can be trusted: "ok", or what is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bayescal.core.sampling import BAD_K

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["convergence", "verdict_of"]

BAD_R_HAT = 1.01


def verdict_of(numbers: Mapping[str, float | str], cure: str = "sample with engine='nuts'") -> str:
    """What is wrong with draws of which these are the diagnostics, or "ok".

    Parameters
    ----------
    numbers : mapping of str to float
        Of importance sampling with pareto_k; of NUTS with divergences and r_hat.
    cure : str
        What to do where importance sampling fails.

    Returns
    -------
    str
        A number that is not known is never "ok".

    Examples
    --------
    >>> from bayescal.posterior.checks.verdict import verdict_of
    >>> verdict_of({"pareto_k": 0.2, "ess": 3000.0})
    'ok'
    >>> verdict_of({"pareto_k": 0.2, "ess": float("nan")})
    'ess cannot be computed, so the draws cannot be checked'
    """
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

    Parameters
    ----------
    posterior : xarray.Dataset
        Draws with dims (chain, draw, ...).

    Returns
    -------
    dict of str to float
        r_hat, ess_bulk and ess_tail.
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
