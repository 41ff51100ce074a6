"""Crossed factors: how they are read, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data.table import check_factors
from bayescal.errors import InputError

SEX, AGE = ["F", "M", "F", "M"], [70, 70, 80, 90]
Y, S = [0, 1, 0, 1], [0.2, 0.3, 0.4, 0.6]


def crossed(groups):
    return check_factors(bc.CalibrationData(Y, S, subgroup=groups))


def test_a_frame_and_a_mapping_are_the_same_factors():
    frame = crossed(pd.DataFrame({"sex": SEX, "age": AGE}))
    mapping = crossed({"sex": np.array(SEX), "age": AGE})
    assert frame.levels == mapping.levels == {"sex": ("F", "M"), "age": ("70", "80", "90")}
    assert frame == mapping
    assert frame.groups[0] == '["F", "70"]'


def test_levels_are_ordered_as_people_count_or_as_the_column_says():
    ward = ["ward 10", "ward 2", "ward 2", "ward 10"]
    age = pd.Categorical(["80+", "<60", "<60", "80+"], ["<60", "60-79", "80+"], ordered=True)
    levels = crossed(pd.DataFrame({"ward": ward, "age": age})).levels
    assert levels == {"ward": ("ward 2", "ward 10"), "age": ("<60", "80+")}


def test_labels_with_separators_do_not_meet():
    first, second = ["a, b", "a", "a, b", "c"], ["c", "b, c", "b, c", "c"]
    assert len(crossed({"x": first, "y": second}).cells) == 4


def test_cells_of_a_table_have_their_levels():
    table = crossed({"sex": SEX, "age": AGE})
    assert [tuple(cell.values()) for cell in table.cells] == [
        ("F", "70"),
        ("F", "80"),
        ("M", "70"),
        ("M", "90"),
    ]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"sex": ["F", None, "F", "M"], "age": AGE}, r"subgroup\['sex'\]\[1\] is missing"),
        ({"sex": ["F"] * 4, "age": AGE}, "'sex' has one level, 'F'"),
        ({"sex": SEX, "age": AGE[:3]}, r"subgroup\['age'\] has 3"),
        ({"sex": SEX[:3], "age": AGE[:3]}, "y_true has 4"),
        ({}, "subgroup has no columns"),
        ({"sex": SEX, " ": AGE}, "column without a name"),
        ({"1": SEX, 1: AGE}, "2 columns called '1'"),
        (pd.DataFrame([*zip(SEX, AGE, strict=True)], columns=["a", "a"]), "2 columns called 'a'"),
        ({"sex": SEX, "age": np.ones((4, 2))}, r"subgroup\['age'\] must be one-dimensional"),
    ],
)
def test_bad_factors_are_refused(groups, message):
    with pytest.raises(InputError, match=message):
        bc.fit(Y, S, subgroup=groups, curve="logistic")


def test_too_many_cells_are_refused():
    cells = np.arange(12_002)
    many = {"x": cells % 6001, "y": cells % 2}
    table = bc.CalibrationData(cells % 2, np.linspace(0.1, 0.9, 12_002), subgroup=many)
    message = r"12,002 combinations of levels, and at most 12,000 .*minutes: x has 6001"
    with pytest.raises(InputError, match=message):
        check_factors(table)


def test_factors_in_another_order_than_each_other_are_refused():
    factors = {"sex": pd.Series(SEX, index=[3, 2, 1, 0]), "age": pd.Series(AGE)}
    with pytest.raises(
        InputError, match=r"subgroup\['sex'\] and subgroup\['age'\] have the same index"
    ):
        crossed(factors)


def test_factors_beside_a_table_are_refused():
    with pytest.raises(InputError, match="subgroup was given beside"):
        bc.fit(bc.CalibrationData(Y, S), subgroup={"sex": SEX, "age": AGE})
