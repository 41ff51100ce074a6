"""The posterior as an xarray.DataTree in ArviZ's schema: what each group holds, and its dims."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.sampling import Sample
from bayescal.core.versions import library_versions
from bayescal.data.stored import reading_tree
from bayescal.data.table import CalibrationData
from bayescal.model.curves import Curve
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.times.cases import cases_of_times
from bayescal.model.mixture import sample_prior
from bayescal.model.problem import Problem
from bayescal.posterior.averaged import Averaged

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "CHAINS",
    "OBSERVATION_LIMIT",
    "SAMPLE_STATS",
    "Drawn",
    "as_dataset",
    "complete",
    "coordinates_of",
    "draw_prior",
    "fit_tree",
    "prior_dataset",
    "read_drawn",
    "sample_tree",
    "with_chains",
]

CHAINS = 4
SAMPLE_STATS = ("pareto_k", "ess", "log_evidence", "log_evidence_error")
OBSERVATION_LIMIT = 5000
"""Most cases for which log_likelihood and posterior_predictive are kept case by case."""
OF_SINGLE_CASES = (
    "Of single cases, as if they were independent: leave-one-out of this group does not leave out "
    "whole clusters. bayescal.compare(...).loo does."
)
"""What the log likelihood of cases in clusters is not."""


@dataclass(frozen=True)
class Drawn:
    """What was fitted, and the draws: all that a tree is written from.

    Attributes
    ----------
    u : ndarray of shape (draws, d)
        Working coordinates, chain by chain.
    stats : dict of str to float
        Of importance sampling: pareto_k, ess, log_evidence and log_evidence_error.
    prior : ndarray of shape (draws, d), optional
        Prior draws of the working coordinates, where they are not those of the problem's prior.
    """

    problem: Problem
    u: Floats
    chains: int
    engine: str
    stats: dict[str, float]
    averaged: Averaged | None = None
    prior: Floats | None = None

    @classmethod
    def of_sample(cls, problem: Problem, sample: Sample, averaged: Averaged | None = None) -> Drawn:
        """An importance sample."""
        stats = {name: getattr(sample, name) for name in SAMPLE_STATS}
        return cls(problem, sample.draws, CHAINS, "importance", stats, averaged)


def fit_tree(
    problem: Problem,
    coordinates: dict[str, Floats],
    sample_stats: xr.Dataset,
    *,
    engine: str,
    chains: int,
    draws: int,
    averaged: Averaged | None = None,
) -> xr.DataTree:
    """The groups a fit writes: posterior, sample_stats, observed_data and constant_data.

    Parameters
    ----------
    coordinates : dict of ndarray of shape (chains, draws)
        Draws of the working coordinates.
    averaged : Averaged, optional
        `coordinates` then holds the index of each draw's `family`, and whether it is `exact`, too.
    """
    from bayescal.posterior.arviz_tree import PosteriorTree

    versions = library_versions("bayescal", "numpy", "scipy", "arviz-stats")
    named = {"inference_library": "bayescal", "engine": engine, "versions": versions}
    attributes = problem.to_attributes() | {key: json.dumps(named[key]) for key in named}
    if averaged is not None:
        attributes["families"] = json.dumps(averaged.families)
        attributes["prior_calibrated"] = json.dumps(averaged.weights["identity"])
        attributes["asked"] = json.dumps(dict(averaged.asked))
        attributes["prob_calibrated"] = json.dumps(averaged.prob_calibrated)
    posterior = _with_derived(problem, coordinates, chains, draws)
    groups = {
        "posterior": posterior,
        "sample_stats": sample_stats,
        "observed_data": _observed(problem.data),
        "constant_data": _constant(problem),
    }
    tree = PosteriorTree.from_dict(groups)
    tree.attrs.update(attributes)
    return tree


def sample_tree(drawn: Drawn) -> xr.DataTree:
    """The tree of an importance sample."""
    import xarray as xr

    coordinates = _by_name(drawn.problem, drawn.u, drawn.chains)
    if drawn.averaged is not None:
        averaged = drawn.averaged
        tags = {"family": averaged.family, "exact": averaged.exact.astype(np.int8)}
        for name, tag in tags.items():
            coordinates[name] = with_chains(np.asarray(tag), drawn.chains)
    return fit_tree(
        drawn.problem,
        coordinates,
        xr.Dataset(drawn.stats),
        engine=drawn.engine,
        chains=drawn.chains,
        draws=drawn.u.shape[0] // drawn.chains,
        averaged=drawn.averaged,
    )


@reading_tree()
def read_drawn(tree: xr.DataTree) -> Drawn:
    """Read back what a tree was written from, or what a sampler drew."""
    data = CalibrationData.from_xarray(tree["constant_data"].to_dataset())
    problem = Problem.from_attributes(tree.attrs, data)
    engine = str(json.loads(tree.attrs["engine"]))
    posterior = tree["posterior"].to_dataset()
    stats = tree["sample_stats"].to_dataset()
    known = {name: float(stats[name]) for name in SAMPLE_STATS if name in stats}
    averaged = None
    if "families" in tree.attrs:
        averaged = _read_averaged(tree)
    u, chains = _read_coordinates(posterior, problem), posterior.sizes["chain"]
    if not np.isfinite(u).all():
        raise InputError("the tree's posterior holds draws that are not finite. Refit the data.")
    return Drawn(problem, u, chains, engine, known, averaged)


def complete(tree: xr.DataTree, drawn: Drawn) -> None:
    """Add the groups that cost time, in place: predictive, likelihood and prior draws.

    log_likelihood is of single cases, and is left out above `OBSERVATION_LIMIT` cases and for
    sampling weights, which are not cases. Of a likelihood whose cases depend on each other it is of
    rows. Of cases in clusters its attribute `note` says that it is of single cases.
    """
    import xarray as xr
    from arviz_base import from_dict

    if "posterior_predictive" in tree.children:
        return
    problem, chains, draws = drawn.problem, drawn.chains, drawn.u.shape[0] // drawn.chains
    data, law = problem.data, problem.likelihood
    log_odds = problem.curves_at(data.score).log_odds(drawn.u)
    rng = problem.rng("predictive")
    if problem.of_times:
        of_cases, _ = cases_of_times(problem, drawn.u)
        free = rng.binomial(np.rint(problem.table.trials).astype(np.int64), expit(log_odds))
        groups = {"posterior_predictive": {"hits": with_chains(free.astype(np.int32), chains)}}
        coords, dims = {"row": np.arange(data.score.size)}, {"hits": ["row"]}
        if data.n <= OBSERVATION_LIMIT:
            groups["log_likelihood"] = {"followed": with_chains(of_cases, chains)}
            coords["kind"] = np.arange(of_cases.shape[1])
            dims["followed"] = ["kind"]
    elif _has_cases(data):
        row, outcome = _cases(data)
        constant = tree["constant_data"].to_dataset()
        tree["constant_data"] = xr.DataTree(
            constant.assign_coords(obs=np.arange(row.size)).assign(
                case_score=("obs", data.score[row])
            )
        )
        of_row = [BINOMIAL.log_case(event, log_odds) for event in (False, True)]
        likelihood = np.where(outcome == 1, of_row[1][:, row], of_row[0][:, row])
        replicate = (rng.random(likelihood.shape) < expit(log_odds)[:, row]).astype(np.int8)
        groups = {
            "log_likelihood": {"y": with_chains(likelihood, chains)},
            "posterior_predictive": {"y": with_chains(replicate, chains)},
        }
        coords, dims = {"obs": np.arange(row.size)}, {"y": ["obs"]}
    else:
        trials = np.rint(problem.table.trials).astype(np.int64)
        counts = law.draw(rng, trials, expit(log_odds)).astype(np.int32)
        groups = {"posterior_predictive": {"hits": with_chains(counts, chains)}}
        coords, dims = {"row": np.arange(trials.size)}, {"hits": ["row"]}
    added = from_dict(groups, coords=coords, dims=dims, sample_dims=["chain", "draw"])
    for name, group in added.children.items():
        dataset = group.to_dataset()
        dataset.attrs.clear()  # the time of making: equal seeds give equal trees
        if name == "log_likelihood" and data.clusters is not None and not data.clusters.are_single:
            dataset.attrs["note"] = OF_SINGLE_CASES
        tree[name] = xr.DataTree(dataset)
    tree["prior"] = xr.DataTree(prior_dataset(drawn))
    if drawn.averaged is not None or problem.curve.has_atoms or drawn.prior is not None:
        return  # no prior density: families, and curves partly on the diagonal, differ in dimension
    density = _log_prior(problem, coordinates_of(tree["posterior"].to_dataset(), problem.curve))
    tree["log_prior"] = xr.DataTree(as_dataset(density, {}, chains=chains, draws=draws))


def _read_coordinates(posterior: xr.Dataset, problem: Problem) -> Floats:
    """Working coordinates of every draw, of shape (chains * draws, d), chain by chain."""
    total = posterior.sizes["chain"] * posterior.sizes["draw"]
    u = np.empty((total, problem.curve.size))
    for column, values in enumerate(coordinates_of(posterior, problem.curve).values()):
        u[:, column] = values.ravel()
    return u


def _read_averaged(tree: xr.DataTree) -> Averaged:
    posterior = tree["posterior"].to_dataset()
    calibrated, prior = (
        float(json.loads(tree.attrs[name])) for name in ("prob_calibrated", "prior_calibrated")
    )
    families: dict[str, float] = json.loads(tree.attrs["families"])
    weights = {name: (1 - prior) * weight for name, weight in families.items()}
    family, exact = _flat(posterior["family"]), _flat(posterior["exact"]) != 0
    asked: dict[str, float] = json.loads(tree.attrs["asked"])
    return Averaged({"identity": prior} | weights, asked, calibrated, family, exact)


def _flat(values: xr.DataArray) -> np.ndarray[Any, Any]:
    """One value a draw, chain by chain."""
    return np.asarray(values.transpose("chain", "draw").to_numpy().ravel())


def coordinates_of(group: xr.Dataset, curve: Curve) -> dict[str, Floats]:
    """Draws of each working coordinate, of shape (chain, draw), in the family's order.

    Those numbered after one variable are taken from it; an earlier version stored them one by one.
    """
    coordinates = {}
    for variable, names in curve.variables.items():
        for index, name in enumerate(names):
            one_by_one = name in group
            values = group[name] if one_by_one else group[variable][..., index]
            coordinates[name] = np.asarray(values.transpose("chain", "draw"), dtype=np.float64)
    return coordinates


def draw_prior(drawn: Drawn) -> dict[str, Any]:
    """Prior draws of the working coordinates, as many as there are of the posterior.

    Of an average, given that calibration is not exact, and with the index of each draw's `family`.
    """
    problem, size = drawn.problem, drawn.u.shape[0]
    rng, names = problem.rng("prior"), problem.curve.coordinates
    if drawn.prior is not None:
        return dict(zip(names, drawn.prior.T, strict=True))
    if drawn.averaged is None:
        return dict(zip(names, problem.sample_prior(rng, size).T, strict=True))
    u, family = sample_prior(drawn.averaged.families, problem, rng, size)
    return dict(zip(names, u.T, strict=True)) | {"family": family}


def prior_dataset(drawn: Drawn) -> xr.Dataset:
    """The same by chain and draw, with the variables that are derived from them."""
    chains = drawn.chains
    prior = {name: with_chains(values, chains) for name, values in draw_prior(drawn).items()}
    return _with_derived(drawn.problem, prior, chains, drawn.u.shape[0] // chains)


def with_chains(values: np.ndarray[Any, Any], chains: int) -> np.ndarray[Any, Any]:
    """Split the leading axis of draws into (chain, draw)."""
    return values.reshape(chains, -1, *values.shape[1:])


def _log_prior(problem: Problem, coordinates: dict[str, Floats]) -> dict[str, Floats]:
    """Log prior density of each coordinate; of all deviations together, tau summed out."""
    rough = [values for name, values in coordinates.items() if name.startswith("deviation")]
    density = {
        name: problem.prior.of(name).logpdf(values)
        for name, values in coordinates.items()
        if not name.startswith("deviation")
    }
    if rough:
        stacked = np.stack([values.ravel() for values in rough], axis=1)
        density["deviation"] = problem.prior.deviation_logpdf(stacked).reshape(rough[0].shape)
    return density


def _with_derived(
    problem: Problem, coordinates: dict[str, Floats], chains: int, draws: int
) -> xr.Dataset:
    curve = problem.curve
    values: dict[str, Any] = dict(coordinates)
    numbers = {}
    for variable, dim in curve.dims.items():
        numbered = [values.pop(name) for name in curve.variables[variable]]
        values[variable] = (("chain", "draw", dim), np.stack(numbered, axis=-1))
        numbers[dim] = np.arange(1, len(numbered) + 1)
    values |= curve.derived(coordinates, problem.frame, np.exp)
    return as_dataset(values, numbers, chains=chains, draws=draws)


def _by_name(problem: Problem, u: Floats, chains: int) -> dict[str, Any]:
    """Draws by working coordinate, each of shape (chains, draws)."""
    names = problem.curve.coordinates
    return {name: with_chains(u[:, column], chains) for column, name in enumerate(names)}


def as_dataset(
    values: dict[str, Any],
    coords: dict[str, Any],
    chains: int | None = None,
    draws: int | None = None,
) -> xr.Dataset:
    """Variables by chain and draw; one with further dims is a pair of its dims and its values."""
    import xarray as xr

    if chains is None or draws is None:
        chains, draws = next(iter(values.values())).shape[:2]
    axes = {"chain": np.arange(chains), "draw": np.arange(draws)}
    variables = {
        name: value if isinstance(value, tuple) else (("chain", "draw"), value)
        for name, value in values.items()
    }
    return xr.Dataset(variables, axes | coords)


def _observed(data: CalibrationData) -> xr.Dataset:
    import xarray as xr

    if _has_cases(data) and data.follow_up is None:
        row, outcome = _cases(data)
        return xr.Dataset({"y": ("obs", outcome)}, {"obs": np.arange(row.size)})
    return xr.Dataset({"hits": ("row", data.hits)}, {"row": np.arange(data.score.size)})


def _constant(problem: Problem) -> xr.Dataset:
    return problem.data.to_xarray().assign(model_score=("row", problem.table.score))


def _has_cases(data: CalibrationData) -> bool:
    return not data.is_pseudo and data.n <= OBSERVATION_LIMIT


def _cases(data: CalibrationData) -> tuple[Any, Any]:
    """Row and outcome of each case: within a row, its events first."""
    trials, hits = data.trials.astype(np.int64), data.hits.astype(np.int64)
    row = np.repeat(np.arange(trials.size), trials)
    start = np.cumsum(trials) - trials
    index = np.arange(row.size) - start[row]
    return row, (index < hits[row]).astype(np.int8)
