"""What an assessment says of clusters."""

import json

import numpy as np
import pytest

import bayescal as bc


@pytest.fixture(scope="module")
def assessment():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    return bc.assess(y, s, cluster=np.arange(200) // 25, draws=1000, random_state=1)


def test_texts_state_the_effective_number_of_cases(assessment):
    told = str(assessment.posterior.design)
    assert told.startswith("8 clusters; effective n ")
    assert any(told in note for note in assessment.notes)
    assert any("only 8 clusters" in note for note in assessment.notes)
    text = assessment.describe()
    assert told in text
    assert "bootstrap of the clusters (Rubin, 1981)" in text
    assert "doi:10.5705/ss.2009.248" in text


def test_the_record_has_the_design_and_fits_its_schema(assessment, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    from bayescal.assessment.record import schema

    record = json.loads(json.dumps(assessment.to_dict()))
    jsonschema.validate(record, schema())
    assert record["diagnostics"]["clusters"] == 8
    assessment.to_html(tmp_path / "page.html")
    assert "8 clusters; effective n" in (tmp_path / "page.html").read_text("utf-8")


def test_without_clusters_nothing_is_said_of_them():
    y, s = bc.simulate.sample("calibrated", 100, random_state=1)
    a = bc.assess(y, s, draws=400, random_state=1)
    assert "cluster" not in a.describe()
    assert not any("cluster" in note for note in a.notes)
