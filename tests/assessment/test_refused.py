"""A lower bound that is refused says why, also in the record."""

from __future__ import annotations

import numpy as np
import pytest

import bayescal as bc


def assessed(**roles: object) -> bc.Assessment:
    y_true, y_prob = bc.simulate.sample("clinical-middle-calibrated", 120, random_state=1)
    return bc.assess(y_true, y_prob, draws=400, random_state=1, **roles)


@pytest.mark.slow
def test_clusters_have_a_lower_bound() -> None:
    made = assessed(cluster=np.repeat(np.arange(40), 3).astype(str))
    assert made.refused == {}
    assert made.lower_bound is not None
    assert made.lower_bound.unit == "cluster"


def test_sampling_weights_have_no_lower_bound() -> None:
    made = assessed(sample_weight=np.linspace(0.5, 1.5, 120))
    assert list(made.refused) == ["lower_bound"]
    assert made.lower_bound is None
    assert made.to_dict()["refused"] == made.refused


def test_nothing_is_refused_of_single_cases() -> None:
    made = assessed()
    assert made.refused == {}
    assert made.lower_bound is not None
