"""Folders of Parquet files on the command line: the same answers as from one CSV file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayescal.cli import main

pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra 'parquet'")

N = 300
ONE = ("--curve", "logistic", "--seed", "1")
Read = Callable[..., dict]
Refused = Callable[..., str]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    p = rng.beta(2, 5, N).round(4)
    return pd.DataFrame(
        {
            "id": np.arange(N),
            "p": p,
            "y": (rng.random(N) < p).astype(int),
            "died": np.where(rng.random(N) < p, "yes", "no"),
            "w": rng.uniform(0.5, 2, N).round(3),
            "ward": rng.integers(1, 4, N),
        }
    )


@pytest.fixture
def folder(tmp_path, frame) -> Path:
    (tmp_path / "in").mkdir()
    for index, part in enumerate(np.array_split(np.arange(N), 3)):
        path = tmp_path / "in" / f"part-{index}.parquet"
        frame.iloc[part].to_parquet(path, row_group_size=40, index=False)
    (tmp_path / "in" / "_SUCCESS").touch()
    return tmp_path / "in"


@pytest.fixture
def read(tmp_path) -> Read:
    """What a command writes as JSON, without where the cases came from."""

    def invoke(*arguments: object) -> dict:
        record = tmp_path / "record.json"
        with pytest.raises(SystemExit) as left:
            main([*map(str, arguments), "--json", str(record)])
        assert not left.value.code
        numbers = json.loads(record.read_text())
        for name in ("source", "file", "versions"):
            numbers.pop(name, None)
        return numbers

    return invoke


@pytest.fixture
def refused(capsys) -> Refused:
    """The one line on stderr of a command that exits with 2."""

    def invoke(*arguments: object) -> str:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert (left.value.code, captured.out) == (2, "")
        assert captured.err.count("\n") == 1
        return captured.err

    return invoke


@pytest.mark.parametrize(
    "options",
    [
        ("assess", *ONE),
        ("assess", *ONE, "--outcome", "died", "--event", "yes", "--score", "p"),
        ("assess", *ONE, "--outcome", "y", "--score", "p", "--weight", "w"),
        pytest.param(("compare", "--seed", "1", "--outcome", "y"), marks=pytest.mark.slow),
        pytest.param(
            ("assess", "--seed", "1", "--outcome", "y", "--score", "p", "--group", "ward"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_folder_is_read_as_one_file(read, tmp_path, folder, frame, options) -> None:
    frame.to_csv(tmp_path / "a.csv", index=False)
    command, *rest = options
    rest = rest if "--outcome" in rest else [*rest, "--outcome", "y"]
    assert read(command, folder, *rest) == read(command, tmp_path / "a.csv", *rest)


@pytest.mark.parametrize("in_one_file", [True, False])
def test_a_folder_asks_about_hospitals_wherever_they_change(
    refused, tmp_path, frame, in_one_file, monkeypatch
) -> None:
    monkeypatch.setattr("bayescal.cli._batches.HEAD", 50)
    folder = tmp_path / "asked"
    folder.mkdir()
    sites = frame.assign(Hospital=np.arange(N) >= N // 2)
    parts = [sites] if in_one_file else [sites[~sites.Hospital], sites[sites.Hospital]]
    for index, part in enumerate(parts):
        part.to_parquet(folder / f"{index}.parquet", index=False)
    told = refused("assess", folder, "--outcome", "y", "--score", "p", *ONE)
    assert "column 'Hospital' has several values, which repeat" in told
    assert "--site Hospital, or --cluster Hospital, or --ignore-column Hospital" in told


def test_numbers_on_stdout_are_alone_there(capsys, folder) -> None:
    copy = folder / "copy.parquet"
    copy.write_bytes((folder / "part-0.parquet").read_bytes())
    with pytest.raises(SystemExit) as left:
        main(["assess", str(folder), "--outcome", "y", "--score", "p", *ONE, "--json", "-"])
    assert not left.value.code
    shown = capsys.readouterr()
    assert json.loads(shown.out)["cases"] == N + 100
    assert "Note: " in shown.err


def test_columns_are_guessed_from_the_first_rows(capsys, folder, frame) -> None:
    for path in folder.glob("*.parquet"):
        pd.read_parquet(path)[["p", "y"]].to_parquet(path)
    with pytest.raises(SystemExit):
        main(["assess", str(folder), *ONE])
    assert f"{N} cases, {frame.y.sum()} events" in capsys.readouterr().out


NAMED = ("--outcome", "y", "--score", "p")


def change(folder: Path, **values: object) -> None:
    """Set values in row 50 of the second file, which is row 11 of its row group 1."""
    path = folder / "part-1.parquet"
    frame = pd.read_parquet(path)
    for name, value in values.items():
        frame[name] = frame[name].astype(object if isinstance(value, str) else float)
        frame.loc[50, name] = value
    frame.to_parquet(path, row_group_size=40, index=False)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"p": 1.2}, "1.2 is outside [0, 1]"),
        ({"p": np.nan}, "lack an outcome"),
        ({"y": np.nan}, "lack an outcome"),
    ],
)
def test_a_bad_value_is_named_with_file_and_row(refused, folder, values, reason) -> None:
    change(folder, **values)
    line = refused("assess", folder, *NAMED)
    assert reason in line
    assert f"on row 11 of row group 1 of {folder / 'part-1.parquet'}" in line


def test_missing_values_are_left_out_when_asked(capsys, folder) -> None:
    change(folder, p=np.nan)
    with pytest.raises(SystemExit):
        main(["assess", str(folder), *NAMED, "--drop-missing", *ONE])
    assert f"1 of {N} rows left out" in capsys.readouterr().out


def test_labels_that_differ_between_files(refused, folder) -> None:
    died = ("assess", folder, "--outcome", "died", "--score", "p")
    assert "Say which label is the event with --event" in refused(*died)
    assert "not two classes with the event 'lost'" in refused(*died, "--event", "lost")
    change(folder, died="lost")
    line = refused(*died, "--event", "yes")
    assert "column 'died' holds 'lost', 'no', 'yes', which are not two classes" in line


def test_other_errors_of_a_folder(refused, folder, tmp_path) -> None:
    assert "no column 'q'" in refused("assess", folder, "--outcome", "y", "--score", "q")
    assert "--encoding goes with text" in refused("assess", folder, "--encoding", "latin-1")
    (folder / "part-2.parquet").write_bytes(b"PAR1")
    assert "part-2.parquet cannot be read" in refused("assess", folder, *NAMED)
    pd.DataFrame({"y": [0, 1]}).to_parquet(folder / "part-2.parquet")
    assert "part-2.parquet has no column 'p'" in refused("assess", folder, *NAMED)
    arguments = ("gain", folder, "--before", "p", "--after", "w")
    assert "is a folder. Name a file" in refused(*arguments)
    arguments = ("recalibrate", folder, "--output", tmp_path / "out.csv")
    assert "is a folder. Name a file" in refused(*arguments)


def test_every_row_lacks_something(refused, folder) -> None:
    for path in folder.glob("*.parquet"):
        pd.read_parquet(path).assign(p=np.nan).to_parquet(path)
    assert "every row of" in refused("assess", folder, *NAMED, "--drop-missing")


def test_weights_that_can_be_either_are_asked_for(refused, folder) -> None:
    for path in folder.glob("*.parquet"):
        frame = pd.read_parquet(path)
        frame.assign(w=np.resize([1, 40], len(frame))).to_parquet(path)
    line = refused("assess", folder, *NAMED, "--weight", "w")
    assert "Say which they are with --weight-type counts or --weight-type sampling" in line


@pytest.mark.parametrize("output", ["--json", "--plot", "--html"])
def test_an_output_is_no_file_of_the_folder(refused, folder, tmp_path, output) -> None:
    before = (folder / "part-1.parquet").read_bytes()
    link = tmp_path / "link.png"
    link.symlink_to(folder / "part-1.parquet")
    assert "it is the input" in refused("assess", folder, *NAMED, output, link)
    assert (folder / "part-1.parquet").read_bytes() == before
