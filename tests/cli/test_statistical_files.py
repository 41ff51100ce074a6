"""Files of SPSS, Stata, SAS and R's write.table: the same numbers as from CSV."""

import io
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli.page.worker import columns_of
from bayescal.data.files import Upload, open_table
from bayescal.errors import InputError

HOSPITALS = {1: "North", 2: "South & West"}


@pytest.fixture(scope="module")
def cases():
    y, p = bc.simulate.sample("clinical-middle-overconfident", 60, random_state=1)
    hospital = np.resize([1.0, 2.0], 60)
    return pd.DataFrame({"died": y.astype(float), "risk": p, "hospital": hospital})


def written(cases, folder, ending, **options):
    pyreadstat = pytest.importorskip("pyreadstat")
    path = folder / f"cases{ending}"
    name = {".sav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}[ending]
    getattr(pyreadstat, name)(cases, str(path), **options)
    return path


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_numbers_are_those_of_the_file(cases, tmp_path, ending):
    path = written(cases, tmp_path, ending)
    source = open_table(path)
    assert source.names == ("died", "risk", "hospital")
    np.testing.assert_allclose(source.load().to_numpy(), cases.to_numpy())
    assert source.where(3) == "row 4"


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_a_file_in_memory_is_read_or_a_later_library_is_asked_for(cases, tmp_path, ending):
    import pyreadstat

    path = written(cases, tmp_path, ending)
    upload = Upload(path.name, path.read_bytes())
    try:
        pyreadstat.read_sav(io.BytesIO(b""))
    except TypeError:
        with pytest.raises(InputError, match="--upgrade pyreadstat"):
            open_table(upload)
    except pyreadstat.ReadstatError:
        pd.testing.assert_frame_equal(open_table(upload).load(), open_table(path).load())


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_labels_stand_for_values_where_all_have_one(cases, tmp_path, ending):
    labels = {"hospital": HOSPITALS, "risk": {1: "certain"}}
    if ending == ".dta":
        del labels["risk"]  # Stata labels whole numbers only
    frame = open_table(written(cases, tmp_path, ending, variable_value_labels=labels)).load()
    assert frame["hospital"].tolist() == ["North", "South & West"] * 30
    np.testing.assert_allclose(frame["risk"], cases["risk"])


def test_missing_values_stay_missing_beside_labels(cases, tmp_path):
    some = cases.assign(hospital=[np.nan, *cases["hospital"][1:-1], 9.0])
    options = {
        "variable_value_labels": {"hospital": HOSPITALS},
        "missing_ranges": {"hospital": [9]},
    }
    column = open_table(written(some, tmp_path, ".sav", **options)).load()["hospital"]
    assert column.isna().tolist() == [True, *[False] * 58, True]
    assert column[1] == "South & West"


def test_labelled_outcomes_need_the_event_by_its_label(cases, tmp_path, refused):
    labels = {"died": {0: "alive", 1: "dead"}, "hospital": HOSPITALS}
    path = written(cases, tmp_path, ".sav", variable_value_labels=labels)
    columns = ["--outcome", "died", "--prob", "risk", "--site", "hospital"]
    told = refused(path, *columns)
    assert "--positive" in told
    assert "dead" in told


@pytest.mark.usefixtures("quick")
def test_numbers_on_stdout_are_alone_there(cases, tmp_path, run):
    labels = {"died": {0: "alive", 1: "dead"}}
    path = written(cases, tmp_path, ".sav", variable_value_labels=labels)
    options = ("--outcome", "died", "--positive", "dead", "--ignore-column", "hospital")
    told = run(path, *options, "--json", "-")
    assert json.loads(told.out)["events"] == cases["died"].sum()
    assert "An answer." in told.err
    assert "Wrote" not in told.err
    assert "An answer." in run(path, *options, "--json", tmp_path / "numbers.json").out


@pytest.mark.parametrize("ending", [".sav", ".dta", ".sas7bdat", ".xpt"])
def test_a_broken_file_is_refused_by_its_name(tmp_path, ending):
    pytest.importorskip("pyreadstat")
    path = tmp_path / f"broken{ending}"
    path.write_bytes(b"died,risk\n1,0.2\n")
    with pytest.raises(InputError, match=r"broken.* cannot be read"):
        open_table(path).load()


def test_without_the_library_an_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    path = tmp_path / "cases.sav"
    path.write_bytes(b"x")
    with pytest.raises(InputError, match=r'pip install "bayescal\[stats\]"'):
        open_table(path)


def by_r(cases, row_names):
    """As R's write.table writes: spaces, quoted texts, no heading above the names of rows."""
    lines = ['"died" "risk" "hospital"']
    for k, (died, risk, hospital) in enumerate(cases.itertuples(index=False), 1):
        name = [f'"{k}"'] if row_names else []
        lines.append(" ".join([*name, f"{died:.0f}", repr(risk), f'"{HOSPITALS[hospital]}"']))
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("row_names", [True, False])
@pytest.mark.parametrize("verbatim", [True, False])
def test_what_write_table_writes_is_read(cases, tmp_path, row_names, verbatim):
    path = tmp_path / "cases.txt"
    path.write_text(by_r(cases, row_names))
    source = open_table(path)
    assert source.names == ((*["row.names"] * row_names, "died", "risk", "hospital"))
    frame = source.load(verbatim=verbatim)
    np.testing.assert_allclose(frame["risk"].astype(float), cases["risk"])
    assert frame["hospital"].tolist() == ["North", "South & West"] * 30
    assert source.where(2) == "line 4"


def test_a_text_without_separators_is_no_table_of_r(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("predicted risk\n0.2\n0.3\n")
    assert open_table(path).names == ("predicted risk",)


def test_columns_of_write_table_are_chosen(cases):
    text = by_r(cases, row_names=True).replace('"North"', '"East"', 5)
    told = columns_of(Upload("cases.txt", text.encode()))
    roles = {each["name"]: each["role"] for each in told["columns"]}
    assert (roles["died"], roles["risk"]) == ("outcome", "prob")


R = shutil.which("Rscript")
FROM_R = """
cases <- read.csv("cases.csv")
write.table(cases, "cases.txt")
told <- system2(Sys.getenv("BAYESCAL"), c("assess", "cases.txt", "--outcome", "died",
  "--prob", "risk", "--ignore-column", "hospital", "--seed", "1", "--json", "-"), stdout = TRUE)
cat(substr(paste(told, collapse = ""), 1, 1))
"""


@pytest.mark.slow
@pytest.mark.skipif(R is None, reason="there is no R")
def test_r_calls_the_command(cases, tmp_path):
    assert R is not None
    cases.to_csv(tmp_path / "cases.csv", index=False)
    command = shutil.which("bayescal", path=os.path.dirname(sys.executable))
    assert command is not None, "the environment of the tests has no command"
    done = subprocess.run(
        [R, "-e", FROM_R],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"BAYESCAL": command},
    )
    assert done.stdout.endswith("{")


READS_NUMPY = """
reticulate::use_python(Sys.getenv("BAYESCAL_PYTHON"), required = TRUE)
cat(is.numeric(reticulate::import("numpy")$ones(3L)))
"""
BY_RETICULATE = """
cases <- read.csv("cases.csv")
reticulate::use_python(Sys.getenv("BAYESCAL_PYTHON"), required = TRUE)
bc <- reticulate::import("bayescal")
a <- bc$assess(cases$died, cases$risk, draws = 400L, random_state = 1L)
cat(dim(a$curve_at(c(0.1, 0.2, 0.4))), a$table["tce", "estimate"] >= 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(R is None, reason="there is no R")
def test_r_calls_the_package(cases, tmp_path):
    assert R is not None
    environment = os.environ | {"BAYESCAL_PYTHON": sys.executable}
    asked = subprocess.run([R, "-e", READS_NUMPY], capture_output=True, text=True, env=environment)
    if not asked.stdout.endswith("TRUE"):
        pytest.skip("R has no reticulate that reads arrays of NumPy 2")
    cases.to_csv(tmp_path / "cases.csv", index=False)
    done = subprocess.run(
        [R, "-e", BY_RETICULATE],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.stdout.endswith("3 3 TRUE")
