"""The statistics of R's val.prob, by its names."""

import json

import numpy as np
import pytest

import bayescal as bc
from bayescal.report.performance import VAL_PROB, raw_cases, val_prob
from clinical_sets import read

PRINTED = "pmcalibration + rms::val.prob (README.md of stephenrho/pmcalibration 0.2.0)"


def test_they_are_what_rms_prints(shared_data):
    actual = val_prob(bc.CalibrationData(*read(shared_data, "pmcalibration_readme_sim2345")))
    stored = json.loads((shared_data / "oracles" / "clinical.json").read_text("utf-8"))
    printed = stored["published"][PRINTED]["rms_val.prob"]
    printed["C (ROC)"] = printed.pop("C")
    assert set(actual.index) == set(printed)
    for name, value in printed.items():
        assert actual[name] == pytest.approx(value, abs=5.01e-4), name


@pytest.mark.parametrize("name", ["predtools_val_data", "dcurves_df_binary", "impact_tbi_iecv"])
def test_they_are_those_of_base_r(clinical, name):
    *cases, known = clinical(name)
    expected = of_base_r(known)
    for key, value in as_assessed(*cases).items():
        if key in expected:
            assert value == pytest.approx(expected[key], rel=1e-6, abs=1e-9), key
    table = bc.CalibrationData(*cases)
    bounds = {"rel": 1e-2, "abs": 2e-4} if table.is_compressed else {"rel": 1e-6, "abs": 1e-9}
    actual = val_prob(table)
    for key, value in expected.items():
        assert actual[key] == pytest.approx(value, **bounds), key


def of_base_r(known):
    return {
        "C (ROC)": known["C"],
        "Brier": known["Brier"],
        "D": known["D"],
        "D:Chi-sq": known["D_chisq"],
        "U": known["U"],
        "Q": known["Q"],
        "S:z": known["Spiegelhalter"]["Z"],
        "S:p": known["Spiegelhalter"]["P"],
        "Eavg": known["valprob_lowess"]["Eavg"],
        "E90": known["valprob_lowess"]["E90"],
    }


def as_assessed(y_true, y_prob, **options):
    """What an assessment gives, without the rest of it."""
    a = bc.assess(y_true, y_prob, estimators=(), draws=400, random_state=1, **options)
    return a.val_prob()


def test_of_many_scores_they_are_those_of_the_cases():
    """On a grid the digits that R prints are lost, whatever the weights."""
    rng = np.random.default_rng(5)
    score = rng.beta(1, 4, 23_034)
    outcome = (rng.random(score.size) < score).astype(float)
    weighted = (1 - 2 * score) ** 2 * score * (1 - score)
    z = ((outcome - score) * (1 - 2 * score)).sum() / np.sqrt(weighted.sum())
    actual = as_assessed(outcome, score)
    assert actual["S:z"] == pytest.approx(z, rel=1e-12)
    assert abs(val_prob(bc.CalibrationData(outcome, score))["S:z"] - z) > 1e-5
    named = as_assessed(np.where(outcome == 1, "dead", "alive"), score, pos_label="dead")
    assert named.equals(actual)


def test_weights_are_those_of_the_table():
    rng = np.random.default_rng(6)
    score, weight = rng.beta(2, 5, 3000), rng.lognormal(size=3000)
    outcome = (rng.random(3000) < score).astype(float)
    coarse = score.round(3)
    exact = val_prob(bc.CalibrationData(outcome, coarse, weight))
    table = bc.CalibrationData(outcome, score, weight)
    (raw,) = raw_cases(table)
    assert raw.weight.sum() == pytest.approx(table.effective_size)
    np.testing.assert_allclose(val_prob(raw._replace(score=coarse)), exact, rtol=1e-9)
    near = as_assessed(outcome, score, sample_weight=weight)
    on_grid = val_prob(table).dropna()
    np.testing.assert_allclose(near[on_grid.index], on_grid, rtol=0.02, atol=0.003)
    ranked = bc.scores.c_statistic(outcome, score, sample_weight=weight)
    assert near["C (ROC)"] == pytest.approx(ranked, rel=1e-12)


def test_each_imputation_has_its_own_cases():
    rng = np.random.default_rng(7)
    score = rng.beta(2, 5, (2, 2500))
    outcome = (rng.random(2500) < score.mean(axis=0)).astype(float)
    a = bc.assess(outcome, imputation=score, estimators=(), draws=400, random_state=1)
    expected = np.mean([bc.scores.brier_score(outcome, row) for row in score])
    assert a.val_prob()["Brier"] == pytest.approx(expected, rel=1e-12)


def test_what_the_data_do_not_define_is_nan():
    actual = val_prob(bc.CalibrationData([0, 0, 0], [0.2, 0.4, 0.4]))
    assert list(actual.index) == list(VAL_PROB)
    assert np.isnan(actual[["Dxy", "C (ROC)", "R2", "Intercept", "Slope"]]).all()
    assert actual["Brier"] == pytest.approx((0.04 + 0.16 + 0.16) / 3)
