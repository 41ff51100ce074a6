"""The command line: what it answers, what it writes, and how it says no."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main
from bayescal.core.page import Page
from bayescal.errors import DiagnosticWarning

N, EVENTS = 100, 28


@pytest.fixture(scope="module")
def patients():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", N, random_state=6)
    return pd.DataFrame({"id": np.arange(N), "p": y_prob, "y": y_true})


@pytest.fixture
def csv(tmp_path, patients, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "predictions.csv"
    patients.to_csv(path, index=False)
    return path


def written(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# What it answers


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("assess",)])
def test_a_file_is_assessed_and_its_page_is_told_and_written(run, csv, patients, words):
    files = ("--html", "a.html", "--json", "a.json", "--plot", "a.svg")
    result = run(*words, "predictions.csv", "--seed", 7, "--limit", 0.05, *files)
    assert (result.code, result.err) == (0, "")
    a = bc.assess(patients["y"], patients["p"], limit=0.05, random_state=7)
    told = json.loads(Path("a.json").read_text("utf-8"))
    for name, row in a.summary().iterrows():
        assert told["functionals"][name]["lower"] == pytest.approx(row["lower"], rel=1e-12)
    assert told["source"]["outcome"] == "y"
    assert told["source"]["rows_read"] == N
    assert "p in predictions.csv, outcome y" in result.told
    assert "Wrote a.html. Wrote a.json. Wrote a.svg." in result.told
    assert "<h1>p in predictions.csv, outcome y</h1>" in Path("a.html").read_text("utf-8")
    assert "<svg" in Path("a.svg").read_text("utf-8")


@pytest.mark.slow
def test_no_colours_in_a_pipe(run, csv):
    result = run(csv)
    assert "\x1b" not in result.out + result.err
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.slow
def test_demo(run, csv):
    pytest.importorskip("docx")
    files = ("--html", "a.html", "--json", "a.json", "--word", "a.docx")
    result = run("demo", *files)
    assert (result.code, result.err) == (0, "")
    assert "malignant" in result.told
    told = json.loads(Path("a.json").read_text("utf-8"))
    assert told["cases"] == 150
    assert told["functionals"]["calibration_slope"]["upper"] < 1  # over-confident, as announced
    assert "<h1>Calibration of boosted trees" in Path("a.html").read_text("utf-8")
    assert Path("a.docx").stat().st_size > 1000


def test_options_reach_the_assessment(run, csv, monkeypatch):
    asked = {}

    class Told:
        def page(self):
            return Page("", "", ("Yes.",))

    def assess(data, **options):
        asked.update(options)
        return Told()

    monkeypatch.setattr("bayescal.report.assess", assess)
    words = "--limit .04 --threshold .2 --threshold .4 --prior clinical --ci-prob .9 --edge .01"
    assert run(csv, *words.split(), "--seed", 3).code == 0
    assert (asked["limit"], asked["thresholds"], asked["ci_prob"]) == (0.04, (0.2, 0.4), 0.9)
    assert (asked["prior"].name, asked["edge"], asked["random_state"]) == ("clinical", 0.01, 3)
    assert run(csv, "--random-state", "4", "--thresholds=0.3").code == 0  # as Python calls them
    assert (asked["random_state"], asked["thresholds"]) == (4, (0.3,))


def test_notes_are_ours_and_warnings_of_others_stay_warnings(run, csv, monkeypatch):
    class Told:
        def page(self):
            return Page("", "", ("Yes.",))

    def assess(data, **options):
        import warnings

        warnings.warn("not ours", FutureWarning, stacklevel=1)
        warnings.warn("ours", DiagnosticWarning, stacklevel=1)
        return Told()

    monkeypatch.setattr("bayescal.report.assess", assess)
    with pytest.warns(FutureWarning, match="not ours"):
        result = run(csv)
    assert "Note: ours" in result.out


# What it reads


@pytest.mark.usefixtures("quick")
class TestReading:
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
    def test_kinds_of_text(self, run, tmp_path, patients, name, options):
        patients.to_csv(tmp_path / name, index=False, **options)
        told = json.loads(run(tmp_path / name, "--json", "-").out)
        assert (told["cases"], told["events"]) == (N, EVENTS)
        assert told["mean_score"] == pytest.approx(patients["p"].mean(), rel=1e-12)

    def test_parquet(self, run, refused, tmp_path, patients):
        pytest.importorskip("pyarrow")
        path = tmp_path / "table.parquet"
        patients.set_index("y").to_parquet(path)  # an index is a column like any other
        assert json.loads(run(path, "--json", "-").out)["events"] == EVENTS
        patients.assign(p=patients.p + 1).to_parquet(path)
        assert f"is outside [0, 1] on row 1 of {path}" in refused(path)

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
    def test_labels_of_the_event(self, run, tmp_path, patients, values, event):
        path = tmp_path / "labels.csv"
        patients.assign(y=np.array(values)[patients["y"]]).to_csv(path, index=False)
        options = [] if event is None else ["--positive", event]
        assert json.loads(run(path, *options, "--json", "-").out)["events"] == EVENTS

    @pytest.mark.parametrize(
        ("columns", "chosen"),
        [
            ({"y": "y", "p": "p"}, ("y", "p")),
            ({"y": "Y_true", "p": "Prob"}, ("Y_true", "Prob")),
            ({"y": "died", "p": "model 3"}, ("died", "model 3")),
        ],
    )
    def test_columns_are_guessed(self, run, csv, patients, columns, chosen):
        patients.rename(columns=columns).assign(age=60.5).to_csv(csv, index=False)
        outcome, score = chosen
        result = run(csv)
        assert result.told.startswith(f"{score} in predictions.csv, outcome {outcome}")
        assert "Taken without being named" in result.told

    def test_missing_values_are_left_out_when_told(self, run, refused, tmp_path, patients):
        path = tmp_path / "gaps.csv"
        gaps = patients.astype({"y": float})
        gaps.loc[4, "p"] = gaps.loc[9, "y"] = np.nan
        gaps.to_csv(path, index=False)
        line = refused(path)
        assert f"1 of {N} rows" in line
        assert f"the first on line 6 of {path}" in line
        assert f"2 of {N} rows left out" in run(path, "--drop-missing").told

    def test_weights(self, run, refused, tmp_path, patients):
        path = tmp_path / "weights.csv"
        patients.assign(w=np.where(patients["y"] == 1, 4, 20)).to_csv(path, index=False)
        line = refused(path, "--prob", "p", "--sample-weight", "w")
        assert "column 'w' holds whole numbers that can be counts of cases (n = 1552 cases)" in line
        assert line.endswith("with --weight-type counts or --weight-type sampling.")
        for kind, told in {"counts": "counts, 1,552", "sampling": "100 cases, worth"}.items():
            words = ("--prob", "p", "--sample-weight", "w", "--weight-type", kind)
            assert told in run(path, *words).told


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "name", ["[bold]y[/]", "[/]", "\x1b[31mred\x1b[0m", "two\nlines", "\u202egnp"]
)
def test_names_from_files_cannot_steer_the_terminal(run, refused, tmp_path, patients, name):
    path = tmp_path / "hostile.csv"
    patients.rename(columns={"y": name}).to_csv(path, index=False)
    shown = name.encode("unicode_escape").decode()
    result = run(path, "--outcome", name, "--prob", "p")
    assert result.code == 0
    assert shown in result.out
    line = refused(path, "--outcome", "nope", "--prob", "p")
    assert shown in line
    for text in (result.out, line):
        assert "\x1b" not in text
        assert "\u202e" not in text


# How it says no


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
def test_unclear_columns_are_listed(refused, csv, patients, copies, options, message):
    columns = {name: patients[original] for name, original in copies.items()}
    patients.assign(**columns).to_csv(csv, index=False)
    assert message in refused(csv, *options)


BAD_FILES = {
    "blank.csv": ("\n \n", "is empty"),
    "decimals.csv": ("y,p\n1,0,3\n0,0,2\n", "line 2 of {path} has 3 fields, and the header"),
    "long.csv": ("y,p\n1,0.3\n0,0.2,5\n", "cannot be read: Expected 2 fields in line 3, saw 3"),
    "binary.csv": (b"y,p\0\xff\xfe\n", "is not a text file"),
    "gap.csv": ("y,p\n1,0.3\n\n0,\n", "1 of 2 rows lack a value: 1 in 'p'"),
    "gap2.csv": ("y,p\n1,0.3\n\n0,\n", "the first on line 4 of {path}"),
    "word.csv": ('y,p\n1,0.3\n0,"a\nb"\n1,x\n', "'a\\nb' on line 3 of {path} is not a number"),
    "range.csv": ('y,p\n1,0.3\n"0",1.2\n', "column 'p': 1.2 is outside [0, 1] on line 3 of"),
    "infinite.csv": ("y,p\n1,inf\n0,0.2\n", "inf is outside [0, 1] on line 2 of"),
    "three.csv": (
        "y,p\n1,0.3\n0,0.2\n3,0.4\n",
        "3 is neither 0 nor 1 on line 4 of {path}. Outcomes",
    ),
    "sheet.xlsx": (b"PK", "Excel workbook"),
    "broken.csv.gz": (b"no", "cannot be read: Not a gzipped file"),
    "cut.csv.gz": (gzip.compress(b"y,p\n1,0.3\n" * 99)[:20], "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(refused, tmp_path, name):
    content, message = BAD_FILES[name]
    path = tmp_path / name
    written(path, content)
    assert message.format(path=path) in refused(path, "--outcome", "y", "--prob", "p")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--positive", "dead"], "not two classes with the event 'dead'. Name the event with --po"),
        (["--prior", "mine"], "--prior must be one of 'clinical'"),
        (["--limit", "2"], "--limit must lie strictly between 0 and 1"),
        (["--threshold", "2"], "--threshold must lie strictly between 0 and 1"),
        (["--ci-prob", "95"], "divide by 100"),
        (["--edge", "2"], "--edge must lie strictly between 0 and 0.5"),
        (["--seed", "-1"], "--seed takes a whole number from 0, got '-1'"),
        (["--seed", "x"], "--seed takes a whole number"),
        (["--limit", "many"], "--limit takes a number, got 'many'"),
        (["--limit", ".1", "--limit", ".2"], "--limit was given twice"),
        (["--sample-weight", "w"], "column 'w': -1 is not a finite, non-negative number on line 2"),
        (["--sample-weight", "v", "--weight-type", "x"], "--weight-type must be one of 'counts'"),
        (["--weight-type", "counts"], "--weight-type goes with --sample-weight"),
        (["--scale", "odds"], "--scale must be one of"),
        (["--html", "nowhere/out.html"], "there is no folder nowhere"),
        (["--plot", "out.docx"], "its name must end in"),
        (["--plot"], "--plot needs a value behind it: FILE."),
        (["--prob", "--outcome", "y"], "--prob needs a value behind it: COLUMN."),
        (["--drop-missing=yes"], "--drop-missing takes no value"),
        (["--unknown"], "there is no option --unknown. See 'bayescal assess --help'."),
        (["--outcom", "y"], "there is no option --outcom. Did you mean --outcome?"),
        (["-x"], "there is no option -x."),
        (["--output", "y.csv"], "--output is an option of other commands, not of assess. See "),
        (["another.csv"], "'another.csv' is one argument too many."),
        (["--force"], "--force goes with --update"),
        (["--at", "B"], "--at goes with --case"),
    ],
)
def test_bad_options(refused, csv, patients, options, message):
    patients.assign(w=-1, v=1.5).to_csv(csv, index=False)
    assert message in refused(csv, *options)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fly"], "there is no file fly, and no command of that name. See 'bayescal --help'."),
        (["compar"], "and no command of that name. Did you mean bayescal compare?"),
        (["--fly"], "there is no option --fly."),
        (["assess"], "FILE is missing. See 'bayescal assess --help'."),
        (["demo", "file.csv"], "See 'bayescal demo --help'."),
    ],
)  # fmt: skip
def test_bad_usage_is_one_line(refused, words, message):
    assert message in refused(*words)


@pytest.mark.usefixtures("quick")
def test_a_file_that_cannot_be_written(run, csv, tmp_path):
    result = run(csv, "--json", tmp_path / ("x" * 300))
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "name too long" in result.err


def test_an_interruption_is_quiet(run, csv, monkeypatch):
    def interrupted(*data, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("bayescal.report.assess", interrupted)
    result = run(csv)
    assert (result.code, result.err.strip()) == (130, "")


def test_a_mistake_of_ours_is_not_hidden(csv, monkeypatch):
    def broken(*data, **options):
        raise ZeroDivisionError

    monkeypatch.setattr("bayescal.report.assess", broken)
    with pytest.raises(ZeroDivisionError):
        main([str(csv)])


# What it imports


def modules_of(*words, cwd=None):
    """The exit code of a command, and the modules that it imported."""
    code = (
        f"import sys; sys.argv[1:] = {list(words)}\n"
        "from bayescal.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as left:\n    print(left.code or 0, *sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=cwd
    )
    code, *names = done.stderr.splitlines()[-1].split()
    return int(code), set(names)


HEAVY = {
    "arviz_stats", "jinja2", "joblib", "matplotlib", "pymc", "pytensor", "rich",
    "scipy.interpolate", "scipy.optimize", "scipy.spatial", "scipy.stats", "sklearn", "typer",
    "xarray",
}  # fmt: skip


NEEDED = {
    # what it needs beside pandas, which reads its file
    "cases.csv": set(),
    "cases.csv --site ward": set(),
    "cases.csv --new cases.csv": set(),
    "cases.csv --html page.html": {"jinja2", "matplotlib", "xarray"},
    "compare cases.csv": set(),
    "compare cases.csv --prob p --prob other": {"jinja2", "xarray"},  # draws of performance
    "recalibrate cases.csv": set(),
    "demo": set(),
}


@pytest.mark.slow
@pytest.mark.parametrize("words", NEEDED)
def test_a_command_imports_what_it_uses(tmp_path, patients, words):
    frame = patients.drop(columns="id").assign(ward=np.arange(N) % 5)
    noise = np.random.default_rng(3).uniform(0.9, 1.1, N)
    frame.assign(other=patients["p"] * noise / 1.1).to_csv(tmp_path / "cases.csv", index=False)
    given, of_file = words.split(), words != "demo"
    given += ["--outcome", "y"] if of_file else []
    given += ["--prob", "p"] if of_file and "--prob" not in given else []
    if of_file and "--site" not in given and given[0] != "recalibrate":
        given += ["--ignore-column", "ward"]
    code, names = modules_of(*given, cwd=tmp_path)
    assert code == 0
    assert not names & HEAVY - NEEDED[words]


@pytest.mark.parametrize("words", [(), ("--help",), ("--help-all",), ("plan", "--help")])
def test_help_loads_nothing_heavy(words):
    code, names = modules_of(*words)
    assert code == 0
    assert not names & {*HEAVY, "numpy", "pandas", "scipy"}


@pytest.mark.parametrize(
    "words", ["nowhere.csv", "compare nowhere.csv", "recalibrate nowhere.csv", "assess --nothing"]
)
def test_an_error_loads_nothing_that_computes(words):
    code, names = modules_of(*words.split())
    assert code == 2
    ours = {f"bayescal.{name}" for name in ("assessment", "fitting", "gain", "inference")}
    assert not names & {*HEAVY, *ours, "pandas"}


def test_it_can_be_run_as_a_module(tmp_path):
    command = [sys.executable, "-m", "bayescal", "nowhere.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: there is no file nowhere.csv.\n"
