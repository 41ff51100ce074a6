"""`bayescal recommend` and `bayescal compare-models`: what Python's doors say of several sites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal import fitting, gain
from bayescal.cli.app import main


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(3)
    x = rng.normal(-1, 1, 300)
    y = (rng.random(300) < expit(x + 0.7)).astype(int)
    frame = pd.DataFrame({"y": y, "p": expit(x), "q": expit(x + 0.7)})
    frame["clinic"] = np.repeat(["C0", "C1", "C2"], 100)
    path = tmp_path_factory.mktemp("sites") / "both.csv"
    frame.to_csv(path, index=False)
    return path


def run(capsys: Any, *arguments: Any) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(part) for part in arguments])
    streams = capsys.readouterr()
    return stop.value.code, " ".join(streams.out.split()), " ".join(streams.err.split())


def with_few_draws(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[Any]:
    """Let a door draw little, and keep what it returns."""
    door, kept = getattr(module, name), []

    def few(*args: Any, **options: Any) -> Any:
        kept.append(door(*args, draws=200, **options))
        return kept[-1]

    monkeypatch.setattr(module, name, few)
    return kept


def test_recommend_says_what_python_says(
    capsys: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, record = with_few_draws(monkeypatch, gain, "recommend"), tmp_path / "advice.json"
    options = ("--outcome", "y", "--prob", "p", "--seed", 1, "--json", record)
    code, out, err = run(capsys, "recommend", table, *options, "--site", "clinic")
    told, (advice,) = json.loads(record.read_text("utf-8")), asked
    assert (code, err) == (0, "")
    assert advice.post.labels == ("C0", "C1", "C2")
    assert (told["choice"], told["told"]) == (advice.choice, str(advice))
    rows = pd.DataFrame(told["by_curve"]).set_index("curve")
    expected = advice.by_curve()
    assert list(rows.index) == list(expected.index)
    np.testing.assert_allclose(rows["prob_better"], expected["prob_better"])
    for title in ("The average of 3 sites", "C2", "P(better)", "Recommended: "):
        assert f" {title}" in out


def test_recommend_of_one_population(capsys: Any, table: Path) -> None:
    options = ("--outcome", "y", "--prob", "q", "--seed", 1, "--threshold", 0.3)
    options += ("--ignore-column", "clinic")
    code, out, _ = run(capsys, "recommend", table, *options)
    assert code == 0
    assert "Rise of net benefit" in out
    assert "The net benefit at the threshold 0.3 decides." in out
    assert "C0" not in out


def test_compare_models_says_what_python_says(
    capsys: Any, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, record = with_few_draws(monkeypatch, fitting, "compare_models"), tmp_path / "models.json"
    options = ("--outcome", "y", "--model", "p", "--model", "q", "--seed", 1, "--json", record)
    code, out, err = run(capsys, "compare-models", table, *options, "--site", "clinic")
    frame, told = pd.read_csv(table), json.loads(record.read_text("utf-8"))
    (result,) = asked
    assert (code, err) == (0, "")
    for model in ("p", "q"):
        data = result.posts[model].data
        assert data.events == frame["y"].sum()
        assert data.score.sum() == pytest.approx(frame[model].sum())
    for measure, rows in told["differences"].items():
        expected = result.table(measure)
        np.testing.assert_allclose([row["difference"] for row in rows], expected["difference"])
        assert [row["population"] for row in rows] == list(expected.index)
    assert told["models"] == ["p", "q"]
    assert "C-statistic, difference" in out


MODELS = ("--outcome", "y", "--model", "p", "--model", "q")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--outcome", "y", "--model", "p", "--site", "clinic"), "--model old --model new"),
        ((*MODELS, "--model", "q", "--site", "clinic"), "each once"),
        ((*MODELS, "--prob", "p", "--site", "clinic"), "--prob is for one model"),
        ((*MODELS, "--horizon", "5"), "--horizon goes with --time"),
        (("--time", "y", "--model", "p", "--model", "q"), "--event is missing"),
        (("--outcome", "y", "--model", "p", "--model", "r", "--site", "clinic"), "--model: there"),
        (
            (*MODELS, "--site", "clinic", "--cluster", "y", "--stratum", "y"),
            "--stratum is not",
        ),
    ],
)
def test_what_models_lack_is_told(
    capsys: Any, table: Path, options: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, "compare-models", table, *options)
    assert code == 2
    assert message in out + err


@pytest.mark.slow
def test_models_of_times_are_compared_as_in_python(capsys: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    p, years = rng.uniform(0.05, 0.9, 200), rng.exponential(4, 200)
    frame = pd.DataFrame({"years": years, "died": rng.random(200) < p, "p": p, "q": p**2})
    frame.to_csv(tmp_path / "times.csv", index=False)
    typed = ["--time", "years", "--event", "died", "--horizon", "5", "--model", "p", "--model", "q"]
    told = tmp_path / "told.json"
    code, _, err = run(
        capsys, "compare-models", tmp_path / "times.csv", *typed, "--seed", "1", "--json", told
    )
    assert code == 0, err
    outcome = bc.Survival(frame["years"], frame["died"])
    models = {"p": frame["p"], "q": frame["q"]}
    result = bc.compare_models(outcome, models, horizon=5, random_state=1)
    (row,) = json.loads(told.read_text())["differences"]["tce"]
    assert row["difference"] == pytest.approx(result.summary()["difference"]["tce", "q"])


def test_a_score_that_is_none_is_told_by_its_column(capsys: Any, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.6, 0.3, 0.5], "q": [0.1, 1.7, 0.4, 0.6]}).assign(
        clinic=["a", "a", "b", "b"]
    ).to_csv(wrong, index=False)
    code, out, err = run(capsys, "compare-models", wrong, *MODELS, "--site", "clinic")
    assert code == 2
    assert "column 'q': 1.7 is outside [0, 1] on line 3" in out + err
