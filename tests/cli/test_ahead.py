"""Cases whose outcomes are not known: one case, new ones, and a file with empty outcomes."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.fitting import ahead

NAMES = ("cases.csv", "--outcome", "died", "--prob", "risk", "--seed", "1")


@pytest.fixture
def cases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, s = bc.simulate.sample("clinical-middle-overconfident", 240, random_state=1)
    hospital = np.resize(["A", "B", "C"], 240)
    frame = pd.DataFrame({"died": y, "risk": s, "hospital": hospital})
    frame.to_csv("cases.csv", index=False)
    pd.DataFrame({"risk": np.clip(s + 0.1, 0, 1)}).to_csv("new.csv", index=False)
    return frame


def numbers(run, *words):
    result = run(*words, "--json", "-")
    assert result.code == 0, result.err
    return json.loads(result.out)


# One case


@pytest.mark.slow
def test_a_case_here_on_average_and_elsewhere(run, cases):
    where = ("--site", "hospital", "--at", "B", "--case", "0.18", "--threshold", "0.2")
    told = numbers(run, *NAMES, *where, "--plot", "f.svg")
    post = bc.fit(
        cases["died"], cases["risk"], site=cases["hospital"], curve="logistic", random_state=1
    )
    table = post.risks(0.18, 0.2, at="B")
    assert [row["curve"] for row in told["risks"]] == ["B", "average site", "new site"]
    for row, (_, own) in zip(told["risks"], table.iterrows(), strict=True):
        assert [row[name] for name in own.index] == pytest.approx(own.tolist())
    shown = run(*NAMES, *where).told
    assert "P(other decision at 0.2)" in shown
    assert "A model in use changes outcomes" in shown
    assert "With fewer than 5 groups the data say little of a new one" in shown


def test_cases_of_one_curve(run, cases):
    shown = run(*NAMES, "--ignore-column", "hospital", "--case", "0.1", "--case", "0.6").told
    post = bc.fit(cases["died"], cases["risk"], random_state=1)
    for row in post.risks([0.1, 0.6]).to_dict("records"):
        assert f"{row['lower']:.2f} to {row['upper']:.2f}" in shown
    assert "P(other decision" not in shown


@pytest.mark.parametrize(
    ("scale", "typed", "back"),
    [("percent", "20", lambda p: 100 * p), ("logit", "-1.4", lambda p: np.log(p / (1 - p)))],
)
def test_a_score_is_typed_on_the_scale_of_the_scores(run, refused, cases, scale, typed, back):
    cases.assign(risk=back(cases["risk"])).to_csv("cases.csv", index=False)
    told = numbers(run, *NAMES, "--ignore-column", "hospital", "--scale", scale, "--case", typed)
    (row,) = told["risks"]
    assert row["score"] == pytest.approx(0.2 if scale == "percent" else 1 / (1 + np.exp(1.4)))
    line = refused(*NAMES, "--scale", "percent", "--case", "101")
    assert "--case 101 is outside [0, 100]; scores are percentages." in line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--case", "0.2", "--at", "A"], "--at goes with --site or --subgroup"),
        (["--case", "0.2", "--site", "hospital", "--period", "risk"], "give one, or none"),
        (["--case", "0.2", "--new", "new.csv"], "Take one"),
        (["--case", "0.2", "--limit", ".1"], "--limit goes with an assessment"),
        (["--case", "1.2"], "--case 1.2 is outside [0, 1]"),
        (["--new", "new.csv", "--subgroup", "hospital"], "Leave --subgroup out"),
        (["--new", "none.csv", "--site", "hospital"], "there is no file"),
    ],
)
def test_what_cannot_be_is_named(refused, cases, words, told):
    assert told in refused(*NAMES, *words)


def test_levels_of_a_factor_are_no_sites(run, cases):
    shown = run(*NAMES, "--subgroup", "hospital", "--case", "0.2").told
    assert "new level of hospital" in shown
    assert "new site" not in shown


# New cases


def test_new_cases_are_told_as_in_python(run, cases):
    told = numbers(run, *NAMES, "--independent", "--new", "new.csv", "--threshold", "0.2")
    new = pd.read_csv("new.csv")["risk"]
    seen = bc.fit(cases["died"], cases["risk"], random_state=1).on(new)
    for name, row in seen.performance_summary([0.2]).iterrows():
        assert told["expected"][name]["lower"] == pytest.approx(row["lower"])
    assert told["outside"] == pytest.approx(seen.outside)
    shown = run(*NAMES, "--independent", "--new", "new.csv", "--threshold", "0.2").told
    assert "of 240 new cases." in shown
    assert "At 0.2 the best decision is" in shown
    assert "if the curve is unchanged" in shown


def test_with_sites_they_are_of_another_hospital(run, cases):
    wide = numbers(run, *NAMES, "--site", "hospital", "--new", "new.csv")["expected"]["events"]
    narrow = numbers(run, *NAMES, "--independent", "--new", "new.csv")["expected"]["events"]
    assert wide["upper"] - wide["lower"] > narrow["upper"] - narrow["lower"]
    shown = run(*NAMES, "--site", "hospital", "--new", "new.csv").told
    assert "of 240 new cases of another site." in shown


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
    values = dict(zip(("best", "lower", "upper", "odds_ratio"), row, strict=True))
    assert ahead._decision(0.2, values).endswith(told)


# Outcomes that are empty


@pytest.fixture
def gaps(cases):
    known = np.random.default_rng(1).random(240) < np.where(cases["risk"] > 0.3, 0.9, 0.4)
    frame = cases.drop(columns="hospital").assign(died=cases["died"].where(known))
    frame.to_csv("cases.csv", index=False)
    return frame


def test_empty_outcomes_are_kept_in_the_population(run, gaps):
    result = run(*NAMES)
    known = int(gaps["died"].notna().sum())
    assert result.code == 0
    assert f"240 cases, of whom {known} have a known outcome" in result.told
    shown = bc.fit_known(gaps["died"], gaps["risk"], random_state=1).posterior.interval("tce")
    assert f"{shown[0]:.2f} to {shown[1]:.2f}" in result.told


@pytest.mark.usefixtures("quick")
def test_they_can_be_left_out(run, gaps):
    told = numbers(run, *NAMES, "--drop-missing")
    assert told["cases"] == gaps["died"].notna().sum()


@pytest.mark.slow
def test_so_they_are_with_hospitals(run, gaps):
    gaps.assign(ward=np.arange(240) % 3).to_csv("cases.csv", index=False)
    known = int(gaps["died"].notna().sum())
    assert f"240 cases, of whom {known} have a known outcome" in run(*NAMES, "--site", "ward").told


def test_a_comparison_of_families_takes_none_and_says_what_does(refused, gaps):
    line = refused("compare", *NAMES)
    assert "leave them out with --drop-missing" in line
    assert "An assessment keeps the scores of those without an outcome." in line


def test_where_scores_are_missing_too_nothing_is_kept(refused, gaps):
    gaps.assign(risk=gaps["risk"].where(gaps.index > 3)).to_csv("cases.csv", index=False)
    line = refused(*NAMES)
    assert "4 in 'risk', the first on line 2 of cases.csv" in line
    assert "leave them out with --drop-missing, and the rows without an outcome too" in line


def test_all_outcomes_are_missing(refused, gaps):
    gaps.assign(died=None).to_csv("cases.csv", index=False)
    assert "every outcome is missing in cases.csv" in refused(*NAMES)


@pytest.mark.parametrize(("value", "told"), [("3", "3 is neither 0 nor 1 on line"), ("-1", "-1")])
def test_a_wrong_outcome_is_told_by_its_line(refused, gaps, value, told):
    with open("cases.csv", encoding="utf-8") as file:
        lines = file.read().splitlines()
    at = next(k for k, line in enumerate(lines) if k > 50 and not line.startswith(","))
    lines[at] = f"{value},0.5"
    with open("cases.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    line = refused(*NAMES)
    assert told in line
    assert f"on line {at + 1} of cases.csv" in line
    assert "fit(labels" not in line
