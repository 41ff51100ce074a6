"""Columns of a file as the arguments that Python takes."""

from __future__ import annotations

import pandas as pd
import pytest

from bayescal.cli._cases import role_of


@pytest.mark.parametrize("values", [[202312, 202401], [2023.1, 2023.12], [2021, 2022]])
def test_numbers_of_periods_are_given_as_they_are(values):
    """Whoever reads periods tells months from numbers; labels of groups are texts."""
    assert role_of(pd.Series(values), is_time=True).tolist() == values
    assert role_of(pd.Series(values)).tolist() == list(map(str, values))


def test_dates_of_periods_stay_dates():
    dates = pd.Series(pd.to_datetime(["2024-03-01", "2024-04-01"]))
    assert role_of(dates, is_time=True).dtype.kind == "M"
