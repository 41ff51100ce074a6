"""Traces of PyMC models as posteriors: the curve's own coordinates, or the risks of cases."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.curves import mean_errors

pytestmark = [pytest.mark.slow, pytest.mark.engine]

RNG = np.random.default_rng(3)
N = 500
SCORE = RNG.beta(1, 3, N)
AGE = RNG.normal(size=N)
OUTCOME = (RNG.random(N) < expit(0.2 + 0.7 * logit(SCORE) + 0.5 * AGE)).astype(int)
SITE = RNG.integers(0, 4, N)
BETA = ["shift", "log_slope", "asymmetry"]
"""Draws of importance sampling stand for those of a sampler: a trace is a group of draws."""


def trace(posterior, **groups):
    return xr.DataTree.from_dict({"posterior": posterior, **groups})


@pytest.fixture(scope="module")
def post():
    return bc.fit(OUTCOME, SCORE, curve="beta", draws=800, random_state=1)


@pytest.fixture(scope="module")
def plain(post):
    """The trace of the curve's model, with the risk of every case."""
    prob = post.curve(SCORE).rename("event_prob")
    drawn = post.tree["posterior"].to_dataset()[BETA]
    return drawn.assign(event_prob=(("chain", "draw", "obs"), prob.to_numpy()))


@pytest.fixture(scope="module")
def model():
    return bc.build_model(OUTCOME, SCORE, curve="beta")


def test_the_coordinates_give_the_same_posterior(post, plain, model):
    again = bc.from_pymc(trace(plain[BETA]), model)
    np.testing.assert_array_equal(again.curve([0.1, 0.6]), post.curve([0.1, 0.6]))
    assert again.data == post.data
    assert again.engine == "nuts"
    assert again.diagnostics["verdict"] == "ok"


def test_a_model_written_by_hand_gives_it_by_its_risks(post, plain, tmp_path):
    import pymc as pm

    with pm.Model() as by_hand:
        shift = pm.Normal("shift", 0, 1)
        score = pm.Data("score", SCORE)
        prob = pm.Deterministic("event_prob", pm.math.sigmoid(shift + pm.math.logit(score)))
        pm.Bernoulli("event", prob, observed=OUTCOME)
    again = bc.from_pymc(trace(plain[["event_prob"]]), by_hand)
    ours, theirs = (each.summary(population="sample") for each in (post, again))
    sd = (ours["upper"] - ours["lower"]) / 4
    assert (abs(ours - theirs)[["mean", "lower", "upper"]].max(axis=1) < 0.05 * sd).all()
    again.to_netcdf(tmp_path / "post.nc")
    assert bc.load(tmp_path / "post.nc").summary().equals(again.summary())
    assert "log_likelihood" not in again.tree.children  # that of the curve is not the model's


def test_a_covariate_is_averaged_at_each_score():
    """Risks of cases are far from their scores, and those of all cases with a score are not."""
    import pymc as pm

    rng = np.random.default_rng(4)
    score, age = rng.beta(1, 3, 5000), rng.normal(size=5000)
    with pm.Model() as extended:
        by_age = pm.Normal("by_age", 0, 0.5)
        outcome = rng.random(5000) < score
        bc.build_model(outcome, score, curve="logistic", offset=by_age * age)
    u = rng.normal([0.2, 0.7, 1.0], 0.02, (2, 100, 3))
    risk = expit(u[..., :1] + u[..., 1:2] * logit(score) + u[..., 2:] * age)
    drawn = xr.Dataset({"event_prob": (("chain", "draw", "obs"), risk)})
    post = bc.from_pymc(trace(drawn), extended)
    ratio = (risk.sum(axis=-1) / score.sum()).ravel()
    of_sample = post.functional("observed_expected", population="sample").to_numpy().ravel()
    np.testing.assert_allclose(of_sample, ratio, rtol=2e-3)
    nodes, weight = np.polynomial.hermite_e.hermegauss(31)
    at = np.array([0.05, 0.2, 0.5])
    mean = expit(0.2 + 0.7 * logit(at)[:, None] + nodes) @ weight / weight.sum()
    np.testing.assert_allclose(post.curve(at).mean(("chain", "draw")), mean, atol=0.02)
    own = np.abs(risk - score).mean()
    assert post.tce().mean() < 0.7 * own


def test_few_scores_have_a_mean_risk_each():
    score = np.repeat([0.2, 0.6], [3, 2])
    risk = np.array([[0.1, 0.2, 0.3, 0.6, 0.9]])
    points, errors = mean_errors(score, risk, np.array([1, 1, 2.0, 1, 1]))
    np.testing.assert_array_equal(points, [0.2, 0.6])
    np.testing.assert_allclose(errors, [[0.025, 0.15]])


def test_data_set_after_sampling_do_not_change_a_posterior(plain, post):
    import pymc as pm

    model = bc.build_model(OUTCOME, SCORE, curve="beta")
    with model:
        pm.set_data({"score": [0.5], "trials": [1]}, coords={"obs": [0]})
    assert bc.from_pymc(trace(plain[BETA]), model).data == post.data


def test_several_curves_come_back_as_several(post):
    sites = bc.fit(
        OUTCOME, SCORE, site=SITE, vary=bc.by("site", robust=False), curve="logistic", draws=400,
        random_state=1,
    )  # fmt: skip
    model = bc.build_model(
        OUTCOME, SCORE, site=SITE, vary=bc.by("site", robust=False), curve="logistic"
    )
    drawn = sites.tree["posterior"].to_dataset()
    assert {"site_shift", "site_log_slope", "sd_shift", "correlation"} <= set(drawn)
    again = bc.from_pymc(trace(drawn), model)
    assert isinstance(again, bc.MultilevelPosterior)
    np.testing.assert_allclose(again.at(site="2").curve([0.3]), sites.at(site="2").curve([0.3]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda drawn: drawn[["shift"]], "idata has no event_prob.*but shift. Keep it"),
        (
            lambda drawn: drawn[["event_prob"]].isel(obs=slice(7)),
            r"the shape \(7,\) in each draw, and there are 500 scores",
        ),
        (lambda drawn: 2 - drawn[["event_prob"]], r"values outside \[0, 1\].*not log-odds"),
    ],
)
def test_what_a_trace_lacks_is_said(change, message, plain, model):
    with pytest.raises(InputError, match=message):
        bc.from_pymc(trace(change(plain)), model)


def test_what_a_model_lacks_is_said(plain):
    import pymc as pm

    with pm.Model() as bare:
        pm.Normal("shift")
    with pytest.raises(InputError, match=r"no data 'score'.*pm.Data\('score', scores\)"):
        bc.from_pymc(trace(plain[["event_prob"]]), bare)
    with pytest.raises(InputError, match="idata has no group posterior: it is 'dict'"):
        bc.from_pymc({}, bare)
    with bare:
        pm.Data("score", SCORE)
    with pytest.raises(InputError, match="0 observed variables"):
        bc.from_pymc(trace(plain[["event_prob"]]), bare)


def test_a_page_and_what_updates_gain_are_read_from_its_own_draws(post, plain, model):
    import re

    from bayescal.report import render

    again = bc.from_pymc(trace(plain[BETA]), model)
    page = again.page()
    told = str(page)
    mean = again.summary().loc["tce", "estimate"]
    assert abs(float(re.search(r"off by (0\.\d+)", told)[1]) - mean) < 0.005
    assert "calibration slope" in told.lower()
    assert "<svg" in render.html(page) or "<img" in render.html(page)
    advice = bc.recommend(again.data, of=again, random_state=1)
    own = bc.recommend(again.data, random_state=1)
    assert list(advice.table.index) == list(own.table.index)
    assert not advice.table.equals(own.table)
    with pytest.raises(InputError, match="a posterior of other cases"):
        bc.recommend(OUTCOME[:100], SCORE[:100], of=again)
