"""`bayescal assess --imputation`: a long table, one row for each case and imputation."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescal as bc

M, N = 3, 60


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
def told(run, refused, tmp_path):
    """What an assessment of a table prints; or why it is refused."""

    def invoke(table, *options, fails=False):
        path = tmp_path / "long.csv"
        table.to_csv(path, index=False)
        columns = ["--imputation", ".imp", "--outcome", "died", "--prob", "risk", "--seed", "1"]
        words = ("assess", path, *columns, *options)
        if fails:
            return " ".join(refused(*words).split())
        result = run(*words)
        assert result.code == 0
        return result.told

    return invoke


def matrix(table):
    scores = table["risk"].to_numpy().reshape(M, N)
    return table["died"].to_numpy()[:N], scores


@pytest.mark.slow
def test_it_is_the_assessment_of_the_imputations(long, tmp_path, told):
    file = tmp_path / "record.json"
    printed = told(long, "--json", str(file))
    assert f"{M} imputations of {N} cases (column .imp)" in printed
    assert "missing information" in printed
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


def test_the_rows_of_the_imputations_may_alternate(long, tmp_path, told):
    files = tmp_path / "a.json", tmp_path / "b.json"
    alternating = long.sort_values([".id", ".imp"])
    for table, file in zip((long, alternating), files, strict=True):
        told(table, "--json", str(file))
    first, second = (json.loads(file.read_text())["functionals"] for file in files)
    assert first == second


def test_the_data_before_imputation_are_left_out(long, told):
    before = long[long[".imp"] == 1].assign(**{".imp": 0})
    before.loc[before.index[:5], "risk"] = np.nan
    printed = told(pd.concat([before, long]))
    assert f"{N} rows of imputation 0 left out: values are missing there" in printed
    assert f"{M} imputations of {N} cases" in printed
    long.iloc[N + 7, long.columns.get_loc("risk")] = np.nan
    assert f"line {2 * N + 9}" in told(pd.concat([before, long]), fails=True)


def test_imputations_counted_from_0_are_all_read(long, told):
    long[".imp"] -= 1
    assert f"{M} imputations of {N} cases" in told(long)


def test_outcomes_that_differ_were_imputed(long, told):
    long.iloc[N + 7, long.columns.get_loc("died")] ^= 1
    assert "Outcomes were imputed too" in told(long)


def test_tables_that_are_not_of_imputations_are_refused(long, told):
    gaps = long.assign(**{".imp": long[".imp"].where(np.arange(M * N) != 3)})
    for table, message in (
        (long.iloc[:-1], "imputation '1' has 60 cases and imputation '3' has 59"),
        (long.iloc[:-1], "the same cases, with the same weights"),
        (long[long[".imp"] == 1], "holds one imputation, '1'"),
        (gaps, "1 in '.imp', the first on line 5"),
        (long.rename(columns={".imp": "k"}), "--imputation: there is no column '.imp'"),
    ):
        assert message in told(table, fails=True)


def test_cases_that_lack_a_score_in_every_imputation_are_left_out(long, told):
    long.loc[long[".id"] == 5, "risk"] = np.nan
    assert f"{M} imputations of {N - 1} cases" in told(long, "--drop-missing")


@pytest.mark.slow
def test_a_running_table_keeps_imputations_and_clusters(long, tmp_path, told):
    file = tmp_path / "t.nc"
    long = long.assign(risk=long["risk"].round(6))  # read back the same by every version of pandas
    for part in (long[long[".id"] < 20], long[long[".id"] >= 20]):
        told(part, "--cluster", ".id", "--update", file)
    data = bc.CalibrationData.from_netcdf(file)
    assert data.roles == ("imputation", "cluster")
    assert data == bc.CalibrationData.from_frame(
        long, outcome="died", prob="risk", imputation=".imp", cluster=".id"
    )
