"""`bayescal compare`: families of curves, models on the same cases, and maps of one model."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import bayescal as bc

N = 300


@pytest.fixture(scope="module")
def frame():
    y, p = bc.simulate.sample("clinical-middle-overconfident", N, random_state=2)
    noise = np.random.default_rng(9).normal(0, 0.5, N)
    return pd.DataFrame(
        {
            "y": y,
            "p": p,
            "map": expit(0.6 * logit(p) - 0.4),
            "other": expit(logit(p) + noise),
            "clinic": np.repeat(["C0", "C1", "C2"], 100),
        }
    )


@pytest.fixture
def file(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("models.csv", index=False)
    return Path("models.csv")


FAMILIES = ("compare", "models.csv", "--outcome", "y", "--prob", "p", "--ignore-column", "clinic")
MODELS = ("compare", "models.csv", "--outcome", "y", "--ignore-column", "clinic", "--prob", "p")


def numbers(run, *words):
    result = run(*words, "--json", "-")
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_of_one_model_families_are_compared(run, file, frame):
    told = numbers(run, *FAMILIES, "--seed", 1)
    again = bc.compare(frame["y"], frame["p"], random_state=1)
    assert told["prob_calibrated"] == pytest.approx(again.prob_calibrated)
    assert run(*FAMILIES).told == run(*FAMILIES).told  # the seed has a default


@pytest.mark.slow
@pytest.mark.parametrize("door", ["compare", "assess"])
def test_models_are_compared_as_in_python(run, file, frame, door):
    told = numbers(run, door, *MODELS[1:], "--prob", "other", "--seed", 1)
    models = {name: frame[name] for name in ("p", "other")}
    result = bc.compare_models(frame["y"], models, random_state=1)
    rows = result.summary().to_dict("index")
    difference = rows["brier", "other"]["difference"]
    assert told["differences"]["brier, other"]["difference"] == pytest.approx(difference)
    assert told["source"]["models"] == "p, other"
    shown = run(door, *MODELS[1:], "--prob", "other", "--seed", 1).told
    for text in result.page().answer:
        assert text in shown


@pytest.mark.slow
def test_models_of_several_sites(run, file):
    words = ("compare", "models.csv", "--outcome", "y", "--prob", "p", "--prob", "other")
    shown = run(*words, "--site", "clinic", "--threshold", 0.2).told
    assert "Average of 3 sites" in shown or "average" in shown
    assert "0.2, other" in shown


def test_a_map_of_the_first_is_a_gain(run, file, frame):
    told = numbers(run, *MODELS, "--prob", "map", "--threshold", 0.1, "--seed", 4)
    gain = bc.recalibration_gain(
        frame["y"], frame["p"], frame["map"], thresholds=(0.1,), random_state=4
    )
    lower, _ = gain.interval("brier")
    assert told["gain"]["brier"]["lower"] == pytest.approx(lower)
    assert "net_benefit@0.1" in told["gain"]
    assert not told["in_sample"]
    assert numbers(run, *MODELS, "--prob", "map", "--in-sample")["in_sample"]


def test_a_map_that_was_fitted_to_these_cases_is_known(run, file, frame):
    own = bc.recalibrate.LogisticRecalibrator().fit(frame["p"], frame["y"]).transform(frame["p"])
    frame.assign(map=own).to_csv("models.csv", index=False)
    assert numbers(run, *MODELS, "--prob", "map")["in_sample"]


@pytest.mark.slow
def test_a_mark_tells_it_of_a_map_that_leaves_no_trace(run, file, frame):
    fit = ("recalibrate", "models.csv", "--outcome", "y", "--prob", "p", "--seed", 1)
    assert run(*fit, "--output", "own.csv").code == 0
    pd.read_csv("own.csv").sample(frac=1, random_state=0).to_csv("renamed.csv", index=False)
    judge = ("--outcome", "y", "--prob", "p", "--prob", "p_recalibrated")
    for name in ("own.csv", "renamed.csv"):
        result = run("compare", name, *judge, "--ignore-column", "clinic")
        assert "own.csv.bayescal.json says that the map was fitted to these cases." in result.told
    frame.sample(200, random_state=1).to_csv("others.csv", index=False)
    assert run(*fit, "--new", "others.csv", "--output", "new.csv").code == 0
    Path("bad.bayescal.json").write_text("[]")
    told = numbers(run, "compare", "new.csv", *judge, "--ignore-column", "clinic")
    assert not told["in_sample"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--prob", "p"), "names the same column twice"),
        (("--prob", "nosuch"), "--prob: there is no column 'nosuch'"),
        (("--prob", "other", "--threshold", "2"), "--threshold must lie strictly"),
        (("--prob", "other", "--horizon", "5"), "--horizon goes with --time"),
        (("--site", "clinic"), "--site goes with the second --prob"),
        (("--prob", "other", "--imputation", "clinic"), "--imputation goes with one --prob"),
        (("--prob", "other", "--in-sample"), "--in-sample goes with a second --prob that is a map"),
    ],
)
def test_what_does_not_go_together(refused, file, words, message):
    assert message in refused(*MODELS, *words)


@pytest.mark.parametrize("option", [("--limit", ".1"), ("--case", ".1"), ("--period", "clinic")])
def test_an_assessment_of_several_models_is_a_comparison(refused, file, option):
    line = refused(*MODELS[1:], "--prob", "other", *option)
    assert f"{option[0]} goes with one --prob." in line


def test_a_score_that_is_none_is_told_by_its_column(refused, file, frame):
    wrong = frame.copy()
    wrong.loc[1, "other"] = 1.7
    wrong.to_csv("models.csv", index=False)
    assert "column 'other': 1.7 is outside [0, 1] on line 3" in refused(*MODELS, "--prob", "other")


def test_incomplete_rows_are_left_out_when_told(run, refused, file, frame):
    gaps = frame.copy()
    gaps.loc[3, "map"] = gaps.loc[5, "p"] = np.nan
    gaps.to_csv("models.csv", index=False)
    assert "2 of 300 rows" in refused(*MODELS, "--prob", "map")
    assert "2 of 300 rows left out" in run(*MODELS, "--prob", "map", "--drop-missing").told
