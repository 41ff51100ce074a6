"""Terms of the gain from a curve."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.gain._terms import PARTS, brier_gain, brier_gains, curve_terms, log_gains


def mapped(score):
    return expit(-0.4 + 0.6 * logit(score))


@pytest.fixture(scope="module")
def actual(patients):
    y, s = patients
    return bc.recalibration_gain(y, s, mapped(s), thresholds=(0.1, 0.3), random_state=1)


def terms_of(after, thresholds=()):
    curve, weight = np.array([[0.2, 0.5, 0.6, 0.9]]), np.array([[0.1, 0.2, 0.3, 0.4]])
    before = np.array([0.1, 0.4, 0.7, 0.8])
    after = np.array(after)
    group = np.unique(after, return_inverse=True)[1]
    logs = log_gains(before, after, np.zeros(4))
    moved = {t: (after >= t).astype(float) - (before >= t) for t in thresholds}
    actual = curve_terms(curve, weight, before, after, group, logs, moved)
    return curve[0], weight[0], before, after, {name: value[0] for name, value in actual.items()}


def test_a_map_that_merges_nothing_gains_what_its_calibration_gains():
    """Gruber & Buettner's Proposition 4.5: for the squared and the KL errors, and not for TCE."""
    eta, w, s, t, gain = terms_of([0.15, 0.45, 0.65, 0.85])
    assert gain["brier"] == pytest.approx(w @ ((eta - s) ** 2 - (eta - t) ** 2))
    assert gain["brier_calibration"] == pytest.approx(gain["brier"])
    assert gain["log_calibration"] == pytest.approx(gain["log_score"])
    assert gain["tce"] == pytest.approx(w @ (abs(eta - s) - abs(eta - t)))
    assert gain["tce"] != pytest.approx(gain["brier"])


def test_a_map_that_merges_scores_loses_refinement():
    eta, w, s, t, gain = terms_of([0.3, 0.3, 0.8, 0.8])
    low, high = w[:2] @ eta[:2] / w[:2].sum(), w[2:] @ eta[2:] / w[2:].sum()
    pooled = np.array([low, low, high, high])
    assert gain["tce"] == pytest.approx(w @ (abs(eta - s) - abs(pooled - t)))
    assert gain["brier_calibration"] == pytest.approx(w @ ((eta - s) ** 2 - (pooled - t) ** 2))
    assert gain["brier_refinement"] == pytest.approx(-w @ (eta - pooled) ** 2)
    kl = eta * np.log(eta / pooled) + (1 - eta) * np.log((1 - eta) / (1 - pooled))
    assert gain["log_refinement"] == pytest.approx(-w @ kl)


def test_net_benefit_counts_whom_the_map_moves_over_the_threshold():
    eta, w, _, _, gain = terms_of([0.3, 0.6, 0.65, 0.85], [0.5])
    assert gain["net_benefit@0.5"] == pytest.approx(w[1] * (eta[1] - (1 - eta[1])))


def test_summary(actual):
    table = actual.summary()
    names = ["tce", "brier", "log_score", "net_benefit@0.1", "net_benefit@0.3"]
    assert list(table.index) == names
    assert table.attrs["ci_prob"] == 0.95
    assert table["estimate"].between(table["lower"], table["upper"]).all()
    assert table.loc["brier", "prob_improved"] == actual.prob_improved
    assert set(PARTS) < set(actual.summary(parts=True).index)
    narrow = actual.summary(0.5)
    assert (narrow["lower"] >= table["lower"]).all()
    assert (narrow["upper"] <= table["upper"]).all()
    assert actual.prob_above(0.001) < actual.prob_improved
    assert actual.draws.sizes == {"chain": 4, "draw": 500}


def test_brier_gains_of_several_updates_are_those_of_each():
    rng = np.random.default_rng(3)
    curve, before, afters = rng.random((40, 7)), rng.random(7), rng.random((3, 7))
    weight = rng.dirichlet(np.ones(7), 40)
    each = [brier_gain(curve, weight, before, after) for after in afters]
    np.testing.assert_allclose(brier_gains(curve, weight, before, afters), each, rtol=0, atol=1e-14)
