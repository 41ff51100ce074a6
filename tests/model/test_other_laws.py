"""Priors that are distributions of PyMC or PreliZ: kept by name, and sampled by NUTS."""

import json

import numpy as np
import pytest
from scipy import stats

import bayescal as bc
from bayescal.errors import DiagnosticWarning, InputError
from bayescal.model.prior import Prior
from bayescal.model.priors import Normal, StudentT, as_prior

pytestmark = [pytest.mark.slow, pytest.mark.engine]

OUTCOME, SCORE = bc.simulate.sample("clinical-middle-overconfident", 150, random_state=3)


class OfPreliz:
    """What of PreliZ is asked for: its distributions draw, and turn into those of PyMC."""

    def rvs(self, size):
        raise NotImplementedError

    def to_pymc(self, name):
        import pymc as pm

        return pm.Laplace(name, 0, 0.3)


def shift_of(distribution):
    return as_prior({"shift": distribution}).shift


def test_normal_and_student_t_of_pymc_are_those_of_the_fast_engine():
    import pymc as pm

    assert shift_of(pm.Normal.dist(0.1, 0.3)) == Normal(0.1, 0.3)
    assert shift_of(pm.StudentT.dist(nu=4, mu=0, sigma=0.2)) == StudentT(4.0, 0.0, 0.2)


def test_any_other_is_kept_by_its_name_and_numbers():
    import pymc as pm

    law = shift_of(pm.Laplace.dist(0, 0.3))
    assert repr(law) == "Laplace(0, 0.3)"
    assert law == shift_of(OfPreliz())
    x = np.array([-1.0, 0.2])
    np.testing.assert_allclose(law.logpdf(x), stats.laplace(0, 0.3).logpdf(x))
    drawn = law.sample(np.random.default_rng(1), 20_000)
    np.testing.assert_allclose(np.quantile(drawn, [0.1, 0.5]), [-0.483, 0], atol=0.02)
    prior = as_prior({"shift": law})
    assert Prior.from_dict(json.loads(json.dumps(prior.to_dict()))) == prior


def test_preliz_itself():
    pz = pytest.importorskip("preliz")
    assert shift_of(pz.Normal(0, 0.3)) == Normal(0, 0.3)
    assert repr(shift_of(pz.SkewNormal(0, 0.3, 1))) == "SkewNormal(0, 0.3, 1)"


def test_what_cannot_be_stored_is_refused():
    import pymc as pm

    of_others = pm.Truncated.dist(pm.Laplace.dist(0, 1), -1, 1)
    of_a_variable = pm.Normal.dist(0, pm.HalfNormal.dist(1))
    for bad in (of_others, of_a_variable, pm.Normal.dist(0, 1, shape=3), pm.Normal.dist([0, 1], 1)):
        with pytest.raises(InputError, match=r"such as pm.Laplace.dist\(0, 0.3\)"):
            shift_of(bad)
    with pytest.raises(InputError, match=r"must be a distribution.*PreliZ, got <class"):
        shift_of(pm.Laplace)


def test_the_fast_engine_says_that_nuts_takes_it_and_it_does(tmp_path):
    import pymc as pm

    prior = {"shift": pm.Uniform.dist(-0.05, 0.05)}
    options = {"curve": "intercept", "prior": prior, "draws": 400, "random_state": 1}
    sampler = {"nuts_sampler": "pymc", "tune": 200, "chains": 2, "cores": 1}
    with pytest.warns(DiagnosticWarning, match=r"prior of shift is Uniform\(-0.05, 0.05\), which"):
        post = bc.fit(OUTCOME, SCORE, sampler=sampler, **options)
    assert post.engine == "nuts"
    assert np.abs(post.coordinates["shift"]).max() < 0.05
    assert np.abs(post.tree["prior"]["shift"]).max() < 0.05
    post.to_netcdf(tmp_path / "post.nc")
    assert bc.load(tmp_path / "post.nc").problem.prior == post.problem.prior
    with pytest.raises(InputError, match="or use engine='nuts'"):
        bc.fit(OUTCOME, SCORE, engine="importance", **options)
    for refused in (bc.fit, bc.compare):
        with pytest.raises(InputError, match="Uniform"):
            refused(OUTCOME, SCORE, prior=prior)
