"""The posterior view: the tree's schema, what ArviZ makes of it, and what can be asked."""

import json

import arviz_plots
import arviz_stats
import numpy as np
import pytest
import xarray as xr
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.pymc import MOST_CASES
from bayescal.posterior.functionals import FUNCTIONALS, usual_functionals
from bayescal.posterior.intervals import among_few

GROUPS = {
    "posterior", "prior", "log_prior", "log_likelihood", "posterior_predictive",
    "observed_data", "constant_data", "sample_stats",
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 250, random_state=11)
    return bc.CalibrationData(y, s)


@pytest.fixture(scope="module")
def post(data):
    return bc.fit(data, curve="beta", random_state=7)


def test_tree_follows_the_schema(post, data):
    tree = post.tree
    assert set(tree.children) == GROUPS
    for name in ("posterior", "prior", "log_prior"):
        for variable in tree[name].data_vars.values():
            assert variable.dims == ("chain", "draw")
            assert variable.shape == (4, 1000)
    assert set(tree["posterior"].data_vars) == {
        "shift", "log_slope", "asymmetry", "curve_alpha", "curve_beta", "curve_c",
    }  # fmt: skip
    for name in ("log_likelihood", "posterior_predictive"):
        assert tree[name]["y"].dims == ("chain", "draw", "obs")
    assert tree["observed_data"]["y"].sum() == data.events
    assert tree["constant_data"].sizes["row"] == data.score.size
    for value in tree.attrs.values():
        json.loads(value)


def test_log_likelihood_is_of_single_patients(post, data):
    tree = post.to_datatree()
    score = tree["constant_data"]["score"].to_numpy()
    outcome = tree["observed_data"]["y"].to_numpy()
    curve = post.curve(score).to_numpy()
    expected = np.where(outcome == 1, np.log(curve), np.log1p(-curve))
    np.testing.assert_allclose(tree["log_likelihood"]["y"], expected, rtol=1e-9)
    assert bc.CalibrationData(outcome, score) == data


def test_observed_outcomes_keep_their_scores(post):
    tree = post.to_datatree()
    predicted = tree["posterior_predictive"]["y"].to_numpy().mean(axis=(0, 1))
    curve = post.curve(tree["constant_data"]["score"].to_numpy()).mean(("chain", "draw"))
    np.testing.assert_allclose(predicted, curve, atol=0.06)


def test_large_tables_keep_the_likelihood_out_of_the_tree():
    y, s = bc.simulate.sample("D5", MOST_CASES + 1, random_state=0)
    tree = bc.fit(y, s, curve="beta", random_state=0).tree
    assert "log_likelihood" not in tree.children
    assert tree["posterior_predictive"]["y"].dims == ("chain", "draw", "obs")
    assert tree["observed_data"]["y"].sum() == y.sum()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The inplace keyword:FutureWarning")
def test_arviz_stats_work_on_the_tree_as_it_stands(post, data):
    summary = arviz_stats.summary(post.tree)
    assert list(summary.index)[:3] == ["shift", "log_slope", "asymmetry"]
    loo = arviz_stats.loo(post.tree)
    assert loo.n_data_points == data.n
    assert loo.elpd == pytest.approx(float(_elpd_by_refitting(data)), abs=0.3)
    other = bc.fit(data, curve="intercept", random_state=7)
    table = arviz_stats.compare({"beta": post.tree, "intercept": other.tree})
    assert table.index[0] == "beta"


def _elpd_by_refitting(data):
    """Leave-one-out by brute force: refit without each distinct (score, outcome)."""
    total = 0.0
    outcome, score, weight = data.to_arrays()
    for i in range(0, outcome.size):
        rest = weight.copy()
        rest[i] -= 1
        keep = rest > 0
        left = bc.CalibrationData(outcome[keep], score[keep], rest[keep])
        curve = bc.fit(left, curve="beta", draws=300, random_state=i).curve(score[i : i + 1]).mean()
        total += weight[i] * np.log(float(curve) if outcome[i] else 1 - float(curve))
    return total


@pytest.mark.slow
@pytest.mark.parametrize(
    "figure", ["plot_dist", "plot_trace", "plot_rank", "plot_ppc_pava", "plot_prior_posterior"]
)
def test_arviz_plots_work_on_the_tree_as_it_stands(figure, post):
    drawn = getattr(arviz_plots, figure)(post.tree, backend="matplotlib")
    assert drawn.viz.children


def test_saving_and_loading_changes_nothing(post, tmp_path):
    post.to_netcdf(tmp_path / "post.nc")
    back = bc.load(tmp_path / "post.nc")
    assert set(back.tree.children) == GROUPS
    for name in FUNCTIONALS:
        xr.testing.assert_identical(back.functional(name), post.functional(name))
    xr.testing.assert_identical(back.curve(), post.curve())
    assert back.diagnostics == post.diagnostics
    assert back.data == post.data


def test_measures_need_no_tree(data, monkeypatch):
    def refuse(drawn):
        raise AssertionError("a tree was written")

    monkeypatch.setattr("bayescal.posterior.stored.tree_of", refuse)
    post = bc.fit(data, curve="beta", random_state=7)
    assert post.tce().shape == (4, 1000)
    assert post.summary().shape[0] > 5
    assert post.diagnostics["verdict"] == "ok"
    assert "TCE" in repr(post)
    assert post.functional("tce", group="prior").shape == (4, 1000)
    with pytest.raises(AssertionError, match="a tree was written"):
        post.tree  # noqa: B018


def test_an_interruption_leaves_the_former_file(post, tmp_path, monkeypatch):
    path = tmp_path / "post.nc"
    path.write_text("former")

    def half(tree, file, **options):
        file.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(xr.DataTree, "to_netcdf", half)
    with pytest.raises(KeyboardInterrupt):
        post.to_netcdf(path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["former"]


def test_a_custom_prior_and_no_seed_survive_the_round_trip(tmp_path):
    y, s = bc.simulate.sample("clinical-middle-shifted", 60, random_state=0)
    post = bc.fit(y, s, curve="beta", prior={"shift": bc.priors.Normal(0.1, 0.3), "centre": "mean"})
    post.to_netcdf(tmp_path / "post.nc")
    back = bc.load(tmp_path / "post.nc")
    assert back.problem == post.problem
    again = bc.fit(y, s, curve="beta", prior=back.problem.prior, random_state=back.problem.seed)
    xr.testing.assert_identical(again.tce(), post.tce())


def test_loading_something_else_says_what_is_wrong(tmp_path):
    with pytest.raises(InputError, match="is not a file"):
        bc.load(tmp_path / "nothing.nc")
    (tmp_path / "text.nc").write_text("not a netcdf")
    with pytest.raises(InputError, match="no NetCDF file"):
        bc.load(tmp_path / "text.nc")
    xr.DataTree(xr.Dataset({"x": 1.0})).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(InputError, match="not written by bayescal"):
        bc.load(tmp_path / "other.nc")


def test_asking_twice_or_in_any_order_gives_the_same_numbers(post, data):
    table = post.summary()
    assert table.loc["tce", "mean"] == float(post.tce().mean())
    assert table.loc["observed_expected", "median"] == float(
        post.functional("observed_expected").median()
    )
    shuffled = np.random.default_rng(0).permutation(int(data.n))
    row = np.repeat(np.arange(data.score.size), data.trials.astype(int))
    y = post.tree["observed_data"]["y"].to_numpy()
    same = bc.fit(y[shuffled], data.score[row][shuffled], curve="beta", random_state=7)
    xr.testing.assert_identical(same.tce(), post.tce())


def test_seeds_repeat_and_differ(data):
    one, two, three = (bc.fit(data, curve="beta", random_state=r) for r in (1, 1, 2))
    xr.testing.assert_identical(one.tce(), two.tce())
    assert float(abs(one.tce() - three.tce()).max()) > 0
    generator = bc.fit(data, curve="beta", random_state=np.random.default_rng(5))
    assert (
        generator.problem.seed
        == bc.fit(data, curve="beta", random_state=np.random.default_rng(5)).problem.seed
    )


def test_summary_states_its_interval_and_what_it_moved():
    y, s = [0, 1, 1, 0, 1], [0.0, 0.4, 1.0, 0.3, 1.0]
    table = bc.fit(y, s, curve="beta", random_state=0).summary(ci_prob=0.5)
    assert list(table.columns) == ["estimate", "mean", "median", "lower", "upper"]
    line = ["calibration_intercept", "calibration_slope"]
    assert list(table.index) == [name for name in usual_functionals() if name not in line]
    assert table.attrs["undefined"] == dict.fromkeys(line, "60 % of scores are 0 or 1")
    assert (table.lower <= table["median"]).all()
    assert (table["median"] <= table.upper).all()
    assert table.attrs["moved"] == 3
    assert table.attrs["ci_prob"] == 0.5
    assert table.attrs["one_read_as"] == pytest.approx(0.85)
    with pytest.raises(InputError, match="ci_prob must lie strictly between 0 and 1, got 95"):
        bc.fit(y, s, curve="beta", random_state=0).summary(ci_prob=95)


def test_predict_is_the_curve_at_new_scores(post):
    new = [0.3, 0.0, 1.0, 0.3]
    drawn = post.predict(new)
    assert drawn.dims == ("chain", "draw", "obs")
    np.testing.assert_allclose(drawn[..., 0], drawn[..., 3], rtol=1e-12)
    np.testing.assert_allclose(drawn[..., 0], post.curve([0.3])[..., 0], rtol=1e-12)
    assert float(drawn.min()) > 0
    assert float(drawn.max()) < 1
    with pytest.raises(InputError, match=r"y_prob\[0\] = 2 is outside"):
        post.predict([2.0])


def test_off_diagonal_region_is_a_joint_statement():
    score = np.repeat(np.linspace(0.05, 0.95, 19), 60)
    y = np.random.default_rng(0).random(score.size) < expit(0.45 * logit(score))
    post = bc.fit(y, score, curve="beta", random_state=0)
    region = post.off_diagonal(0.9)
    side = region.to_numpy()
    assert side[0] == 1
    assert side[-1] == -1
    assert side[9] == 0, "the curve crosses the diagonal in the middle"
    error = post.curve() - post.data.score
    coverage = ((error * region)[..., side != 0] > 0).all("score").mean()
    assert float(coverage) == pytest.approx(region.attrs["probability"])
    assert float(coverage) >= 0.9
    assert np.count_nonzero(post.off_diagonal(0.5)) >= np.count_nonzero(side)


@pytest.mark.slow
def test_off_diagonal_region_is_seldom_found_where_there_is_none():
    actual = {0.95: 0, 0.99: 0}
    for seed in range(100, 160):
        y, s = bc.simulate.sample("clinical-middle-calibrated", 150, random_state=seed)
        post = bc.fit(y, s, curve="beta", draws=1000, random_state=0)
        for level in actual:
            actual[level] += bool(post.off_diagonal(level).any())
    assert actual[0.99] <= actual[0.95]
    assert actual[0.95] <= 24
    assert actual[0.99] <= 6
    assert not bc.fit(y, s, curve="identity", random_state=0).off_diagonal().any()


def test_identity_is_exactly_calibrated(data):
    post = bc.fit(data, curve="identity", random_state=0)
    assert float(post.tce().max()) == 0
    assert float(post.functional("emax", population="sample").max()) == 0
    assert post.diagnostics["log_evidence_error"] == 0
    score = data.score
    by_hand = data.hits @ np.log(score) + (data.trials - data.hits) @ np.log1p(-score)
    assert post.diagnostics["log_evidence"] == pytest.approx(by_hand)


def test_separated_outcomes_have_a_proper_posterior():
    score = np.linspace(0.02, 0.98, 60)
    post = bc.fit(score > 0.5, score, curve="beta", random_state=0)
    assert post.diagnostics["verdict"] == "ok"
    slope = post.functional("calibration_slope")
    assert float(slope.quantile(0.025)) > 1
    assert np.isfinite(slope).all()  # however steep: nothing but the prior holds it


def test_diagnostics_of_importance_never_print_an_r_hat(post):
    assert "r_hat" not in post.diagnostics
    assert set(post.diagnostics) == {
        "engine", "pareto_k", "ess", "log_evidence", "log_evidence_error", "verdict",
    }  # fmt: skip


def test_a_weighted_posterior_says_it_is_a_pseudo_posterior():
    y, s = bc.simulate.sample("D4", 100, random_state=0)
    weights = np.random.default_rng(0).uniform(0.2, 3, 100)
    post = bc.fit(y, s, curve="beta", sample_weight=weights, random_state=0)
    assert post.summary().attrs["pseudo_posterior"]
    assert "log_likelihood" not in post.tree.children


def test_some_rows_of_a_summary_are_those_of_all(post):
    full, names = post.summary(), ["calibration_slope", "tce"]
    assert post.summary(names=names).equals(full.loc[names])
    assert post.summary(names=["ici"]).loc["ici"].equals(full.loc["tce"])
    with pytest.raises(InputError, match="names must be one of"):
        post.summary(names=["auc"])


def test_two_patients_who_gain_do_not_make_a_gain_certain():
    rng = np.random.default_rng(0)
    gain = rng.dirichlet(np.ones(12), 4000) @ np.r_[0.1, 0.1, np.zeros(10)]
    assert 0.9 < (among_few(gain, 0.1, 12, rng) > 0).mean() < 0.97
