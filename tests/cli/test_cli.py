"""The command line: what it reads, what it says, and how it says no."""

from __future__ import annotations

import gzip
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main
from bayescal.core.text import chance
from bayescal.errors import DiagnosticWarning
from bayescal.model.curves import CURVES

N, EVENTS = 100, 28
ONE = ("--curve", "beta")  # one family, where the tables are not the point


@dataclass
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capsys, monkeypatch) -> Run:
    """The command as a shell would see it, 80 columns wide."""
    monkeypatch.setenv("COLUMNS", "80")

    def invoke(*arguments: object) -> Result:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(left.value.code or 0, captured.out, captured.err)

    return invoke


@pytest.fixture(scope="module")
def patients() -> pd.DataFrame:
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", N, random_state=6)
    return pd.DataFrame({"id": np.arange(N), "p": y_prob, "y": y_true})


@pytest.fixture
def csv(tmp_path, patients) -> Path:
    path = tmp_path / "predictions.csv"
    patients.to_csv(path, index=False)
    return path


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers(item)
    elif isinstance(value, (int, float)):
        yield value


def complains(result: Result) -> str:
    """The one line on stderr."""
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert result.err.startswith("Error: ")
    return result.err.strip()


# The demo


@pytest.mark.slow
def test_demo_runs_and_leaves_its_files(run, tmp_path) -> None:
    plot, record, html = (tmp_path / f"out.{suffix}" for suffix in ("png", "json", "html"))
    result = run("demo", "--plot", plot, "--json", record, "--html", html)
    assert (result.code, result.err) == (0, "")
    printed = " ".join(result.out.split())
    assert "malignant" in printed
    assert "Yes, the model is off: its risks are too extreme, over-confident (slope 0." in printed
    assert "Recommended: " in printed
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "<h1>Calibration of boosted trees" in html.read_text("utf-8")
    document = json.loads(record.read_text())
    assert all(math.isfinite(number) for number in numbers(document))
    assert document["cases"] == 150
    assert set(document["functionals"]) == set(bc.functionals.usual_functionals())
    assert document["functionals"]["calibration_slope"]["upper"] < 1  # over-confident, as announced
    assert document["functionals"]["tce"]["lower"] > 0
    assert document["functionals"]["tce"]["estimate"] > 0.02


# What assess says


@pytest.mark.slow
def test_assess_tells_what_the_assessment_says(run, csv, patients, tmp_path) -> None:
    record = tmp_path / "out.json"
    result = run("assess", csv, "--seed", "7", "--close", "0.05", "--json", record)
    assert (result.code, result.err) == (0, "")
    a = bc.assess(patients["y"], patients["p"], close=0.05, random_state=7)
    printed, document = " ".join(result.out.split()), json.loads(record.read_text())
    for text in (a.headline(), str(a.recommendation), *a.notes):
        assert text in printed
    for row in a.tables["estimators"].rows:
        assert row.label in printed
    assert document["headline"] == a.headline()
    assert document["close"] == 0.05
    assert document["sha256"] == a.sha256
    assert document["source"]["outcome"] == "y"
    for name, row in a.summary().iterrows():
        for key in ("estimate", "mean", "median", "lower", "upper"):
            assert document["functionals"][name][key] == pytest.approx(row[key], rel=1e-12)
    assert "average of near, noise, beta, lapse, spline and pieces" in printed
    assert "Seed 7 repeats these numbers." in printed
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.slow
def test_assess_writes_the_report(run, csv, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a long path would be shortened in the page
    html = tmp_path / "report.html"
    result = run("assess", csv.name, "--seed", 7, "--html", html)
    assert result.code == 0
    assert "report.html" in result.out.replace("\n", "")
    page = html.read_text("utf-8")
    assert f"<h1>p in {csv.name}, outcome y</h1>" in page
    for told in (">predictions.csv<", ">Outcome<", ">y<"):
        assert told in page


@pytest.mark.slow
def test_assess_takes_groups(run, csv, patients, tmp_path) -> None:
    record = tmp_path / "out.json"
    sites = np.where(patients["id"] % 2, "\x1b[31mnorth", "[bold]south")
    patients.assign(site=sites).to_csv(csv, index=False)
    result = run("assess", csv, "--site", "site", "--seed", 7, "--json", record)
    assert (result.code, result.err) == (0, "")
    assert "\x1b" not in result.out
    assert "[bold]south" in result.out
    document = json.loads(record.read_text())
    assert set(document["groups"]) == set(sites)
    assert document["cases"] == N
    assert document["source"]["site"] == "site"
    a = bc.assess(patients["y"], patients["p"], site=sites, random_state=7)
    for name, row in a.by_group.iterrows():
        assert document["groups"][name]["tce_estimate"] == row["tce_estimate"]
    line = complains(run("assess", csv, "--seed", 7, "--drop-missing", "--site=x"))
    assert "--site: there is no column 'x'" in line


@pytest.mark.slow
def test_groups_are_text_and_never_missing(run, csv, patients, tmp_path) -> None:
    record = tmp_path / "out.json"
    gaps = patients.assign(site=np.where(patients["id"] < 3, np.nan, patients["id"] % 2))
    gaps.to_csv(csv, index=False)
    line = complains(run("assess", csv, "--site", "site"))
    assert "3 of 100 rows lack an outcome, a score, a weight or a value of site" in line
    options = ("--site", "site", "--drop-missing", "--json", record)
    assert run("assess", csv, *options).code == 0
    assert set(json.loads(record.read_text())["groups"]) == {"0.0", "1.0"}  # as the file has them


def test_too_many_groups_are_refused(run, tmp_path) -> None:
    y_true, y_prob = bc.simulate.sample("calibrated", 201, random_state=0)
    table = pd.DataFrame({"y": y_true, "p": y_prob, "id": np.arange(201)})
    table.to_csv(tmp_path / "ids.csv", index=False)
    result = run("assess", tmp_path / "ids.csv", "--site", "id")
    assert result.code == 2
    assert "holds 201 distinct labels" in result.err
    assert "groups" not in result.err


def test_one_family_tells_what_its_posterior_says(run, csv, patients, tmp_path) -> None:
    record = tmp_path / "out.json"
    columns = ("--outcome", "y", "--prob", "p")
    result = run("assess", csv, *columns, *ONE, "--seed", "7", "--json", record)
    assert (result.code, result.err) == (0, "")
    summary = bc.fit(patients["y"], patients["p"], curve="beta", random_state=7).summary()
    document = json.loads(record.read_text())
    for name, row in summary.iterrows():
        for key in ("estimate", "mean", "median", "lower", "upper"):
            assert document["functionals"][name][key] == pytest.approx(row[key], rel=1e-12)
    estimate, lower, upper = summary.loc["tce", ["estimate", "lower", "upper"]]
    printed = " ".join(result.out.split())
    told = re.search(
        r"The true calibration error is (\S+) \(95 % credible interval (\S+) to (\S+)\)\.", printed
    )
    assert told
    assert [float(number) for number in told.groups()] == pytest.approx(
        [estimate, lower, upper], abs=0.005
    )
    assert re.search(r"off by about \d+(\.\d)? percentage points", printed)
    assert "Predictions are too extreme (over-confident): slope 0." in printed
    assert f"{N} cases, {EVENTS} events (28 %); mean score {patients['p'].mean():.3f}" in printed
    assert "beta curve, neutral prior; importance sampling, Pareto k-hat" in printed
    assert "Seed 7 repeats these numbers." in printed
    assert document["source"] == {
        "file": str(csv),
        "outcome": "y",
        "prob": "p",
        "sample_weight": None,
        "weight_type": None,
        "event": "1",
        "rows_read": N,
        "rows_dropped": 0,
    }
    assert document["settings"]["seed"] == 7
    assert document["versions"]["numpy"] == np.__version__


@pytest.mark.slow
def test_assess_repeats_itself_with_the_seed_it_shows(run, csv) -> None:
    first = run("assess", csv).out
    seed = " ".join(first.split()).split("Seed ")[1].split()[0]
    assert run("assess", csv, "--seed", seed).out == first


@pytest.mark.slow
def test_the_statistics_of_val_prob_are_of_the_scores_and_not_of_a_grid(run, tmp_path) -> None:
    y, p = bc.simulate.sample("clinical-middle-overconfident", 2200, random_state=4)
    pd.DataFrame({"y": y, "p": p}).to_csv(tmp_path / "many.csv", index=False)
    record = tmp_path / "out.json"
    assert run("assess", tmp_path / "many.csv", "--seed", "1", "--json", record).code == 0
    brier = json.loads(record.read_text())["val_prob"]["Brier"]
    assert brier == pytest.approx(bc.scores.brier_score(y, p), rel=1e-12)
    assert bc.CalibrationData(y, p).is_compressed


def test_options_reach_the_fit(run, csv, tmp_path) -> None:
    record = tmp_path / "out.json"
    options = "--curve logistic --prior clinical --p 2 --ci-prob 0.9 --edge 0.01 --seed 1"
    result = run("assess", csv, *options.split(), "--engine", "importance", "--json", record)
    assert result.code == 0
    settings = json.loads(record.read_text())["settings"]
    expected = {"curve": "logistic", "prior": "clinical", "p": 2, "ci_prob": 0.9, "seed": 1}
    assert settings.items() >= expected.items()
    assert "90 % interval" in result.out
    assert "root mean square" in result.out


def test_the_largest_error_can_be_written_as_json(run, csv, tmp_path) -> None:
    record = tmp_path / "out.json"
    assert run("assess", csv, "--p", "inf", "--curve", "identity", "--json", record).code == 0
    document = json.loads(record.read_text())
    assert document["settings"]["p"] == "inf"
    assert document["diagnostics"]["pareto_k"] is None


@pytest.mark.slow
def test_a_narrow_terminal_keeps_every_word(run, csv, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = run("assess", csv).out
    assert max(map(len, out.splitlines())) <= 40
    assert "…" not in out
    assert "Calibration-in-the-large" in out


@pytest.mark.slow
def test_no_colours_in_a_pipe(run, csv) -> None:
    result = run("assess", csv)
    assert "\x1b" not in result.out + result.err


@pytest.mark.slow
def test_plot(run, csv, tmp_path) -> None:
    plot = tmp_path / "figure.svg"
    result = run("assess", csv, "--plot", plot)
    assert result.code == 0
    assert "<svg" in plot.read_text()
    assert "figure.svg" in result.out.replace("\n", "")


# Notes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"p": lambda d: d.p.round(1)}, "read as they are: there are only"),
        ({"p": lambda d: d.p * (d.p > 0.1)}, "taken as rounded, and read as another value: 0 as"),
        ({"p": lambda d: (d.p > 0.5) * 1}, "Set another distance from 0 and 1 with --edge."),
        ({"y": lambda d: d.y * 0}, "no case had the event"),
        ({"y": lambda d: d.y * 0 + 1}, "every case had the event"),
        ({"p": lambda d: d.p / 50}, "Under the clinical prior: "),
    ],
)
def test_what_the_reader_should_know_is_a_note(run, tmp_path, patients, change, note) -> None:
    path, record = tmp_path / "odd.csv", tmp_path / "out.json"
    patients.assign(**change).to_csv(path, index=False)
    result = run("assess", path, "--outcome", "y", "--prob", "p", "--json", record)
    assert (result.code, result.err) == (0, "")
    printed = " ".join(result.out.split())
    assert "Note: " in printed
    assert note in printed
    assert any(note in text for text in json.loads(record.read_text())["notes"])


def test_a_poor_diagnostic_is_a_note_in_the_words_of_the_command_line(
    run, csv, monkeypatch
) -> None:
    monkeypatch.setattr("bayescal.inference.curve.BAD_K", -math.inf)
    result = run("assess", csv, *ONE, "--engine", "importance")
    assert (result.code, result.err) == (0, "")
    printed = " ".join(result.out.split())
    assert "Note: importance sampling is unreliable here" in printed
    assert "use --engine nuts, or --engine auto" in printed


def test_warnings_of_others_stay_warnings(run, csv, monkeypatch) -> None:
    known = bc.fit

    def fit(*data: object, **options: object) -> bc.CalibrationPosterior:
        import warnings

        warnings.warn("not ours", FutureWarning, stacklevel=1)
        warnings.warn("ours", DiagnosticWarning, stacklevel=1)
        return known(*data, **options)

    monkeypatch.setattr("bayescal.fitting.fit", fit)
    with pytest.warns(FutureWarning, match="not ours"):
        result = run("assess", csv, *ONE)
    assert "Note: ours" in result.out


# What assess reads


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("table.csv", {}),
        ("table.CSV", {}),
        ("table.csv.gz", {}),
        ("table.tsv", {"sep": "\t"}),
        ("table.txt", {"sep": "\t"}),
        ("european.csv", {"sep": ";", "decimal": ","}),
    ],
)
def test_kinds_of_text(run, tmp_path, patients, name, options) -> None:
    path, record = tmp_path / name, tmp_path / "out.json"
    patients.to_csv(path, index=False, **options)
    assert run("assess", path, *ONE, "--json", record).code == 0
    document = json.loads(record.read_text())
    assert (document["cases"], document["events"]) == (N, EVENTS)
    assert document["mean_score"] == pytest.approx(patients["p"].mean(), rel=1e-12)


def test_parquet(run, tmp_path, patients) -> None:
    pytest.importorskip("pyarrow")
    path, record = tmp_path / "table.parquet", tmp_path / "out.json"
    patients.set_index("y").to_parquet(path)  # an index is a column like any other
    assert run("assess", path, *ONE, "--json", record).code == 0
    assert json.loads(record.read_text())["events"] == EVENTS
    patients.assign(p=patients.p + 1).to_parquet(path)
    assert f"is outside [0, 1] on row 1 of {path}" in complains(run("assess", path))


def test_parquet_without_pyarrow(run, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    line = complains(run("assess", written(tmp_path / "table.parquet", b"PAR1")))
    assert "bayescal[parquet]" in line


def test_a_byte_order_mark_and_spaces_in_the_header(run, tmp_path, patients) -> None:
    path = written(tmp_path / "a.csv", "\ufeff y , p \n" + "1,0.7\n0,0.2\n0,0.4\n" * 5)
    assert run("assess", path, "--outcome", "y", "--prob", "p", *ONE).code == 0


@pytest.mark.slow
def test_big_file(run, tmp_path) -> None:
    y_true, y_prob = bc.simulate.sample("clinical-low-shifted", 200_000, random_state=0)
    path, record = tmp_path / "big.csv", tmp_path / "out.json"
    pd.DataFrame({"y": y_true, "p": y_prob}).to_csv(path, index=False)
    assert run("assess", path, "--json", record).code == 0
    document = json.loads(record.read_text())
    assert document["cases"] == 200_000
    assert document["distinct_scores"] <= 2048


@pytest.mark.parametrize(
    ("values", "event"),
    [
        (("alive", "dead"), "dead"),
        ((1, 2), "2"),
        ((1.0, 2.0), "2"),
        ((False, True), "true"),
        ((False, True), None),
        ((0.0, 1.0), None),
    ],
)
def test_labels_of_the_event(run, tmp_path, patients, values, event) -> None:
    path, record = tmp_path / "labels.csv", tmp_path / "out.json"
    patients.assign(y=np.array(values)[patients["y"]]).to_csv(path, index=False)
    options = [] if event is None else ["--positive", event]
    assert run("assess", path, *options, *ONE, "--json", record).code == 0
    assert json.loads(record.read_text())["events"] == EVENTS


@pytest.mark.slow
def test_weights_are_cases(run, tmp_path, patients) -> None:
    path, record = tmp_path / "weights.csv", tmp_path / "out.json"
    patients.assign(w=2).to_csv(path, index=False)
    assert run("assess", path, *ONE, "--sample-weight", "w", "--json", record).code == 0
    assert json.loads(record.read_text())["cases"] == 2 * N
    patients.assign(w=1.5).to_csv(path, index=False)
    result = run("assess", path, *ONE, "--sample-weight", "w", "--json", record)
    assert "pseudo-posterior" in " ".join(result.out.split())
    assert json.loads(record.read_text())["settings"]["pseudo_posterior"] is True


@pytest.fixture
def sampled(tmp_path, patients) -> Path:
    """Patients with whole-number weights that can be counts as well as sampling weights."""
    path = tmp_path / "sampled.csv"
    weights = np.where(patients["y"] == 1, 4, 20)
    patients.assign(w=weights, q=0.9 * patients["p"]).to_csv(path, index=False)
    return path


WEIGHED = {
    "assess": (*ONE, "--prob", "p"),
    "compare": ("--prob", "p"),
    "gain": ("--before", "p", "--after", "q"),
    "recalibrate": ("--prob", "p", "--method", "logistic"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", WEIGHED)
def test_weights_that_can_be_either_are_asked_about(run, tmp_path, sampled, command) -> None:
    options: tuple[object, ...] = (*WEIGHED[command], "--sample-weight", "w")
    if command == "recalibrate":
        options = (*options, "--output", tmp_path / "better.csv")
    line = complains(run(command, sampled, *options))
    size = (28 * 4 + 72 * 20) ** 2 / (28 * 16 + 72 * 400)
    assert (
        "column 'w' holds whole numbers that can be counts of cases (n = 1552 cases), or " in line
    )
    assert f"(n = 100 cases of effective size {size:.4g})" in line
    assert line.endswith("Say which they are with --weight-type counts or --weight-type sampling.")
    told = {"counts": "counts, 1,552 cases", "sampling": f"100 cases, worth {size:.1f}"}
    for weight_type, sentence in told.items():
        result = run(command, sampled, *options, "--weight-type", weight_type)
        assert result.code == 0
        assert sentence in " ".join(result.out.split())


def test_the_scale_of_sampling_weights_changes_no_recalibration(run, sampled, tmp_path) -> None:
    frame = pd.read_csv(sampled)
    frame["p"] = frame["p"].round(1).clip(0.05, 0.95)
    written_to = []
    for factor in (1, 0.5):
        path, output = tmp_path / f"in{factor}.csv", tmp_path / f"out{factor}.csv"
        frame.assign(w=factor * frame["w"]).to_csv(path, index=False)
        options = ("--prob", "p", "--sample-weight", "w", "--weight-type", "sampling", "--seed", 1)
        assert run("recalibrate", path, *options, "--output", output).code == 0
        written_to.append(pd.read_csv(output).drop(columns="w"))
    pd.testing.assert_frame_equal(*written_to, check_exact=True)
    fitted = bc.recalibrate.BayesianRecalibrator(weight_type="sampling", random_state=1)
    fitted.fit(frame["p"], frame["y"], frame["w"])
    np.testing.assert_allclose(written_to[0]["p_recalibrated"], fitted.transform(frame["p"]))


def test_the_record_says_what_the_weights_were(run, tmp_path, sampled) -> None:
    record = tmp_path / "out.json"
    options = ("--prob", "p", *ONE, "--sample-weight", "w", "--json", record)
    assert run("assess", sampled, *options, "--weight-type", "sampling").code == 0
    told = json.loads(record.read_text())
    assert told["source"]["weight_type"] == told["settings"]["weight_type"] == "sampling"
    assert any("read as sampling weights" in text for text in told["notes"])


@pytest.mark.slow
def test_missing_values_are_left_out_when_told(run, tmp_path, patients) -> None:
    path = tmp_path / "gaps.csv"
    gaps = patients.astype({"y": float})
    gaps.loc[4, "p"] = gaps.loc[9, "y"] = np.nan
    gaps.to_csv(path, index=False)
    line = complains(run("assess", path))
    assert f"2 of {N} rows" in line
    assert f"the first on line 6 of {path}" in line
    result = run("assess", path, "--drop-missing")
    assert result.code == 0
    assert f"2 of {N} rows left out" in result.out
    assert f"{N - 2} cases" in result.out


# Columns


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        ({"y": "y", "p": "p"}, ("y", "p")),
        ({"y": "Y_true", "p": "Prob"}, ("Y_true", "Prob")),
        ({"y": "died", "p": "model 3"}, ("died", "model 3")),
    ],
)
def test_columns_are_guessed_by_name_or_by_content(run, csv, patients, columns, chosen) -> None:
    patients.rename(columns=columns).assign(age=60.5).to_csv(csv, index=False)
    result = run("assess", csv, *ONE)
    assert result.code == 0
    outcome, score = chosen
    assert result.out.startswith(f"Calibration of {score} as the probability that {outcome} is 1")


@pytest.mark.parametrize(
    ("copies", "options", "message"),
    [
        ({"died": "y", "relapse": "y", "y": "id"}, [], "the outcome: 'died', 'relapse'"),
        ({"obs": "y"}, [], "several columns could be the outcome: 'y', 'obs'"),
        ({"risk": "p"}, [], "several columns could be the score: 'p', 'risk'"),
        ({"p": "id", "a": "p", "b": "p"}, ["--prob", "c"], "no column 'c'"),
        ({}, ["--outcome", "p"], "no column looks like the score"),
        ({}, ["--prob", "y"], "no column looks like the outcome"),
        ({}, ["--outcome", "z"], "there is no column 'z'. There are 'id', 'p', 'y'."),
        ({}, ["--sample-weight", "z"], "--sample-weight: there is no column 'z'"),
    ],
)
def test_unclear_columns_are_listed(run, csv, patients, copies, options, message) -> None:
    columns = {name: patients[original] for name, original in copies.items()}
    patients.assign(**columns).to_csv(csv, index=False)
    assert message in complains(run("assess", csv, *options))


def test_a_name_that_occurs_twice_is_refused(run, tmp_path) -> None:
    path = written(tmp_path / "twice.csv", "y,p,p\n1,0.3,0.4\n0,0.2,0.4\n")
    line = complains(run("assess", path, "--outcome", "y", "--prob", "p"))
    assert "2 columns are called 'p'" in line


HOSTILE = ["[bold]y[/]", "[/]", "\x1b[31mred\x1b[0m", "two\nlines", "\u202egnp", "[link=x]p[/link]"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_files_cannot_steer_the_terminal(run, tmp_path, patients, name) -> None:
    path = tmp_path / "hostile.csv"
    patients.rename(columns={"y": name}).to_csv(path, index=False)
    shown = name.encode("unicode_escape").decode()
    result = run("assess", path, "--outcome", name, "--prob", "p", *ONE)
    assert result.code == 0
    assert shown in result.out
    line = complains(run("assess", path, "--outcome", "nope", "--prob", "p"))
    assert shown in line
    for text in (result.out, line):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_hostile_labels_stay_text(run, tmp_path, patients) -> None:
    path = tmp_path / "[red]\x1b.csv"
    labels = np.array(["\x1b[2Jalive", "[bold]dead"])[patients["y"]]
    patients.assign(y=labels).to_csv(path, index=False)
    line = complains(run("assess", path))
    assert "[bold]dead" in line
    assert "\x1b" not in line
    result = run("assess", path, "--positive", "[bold]dead", *ONE)
    assert "[bold]dead ([red]\\x1b.csv)" in result.out.replace("\n", "")


# How it says no


BAD_FILES = {
    "missing.csv": (None, "there is no file"),
    "empty.csv": ("", "is empty"),
    "blank.csv": ("\n \n", "is empty"),
    "header.csv": ("y,p\n", "has no rows"),
    "headless.csv": ("1,0.3\n0,0.2\n", "line 1 of {path} holds numbers, where column names"),
    "decimals.csv": ("y,p\n1,0,3\n0,0,2\n", "line 2 of {path} has 3 fields, and the header"),
    "long.csv": ("y,p\n1,0.3\n0,0.2,5\n", "cannot be read: Expected 2 fields in line 3, saw 3"),
    "binary.csv": (b"y,p\0\xff\xfe\n", "is not a text file"),
    "gap.csv": ("y,p\n1,0.3\n\n0,\n", "1 of 2 rows lack an outcome, a score or a weight"),
    "gap2.csv": ("y,p\n1,0.3\n\n0,\n", "the first on line 4 of {path}"),
    "word.csv": ('y,p\n1,0.3\n0,"a\nb"\n1,x\n', "'a\\nb' is not a number on line 3 of {path}"),
    "words.csv": ('y,p\n1,"a; b. c"\n0,.2\n', "'a; b. c' is not a number on line 2 of {path}."),
    "range.csv": ('y,p\n1,0.3\n"0",1.2\n', "column 'p': 1.2 is outside [0, 1] on line 3 of"),
    "negative.csv": ("y,p\n1,-0.3\n0,0.2\n", "-0.3 is outside [0, 1] on line 2 of"),
    "percent.csv": ("y,p\n1,30\n0,20\n", "If these are percentages, read them with --percent"),
    "infinite.csv": ("y,p\n1,inf\n0,0.2\n", "inf is outside [0, 1] on line 2 of"),
    "labels.csv": (
        "y,p\nno,0.3\nyes,0.2\n",
        "holds 'no' and 'yes'. Say which is the event: --positive yes or --positive no",
    ),
    "codes.csv": (
        "y,p\n1,0.3\n2,0.2\n",
        "column 'y' must be 0/1 or boolean, but holds 1 and 2. Say which is the event",
    ),
    "three.csv": (
        "y,p\n1,0.3\n0,0.2\n3,0.4\n",
        "3 is neither 0 nor 1 on line 4 of {path}. Outcomes",
    ),
    "sheet.xlsx": (b"PK", "Excel workbook"),
    "broken.csv.gz": (b"no", "cannot be read: Not a gzipped file"),
    "cut.csv.gz": (gzip.compress(b"y,p\n1,0.3\n" * 99)[:20], "cannot be read"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(run, tmp_path, name) -> None:
    content, message = BAD_FILES[name]
    path = tmp_path / name
    if content is not None:
        written(path, content)
    line = complains(run("assess", path, "--outcome", "y", "--prob", "p"))
    assert message.format(path=path) in line


def test_a_broken_parquet_file(run, tmp_path) -> None:
    pytest.importorskip("pyarrow")
    line = complains(run("assess", written(tmp_path / "broken.parquet", b"not parquet")))
    assert "broken.parquet cannot be read" in line


def test_a_folder_is_no_file(run, tmp_path) -> None:
    assert "is a folder" in complains(run("assess", tmp_path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--positive", "dead"],
            "not two classes with the event 'dead'. Name the event with --positive",
        ),
        (["--curve", "wave"], "curve must be one of 'average', 'beta'"),
        (["--prior", "mine"], "prior must be one of 'clinical'"),
        ([*ONE, "--engine", "steam"], "engine must be one of 'auto'"),
        ([*ONE, "--p", "0.5"], "p must be at least 1"),
        (["--engine", "nuts"], "--engine goes with one family: add --curve beta"),
        (["--p", "2"], "--p goes with one family: add --curve beta"),
        ([*ONE, "--html", "a.html"], "--html goes with the average: leave out --curve"),
        (["--close", "2"], "close must lie strictly between 0 and 1"),
        (["--html", "nowhere/out.html"], "there is no folder nowhere"),
        (["--p", "many"], "'--p'"),
        (["--ci-prob", "95"], "divide by 100"),
        (["--edge", "2"], "edge must lie strictly between 0 and 0.5"),
        (["--seed", "-1"], "'--seed'"),
        (["--seed", "x"], "'--seed'"),
        (
            ["--sample-weight", "w"],
            "column 'w': -1 is not a finite, non-negative number on line 2 of",
        ),
        (
            ["--sample-weight", "v", "--weight-type", "counts"],
            "column 'v': 1.5 is not a whole number",
        ),
        (["--sample-weight", "v", "--weight-type", "x"], "--weight-type must be one of 'counts'"),
        (["--weight-type", "counts"], "--weight-type goes with --sample-weight"),
        (["--plot", "nowhere/out.png"], "there is no folder nowhere"),
        (["--json", "nowhere/out.json"], "there is no folder nowhere"),
        (["--plot", "out.docx"], "its name must end in"),
        (["--plot"], "--plot"),
        (["--unknown"], "--unknown"),
        (["another.csv"], "another.csv"),
    ],
)
def test_bad_options(run, csv, patients, options, message) -> None:
    patients.assign(w=-1, v=1.5).to_csv(csv, index=False)
    assert message in complains(run("assess", csv, *options))


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["fly"], "bayescal"),
        (["--fly"], "bayescal"),
        (["assess"], "bayescal assess"),
        (["demo", "file.csv"], "bayescal demo"),
    ],
)
def test_bad_usage_is_one_line_that_points_to_help(run, arguments, command) -> None:
    assert complains(run(*arguments)).endswith(f"See '{command} --help'.")


def test_a_file_that_cannot_be_written(run, csv, tmp_path) -> None:
    result = run("assess", csv, "--json", tmp_path / ("x" * 300))
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "name too long" in result.err


def test_an_interruption_is_quiet(run, csv, monkeypatch) -> None:
    def interrupted(*data: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bayescal.assessment.assess", interrupted)
    result = run("assess", csv)
    assert (result.code, result.err.strip()) == (130, "")


def test_a_mistake_of_ours_is_not_hidden(csv, monkeypatch) -> None:
    def broken(*data: object, **options: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("bayescal.assessment.assess", broken)
    with pytest.raises(ZeroDivisionError):
        main(["assess", str(csv)])


# The command itself


def test_version_and_help(run) -> None:
    assert run("--version").out.startswith("bayescal 0.")
    for arguments in ([], ["--help"], ["-h"]):
        result = run(*arguments)
        assert result.code == 0
        assert "assess" in result.out
        assert "demo" in result.out
    assert "--drop-missing" in run("assess", "--help").out
    for command in ((), ("assess",), ("compare",), ("gain",)):
        assert "<bool>" not in run(*command, "--help").out


def test_help_loads_nothing_heavy() -> None:
    heavy = "arviz_base arviz_stats h5netcdf matplotlib numpy pandas pymc scipy sklearn xarray"
    code = (
        "import sys; sys.argv[1:] = ['--help']\n"
        "from bayescal.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as left:\n    assert left.code == 0\n"
        f"print(set(sys.modules) & set('{heavy}'.split()), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "set()"


@pytest.mark.parametrize(
    "arguments",
    ["assess nowhere.csv", "compare nowhere.csv", "gain nowhere.csv --folds 5", "assess --nothing"],
)
def test_an_error_loads_nothing_that_computes(arguments) -> None:
    code = (
        f"import sys; sys.argv[1:] = {arguments.split()}\n"
        "from bayescal.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as left:\n    assert left.code == 2\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("Error: ")
    heavy = "arviz_stats matplotlib pandas pymc scipy.optimize scipy.stats sklearn xarray"
    ours = (
        "bayescal.assessment bayescal.fitting bayescal.gain bayescal.inference bayescal.posterior"
    )
    assert not set(done.stdout.split()) & {*heavy.split(), *ours.split()}


@pytest.mark.slow
def test_it_can_be_run_as_a_module() -> None:
    command = [sys.executable, "-m", "bayescal", "assess", "nowhere.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: there is no file nowhere.csv.\n"


# compare


def test_compare_shows_the_families_and_how_probable_calibration_is(run, csv, tmp_path) -> None:
    record = tmp_path / "compared.json"
    printed = run("compare", csv, "--seed", 1, "--close", 0.05, "--json", record)
    assert printed.code == 0
    for name, curve in CURVES.items():
        assert bool(re.search(rf"^ {name} ", printed.out, re.M)) == (not curve.per_score)
    numbers = json.loads(record.read_text())
    assert f"Exact calibration has probability {chance(numbers['prob_calibrated'])}" in " ".join(
        printed.out.split()
    )
    assert sum(row["posterior_prob"] for row in numbers["curves"].values()) == pytest.approx(1)
    assert numbers["tce"]["close"] == 0.05
    assert set(numbers["sensitivity"]) == {"neutral", "clinical", "modest", "BIC"}
    table = pd.read_csv(csv)
    again = bc.compare(table["y"], table["p"], random_state=1)
    assert numbers["prob_calibrated"] == pytest.approx(again.prob_calibrated)


@pytest.mark.slow
def test_compare_leaves_the_figure_and_the_report(run, csv, tmp_path) -> None:
    figure, page = tmp_path / "curves.svg", tmp_path / "report.html"
    done = run("compare", csv, "--seed", 1, "--plot", figure, "--html", page)
    assert done.code == 0
    assert "<svg" in figure.read_text()
    assert "<h1>p in predictions.csv, outcome y</h1>" in page.read_text("utf-8")
    assert run("compare", csv, "--html", csv).code == 2


@pytest.mark.slow
def test_assess_takes_thresholds(run, csv, tmp_path) -> None:
    record = tmp_path / "numbers.json"
    printed = run(
        "assess", csv, "--seed", 1, "--threshold", 0.2, "--threshold", 0.4, "--json", record
    )
    assert printed.code == 0
    assert "Net benefit of 1000" in printed.out
    assert set(json.loads(record.read_text())["net_benefit"]) == {"0.2", "0.4"}
    assert run("assess", csv, "--threshold", 2).err.startswith("Error: --threshold must lie")


def test_compare_takes_the_prior_into_account(run, csv) -> None:
    sceptical = run("compare", csv, "--seed", 1, "--prior-calibrated", 0.9).out
    assert "From prior 0.9" in sceptical
    assert sceptical != run("compare", csv, "--seed", 1).out


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (("--prior-calibrated", 1.5), "--prior-calibrated must lie strictly between 0 and 1"),
        (("--close", 0), "close must lie strictly between 0 and 1"),
        (("--prior", "flat"), "prior must be one of"),
        (("--json", "/nowhere/at/all.json"), "there is no folder"),
    ],
)
def test_compare_says_no_in_one_line(run, csv, options, about) -> None:
    printed = run("compare", csv, *options)
    assert printed.code == 2
    assert about in printed.err
    assert len(printed.err.splitlines()) == 1


# gain


@pytest.fixture
def two(tmp_path) -> Path:
    """Predictions before and after a change of slope, one of them missing."""
    y_true, before = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=2)
    log_odds = np.log(before / (1 - before))
    after = 1 / (1 + np.exp(0.4 - 0.6 * log_odds))
    path = tmp_path / "two.csv"
    pd.DataFrame({"y": y_true, "p0": before, "p1": after}).to_csv(path, index=False)
    return path


def test_gain_says_what_the_library_says(run, two, tmp_path) -> None:
    record = tmp_path / "gain.json"
    options = ("--outcome", "y", "--before", "p0", "--after", "p1")
    printed = run("gain", two, *options, "--threshold", 0.1, "--seed", 4, "--json", record)
    assert printed.code == 0
    table = pd.read_csv(two)
    document = bc.recalibration_gain(
        table["y"], table["p0"], table["p1"], thresholds=(0.1,), random_state=4
    )
    numbers = json.loads(record.read_text())
    assert numbers["gains"]["brier"]["lower"] == pytest.approx(document.interval("brier")[0])
    assert f"improves with probability {document.prob_improved:.2f}" in " ".join(
        printed.out.split()
    )
    assert "Rise in net benefit at 0.1" in printed.out
    assert "refinement" not in printed.out  # a rising map merges nothing
    shown = " ".join(printed.out.split())
    assert "assumed to be fitted to other patients; if not: --in-sample" in shown
    assert not numbers["in_sample"]
    assert numbers["prob_calibrated"] == pytest.approx(document.prob_calibrated)
    exact = document.prob_calibrated
    assert f"{chance(exact['before'])} before, {chance(exact['after'])} after" in printed.out
    assert numbers["gains"]["tce"]["estimate"] == document.summary().loc["tce", "estimate"]


def test_an_infinite_gain_and_an_unchanged_one_are_said_and_are_null_in_json(
    run, two, tmp_path
) -> None:
    table = pd.read_csv(two)
    table.loc[table.index[table["y"] == 1][:3], "p1"] = 0.0
    table.to_csv(two, index=False)
    record = tmp_path / "gain.json"
    options = ("--outcome", "y", "--before", "p0", "--after", "p1", "--threshold", 0.99999)
    printed = run("gain", two, *options, "--seed", 4, "--json", record)
    assert printed.code == 0
    shown = " ".join(printed.out.split())
    assert "Fall in log score minus infinity < 0.01" in shown
    assert "Rise in net benefit at 0.99999 unchanged" in shown
    assert "The log score after is infinitely bad." in shown
    assert "after to 3 cases" in shown + " ".join(printed.err.split())
    assert "nan" not in shown.lower()
    numbers = json.loads(record.read_text())
    assert numbers["contradicted"] == {"before": 0, "after": 3}
    log, benefit = (numbers["gains"][name] for name in ("log_score", "net_benefit@0.99999"))
    assert log["infinite"] == "minus"
    assert log["estimate"] is log["lower"] is log["upper"] is None
    assert log["prob_improved"] == 0
    assert benefit["unchanged"] is True
    assert not log["unchanged"]
    assert "infinite" not in numbers["gains"]["brier"]


def test_gain_in_sample_says_so(run, two) -> None:
    options = ("--before", "p0", "--after", "p1", "--outcome", "y")
    printed = " ".join(run("gain", two, *options, "--in-sample", "--seed", 1).out.split())
    assert "in-sample" in printed
    assert "on the patients that the map was fitted to is overestimated" in printed


def test_gain_sees_that_a_map_was_fitted_to_these_patients(run, two, tmp_path) -> None:
    table, record = pd.read_csv(two), tmp_path / "gain.json"
    table["p1"] = (
        bc.recalibrate.LogisticRecalibrator().fit(table["p0"], table["y"]).transform(table["p0"])
    )
    table.to_csv(two, index=False)
    options = ("--before", "p0", "--after", "p1", "--outcome", "y", "--json", record)
    result = run("gain", two, *options, "--seed", 1)
    assert result.err == ""
    printed = " ".join(result.out.split())
    assert "in-sample (detected: the score equations" in printed
    assert "on the patients that the map was fitted to is overestimated" in printed
    assert "if not: --in-sample" not in printed
    assert json.loads(record.read_text())["in_sample"]


@pytest.mark.slow
def test_gain_by_cross_fitting_is_that_of_the_procedure(run, two, tmp_path) -> None:
    record = tmp_path / "gain.json"
    pd.read_csv(two).head(100).to_csv(two, index=False)
    options = ("--outcome", "y", "--prob", "p0", "--method", "intercept", "--folds", 3)
    result = run("gain", two, *options, "--seed", 2, "--json", record)
    assert result.code == 0
    printed = " ".join(result.out.split())
    assert "cross-fitted, 5 repeats" in printed
    assert "about the procedure" in printed
    assert "not the map fitted to all patients" in printed
    table, numbers = pd.read_csv(two), json.loads(record.read_text())
    after = bc.cross_fit(
        table["y"],
        table["p0"],
        bc.recalibrate.InterceptRecalibrator(),
        n_folds=3,
        random_state=2,
    )
    document = bc.recalibration_gain(table["y"], table["p0"], after, random_state=2)
    assert numbers["gains"]["brier"]["mean"] == pytest.approx(document.summary()["mean"]["brier"])
    assert numbers["folds"] == 3
    assert "procedure" in numbers["evidence"]


def test_gain_leaves_out_incomplete_rows_when_told(run, two) -> None:
    table = pd.read_csv(two)
    table.loc[3, "p1"] = np.nan
    table.loc[5, "p0"] = np.nan
    table.to_csv(two, index=False)
    options = ("--before", "p0", "--after", "p1", "--outcome", "y", "--seed", 1)
    assert run("gain", two, *options).code == 2
    printed = run("gain", two, *options, "--drop-missing")
    assert printed.code == 0
    assert "2 of 300 rows left out" in printed.out
    assert "298 cases" in printed.out


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (("--before", "p0", "--after", "p2"), "there is no column 'p2'"),
        (("--before", "p0", "--after", "p0"), "name the same column"),
        (("--before", "p0", "--after", "p1", "--threshold", 1), "strictly between 0 and 1"),
        (("--before", "p0"), "--after"),
        (
            ("--before", "p0", "--after", "p1", "--method", "beta"),
            "--prob and --method need --folds",
        ),
        (("--prob", "p0", "--folds", 5, "--in-sample"), "cannot be used with it"),
        (("--prob", "p0", "--after", "p1", "--folds", 5), "cannot be used with it"),
        (("--prob", "p0", "--folds", 1), "folds must be a whole number"),
        (("--prob", "p0", "--folds", 5, "--method", "magic"), "method must be one of"),
    ],
)
def test_gain_says_no_in_one_line(run, two, options, about) -> None:
    printed = run("gain", two, "--outcome", "y", *options)
    assert printed.code == 2
    assert about in printed.err
    assert len(printed.err.splitlines()) == 1


# recalibrate


def test_recalibrate_writes_probabilities_with_intervals(run, two, tmp_path) -> None:
    others, target = tmp_path / "others.csv", tmp_path / "better.csv"
    pd.DataFrame({"id": [7, 8, 9], "p0": [0.02, 0.5, 0.95]}).to_csv(others, index=False)
    options = ("--outcome", "y", "--prob", "p0", "--apply-to", others, "--output", target)
    printed = run("recalibrate", two, *options, "--seed", 1)
    assert printed.code == 0
    assert "Recommended: " in printed.out
    assert "overestimated" not in printed.out
    made = pd.read_csv(target)
    assert made["id"].to_list() == [7, 8, 9]
    assert (made["p0_lower"] < made["p0_recalibrated"]).all()
    assert (made["p0_recalibrated"] < made["p0_upper"]).all()
    assert made["p0_recalibrated"].iloc[2] < 0.95  # it was over-confident


def test_recalibrate_by_another_method_on_its_own_patients_says_so(run, two, tmp_path) -> None:
    target = tmp_path / "better.csv"
    options = ("--outcome", "y", "--prob", "p0", "--method", "logistic", "--output", target)
    printed = run("recalibrate", two, *options)
    assert printed.code == 0
    assert "the patients that the map was fitted to" in " ".join(printed.out.split())
    again = f"gain {two} --outcome y --prob p0 --method logistic --folds 10"
    assert again.replace(" ", "") in "".join(printed.out.split())
    table = pd.read_csv(two)
    fitted = bc.recalibrate.LogisticRecalibrator().fit(table["p0"], table["y"])
    np.testing.assert_allclose(
        pd.read_csv(target)["p0_recalibrated"], fitted.transform(table["p0"])
    )


@pytest.mark.slow
def test_recalibrate_by_a_random_method_takes_the_seed(run, two, tmp_path) -> None:
    options = ("--outcome", "y", "--prob", "p0", "--method", "smooth", "--seed")
    made = []
    for at, seed in enumerate((3, 3, 4)):
        target = tmp_path / f"{at}.csv"
        assert run("recalibrate", two, *options, seed, "--output", target).code == 0
        made.append(pd.read_csv(target)["p0_recalibrated"].to_numpy())
    np.testing.assert_array_equal(made[0], made[1])
    assert (made[0] != made[2]).any()


@pytest.mark.slow
def test_gain_knows_the_patients_that_recalibrate_marked(run, two, tmp_path) -> None:
    """Of a map that leaves no trace in its predictions; also renamed, and in another order."""
    own, target = tmp_path / "own.csv", tmp_path / "better.csv"
    others = tmp_path / "others.csv"
    y_true, before = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=9)
    pd.DataFrame({"y": y_true, "p0": before}).to_csv(others, index=False)
    fit = ("--outcome", "y", "--prob", "p0", "--seed", 1)
    judge = ("--outcome", "y", "--before", "p0", "--after", "p0_recalibrated", "--seed", 1)
    assert run("recalibrate", two, *fit, "--output", own).code == 0
    pd.read_csv(own).sample(frac=1, random_state=0).to_csv(tmp_path / "renamed.csv", index=False)
    for name in ("own.csv", "renamed.csv"):
        printed = " ".join(run("gain", tmp_path / name, *judge).out.split())
        assert "in-sample: the map was fitted to these patients" in printed
        assert "own.csv.bayescal.json says that" in printed
    assert run("recalibrate", two, *fit, "--apply-to", others, "--output", target).code == 0
    printed = " ".join(run("gain", target, *judge).out.split())
    assert "assumed to be fitted to other patients; if not: --in-sample" in printed
    (tmp_path / "bad.bayescal.json").write_text("[]")
    assert run("gain", target, *judge).code == 0


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (("--method", "magic"), "method must be one of"),
        (("--output", "/nowhere/at/all.csv"), "there is no folder"),
        (("--apply-to", "missing.csv"), "there is no file"),
    ],
)
def test_recalibrate_says_no_in_one_line(run, two, tmp_path, options, about) -> None:
    printed = run(
        "recalibrate",
        two,
        "--outcome",
        "y",
        "--prob",
        "p0",
        "--output",
        tmp_path / "x.csv",
        *options,
    )
    assert printed.code == 2
    assert about in printed.err
    assert len(printed.err.splitlines()) == 1
