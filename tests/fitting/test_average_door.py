"""fit() gives the average by default: that of compare(), and nothing that one family has."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.errors import DiagnosticWarning, EdgeWarning, InputError

Y, P = bc.simulate.sample("clinical-middle-overconfident", 240, random_state=4)
SITE = np.arange(Y.size) % 3
QUICK = {"draws": 200, "random_state": 5}
WEIGHTS = {"beta": 2.0, "pieces": 1.0, "logistic": 0.0}


def assert_same(one, other):
    assert one.tree.attrs == other.tree.attrs
    drawn = (each.tree["posterior"].to_dataset() for each in (one, other))
    xr.testing.assert_identical(*drawn)
    assert one.summary().equals(other.summary())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prior_calibrated": 0.3},
        {"prior": "clinical"},
        {"sample_weight": np.where(SITE == 0, 2.5, 1.0), "weight_type": "sampling"},
        {"cluster": np.arange(Y.size) // 2},
        {"edge": 0.2},
    ],
    ids=["plain", "calibrated", "prior", "weights", "clusters", "edge"],
)
def test_the_default_is_the_posterior_of_compare_to_the_bit(options):
    expected = bc.compare(Y, P, **QUICK, **options).posterior
    assert_same(bc.fit(Y, P, **QUICK, **options), expected)
    assert_same(bc.fit(Y, P, curve="average", **QUICK, **options), expected)


def test_imputations_are_averaged_one_by_one():
    scores = np.stack([P, np.clip(P + 0.05, 0, 1)])
    post = bc.fit(Y, imputation=scores, curve=WEIGHTS, prior_calibrated=0.3, **QUICK)
    assert post.prior_weights is not None
    comparison = bc.compare(Y, imputation=scores, curves=WEIGHTS, prior_calibrated=0.3, **QUICK)
    expected = comparison.posterior
    assert post.summary().equals(expected.summary())


@pytest.mark.filterwarnings("ignore::bayescal.errors.DiagnosticWarning")
@pytest.mark.parametrize("how", [{"site": SITE}, {"period": SITE}])
def test_sites_and_periods_have_one_family(how):
    default = bc.fit(Y, P, **QUICK, **how)
    named = bc.fit(Y, P, curve="beta", **QUICK, **how)
    assert default.problem.pooled.curve.name == "beta"
    xr.testing.assert_identical(
        default.tree["posterior"].to_dataset(), named.tree["posterior"].to_dataset()
    )
    with pytest.raises(InputError, match=r"curve='average' was given beside (sites|periods)"):
        bc.fit(Y, P, curve="average", **how)


@pytest.mark.parametrize("how", [{"curve": "beta"}, {"site": SITE}, {"period": SITE}])
def test_the_prior_of_an_average_is_refused_beside_one_family(how):
    with pytest.raises(InputError, match="prior_calibrated was given beside"):
        bc.fit(Y, P, prior_calibrated=0.3, **how)


@pytest.mark.parametrize("how", [{"site": SITE}, {"period": SITE}])
def test_several_families_are_refused_beside_sites_and_periods(how):
    with pytest.raises(InputError, match="a curve of several families was given beside"):
        bc.fit(Y, P, curve=WEIGHTS, **how)


@pytest.mark.parametrize("curves", [["beta", "logistic", "pieces"], WEIGHTS])
def test_several_families_are_averaged_as_compare_does(curves):
    expected = bc.compare(Y, P, curves=curves, **QUICK).posterior
    assert_same(bc.fit(Y, P, curve=curves, **QUICK), expected)


@pytest.mark.parametrize("how", [{"engine": "nuts"}, {"sampler": {"tune": 200}}])
def test_nuts_needs_a_family_by_name(how):
    with pytest.raises(InputError, match="NUTS samples one family"):
        bc.fit(Y, P, **how)


@pytest.mark.parametrize("curve", [None, "average"])
def test_the_pymc_model_needs_a_family_by_name(curve):
    with pytest.raises(InputError, match=r"curve is missing.*curve='beta'"):
        bc.build_model(Y, P, curve=curve)


def test_a_family_that_does_not_exist_is_named_beside_the_average():
    with pytest.raises(InputError, match="'average', 'beta'"):
        bc.fit(Y, P, curve="betta")


def test_draws_that_cannot_be_trusted_are_told():
    y, score = np.repeat([0, 1], 20), np.repeat([0.0, 1.0], 20)
    with pytest.warns(EdgeWarning), pytest.warns(DiagnosticWarning) as told:
        post = bc.fit(y, score, cluster=np.repeat([0, 1], 20), **QUICK)
    assert post.diagnostics["verdict"] != "ok"
    assert any("engine='nuts'" not in str(each.message) for each in told)


@pytest.mark.slow
def test_every_door_says_the_same():
    """The page, the comparison, the display and the plan read the same draws."""
    post = bc.fit(Y, P, random_state=5)
    assert_same(bc.assess(Y, P, random_state=5).posterior, post)
    display = bc.plots.BayesianCalibrationDisplay.from_predictions(Y, P, random_state=5)
    assert_same(display.posterior, post)
