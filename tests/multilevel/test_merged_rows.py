"""Rows of a site past 64 are merged for NUTS, and its likelihood hardly moves."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.inference.density import CurveDensity
from bayescal.model.rows import every_row, merged_rows
from bayescal.multilevel.problem import MOST_SITE_ROWS, prepare_terms

CASES = 2000


def site_problem(curve, mean):
    """One site of many patients, no two of which have one score."""
    rng = np.random.default_rng(1)
    x = rng.normal(mean, 1.2, CASES)
    y = (rng.random(CASES) < expit(0.3 + 0.8 * x)).astype(int)
    data = bc.CalibrationData(y, expit(x), site=np.repeat("site", CASES))
    return prepare_terms(data, prior="neutral", curve=curve, random_state=1).groups["site"]


@pytest.mark.parametrize("curve", ["logistic", "beta"])
@pytest.mark.parametrize("mean", [-1.0, -4.0])
def test_the_likelihood_of_a_curve_hardly_moves(curve, mean):
    """Differences of the log likelihood three posterior deviations round the mode."""
    problem = site_problem(curve, mean)
    every = every_row(problem)
    few = merged_rows(replace(problem, most_rows=MOST_SITE_ROWS), every)
    assert MOST_SITE_ROWS / 2 < few.size <= MOST_SITE_ROWS
    assert every.size == CASES
    merged, exact = (CurveDensity(problem, rows=rows) for rows in (few, every))
    mode = exact.mode()
    factor = np.linalg.cholesky(np.linalg.inv(mode.information))
    standard = np.random.default_rng(2).uniform(-3, 3, (200, mode.point.size))
    points = np.vstack([mode.point, mode.point + standard @ factor.T])
    changes = [
        values - values[0] for values in (each.log_likelihood(points) for each in (merged, exact))
    ]
    assert np.ptp(changes[1]) > 5
    np.testing.assert_allclose(*changes, atol=0.1)
