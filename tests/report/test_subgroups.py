"""Subgroups by several factors in an assessment: text, page and record."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.report.record import schema

N = 300


@pytest.fixture(scope="module")
def a():
    y, s = bc.simulate.sample("clinical-middle-overconfident", N, random_state=4)
    patients = pd.DataFrame(
        {"sex": np.resize(["F", "M"], N), "<i>age": np.resize(["<60", "60+", "60+"], N)}
    )
    return bc.assess(y, s, subgroup=patients, draws=2000, random_state=4)


def test_all_cases_are_assessed_and_subgroups_beside_them(a):
    assert a.posterior.data.n == N
    assert not a.data.groups
    alone = bc.assess(a.data, draws=2000, random_state=4)
    assert alone.headline() != a.headline()
    assert a.facts.table.equals(a.facts.several.at().summary())
    assert list(a.facts.populations.index) == ["these", "pooled", "average"]
    assert a.facts.several.problem.kind == "subgroups"
    pd.testing.assert_frame_equal(a.facts.by_subgroup, a.facts.several.table())
    assert not alone.facts.subgroups


def test_the_terminal_has_every_level_and_the_sentences(a):
    text = str(a)
    assert max(map(len, text.splitlines())) <= 80
    table = a.tables["levels"]
    for row, cells in zip(table.rows, table.texts().values(), strict=True):
        (line,) = [line for line in text.splitlines() if line.startswith(f"  {row.label} ")]
        for part in ("cases", "observed_expected", "raw"):
            assert cells[part] in line
    told = " ".join(text.split())
    assert "By sex the calibration error is largest for" in told


def test_rows_of_cells_are_those_of_the_table(a):
    rows = [*a.tables["levels"].rows, *a.tables["combinations"].rows]
    assert [row["cases"] for row in rows] == a.facts.by_subgroup["cases"].tolist()
    assert [row["tce"] for row in rows] == a.facts.by_subgroup["tce"].tolist()
    assert sorted(row.label for row in rows[4:]) == sorted(
        ", ".join(c.values()) for c in a.facts.crossed.cells
    )


def test_the_record_has_every_subgroup_and_keeps_to_its_schema(a):
    record = json.loads(json.dumps(a.to_dict()))["subgroups"]
    assert len(record) == len(a.facts.by_subgroup) == 8
    assert record[0]["levels"] == {"sex": "F"}
    for row, (_, mine) in zip(record, a.facts.by_subgroup.iterrows(), strict=True):
        assert row["tce"] == mine["tce"]
        assert row["observed_expected_raw"] == mine["observed_expected_raw"]
    jsonschema.validate(json.loads(json.dumps(a.to_dict())), schema())


@pytest.mark.slow
def test_the_page_has_a_section_and_escapes_labels(a, tmp_path):
    a.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<h2>By subgroup</h2>" in page
    assert "<i>age" not in page
    assert "&lt;i&gt;age" in page
    assert "subgroup=" in page
    assert bc.read_report(tmp_path / "report.html")["subgroups"] == json.loads(
        json.dumps(a.to_dict()["subgroups"])
    )
