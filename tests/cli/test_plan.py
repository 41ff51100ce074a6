"""`bayescal plan`."""

import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main

QUICK = ["--of", "calibration_slope", "--width", "0.4", "--analysis", "wald", "--simulations", "50"]
SETTING = ["--prevalence", "0.2", "--c-statistic", "0.75"]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["plan", *arguments])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), " ".join(shown.out.split()), " ".join(shown.err.split())


def test_it_says_what_python_says(capsys, tmp_path):
    figure = tmp_path / "plan.svg"
    code, out, _ = run(capsys, *QUICK, *SETTING, "--plot", str(figure))
    assert code == 0
    expected = bc.plan(
        truth="clinical", scores=bc.simulate.scores(prevalence=0.2, c_statistic=0.75),
        of="calibration_slope", width=0.4, analysis="wald", n_simulations=50, random_state=0,
    )  # fmt: skip
    assert f"Include {expected.n:,} patients" in out
    assert figure.stat().st_size > 1000


def test_a_pilot_has_scores_and_may_be_the_truth(capsys, tmp_path):
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    pilot = tmp_path / "pilot.csv"
    pd.DataFrame({"outcome": y_true, "score": y_prob}).to_csv(pilot, index=False)
    code, out, _ = run(capsys, str(pilot), *QUICK, "--truth", "pilot")
    assert code == 0
    assert "a posterior of 300 cases" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (QUICK, "--prevalence and --c-statistic are missing"),
        ([*QUICK, "--prevalence", "0", "--c-statistic", "0.7"], "prevalence must be from"),
        ([*SETTING], "width is missing"),
        ([*QUICK, *SETTING, "--truth", "pilot"], "--truth pilot needs"),
        ([*QUICK, *SETTING, "--icc", "0.1"], "--icc was given without"),
    ],
)
def test_mistakes_are_one_line(capsys, arguments, message):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert message in err
