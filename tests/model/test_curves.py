"""Families of curves and their priors: one table drives the tests; a new family adds a row."""

import warnings

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg, stats
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.inference.density import CurveDensity
from bayescal.model.curves import CURVES, Frame, as_curve
from bayescal.model.families import KNOTS, REACH, SMOOTHNESS, SPLINE, deviation_columns
from bayescal.model.families import spline_frame as make_frame
from bayescal.model.prior import JointPrior
from bayescal.model.priors import PRESETS, Normal, Prior, StudentT, as_prior
from bayescal.model.problem import prepare

SCORES = np.array([1e-12, 0.003, 0.2, 0.5, 0.77, 0.999, 1 - 1e-12])


def beta_by_hand(s, m, shift, log_slope, asymmetry):
    alpha, beta = np.exp(log_slope + asymmetry / 2), np.exp(log_slope - asymmetry / 2)
    eta = logit(m) + shift + alpha * np.log(s / m) - beta * np.log((1 - s) / (1 - m))
    return expit(eta)


def lapse_by_hand(s, m, shift, log_slope, guess, lapse):
    h = expit(logit(m) + shift + np.exp(log_slope) * (logit(s) - logit(m)))
    return guess + (1 - guess - lapse) * h


BY_HAND = {
    "identity": lambda s, m: s,
    "intercept": lambda s, m, shift: expit(logit(s) + shift),
    "temperature": lambda s, m, log_slope: expit(np.exp(log_slope) * logit(s)),
    "logistic": lambda s, m, shift, log_slope: expit(
        logit(m) + shift + np.exp(log_slope) * (logit(s) - logit(m))
    ),
    "near": lambda s, m, shift, log_slope: expit(
        logit(m) + shift + np.exp(log_slope) * (logit(s) - logit(m))
    ),
    "noise": lambda s, m, guess, lapse: guess + (1 - guess - lapse) * s,
    "beta": beta_by_hand,
    "lapse": lapse_by_hand,
    "spline": lambda s, m, shift, log_slope, *deviations: expit(
        logit(m) + shift + np.exp(log_slope) * (logit(s) - logit(m))
    ),
}


def a_point(curve, first=0.4):
    """Coordinates of a curve that is far from the diagonal."""
    u = np.resize([first, -0.3, 0.7], curve.size)
    u[curve.rates] = [0.03, 0.08][: len(curve.rates)]
    return u


def test_every_family_is_in_the_table():
    assert {*BY_HAND, "pieces", "saturated"} == set(CURVES)  # these have files of their own


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("centre", [0.5, 0.2])
def test_curve_is_what_its_formula_says(name, centre):
    curve = CURVES[name]
    u = a_point(curve)
    drawn = curve.probability(u[None], SCORES, Frame(centre))[0]
    np.testing.assert_allclose(drawn, BY_HAND[name](SCORES, centre, *u), rtol=1e-4)
    inner = slice(1, -1)
    np.testing.assert_allclose(drawn[inner], BY_HAND[name](SCORES, centre, *u)[inner], rtol=1e-12)


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("centre", [0.5, 0.07])
def test_zero_is_perfect_calibration(name, centre):
    curve = CURVES[name]
    drawn = curve.probability(np.zeros((1, curve.size)), SCORES, Frame(centre))[0]
    np.testing.assert_allclose(drawn, SCORES, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in BY_HAND if name != "spline"])
def test_curves_rise(name):
    curve = CURVES[name]
    u = np.random.default_rng(0).normal(0, 1, (50, curve.size))
    u[:, curve.rates] = np.abs(u[:, curve.rates]) / 10
    drawn = curve.probability(u, SCORES, Frame(0.3))
    assert (np.diff(drawn, axis=1) >= 0).all()


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("prior", PRESETS)
def test_gradient_and_hessian_match_finite_differences(name, prior):
    y, s = bc.simulate.sample("D4", 60, random_state=2)
    data = bc.CalibrationData(y, s)
    problem = prepare(data, curve=name, prior=PRESETS[prior], random_state=0)
    density = CurveDensity(problem).at(0.7)
    u = np.resize([0.3, -0.4, 0.8, -0.2], problem.curve.size)
    value, gradient, hessian = density.derivatives(u)
    step = 1e-5
    for i in range(u.size):
        e = np.eye(u.size)[i] * step
        up, down = density.derivatives(u + e), density.derivatives(u - e)
        assert gradient[i] == pytest.approx((up[0] - down[0]) / (2 * step), rel=1e-5, abs=1e-6)
        np.testing.assert_allclose(hessian[i], (up[1] - down[1]) / (2 * step), rtol=1e-5, atol=1e-5)
    assert value == pytest.approx(density(u[None])[0])


def test_alpha_beta_and_c_rebuild_the_beta_curve():
    y, s = bc.simulate.sample("D5", 100, random_state=2)
    post = bc.fit(y, s, curve="beta", prior="clinical", random_state=0)
    draws = post.tree["posterior"].to_dataset().isel(chain=0, draw=slice(5))
    alpha, beta, c = (
        draws[name].to_numpy()[:, None] for name in ("curve_alpha", "curve_beta", "curve_c")
    )
    score = np.array([0.1, 0.5, 0.8])
    rebuilt = expit(alpha * np.log(score) - beta * np.log1p(-score) - c)
    drawn = post.curve(score).isel(chain=0, draw=slice(5)).to_numpy()
    np.testing.assert_allclose(rebuilt, drawn, rtol=1e-10)


def spline_problem(name="clinical-middle-asymmetric", n=300):
    y, s = bc.simulate.sample(name, n, random_state=2)
    data = bc.CalibrationData(y, s)
    return prepare(data, curve="spline", random_state=0)


@pytest.mark.parametrize("name", ["clinical-middle-asymmetric", "D1", "D3"])
def test_deviations_are_orthogonal_to_the_line_and_of_unit_variance(name):
    problem = spline_problem(name)
    score = problem.table.score
    columns = deviation_columns(score, problem.frame)
    x = np.clip(logit(score), -REACH, REACH)
    np.testing.assert_allclose(problem.table.trials @ columns / problem.n, 0, atol=1e-12)
    np.testing.assert_allclose((problem.table.trials * x) @ columns / problem.n, 0, atol=1e-12)
    between = (columns.T * problem.table.trials) @ columns / problem.n
    np.testing.assert_allclose(between, np.diag(np.diag(between)), atol=1e-12)
    assert (np.diff(np.diag(between)) < 0).all()
    assert np.trace(between) == pytest.approx(1)


def test_deviations_have_the_penalty_that_their_prior_says():
    problem = spline_problem(n=100)
    frame, score = problem.frame, problem.score
    spline = interpolate.CubicSpline(frame.knots, frame.deviations, bc_type="natural")
    at_knots = spline(frame.knots, 2)
    x = np.linspace(frame.knots[0], frame.knots[-1], 200_001)
    second = interpolate.interp1d(frame.knots, at_knots, axis=0)(x)
    penalty = integrate.trapezoid(second[:, :, None] * second[:, None], x, axis=0)
    scale = np.sqrt(np.diag(penalty))
    np.testing.assert_allclose(penalty / np.outer(scale, scale), np.eye(scale.size), atol=1e-6)
    variance = (deviation_columns(score, frame) ** 2).mean(axis=0)
    expected = (np.diag(penalty) / variance) ** (-2 * SMOOTHNESS)
    np.testing.assert_allclose(variance / variance.sum(), expected / expected.sum(), rtol=1e-6)


def test_deviations_are_natural_cubic_splines():
    problem = spline_problem()
    knots = np.array(problem.frame.knots)
    assert knots.size == KNOTS
    at_knots = deviation_columns(expit(knots), problem.frame)
    spline = interpolate.CubicSpline(knots, at_knots, bc_type="natural")
    x = np.linspace(knots[0], knots[-1], 50)
    np.testing.assert_allclose(deviation_columns(expit(x), problem.frame), spline(x), atol=1e-7)
    beyond = deviation_columns(expit(knots[-1] + np.array([0.5, 1.0, 1.5])), problem.frame)
    np.testing.assert_allclose(np.diff(beyond, n=2, axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("score", [[0.3], [0.3, 0.6], [0.0, 1.0], [0.2, 0.2 + 1e-14, 0.9]])
def test_too_few_scores_leave_a_line(score):
    y = np.arange(12) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.errors.EdgeWarning)
        post = bc.fit(y, np.resize(score, 12), curve="spline", random_state=0)
    assert (np.diff(post.curve([0.1, 0.5, 0.9])) >= 0).all()
    assert np.isfinite(post.tce()).all()


def test_deviations_do_not_depend_on_the_signs_of_eigenvectors(monkeypatch):
    problem = spline_problem()
    solved = linalg.eigh

    def other_signs(*matrices):
        values, vectors = solved(*matrices)
        return values, vectors * np.where(np.arange(len(values)) % 2, 1, -1)

    monkeypatch.setattr(linalg, "eigh", other_signs)
    frame = make_frame(problem.data.score, problem.data.trials, problem.frame.centre)
    assert frame == problem.frame
    assert np.all(np.array(frame.deviations)[-1] > 0)


def test_the_frame_never_depends_on_outcomes():
    y, s = bc.simulate.sample("D2", 200, random_state=2)
    for prior in PRESETS.values():
        one, other = (
            prepare(outcome, s, curve="spline", prior=prior, random_state=0)
            for outcome in (y, 1 - y)
        )
        assert (one.frame, one.edges) == (other.frame, other.edges)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Normal(0.3, 0.7), stats.norm(0.3, 0.7)),
        (StudentT(4, -0.2, 0.5), stats.t(4, -0.2, 0.5)),
    ],
)
def test_distributions_match_scipy(ours, theirs):
    x = np.linspace(-4, 4, 9)
    np.testing.assert_allclose(ours.logpdf(x), theirs.logpdf(x), rtol=1e-12)
    drawn = ours.sample(np.random.default_rng(0), 4000)
    assert stats.kstest(drawn, theirs.cdf).pvalue > 1e-3
    for at in (-1.3, 0.2, 2.0):
        slope, curvature = ours.slope_and_curvature(at)
        h = 1e-4
        around = ours.logpdf(np.array([at - h, at, at + h]))
        assert slope == pytest.approx((around[2] - around[0]) / (2 * h), rel=1e-5)
        bend = (around[2] - 2 * around[1] + around[0]) / h**2
        assert curvature == pytest.approx(bend, rel=1e-3, abs=1e-4)


def test_priors_are_data():
    own = as_prior({"shift": StudentT(3, 0.1, 0.2), "centre": "mean"})
    assert own.log_slope == PRESETS["neutral"].log_slope
    assert as_prior({"shift": 0.3, "log_slope": 1}) == Prior(Normal(0, 0.3), Normal(0, 1))
    assert Prior.from_dict(own.to_dict()) == own
    for preset in PRESETS.values():
        assert Prior.from_dict(preset.to_dict()) == preset
        assert as_prior(preset) is preset


def test_clinical_is_centred_at_the_mean_log_odds():
    y, s = bc.simulate.sample("clinical-low-shifted", 150, random_state=4)
    post = bc.fit(y, s, curve="beta", prior="clinical", random_state=0)
    assert post.problem.frame.centre == pytest.approx(expit(logit(s).mean()))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: as_prior("flat"), "prior must be one of 'clinical', 'neutral', got 'flat'"),
        (lambda: as_prior({"tau": Normal(0, 1)}), "the prior's keys must be one of"),
        (
            lambda: as_prior({"shift": 0.0}),
            r"prior\[.shift.\] must be a positive number, the standard",
        ),
        (lambda: as_prior({"shift": True}), "the prior of shift must be a distribution"),
        (lambda: Normal(0, 0), "sigma must be a positive number"),
        (lambda: Normal(np.nan, 1), "mu must be a finite number"),
        (lambda: StudentT(0, 0, 1), "nu must be a positive number"),
        (lambda: Prior(centre=1.0), "centre must lie in"),
        (lambda: Prior(roughness=((0.3, 0.5),)), "weights of roughness sum to 0.5"),
        (lambda: Prior(roughness=((-1, 1.0),)), "roughness must hold"),
        (lambda: Prior(centre="median"), "centre must be one of 'mean'"),
        (lambda: as_curve("cubic"), "curve must be one of"),
        (lambda: bc.fit([0, 1], [0.2, 0.3], curve="beta", engine="vi"), "engine must be one of"),
        (
            lambda: bc.fit([0, 1], [0.2, 0.3], curve="beta", draws=10),
            "draws must be a whole number",
        ),
        (
            lambda: bc.fit([0, 1], [0.2, 0.3], curve="beta", edge=0.7),
            "edge must lie strictly between",
        ),
    ],
)
def test_unknown_names_and_values_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_joint_prior_has_the_derivatives_of_its_density():
    prior = Prior(
        shift=StudentT(4, 0.1, 0.5), log_slope=Normal(0.2, 0.3), roughness=((0.1, 0.4), (0.5, 0.6))
    )
    names = ("shift", "log_slope", "deviation_1", "deviation_2")
    fixed, at = JointPrior(prior, names, 0.5), np.array([0.3, -0.2, 0.4, -1.0])
    value, slope, curvature = fixed.derivatives(at)
    assert value == pytest.approx(float(fixed.logpdf(at[None])[0]), abs=1e-12)
    step = 1e-4 * np.eye(4)
    above, below = fixed.logpdf(at + step), fixed.logpdf(at - step)
    np.testing.assert_allclose((above - below) / 2e-4, slope, atol=1e-6)
    twice = (above + below - 2 * fixed.logpdf(at[None])) / 1e-8
    np.testing.assert_allclose(twice, curvature, atol=1e-4)
    mixed = np.log(
        0.4 * np.exp(JointPrior(prior, names, 0.1).logpdf(at[None]))
        + 0.6 * np.exp(fixed.logpdf(at[None]))
    )
    np.testing.assert_allclose(prior.logpdf(names, at[None]), mixed)


def test_a_family_is_sized_once_at_a_frame():
    score, trials = np.linspace(0.05, 0.95, 50), np.full(50, 20.0)
    frame, other = (SPLINE.shape_frame(score, trials, centre) for centre in (0.5, 0.4))
    sized = SPLINE.at(frame)
    assert SPLINE.at(frame) is sized
    assert sized.at(frame) is sized
    assert sized.at(other) is not sized
    assert sized.at(other).coordinates == sized.coordinates
