"""Crossed factors: how they are read, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data.subgroups.crossed import (
    CrossedTable,
    Factors,
    as_factors,
    cell_label,
)
from bayescal.errors import InputError

SEX, AGE = ["F", "M", "F", "M"], [70, 70, 80, 90]
Y, S = [0, 1, 0, 1], [0.2, 0.3, 0.4, 0.6]


def test_a_frame_and_a_mapping_are_the_same_factors():
    frame = as_factors(pd.DataFrame({"sex": SEX, "age": AGE}))
    mapping = as_factors({"sex": np.array(SEX), "age": AGE})
    assert isinstance(frame, Factors)
    assert frame.levels == mapping.levels == {"sex": ("F", "M"), "age": ("70", "80", "90")}
    assert frame.cells.tolist() == mapping.cells.tolist()
    assert frame.cells[0] == cell_label(["F", "70"])


def test_one_factor_is_the_labels_themselves():
    labels = ["a", "b", "a", "b"]
    assert as_factors(labels) is labels
    assert as_factors({"site": labels}) is labels
    assert as_factors(pd.DataFrame({"site": labels})).tolist() == labels
    assert as_factors(None) is None


def test_levels_are_ordered_as_people_count_or_as_the_column_says():
    ward = ["ward 10", "ward 2", "ward 2", "ward 10"]
    age = pd.Categorical(["80+", "<60", "<60", "80+"], ["<60", "60-79", "80+"], ordered=True)
    levels = as_factors(pd.DataFrame({"ward": ward, "age": age})).levels
    assert levels == {"ward": ("ward 2", "ward 10"), "age": ("<60", "80+")}


def test_labels_with_separators_do_not_meet():
    first, second = ["a, b", "a", "a, b", "c"], ["c", "b, c", "b, c", "c"]
    assert len(set(as_factors({"x": first, "y": second}).cells)) == 4


def test_cells_of_a_table_have_their_levels():
    factors = as_factors({"sex": SEX, "age": AGE})
    table = CrossedTable(factors.levels, bc.CalibrationData(Y, S, groups=factors.cells))
    assert sorted(table.cells) == [("F", "70"), ("F", "80"), ("M", "70"), ("M", "90")]
    chosen = table.cells_with({"sex": "M"})
    assert {table.cells[k] for k in chosen} == {("M", "70"), ("M", "90")}
    assert table.cells_with({}) == [0, 1, 2, 3]
    assert CrossedTable.of_names(("sex", "age"), table.data).levels == table.levels
    names = [
        tuple(of[code] for of, code in zip(table.levels.values(), codes, strict=True))
        for codes in table.codes
    ]
    assert tuple(names) == table.cells


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"sex": ["F", None, "F", "M"], "age": AGE}, r"groups\['sex'\]\[1\] is missing"),
        ({"sex": ["F"] * 4, "age": AGE}, r"groups\['sex'\] has one level, 'F'"),
        ({"sex": SEX, "age": AGE[:3]}, r"groups\['age'\] has 3"),
        ({"sex": SEX[:3], "age": AGE[:3]}, "y_true has 4"),
        ({}, "groups has no columns"),
        ({"sex": SEX, " ": AGE}, "factor without a name"),
        ({"1": SEX, 1: AGE}, "2 factors called '1'"),
        (pd.DataFrame([*zip(SEX, AGE, strict=True)], columns=["a", "a"]), "2 factors called 'a'"),
        ({"sex": SEX, "age": np.ones((4, 2))}, r"groups\['age'\] must be one-dimensional"),
    ],
)
def test_bad_factors_are_refused(groups, message):
    with pytest.raises(InputError, match=message):
        bc.fit(Y, S, groups=groups, curve="logistic")


def test_too_many_cells_are_refused():
    cells = np.arange(202)
    many = {"x": cells % 101, "y": cells % 2}
    with pytest.raises(InputError, match=r"202 combinations of levels, and at most 200.*x has 101"):
        as_factors(many)


def test_factors_in_another_order_than_each_other_are_refused():
    factors = {"sex": pd.Series(SEX, index=[3, 2, 1, 0]), "age": pd.Series(AGE)}
    with pytest.raises(
        InputError, match=r"groups\['sex'\] and groups\['age'\] have the same index"
    ):
        as_factors(factors)


def test_factors_beside_a_table_are_refused():
    with pytest.raises(InputError, match="groups was given beside"):
        bc.fit(bc.CalibrationData(Y, S), groups={"sex": SEX, "age": AGE})
