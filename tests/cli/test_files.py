"""Files of the command line: none is overwritten, cut short or changed without a word."""

import csv
import io
import os
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from bayescal.cli import main

Done = Callable[..., str]

ROWS = "id,p,y\n" + "".join(f"{i:03},{0.1 + 0.7 * i / 40:.3f},{i % 3 // 2}\n" for i in range(40))
NAMES = ("--outcome", "y", "--prob", "p")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file of predictions in the working directory, called `a.csv`."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    return path


# An output is never an input, nor another output


@pytest.mark.parametrize(
    "command",
    [
        ("assess", "a.csv", "--json"),
        ("assess", "a.csv", "--html"),
        ("a.csv", "--word"),
        ("compare", "a.csv", "--json"),
        ("compare", "a.csv", "--prob", "p", "--prob", "id", "--json"),
        ("recalibrate", "a.csv", "--output"),
        ("recalibrate", "b.csv", "--new", "a.csv", "--output"),
    ],
)
@pytest.mark.parametrize("kind", ["name", "path", "symbolic", "hard"])
def test_an_output_is_not_an_input(refused, table, command, kind):
    target = {"name": "a.csv", "path": table.parent / "." / "a.csv"}.get(kind, "link.csv")
    if kind == "symbolic":
        os.symlink("a.csv", "link.csv")
    elif kind == "hard":
        os.link("a.csv", "link.csv")
    assert f"cannot write {target}: it is the input a.csv" in refused(*command, target)
    assert table.read_text() == ROWS


@pytest.mark.parametrize(
    "options",
    [
        ("assess", "a.csv", "--json", "out.html", "--html", "./out.html"),
        ("assess", "a.csv", "--json", "out.svg", "--plot", "link/out.svg"),
        ("demo", "--json", "out.html", "--html", "out.html"),
    ],
)
def test_two_outputs_are_not_one_file(refused, table, options):
    os.symlink(".", "link")
    assert "twice: two outputs are this file" in refused(*options)
    assert not list(table.parent.glob("out.*"))


@pytest.mark.parametrize("command", [("assess", "a.csv", "--json"), ("compare", "a.csv", "--plot")])
def test_an_output_is_no_link_to_itself(refused, table, command):
    os.symlink("loop.svg", "loop.svg")
    message = refused(*command, "loop.svg")
    assert "cannot write loop.svg: it is a link that leads to itself" in message


def test_the_mark_of_a_recalibration_is_an_output_too(refused, table):
    mark = table.rename("b.csv.bayescal.json")
    assert "it is the input" in refused("recalibrate", mark, "--output", "b.csv")
    assert mark.read_text() == ROWS


# Other columns come out as they went in


def recalibrated(done, path, separator=","):
    output = path.with_name("better.csv")
    done("recalibrate", path, *NAMES, "--method", "intercept", "--output", output)
    with output.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=separator))


HOSTILE = ["000", "1e5", "NA", "", " a ", "1,5", "a\rb", "a\nb", "a\r\nb", '"', "'", "True"]


def test_other_columns_are_verbatim(done, table):
    rows = list(csv.reader(ROWS.splitlines()))
    for row, field in zip(rows[1:], HOSTILE, strict=False):
        row[0] = field
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    header, *made = recalibrated(done, table)
    assert header == [*rows[0], "p_recalibrated"]
    assert [row[:3] for row in made] == rows[1:]


def test_decimal_commas_and_short_rows_are_verbatim(done, table):
    rows = [line.split(",") for line in ROWS.splitlines()]
    european = [[score.replace(".", ","), outcome, label] for label, score, outcome in rows[1:]]
    table.write_text("\n".join(map(";".join, [["p", "y", "id"], *european])) + "\n0,5;1\n")
    made = recalibrated(done, table, ";")
    assert [row[:3] for row in made[1:]] == [*european, ["0,5", "1", ""]]


def test_whole_numbers_of_parquet_stay_whole(done, tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.read_csv(io.StringIO(ROWS)).astype({"id": "Int64"})
    frame.loc[1, "id"] = pd.NA
    frame.to_parquet(tmp_path / "a.parquet")
    made = recalibrated(done, tmp_path / "a.parquet")
    assert [row[0] for row in made[1:4]] == ["0", "", "2"]


@pytest.mark.parametrize("name", ["p_recalibrated", "p_lower", "p_upper"])
def test_an_existing_column_is_not_replaced(refused, table, name):
    table.write_text(ROWS.replace("id", name, 1))
    line = refused("recalibrate", table, *NAMES, "--output", "better.csv")
    assert f"already has a column '{name}'" in line
    assert not Path("better.csv").exists()


def test_scores_that_could_be_in_two_columns_are_refused(refused, table):
    Path("twice.csv").write_text(ROWS.replace("id", "p", 1))
    options = (*NAMES, "--new", "twice.csv", "--output", "better.csv")
    assert "twice.csv: 2 columns are called 'p'" in refused("recalibrate", table, *options)


# All or nothing is written


@contextmanager
def small_disk():
    """No file may grow beyond 500 bytes, as on a disk that is full; nor may pytest's own log."""
    resource = pytest.importorskip("resource", reason="only Unix limits the size of files")
    _, hard = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    # A module that is first imported here would leave half of its bytecode on the disk.
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize(
    "command",
    [
        ("recalibrate", "a.csv", *NAMES, "--method", "intercept", "--output"),
        ("assess", "a.csv", *NAMES, "--json"),
        ("assess", "a.csv", *NAMES, "--plot"),
        pytest.param(("assess", "a.csv", *NAMES, "--html"), marks=pytest.mark.slow),
    ],
)
def test_a_full_disk_leaves_the_former_file_and_names_it(capsys, table, command):
    former = Path("out.html" if "--html" in command else "out.svg")
    former.write_text("former")
    with small_disk(), pytest.raises(SystemExit) as left:
        main([*command, str(former)])
    assert left.value.code == 2
    assert capsys.readouterr().err == f"Error: {former}: File too large.\n"
    assert former.read_text() == "former"
    assert sorted(one.name for one in table.parent.iterdir()) == ["a.csv", str(former)]


def test_a_file_that_another_program_holds_open_is_found_before_the_work(
    refused, table, monkeypatch
):
    Path("out.json").write_text("former")
    before = Path.open

    def in_use(self, mode="r", *others, **named):
        if self.name == "out.json" and "+" in mode:
            raise PermissionError(13, "it is used by another process")
        return before(self, mode, *others, **named)

    monkeypatch.setattr(Path, "open", in_use)
    message = refused("assess", "a.csv", "--json", "out.json")
    assert "cannot write out.json: it cannot be opened for writing" in message
    assert Path("out.json").read_text() == "former"


@pytest.mark.parametrize("protected", ["out.json", "."])
def test_permission_is_asked_before_the_work(refused, table, monkeypatch, protected):
    Path("out.json").touch()
    allowed = os.access

    def access(path, mode):
        refused = mode == os.W_OK and os.path.samefile(path, protected)
        return not refused and allowed(path, mode)

    monkeypatch.setattr("bayescal.cli.files.os.access", access)
    line = refused("assess", "missing.csv", "--json", "out.json")
    assert "cannot write out.json: there is no permission to write to" in line


# What cannot be read


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_refused(refused, table):
    os.mkfifo("pipe.csv")
    assert "pipe.csv is a pipe or a device" in refused("assess", "pipe.csv")


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_field_beyond_the_limit_is_one_line(refused, table, row):
    rows = [["y", "p", "note"], ["1", "0.3", ""], ["0", "0.2", ""], ["0", "1.5", ""]]
    rows[row][2] = "x" * 131_073
    table.write_text("\n".join(map(",".join, rows)) + "\n")
    line = refused("assess", table, *NAMES)
    assert "a.csv cannot be read: field larger than field limit (131072)" in line


@pytest.mark.parametrize(
    "command",
    [
        ("assess", *NAMES),
        ("compare", *NAMES),
        ("compare", "--outcome", "y", "--prob", "p", "--prob", "id"),
        ("recalibrate", *NAMES, "--output", "out.csv"),
        ("recalibrate", *NAMES, "--output", "out.csv", "--new", "a.csv"),
    ],
)
def test_the_cure_for_another_encoding_is_an_option(refused, table, command):
    apply_to = "--new" in command
    file = Path("latin.csv")
    file.write_bytes(ROWS.replace("id,", "Zürich,", 1).encode("latin-1"))
    if apply_to:
        command, file = (*command[:-1], file), table
    line = refused(command[0], file, *command[1:])
    assert "line 1 of latin.csv is not UTF-8" in line
    nope = [each if each != "y" else "nope" for each in command[1:]]
    line = refused(command[0], file, *nope, "--encoding", "latin-1")
    assert apply_to or "'Zürich'" in line


def test_other_columns_keep_their_letters(done, table):
    table.write_bytes(ROWS.replace("001", "Zürich").encode("latin-1"))
    options = ("--method", "intercept", "--encoding", "latin-1", "--output", "out.csv")
    done("recalibrate", table, *NAMES, *options)
    assert "\nZürich," in Path("out.csv").read_text("utf-8")


SCALES = {"logit": (logit, expit), "percent": (lambda x: 100 * x, lambda x: x / 100)}


@pytest.mark.parametrize("scale", SCALES)
def test_a_recalibration_is_written_on_the_scale_that_was_read(done, tmp_path, scale):
    p = pd.read_csv(io.StringIO(ROWS))
    there, back = SCALES[scale]
    plain, scaled = tmp_path / "plain.csv", tmp_path / "scaled.csv"
    p.to_csv(plain, index=False)
    p.assign(p=there(p["p"])).to_csv(scaled, index=False)
    how = (*NAMES, "--method", "logistic", "--seed", 1, "--output")
    done("recalibrate", plain, *how, tmp_path / "a.csv")
    done("recalibrate", scaled, "--scale", scale, *how, tmp_path / "b.csv")
    one, other = (pd.read_csv(tmp_path / name)["p_recalibrated"] for name in ("a.csv", "b.csv"))
    np.testing.assert_allclose(back(other), one, rtol=1e-9)


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet", "a.csv.gz"])
def test_a_table_is_not_written_under_the_name_of_another_format(refused, tmp_path, name):
    path = tmp_path / "table.csv"
    path.write_text(ROWS)
    output = tmp_path / name
    assert "written as CSV" in refused("recalibrate", path, *NAMES, "--output", output)
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("recalibrate", "a.csv", "--folds", 1), "--folds must be"),
        (("recalibrate", "a.csv", "--folds", 2, "--method", "x"), "--method must be"),
        (("compare", "a.csv", "--prob", "p", "--prob", "p2", "--threshold", 9), "--threshold must"),
        (("compare", "a.csv", "--prob", "p", "--prob", "nosuch"), "--prob: there is no column"),
        (("recalibrate", "a.csv", "--new", "b.csv"), "--new goes with --output"),
        (("assess", "a.csv", "--ci-prob", 95), "--ci-prob must"),
    ],
)
def test_errors_name_the_option_before_anything_is_printed(refused, table, arguments, option):
    assert f"Error: {option}" in refused(*arguments)


@pytest.mark.parametrize(
    "command", [("assess", "missing.csv"), ("compare", "missing.csv"), ("demo",)]
)
@pytest.mark.parametrize("name", ["out.docx", "out.pdf", "out", "out.html.txt"])
def test_a_report_is_a_web_page_and_nothing_else(refused, table, command, name):
    """Said before the data are looked for."""
    line = refused(*command, "--html", name)
    assert f"--html '{name}' does not end in .html or .htm" in line
    assert "print it to PDF" in line
    assert not Path(name).exists()


@pytest.mark.parametrize("option", ["--html", "--json", "--plot", "--word", "--update"])
@pytest.mark.parametrize("name", ["", "."])
def test_a_file_without_a_name_is_refused_by_its_option(refused, table, option, name):
    assert f"Error: {option} names no file." in refused("assess", "a.csv", option, name)


def test_a_table_that_cannot_be_updated_is_named_by_its_option(refused, table):
    Path("base.csv").write_text(ROWS)
    line = refused("assess", "a.csv", *NAMES, "--update", "base.csv")
    assert "--update base.csv: this file is no running table" in line
    assert "path base.csv" not in line


@pytest.mark.parametrize(
    ("events", "cure"), [(3, "Give --folds at most 3."), (1, "No number of folds works"), (0, "No")]
)
def test_too_many_folds_are_told_with_the_column(refused, table, events, cure):
    frame = pd.read_csv("a.csv")
    frame.assign(y=(frame.index < events).astype(int)).to_csv("few.csv", index=False)
    line = refused("recalibrate", "few.csv", *NAMES, "--folds", 10)
    assert f"--folds 10: column 'y' has {events} event" in line
    assert f"every fold needs one of each. {cure}" in line
