"""Files as strangers write them: what a user expects of labels, weights, workbooks and headers."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
import unicodedata

import numpy as np
import openpyxl
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli._columns import choose_columns
from bayescal.cli._excel import open_workbook
from bayescal.cli._predictions import read_predictions
from bayescal.cli.form import PROBABILITY
from bayescal.cli.reading import AssessReading
from bayescal.errors import InputError

RNG = np.random.default_rng(2)
N = 60
RISK = RNG.uniform(0.1, 0.9, N).round(3)
DIED = (RNG.random(N) < RISK).astype(int)


@pytest.mark.parametrize(
    "labels",
    [
        ("Ulm", "Ulm "),
        ("Ulm", "ULM"),
        ("Gie\u00dfen", "GIESSEN"),
        (
            unicodedata.normalize("NFC", "Orl\u00e9ans"),
            unicodedata.normalize("NFD", "Orl\u00e9ans"),
        ),
    ],
)
@pytest.mark.xfail(reason="labels that look alike are two hospitals", raises=pytest.fail.Exception)
def test_two_spellings_of_one_hospital_are_pointed_out(labels) -> None:
    with pytest.warns(UserWarning, match="(?i)spell|alike|same"):
        bc.CalibrationData(DIED, RISK, site=[labels[k % 2] for k in range(N)])


@pytest.mark.xfail(reason="labels are compared by their text", raises=pytest.fail.Exception)
def test_a_number_and_its_text_as_labels_are_pointed_out() -> None:
    with pytest.warns(UserWarning, match="(?i)spell|alike|same|text"):
        bc.CalibrationData(DIED, RISK, site=[1, "1"] * (N // 2))


@pytest.mark.xfail(reason="labels are compared by their text", raises=AssertionError)
def test_zero_and_minus_zero_are_one_label_in_a_list() -> None:
    listed = bc.CalibrationData(DIED, RISK, site=[0.0, -0.0] * (N // 2))
    assert len(listed.levels["site"]) == 1


def test_zero_and_minus_zero_are_one_label_in_an_array() -> None:
    array = bc.CalibrationData(DIED, RISK, site=np.array([0.0, -0.0] * (N // 2)))
    assert len(array.levels["site"]) == 1


def cases_with(tmp_path, column, separator=","):
    path = tmp_path / "cases.csv"
    rows = zip(DIED, RISK, column, strict=True)
    lines = [separator.join(map(str, row)) for row in rows]
    path.write_text("\n".join([separator.join(("died", "risk", "x")), *lines]) + "\n")
    return path


@pytest.mark.parametrize("role", ["site", "cluster", "period"])
def test_what_is_written_stays_apart(tmp_path, role) -> None:
    labels = {"period": ["01.2023", "01.2024", "02.2023"]}.get(role, ["1.1", "1.10", "007", "7"])
    path = cases_with(tmp_path, [labels[k % len(labels)] for k in range(N)])
    given = [["x"]] if role == "site" else ["x"]
    reading = AssessReading(path, "died", "risk", **{role: given[0]})
    data = read_predictions(reading).data
    levels = data.clusters.size if role == "cluster" else len(data.groups)
    assert levels == len(labels)


@pytest.mark.xfail(
    reason="a comma between semicolons is the decimal point, also of 1,000", raises=AssertionError
)
def test_thousands_with_a_comma_are_not_read_as_one(tmp_path) -> None:
    path = cases_with(tmp_path, (["1,000", "800", "1,500"] * N)[:N], ";")
    reading = AssessReading(path, "died", "risk", sample_weight="x", weight_type="sampling")
    try:
        data = read_predictions(reading).data
    except InputError as refused:
        assert "1,000" in str(refused)  # noqa: PT017
        return
    weights = np.resize([1000, 800, 1500], N)
    mean = np.average(data.score, weights=data.trials)
    assert mean == pytest.approx(np.average(RISK, weights=weights))


@pytest.mark.xfail(reason="every row is as wide as the widest cell", raises=AssertionError)
def test_a_stray_cell_at_the_far_right_takes_no_memory(tmp_path) -> None:
    path = tmp_path / "cases.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["died", "risk"])
    for k, row in enumerate(zip(DIED.tolist(), RISK.tolist(), strict=True), 2):
        book.active.append(row)
        book.active.cell(k, 16_384, 1)
    book.save(path)
    gc.collect()
    tracemalloc.start()
    try:
        open_workbook(path)
    except InputError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 4_000_000


@pytest.mark.xfail(reason="each name is counted among all names", raises=AssertionError)
def test_the_work_for_many_columns_does_not_grow_with_their_square() -> None:
    names = ["died", "risk", *(f"x{k}" for k in range(998))]
    frame = pd.DataFrame([[k % 2, 0.1 + k / 9, *[7] * 998] for k in range(4)], columns=names)
    looked_at = 0

    def count(_, event, called) -> None:
        nonlocal looked_at
        if event == "c_call" and called.__name__ == "count" and isinstance(called.__self__, list):
            looked_at += len(called.__self__)

    sys.setprofile(count)
    try:
        choose_columns(frame, AssessReading("cases.csv"), PROBABILITY)
    finally:
        sys.setprofile(None)
    assert looked_at < 50 * len(names)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))
from pathlib import Path
from bayescal.cli._read import open_source
from bayescal.errors import InputError
try:
    source = open_source(Path(sys.argv[1]))
except InputError as error:
    print("refused:", error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of resources")
@pytest.mark.xfail(reason="all names of columns are taken", raises=AssertionError)
def test_a_header_of_a_million_commas_is_refused(tmp_path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text("," * 1_000_000 + "\n" + "," * 1_000_000 + "\n")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "refused:" in done.stdout


@pytest.mark.xfail(reason="openpyxl fails on it in words of its own", raises=AttributeError)
def test_an_empty_chart_sheet_is_passed_over(tmp_path) -> None:
    path = tmp_path / "cases.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["died", "risk"])
    for row in zip(DIED.tolist(), RISK.tolist(), strict=True):
        book.active.append(row)
    book.create_chartsheet("Figure")
    book.save(path)
    assert len(open_workbook(path).load()) == N
