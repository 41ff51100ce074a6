"""A fault in cases is data, which each door puts into its own words."""

import pickle

import pytest

import bayescal as bc
from bayescal.core.errors import CaseError

COLUMN, LINE = "column {!r}".format, "line {} of a.csv".format


@pytest.mark.parametrize(
    ("call", "of_file"),
    [
        (
            lambda: bc.CalibrationData([0, 1], [0.2, 1.2]),
            "column 'y_prob': 1.2 is outside [0, 1] on line 1 of a.csv; scores are probabilities. "
            "Say --percent.",
        ),
        (
            lambda: bc.CalibrationData([0, 1], [0.2, "x"]),
            "column 'y_prob': 'x' is not a number on line 1 of a.csv. Convert",
        ),
        (
            lambda: bc.CalibrationData(["yes", "no"], [0.2, 0.3]),
            "column 'y_true' must be 0/1 or boolean, but holds 'no', 'yes'. Say which",
        ),
        (
            lambda: bc.Survival([2, 1], [1, 0], entry=[0, 1]),
            "column 'entry': 1 is not before the end of follow-up (1 in column 'time') on line 1 "
            "of a.csv: such a case was never under observation. Leave it out.",
        ),
    ],
)
def test_a_door_words_a_fault_by_column_and_line(call, of_file):
    with pytest.raises(CaseError) as refused:
        call()
    cures = {"percent": "Say --percent."}
    assert refused.value.worded(COLUMN, LINE, cures).startswith(of_file)


def test_a_fault_keeps_its_data_on_the_way_between_processes():
    error = CaseError("y_prob", "is missing", row=3, cure="drop", part="chunk 2")
    read = pickle.loads(pickle.dumps(error))
    assert str(read) == "chunk 2: y_prob[3] is missing. Drop or impute it first."
    assert vars(read) == vars(error)
