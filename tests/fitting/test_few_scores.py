"""Fits of tables with few distinct scores, and of scores that are exactly 0 and 1."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayescal as bc
from bayescal.errors import InputError

SCORES, RISKS = np.array([0.0, 0.5, 0.9, 1.0]), np.array([0.1, 0.4, 0.7, 0.95])


def stated(n=400, risks=RISKS, seed=0):
    """Confidences of a language model, and whether it was right."""
    rng = np.random.default_rng(seed)
    at = rng.choice(4, n, p=[0.2, 0.3, 0.3, 0.2])
    return (rng.random(n) < risks[at]).astype(int), SCORES[at]


Y, S = stated()


@pytest.fixture(scope="module")
def average():
    return bc.compare(Y, S, draws=1000, random_state=1)


def test_saturated_has_half_of_the_weight_of_pieces_and_lapse_that_of_spline(average):
    prior = average.prior_prob
    ordinary = bc.compare(Y, np.linspace(0.1, 0.9, 400), draws=400, random_state=1).prior_prob
    assert "saturated" not in ordinary
    assert "spline" not in prior
    assert_allclose(prior["saturated"], ordinary["pieces"] / 2)
    assert_allclose(prior["pieces"], ordinary["pieces"] / 2)
    assert_allclose(prior["lapse"], ordinary["lapse"] + ordinary["spline"])
    assert_allclose(sum(prior.values()), 1)


def test_distances_compare_with_the_scores_that_were_given(average):
    post = average.posterior
    curve = post.curve().to_numpy().reshape(-1, 4)
    share = np.bincount(np.searchsorted(SCORES, S)) / S.size
    signed = post.functional("signed_error", population="sample").to_numpy().ravel()
    assert_allclose(signed, (curve - SCORES) @ share, atol=1e-9)
    assert abs(curve.mean(axis=0) - RISKS).max() < 0.08


def test_scores_that_are_moved_are_not_what_errors_are_measured_from():
    rng = np.random.default_rng(5)
    s = np.round(rng.beta(0.4, 0.6, 600), 2)
    y = (rng.random(600) < s).astype(int)
    assert (s == 0).sum() > 20
    assert np.unique(s).size > 20
    post = bc.fit(y, s, curve="logistic", random_state=1)
    edges, at = post.problem.edges, post.data.score
    u = np.column_stack([post.coordinates[name] for name in post.problem.curve.coordinates])
    curve = post.problem.curve.probability(u, edges.inside(at), post.problem.frame)
    share = post.data.trials / post.data.n
    tce = post.tce(population="sample").to_numpy().ravel()
    assert_allclose(tce, np.abs(curve - at) @ share, atol=1e-9)
    moved = np.abs(curve - edges.inside(at)) @ share
    assert np.abs(tce - moved).max() > 1e-5


def test_a_calibrated_model_that_says_0_and_1_is_calibrated():
    y, s = stated(4000, SCORES, seed=3)
    comparison = bc.compare(y, s, draws=1000, random_state=1)
    assert comparison.prob_calibrated > 0.2
    lower, upper = comparison.posterior.interval("tce")
    assert lower == 0
    assert upper < 0.03
    assert_allclose(
        comparison.posterior.predict([0.0, 1.0]).mean(("chain", "draw")), [0, 1], atol=0.003
    )


def test_a_score_of_0_with_events_rules_exact_calibration_out(average):
    assert average.prob_calibrated < 1e-6
    assert np.isfinite(average.table[["log_evidence", "elpd_loo", "elpd_diff"]]).all(axis=None)
    assert not any("nearer" in name for name in average.sensitivity.index)


def test_slope_and_intercept_are_not_defined_with_any_score_of_0(average):
    lines = {"calibration_slope", "calibration_intercept"}
    assert not lines & set(average.posterior.summary().index)
    assert (S == 0).mean() > 0
    few_at_0 = bc.fit(np.arange(800) % 2, [0.0, *([0.4] * 399), *([0.6] * 400)], random_state=1)
    assert not lines & set(few_at_0.summary().index)


@pytest.mark.slow
def test_an_average_is_stored_and_updated_with_the_weights_asked_for(tmp_path):
    post = bc.fit(Y, S, random_state=1, draws=400)
    post.to_netcdf(tmp_path / "post.nc")
    stored = bc.load(tmp_path / "post.nc")
    assert stored.summary().equals(post.summary())
    half = bc.fit(Y[:200], S[:200], random_state=1, draws=400)
    assert bc.update(half, Y[200:], S[200:]).summary().equals(post.summary())


def test_an_update_to_many_scores_is_the_fit_of_all():
    rng = np.random.default_rng(7)
    more = rng.random(200)
    outcome = (rng.random(200) < more).astype(int)
    both = bc.update(bc.fit(Y, S, random_state=1, draws=400), outcome, more)
    at_once = bc.fit(np.r_[Y, outcome], np.r_[S, more], random_state=1, draws=400)
    assert both.prior_weights.keys() == at_once.prior_weights.keys()
    assert_allclose(both.summary(), at_once.summary(), atol=0.01)


def test_order_repeats_and_counts_do_not_matter():
    order = np.random.default_rng(0).permutation(Y.size)
    data = bc.CalibrationData(Y, S)
    by_counts = bc.CalibrationData.from_counts(data.score, data.trials, data.hits)
    first = bc.fit(Y, S, random_state=1, draws=400).summary()
    assert bc.fit(Y[order], S[order], random_state=1, draws=400).summary().equals(first)
    assert bc.fit(by_counts, random_state=1, draws=400).summary().equals(first)


def test_relabelling_mirrors_the_average(average):
    mirrored = bc.compare(1 - Y, 1 - S, draws=1000, random_state=1)
    for name, evidence in average.log_evidence.items():
        assert_allclose(mirrored.log_evidence[name], evidence, atol=0.2)
    one, other = (each.posterior.estimate("tce") for each in (average, mirrored))
    assert_allclose(one, other, atol=0.006)


def test_saturated_alone(tmp_path):
    post = bc.fit(Y, S, curve="saturated", random_state=1, draws=800)
    assert post.tree["posterior"]["risk"].shape == (4, 200, 4)
    assert "log_prior" not in post.tree.children
    post.to_netcdf(tmp_path / "post.nc")
    assert bc.load(tmp_path / "post.nc").summary().equals(post.summary())
    between = post.predict([0.5, 0.7, 0.9]).mean(("chain", "draw"))
    assert_allclose(between[1], between[[0, 2]].mean())
    assert (post.prob_on_diagonal() < 0.2).all()


def test_what_saturated_cannot_do_is_refused_by_name():
    with pytest.raises(InputError, match="no PyMC model"):
        bc.fit(Y, S, curve="saturated", engine="nuts")
    with pytest.raises(InputError, match="at most 20"):
        bc.fit(Y, np.linspace(0, 1, Y.size), curve="saturated")
    with pytest.raises(InputError, match="curves"):
        bc.compare(Y, np.linspace(0, 1, Y.size), curves=["saturated"])
    with pytest.raises(InputError, match="several sites"):
        bc.fit(Y, S, curve="saturated", site=np.arange(Y.size) % 2)
    with pytest.raises(InputError, match="no common prior density"):
        bc.prior_sensitivity(bc.fit(Y, S, curve="saturated", random_state=1, draws=400))


def test_recommending_a_risk_for_each_score():
    jagged = np.array([0.02, 0.85, 0.45, 0.97])
    y, s = stated(3000, jagged, seed=2)
    chosen = bc.recommend(y, s, random_state=1)
    assert chosen.choice == "saturated"
    assert "a risk of its own" in str(chosen)
    recalibrator = bc.recalibrate.BayesianRecalibrator(curve="saturated", random_state=1).fit(s, y)
    assert_allclose(recalibrator.predict_proba(SCORES)[:, 1], jagged, atol=0.06)


def test_clusters_widen_what_is_known_of_each_score():
    patient = np.repeat(np.arange(100), 4)
    rng = np.random.default_rng(1)
    at = np.repeat(rng.choice(4, 100), 4)
    y = np.repeat(rng.random(100) < RISKS[at[::4]], 4).astype(int)
    lengths = []
    for cluster in (None, patient):
        post = bc.fit(y, SCORES[at], curve="saturated", cluster=cluster, random_state=1)
        lower, upper = post.interval("observed_expected")
        lengths.append(upper - lower)
    assert lengths[1] > 1.4 * lengths[0]
