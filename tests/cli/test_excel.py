"""Excel workbooks are read as the table that a person sees."""

import sys

import pytest

from bayescal.core.errors import InputError
from bayescal.data.files import open_table

openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl, of the extra 'excel'")

TABLE = [("y", "p", "id"), (1, 0.5, "007"), (0, 0.25, None), (1, 1, "a,b\n'c'")]


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_is_read_like_csv(tmp_path):
    source = open_table(workbook(tmp_path / "a.xlsx", data=TABLE, notes=[]))
    assert source.names == ("y", "p", "id")
    frame = source.load()
    assert frame["y"].to_list() == [1, 0, 1]
    assert frame["p"].to_list() == [0.5, 0.25, 1.0]
    verbatim = source.load(verbatim=True)
    assert verbatim["id"].to_list() == ["007", "", "a,b\n'c'"]
    assert verbatim["p"].to_list() == ["0.5", "0.25", "1"]


def test_rows_are_counted_as_excel_does(tmp_path):
    rows = [(), TABLE[0], TABLE[1], (None, None, None), TABLE[2]]
    source = open_table(workbook(tmp_path / "a.xlsx", data=rows))
    assert len(source.load()) == 2
    assert [source.where(row) for row in (0, 1)] == ["row 3", "row 5"]


def test_of_several_sheets_one_is_named(tmp_path):
    path = workbook(tmp_path / "a.xlsx", north=TABLE, south=TABLE[:2], empty=[])
    with pytest.raises(InputError, match=r"several sheets: 'north', 'south'\. Say which"):
        open_table(path)
    assert len(open_table(path, sheet="south").load()) == 1
    with pytest.raises(InputError, match=r"no sheet 'west'\. There are 'north', 'south'"):
        open_table(path, sheet="west")
    with pytest.raises(InputError, match="is empty on sheet 'empty'"):
        open_table(path, sheet="empty")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "is empty"),
        (TABLE[:1], "names columns but has no rows"),
        ([(1, 0.5), (0, 0.2)], "row 1 of .* holds numbers, where column names are needed"),
        ([("y", "p"), (1, 0.5, "x")], "row 2 of .* has values in columns without a name"),
    ],
)
def test_sheets_that_hold_no_table(tmp_path, rows, message):
    path = workbook(tmp_path / "a.xlsx", data=rows)
    with pytest.raises(InputError, match=message):
        open_table(path).load()


def test_what_is_no_workbook(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"PK")
    with pytest.raises(InputError, match=r"a\.xlsx cannot be read as an Excel workbook"):
        open_table(path)


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    path = workbook(tmp_path / "a.xlsx", data=TABLE)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r'pip install "bayescal\[excel\]".* as CSV UTF-8'):
        open_table(path)
