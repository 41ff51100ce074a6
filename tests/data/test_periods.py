"""Labels in order of time, and what is refused because its order is not plain."""

import datetime

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data.roles import MOST_PERIODS, read_periods
from bayescal.errors import InputError

MONTHS = ["2024-04", "2024-01", "2024-02", "2024-01"]
ORDERED = pd.Categorical(
    ["late", "early", "late"], categories=["early", "middle", "late"], ordered=True
)


@pytest.mark.parametrize(
    ("values", "labels", "elapsed"),
    [
        ([3, 1, 2, 10], ("1", "2", "3", "10"), [1, 1, 7]),
        (np.array([0.5, 0.25, 2.0]), ("0.25", "0.5", "2"), [1, 6]),
        (["10", "9", "-1"], ("-1", "9", "10"), [10, 1]),
        (MONTHS, ("2024-01", "2024-02", "2024-04"), [1, 2]),
        (pd.PeriodIndex(MONTHS, freq="M"), ("2024-01", "2024-02", "2024-04"), [1, 2]),
        (np.array(MONTHS, "datetime64[M]"), ("2024-01", "2024-02", "2024-04"), [1, 2]),
        (np.array(["2024", "2021", "2022"], "datetime64[Y]"), ("2021", "2022", "2024"), [1, 2]),
        (["2024-Q1", "2023-Q3"], ("2023-Q3", "2024-Q1"), [1]),
        (["2024Q1", "2023Q3", "2024Q2"], ("2023Q3", "2024Q1", "2024Q2"), [2, 1]),
        (["2024-W02", "2023-W52", "2024-W01"], ("2023-W52", "2024-W01", "2024-W02"), [1, 1]),
        ([202401, 202311, 202312], ("202311", "202312", "202401"), [1, 1]),
        (np.array([202401.0, 202312.0]), ("202312", "202401"), [1]),
        (["202401", "202312", "202402"], ("202312", "202401", "202402"), [1, 1]),
        ([20240101, 20231231, 20240103], ("20231231", "20240101", "20240103"), [1, 2]),
        ([2023.09, 2023.1, 2024.01], ("2023.09", "2023.10", "2024.01"), [1, 3]),
        (["2023.12", "2024.02"], ("2023.12", "2024.02"), [1]),
        (["2023/9", "2023/12", "2024/1"], ("2023/9", "2023/12", "2024/1"), [3, 1]),
        (["2023/12/31", "2024/01/02"], ("2023/12/31", "2024/01/02"), [2]),
        (["2023.12.31", "2024.01.02"], ("2023.12.31", "2024.01.02"), [2]),
        ([2023.042, 2023.125], ("2023.042", "2023.125"), [0.083]),
        ([202400, 202311], ("202311", "202400"), [1]),
        ([20230230, 20230301], ("20230230", "20230301"), [1]),
        ([2023.25, 2023.5, 2024.0], ("2023.25", "2023.5", "2024"), [1, 2]),
        ([2021, 2024], ("2021", "2024"), [1]),
        (["2024-03-01", "2024-02-28"], ("2024-02-28", "2024-03-01"), [1]),
        ([datetime.date(2024, 3, 3), datetime.date(2024, 3, 1)], ("2024-03-01", "2024-03-03"), [1]),
        (pd.to_datetime(["2024-03-03", "2024-03-01"]), ("2024-03-01", "2024-03-03"), [1]),
        (ORDERED, ("early", "late"), [1]),
        (pd.Series(ORDERED), ("early", "late"), [1]),
    ],
)  # fmt: skip
def test_periods_stand_in_order_of_time(values, labels, elapsed):
    row, names, periods = read_periods(values)
    of_case = np.array(names)[row]
    assert periods.labels == labels
    np.testing.assert_allclose(periods.elapsed, np.array(elapsed) / sum(elapsed))
    assert of_case.shape == (len(values),)
    assert set(of_case) == set(labels)


@pytest.mark.parametrize(
    ("texts", "unit"),
    [(["2024-03", "2023-12"], "M"), (["2024-03-01", "2023-12-31"], "D"), (["2024", "2021"], "Y")],
)
def test_texts_and_dates_are_one_kind(texts, unit):
    assert read_periods(texts)[2] == read_periods(np.array(texts, f"datetime64[{unit}]"))[2]


@pytest.mark.parametrize(
    "values",
    [[202312, 202401, 202402], ["2023/12", "2024/1", "2024/2"], [2023.12, 2024.01, 2024.02]],
)
def test_all_forms_of_months_are_as_far_apart(values):
    read, months = read_periods(values)[2], read_periods(["2023-12", "2024-01", "2024-02"])[2]
    assert read.kind == "months"
    assert [*read.position.values()] == [*months.position.values()]


def test_a_date_of_midnight_is_a_day():
    read = read_periods(["2024-01-01 00:00:00", "2023-12-31 00:00:00"])[2]
    assert read.kind == "days"
    assert read_periods([202401])[2].kind == "months"  # of a file of one month, which grows


def test_each_case_keeps_its_period():
    row, names, _ = read_periods(MONTHS)
    assert [names[k] for k in row] == MONTHS


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["March", "April"], "order is not plain"),
        (["2024-03", "2024-04-01"], "order is not plain"),
        (["2024-13", "2024-01"], "order is not plain"),
        ([1, "2024-03"], "order is not plain"),
        ([True, False], "order is not plain"),
        (pd.Categorical(["b", "a"]), "order is not plain"),
        ([np.inf, 1.0], "order is not plain"),
        ([1.0, np.nan], r"period\[1\] is missing"),
        (["2024-03", None], r"period\[1\] is missing"),
        (np.array(["2024-03", "NaT"], "datetime64[M]"), r"period\[1\] is missing"),
        (pd.Categorical(["a", None], categories=["a"], ordered=True), r"period\[1\] is missing"),
        (pd.to_datetime(["2024-03-01", "2024-03-02"]).tz_localize("UTC").to_list(), "time zone"),
    ],
)
def test_what_has_no_order_is_refused(values, message):
    with pytest.raises(InputError, match=message):
        read_periods(values)


def test_too_few_and_too_many_periods_are_refused():
    with pytest.raises(InputError, match="one period only"):
        read_periods([1, 1])[2].checked()
    with pytest.raises(InputError, match="at most 60"):
        read_periods(np.arange(MOST_PERIODS + 1))[2].checked()
    assert len(read_periods(np.arange(MOST_PERIODS))[2].checked().labels) == MOST_PERIODS


def test_more_periods_are_joined_in_order():
    first, more = read_periods(MONTHS)[2], read_periods(["2024-05", "2024-03"])[2]
    assert first.joined(more).labels == ("2024-01", "2024-02", "2024-03", "2024-04", "2024-05")


def test_periods_of_another_kind_are_not_joined():
    with pytest.raises(InputError, match="months"):
        read_periods(MONTHS)[2].joined(read_periods([1, 2])[2])
    longer = pd.Categorical(["early"], categories=["first", "early"], ordered=True)
    with pytest.raises(InputError, match="'early' as category 2"):
        read_periods(ORDERED)[2].joined(read_periods(longer)[2])


def test_two_forms_of_one_time_are_refused():
    with pytest.raises(InputError, match=r"'2024Q1', and those before have '2024-Q1'.* same time"):
        read_periods(["2024-Q1", "2024Q1", "2023Q4"])


def test_periods_that_cannot_be_told_apart_beside_the_others_are_refused():
    y, s = bc.simulate.sample("calibrated", 90, random_state=1)
    far = np.resize([0.04, 0.7, 1e15], 90)
    with pytest.raises(InputError, match=r"from period 0.04 to 0.7 is too short a time"):
        bc.fit(y, s, period=far, curve="logistic", draws=200)
    seconds = np.array(["2001-01-01T00:00:00", "2001-01-01T00:00:01", "2020-01-01"], "M8[s]")
    assert read_periods(seconds)[2].checked().elapsed.min() > 0
