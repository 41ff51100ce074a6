"""The patients of the demo are real, and their predictions are those of the classifier it names."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bayescal.cli import _demo

SCRIPT = Path(__file__).parents[2] / "docs/_scripts/demo_patients.py"


@pytest.mark.slow
def test_stored_predictions_are_those_of_the_classifier() -> None:
    outcome, risk = np.transpose(runpy.run_path(str(SCRIPT))["predictions"]())
    stored = np.loadtxt(_demo.STORED, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(stored[:, 0], outcome)
    np.testing.assert_allclose(stored[:, 1], risk, rtol=1e-9)


def test_the_demo_assesses_as_many_patients_as_it_says() -> None:
    data = _demo.predictions()
    assert data.n == _demo.PATIENTS
    assert 0 < data.events < data.n


@pytest.mark.slow
def test_the_demo_loads_no_library_that_it_does_not_need() -> None:
    heavy = "arviz_stats matplotlib pymc scipy.stats sklearn xarray"
    code = (
        "import sys; from bayescal.cli import main\n"
        "try: main(['demo'])\n"
        "except SystemExit as end: assert not end.code\n"
        f"sys.exit(' '.join(name for name in '{heavy}'.split() if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    steps = re.compile(r"\d/\d .* \.\.\.")  # written in a log once a step takes long
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    assert not [line for line in lines if not steps.fullmatch(line)]
    assert "malignant" in done.stdout
