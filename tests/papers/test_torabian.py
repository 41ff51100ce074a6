"""Statements of Torabian & Urner (2024) that this package meets, and misprints that it shows."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from bayescal import estimators, recalibrate, scores

ARROWS = {
    "merge": {"CE_1": "=↓", "CE_2": "=↓", "0/1 loss": "=⇅", "MSE": "=⇅", "PC": "=↓", "KT": "=⇅"},
    "average": {"CE_1": "=↓", "CE_2": "=↓", "0/1 loss": "=↓", "MSE": "=↓", "PC": "=↓", "KT": "=⇅"},
}


def test_pde_sees_what_ece_hides_and_what_is_not_there():
    """Example 1: one bin of scores .35 and .65; once eta is .5, once it is the score."""
    n = 1000
    score = np.repeat([0.35, 0.65], n)
    half = np.tile([0.0, 1.0], n)
    events = (np.tile(np.arange(n), 2) < n * score).astype(float)
    assert float(estimators.ece(half, score, n_bins=1)) == pytest.approx(0, abs=1e-12)
    assert float(estimators.pde(half, score, n_bins=1)) == pytest.approx(0.15)
    assert float(estimators.pde(half, score, cells=score)) == pytest.approx(0.15)
    assert float(estimators.pde(events, score, n_bins=1)) == pytest.approx(0.15)
    assert float(estimators.pde(events, score, cells=score)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("order", "value"), [("cbad", 1 / 3), ("cdba", 1)])
def test_observation_7_needs_another_order(order, value):
    """Tau of the merged scores is 1 as stated with c < d < b < a, not with the order printed."""
    eta = np.array([(order.index(cell) + 1) / 5 for cell in "abcd"])
    merged = np.array([0.6, 0.6, 0.45, 0.55])
    assert estimators.probabilistic_kendall_tau(eta, merged) == pytest.approx(value)


def measures(point, y, f):
    s, eta = f[point], np.bincount(point, y) / np.bincount(point)
    return {
        "CE_1": float(estimators.pde(y, s, cells=s)),
        "CE_2": float(estimators.pde(y, s, cells=s, p=2)),
        "0/1 loss": float(np.mean((s >= 0.5) != (y == 1))),
        "MSE": scores.brier_score(y, s),
        "PC": float(estimators.probabilistic_count(s)),
        "KT": float(estimators.probabilistic_kendall_tau(eta, f)),
    }


@pytest.mark.parametrize("operation", ARROWS)
def test_no_arrow_of_table_1_is_contradicted(operation):
    rng = np.random.default_rng(9)
    for _ in range(40):
        points = int(rng.integers(3, 13))
        point = np.repeat(np.arange(points), 20)
        y = np.concatenate([np.arange(20) < k for k in rng.integers(0, 21, points)]).astype(float)
        levels = rng.choice(np.arange(1, 20) / 20, int(rng.integers(2, 7)), replace=False)
        f = rng.choice(levels, points)
        f[:2] = levels[:2]
        if operation == "merge":
            one, other = rng.choice(np.unique(f), 2, replace=False)
            after = estimators.merge_cells(f, np.where(f == one, other, f))
        else:
            first = np.unique(point, return_index=True)[1]
            after = estimators.average_labels(y, f[point])[first]
        before, later = measures(point, y, f), measures(point, y, np.round(after, 12))
        for name, arrow in ARROWS[operation].items():
            assert "⇅" in arrow or later[name] <= before[name] + 1e-9
        if operation == "merge":  # the arrow is too weak: it never stays
            assert later["PC"] < before["PC"]


def platt(proba, y):
    """Platt's scaling with Platt's targets."""
    events, others = y.sum(), (1 - y).sum()
    target = np.where(y == 1, (events + 1) / (events + 2), 1 / (others + 2))
    weight = np.concatenate([target, 1 - target])
    fitted = recalibrate.LogisticRecalibrator()
    return fitted.fit(np.tile(proba, 2), np.repeat([1, 0], y.size), weight)


def test_platts_scaling_is_that_of_scikit_learn():
    frozen = pytest.importorskip("sklearn.frozen")  # since scikit-learn 1.6
    x, y = make_moons(800, noise=0.3, random_state=0)
    svm = SVC().fit(x[:400], y[:400])
    base = expit(svm.decision_function(x))
    peer = CalibratedClassifierCV(frozen.FrozenEstimator(svm), method="sigmoid", ensemble=False)
    peer.fit(x[400:], y[400:])
    ours = platt(base[400:], y[400:]).transform(base[:400])
    assert ours == pytest.approx(peer.predict_proba(x[:400])[:, 1], abs=1e-4)


def test_platts_scaling_exists_where_outcomes_are_separated():
    y = np.repeat([0.0, 1.0], 10)
    fitted = platt(expit(np.linspace(-2, 2, 20)), y).transform([0.2, 0.8])
    assert 0 < fitted[0] < 0.5 < fitted[1] < 1


def test_a_risk_of_one_half_refutes_theorem_2():
    """Risks .3 and .5 of equal weight: the constant .4 is calibrated and has the least loss."""
    risk, constant = np.array([0.3, 0.5]), np.full(2, 0.4)
    assert constant.mean() == pytest.approx(risk.mean())
    losses = [np.where(f >= 0.5, 1 - risk, risk).mean() for f in (risk, constant)]
    assert losses[0] == pytest.approx(losses[1])
