"""Printed digits are the same with another seed, but for one unit of the last."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.text import rounded

SEEDS = 6
SETS = (
    ("clinical-middle-overconfident", 200),
    ("clinical-low-shifted", 1000),
    ("clinical-middle-calibrated", 1000),
    ("D3", 5000),
)


def units_apart(rows):
    """By how many units of the coarser last digit an estimate and its ends differ, printed."""
    printed = [rounded(row, *row[1:]) for row in rows]
    places = min(len(text[0].partition(".")[2]) for text in printed)
    return round(float(np.ptp(np.array(printed, float), axis=0).max()) * 10**places)


def test_differences_are_counted_in_units_of_the_last_digit():
    assert (
        units_apart([(0.04, 0.0301, 0.0502), (0.04, 0.0297, 0.0502), (0.04, 0.0304, 0.0522)]) == 2
    )


@pytest.mark.slow
def test_nine_of_ten_rows_differ_by_one_unit_at_most():
    """Up to two standard errors of so few rows."""
    steady = []
    for name, n in SETS:
        y, s = bc.simulate.sample(name, n, random_state=1)
        tables = [bc.compare(y, s, random_state=seed).posterior.summary() for seed in range(SEEDS)]
        for row in tables[0].index:
            ends = [tuple(each.loc[row, ["estimate", "lower", "upper"]]) for each in tables]
            steady.append(units_apart(ends) <= 1)
    assert np.mean(steady) >= 0.9 - 2 * (0.9 * 0.1 / len(steady)) ** 0.5
