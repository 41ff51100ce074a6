"""Temperature scaling and its ensemble by the Brier score, against general optimisers."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import softmax

from bayescal import estimators
from bayescal.recalibrate import EnsembleTemperatureRecalibrator, TemperatureRecalibrator


def overconfident(k, share=0.0, n=400, seed=0):
    """Predictions softmax(2 z) of labels drawn from softmax(z), a share of them at random."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(n, k))
    labels = (rng.random((n, 1)) > softmax(z, axis=1).cumsum(axis=1)).sum(axis=1)
    labels = np.where(rng.random(n) < share, rng.integers(0, k, n), labels)
    return softmax(2 * z, axis=1), labels, rng.integers(0, 3, n)


def brier(proba, labels, weight):
    each = np.sum((proba - np.eye(proba.shape[1])[labels]) ** 2, axis=1)
    return float(weight @ each / weight.sum())


@pytest.mark.parametrize("k", [2, 3, 8])
def test_no_other_temperature_has_a_lower_brier_score(k):
    proba, labels, weight = overconfident(k)
    fitted = TemperatureRecalibrator("brier").fit(proba, labels, weight)

    def loss(slope):
        return brier(softmax(slope * np.log(proba), axis=1), labels, weight)

    best = minimize_scalar(loss, bounds=(0.05, 3), method="bounded", options={"xatol": 1e-10}).x
    assert fitted.slope_ == pytest.approx(best, rel=1e-5)
    expected = softmax(fitted.slope_ * np.log(proba), axis=1)
    np.testing.assert_allclose(fitted.predict_proba(proba), expected)


@pytest.mark.parametrize("k", [2, 3, 8])
@pytest.mark.parametrize("share", [0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_no_other_mixture_has_a_lower_brier_score(k, share, seed):
    proba, labels, weight = overconfident(k, share, seed=seed)
    fitted = EnsembleTemperatureRecalibrator("brier").fit(proba, labels, weight)
    alone = TemperatureRecalibrator("brier").fit(proba, labels, weight)
    assert fitted.slope_ == alone.slope_
    parts = np.stack([alone.predict_proba(proba), proba, np.full_like(proba, 1 / k)])

    def loss(weights):
        return brier(np.tensordot(weights, parts, 1), labels, weight)

    best = minimize(
        loss,
        np.full(3, 1 / 3),
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-12},
    )
    assert fitted.weights_.sum() == pytest.approx(1)
    assert fitted.weights_.min() >= 0
    assert loss(fitted.weights_) <= best.fun + 1e-9
    actual = fitted.predict_proba(proba)
    np.testing.assert_allclose(actual, np.tensordot(fitted.weights_, parts, 1), rtol=1e-9)


def test_separated_classes_have_a_finite_fit():
    proba, _, _ = overconfident(3)
    for made in (TemperatureRecalibrator, EnsembleTemperatureRecalibrator):
        right = made("brier").fit(proba, proba.argmax(axis=1))
        wrong = made("brier").fit(proba, proba.argmin(axis=1))
        assert right.slope_ == pytest.approx(100, rel=0.2)
        assert wrong.slope_ == pytest.approx(0.01, rel=1e-3)
        assert np.isfinite(right.predict_proba(proba)).all()


def test_the_two_losses_on_the_cifar_classifier(shared_data):
    """Temperature 2.525 by squared error and 2.395 by log score; binned error .0063 and .0094."""
    kept = np.load(shared_data / "data" / "cifar10_resnet110_logits.npz")
    val, test = (softmax(kept[f"{part}_logits"].astype(float), axis=1) for part in ("val", "test"))
    known = {"log": (2.395, 0.0094), "brier": (2.525, 0.0063)}
    for loss, (temperature, error) in known.items():
        fitted = TemperatureRecalibrator(loss).fit(val, kept["val_y"].ravel())
        assert fitted.temperature_ == 1 / fitted.slope_ == pytest.approx(temperature, abs=5e-4)
        after = fitted.predict_proba(test)
        actual = estimators.top_label_ece(kept["test_y"].ravel(), after, binning="mass")
        assert actual == pytest.approx(error, abs=6e-5)
