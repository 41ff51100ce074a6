"""Columns of a file as the arguments that Python takes."""

from __future__ import annotations

import pandas as pd
import pytest

from bayescal.cli._cases import role_of


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([202312, 202401], ["2023-12", "2024-01"]),
        ([2023.1, 2023.12], ["2023-10", "2023-12"]),
        (["2023/12", "2024/01"], ["2023-12", "2024-01"]),
        ([20231231, 20240101], ["2023-12-31", "2024-01-01"]),
        ([202312, 202313], [202312, 202313]),
        ([20230231, 20230301], [20230231, 20230301]),
        ([2021, 2022], [2021, 2022]),
        ([2023.042, 2023.123], [2023.042, 2023.123]),
        (["2024-01", "2024-02"], ["2024-01", "2024-02"]),
    ],
)
def test_months_and_days_without_hyphens_are_read(values, told):
    assert role_of(pd.Series(values), is_time=True).tolist() == told
