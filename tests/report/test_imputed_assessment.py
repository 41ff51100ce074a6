"""assess(imputations=): the report of several imputations, and the tables that it averages."""

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.report.performance import combined_estimates
from bayescal.report.record import schema

OPTIONS = {"draws": 400, "random_state": 1, "estimators": ["ece", "ici"]}


@pytest.fixture(scope="module")
def scores():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 150, random_state=9)
    return y, expit(logit(s) + np.random.default_rng(9).normal(0, 0.3, (3, 150)))


@pytest.fixture(scope="module")
def assessment(scores):
    y, imputations = scores
    return bc.assess(y, imputation=imputations, thresholds=[0.3], **OPTIONS)


def test_estimates_are_means_over_imputations(scores, assessment):
    y, imputations = scores
    for name in ("ece", "ici"):
        each = [getattr(bc.estimators, name)(y, score) for score in imputations]
        assert assessment.facts.estimators.loc[name, "estimate"] == pytest.approx(np.mean(each))
    c = [bc.scores.c_statistic(y, score) for score in imputations]
    assert assessment.facts.performance.loc["c_statistic", "estimate"] == pytest.approx(np.mean(c))
    each = [bc.assess(y, score, **OPTIONS).val_prob() for score in imputations]
    assert assessment.val_prob()["Slope"] == pytest.approx(np.mean([one["Slope"] for one in each]))


def test_the_report_says_so(assessment):
    record = assessment.to_dict()
    jsonschema.validate(record, schema())
    assert record["imputations"]["number"] == 3
    shares = record["imputations"]["functionals"]
    told = f"{shares['observed_expected']['missing_information']:.2f} (observed / expected events)"
    assert any("3 imputations were combined" in note and told in note for note in record["notes"])
    assert told in " ".join(str(assessment).split())
    text = assessment.describe()
    assert "3 imputations were combined" in text
    assert "Rubin DB (1987)" in text
    assert "Zhou X, Reiter JP (2010)" in text


def test_the_page_is_written(assessment, tmp_path):
    assessment.to_html(tmp_path / "report.html")
    assert "3 imputations were combined" in (tmp_path / "report.html").read_text("utf-8")
    assert bc.read_report(tmp_path / "report.html")["imputations"]["number"] == 3


def test_equal_imputations_are_one_assessment(scores):
    y, imputations = scores
    one = bc.assess(y, imputations[0], **OPTIONS)
    same = bc.assess(y, imputation=[imputations[0]] * 2, **OPTIONS)
    numbers = one.facts.estimators.select_dtypes("number").columns
    np.testing.assert_allclose(same.facts.estimators[numbers], one.facts.estimators[numbers])
    assert same.headline() == one.headline()
    assert str(same.recommendation) == str(one.recommendation)
    assert one.facts.missing_information is None
    assert "imputations" not in one.to_dict()


def table(estimate, lower, upper):
    values = {"title": "x", "estimate": estimate, "lower": lower, "upper": upper}
    return pd.DataFrame(values, index=["x"])


def test_intervals_have_the_variance_between_imputations():
    row = combined_estimates([table(1.0, 0.5, 2.0), table(3.0, 2.5, 4.0)], 0.95).loc["x"]
    extra = 1.959963985**2 * 1.5 * 2
    assert row["estimate"] == 2
    assert row["lower"] == pytest.approx(2 - np.sqrt(0.25 + extra))
    assert row["upper"] == pytest.approx(2 + np.sqrt(1 + extra))
    one = table(1.0, 0.5, 2.0)
    assert combined_estimates([one], 0.95) is one


def test_a_large_fraction_with_few_imputations_is_noted():
    y, s = bc.simulate.sample("calibrated", 150, random_state=2)
    noise = np.random.default_rng(2).normal(0, 2.5, (3, 150))
    a = bc.assess(y, imputation=expit(logit(s) + noise), **OPTIONS)
    assert any("impute at least 20 times" in note for note in a.notes)
