"""Axes to draw on, and posteriors of curves off the diagonal and on it."""

import pytest
from matplotlib.figure import Figure

import bayescal as bc


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def off():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 2000, random_state=2)
    return bc.fit(y_true, y_prob, curve="beta", random_state=2)


@pytest.fixture(scope="module")
def calibrated():
    y_true, y_prob = bc.simulate.sample("clinical-middle-calibrated", 400, random_state=2)
    return bc.compare(y_true, y_prob, random_state=2).posterior
