"""to_datatree(): one naming for one curve and several, and what a person asks for on top."""

import inspect

import arviz_stats
import numpy as np
import pytest

import bayescal as bc
from bayescal.model.curves import as_curve

N = 300
Y, P = bc.simulate.sample("clinical-middle-overconfident", N, random_state=3)
SITE = np.arange(N) % 4
SUMMARY = ["tce", "observed_expected", "calibration_slope"]
GROUPS = {
    "posterior", "sample_stats", "observed_data", "constant_data", "log_likelihood",
    "posterior_predictive", "prior", "prior_predictive",
}  # fmt: skip


@pytest.fixture(scope="module")
def one():
    return bc.fit(Y, P, curve="beta", draws=800, random_state=1)


@pytest.fixture(scope="module")
def average():
    return bc.fit(Y, P, draws=800, random_state=1)


@pytest.fixture(scope="module")
def several():
    return bc.fit(Y, P, site=SITE, draws=800, random_state=1)


@pytest.fixture(scope="module")
def posts(one, average, several):
    return {"beta": one, "average": average, "sites": several}


@pytest.mark.parametrize("name", ["beta", "average", "sites"])
def test_groups_and_names_are_the_same(posts, name):
    tree = posts[name].to_datatree()
    assert set(tree.children) >= GROUPS
    for group in ("log_likelihood", "posterior_predictive", "prior_predictive"):
        assert dict(tree[group]["y"].sizes) == {"chain": 4, "draw": 200, "obs": N}
    assert tree["observed_data"]["y"].sum() == Y.sum()
    np.testing.assert_array_equal(tree["constant_data"]["score"], np.sort(P))
    assert (tree["constant_data"]["trials"] == 1).all()


def test_several_have_the_index_of_each_case(several):
    tree = several.to_datatree()
    assert {"shift", "site_shift", "sd_shift", "correlation"} <= set(tree["posterior"].data_vars)
    order = np.lexsort((-Y, P))
    np.testing.assert_array_equal(tree["constant_data"]["site_of_obs"], SITE[order])
    own = np.stack([several.at(site=str(k)).curve(P[order]).to_numpy() for k in range(4)])
    prob = own[SITE[order], :, :, np.arange(N)]
    expected = np.where(Y[order][:, None, None], np.log(prob), np.log1p(-prob))
    free = several._drawn.average.any(axis=1).reshape(4, -1)  # the diagonal is the score itself
    actual = tree["log_likelihood"]["y"].transpose("obs", ...).to_numpy()
    np.testing.assert_allclose(actual[:, free], expected[:, free], atol=6e-3)


@pytest.mark.parametrize("name", ["beta", "average", "sites"])
def test_a_summary_has_about_ten_rows_and_says_what_the_posterior_says(posts, name):
    post = posts[name]
    table = arviz_stats.summary(post.to_datatree(derived=True), kind="stats", round_to="none")
    assert len(table) <= 15
    assert list(table.index)[:3] == SUMMARY
    of_all = post.at() if name == "sites" else post
    expected = of_all.summary().loc[SUMMARY, "mean"]
    np.testing.assert_allclose(table.loc[SUMMARY, "mean"], expected, rtol=1e-3)


def test_event_prob_is_at_the_scores_that_are_named(one):
    tree = one.to_datatree(derived=True, scores=[0.2, 0.7])
    prob = tree["posterior"]["event_prob"]
    np.testing.assert_array_equal(prob["score"], [0.2, 0.7])
    np.testing.assert_array_equal(prob, one.curve([0.2, 0.7]))
    default = one.to_datatree(derived=True)["posterior"]["score"]
    assert [float(f"{each:.2g}") for each in default] == default.to_numpy().tolist()


def test_draws_of_an_average_have_their_family_and_its_coordinates_alone(average):
    drawn = average.to_datatree()["posterior"].to_dataset()
    family = drawn["family"].to_numpy()
    assert set(np.unique(family)) <= {*bc.curves.CURVES} - {"identity"}
    for name in np.unique(family):
        own = set(as_curve(name).at(average.problem.frame).variables)
        for variable, values in drawn.data_vars.items():
            shown = np.isfinite(values.to_numpy()[family == name]).all()
            assert shown == (variable in own), (name, variable)
    exact = float(drawn["exactly_calibrated"].mean())
    assert exact == pytest.approx(average.prob_calibrated, abs=0.002)


@pytest.mark.filterwarnings("ignore")
def test_leave_one_out_and_comparison_in_both_generations_of_arviz(posts):
    trees = {name: post.to_datatree(derived=True) for name, post in posts.items()}
    elpd = {name: arviz_stats.loo(tree).elpd for name, tree in trees.items()}
    assert np.isfinite(list(elpd.values())).all()
    rounds = "round_to" in inspect.signature(arviz_stats.compare).parameters
    table = arviz_stats.compare(trees, **({"round_to": "none"} if rounds else {}))
    np.testing.assert_allclose(table["elpd"].sort_index(), [elpd[k] for k in sorted(elpd)])
    assert (table["dse"] < 5).all()  # of the same cases in the same order
    arviz = pytest.importorskip("arviz")
    if int(arviz.__version__.split(".")[0]) < 1:
        older = arviz.compare({k: arviz.from_datatree(tree) for k, tree in trees.items()})
        np.testing.assert_allclose(older["elpd_loo"][list(elpd)], list(elpd.values()), atol=0.2)


def test_many_cases_and_weights_are_rows():
    weight = np.random.default_rng(0).uniform(0.5, 1.5, N)
    post = bc.fit(Y, P, sample_weight=weight, curve="logistic", draws=400, random_state=1)
    tree = post.to_datatree(derived=True)
    assert "log_likelihood" not in tree.children
    assert tree["constant_data"]["trials"].sum() == pytest.approx(post.problem.n)
    assert tree["posterior_predictive"]["y"].dims == ("chain", "draw", "obs")


@pytest.mark.slow
def test_times_to_an_event_have_kinds_of_cases():
    rng = np.random.default_rng(2)
    time, left = rng.exponential(1 / P), rng.uniform(0.2, 2, N)
    outcome = bc.Survival(np.minimum(time, left), time < left)
    post = bc.fit(outcome, P, horizon=1, curve="logistic", draws=400, random_state=1)
    tree = post.to_datatree(derived=True)
    assert tree["log_likelihood"]["followed"].dims == ("chain", "draw", "kind")
    assert "tce" in tree["posterior"]


def test_a_tree_is_no_array_and_says_what_to_call(one):
    with pytest.raises(TypeError, match=r"arviz\.from_datatree\(post\.to_datatree\(\)\)"):
        np.asarray(one.tree)


def test_the_older_arviz_shows_the_advice(one):
    arviz = pytest.importorskip("arviz")
    if int(arviz.__version__.split(".")[0]) >= 1:
        assert len(arviz.summary(one.tree))
        return
    with pytest.raises(TypeError, match="arviz_stats"):
        arviz.summary(one.tree)


def test_a_loaded_tree_says_it_too(one, tmp_path):
    one.to_netcdf(tmp_path / "post.nc")
    loaded = bc.load(tmp_path / "post.nc").tree
    assert loaded.attrs == one.tree.attrs
    assert loaded.identical(one.tree)
    with pytest.raises(TypeError, match="arviz_stats"):
        np.asarray(loaded)


def test_trees_of_several_curves_say_it(one, several):
    for tree in (several.tree, bc.combine_imputations([one, one]).tree):
        with pytest.raises(TypeError, match="arviz_stats"):
            np.asarray(tree)
