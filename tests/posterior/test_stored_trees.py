"""Coordinates in a stored tree."""

from __future__ import annotations

import numpy as np

import bayescal as bc

SCORES = [0.1, 0.5, 0.9]


def test_numbered_coordinates_are_one_variable_of_posterior_and_prior(tmp_path) -> None:
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
    np.testing.assert_array_equal(again.curve(SCORES), post.curve(SCORES))
