"""Tables are read as what they are."""

import codecs
import csv
import gzip

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescal.core.errors import InputError
from bayescal.data.files import open_table

FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=4))
def test_verbatim_fields_are_what_was_written(tmp_path, rows):
    path = tmp_path / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    read = open_table(path).load(verbatim=True)
    assert list(read.itertuples(index=False, name=None)) == rows


@pytest.mark.parametrize("late", ["ward 7", "", "0.5", "True"])
def test_a_column_has_one_type_whatever_comes_late_in_a_long_file(tmp_path, late):
    lines = ["y,p,site", *["1,0.25,12"] * 100_000, f"0,0.75,{late}"]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines), "utf-8")
    read = open_table(path).load()
    pd.testing.assert_frame_equal(read, pd.read_csv(path, low_memory=False))


TEXT = "y,p,site\r\n1,0.3,Zürich\r\n0,0.2,Zörich\r\n"
SITES = ["Zürich", "Zörich"]


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-8-sig", "UTF8"),
        ("utf-16", None),
        ("latin-1", "latin-1"),
        ("cp1252", "cp1252"),
        ("utf-16-le", "utf-16-le"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "txt", "csv.gz"])
def test_encodings(tmp_path, encoding, told, suffix):
    path = tmp_path / f"table.{suffix}"
    content = (TEXT.replace(",", "\t") if suffix == "txt" else TEXT).encode(encoding)
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    source = open_table(path, told)
    assert source.names == ("y", "p", "site")
    assert source.load()["site"].to_list() == SITES
    assert source.where(1) == "line 3"


def test_utf_16_of_either_byte_order_is_read_by_its_mark(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"))
    assert open_table(path).load()["site"].to_list() == SITES
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"table\.csv cannot be read: .*utf-16"):
        open_table(path).load()


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize("before", [0, 100, 10_000])
def test_text_in_another_encoding_is_refused_with_its_line(tmp_path, before, block, monkeypatch):
    monkeypatch.setattr("bayescal.data.files.BLOCK", block)  # 7 cuts letters in two
    path = tmp_path / "table.csv"
    rows = b"y,p,site\n" + b"1,0.3,\xc3\xbc\n" * before + b"1,0.3,Z\xfcrich\n0,0.2,Z\xf6rich\n"
    path.write_bytes(rows)
    message = rf"line {before + 2} of .*table\.csv is not UTF-8 \(byte 0xfc\).* encoding='cp1252'"
    with pytest.raises(InputError, match=message):
        open_table(path)


@pytest.mark.parametrize("name", ["nope", "rot13", "base64", "\0", ""])
def test_an_unknown_encoding_is_refused(tmp_path, name):
    path = tmp_path / "table.csv"
    path.write_text("y,p\n1,0.3\n")
    with pytest.raises(InputError, match=r"encoding=: .* is no encoding of text"):
        open_table(path, name)


@pytest.mark.parametrize("suffix", ["xls", "xlsb", "ods"])
def test_other_workbooks_are_refused_with_what_to_do(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"Save it as \.xlsx, or its sheet as CSV UTF-8"):
        open_table(path)


def test_a_log_of_answers_is_a_table(tmp_path):
    path = tmp_path / "quiz.jsonl"
    path.write_text('{"correct": true, "confidence": 0.9}\n{"correct": false, "confidence": 0.7}\n')
    source = open_table(path)
    assert source.names == ("correct", "confidence")
    assert source.load().confidence.tolist() == [0.9, 0.7]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_first_line_that_names_the_separator(tmp_path, separator, quote):
    path = tmp_path / "table.csv"
    rows = TEXT.replace(",", separator)
    path.write_text(f"{quote}sep={separator}{quote}\r\n{rows}", "utf-8-sig")
    source = open_table(path)
    assert source.names == ("y", "p", "site")
    assert source.load()["site"].to_list() == SITES
    assert source.load(verbatim=True)["p"].to_list() == ["0.3", "0.2"]
    assert source.where(1) == "line 4"
    path.write_text("sep=;\n")
    with pytest.raises(InputError, match="is empty"):
        open_table(path)
