"""The running table of a deployed model: it grows by new cases, once each, or stays as it was."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayescal as bc

NAMES = ("--outcome", "y", "--prob", "p")
IGNORED = ("--ignore-column", "site")
FAST = (*NAMES, *IGNORED, "--seed", "1")
pytestmark = pytest.mark.usefixtures("quick")


def cases(n, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    site = np.array(["b", "a"])[rng.integers(0, 2, n)]
    return pd.DataFrame({"p": p, "y": (rng.random(n) < p).astype(int), "site": site})


@pytest.fixture
def months(tmp_path, monkeypatch):
    """Cases of three months in the working directory: `0.csv`, `1.csv` and `2.csv`."""
    monkeypatch.chdir(tmp_path)
    frames = [cases(1500, seed) for seed in range(3)]
    for index, frame in enumerate(frames):
        frame.to_csv(f"{index}.csv", index=False)
    return frames


def table():
    return bc.CalibrationData.from_netcdf("t.nc")


def test_the_table_is_that_of_all_files(done, months):
    for index in (2, 0, 1):
        out = done("assess", f"{index}.csv", *FAST, "--update", "t.nc", "--json", "r.json")
    together = pd.concat(months)
    assert table() == bc.CalibrationData(together.y, together.p)
    assert "With those in t.nc: 4,500 cases of 3 additions." in out
    assert "Wrote t.nc." in out
    record = json.loads(Path("r.json").read_text())
    assert (record["cases"], record["source"]["additions"]) == (4500, 3)
    together.to_csv("all.csv", index=False)
    done("assess", "all.csv", *FAST, "--json", "all.json")
    assert json.loads(Path("all.json").read_text())["sha256"] == record["sha256"]


def test_sampling_weights_are_told_by_what_they_are_worth(done, months):
    weight = np.resize([0.5, 1, 2.5], len(months[0]))
    months[0].assign(w=weight).to_csv("w.csv", index=False)
    words = ("--sample-weight", "w", "--weight-type", "sampling", "--update", "t.nc")
    out = done("assess", "w.csv", *FAST, *words)
    worth = weight.sum() ** 2 / (weight**2).sum()
    assert f"With those in t.nc: {worth:,.1f} cases of 1 addition." in out


@pytest.mark.slow
def test_groups_are_kept(done, months):
    for index in (0, 1):
        done("assess", f"{index}.csv", *NAMES, "--site", "site", "--update", "t.nc")
    together = pd.concat(months[:2])
    assert table() == bc.CalibrationData(together.y, together.p, site=together.site)
    assert table().groups == ("a", "b")


def test_the_same_cases_are_added_once(done, refused, months):
    done("assess", "0.csv", *FAST, "--update", "t.nc")
    done("assess", "1.csv", *FAST, "--update", "t.nc")
    before = Path("t.nc").read_bytes()
    months[0].sample(frac=1, random_state=1).to_csv("again.csv", index=False)
    line = refused("assess", "again.csv", *FAST, "--update", "t.nc")
    assert "again.csv holds the same 1,500 cases as 0.csv" in line
    assert "--force" in line
    assert Path("t.nc").read_bytes() == before
    done("assess", "again.csv", *FAST, "--update", "t.nc", "--force")
    assert table().n == 4500


def test_cases_of_another_model_are_refused(done, refused, months):
    done("assess", "0.csv", *FAST, "--update", "t.nc")
    months[1].rename(columns={"p": "risk"}).to_csv("1.csv", index=False)
    other = (*IGNORED, "--outcome", "y", "--prob", "risk", "--seed", "1")
    line = refused("assess", "1.csv", *other, "--update", "t.nc")
    assert "--prob of the cases in t.nc is 'p', and that of 1.csv is 'risk'" in line
    done("assess", "1.csv", *other, "--update", "t.nc", "--force")
    assert table().n == 3000


@pytest.mark.parametrize("when", ["reading", "assessing", "writing"])
def test_a_failure_leaves_the_table_as_it_was(done, refused, run, months, monkeypatch, when):
    done("assess", "0.csv", *FAST, "--update", "t.nc")
    before = Path("t.nc").read_bytes()
    if when == "reading":
        months[1].assign(p=2).to_csv("1.csv", index=False)
        assert run("assess", "1.csv", *FAST, "--update", "t.nc").code == 2
    else:
        target = "bayescal.report.assess" if when == "assessing" else "xarray.DataTree.to_netcdf"

        def fail(*arguments, **options):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(target, fail)
        assert run("assess", "1.csv", *FAST, "--update", "t.nc").code == 2
    assert Path("t.nc").read_bytes() == before
    assert not list(Path.cwd().glob(".bayescal-*"))


def test_a_table_that_changes_meanwhile_is_left(done, run, months, monkeypatch):
    done("assess", "0.csv", *FAST, "--update", "t.nc")
    other = Path("t.nc").read_bytes() + b"more"

    def meanwhile(*arguments, **options):
        Path("t.nc").write_bytes(other)

    monkeypatch.setattr("bayescal.cli.runner.write", meanwhile)
    result = run("assess", "1.csv", *FAST, "--update", "t.nc")
    assert result.code == 2
    assert "changed by another program" in result.err
    assert Path("t.nc").read_bytes() == other


def test_what_is_no_table_is_refused_at_once(refused, months):
    Path("t.nc").write_text("not a table")
    line = refused("assess", "missing.csv", *FAST, "--update", "t.nc")
    assert "t.nc cannot be read: it is no NetCDF file" in line
    xr.Dataset({"x": 1}).to_netcdf("x.nc", engine="h5netcdf")
    assert "x.nc holds no table" in refused("assess", "0.csv", *FAST, "--update", "x.nc")
    assert Path("t.nc").read_text() == "not a table"


def test_a_table_made_in_python_can_be_added_to(done, months):
    first = bc.CalibrationData(months[0].y, months[0].p)
    first.to_netcdf("t.nc")
    done("assess", "1.csv", *FAST, "--update", "t.nc")
    assert table() == first + bc.CalibrationData(months[1].y, months[1].p)


@pytest.mark.parametrize("other", ["0.csv", "r.json"])
def test_the_table_is_no_input_and_no_other_output(refused, months, other):
    line = refused("assess", "0.csv", *FAST, "--json", "r.json", "--update", other)
    assert "cannot write" in line
    assert not Path("r.json").exists()
