"""Exact calibration of sites: its probability, and the lower ends of distances that follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal._base.newton import Mode
from bayescal._base.sampling.importance import importance_sample
from bayescal.multilevel.calibrated import identity_log_likelihood, prob_calibrated
from bayescal.multilevel.factorised.density import PopulationDensity
from bayescal.multilevel.problem import prepare_terms
from bayescal.posterior.intervals import equal_tailed


def simulated(seed, sites=6, n=100, sd=0.0, shift=0.0):
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(sites), n)
    x = rng.normal(-1.2, 1.1, label.size)
    own = np.repeat(sd * rng.standard_normal(sites), n)
    return (rng.random(label.size) < expit(x + shift + own)).astype(int), expit(x), label


def fitted(seed, curve="logistic", draws=400, **options):
    y, s, label = simulated(seed, **options)
    return bc.fit(y, s, groups=label, curve=curve, draws=draws, random_state=seed)


@pytest.fixture(scope="module")
def calibrated():
    return fitted(1, draws=2000)


@pytest.fixture(scope="module")
def impact(shared_data):
    table = pd.read_csv(shared_data / "data/clinical/impact_tbi_iecv.csv")
    return bc.fit(
        table["outcome"], table["score"], groups=table["study"], curve="logistic", random_state=1
    )


@pytest.mark.parametrize("curve", ["intercept", "temperature", "logistic", "beta"])
def test_the_likelihood_of_exact_calibration_is_that_of_sites_that_are_alike(curve):
    """The density of a calibrated population tends to it as the spread tends to none."""
    y, s, label = simulated(1)
    known = {"site": ["A", "B"], "observed": [4, 9], "expected": [5, 6], "n": [40, 50]} | {
        name: [np.nan, value]
        for name, value in zip(
            ("calibration_slope", "slope_lower", "slope_upper"), (0.9, 0.6, 1.2), strict=True
        )
    }
    data = bc.CalibrationData(y, s, groups=label)
    options = {"curve": curve, "known": known, "random_state": 1}
    problem = prepare_terms(data, bc.by("site", robust=False), prior="neutral", **options)
    density, d = PopulationDensity(problem), len(problem.pooled.curve.coordinates)
    point = np.zeros((1, density.size))
    point[0, d : d + len(problem.varying)] = -9  # the least scale
    prior = problem.pooled.prior.logpdf(density.names, point[:, :d])[0]
    prior += -np.square(point[0, d:]).sum() / 2 - (density.size - d) / 2 * np.log(2 * np.pi)
    assert density(point)[0] - prior == pytest.approx(identity_log_likelihood(problem), abs=0.01)


@pytest.mark.parametrize(("sd", "shift"), [(0.0, 0.0), (0.4, 0.1), (0.4, -0.3)])
def test_the_evidence_of_a_calibrated_average_is_that_of_a_fit_with_it_fixed(sd, shift):
    post = fitted(3, sites=10, sd=sd, shift=shift, draws=8000)
    density, d = PopulationDensity(post.problem), 2
    mode = density.mode()

    def fixed(points):
        return density(np.hstack([np.zeros((len(points), d)), points]))

    start = Mode(mode.point[d:], mode.value, mode.information[d:, d:], True)
    prior = post.problem.pooled.prior.logpdf(density.names, np.zeros((1, d)))[0]
    evidence = importance_sample(fixed, start, 2000, np.random.default_rng(1)).log_evidence - prior
    logs = np.array(
        [identity_log_likelihood(post.problem), evidence, post.diagnostics["log_evidence"]]
    )
    weight = np.array([0.1, 0.1, 0.8]) * np.exp(logs - logs.max())
    got = prob_calibrated(post._drawn)
    assert got.average_site == pytest.approx(weight[:2].sum() / weight.sum(), abs=0.03)
    assert got.every_site == pytest.approx(weight[0] / weight.sum(), abs=0.03)


def test_of_calibrated_sites_no_distance_is_surely_above_zero():
    """In at least 95 % of data sets; here in all of twenty, of five sites and of fifteen."""
    lower = []
    for seed in range(20):
        post = fitted(seed, "intercept", sites=5 if seed % 2 else 15, n=60)
        lower += [view.interval("tce")[0] for view in (post.average_site(), post.new_site())]
    assert np.mean(np.array(lower) == 0) >= 0.95


def test_sites_that_differ_round_a_calibrated_average():
    post = fitted(2, sites=12, n=300, sd=0.5)
    assert post.prob_calibrated["every_site"] < 1e-3
    assert post.prob_calibrated["average_site"] > 0.1
    assert post.average_site().interval("tce")[0] == 0
    assert post.new_site().interval("tce")[0] > 0


def test_the_studies_differ_and_so_will_a_new_one(impact):
    """Its interval is that of the draws, as before; the average study may be calibrated."""
    new, average = impact.new_site(), impact.average_site()
    assert impact.prob_calibrated["every_site"] < 1e-20
    assert new.interval("tce") == equal_tailed(new.tce().to_numpy(), 0.95)
    np.testing.assert_allclose(new.interval("tce", population="sample"), (0.007, 0.126), atol=0.008)
    assert average.prob_calibrated > 0.8
    assert average.interval("tce")[0] == 0
    plain = equal_tailed(average.tce().to_numpy(), 0.95)
    assert plain[0] > 0.001
    assert average.interval("tce")[1] == pytest.approx(plain[1], abs=5e-4)


def test_probabilities_agree_with_the_interval(calibrated):
    for view in (calibrated.average_site(), calibrated.new_site()):
        lower, upper = view.interval("tce")
        assert lower == 0
        assert view.prob_tce_below(upper + 1e-9) >= 0.975 > view.prob_tce_below(upper - 1e-3)
        assert view.prob_tce_above(0) == pytest.approx(1 - view.prob_calibrated, abs=1e-3)
        assert view.summary(names=["tce"]).loc["tce", ["lower", "upper"]].tolist() == [lower, upper]


def test_the_lower_end_alone_knows_exact_calibration(calibrated):
    view = calibrated.new_site()
    draws = view.tce().to_numpy().ravel()
    assert (draws > 0).all()
    share = np.mean(view._with_calibrated("tce", draws) == 0)
    assert share == pytest.approx(view.prob_calibrated, abs=1e-3)
    assert view.interval("tce")[1] == equal_tailed(draws, 0.95)[1]
    assert view.prob_tce_below(0.02) == np.mean(draws < 0.02)
    assert view.prob_tce_above(0.02) < np.mean(draws > 0.02)


def test_what_is_no_distance_is_read_as_it_is(calibrated):
    view = calibrated.average_site()
    plain = equal_tailed(view.functional("observed_expected").to_numpy(), 0.95)
    assert view.interval("observed_expected") == plain
    assert "P(exactly calibrated)" in str(view)


def test_nothing_is_said_where_no_evidence_was_computed(calibrated):
    numbers = {"r_hat": 1.0, "ess_bulk": 400.0, "ess_tail": 400.0, "divergences": 0.0}
    drawn = replace(calibrated._drawn, engine="nuts", stats=numbers)
    post = bc.HierarchicalPosterior.of_draws(drawn)
    assert post.prob_calibrated is None
    for view in (post.average_site(), post.new_site()):
        assert view.prob_calibrated is None
        assert view.interval("tce") == equal_tailed(view.tce().to_numpy(), 0.95)
        assert view.interval("tce")[0] > 0


def test_they_are_read_back(calibrated, tmp_path):
    calibrated.to_netcdf(tmp_path / "sites.nc")
    again = bc.load(tmp_path / "sites.nc")
    assert again.prob_calibrated == calibrated.prob_calibrated
    assert again.new_site().interval("tce") == calibrated.new_site().interval("tce")
