"""The cases that a large table was made from: known until it is stored, pickled or added up."""

import pickle

import numpy as np
import pytest

import bayescal as bc

N = 3000
RNG = np.random.default_rng(3)
SCORE = RNG.uniform(0.01, 0.99, N)
OUTCOME = (RNG.random(N) < SCORE).astype(int)
WEIGHT = RNG.lognormal(size=N)


def test_a_large_table_knows_the_score_of_every_case():
    table = bc.CalibrationData(OUTCOME, SCORE, WEIGHT)
    (cases,) = table._known_cases()
    assert table.is_compressed
    np.testing.assert_array_equal(cases.score, SCORE)
    np.testing.assert_array_equal(cases.weight, WEIGHT)


def test_each_imputation_has_its_own():
    other = np.sqrt(SCORE)
    matrix = bc.CalibrationData(OUTCOME, None, imputation=np.stack([SCORE, other]))
    long = bc.CalibrationData(
        np.tile(OUTCOME, 2), np.concatenate([SCORE, other]), imputation=np.repeat([1, 2], N)
    )
    for table in (matrix, long):
        for cases, score in zip(table._known_cases(), (SCORE, other), strict=True):
            np.testing.assert_array_equal(cases.score, score)


def test_groups_whose_cases_together_are_many_have_them():
    table = bc.CalibrationData(OUTCOME, SCORE, site=np.arange(N) % 3)
    assert not table.is_compressed
    assert table._known_cases()[0].score.size == N


@pytest.mark.parametrize(
    "change",
    [
        lambda table: pickle.loads(pickle.dumps(table)),
        lambda table: bc.CalibrationData.from_xarray(table.to_xarray()),
        lambda table: table + table,
        lambda table: bc.CalibrationData(OUTCOME[:100], SCORE[:100]),
        lambda table: bc.CalibrationData.from_chunks([(OUTCOME, SCORE)]),
    ],
    ids=["pickled", "stored", "sum", "small", "chunks"],
)
def test_another_table_does_not_have_them(change):
    assert change(bc.CalibrationData(OUTCOME, SCORE))._known_cases() == ()
