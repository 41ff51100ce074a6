"""A column of hospitals or dates asks what it means, and each answer is taken."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main
from bayescal.cli.reading import COMMAND_LINE
from bayescal.data.columns import Columns, Request
from bayescal.data.guesses import guess
from bayescal.errors import InputError

CASES = pd.DataFrame({"died": [0, 1, 1], "risk": [0.2, 0.3, 0.4]})


def asked(frame, ignore=()):
    told = Request("a.csv", Columns("died", "risk"), ignore=ignore, door=COMMAND_LINE)
    guess(pd.concat([CASES, frame], axis=1), told).answered()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    y, s = bc.simulate.sample("calibrated", 120, random_state=1)
    path = tmp_path_factory.mktemp("asked") / "cases.csv"
    pd.DataFrame({"died": y, "risk": s, "Hospital": np.arange(120) % 6}).to_csv(path, index=False)
    return path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    shown = capsys.readouterr()
    return int(ended.value.code or 0), " ".join(shown.out.split()), " ".join(shown.err.split())


def test_a_column_of_hospitals_asks(capsys, file):
    told = ["--outcome", "died", "--prob", "risk"]
    code, _, err = run(capsys, "assess", str(file), *told)
    assert code == 2
    assert "column 'Hospital' has 6 values in 120 rows" in err
    assert "--site Hospital, or --cluster Hospital, or --ignore-column Hospital" in err


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "answer",
    [["--ignore-column", "Hospital"], ["--cluster", "Hospital"], ["--independent"]],
)  # fmt: skip
def test_each_answer_is_taken(capsys, file, answer):
    told = ["--outcome", "died", "--prob", "risk", "--seed", "1"]
    code, out, _ = run(capsys, "assess", str(file), *told, *answer)
    assert code == 0
    assert "120" in out


def test_a_command_without_sites_does_not_offer_them(capsys, file):
    code, _, err = run(capsys, "compare", str(file), "--outcome", "died", "--prob", "risk")
    assert code == 2
    assert "--site" not in err
    assert "--cluster Hospital, or --ignore-column Hospital" in err


def test_a_column_that_is_ignored_must_be_there(capsys, file):
    told = ["--outcome", "died", "--prob", "risk", "--ignore-column", "ward"]
    code, _, err = run(capsys, "assess", str(file), *told)
    assert code == 2
    assert "--ignore-column: there is no column 'ward'" in err


@pytest.mark.parametrize(
    ("name", "role"),
    [("site", "site"), ("Centre", "site"), ("study", "site"), ("month", "period"),
     ("Date", "period"), ("clinic", "site")],
)  # fmt: skip
def test_names_and_roles(name, role):
    frame = pd.DataFrame({name: ["a", "a", "b"]})
    with pytest.raises(InputError, match=f"--{role} {name}, or --cluster {name}"):
        asked(frame)
    asked(frame, (name,))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"hospital": ["a", "a", "a"]}),
        pd.DataFrame({"date": ["1", "2", "3"]}),
        pd.DataFrame({"hospitalised": [0, 1, 1]}),
        pd.DataFrame({"site": [[1], [1], [2]]}),
        pd.DataFrame([[1, 2], [1, 3], [2, 2]], columns=["site", "site"]),
    ],
    ids=["one value", "no repeats", "another name", "lists", "two columns"],
)
def test_what_says_nothing_is_not_asked(frame):
    asked(frame)


def test_a_long_table_of_imputations_is_told_from_repeated_patients(capsys, file):
    table = pd.read_csv(file).drop(columns="Hospital").assign(id=np.arange(120))
    long = pd.concat([table.assign(**{".imp": k}) for k in (1, 2, 3)])
    path = file.with_name("imputed.csv")
    long.to_csv(path, index=False)
    told = ("--outcome", "died", "--prob", "risk")
    code, _, err = run(capsys, "assess", str(path), *told)
    assert code == 2
    assert "If rows of one are its imputations, add --imputation .imp" in err
