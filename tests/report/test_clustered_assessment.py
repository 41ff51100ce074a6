"""What an assessment says of clusters."""

import json

import numpy as np
import pytest

import bayescal as bc
from bayescal.model.problem import prepare
from bayescal.report.performance import performance_of


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


@pytest.mark.slow
def test_the_record_has_the_design_and_fits_its_schema(assessment, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    from bayescal.report.record import schema

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


@pytest.mark.parametrize("roles", [{}, {"stratum": "half"}])
def test_c_statistic_and_brier_score_of_every_case_told_ten_times_are_those_of_the_cases(roles):
    rng = np.random.default_rng(4)
    score = rng.uniform(0.05, 0.95, 120)
    outcome = (rng.random(120) < score).astype(int)
    own = {name: np.repeat(np.arange(120) % 2, 10) for name in roles}
    told = [np.repeat(each, 10) for each in (outcome, score, np.arange(120))]
    once = performance_of(prepare(outcome, score), 0.95, 1)
    often = performance_of(prepare(bc.CalibrationData(*told[:2], cluster=told[2], **own)), 0.95, 1)
    naive = performance_of(prepare(*told[:2]), 0.95, 1)
    length, again, short = (each["upper"] - each["lower"] for each in (once, often, naive))
    np.testing.assert_allclose(often["estimate"], once["estimate"])
    assert ((again / length - 1).abs() < 0.12).all()
    assert (short / length < 0.5).all()
