"""Patients of a model whose risks are too extreme."""

import pytest

import bayescal as bc


@pytest.fixture(scope="module")
def patients():
    return bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
