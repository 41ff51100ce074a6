"""Clusters on the command line, and the question where ids repeat."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescal as bc


@pytest.fixture
def table(tmp_path):
    y, s = bc.simulate.sample("clinical-middle-overconfident", 120, random_state=1)
    frame = pd.DataFrame({"Patient ID": np.arange(120) // 6, "y": y, "p": s, "area": 0})
    frame["area"] = frame["Patient ID"] // 10
    path = tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    return path


ASKED = (
    "column 'Patient ID' repeats (120 rows, 20 ids). If rows of one Patient ID are not independent"
)


@pytest.mark.parametrize("command", ["assess", "compare"])
def test_ids_that_repeat_are_asked_about(refused, table, command):
    err = refused(command, table, "--outcome", "y", "--prob", "p")
    assert ASKED in err
    assert "--cluster" in err
    assert "--independent" in err


def test_either_answer_is_taken(done, table, tmp_path):
    told = (table, "--outcome", "y", "--prob", "p", "--seed", 1)
    record = tmp_path / "numbers.json"
    assert "clusters" not in done("assess", *told, "--independent", "--json", record)
    alone = json.loads(record.read_text())
    clusters = ("--cluster", "Patient ID", "--stratum", "area")
    done("assess", *told, *clusters, "--json", record)
    clustered = json.loads(record.read_text())
    assert clustered["source"]["cluster"] == "Patient ID"
    assert clustered["functionals"]["tce"] != alone["functionals"]["tce"]


def test_what_is_no_question(done, table, tmp_path):
    frame = pd.read_csv(table)
    single = tmp_path / "single.csv"
    frame.assign(**{"Patient ID": np.arange(120)}).to_csv(single, index=False)
    options = ("--outcome", "y", "--prob", "p", "--seed", 1)
    done("assess", single, *options)
    frame.rename(columns={"Patient ID": "visit"}).to_csv(single, index=False)
    done("assess", single, *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cluster", "nobody"], "no column 'nobody'"),
        (["--stratum", "area"], "--stratum goes with --cluster"),
        (["--cluster", "area", "--independent"], "contradict each other"),
        (["--cluster", "area", "--site", "area"], "name the same column, 'area'"),
        (["--site", "area", "--site", "y"], "--site is one column"),
    ],
)
def test_what_does_not_go_together(refused, table, options, message):
    assert message in refused("assess", table, "--outcome", "y", "--prob", "p", *options)


def test_cases_without_a_cluster_are_refused_or_left_out(run, refused, table, tmp_path):
    frame = pd.read_csv(table).astype({"Patient ID": object})
    frame.loc[3, "Patient ID"] = None
    gaps = tmp_path / "gaps.csv"
    frame.to_csv(gaps, index=False)
    options = ("--outcome", "y", "--prob", "p", "--cluster", "Patient ID", "--seed", 1)
    lacking = "1 of 120 rows lack a value: 1 in 'Patient ID'"
    assert lacking in refused("assess", gaps, *options)
    kept = run("assess", gaps, *options, "--drop-missing")
    assert kept.code == 0
    assert "1 of 120 rows left out" in kept.told


def test_clusters_lie_in_several_parquet_files_that_are_added(run, table, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = pd.read_csv(table)
    frame[::2].to_parquet(folder / "one.parquet")
    frame[1::2].to_parquet(folder / "two.parquet")
    options = ("--outcome", "y", "--prob", "p", "--cluster", "Patient ID")
    for name in ("one", "two"):
        file = folder / f"{name}.parquet"
        assert run(file, *options, "--update", tmp_path / "all.nc").code == 0
    assert bc.CalibrationData.from_netcdf(tmp_path / "all.nc") == bc.CalibrationData(
        frame["y"], frame["p"], cluster=frame["Patient ID"]
    )
