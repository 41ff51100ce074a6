"""Scores of the opposite outcome are named before an update is advised."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main
from bayescal.cli._reversed import seem_reversed

TOLD = "the scores seem to be reversed"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    y, s = bc.simulate.sample("calibrated", 200, random_state=1)
    path = tmp_path_factory.mktemp("reversed") / "cases.csv"
    pd.DataFrame({"died": y, "risk": s, "alive": 1 - s}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(("score", "is_told"), [("risk", False), ("alive", True)])
@pytest.mark.parametrize("command", ["recommend", "recalibrate"])
def test_reversed_scores_are_named(capsys, file, command, score, is_told):
    asked = [command, str(file), "--outcome", "died", "--prob", score, "--seed", "1"]
    if command == "recalibrate":
        asked += ["--output", str(file.with_name("out.csv"))]
    with pytest.raises(SystemExit) as ended:
        main(asked)
    shown = " ".join(" ".join(capsys.readouterr()).split())
    assert (ended.value.code or 0) == 0
    assert (TOLD in shown) is is_told


def test_few_cases_or_one_class_are_not_judged():
    assert not seem_reversed(bc.CalibrationData([1, 0, 1, 0], [0.2, 0.3, 0.4, 0.6]))
    assert not seem_reversed(bc.CalibrationData(np.ones(50), np.linspace(0.1, 0.9, 50)))


def test_it_is_the_c_statistic_whose_interval_is_below_one_half():
    y, s = bc.simulate.sample("calibrated", 200, random_state=2)
    assert seem_reversed(bc.CalibrationData(y, 1 - s))
    assert seem_reversed(bc.CalibrationData(1 - y, s))
    assert not seem_reversed(bc.CalibrationData(y, s))


def test_sites_and_imputations_are_judged_together():
    y, s = bc.simulate.sample("calibrated", 200, random_state=2)
    site = np.arange(200) % 4
    assert seem_reversed(bc.CalibrationData(y, 1 - s, site=site))
    assert not seem_reversed(bc.CalibrationData(y, s, site=site))
    imputation = np.repeat(["1", "2"], 200)
    twice = bc.CalibrationData(np.tile(y, 2), np.tile(1 - s, 2), imputation=imputation)
    assert seem_reversed(twice)


@pytest.mark.parametrize(
    "options", [["--cluster", "patient"], ["--cluster", "patient", "--site", "ward"]]
)
def test_updates_are_recommended_of_clusters(capsys, file, options):
    table = pd.read_csv(file).assign(patient=np.arange(200) // 2, ward=np.arange(200) // 2 % 3)
    path, record = file.with_name("clusters.csv"), file.with_name("clusters.json")
    table.drop(columns="alive").to_csv(path, index=False)
    asked = ["recommend", str(path), "--outcome", "died", "--seed", "1", "--json", str(record)]
    with pytest.raises(SystemExit) as ended:
        main([*asked, *options])
    assert (ended.value.code or 0) == 0
    assert record.is_file()
