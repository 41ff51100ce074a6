"""Variance scaling as a scikit-learn transformer."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bayescal import scores, simulate
from bayescal.errors import InputError
from bayescal.recalibrate import VarianceRecalibrator


def cases(n=300, seed=0):
    """Predictions whose variance is a third of the truth less a number, and outcomes."""
    _, y, mean, variance = simulate.friedman_1(n, random_state=seed)
    return np.column_stack([mean, variance / 3]), y + np.random.default_rng(seed).normal(size=n)


def test_it_has_the_least_dawid_sebastiani_score():
    X, y = cases()
    fitted = VarianceRecalibrator().fit(X, y)
    mean, variance = X.T

    def score(line):
        return scores.dawid_sebastiani_score(y, mean, line[0] * variance + line[1])

    best = minimize(score, [1, 1], bounds=[(1e-10, None)] * 2, options={"ftol": 1e-14})
    assert score([fitted.slope_, fitted.intercept_]) <= best.fun + 1e-8
    assert [fitted.slope_, fitted.intercept_] == pytest.approx(best.x, rel=1e-3)


def test_means_stay_and_the_squared_errors_match_on_average():
    X, y = cases()
    after = VarianceRecalibrator().fit_transform(X, y)
    np.testing.assert_array_equal(after[:, 0], X[:, 0])
    assert np.mean((y - X[:, 0]) ** 2 / after[:, 1]) == pytest.approx(1, abs=1e-6)


def test_weights_are_case_counts():
    X, y = cases(100)
    count = np.arange(100) % 3
    weighted = VarianceRecalibrator().fit(X, y, count)
    repeated = VarianceRecalibrator().fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    assert weighted.slope_ == pytest.approx(repeated.slope_, rel=1e-5)


def test_it_is_an_estimator_of_scikit_learn():
    X, y = cases(100)
    fitted = VarianceRecalibrator().fit(X, y)
    assert not hasattr(clone(fitted), "slope_")
    framed = VarianceRecalibrator().set_output(transform="pandas").fit(pd.DataFrame(X), y)
    assert list(framed.transform(pd.DataFrame(X)).columns) == ["mean", "variance"]
    pipeline = make_pipeline(FunctionTransformer(lambda x: x), VarianceRecalibrator()).fit(X, y)
    np.testing.assert_array_equal(pipeline.transform(X), fitted.transform(X))
    with pytest.raises(NotFittedError):
        VarianceRecalibrator().transform(X)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((3, 3)), np.arange(3), "two columns, predicted means and variances"),
        (np.ones(3), np.arange(3), "two columns"),
        ([[1, 1], [1]], [1, 2], "two columns"),
        (np.ones((3, 2)), None, "y is missing"),
        (np.ones((3, 2)), np.ones(3), "y_true equals mean in every case"),
        (np.zeros((3, 2)), np.ones(3), r"X\[:, 1\]\[0\] = 0 is not a variance"),
        (np.ones((3, 2)), np.ones(2), "y_true has 2"),
    ],
)
def test_what_is_no_prediction_is_named(X, y, message):
    with pytest.raises(InputError, match=message):
        VarianceRecalibrator().fit(X, y)
