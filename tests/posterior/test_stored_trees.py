"""Stored trees: numbered coordinates, and one clear error if a file was edited or cut off."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayescal as bc

OUTCOME, SCORE = bc.simulate.sample("D5", 60, random_state=0)


@cache
def stored():
    """The tree of a posterior as it is in its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "post.nc"
        bc.fit(OUTCOME, SCORE, curve="beta", draws=200, random_state=0).to_netcdf(path)
        tree = xr.load_datatree(path, engine="h5netcdf")
    del tree.attrs["sha256"]  # which no edit that changes a number survives
    return tree


def edited(folder, group, change):
    """A stored posterior with one of its groups changed, or left out if that gives None."""
    tree, path = stored(), folder / "edited.nc"
    groups = {name: child.to_dataset() for name, child in tree.children.items()}
    changed = change(groups.pop(group))
    new = xr.DataTree.from_dict(groups if changed is None else groups | {group: changed})
    new.attrs.update(tree.attrs)
    new.to_netcdf(path, engine="h5netcdf")
    return path


def with_first(name, value):
    def change(dataset):
        values = dataset[name].to_numpy().copy()
        values.flat[0] = value
        return dataset.assign({name: (dataset[name].dims, values)})

    return change


@pytest.mark.parametrize(
    ("group", "change", "message"),
    [
        ("constant_data", with_first("score", -0.2), "score.* outside"),
        ("constant_data", with_first("score", np.nan), "score.* missing"),
        ("constant_data", with_first("hits", 5.0), "5 hits of 1 trials"),
        ("constant_data", with_first("hits", -1.0), "-1 hits of 1 trials"),
        ("constant_data", with_first("trials", np.nan), "nan trials"),
        ("constant_data", lambda data: data.drop_vars("hits"), "lacks hits"),
        ("constant_data", lambda data: data.assign(hits=("other", [1.0])), "hits"),
        ("constant_data", lambda data: None, "lacks constant_data"),
        ("posterior", lambda data: None, "lacks posterior"),
        ("sample_stats", lambda data: None, "lacks sample_stats"),
        ("posterior", lambda data: data.drop_vars("shift"), "edited or damaged.*shift"),
        ("posterior", lambda data: data.rename(draw="step"), "edited or damaged"),
        ("posterior", with_first("shift", np.nan), "not finite"),
    ],
)
def test_an_edited_tree_is_refused_by_what_is_wrong(tmp_path, group, change, message):
    with pytest.raises(bc.errors.InputError, match=message):
        bc.load(edited(tmp_path, group, change))


@pytest.mark.parametrize("seed", ["null", '"x"', "-1", "1.5", "true", "NaN", "9" * 6000])
def test_a_seed_that_no_fit_writes_is_refused(tmp_path, seed):
    path = tmp_path / "post.nc"
    tree = bc.fit(OUTCOME, SCORE, curve="logistic", draws=200, random_state=0).tree
    tree.attrs["seed"] = seed
    tree.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(bc.errors.InputError, match=r"seed is|edited or damaged"):
        bc.load(path)


def test_a_tree_that_was_not_changed_is_read(tmp_path):
    assert bc.load(edited(tmp_path, "posterior", lambda data: data)).draws == 200


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_file_that_is_cut_off_is_refused(tmp_path, share):
    path = edited(tmp_path, "posterior", lambda data: data)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(bc.errors.InputError, match="cut off or damaged"):
        bc.load(path)


def test_numbered_coordinates_are_one_variable_of_posterior_and_prior(tmp_path):
    y, s = bc.simulate.sample("D4", 120, random_state=1)
    post = bc.fit(y, s, curve="spline", random_state=1)
    size = sum(name.startswith("deviation_") for name in post.problem.curve.coordinates)
    for group in ("posterior", "prior"):
        deviation = post.tree[group]["deviation"]
        assert deviation.dims == ("chain", "draw", "deviation_dim_0")
        assert deviation["deviation_dim_0"].to_numpy().tolist() == list(range(1, size + 1))
        assert not [name for name in post.tree[group].data_vars if name.startswith("deviation_")]
    post.to_netcdf(tmp_path / "spline.nc")
    again = bc.load(tmp_path / "spline.nc")
    assert again.problem.curve == post.problem.curve
    np.testing.assert_array_equal(again.curve([0.1, 0.5, 0.9]), post.curve([0.1, 0.5, 0.9]))
