"""What holds for every estimator of the register."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from bayescal import estimators, simulate
from bayescal.estimators.registry import ESTIMATORS

TESTS = Path(__file__).parent


def marked() -> set[str]:
    """Estimators that a test marked `oracle` holds against somebody else's answer."""
    names = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.oracle":
                names.update(ast.literal_eval(argument) for argument in node.args)
    return names


def test_every_estimator_has_an_oracle() -> None:
    assert set(ESTIMATORS) - marked() == set()


def test_oracles_are_of_estimators() -> None:
    assert marked() <= set(estimators.__all__)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_entry_is_public_and_complete(name: str) -> None:
    entry = ESTIMATORS[name]
    assert name in estimators.__all__
    assert getattr(estimators, name) is entry.function
    assert entry.title
    assert entry.paper
    assert entry.estimates
    assert entry.span[0] <= entry.perfect <= entry.span[1]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_value_lies_in_its_span(name: str) -> None:
    entry = ESTIMATORS[name]
    for truth in ("clinical-middle-overconfident", "clinical-middle-calibrated"):
        value = entry.function(*simulate.sample(truth, 300, random_state=3))
        assert entry.span[0] - 1e-9 <= value <= entry.span[1] + 1e-9


@pytest.mark.parametrize("name", [name for name, entry in ESTIMATORS.items() if entry.tie_safe])
def test_order_of_the_cases_does_not_matter(name: str) -> None:
    function = ESTIMATORS[name].function
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 200, random_state=5)
    y_prob = np.round(y_prob, 1)
    order = np.random.default_rng(1).permutation(y_true.size)
    assert function(y_true[order], y_prob[order]) == pytest.approx(
        function(y_true, y_prob), rel=1e-9, abs=1e-12
    )
