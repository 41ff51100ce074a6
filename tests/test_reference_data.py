"""The folder of reference data is filled with what this computer has, and says what it lacks."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import reference_data
from known_sets import stand_in

REPOSITORY = Path(__file__).resolve().parents[1]
A = "oracles/A.csv"
HOCKEY = "data/clinical/brcal_hockey_538.csv"
R = """#!/bin/sh
grep -q BRcal "$2" || exit 3
awk 'BEGIN {{
    print "score,outcome"
    for (k = 0; k < {cases}; k++) print "0.5342744," (k < 463)
}}' > "$3"
"""


@pytest.fixture
def no_r(monkeypatch, tmp_path):
    """A folder that is searched for programs, with none in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(reference_data.shutil, "which", lambda name: _in(folder, name))
    return folder


def _in(folder, name):
    return str(folder / name) if (folder / name).is_file() else None


def test_without_r_the_simulated_set_is_made_and_every_other_is_explained(tmp_path, no_r):
    told = reference_data.fill(tmp_path / "data")
    assert told[A] == "made"
    rows = [line.split(",") for line in (tmp_path / "data" / A).read_text().split()[1:]]
    outcomes, scores = stand_in("A")
    assert [float(score) for score, _ in rows] == scores.tolist()
    assert [float(outcome) for _, outcome in rows] == outcomes.tolist()
    others = {name: what for name, what in told.items() if name != A}
    for one in reference_data.SETS:
        assert one.file == A or one.source in others[one.file]
    assert "there is no Rscript on this computer; it needs R and BRcal" in others[HOCKEY]
    assert reference_data.fill(tmp_path / "data")[A] == "there"


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for R is a shell script")
@pytest.mark.parametrize(
    ("cases", "what"),
    [(868, "made"), (867, "not made: 867 cases came out, and the tests need 868")],
)
def test_what_r_writes_is_compared_before_it_is_kept(tmp_path, no_r, cases, what):
    program = no_r / "Rscript"
    program.write_text(R.format(cases=cases))
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    told = reference_data.fill(tmp_path / "data")
    assert told[HOCKEY].startswith(what)
    assert (tmp_path / "data" / HOCKEY).exists() == (what == "made")
    other = told[HOCKEY.replace("538", "rand")]
    assert ("the mean of score is 0.5342744" in other) == (what == "made")
    assert "R has no package dcurves" in told["data/clinical/dcurves_df_binary.csv"]


def test_every_file_of_the_page_is_a_set():
    page = (REPOSITORY / "docs" / "reference-data.md").read_text("utf-8")
    told = set()
    for line in page.splitlines():
        if line.startswith(("| `data/", "| `oracles/")):
            files = re.findall(r"`([^`]+)`", line.split("|")[1])
            folder = files[0].rpartition("/")[0]
            told |= {file if "/" in file else f"{folder}/{file}" for file in files}
    assert {file.rstrip("/") for file in told} == {each.file for each in reference_data.SETS}


def test_the_page_has_every_set():
    page = (REPOSITORY / "docs" / "reference-data.md").read_text("utf-8")
    for one in reference_data.SETS:
        assert Path(one.file).name.removesuffix(".csv").removeprefix("brcal_") in page, one.file


def test_a_test_is_skipped_if_its_file_is_missing(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "data").mkdir()
    for name in ("conftest.py", "known_sets.py", "known_sets.json"):
        text = (REPOSITORY / "tests" / name).read_text("utf-8")
        (tmp_path / "tests" / name).write_text(text, "utf-8")
    (tmp_path / "pyproject.toml").write_text((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    (tmp_path / "tests" / "test_x.py").write_text(
        "import numpy as np\n"
        "def test_read(shared_data): (shared_data / 'x.csv').open()\n"
        "def test_loaded(shared_data): np.loadtxt(shared_data / 'x.csv')\n"
        "def test_other(tmp_path): (tmp_path / 'x.csv').open()\n"
        "def test_known(known): assert known('A')[0].size == 200\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-rs"]
    for required, expected in (("0", "1 failed, 1 passed, 2 skipped"), ("1", "4 failed")):
        own = {"BAYESCAL_DATA": str(tmp_path / "data"), "BAYESCAL_REQUIRE_DATA": required}
        environment = os.environ | own
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert f"{expected} in " in done.stdout, done.stdout
        assert ("no reference data at" in done.stdout) == (required == "0")
