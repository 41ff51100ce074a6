"""Fits with clusters: what does not change them, and clusters of which the answer is known."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.inference.density import CurveDensity
from bayescal.model.problem import prepare

NAMES = ["tce", "observed_expected", "calibration_slope", "signed_error"]


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(8)
    cluster = np.repeat(np.arange(25), 16)
    x = rng.normal(-0.7, 1.1, cluster.size)
    effect = 0.7 * rng.standard_normal(25)
    outcome = rng.random(cluster.size) < 1 / (1 + np.exp(-0.75 * x - effect[cluster]))
    return outcome.astype(int), 1 / (1 + np.exp(-x)), cluster


def lengths(post):
    table = post.summary(names=NAMES)
    return table["upper"] - table["lower"]


@pytest.mark.parametrize(
    "curve", ["intercept", "temperature", "logistic", "noise", "beta", "lapse", "spline"]
)
def test_every_case_told_twenty_times_is_told_once(cases, curve):
    y, s, _ = cases
    once = bc.fit(y, s, curve=curve, random_state=1)
    times = [np.repeat(values, 20) for values in (y, s, np.arange(y.size))]
    often = bc.fit(*times[:2], cluster=times[2], curve=curve, random_state=1)
    alone, told = once.summary(names=NAMES), often.summary(names=NAMES)
    shown = [name for name in NAMES if curve != "intercept" or name != "calibration_slope"]
    ratio = (lengths(often) / lengths(once))[shown]
    assert ((ratio > 0.85) & (ratio < 1.15)).all(), ratio
    apart = (alone["mean"] - told["mean"]).abs() / lengths(once)
    assert (apart < 0.1).all(), apart


@pytest.mark.slow
def test_bayes_factors_of_repeated_cases_are_those_of_the_cases():
    """But for the spline's, whose many coordinates leave the sandwich some chance."""
    y, s = bc.simulate.sample("clinical-middle-overconfident", 1500, random_state=0)
    times = [np.repeat(values, 10) for values in (y, s, np.arange(y.size))]
    once = bc.compare(y, s, draws=1000, random_state=1)
    often = bc.compare(*times[:2], cluster=times[2], draws=1000, random_state=1)
    for name, evidence in once.log_evidence.items():
        factor = evidence - once.log_evidence["identity"]
        again = often.log_evidence[name] - often.log_evidence["identity"]
        assert again == pytest.approx(factor, abs=4 if name == "spline" else 0.3, rel=0.1), name
    assert often.prob_calibrated_bic == pytest.approx(once.prob_calibrated_bic, abs=0.1)
    shown, told = (each.table["elpd_diff_error"].drop("identity") for each in (once, often))
    assert ((told / 10) / shown).median() == pytest.approx(1, rel=0.2)


def test_one_cluster_a_case_equals_no_clusters(cases):
    y, s, _ = cases
    plain = bc.fit(y, s, curve="beta", random_state=2)
    single = bc.fit(y, s, curve="beta", cluster=np.arange(y.size), random_state=2)
    pd.testing.assert_frame_equal(single.summary(), plain.summary(), check_flags=False)
    assert single.design.effective_n == pytest.approx(y.size, rel=0.02)


def test_names_of_clusters_and_order_of_rows_change_nothing(cases):
    y, s, cluster = cases
    order = np.random.default_rng(1).permutation(y.size)
    names = pd.Series(cluster).map(lambda c: f"{(3 * c) % 25}-a").to_numpy()
    first = bc.compare(y, s, cluster=cluster, random_state=3).posterior.summary()
    second = bc.compare(y[order], s[order], cluster=names[order], random_state=3)
    pd.testing.assert_frame_equal(first, second.posterior.summary())


def test_the_other_outcome_gives_the_mirrored_posterior(cases):
    y, s, cluster = cases
    first = bc.fit(y, s, curve="beta", cluster=cluster, random_state=3)
    second = bc.fit(1 - y, 1 - s, curve="beta", cluster=cluster, random_state=3)
    for name in ("tce", "calibration_slope"):
        own, other = first.interval(name), second.interval(name)
        assert other == pytest.approx(own, abs=0.07 * (own[1] - own[0])), name
    low, high = first.interval("signed_error")
    mirrored = second.interval("signed_error")
    assert mirrored == pytest.approx((-high, -low), abs=0.07 * (high - low))


def test_clusters_that_differ_widen_what_they_share_most(cases):
    y, s, cluster = cases
    plain = bc.fit(y, s, curve="beta", random_state=1)
    wide = bc.fit(y, s, curve="beta", cluster=cluster, random_state=1)
    ratio = lengths(wide) / lengths(plain)
    assert ratio["observed_expected"] > 1.25
    design = wide.design
    assert design.effective_n == pytest.approx(plain.data.n / design.effect)
    assert wide.diagnostics["effective_n"] == design.effective_n < plain.data.n
    assert wide.summary().attrs["clusters"] == 25
    assert f"25 clusters; effective n {design.effective_n:.0f} of 400" in repr(wide)


@pytest.mark.parametrize("curve", ["logistic", "beta", "spline"])
def test_derivatives_of_the_adjusted_density(cases, curve):
    y, s, cluster = cases
    density = CurveDensity(prepare(y, s, cluster=cluster, curve=curve, random_state=0))
    if curve == "spline":
        density = density.at(0.3)
    at, step = np.full(density.curve.size, 0.13), 1e-5
    value, gradient, hessian = density.derivatives(at)
    assert value == pytest.approx(float(density(at[None])[0]), rel=1e-9)
    for index in range(at.size):
        near = np.tile(at, (2, 1))
        near[:, index] += [step, -step]
        forward, backward = density(near)
        assert gradient[index] == pytest.approx((forward - backward) / (2 * step), rel=1e-4)
        slopes = [density.derivatives(point)[1] for point in near]
        np.testing.assert_allclose(
            hessian[index], (slopes[0] - slopes[1]) / (2 * step), rtol=1e-3, atol=1e-3
        )
    identity = CurveDensity(prepare(y, s, curve=curve, random_state=0))
    origin = np.zeros((1, at.size))
    assert density.log_likelihood(origin) == pytest.approx(identity.log_likelihood(origin))


def test_the_sensitivity_to_the_prior_knows_the_clusters(cases):
    y, s, cluster = cases
    comparison = bc.compare(y, s, cluster=cluster, random_state=1)
    assert comparison.sensitivity.loc["neutral", "prob_calibrated"] == pytest.approx(
        comparison.prob_calibrated
    )
