"""Clusters on the command line, and the question where ids repeat."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main


@pytest.fixture
def table(tmp_path):
    y, s = bc.simulate.sample("clinical-middle-overconfident", 120, random_state=1)
    frame = pd.DataFrame({"Patient ID": np.arange(120) // 6, "y": y, "p": s, "area": 0})
    frame["area"] = frame["Patient ID"] // 10
    path = tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    return path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(part) for part in arguments])
    code = stop.value.code
    streams = capsys.readouterr()
    return code, " ".join(streams.out.split()), " ".join(streams.err.split())


ASKED = (
    "column 'Patient ID' repeats (120 rows, 20 ids). If rows of one Patient ID are not independent"
)


@pytest.mark.parametrize("command", ["assess", "compare"])
def test_ids_that_repeat_are_asked_about(capsys, table, command):
    code, out, err = run(capsys, command, table, "--outcome", "y", "--prob", "p")
    assert code == 2
    assert not out
    assert ASKED in err
    assert "--cluster" in err
    assert "--independent" in err


def test_either_answer_is_taken(capsys, table, tmp_path):
    told = (table, "--outcome", "y", "--prob", "p", "--seed", 1)
    record = tmp_path / "numbers.json"
    code, out, _ = run(capsys, "assess", *told, "--independent", "--json", record)
    assert code == 0
    assert "clusters" not in out
    alone = json.loads(record.read_text())
    code, out, _ = run(capsys, "assess", *told, "--cluster", "Patient ID", "--stratum", "area",
                       "--json", record)  # fmt: skip
    assert code == 0
    clustered = json.loads(record.read_text())
    assert clustered["source"]["cluster"] == "Patient ID"
    assert clustered["functionals"]["tce"] != alone["functionals"]["tce"]


def test_what_is_no_question(capsys, table, tmp_path):
    frame = pd.read_csv(table)
    single = tmp_path / "single.csv"
    frame.assign(**{"Patient ID": np.arange(120)}).to_csv(single, index=False)
    options = ("--outcome", "y", "--prob", "p", "--seed", 1)
    assert run(capsys, "assess", single, *options)[0] == 0
    frame.rename(columns={"Patient ID": "visit"}).to_csv(single, index=False)
    assert run(capsys, "assess", single, *options)[0] == 0


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
def test_what_does_not_go_together(capsys, table, options, message):
    code, _, err = run(capsys, "assess", table, "--outcome", "y", "--prob", "p", *options)
    assert code == 2
    assert message in err


def test_cases_without_a_cluster_are_refused_or_left_out(capsys, table, tmp_path):
    frame = pd.read_csv(table).astype({"Patient ID": object})
    frame.loc[3, "Patient ID"] = None
    gaps = tmp_path / "gaps.csv"
    frame.to_csv(gaps, index=False)
    options = ("--outcome", "y", "--prob", "p", "--cluster", "Patient ID", "--seed", 1)
    code, _, err = run(capsys, "assess", gaps, *options)
    assert code == 2
    assert "1 of 120 rows lack an outcome, a score, a weight or a value of Patient ID" in err
    code, out, _ = run(capsys, "assess", gaps, *options, "--drop-missing")
    assert code == 0
    assert "1 of 120 rows left out" in out


def test_clusters_lie_in_several_parquet_files_that_are_added(capsys, table, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = pd.read_csv(table)
    frame[::2].to_parquet(folder / "one.parquet")
    frame[1::2].to_parquet(folder / "two.parquet")
    options = ("--outcome", "y", "--prob", "p", "--cluster", "Patient ID")
    for name in ("one", "two"):
        file = folder / f"{name}.parquet"
        code, *_ = run(capsys, file, *options, "--update", tmp_path / "all.nc")
        assert code == 0
    assert bc.CalibrationData.from_netcdf(tmp_path / "all.nc") == bc.CalibrationData(
        frame["y"], frame["p"], cluster=frame["Patient ID"]
    )


@pytest.mark.slow
def test_the_gain_of_clustered_cases(capsys, table, tmp_path):
    frame = pd.read_csv(table).assign(q=lambda it: it["p"] ** 1.2)
    file, record = tmp_path / "both.csv", tmp_path / "gain.json"
    frame.to_csv(file, index=False)
    columns = ("--outcome", "y", "--prob", "p", "--prob", "q", "--seed", 1)
    options = (*columns, "--cluster", "Patient ID", "--json", record)
    code, out, _ = run(capsys, "compare", file, *options)
    assert code == 0
    assert "bootstrap of the 20 clusters" in " ".join(out.split())
    gain = bc.recalibration_gain(
        frame["y"], frame["p"], frame["q"], cluster=frame["Patient ID"], random_state=1
    )
    told = json.loads(record.read_text())
    assert told["source"]["cluster"] == "Patient ID"
    assert told["gain"]["brier"]["estimate"] == pytest.approx(gain.summary()["estimate"]["brier"])


@pytest.mark.slow
def test_clusters_inside_sites_and_periods_are_assessed(capsys, tmp_path):
    y, s = bc.simulate.sample("calibrated", 300, random_state=1)
    table = pd.DataFrame({"y": y, "p": s, "patient": np.arange(300) // 2})
    table["ward"], table["year"] = table["patient"] % 3, 2020 + table["patient"] % 3
    path = tmp_path / "visits.csv"
    table.to_csv(path, index=False)
    for name in ("site", "period"):
        column = {"site": "ward", "period": "year"}[name]
        rest = ("--ignore-column", {"site": "year", "period": "ward"}[name], "--seed", 1)
        options = ("--outcome", "y", "--prob", "p", f"--{name}", column, "--cluster", "patient")
        code, out, err = run(capsys, "assess", path, *options, *rest)
        assert code == 0, err
        assert "cases come in 150 clusters" in " ".join((out + err).split())
