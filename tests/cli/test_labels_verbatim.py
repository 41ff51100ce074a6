"""Columns of names are read as they are written: a hospital is no number, nor is a month."""

import numpy as np
import openpyxl
import pandas as pd
import pytest

from bayescal.cli.reading import read_from, request_of
from bayescal.data.roles import read_periods
from bayescal.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore::bayescal.errors.SpellingWarning")

RNG = np.random.default_rng(4)
ROWS = 120
RISK = RNG.uniform(0.1, 0.9, ROWS).round(3)
DIED = (RNG.random(ROWS) < RISK).astype(int)


def written(tmp_path, labels, name="cases.csv"):
    """A file whose column `x` has these texts, in turn."""
    path = tmp_path / name
    texts = [labels[k % len(labels)] for k in range(ROWS)]
    if name.endswith(".xlsx"):
        book = openpyxl.Workbook()
        book.active.append(["died", "risk", "x"])
        for row in zip(DIED.tolist(), RISK.tolist(), texts, strict=True):
            book.active.append(row)
        book.save(path)
    else:
        rows = zip(DIED, RISK, texts, strict=True)
        path.write_text("died,risk,x\n" + "".join(f"{y},{p},{x}\n" for y, p, x in rows))
    return path


def table(path, **roles):
    typed = {"outcome": "died", "prob": "risk", **roles}
    return read_from(request_of(path, typed)).data


@pytest.mark.parametrize(
    "labels",
    [
        ["1.1", "1.10"],
        ["007", "7"],
        ["1E2", "100"],
        ["TRUE", "true"],
        ["0.0", "-0.0"],
        ["1", "1.0"],
    ],
)
@pytest.mark.parametrize("role", ["site", "subgroup"])
def test_hospitals_that_are_written_differently_stay_apart(tmp_path, labels, role):
    data = table(written(tmp_path, labels), **{role: ["x"]})
    assert {*data.levels["site" if role == "site" else "x"]} == {*labels}


@pytest.mark.parametrize(
    ("written_as", "in_order"),
    [
        (["02.2023", "01.2023", "01.2024"], ["01.2023", "02.2023", "01.2024"]),
        (["2023.10", "2023.1", "2023.2"], ["2023.1", "2023.2", "2023.10"]),
        (["2023.1", "2023.09", "2023.11"], ["2023.09", "2023.1", "2023.11"]),
        (["11/2023", "2/2024", "12/2023"], ["11/2023", "12/2023", "2/2024"]),
        (["10", "9", "11"], ["9", "10", "11"]),
        (["2021.5", "2020", "2021.25"], ["2020", "2021.25", "2021.5"]),
        (["202312.0", "202402.0", "202401.0"], ["202312.0", "202401.0", "202402.0"]),
        (["202312", "202402", "202401"], ["202312", "202401", "202402"]),
        (["2024-03-31", "2023-12-01"], ["2023-12-01", "2024-03-31"]),
    ],
)
def test_periods_keep_their_text_and_stand_in_order_of_time(tmp_path, written_as, in_order):
    data = table(written(tmp_path, written_as), period="x")
    assert list(data.periods.labels) == in_order


def test_months_are_a_month_apart():
    _, _, periods = read_periods(["01.2023", "02.2023", "01.2024"])
    assert periods.kind == "months"
    np.testing.assert_allclose(periods.elapsed, [1 / 12, 11 / 12])
    _, _, periods = read_periods(["202312.0", "202401.0", "202402.0"])
    np.testing.assert_allclose(periods.elapsed, [1 / 2, 1 / 2])
    _, _, periods = read_periods(["2023.1", "2023.2", "2023.10"])
    np.testing.assert_allclose(periods.elapsed, [1 / 9, 8 / 9])


def test_ids_of_18_digits_are_not_rounded(tmp_path):
    ids = [str(123456789012345000 + k) for k in range(60)]
    path = written(tmp_path, ids)
    text = path.read_text().splitlines()
    path.write_text("\n".join([*text[:-1], text[-1].rpartition(",")[0] + ","]) + "\n")
    assert table(path, cluster="x", drop_missing=True).clusters.size == 60


def test_ids_of_18_digits_in_parquet_beside_an_empty_cell(tmp_path):
    from bayescal.data.files import open_table

    ids = pd.array([123456789012345678, None, 123456789012345679], dtype="Int64")
    path = tmp_path / "cases.parquet"
    pd.DataFrame({"id": ids, "p": [0.1, 0.2, 0.3]}).to_parquet(path)
    read = open_table(path).load(labels=["id"])["id"]
    assert read[0] == 123456789012345678
    assert read[2] == 123456789012345679


def test_text_cells_beside_numbers_stay_apart_in_excel(tmp_path):
    labels = ["007", 7, "1.10", 1.1, "A"]
    data = table(written(tmp_path, labels, "cases.xlsx"), site=["x"])
    assert {*data.levels["site"]} == {"007", "7", "1.10", "1.1", "A"}


def test_an_empty_label_is_still_missing(tmp_path):
    with pytest.raises(InputError, match=r"60 of 120 rows lack a value: 60 in 'x'"):
        table(written(tmp_path, ["1", ""]), site=["x"])
