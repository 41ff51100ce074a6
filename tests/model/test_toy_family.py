"""A family of curves is one description, and everything else follows from it.

The toy family below is a bump at one score. This file is all that adding it takes.
"""

import numpy as np
import pytest
from scipy.special import logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.curve import Curve
from bayescal.model.curves import CURVES, register, unregister
from bayescal.model.draws import WEIGHTS
from bayescal.model.priors import Normal

WHERE, WIDTH = 0.6, 0.5


def bump(score):
    return np.exp(-0.5 * ((logit(score) - logit(WHERE)) / WIDTH) ** 2)


def basis(score, frame):
    return logit(score), np.column_stack([np.ones(score.size), bump(score)])


BUMP = Curve(
    name="bump",
    formula="logit s + shift + height * bump(s)",
    coordinates=("shift", "height"),
    basis=basis,
    combination=((1.0, 0.0), (0.0, 1.0)),
    positive=(False, False),
    priors=(("height", Normal(0.0, 1.5)),),
    meaning="risks too high, or too low, near 0.6",
    update="raise or lower the risks near 0.6",
)


@pytest.fixture(scope="module", autouse=True)
def registered():
    register(BUMP)
    yield
    unregister("bump")


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(1)
    score = rng.uniform(0.1, 0.9, 500)
    risk = 1 / (1 + np.exp(-(logit(score) - 2.5 * bump(score))))
    return rng.random(500) < risk, score


@pytest.fixture(scope="module")
def compared(cases):
    return bc.compare(*cases, curves=("bump", *WEIGHTS), draws=1000, random_state=1)


def test_it_is_fitted_by_name_and_read_back(cases, tmp_path):
    post = bc.fit(*cases, curve="bump", random_state=1)
    assert post.diagnostics["verdict"] == "ok"
    assert float(post.tree["posterior"]["height"].mean()) == pytest.approx(-2.5, abs=0.8)
    assert post.tree["log_prior"]["height"].shape == post.tree["posterior"]["height"].shape
    assert float(post.functional("tce", group="prior").mean()) > 0
    post.to_netcdf(tmp_path / "bump.nc")
    again = bc.load(tmp_path / "bump.nc")
    np.testing.assert_array_equal(again.curve([0.3, WHERE]), post.curve([0.3, WHERE]))


@pytest.mark.slow
def test_both_engines_have_one_density(cases):
    from bayescal.inference.density import CurveDensity
    from bayescal.model.problem import prepare

    few = [values[:100] for values in cases]  # more share rows, which NUTS does not do
    problem = prepare(*few, curve="bump", random_state=0)
    model = bc.build_model(*few, curve="bump")
    log_density = model.compile_logp(mode="FAST_COMPILE")
    assert log_density({"shift": 0.2, "height": -1.0}) == pytest.approx(
        CurveDensity(problem)(np.array([[0.2, -1.0]]))[0]
    )


def test_it_is_compared_and_averaged(compared):
    table = compared.table
    assert table.loc["bump", "posterior_prob"] > 0.5
    np.testing.assert_allclose(table["prior"][["bump", "beta", "lapse", "spline"]], 0.95 * 3 / 22)
    post = compared.posterior
    of_bump = post.tree["posterior"]["family"].to_numpy().ravel() == list(
        name for name, weight in compared.prior_prob.items() if weight and name != "identity"
    ).index("bump")
    assert of_bump.mean() == pytest.approx(compared.posterior_prob["bump"], abs=0.03)
    curve = post.curve([0.3, WHERE]).to_numpy().reshape(-1, 2)[of_bump]
    alone = bc.fit(compared.data, curve="bump", random_state=1).curve([0.3, WHERE])
    np.testing.assert_allclose(curve.mean(axis=0), alone.mean(("chain", "draw")), atol=0.02)


def test_its_average_is_read_back(compared, tmp_path):
    post = compared.posterior
    post.to_netcdf(tmp_path / "average.nc")
    again = bc.load(tmp_path / "average.nc")
    assert again.problem.curve == post.problem.curve
    np.testing.assert_array_equal(again.curve([0.3, WHERE]), post.curve([0.3, WHERE]))


def test_its_update_is_tried(cases):
    result = bc.recommend(*cases, draws=1000, random_state=1)
    assert result.table.loc["bump", "prob_better"] > 0.9


def test_it_recalibrates(cases):
    y_true, y_prob = cases
    recalibrator = bc.recalibrate.BayesianRecalibrator("bump", draws=400, random_state=1)
    (middle,) = recalibrator.fit(y_prob, y_true).transform([WHERE])
    assert middle < 0.35
    gain = bc.recalibration_gain(y_true, y_prob, bump_removed(y_prob), random_state=1, draws=400)
    assert gain.prob_improved > 0.9


def bump_removed(y_prob):
    return 1 / (1 + np.exp(-(logit(y_prob) - 1.5 * bump(y_prob))))


@pytest.mark.slow
def test_it_is_drawn(cases, compared):
    panels = bc.plots.comparison(compared)
    labels = [label.get_text() for label in panels[0].get_yticklabels()]
    assert any("bump" in label for label in labels)
    bc.plots.reliability(bc.fit(*cases, curve="bump", random_state=1))
    bc.plots.prior_posterior(bc.fit(*cases, curve="bump", random_state=1))


def test_a_name_is_taken_once():
    with pytest.raises(InputError, match="a family named 'bump' exists already"):
        register(BUMP)
    assert list(CURVES)[-1] == "bump"
