"""`bayescal recalibrate`: what is written, and what later commands make of it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayescal as bc

NAMES = ("--outcome", "died", "--prob", "risk", "--method", "intercept")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def cases(seed=1):
    y, s = bc.simulate.sample("clinical-middle-overconfident", 120, random_state=seed)
    return pd.DataFrame({"died": y.astype(int), "risk": s.round(4)})


@pytest.mark.slow
def test_the_mark_of_the_file_itself_says_what_its_map_was_fitted_to(run):
    cases(1).to_csv("past.csv", index=False)
    cases(2).to_csv("base.csv", index=False)
    fit = ("recalibrate", "past.csv", *NAMES, "--new", "base.csv", "--output", "upd.csv")
    assert run(*fit).code == 0
    assert run("recalibrate", "base.csv", *NAMES, "--output", "other.csv").code == 0
    judge = ("--outcome", "died", "--prob", "risk", "--prob", "risk_recalibrated")
    assert "assumed to be fitted to other patients" in run("compare", "upd.csv", *judge).told
    Path("upd.csv.bayescal.json").unlink()
    assert "other.csv.bayescal.json says" in run("compare", "upd.csv", *judge).told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "output", "separator", "decimal"),
    [
        ("semi.csv", "rec.csv", ";", ","),
        ("semi.csv", "rec.tsv", "\t", ","),
        ("points.csv", "rec.csv", ";", "."),
        ("plain.csv", "rec.csv", ",", "."),
        ("plain.csv", "rec.tsv", "\t", "."),
        ("tabs.txt", "rec.csv", "\t", "."),
    ],
)
def test_separator_and_decimal_mark_are_those_of_the_source(
    run, source, output, separator, decimal
):
    written = {"semi.csv": (";", ","), "points.csv": (";", "."), "plain.csv": (",", ".")}
    sep, mark = written.get(source, ("\t", "."))
    cases().to_csv(source, sep=sep, decimal=mark, index=False)
    assert run("recalibrate", source, *NAMES, "--output", output).code == 0
    made = pd.read_csv(output, sep=separator, decimal=decimal)
    pd.testing.assert_frame_equal(made[["died", "risk"]], cases(), check_dtype=False)
    assert made["risk_recalibrated"].between(0, 1).all()
    judge = ("--outcome", "died", "--prob", "risk", "--prob", "risk_recalibrated")
    assert run("compare", output, *judge).code == 0


@pytest.mark.parametrize("apart", [False, True])
def test_rows_without_a_score_keep_empty_cells(run, refused, apart):
    frame = cases()
    frame.to_csv("past.csv", index=False)
    frame["risk"] = frame["risk"].where(~frame.index.isin([2, 7]))
    frame.to_csv("gaps.csv", index=False)
    files = ("past.csv", "--new", "gaps.csv") if apart else ("gaps.csv",)
    how = (*NAMES, "--output", "out.csv")
    told = refused("recalibrate", *files, *how)
    assert "--drop-missing" in told
    assert "the first on line 4 of gaps.csv" in told
    kept = run("recalibrate", *files, *how, "--drop-missing")
    assert kept.code == 0
    assert "2 rows of gaps.csv without a score: the new cells are empty there." in kept.told
    made = pd.read_csv("out.csv")["risk_recalibrated"]
    np.testing.assert_array_equal(made.isna(), frame["risk"].isna())
    past = cases() if apart else frame.dropna()
    fitted = bc.recalibrate.InterceptRecalibrator().fit(past["risk"], past["died"])
    known = frame["risk"].dropna()
    np.testing.assert_allclose(made.dropna(), fitted.transform(known))


@pytest.mark.slow
def test_it_says_which_map_was_written(run):
    y, s = bc.simulate.sample("clinical-middle-overconfident", 100, random_state=1)
    pd.DataFrame({"died": y, "risk": s}).to_csv("old.csv", index=False)
    told = ("--outcome", "died", "--prob", "risk", "--seed", "1", "--output", "new.csv")
    assert (
        "has the posterior mean of the averaged curve" in run("recalibrate", "old.csv", *told).told
    )
    named = run("recalibrate", "old.csv", *told, "--method", "isotonic")
    assert "has what --method isotonic fitted, whatever is recommended" in named.told
