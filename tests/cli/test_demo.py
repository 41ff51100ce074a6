"""The patients of the demo are real, and their predictions are those of the classifier it names."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from bayescal.cli.commands import DEMO_FILE

SCRIPT = Path(__file__).parents[2] / "docs/_scripts/demo_patients.py"


@pytest.mark.slow
def test_stored_predictions_are_those_of_the_classifier():
    outcome, risk = np.transpose(runpy.run_path(str(SCRIPT))["predictions"]())
    stored = np.loadtxt(DEMO_FILE, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(stored[:, 0], outcome)
    np.testing.assert_allclose(stored[:, 1], risk, rtol=1e-9)
    assert len(stored) == 150
