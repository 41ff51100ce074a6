"""Net benefit at thresholds, and the value of information, of the curves of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_count, as_items, check_choice
from bayescal.posterior.decisions.information import Information, by_cells, by_curve
from bayescal.posterior.decisions.strategies import by_score
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import net_benefit, net_benefit_of_all

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["information", "net_benefits"]

INFORMATION_METHODS = ("curve", "cells")
INFORMATION_POPULATIONS = ("bootstrap", "sample")
MOST_FURTHER_CASES = 10**9


def net_benefits(of: CurvesOfTable, at: Floats, kind: str) -> Floats:
    """Net benefit of treating by the model and of treating all, of shape (draws, 2, thresholds)."""
    treated = by_score(of.problem, at)
    benefit = np.empty((len(of.u), 2, at.size))
    for part, draws in of.draws(kind):
        own = draws.population.score.ndim == 1
        benefit[part, 0] = net_benefit(draws, at, *(treated if own else ()))
        benefit[part, 1] = net_benefit_of_all(draws, at)
    return benefit


def information(
    tables: Sequence[CurvesOfTable],
    at: Floats,
    n_more: Any,
    method: str,
    kind: str,
    *,
    has_outcomes: bool,
) -> xr.Dataset:
    """Value of knowing more; see `CalibrationPosterior.value_of_information`.

    Parameters
    ----------
    at : ndarray of shape (thresholds,)
    has_outcomes : bool
        Whether the cases at hand have any, which can be counted.
    """
    import xarray as xr

    sizes = _as_sizes(n_more)
    check_choice(kind, INFORMATION_POPULATIONS, "population")
    check_choice(method, INFORMATION_METHODS, "method")
    if tables[0].departure is not None:
        raise InputError(
            "value_of_information is of the prevalence that was fitted. Ask the posterior before "
            "at_prevalence."
        )
    if method == "cells" and not has_outcomes:
        raise InputError(
            "method='cells' counts patients with outcomes, and these are scores alone. Use "
            "method='curve'."
        )
    problem = tables[0].problem
    if problem.clusters is not None:
        _check_without_clusters(sizes, method)
    if method == "cells" and problem.of_times:
        raise InputError(
            "method='cells' counts outcomes that are known, and some cases left before the "
            "horizon. Take method='curve'."
        )
    if method == "cells" and len(tables) > 1:
        raise InputError(
            "method='cells' counts the cases of one table, and these are several imputations. "
            "Use method='curve'."
        )
    by_counts = method == "cells"
    known = by_cells(problem, at, sizes) if by_counts else by_curve(tables, at, sizes, kind)
    coords: dict[str, Any] = {"threshold": at, "strategy": list(known.strategies)}
    if n_more is not None:
        coords["n_more"] = sizes if np.ndim(n_more) else sizes[0]
    cases = float(np.mean([table.problem.n for table in tables]))
    return xr.Dataset(
        _variables(known, several=bool(np.ndim(n_more))),
        coords,
        {"method": method, "population": kind, "cases": cases},
    )


def _check_without_clusters(sizes: list[int], method: str) -> None:
    """Refuse what takes patients as independent."""
    named = "n_more" if sizes else "method='cells'"
    if sizes or method == "cells":
        raise InputError(
            f"{named} takes patients as independent, and these come in clusters. Leave it out: "
            "the value of perfect information by the curve counts clusters."
        )


def _as_sizes(n_more: Any) -> list[int]:
    """Numbers of further patients, as a list."""
    if n_more is None:
        return []
    one = np.ndim(n_more) == 0 if isinstance(n_more, np.ndarray) else np.isscalar(n_more)
    given = [n_more] if one else as_items(n_more, "n_more")
    if not given:
        raise InputError("n_more is empty: give a number of patients, or several, or leave it out.")
    return [as_count(each, "n_more", maximum=MOST_FURTHER_CASES) for each in given]


def _variables(of: Information, *, several: bool) -> dict[str, Any]:
    """Variables of the dataset, each with its dims."""
    by_strategy, by_size = ("threshold", "strategy"), ("threshold", "n_more")
    variables: dict[str, Any] = {
        "net_benefit": (by_strategy, of.net_benefit),
        "prob_best": (by_strategy, of.prob_best),
        "evpi": ("threshold", of.evpi),
        "evpi_error": ("threshold", of.evpi_error),
    }
    if of.evpi_of_recalibrating is not None:
        variables["evpi_of_recalibrating"] = ("threshold", of.evpi_of_recalibrating)
    for name in ("evsi", "evsi_error", "evsi_of_recalibrating"):
        columns = [getattr(each, name) for each in of.sampled]
        if columns and columns[0] is not None:
            stacked = np.stack(columns, axis=1)
            variables[name] = (by_size, stacked) if several else ("threshold", stacked[:, 0])
    return variables
