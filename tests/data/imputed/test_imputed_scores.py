"""A matrix of imputed scores is read, or refused in words that name it; tables are stacked."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.data.matrices import as_imputations
from bayescal.errors import InputError

Y = np.array([0, 1, 1, 0, 1, 0])
SCORES = np.linspace(0.1, 0.9, 18).reshape(3, 6)


@pytest.mark.parametrize("as_given", [np.asarray, list, pd.DataFrame, lambda a: a.tolist()])
def test_a_matrix_in_any_form(as_given):
    np.testing.assert_array_equal(as_imputations(as_given(SCORES), Y), SCORES)


def with_value(value):
    wrong = SCORES.copy()
    wrong[1, 2] = value
    return wrong


@pytest.mark.parametrize(
    ("imputations", "told"),
    [
        ([SCORES[0], SCORES[1, :5]], r"imputation\[1\] has 5 cases, and y_true has 6"),
        (SCORES[:1], "at least 2 imputations.*got 1.*y_prob"),
        (SCORES[0], r"imputation\[0\] must be a list or array"),
        (0.3, "imputation must be a list"),
        (SCORES.T, r"imputation\[0\] has 3 cases.*Transpose it.*imputation\.T"),
        (SCORES[:, :5], r"imputation\[0\] has 5 cases, and y_true has 6"),
        (with_value(np.nan), r"imputation\[1\]\[2\] = nan is missing"),
        (with_value(1.2), r"imputation\[1\]\[2\] = 1.2 is outside \[0, 1\]"),
    ],
)
def test_bad_imputations_are_named(imputations, told):
    with pytest.raises(InputError, match=told):
        as_imputations(imputations, Y)


DOORS = (
    bc.fit,
    bc.compare,
    bc.assess,
    lambda y, p=None, **options: bc.recalibration_gain(y, p, np.sqrt, **options),
)


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_two_kinds_of_scores(door):
    with pytest.raises(InputError, match=r"imputation was given beside (y_prob|before)"):
        door(Y, SCORES[0], imputation=SCORES)
    with pytest.raises(InputError, match="imputation was given beside a CalibrationData"):
        door(bc.CalibrationData(Y, SCORES[0]), imputation=SCORES)
    with pytest.raises(InputError, match=r"imputation\[1\] has 4 cases"):
        door(Y, imputation=[SCORES[0], SCORES[1, :4]])


@given(st.integers(2, 6), st.integers(0, 2**32 - 1), st.booleans())
def test_a_stack_has_the_cases_of_one_table(m, seed, weighted):
    rng = np.random.default_rng(seed)
    y, weight = rng.integers(0, 2, 20), rng.random(20) + 0.5
    options = {"sample_weight": weight, "weight_type": "sampling"} if weighted else {}
    tables = [bc.CalibrationData(y, row, **options) for row in rng.random((m, 20)).round(1)]
    stack = bc.CalibrationData.from_imputations(tables)
    for number in ("n", "events", "effective_size"):
        assert getattr(stack, number) == pytest.approx(getattr(tables[0], number))
    means = [table.trials @ table.score / table.n for table in tables]
    assert stack.trials @ stack.score / stack.n == pytest.approx(np.mean(means))
    assert stack.is_pseudo == weighted


def test_a_stack_of_one_table_has_its_rows():
    table = bc.CalibrationData(Y, SCORES[0])
    stack = bc.CalibrationData.from_imputations([table, table])
    for name in ("score", "trials", "hits"):
        np.testing.assert_array_equal(getattr(stack, name), getattr(table, name))
