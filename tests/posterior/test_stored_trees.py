"""Trees that an earlier version wrote are still read, and still say what they said then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError

STORED = Path(__file__).parent / "stored"
SCORES = [0.1, 0.5, 0.9]


def test_numbered_coordinates_are_one_variable_of_posterior_and_prior(tmp_path) -> None:
    y, s = bc.simulate.sample("D4", 120, random_state=1)
    post = bc.fit(y, s, curve="spline", random_state=1)
    size = sum(name.startswith("deviation_") for name in post.family.coordinates)
    for group in ("posterior", "prior"):
        deviation = post.tree[group]["deviation"]
        assert deviation.dims == ("chain", "draw", "deviation_dim_0")
        assert deviation["deviation_dim_0"].to_numpy().tolist() == list(range(1, size + 1))
        assert not [name for name in post.tree[group].data_vars if name.startswith("deviation_")]
    post.to_netcdf(tmp_path / "spline.nc")
    again = bc.load(tmp_path / "spline.nc")
    assert again.family == post.family
    np.testing.assert_array_equal(again.curve(SCORES), post.curve(SCORES))


def test_a_stored_spline_says_what_it_said() -> None:
    post = bc.load(STORED / "spline-0.1.0.dev0.nc")
    assert post.family.name == "spline"
    assert post.data.n == 40
    ratio = post.functional("observed_expected", "sample").mean()
    assert float(ratio) == pytest.approx(1.072321, abs=1e-6)
    assert float(post.tce(population="sample").mean()) == pytest.approx(0.1097320, abs=1e-6)
    mean = post.curve(SCORES).mean(("chain", "draw")).to_numpy()
    assert mean == pytest.approx([0.1846415, 0.4916458, 0.7552874], abs=1e-6)


def test_an_average_of_an_earlier_version_is_refused() -> None:
    y, s = bc.simulate.sample("D4", 60, random_state=1)
    tree = bc.fit(y, s, draws=400, random_state=1).tree.copy()
    tree["posterior"] = tree["posterior"].to_dataset().drop_vars("exact")
    with pytest.raises(InputError, match=r"stored by an earlier version.*Compare the data again"):
        bc.CalibrationPosterior(tree)


def test_parameters_of_the_beta_family_have_their_new_names_in_a_stored_tree() -> None:
    import xarray as xr

    y, s = bc.simulate.sample("D4", 60, random_state=1)
    post = bc.fit(y, s, curve="beta", random_state=1)
    old = {"curve_alpha": "alpha", "curve_beta": "beta", "curve_c": "c"}
    groups = {}
    for name, group in post.tree.children.items():
        dataset = group.to_dataset()
        groups[name] = dataset.rename({new: old[new] for new in old if new in dataset})
    stored = xr.DataTree.from_dict(groups)
    stored.attrs.update(post.tree.attrs)
    again = bc.CalibrationPosterior(stored)
    for name in ("posterior", "prior"):
        assert set(again.tree[name].data_vars) == set(post.tree[name].data_vars)
        np.testing.assert_array_equal(again.tree[name]["curve_c"], post.tree[name]["curve_c"])
