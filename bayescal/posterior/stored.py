"""The posterior as an xarray.DataTree in ArviZ's schema, in memory and on disk.

One part is a tree of `posterior`, `sample_stats`, `observed_data` and `constant_data`; several
imputations are a group for each, `imputation_1` and so on, and the `posterior` of all, mixed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, check_type
from bayescal.core.versions import library_versions
from bayescal.data.stored import read_tree, reading_tree
from bayescal.data.table import CalibrationData
from bayescal.model.curves import Curve
from bayescal.model.draws import Averaged, Part
from bayescal.model.problem import Problem
from bayescal.posterior.imputed import in_turn

if TYPE_CHECKING:
    import xarray as xr

# Groups with the scores that a posterior is seen on, where they are not its own; and with the tree
# of all curves, of one of several.
SEEN, SEVERAL = "on", "several_curves"
# Attributes: the number of imputations, and which of several curves.
IMPUTATIONS, WHICH = "imputations", "view"


# Written


def tree_of(part: Part) -> xr.DataTree:
    """The groups a fit writes: posterior, sample_stats, observed_data and constant_data."""
    import xarray as xr

    from bayescal.posterior.datatree import Observed

    problem, averaged, data = part.problem, part.averaged, part.problem.data
    named: dict[str, Any] = {}
    if averaged is not None:
        named["families"], named["asked"] = averaged.families, dict(averaged.asked)
        named["prior_calibrated"] = averaged.weights["identity"]
        named["prob_calibrated"] = averaged.prob_calibrated
    by_draw = {name: value for name, value in part.stats.items() if np.ndim(value)}
    stats = as_dataset(by_draw, {}) if by_draw else xr.Dataset()
    groups = {
        "posterior": posterior_of(part),
        "sample_stats": stats.assign(
            {name: value for name, value in part.stats.items() if not np.ndim(value)}
        ),
        "observed_data": Observed([problem]).data()["observed_data"],
        "constant_data": data.to_xarray().assign(model_score=("row", problem.table.score)),
    }
    tree = assembled(groups, problem.to_attributes(), part.engine, named)
    if part.one_of is not None:
        if not part.one_of.has_outcomes:
            del tree["observed_data"]
        tree[SEVERAL] = part.one_of.several.tree.copy()
        tree.attrs[WHICH] = json.dumps(part.one_of.key)
    return tree


def assembled(
    groups: Mapping[str, Any],
    attributes: Mapping[str, str],
    engine: str,
    named: Mapping[str, Any],
) -> xr.DataTree:
    """A tree of these groups, with what was fitted and by which versions of libraries."""
    from bayescal.posterior.datatree import PosteriorTree

    tree = PosteriorTree.from_dict(dict(groups))
    told = {"inference_library": "bayescal", "engine": engine, "versions": versions_here(), **named}
    tree.attrs.update({**attributes, **{key: json.dumps(value) for key, value in told.items()}})
    return tree


def tree_of_all(trees: Sequence[xr.DataTree]) -> xr.DataTree:
    """One tree of the trees of several imputations; of one, that tree.

    A coordinate that an imputation does not have is zero in its draws.
    """
    from bayescal.posterior.datatree import PosteriorTree

    if len(trees) == 1:
        return trees[0]
    groups: dict[str, xr.Dataset | xr.DataTree] = {
        "posterior": mixed([tree["posterior"].to_dataset() for tree in trees])
    }
    groups |= {f"imputation_{number}": each.copy() for number, each in enumerate(trees, 1)}
    tree = PosteriorTree.from_dict(groups)
    tree.attrs.update(trees[0].attrs)
    tree.attrs[IMPUTATIONS] = json.dumps(len(trees))
    return tree


def seen_on(tree: xr.DataTree, data: CalibrationData) -> xr.DataTree:
    """The tree of a fit, and the scores that it is seen on."""
    import xarray as xr

    seen = tree.copy()
    seen[SEEN] = xr.DataTree(data.to_xarray())
    return seen


def key_of(tree: xr.DataTree) -> dict[str, Any] | None:
    """Which of several curves a tree is of; None of a fit."""
    key: dict[str, Any] | None = json.loads(tree.attrs[WHICH]) if WHICH in tree.attrs else None
    return key


def scores_seen(tree: xr.DataTree) -> CalibrationData | None:
    """The scores that a posterior is seen on; None where they are its own."""
    if SEEN not in tree.children:
        return None
    return CalibrationData.from_xarray(tree[SEEN].to_dataset())


def mixed(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """The draws of all imputations in turn, chain by chain, with the `imputation` of each."""
    import xarray as xr

    numbered = []
    for number, draws in enumerate(parts, 1):
        shape = draws.sizes["chain"], draws.sizes["draw"]
        numbered.append(draws.assign(imputation=(("chain", "draw"), np.full(shape, number))))
    joined = xr.concat(
        numbered, "draw", data_vars="all", coords="minimal", compat="override", join="outer",
        fill_value=0,
    )  # fmt: skip
    index = np.arange(joined.sizes["draw"])
    order = in_turn(index.reshape(len(parts), -1))
    return joined.isel(draw=order).assign_coords(draw=index)


def complete(tree: xr.DataTree, parts: Sequence[Part]) -> None:
    """Add the groups that cost time, in place: predictive, likelihood and prior draws.

    Of several imputations prior draws alone: the rest is in the tree of each. log_likelihood is of
    single cases, also of those in clusters, as its `note` says; it is left out above 5000 of them
    and for sampling weights. Of a curve without a prior nothing is added.
    """
    import xarray as xr

    from bayescal.posterior.datatree import Observed

    if "prior" in tree.children or not parts[0].problem.curve.has_prior:
        return
    if len(parts) > 1:
        tree["prior"] = xr.DataTree(mixed([posterior_of(part, "prior") for part in parts]))
        return
    (part,) = parts
    seen = Observed([part.problem])
    tree["posterior_predictive"] = xr.DataTree(seen.predicted([part.u], part.chains, "predictive"))
    likelihood = seen.log_likelihood([part.u], part.chains)
    if likelihood is not None:
        tree["log_likelihood"] = xr.DataTree(likelihood)
    tree["prior"] = xr.DataTree(posterior_of(part, "prior"))
    curve, prior, size = part.problem.curve, part.problem.prior, len(part.u)
    if part.averaged is not None or curve.has_atoms or part.prior is not None:
        return  # no prior density: families, and curves partly on the diagonal, differ in dimension
    u = dict(zip(curve.coordinates, part.u.T, strict=True))
    rough = [u.pop(name) for name in curve.coordinates if name.startswith("deviation")]
    density = {name: prior.of(name).logpdf(values) for name, values in u.items()}
    if rough:  # all deviations together, tau summed out
        density["deviation"] = prior.deviation_logpdf(np.stack(rough, axis=1))
    by_chain = {name: with_chains(values, part.chains) for name, values in density.items()}
    tree["log_prior"] = xr.DataTree(as_dataset(by_chain, {}, part.chains, size // part.chains))


def posterior_of(part: Part, group: str = "posterior") -> xr.Dataset:
    """Draws of the coordinates by chain and draw, with what is derived from them."""
    curve, u, tags = part.problem.curve, part.u, {}
    if group == "prior":
        u, family = part.draw_prior()
        tags = {} if family is None else {"family": family}
    elif part.averaged is not None:
        tags = {"family": part.averaged.family, "exact": part.averaged.exact.astype(np.int8)}
    coordinates = {
        name: with_chains(values, part.chains)
        for name, values in {**dict(zip(curve.coordinates, u.T, strict=True)), **tags}.items()
    }
    values: dict[str, Any] = dict(coordinates)
    numbers = {}
    for variable, dim in curve.dims.items():
        numbered = [values.pop(name) for name in curve.variables[variable]]
        values[variable] = (("chain", "draw", dim), np.stack(numbered, axis=-1))
        numbers[dim] = np.arange(1, len(numbered) + 1)
    values |= curve.derived(coordinates, part.problem.frame, np.exp)
    return as_dataset(values, numbers, part.chains, len(u) // part.chains)


def as_dataset(
    values: Mapping[str, Any],
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


def with_chains(values: NDArray[Any], chains: int) -> NDArray[Any]:
    """Split the leading axis of draws into (chain, draw)."""
    return values.reshape(chains, -1, *values.shape[1:])


def by_draw(
    values: NDArray[Any], chains: int, name: str, coords: Mapping[str, Any]
) -> xr.DataArray:
    """An array by chain and draw, and by further coordinates."""
    import xarray as xr

    shaped = with_chains(values, chains)
    if coords:
        axes = {"chain": np.arange(chains), "draw": np.arange(shaped.shape[1])}
        return xr.DataArray(shaped, {**axes, **coords}, ("chain", "draw", *coords), name)
    array = _by_draw(*shaped.shape).copy(deep=False, data=shaped)
    array.name = name
    return array


@cache
def _by_draw(chains: int, draws: int) -> xr.DataArray:
    """An array whose copies share its coordinates: new ones take four times as long."""
    return as_dataset({"": np.broadcast_to(0.0, (chains, draws))}, {})[""]


# Read


def versions_here() -> dict[str, str]:
    """Versions of the libraries that draw a posterior here."""
    return library_versions("bayescal", "numpy", "scipy", "arviz-stats")


def versions_of(tree: xr.DataTree) -> dict[str, str]:
    """Versions of the libraries that drew what a tree holds."""
    versions: dict[str, str] = json.loads(tree.attrs["versions"])
    return versions


def is_of_imputations(tree: xr.DataTree) -> bool:
    """Whether a tree is that of several imputations."""
    return IMPUTATIONS in tree.attrs


@reading_tree()
def trees_of(tree: xr.DataTree) -> list[xr.DataTree]:
    """The tree of each imputation; of one data set that tree."""
    if not is_of_imputations(tree):
        return [tree]
    names = [f"imputation_{k}" for k in range(1, int(json.loads(tree.attrs[IMPUTATIONS])) + 1)]
    missing = [name for name in names if name not in tree.children]
    if missing:
        raise InputError(f"the tree lacks the groups {', '.join(missing)}. Combine the fits again.")
    trees = [tree.children[name].copy() for name in names]
    for each in trees:
        each.name = None
    return trees


def check_tree(tree: Any) -> xr.DataTree:
    """A tree, and nothing else."""
    import xarray as xr

    return check_type(tree, xr.DataTree, "tree", "Pass the tree of a posterior of bayescal.fit.")


def read_parts(tree: Any) -> tuple[Part, ...]:
    """The parts that a tree was written of."""
    return tuple(map(_read_part, trees_of(check_tree(tree))))


@reading_tree()
def _read_part(tree: xr.DataTree) -> Part:
    lacking = {"curve", "prior", "frame", "edges", "seed"} - set(map(str, tree.attrs))
    lacking |= {"constant_data", "posterior", "sample_stats"} - set(map(str, tree.children))
    if lacking:
        raise InputError(
            f"the tree lacks {', '.join(sorted(lacking))}: it was edited, or not written by "
            "bayescal.fit. Pass one that was, or refit the data."
        )
    posterior, attributes = tree["posterior"].to_dataset(), tree.attrs
    data = CalibrationData.from_xarray(tree["constant_data"].to_dataset())
    problem = Problem.from_attributes(attributes, data)
    averaged = None
    if "families" in attributes:
        read = {
            name: json.loads(attributes[name])
            for name in ("families", "asked", "prob_calibrated", "prior_calibrated")
        }
        prior = float(read["prior_calibrated"])
        weights = {name: (1 - prior) * weight for name, weight in read["families"].items()}
        family, exact = (_flat(posterior[name]) for name in ("family", "exact"))
        averaged = Averaged(
            *({"identity": prior} | weights, read["asked"], float(read["prob_calibrated"])),
            *(family, exact != 0),
        )
    u = np.empty((posterior.sizes["chain"] * posterior.sizes["draw"], problem.curve.size))
    for column, values in enumerate(coordinates_of(posterior, problem.curve).values()):
        u[:, column] = values.ravel()
    if not np.isfinite(u).all():
        raise InputError("the tree's posterior holds draws that are not finite. Refit the data.")
    stats = {
        str(name): values.transpose("chain", "draw").to_numpy() if values.dims else float(values)
        for name, values in tree["sample_stats"].to_dataset().data_vars.items()
    }
    engine = str(json.loads(attributes["engine"]))
    return Part(problem, u, posterior.sizes["chain"], engine, stats, averaged)


def coordinates_of(group: xr.Dataset, curve: Curve) -> dict[str, Floats]:
    """Draws of each working coordinate, of shape (chain, draw), in the family's order.

    Those numbered after one variable are taken from it, or one by one as a PyMC model has them.
    """
    coordinates = {}
    for variable, names in curve.variables.items():
        for index, name in enumerate(names):
            values = group[name] if name in group else group[variable][..., index]
            coordinates[name] = np.asarray(values.transpose("chain", "draw"), dtype=np.float64)
    return coordinates


def _flat(values: xr.DataArray) -> NDArray[Any]:
    """One value a draw, chain by chain."""
    return np.asarray(values.transpose("chain", "draw").to_numpy().ravel())


def open_tree(path: str | PathLike[str]) -> xr.DataTree:
    """The tree in a NetCDF file, which `bayescal.data.stored.write_tree` wrote."""
    from bayescal.posterior.datatree import PosteriorTree

    return PosteriorTree.from_dict(read_tree(path).to_dict())
