"""Typical mistakes: at every door the fault is named and so is the cure, without a traceback."""

import gzip
import warnings
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

import bayescal as bc
from bayescal.cli import main
from bayescal.cli.page.worker import Desk, columns_of
from bayescal.data.files import Upload
from bayescal.errors import InputError

N = 200
RNG = np.random.default_rng(1)
P = RNG.uniform(0.05, 0.95, N).round(4)
Y = (RNG.random(N) < P).astype(int)
FRAME = pd.DataFrame({"died": Y, "risk": P})


def csv(frame=FRAME, **columns):
    return frame.assign(**columns).to_csv(index=False).encode()


def zipped():
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("cases.csv", csv())
    return content.getvalue()


WORDS = np.array(["nein", "ja"])[Y]
SOME = np.arange(N) % 50 == 3
STRAY = P.astype(object)
STRAY[7] = 1.2
BELOW = P.copy()
BELOW[7] = -0.1
FILES = {
    # what: (name, content, the fault, the cure)
    "no such file": ("cases.csv", None, "there is no file", "there is no file"),
    "empty file": ("cases.csv", b"", "is empty", "is empty"),
    "header alone": ("cases.csv", b"died,risk\n", "names columns but has no rows", "no rows"),
    "no header": (
        "cases.csv",
        b"1,0.3\n0,0.2\n",
        "line 1 of cases.csv holds numbers, where column names are needed: '1', '0.3'",
        "Write a first line of names",
    ),
    "decimal commas between commas": (
        "cases.csv",
        b"died,risk\n1,0,3\n0,0,2\n",
        "has 3 fields, and the header names 2 columns",
        "write decimals with a point",
    ),
    "percentages": (
        "cases.csv",
        csv(risk=100 * P),
        "is outside [0, 1] on line 2 of cases.csv",
        "If these are percentages, read them with PERCENT",
    ),
    "percentages by name": (
        "cases.csv",
        csv(pd.DataFrame({"died": Y, "Predicted mortality (%)": 100 * P})),
        "column 'Predicted mortality (%)' holds percentages by its name",
        "Read them with PERCENT",
    ),
    "log-odds": (
        "cases.csv",
        csv(risk=logit(P)),
        "is outside [0, 1]",
        "If these are log-odds, read them with LOGIT",
    ),
    "outcomes 1 and 2": ("cases.csv", csv(died=Y + 1), "holds 1 and 2", "Say which is the event"),
    "words": (
        "cases.csv",
        csv(died=np.array(["no", "yes"])[Y]),
        "holds 'no' and 'yes'",
        "Say which is the event: POSITIVE yes or",
    ),
    "words of a third language": (
        "cases.csv",
        csv(died=np.array(["ei", "kyll\u00e4"])[Y]),
        "holds 'ei' and 'kyll\u00e4'",
        "Say which is the event",
    ),
    "three classes": (
        "cases.csv",
        csv(died=np.array(["a", "b", "c"])[np.arange(N) % 3]),
        "holds 'a' and 'b' and 'c'",
        "Say which is the event, against all others",
    ),
    "missing scores": (
        "cases.csv",
        csv(FRAME.assign(risk=FRAME["risk"].mask(SOME))),
        "4 of 200 rows lack a value: 4 in 'risk', the first on line 5 of cases.csv",
        "DROP",
    ),
    "ids that repeat": (
        "cases.csv",
        csv(patient=np.arange(N) // 2),
        "column 'patient' repeats (200 rows, 100 ids)",
        "add CLUSTER patient",
    ),
    "hospitals": (
        "cases.csv",
        csv(hospital=np.arange(N) % 5),
        "column 'hospital' has 5 values in 200 rows",
        "SITE hospital, or CLUSTER hospital, or IGNORE hospital if it does not matter",
    ),
    "dates": (
        "cases.csv",
        csv(date=pd.Series(pd.date_range("2024-01-01", periods=40)).dt.date.tolist() * 5),
        "column 'date' has 40 values",
        "PERIOD date, or CLUSTER date, or IGNORE date",
    ),
    "two columns of probabilities": (
        "cases.csv",
        csv(FRAME.rename(columns={"risk": "old"}), new=P / 2),
        "several columns could be the score: 'old', 'new'",
        "Say which with PROB. COMPARE compares several.",
    ),
    "a Word file": ("cases.docx", zipped(), "is not CSV (.csv", "Save the table as one of these"),
    "a zip": ("cases.zip", zipped(), "is not CSV (.csv", "Save the table as one of these"),
    "a score of 1.2": (
        "cases.csv",
        csv(risk=STRAY),
        "column 'risk': 1.2 is outside [0, 1] on line 9 of cases.csv",
        "If these are percentages",
    ),
    "a score of -.1": (
        "cases.csv",
        csv(risk=BELOW),
        "column 'risk': -0.1 is outside [0, 1] on line 9 of cases.csv",
        "If these are log-odds",
    ),
    "a column that is misspelt": (
        "cases.csv",
        csv(),
        "there is no column 'dead'. There are 'died', 'risk'.",
        "Did you mean 'died'?",
    ),
    "a column given twice": (
        "cases.csv",
        b"died,risk,risk\n1,.2,.3\n0,.4,.5\n",
        "2 columns are called 'risk'",
        "Rename all but one",
    ),
    "everything at once": (
        "cases.csv",
        csv(
            pd.DataFrame({"Died in hospital": WORDS, "Predicted mortality (%)": 100 * P}),
            patient=np.arange(N) // 2,
            hospital=np.arange(N) % 5,
        ),
        "4 questions: (1) column 'Died in hospital' must be 0/1",
        "(4) column 'hospital' has 5 values",
    ),
}
TYPED = {
    "three classes": {"outcome": "died", "prob": "risk"},
    "a column that is misspelt": {"outcome": "dead", "prob": "risk"},
    "a column given twice": {"outcome": "died", "prob": "risk"},
}
SPELT = {
    "python": {
        "PERCENT": "scale='percent'", "LOGIT": "scale='logit'", "POSITIVE yes": "pos_label='yes'",
        "DROP": "drop_missing=True", "CLUSTER patient": "cluster='patient'",
        "SITE hospital": "site='hospital'", "CLUSTER hospital": "cluster='hospital'",
        "IGNORE hospital": "ignore='hospital'", "PERIOD date": "period='date'",
        "CLUSTER date": "cluster='date'", "IGNORE date": "ignore='date'", "PROB": "prob=",
        "COMPARE": "bayescal.compare_models",
    },
    "typed": {
        "PERCENT": "--scale percent", "LOGIT": "--scale logit", "POSITIVE": "--positive",
        "DROP": "--drop-missing", "CLUSTER": "--cluster", "SITE": "--site",
        "IGNORE": "--ignore-column", "PERIOD": "--period", "PROB": "--prob",
        "COMPARE": "bayescal compare",
    },
    "app": {
        "DROP": "\u201cLeave out rows with",
        "PERCENT": "\u201cPrediction, per cent\u201d", "LOGIT": "\u201cPrediction, log-odds\u201d",
        "PROB": "\u201cPrediction, 0 to 1\u201d", "COMPARE": "In Python, bayescal.compare_models",
    },
}  # fmt: skip
PROPOSED = {
    "percentages",
    "percentages by name",
    "words",
    "ids that repeat",
    "hospitals",
    "dates",
    "everything at once",
}
"""What the page shows as a guess, to be corrected, where other doors ask."""


def by_python(path, capsys, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError) as refused:
            bc.read(path, **named)
    return str(refused.value)


def by_command(path, capsys, **named):
    options = [word for name, column in named.items() for word in (f"--{name}", column)]
    with pytest.raises(SystemExit) as left:
        main(["assess", str(path), *options])
    assert left.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def by_app(path, capsys, **named):
    """What the page shows: questions about the file, or why it is not assessed."""
    if not path.exists():
        pytest.skip("what is dropped on a page is there")
    choices = {"columns": {column: role for role, column in named.items()}}
    desk = Desk()
    try:
        told = desk.open(path.name, path.read_bytes())
        if not named and told["questions"]:
            return " ".join(told["questions"])
        return str(desk.answer(choices))
    except InputError as refused:
        return str(refused)


DOORS = {"python": by_python, "command": by_command, "app": by_app}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("what", FILES)
def test_a_file_is_refused_with_fault_and_cure(tmp_path, capsys, monkeypatch, what, door):
    monkeypatch.chdir(tmp_path)
    name, content, fault, cure = FILES[what]
    if door == "app" and what in PROPOSED:
        told = columns_of(Upload(name, content))
        assert told["questions"] == []
        assert all(each["reason"] for each in told["columns"])
        return
    if door == "app":
        fault = fault.removesuffix(", the first on line 5 of cases.csv")
    if content is not None:
        Path(name).write_bytes(content)
    told = DOORS[door](Path(name), capsys, **TYPED.get(what, {}))
    for word, spelt in SPELT["typed" if door == "command" else door].items():
        cure = cure.replace(word, spelt)
    assert fault in told
    assert cure in told
    assert "Traceback" not in told


READ = {
    "semicolons and decimal commas": ("cases.csv", FRAME.to_csv(sep=";", decimal=",", index=False)),
    "blanks after values": (
        "cases.csv",
        "died , risk\n" + "".join(f"{y} , {p} \n" for y, p in zip(Y, P, strict=True)),
    ),
    "a byte order mark": ("cases.csv", "\ufeff" + FRAME.to_csv(index=False)),
    "UTF-16": ("cases.txt", FRAME.to_csv(sep="\t", index=False).encode("utf-16")),
    "quotes with line ends": (
        "cases.csv",
        FRAME.assign(note='a "b",\nc').to_csv(index=False),
    ),
    "packed": ("cases.csv.gz", gzip.compress(FRAME.to_csv(index=False).encode())),
    "rounding": ("cases.csv", FRAME.assign(risk=P + (P.max() == P) * (1 + 1e-15 - P.max()))),
    "all events": ("cases.csv", FRAME.assign(died=1)),
    "no events": ("cases.csv", FRAME.assign(died=0)),
    "five patients": ("cases.csv", FRAME[:5]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", READ)
@pytest.mark.parametrize("door", ["python", "app"])
def test_what_is_plain_is_read(tmp_path, what, door):
    name, content = READ[what]
    if isinstance(content, pd.DataFrame):
        content = content.to_csv(index=False)
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if door == "python":
        assert bc.read(path, outcome="died", prob="risk").n == (5 if what == "five patients" else N)
    else:
        told = columns_of(Upload(name, path.read_bytes()))
        assert told["names"][:2] == ["died", "risk"]
        assert told["rows"] == (5 if what == "five patients" else N)


@pytest.mark.parametrize("door", DOORS)
def test_cases_without_an_outcome_are_kept_and_counted(tmp_path, capsys, door):
    path = tmp_path / "cases.csv"
    path.write_bytes(csv(FRAME.assign(died=FRAME["died"].astype(float).mask(SOME))))
    if door == "python":
        told = str(bc.assess(bc.read(path, outcome="died", prob="risk")).page())
    elif door == "command":
        with pytest.raises(SystemExit, match=r"^0$"):
            main(["assess", str(path), "--outcome", "died", "--prob", "risk"])
        told = capsys.readouterr().out
    else:
        told = by_app(path, capsys, outcome="died", prob="risk")
    assert "200 cases, of whom 196 have a known outcome" in told
    assert "Of all cases: O/E" in told


@pytest.mark.parametrize("door", ["python", "command"])
def test_a_folder_is_no_table_unless_it_holds_parquet(tmp_path, capsys, door):
    assert "is a folder without a Parquet file" in DOORS[door](tmp_path, capsys)


SHIFTED = pd.Series(P, index=np.arange(1, N + 1))
MATRIX = np.column_stack([1 - P, P])
CALLS = {
    "names of columns in place of columns": (
        lambda: bc.assess(FRAME, "died", "risk"), "died", "outcome="
    ),
    "another length": (lambda: bc.fit(Y, P[:-1]), "200", "199"),
    "a shifted index": (
        lambda: bc.fit(pd.Series(Y), SHIFTED), "labels", "pass y_true.to_numpy() and"
    ),
    "a class matrix": (lambda: bc.fit(Y, np.column_stack([MATRIX, P])), "column", "class"),
    "logits": (lambda: bc.fit(Y, logit(P)), "is outside [0, 1]", "scipy.special.expit"),
    "outcomes and scores swapped": (
        lambda: bc.assess(P, Y), "y_prob holds 0 and 1 alone", "Pass the outcomes first"
    ),
    "scikit-learn's word": (lambda: bc.fit(Y, y_pred=P), "y_pred", "y_prob"),
    "a threshold of 1": (
        lambda: bc.assess(Y, P, thresholds=[1]), "strictly between 0 and 1", "got 1"
    ),
    "a limit of 3": (lambda: bc.assess(Y, P, limit=3), "got 3", "divide by 100"),
    "status 1 and 2": (
        lambda: bc.CalibrationData(bc.Survival(1 + P, Y + 1), P, horizon=1.5),
        "R writes 1 for a case that left and 2 for the event", "pass event == 2",
    ),
    "a horizon beyond the follow-up": (
        lambda: bc.CalibrationData(bc.Survival(P, Y), P, horizon=5), "horizon", "5"
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", CALLS)
def test_a_call_is_refused_with_fault_and_cure(what):
    call, fault, cure = CALLS[what]
    with pytest.raises((InputError, TypeError)) as refused:
        call()
    assert fault in str(refused.value)
    assert cure in str(refused.value)
