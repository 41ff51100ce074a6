"""`bayescal assess --imputation`: a long table, one row for each case and imputation."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main

M, N = 3, 60


class Run(NamedTuple):
    """What a command printed, and its exit code."""

    exit_code: int
    output: str


@pytest.fixture
def long():
    y, s = bc.simulate.sample("clinical-middle-overconfident", N, random_state=1)
    rng = np.random.default_rng(1)
    parts = [
        pd.DataFrame({".imp": k, ".id": np.arange(N), "died": y, "risk": s**power})
        for k, power in enumerate(rng.uniform(0.8, 1.2, M), 1)
    ]
    return pd.concat(parts)


@pytest.fixture
def run(capsys, tmp_path):
    def invoke(table, *options):
        path = tmp_path / "long.csv"
        table.to_csv(path, index=False)
        columns = ["--imputation", ".imp", "--outcome", "died", "--prob", "risk", "--seed", "1"]
        with pytest.raises(SystemExit) as ended:
            main(["assess", str(path), *columns, *options])
        printed = capsys.readouterr()
        return Run(int(ended.value.code or 0), " ".join((printed.out + printed.err).split()))

    return invoke


@pytest.fixture
def refusal(run):
    def told(table, *options):
        result = run(table, *options)
        assert result.exit_code == 2
        return result.output

    return told


def matrix(table):
    scores = table["risk"].to_numpy().reshape(M, N)
    return table["died"].to_numpy()[:N], scores


@pytest.mark.slow
def test_it_is_the_assessment_of_the_imputations(long, tmp_path, run, refusal):
    file = tmp_path / "record.json"
    result = run(long, "--json", str(file))
    assert result.exit_code == 0
    assert f"{M} imputations of {N} cases (column .imp)" in result.output
    record = json.loads(file.read_text())
    y, scores = matrix(long)
    expected = bc.assess(y, imputation=scores, random_state=1).to_dict()
    assert record["imputations"]["number"] == expected["imputations"]["number"]
    both = [
        (record["functionals"], expected["functionals"]),
        (record["imputations"]["functionals"], expected["imputations"]["functionals"]),
    ]
    for written, known in both:
        assert written.keys() == known.keys()
        for name, row in known.items():
            numbers = {key: value for key, value in row.items() if isinstance(value, float)}
            got = {key: written[name][key] for key in numbers}
            assert got == pytest.approx(numbers, rel=1e-9, abs=1e-12)
    assert (record["source"]["imputation"], record["source"]["imputations"]) == (".imp", M)


def test_one_family(long, tmp_path, run, refusal):
    result = run(long)
    assert result.exit_code == 0
    assert "missing information" in result.output


def test_the_rows_of_the_imputations_may_alternate(long, tmp_path, run, refusal):
    files = tmp_path / "a.json", tmp_path / "b.json"
    alternating = long.sort_values([".id", ".imp"])
    for table, file in zip((long, alternating), files, strict=True):
        assert run(table, "--json", str(file)).exit_code == 0
    first, second = (json.loads(file.read_text())["functionals"] for file in files)
    assert first == second


def test_the_data_before_imputation_are_left_out(long, tmp_path, run, refusal):
    before = long[long[".imp"] == 1].assign(**{".imp": 0})
    before.loc[before.index[:5], "risk"] = np.nan
    both = pd.concat([before, long])
    result = run(both)
    assert result.exit_code == 0
    told = result.output
    assert f"{N} rows of imputation 0 left out: values are missing there" in told
    assert f"{M} imputations of {N} cases" in told


def test_imputations_counted_from_0_are_all_read(long, tmp_path, run, refusal):
    long[".imp"] -= 1
    result = run(long)
    assert f"{M} imputations of {N} cases" in result.output


def test_outcomes_that_differ_were_imputed(long, tmp_path, run, refusal):
    long.iloc[N + 7, long.columns.get_loc("died")] ^= 1
    result = run(long)
    assert result.exit_code == 0
    assert "Outcomes were imputed too" in " ".join(result.output.split())


def test_other_cases_in_an_imputation_are_refused(long, tmp_path, run, refusal):
    told = refusal(long.iloc[:-1])
    assert "imputation '1' has" in told
    assert "the same cases, with the same weights" in told


def test_lines_are_those_of_the_file_beside_rows_left_out(long, tmp_path, run, refusal):
    before = long[long[".imp"] == 1].assign(**{".imp": 0})
    before.loc[before.index[:5], "risk"] = np.nan
    long.iloc[N + 7, long.columns.get_loc("risk")] = np.nan
    assert f"line {2 * N + 9}" in refusal(pd.concat([before, long]))


def test_tables_that_are_not_of_imputations_are_refused(long, tmp_path, run, refusal):
    assert "imputation '1' has 60 cases and imputation '3' has 59" in refusal(long.iloc[:-1])
    assert "holds one imputation, '1'" in refusal(long[long[".imp"] == 1])
    gaps = long.assign(**{".imp": long[".imp"].where(np.arange(M * N) != 3)})
    assert "a value of .imp, the first on line 5" in refusal(gaps)
    renamed = long.rename(columns={".imp": "k"})
    assert "--imputation: there is no column '.imp'" in refusal(renamed)


@pytest.mark.slow
def test_sites_of_several_imputations(long, run):
    result = run(long.assign(ward=long[".id"] % 2), "--site", "ward")
    assert f"{M} imputations of {N} cases" in result.output
    assert "Site Cases Events TCE" in result.output


def test_cases_that_lack_a_score_in_every_imputation_are_left_out(long, tmp_path, run, refusal):
    long.loc[long[".id"] == 5, "risk"] = np.nan
    result = run(long, "--drop-missing")
    assert f"{M} imputations of {N - 1} cases" in result.output


@pytest.mark.slow
def test_a_running_table_keeps_imputations_and_clusters(long, tmp_path, run, refusal):
    options = ("--cluster", ".id")
    long = long.assign(risk=long["risk"].round(6))  # read back the same by every version of pandas
    for part in (long[long[".id"] < 20], long[long[".id"] >= 20]):
        assert run(part, *options, "--update", str(tmp_path / "t.nc")).exit_code == 0
    data = bc.CalibrationData.from_netcdf(tmp_path / "t.nc")
    assert data.roles == ("imputation", "cluster")
    assert data == bc.CalibrationData.from_frame(
        long, outcome="died", prob="risk", imputation=".imp", cluster=".id"
    )
