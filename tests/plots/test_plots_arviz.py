"""ArviZ's own figures take our objects as they stand."""

import arviz_plots
import numpy as np
import pytest
import xarray as xr

import bayescal as bc


@pytest.fixture(scope="module")
def cmp():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 80, random_state=2)
    return bc.compare(y_true, y_prob, draws=1000, random_state=2)


@pytest.fixture(scope="module")
def trees(cmp):
    return {
        "one family": bc.fit(cmp.data, curve="beta", draws=1000, random_state=2).tree,
        "average": cmp.posterior.tree,
    }


@pytest.mark.slow
@pytest.mark.parametrize("which", ["one family", "average"])
@pytest.mark.parametrize("backend", ["matplotlib", "none"])
@pytest.mark.parametrize("figure", ["plot_dist", "plot_forest", "plot_rank"])
def test_figures_of_a_tree(trees, which, backend, figure):
    names = ["shift", "log_slope", "asymmetry"]
    drawn = getattr(arviz_plots, figure)(trees[which], var_names=names, backend=backend)
    assert drawn.viz.children


def test_sensitivity_of_one_family_to_prior_and_likelihood(trees):
    drawn = arviz_plots.plot_psense_dist(
        trees["one family"], var_names=["curve_alpha", "curve_beta"], backend="none"
    )
    assert drawn.viz.children


def test_prior_and_posterior_of_an_average(trees):
    drawn = arviz_plots.plot_prior_posterior(
        trees["average"], var_names=["shift"], backend="matplotlib"
    )
    assert drawn.viz.children


def test_functionals_and_net_benefit_are_ordinary_draws(cmp):
    post = cmp.posterior
    functionals = xr.Dataset(
        {name: post.functional(name) for name in ("tce", "observed_expected", "calibration_slope")}
    )
    worth = post.net_benefit(np.array([0.1, 0.3]))[["model", "treat_all"]]
    for draws in (functionals, worth):
        tree = xr.DataTree.from_dict({"posterior": draws})
        assert arviz_plots.plot_forest(tree, backend="matplotlib").viz.children
