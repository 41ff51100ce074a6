"""Recalibrators of all classes at once, against brute force and what must hold for each."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax, softmax

from bayescal import simulate
from bayescal.errors import InputError, SeparationError
from bayescal.recalibrate import (
    BayesianRecalibrator,
    BetaRecalibrator,
    DiagonalRecalibrator,
    EnsembleTemperatureRecalibrator,
    IsotonicRecalibrator,
    MonotoneRecalibrator,
    TemperatureRecalibrator,
    VectorScalingRecalibrator,
)

CLASS_WISE = BayesianRecalibrator(draws=200, random_state=0)
TOP_LABEL = BayesianRecalibrator(draws=200, mode="top-label", random_state=0)
JOINT = [
    TemperatureRecalibrator(),
    EnsembleTemperatureRecalibrator(),
    MonotoneRecalibrator(),
    DiagonalRecalibrator(),
    VectorScalingRecalibrator(),
]
EVERY = [*JOINT, CLASS_WISE, TOP_LABEL]
KEEP_ORDER = JOINT[:4]

every = pytest.mark.parametrize("recalibrator", EVERY, ids=repr)
joint = pytest.mark.parametrize("recalibrator", JOINT, ids=repr)


def draw_labels(truth, rng):
    return (rng.random((len(truth), 1)) > truth.cumsum(axis=1)).sum(axis=1)


def overconfident(n=500, k=4, seed=0):
    """Predictions softmax(2 z) of labels drawn from softmax(z)."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(n, k))
    return softmax(2 * z, axis=1), draw_labels(softmax(z, axis=1), rng)


def log_score(proba, labels):
    return float(np.mean(np.log(proba[np.arange(labels.size), labels])))


# Brute force


@pytest.mark.parametrize(("n", "k"), [(50, 3), (400, 10), (60_000, 3)])
def test_temperature_solves_its_score_equation(n, k):
    proba, labels = overconfident(n, k)
    weight = np.random.default_rng(1).integers(0, 3, n)
    z = np.log(proba)

    def excess(slope):
        mean = np.sum(softmax(slope * z, axis=1) * z, axis=1)
        return float(weight @ (z[np.arange(n), labels] - mean))

    expected = brentq(excess, 0.01, 10, xtol=1e-14)
    actual = TemperatureRecalibrator().fit(proba, labels, weight)
    assert actual.slope_ == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(actual.predict_proba(proba), softmax(expected * z, axis=1))


@pytest.mark.parametrize(("n", "k"), [(200, 3), (800, 6), (40_000, 3)])
def test_vector_scaling_is_level_at_its_maximum(n, k):
    """Residuals of every class sum to zero, and so do their products with log p."""
    proba, labels = overconfident(n, k)
    proba[:, 0] *= 3
    proba /= proba.sum(axis=1, keepdims=True)
    weight = np.random.default_rng(1).integers(0, 3, n)
    fitted = VectorScalingRecalibrator().fit(proba, labels, weight)
    miss = np.eye(k)[labels] - fitted.predict_proba(proba)
    np.testing.assert_allclose(weight @ miss, 0, atol=1e-8 * n)
    np.testing.assert_allclose(weight @ (miss * np.log(proba)), 0, atol=1e-8 * n)
    assert fitted.biases_.sum() == pytest.approx(0, abs=1e-12)


def test_vector_scaling_of_two_classes_is_unconstrained_beta_calibration():
    outcomes, scores = simulate.sample("clinical-middle-asymmetric", 500, random_state=1)
    vector = VectorScalingRecalibrator().fit(scores, outcomes)
    beta = BetaRecalibrator(constrained=False).fit(scores, outcomes)
    np.testing.assert_allclose(vector.slopes_, [beta.b_, beta.a_])
    both = np.column_stack([1 - scores, scores])
    expected = softmax(vector.slopes_ * np.log(both) + vector.biases_, axis=1)
    np.testing.assert_allclose(vector.predict_proba(scores), expected, rtol=1e-9)
    np.testing.assert_allclose(beta.predict_proba(scores), expected, rtol=1e-9)


def components(fitted, proba):
    tempered = softmax(fitted.slope_ * np.log(proba), axis=1)
    return [tempered, proba, np.full_like(proba, 1 / proba.shape[1])]


@pytest.mark.parametrize("k", [2, 3, 8])
@pytest.mark.parametrize("share", [0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_no_other_mixture_is_likelier(k, share, seed):
    """At the maximum no component is likelier than the mixture, and those in it equal it."""
    rng = np.random.default_rng(seed)
    proba, labels = overconfident(300, k, seed)
    labels = np.where(rng.random(300) < share, rng.integers(0, k, 300), labels)
    weight = rng.integers(0, 3, 300)
    fitted = EnsembleTemperatureRecalibrator().fit(proba, labels, weight)
    parts = components(fitted, proba)
    mixed = np.einsum("c,cij->ij", fitted.weights_, parts)
    np.testing.assert_allclose(fitted.predict_proba(proba), mixed, rtol=1e-9)
    assert fitted.weights_.min() >= 0
    assert fitted.weights_.sum() == pytest.approx(1)
    alone = TemperatureRecalibrator().fit(proba, labels, weight)
    assert fitted.slope_ == pytest.approx(alone.slope_)
    row = np.arange(300)
    for part, its_weight in zip(parts, fitted.weights_, strict=True):
        ratio = float(weight @ (part[row, labels] / mixed[row, labels]) / weight.sum())
        assert ratio <= 1 + 1e-9
        if its_weight > 1e-6:
            assert ratio == pytest.approx(1, abs=1e-9)


# What holds for all


@pytest.mark.parametrize("recalibrator", KEEP_ORDER, ids=repr)
def test_the_order_of_the_classes_stays(recalibrator):
    proba, labels = overconfident()
    actual = recalibrator.fit(proba, labels).predict_proba(proba)
    ascending = np.take_along_axis(actual, np.argsort(proba, axis=1), axis=1)
    assert (np.diff(ascending, axis=1) >= -1e-12).all()


@pytest.mark.slow
@every
def test_the_order_of_the_cases_does_not_matter(recalibrator):
    proba, labels = overconfident()
    actual = recalibrator.fit(proba, labels).predict_proba(proba)
    order = np.random.default_rng(1).permutation(labels.size)
    shuffled = recalibrator.fit(proba[order], labels[order]).predict_proba(proba)
    np.testing.assert_allclose(shuffled, actual, rtol=1e-7, atol=1e-10)


@pytest.mark.slow
@every
def test_the_order_of_the_columns_does_not_matter(recalibrator):
    proba, labels = overconfident()
    order = [2, 0, 3, 1]
    actual = recalibrator.fit(proba, labels).predict_proba(proba)
    moved = recalibrator.fit(proba[:, order], np.argsort(order)[labels])
    chance = 2e-3 if recalibrator is CLASS_WISE else 1e-7
    np.testing.assert_allclose(
        moved.predict_proba(proba[:, order]), actual[:, order], rtol=1e-5, atol=chance
    )
    named = np.array(["d", "a", "c", "b"])
    labelled = recalibrator.fit(proba, named[labels], classes=named)
    assert labelled.classes_.tolist() == named.tolist()
    np.testing.assert_array_equal(labelled.predict_proba(proba), actual)
    np.testing.assert_array_equal(labelled.predict(proba), named[actual.argmax(axis=1)])


@pytest.mark.slow
@every
def test_whole_weights_are_repeats(recalibrator):
    proba, labels = overconfident(300)
    weight = np.random.default_rng(2).integers(0, 4, labels.size)
    weighted = recalibrator.fit(proba, labels, weight).predict_proba(proba)
    repeated = recalibrator.fit(np.repeat(proba, weight, axis=0), np.repeat(labels, weight))
    np.testing.assert_allclose(repeated.predict_proba(proba), weighted, rtol=1e-7, atol=1e-10)


@every
def test_certain_predictions_can_be_wrong(recalibrator):
    proba, labels = overconfident(200, 3)
    proba[:30], labels[:30] = np.eye(3)[np.arange(30) % 3], np.arange(30) % 3
    labels[:3] = [1, 2, 0]
    actual = recalibrator.fit(proba, labels).predict_proba(proba)
    assert np.isfinite(actual).all()
    np.testing.assert_allclose(actual.sum(axis=1), 1)
    assert actual[0, 0] < 1
    assert log_score(actual, labels) > -2


@joint
def test_separation_has_no_maximum(recalibrator):
    proba, _ = overconfident(200, 3)
    right, wrong = proba.argmax(axis=1), proba.argmin(axis=1)
    if isinstance(recalibrator, MonotoneRecalibrator | DiagonalRecalibrator):
        actual = recalibrator.fit(proba, right).predict_proba(proba)
        assert (actual.argmax(axis=1) == right).all()
        return
    for labels in (right, wrong):
        with pytest.raises(SeparationError, match="A posterior does: use bayescal"):
            recalibrator.fit(proba, labels, classes=[0, 1, 2])
    with pytest.raises(SeparationError):
        recalibrator.fit(np.full((9, 3), 1 / 3), np.arange(9) % 3)


def test_a_class_without_cases():
    proba, labels = overconfident(200, 3)
    labels = np.where(labels == 2, 0, labels)
    for recalibrator in EVERY:
        if isinstance(recalibrator, VectorScalingRecalibrator):
            with pytest.raises(SeparationError, match="a class has no cases"):
                recalibrator.fit(proba, labels, classes=[0, 1, 2])
        else:
            actual = recalibrator.fit(proba, labels, classes=[0, 1, 2]).predict_proba(proba)
            assert np.isfinite(actual).all()
            assert actual.shape == (200, 3)


def test_all_probabilities_equal_in_every_case():
    proba = np.tile([0.2, 0.3, 0.5], (30, 1))
    labels = np.repeat([0, 1, 2], 10)
    actual = MonotoneRecalibrator().fit(proba, labels).predict_proba(proba)
    np.testing.assert_allclose(actual[0], 1 / 3, atol=0.02)
    slope = TemperatureRecalibrator().fit(proba, labels).slope_
    assert softmax(slope * np.log(proba[0])) @ np.log(proba[0]) == pytest.approx(
        np.log(proba[0]).mean()
    )


def test_one_against_the_rest_is_for_those_that_know_no_better():
    proba, labels = overconfident()
    for recalibrator in [*JOINT, TOP_LABEL]:
        assert not hasattr(recalibrator.fit(proba, labels), "recalibrators_")
    assert len(IsotonicRecalibrator().fit(proba, labels).recalibrators_) == 4
    assert len(CLASS_WISE.fit(proba, labels).recalibrators_) == 4


@every
def test_refuses_other_columns(recalibrator):
    fitted = recalibrator.fit(*overconfident())
    with pytest.raises(InputError, match="X has 3 columns, but 4 classes"):
        fitted.predict_proba([[0.2, 0.3, 0.5]])
    with pytest.raises(InputError, match=r"sums to 0\.5"):
        fitted.predict_proba([[0.1, 0.1, 0.1, 0.2]])


def test_vector_scaling_agrees_with_a_general_optimiser():
    proba, labels = overconfident(300, 3)
    z = np.log(proba)

    def loss(coef):
        eta = coef[:3] * z + np.append(coef[3:], 0)
        return -float(np.mean(log_softmax(eta, axis=1)[np.arange(300), labels]))

    best = minimize(loss, [1, 1, 1, 0, 0], tol=1e-12).x
    biases = np.append(best[3:], 0)
    fitted = VectorScalingRecalibrator().fit(proba, labels)
    np.testing.assert_allclose(fitted.slopes_, best[:3], rtol=1e-4)
    np.testing.assert_allclose(fitted.biases_, biases - biases.mean(), atol=1e-4)
