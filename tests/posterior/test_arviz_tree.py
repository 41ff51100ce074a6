"""A tree tells an ArviZ that cannot read it what to call."""

from __future__ import annotations

import numpy as np
import pytest

import bayescal as bc


@pytest.fixture(scope="module")
def post():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 120, random_state=1)
    return bc.fit(y_true, y_prob, curve="logistic", draws=400, random_state=1)


def test_a_tree_is_no_array_and_says_what_to_call(post):
    with pytest.raises(TypeError, match=r"arviz\.from_datatree\(post\.to_datatree\(\)\)"):
        np.asarray(post.tree)


def test_the_older_arviz_shows_the_advice(post):
    arviz = pytest.importorskip("arviz")
    if int(arviz.__version__.split(".")[0]) >= 1:
        assert len(arviz.summary(post.tree))
        return
    with pytest.raises(TypeError, match="arviz_stats"):
        arviz.summary(post.tree)


def test_a_loaded_tree_says_it_too(post, tmp_path):
    post.to_netcdf(tmp_path / "post.nc")
    loaded = bc.load(tmp_path / "post.nc").tree
    assert loaded.attrs == post.tree.attrs
    assert loaded.identical(post.tree)
    with pytest.raises(TypeError, match="arviz_stats"):
        np.asarray(loaded)


def test_trees_of_several_curves_say_it(post):
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 120, random_state=1)
    sites = bc.fit(
        y_true, y_prob, site=np.resize(["A", "B"], 120), curve="logistic", draws=400,
        random_state=1,
    )  # fmt: skip
    with pytest.raises(TypeError, match="arviz_stats"):
        np.asarray(sites.tree)
    both = bc.combine_imputations([post, post])
    with pytest.raises(TypeError, match="arviz_stats"):
        np.asarray(both.tree)
