"""The diagonal intra order-preserving map, by its definition and by what only it keeps."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax, softmax

from bayescal import CalibrationData
from bayescal.errors import InputError
from bayescal.recalibrate import (
    DiagonalRecalibrator,
)


def labels_of(truth, rng):
    return (rng.random((len(truth), 1)) > softmax(truth, axis=1).cumsum(axis=1)).sum(axis=1)


def bent(n=2000, k=4, seed=0):
    """Logits z^3 + z of labels drawn from softmax(z), so that no temperature repairs them."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(-2, 2, size=(n, k))
    return truth**3 + truth, labels_of(truth, rng)


def steep(n=400, k=5, seed=3):
    """Labels that follow the sign of the logits alone: slopes away from 0 want to be flat."""
    rng = np.random.default_rng(seed)
    logits = 3 * rng.normal(size=(n, k))
    return logits, labels_of(2 * np.sign(logits), rng)


def penalised(fitted, slopes, logits, labels):
    """What the fit maximises, the slope integrated on a fine grid."""
    knots = fitted.knots_
    fine = np.linspace(knots[0], knots[-1], 40_001)
    slope = np.interp((fine[1:] + fine[:-1]) / 2, knots, slopes)
    curve = np.concatenate([[0], np.cumsum(slope * np.diff(fine))])
    eta = np.interp(logits, fine, curve)
    rough = fitted.penalty * np.sum(np.diff(slopes) ** 2)
    pull = 0.01 * np.mean((slopes - 1) ** 2)
    own = log_softmax(eta, axis=1)[np.arange(labels.size), labels]
    return float(np.sum(own) - (rough + pull) / 2)


@pytest.mark.parametrize("penalty", [0, 0.1, 10])
@pytest.mark.parametrize("made", [bent, steep])
def test_it_is_the_maximum_of_its_definition(made, penalty):
    logits, labels = made()
    fitted = DiagonalRecalibrator(penalty=penalty)
    fitted.fit(softmax(logits, axis=1), labels, logits=logits)
    assert fitted.knots_[[0, -1]] == pytest.approx([logits.min(), logits.max()])
    assert (fitted.slopes_ >= 0.01).all()
    highest = penalised(fitted, fitted.slopes_, logits, labels)
    rng = np.random.default_rng(0)
    for size in (1e-2, 0.1):
        for _ in range(20):
            other = np.maximum(fitted.slopes_ + size * rng.normal(size=8), 0.01)
            assert penalised(fitted, other, logits, labels) < highest + 1e-6


# What makes it the paper's


def test_logits_are_not_their_logarithms():
    """A number added to all logits of a case changes a bent map, and no probability."""
    logits, labels = bent()
    proba = softmax(logits, axis=1)
    with_logits = DiagonalRecalibrator().fit(proba, labels, logits=logits)
    moved = with_logits.predict_proba(proba, logits + 2)
    assert np.abs(moved - with_logits.predict_proba(proba, logits)).max() > 0.05
    without = DiagonalRecalibrator().fit(proba, labels)
    assert np.abs(without.predict_proba(proba) - moved).max() > 0.05
    np.testing.assert_allclose(
        DiagonalRecalibrator().fit(proba, labels, logits=np.log(proba)).slopes_, without.slopes_
    )


def test_two_classes_are_antisymmetric_about_even_odds():
    rng = np.random.default_rng(1)
    y_prob = rng.random(500)
    y_true = (rng.random(500) < y_prob**2).astype(int)
    fitted = DiagonalRecalibrator().fit(y_prob, y_true)
    grid = np.linspace(0.001, 0.999, 99)
    np.testing.assert_allclose(fitted.transform(1 - grid), 1 - fitted.transform(grid))
    assert (np.diff(fitted.transform(grid)) > 0).all()
    table = DiagonalRecalibrator().fit(CalibrationData(y_true, y_prob))
    np.testing.assert_allclose(table.transform(grid), fitted.transform(grid), rtol=1e-5)
    logits = np.column_stack([np.zeros(500), np.log(y_prob / (1 - y_prob))])
    of_logits = DiagonalRecalibrator().fit(y_prob, y_true, logits=logits)
    assert of_logits.transform(y_prob, logits).shape == (500,)


# Arguments


def test_weights_of_zero_leave_cases_and_their_logits_out():
    logits, labels = bent(300)
    proba, weight = softmax(logits, axis=1), np.arange(300) % 3
    weighted = DiagonalRecalibrator().fit(proba, labels, weight, logits=logits)
    rows = np.repeat(np.arange(300), weight)
    repeated = DiagonalRecalibrator().fit(proba[rows], labels[rows], logits=logits[rows])
    np.testing.assert_allclose(weighted.slopes_, repeated.slopes_, rtol=1e-6)
    frame = pd.DataFrame(logits)
    framed = DiagonalRecalibrator().fit(proba, labels, weight, logits=frame)
    np.testing.assert_array_equal(framed.slopes_, weighted.slopes_)
    assert set(weighted.predict(proba, logits)) <= {0, 1, 2, 3}


def test_logits_that_do_not_belong_are_refused():
    logits, labels = bent(50)
    proba = softmax(logits, axis=1)
    fitted = DiagonalRecalibrator().fit(proba, labels, logits=logits)
    with pytest.raises(InputError, match="fitted with logits, and none were passed"):
        fitted.transform(proba)
    with pytest.raises(InputError, match="fitted without logits, and some were passed"):
        DiagonalRecalibrator().fit(proba, labels).transform(proba, logits)
    with pytest.raises(InputError, match=r"logits\[\d+\] has a softmax that differs from X"):
        fitted.transform(proba, logits[::-1])
    with pytest.raises(InputError, match="one column a class"):
        fitted.transform(proba, logits[:, 0])
    with pytest.raises(InputError, match=r"logits\[:, 1\]\[2\] = nan"):
        fitted.transform(proba, np.where(np.arange(200).reshape(50, 4) == 9, np.nan, logits))
    with pytest.raises(InputError, match="logits has 49"):
        fitted.transform(proba, logits[1:])
    with pytest.raises(InputError, match="logits"):
        fitted.transform(proba, logits[:, :3])
