"""What holds for every estimator of the register."""

import ast
from pathlib import Path

import pytest

from bayescal import estimators, simulate
from bayescal.estimators.registry import ESTIMATORS

TESTS = Path(__file__).parent


def marked():
    """Estimators that a test marked `oracle` holds against somebody else's answer."""
    names = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.oracle":
                names.update(ast.literal_eval(argument) for argument in node.args)
    return names


def test_every_estimator_has_an_oracle():
    assert set(ESTIMATORS) - marked() == set()


def test_oracles_are_of_estimators():
    assert marked() <= set(estimators.__all__)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_entry_is_public_and_complete(name):
    entry = ESTIMATORS[name]
    assert name in estimators.__all__
    assert getattr(estimators, name) is entry.function
    assert entry.title
    assert entry.paper
    assert entry.estimates
    assert entry.span[0] <= entry.perfect <= entry.span[1]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_value_lies_in_its_span(name):
    entry = ESTIMATORS[name]
    for truth in ("clinical-middle-overconfident", "clinical-middle-calibrated"):
        value = entry.function(*simulate.sample(truth, 300, random_state=3))
        assert entry.span[0] - 1e-9 <= value <= entry.span[1] + 1e-9
