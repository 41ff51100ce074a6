"""`bayescal monitor`: what it says is what Python says, with the assumption first."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main
from bayescal.cli._monitor import decision_in_words


@pytest.fixture(scope="module")
def cases():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 240, random_state=1)
    return pd.DataFrame({"died": y, "risk": s, "hospital": np.arange(240) % 4})


@pytest.fixture(scope="module")
def files(cases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("monitor")
    cases.to_csv(folder / "known.csv", index=False)
    new = np.clip(cases["risk"].to_numpy() + 0.1, 0, 1)
    pd.DataFrame({"risk": new}).to_csv(folder / "new.csv", index=False)
    return folder, new


def run(capsys, folder, *arguments: str) -> tuple[int, str, str]:
    told = ["--outcome", "died", "--prob", "risk", "--seed", "1", *arguments]
    with pytest.raises(SystemExit) as ended:
        main(["monitor", str(folder / "known.csv"), str(folder / "new.csv"), *told])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), " ".join(shown.out.split()), " ".join(shown.err.split())


def test_it_says_what_python_says(capsys, cases, files):
    folder, new = files
    record = folder / "record.json"
    code, out, _ = run(capsys, folder, "--independent", "--threshold", "0.2", "--json", str(record))
    assert code == 0
    seen = bc.fit(cases["died"], cases["risk"], random_state=1).on(new)
    table, shifts = seen.performance_summary([0.2]), seen.shift_to_change([0.2])
    stored = json.loads(record.read_text("utf-8"))
    for name, row in table.iterrows():
        assert stored["expected"][name]["lower"] == pytest.approx(row["lower"])
    assert stored["outside"] == pytest.approx(seen.outside)
    assert decision_in_words(0.2, shifts.loc[0.2]) in out
    first = [out.index(text) for text in ("if the curve is unchanged", "new scores", "Brier score")]
    assert first == sorted(first)
    assert "treated because of their score" in out


def test_with_sites_the_new_patients_are_of_another_hospital(capsys, files):
    folder, _ = files
    record = folder / "site.json"
    code, out, _ = run(capsys, folder, "--site", "hospital", "--json", str(record))
    assert code == 0
    assert "240 new scores of a new site" in out
    wide = json.loads(record.read_text("utf-8"))["expected"]["events"]
    run(capsys, folder, "--independent", "--json", str(record))
    narrow = json.loads(record.read_text("utf-8"))["expected"]["events"]
    assert wide["upper"] - wide["lower"] > narrow["upper"] - narrow["lower"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--site", "hospital", "--period", "died"), "--site and --period"),
        (("--threshold", "2"), "threshold"),
    ],
)
def test_mistakes_are_one_line(capsys, files, arguments, told):
    code, _, err = run(capsys, files[0], *arguments)
    assert code == 2
    assert told in err


def test_a_file_without_the_scores_is_refused(capsys, files, cases):
    folder, _ = files
    cases[["died"]].to_csv(folder / "none.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(["monitor", str(folder / "known.csv"), str(folder / "none.csv"),
              "--outcome", "died", "--prob", "risk", "--independent"])  # fmt: skip
    assert ended.value.code == 2
    assert "no column 'risk'" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (("model", -1.0, 0.5, 1.65), "treat by the model. It stays best unless all risks shift, "
         "in log-odds, below -1.00 or above +0.50 (the nearer: odds 1.65 times as high)."),
        (("treat all", -1.0, np.inf, 0.37), "treat everyone. It stays best unless all risks shift, "
         "in log-odds, below -1.00 (odds 0.37 times as high)."),
        (("treat none", -np.inf, np.inf, 1), "treat no one, however the risks shift."),
    ],
)  # fmt: skip
def test_decisions_in_words(row, told):
    values = pd.Series(dict(zip(("best", "lower", "upper", "odds_ratio"), row, strict=True)))
    assert decision_in_words(0.2, values).endswith(told)


@pytest.mark.parametrize("option", ["--horizon", "--time", "--entry"])
def test_times_are_options_of_assess_alone(capsys, files, option):
    code, _, told = run(capsys, files[0], option, "5")
    assert code == 2
    assert f"No such option: {option}" in told
