"""Files as strangers write them: what a user expects of labels, weights, workbooks and headers."""

import contextlib
import gc
import gzip
import json
import subprocess
import sys
import tracemalloc
import unicodedata
import zipfile

import numpy as np
import openpyxl
import openpyxl.chart
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data.columns import Request
from bayescal.data.files import open_table
from bayescal.data.guesses import guess
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
def test_two_spellings_of_one_hospital_are_pointed_out(labels):
    with pytest.warns(UserWarning, match="(?i)spell|alike|same"):
        bc.CalibrationData(DIED, RISK, site=[labels[k % 2] for k in range(N)])


def test_a_number_and_its_text_as_labels_are_pointed_out():
    with pytest.warns(UserWarning, match="(?i)spell|alike|same|text"):
        bc.CalibrationData(DIED, RISK, site=[1, "1"] * (N // 2))


def test_zero_and_minus_zero_are_one_label_in_a_list():
    listed = bc.CalibrationData(DIED, RISK, site=[0.0, -0.0] * (N // 2))
    assert len(listed.levels["site"]) == 1


def test_zero_and_minus_zero_are_one_label_in_an_array():
    array = bc.CalibrationData(DIED, RISK, site=np.array([0.0, -0.0] * (N // 2)))
    assert len(array.levels["site"]) == 1


def cases_with(tmp_path, column, separator=",", suffix="csv"):
    path = tmp_path / f"cases.{suffix}"
    rows = zip(DIED.tolist(), RISK.tolist(), column, strict=True)
    if suffix == "xlsx":
        book = openpyxl.Workbook()
        for row in [("died", "risk", "x"), *rows]:
            book.active.append(row)
        book.save(path)
    elif suffix == "jsonl":
        each = (dict(zip(("died", "risk", "x"), row, strict=True)) for row in rows)
        path.write_text("\n".join(map(json.dumps, each)))
    else:
        lines = [separator.join(map(str, row)) for row in rows]
        path.write_text("\n".join([separator.join(("died", "risk", "x")), *lines]) + "\n")
    return path


@pytest.mark.parametrize(
    ("suffix", "separator"),
    [("csv", ","), ("csv", ";"), ("tsv", "\t"), ("xlsx", ""), ("jsonl", "")],
)
@pytest.mark.parametrize("role", ["site", "subgroup", "cluster", "period"])
def test_what_is_written_stays_apart(tmp_path, role, suffix, separator):
    labels = {"period": ["01.2023", "01.2024", "02.2023"]}.get(role, ["1.1", "1.10", "007", "7"])
    column = [labels[k % len(labels)] for k in range(N)]
    path = cases_with(tmp_path, column, separator, suffix)
    data = bc.read(path, outcome="died", prob="risk", **{role: "x"})
    levels = data.clusters.size if role == "cluster" else len(data.groups)
    assert levels == len(labels)


def test_none_is_a_level_and_an_empty_cell_is_not(tmp_path):
    path = cases_with(tmp_path, (["None", "some", "NaN"] * N)[:N])
    data = bc.read(path, outcome="died", prob="risk", site="x", drop_missing=True)
    assert data.levels["site"] == ("None", "some")


OF_TIME = {"event": "died", "horizon": 5.0, "prob": "risk"}
ROLES_OF_NUMBERS = [
    {"sample_weight": "x", "outcome": "died", "prob": "risk", "weight_type": "sampling"},
    {"time": "x", **OF_TIME},
    {"time": "risk", "entry": "x", "event": "died", "horizon": 5.0, "prob": "old"},
]


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("roles", ROLES_OF_NUMBERS, ids=["weight", "time", "entry"])
@pytest.mark.parametrize("last", ["1,500", "+2,000", "1,234,567"])
def test_thousands_with_a_comma_are_not_read_as_one(tmp_path, roles, separator, last):
    path = cases_with(tmp_path, (["1,000", "800", last] * N)[:N], separator)
    lines = [line + separator + "0.5" for line in path.read_text().splitlines()]
    path.write_text("\n".join([lines[0].replace("0.5", "old"), *lines[1:]]))
    with pytest.raises(InputError, match=r"column 'x': '1,000' on line 2 of .* can be a thousand"):
        bc.read(path, **roles)


def test_decimal_commas_are_read_where_some_show_that_they_are(tmp_path):
    path = cases_with(tmp_path, (["1,000", "0,5", "1,50"] * N)[:N], ";")
    data = bc.read(path, outcome="died", prob="risk", sample_weight="x", weight_type="sampling")
    mean = np.average(data.score, weights=data.trials)
    assert mean == pytest.approx(np.average(RISK, weights=np.resize([1, 0.5, 1.5], N)))


def test_points_beside_decimal_commas_can_be_thousands(tmp_path):
    path = tmp_path / "cases.csv"
    weights = (["1.000", "800", "1.500"] * N)[:N]
    risks = [str(risk).replace(".", ",") for risk in RISK]
    rows = [f"{y};{p};{w}" for y, p, w in zip(DIED, risks, weights, strict=True)]
    path.write_text("\n".join(["died;risk;w", *rows]))
    with pytest.raises(InputError, match=r"column 'w': '1\.000' on line 2 .* can be a thousand"):
        bc.read(path, outcome="died", prob="risk", sample_weight="w", weight_type="sampling")


def peak_of(work):
    gc.collect()
    tracemalloc.start()
    try:
        with contextlib.suppress(InputError):
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("at", ["cells", "header"])
def test_a_stray_cell_at_the_far_right_takes_no_memory(tmp_path, at):
    path = tmp_path / "cases.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["died", "risk"])
    for k, row in enumerate(zip(DIED.tolist(), RISK.tolist(), strict=True), 2):
        book.active.append(row)
        if at == "cells":
            book.active.cell(k, 16_384, 1)
    if at == "header":
        book.active.cell(1, 16_384, "note")
    book.save(path)
    assert peak_of(lambda: open_table(path).load()) < 4_000_000


def test_the_work_for_many_columns_does_not_grow_with_their_square():
    names = ["died", "risk", *(f"x{k}" for k in range(998))]
    frame = pd.DataFrame([[k % 2, 0.1 + k / 9, *[7] * 998] for k in range(4)], columns=names)
    looked_at = 0

    def count(_, event, called):
        nonlocal looked_at
        if event == "c_call" and called.__name__ == "count" and isinstance(called.__self__, list):
            looked_at += len(called.__self__)

    sys.setprofile(count)
    try:
        columns = guess(frame, Request("cases.csv")).answered().columns
    finally:
        sys.setprofile(None)
    assert (columns.outcome, columns.prob) == ("died", "risk")
    assert looked_at < 50 * len(names)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))
from pathlib import Path
from bayescal.data.files import open_table
from bayescal.errors import InputError
try:
    source = open_table(Path(sys.argv[1]))
except InputError as error:
    print("refused:", error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of resources")
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl"])
def test_a_header_of_a_million_commas_is_refused(tmp_path, suffix):
    path = tmp_path / f"cases.{suffix}"
    text = "," * 1_000_000 + "\n" + "," * 1_000_000 + "\n"
    if suffix == "jsonl":
        text = json.dumps({f"x{k}": k for k in range(100_000)})
    path.write_bytes(gzip.compress(text.encode()) if suffix == "csv.gz" else text.encode())
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "refused:" in done.stdout
    assert "columns, and at most 16,384 are read" in done.stdout


@pytest.mark.parametrize("suffix", ["csv.gz", "xlsx", "jsonl.gz"])
def test_what_unpacks_to_nearly_nothing_but_one_byte_is_refused(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("bayescal.data.files.MOST_UNPACKED", 1 << 20)
    path, zeros = tmp_path / f"cases.{suffix}", b"0" * (1 << 22)
    if suffix == "xlsx":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("xl/worksheets/sheet1.xml", zeros)
    else:
        path.write_bytes(gzip.compress(b"died,risk\n" + zeros))
    with pytest.raises(InputError, match=r"bytes and unpacks to [\d,]+ or more"):
        open_table(path)


@pytest.mark.parametrize("filled", [False, True])
def test_a_chart_sheet_is_passed_over(tmp_path, filled):
    path = tmp_path / "cases.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["died", "risk"])
    for row in zip(DIED.tolist(), RISK.tolist(), strict=True):
        book.active.append(row)
    sheet = book.create_chartsheet("Figure")
    if filled:
        chart = openpyxl.chart.LineChart()
        chart.add_data(openpyxl.chart.Reference(book.active, min_col=2, min_row=1, max_row=N))
        sheet.add_chart(chart)
    book.save(path)
    assert len(open_table(path).load()) == N
