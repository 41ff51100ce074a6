"""Outcomes that a judge recorded: every door follows, or says why not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.errors import InputError

JUDGE = bc.Judged(sensitivity=(90, 100), specificity=(95, 100))
FAST = {"curve": "logistic", "draws": 400, "random_state": 1}


def recorded(n=600, seed=3):
    """Outcomes of a calibrated model as the judge records them, and scores."""
    rng = np.random.default_rng(seed)
    score = np.round(1 / (1 + np.exp(-rng.normal(-1, 1.2, n))), 2).clip(0.01, 0.99)
    event = rng.random(n) < score
    return (rng.random(n) < np.where(event, 0.9, 0.05)).astype(int), score


@pytest.fixture(scope="module")
def assessed():
    return bc.assess(*recorded(200), judged=JUDGE, draws=400, random_state=1)


def test_results_are_of_the_true_outcomes():
    """The sharpest and the bluntest risks are pulled apart again, and intervals are wider."""
    y, p = recorded(4000)
    naive, post = bc.fit(y, p, **FAST), bc.fit(y, p, judged=JUDGE, **FAST)
    assert naive.interval("calibration_slope")[1] < 0.95
    assert post.interval("calibration_slope")[1] > 1
    assert naive.prob_tce_below(0.01) < 0.01
    lower, upper = post.interval("observed_expected")
    assert lower < 1 < upper
    own = naive.interval("observed_expected")
    assert upper - lower > 1.5 * (own[1] - own[0])


@pytest.mark.slow
def test_fit_is_the_average_that_compare_makes():
    y, p = recorded()
    post = bc.fit(y, p, judged=JUDGE, draws=400, random_state=1, curves=["identity", "beta"])
    cmp = bc.compare(y, p, judged=JUDGE, draws=400, random_state=1, curves=["identity", "beta"])
    assert post.summary().equals(cmp.posterior.summary())
    assert np.isnan(cmp.prob_calibrated_bic)
    assert "BIC" not in cmp.prob_by_prior.index
    alone = bc.fit(y, p, curve="identity", judged=JUDGE, draws=400, random_state=1)
    evidence = float(alone.diagnostics["log_evidence"])
    assert cmp.table.loc["identity", "log_evidence"] == pytest.approx(evidence)
    assert cmp.table["elpd_loo"].between(evidence - 8, evidence + 8).all()


def test_the_judge_belongs_to_the_data(tmp_path):
    """Any door that is given the table back knows the judge, and gives the same numbers."""
    y, p = recorded(200)
    post, table = bc.fit(y, p, judged=JUDGE, **FAST), bc.CalibrationData(y, p, judged=JUDGE)
    assert post.data == table != bc.CalibrationData(y, p)
    assert post.data.judged == JUDGE
    assert bc.fit(table, **FAST).summary().equals(post.summary())
    assert bc.fit(post.data, **FAST).summary().equals(post.summary())
    post.to_netcdf(tmp_path / "post.nc")
    again = bc.load(tmp_path / "post.nc")
    assert again.data == table
    assert bc.fit(again.data, **FAST).summary().equals(post.summary())


def test_tables_keep_their_judge(tmp_path):
    y, p = recorded(60)
    site, other = np.arange(60) % 2, bc.Judged(sensitivity=(9, 10), specificity=(9, 10))
    table = bc.CalibrationData(y, p, site=site, judged=JUDGE)
    frame = pd.DataFrame({"y": y, "p": p, "site": site})
    columns = {"outcome": "y", "score": "p", "site": "site", "judged": JUDGE}
    frame.to_parquet(tmp_path / "cases.parquet")
    table.to_netcdf(tmp_path / "table.nc")
    for same in (
        bc.CalibrationData.from_frame(frame, **columns),
        bc.CalibrationData.from_parquet(tmp_path / "cases.parquet", **columns),
        bc.CalibrationData.from_chunks([(y, p, None, site)], judged=JUDGE),
        bc.CalibrationData.from_counts(p, np.ones(60), y, site=site, judged=JUDGE),
        bc.CalibrationData.from_netcdf(tmp_path / "table.nc"),
        bc.CalibrationData(y, p, site=site).recorded_by(JUDGE),
    ):
        assert same == table
    assert "recorded by a judge" in repr(table)
    for part in (table.pooled(), table.select(site="1"), table.without("site"), table + table):
        assert part.judged == JUDGE
    both = bc.CalibrationData.from_imputations([table, table])
    assert [each.judged for each in (both, *both.imputations)] == [JUDGE] * 3
    for unlike in (table.recorded_by(other), table.recorded_by(None)):
        with pytest.raises(InputError, match="not recorded by one judge"):
            table + unlike
        with pytest.raises(InputError, match="not recorded by one judge"):
            bc.CalibrationData.from_imputations([table, unlike])
    with pytest.raises(InputError, match=r"judged must be a bc\.Judged"):
        bc.CalibrationData(y, p, judged=0.9)


@pytest.mark.slow
def test_update_is_one_fit_on_all_cases():
    y, p = recorded()
    for how in (FAST, {"draws": 400, "random_state": 1}):
        both = bc.update(bc.fit(y[:400], p[:400], judged=JUDGE, **how), y[400:], p[400:])
        assert both.summary().equals(bc.fit(y, p, judged=JUDGE, **how).summary())


def test_sampling_weights_count_as_effective_cases():
    y, p = recorded(300)
    weights = {"sample_weight": np.full(300, 2.0), "weight_type": "sampling"}
    even = bc.fit(y, p, judged=JUDGE, **weights, **FAST)
    alone = bc.fit(y, p, judged=JUDGE, **FAST)
    np.testing.assert_allclose(even.interval("tce"), alone.interval("tce"), rtol=1e-6)


@pytest.mark.parametrize("role", ["site", "period", "cluster", "stratum"])
def test_what_is_fitted_to_known_outcomes_is_refused_by_name(role):
    y, p = recorded(60)
    labels = {role: np.arange(60) % 3}
    if role == "stratum":
        labels["cluster"] = np.arange(60)
    table = bc.CalibrationData(y, p, **labels, judged=JUDGE)
    first = {"stratum": "cluster"}.get(role, role)
    with pytest.raises(InputError, match=f"judged was given beside {first}"):
        bc.fit(table)


def test_other_doors_refuse_by_name():
    y, p = recorded(60)
    groups = np.arange(60) % 3
    table = bc.CalibrationData(y, p, groups=groups, judged=JUDGE)
    with pytest.raises(InputError, match="judged was given beside imputation"):
        bc.fit(y, imputations=[p, p], judged=JUDGE)
    with pytest.raises(InputError, match="judged was given beside cluster"):
        bc.compare(y, p, cluster=groups, judged=JUDGE)
    for door in (bc.fit, bc.assess, bc.build_model):
        with pytest.raises(InputError, match="judged was given beside site"):
            door(table)
    with pytest.raises(InputError, match=r"judged must be a bc\.Judged"):
        bc.fit(y, p, judged=(0.9, 0.95))
    post = bc.fit(y, p, judged=JUDGE, **FAST)
    with pytest.raises(InputError, match="of outcomes that a judge recorded"):
        bc.combine_imputations([post, post])
    doors = (bc.estimators.ece, bc.recalibrate.LogisticRecalibrator().fit)
    for door in (*doors, lambda table: bc.recalibration_gain(table, after=p)):
        with pytest.raises(InputError, match="recorded by a judge right on 90 of 100"):
            door(post.data)
    assert bc.recommend(post.data, draws=400, random_state=1).choice is None
    with pytest.raises(InputError, match="judged was given beside a CalibrationData"):
        bc.fit(post.data, judged=JUDGE)
    for goal in ({"analysis": "wald"}, {"of": "c_statistic"}, {"of": "gain"}):
        with pytest.raises(InputError, match="judged was given with an analysis"):
            bc.plan(
                **({"of": "calibration_slope", "width": 0.3} | goal),
                truth="clinical",
                scores=p,
                judged=JUDGE,
            )


@pytest.mark.slow
def test_the_page_says_who_recorded_the_outcomes(assessed, tmp_path):
    judge = "a judge right on 90 of 100 events and 95 of 100 non-events"
    for text in (str(assessed), assessed.describe(), " ".join(assessed.notes)):
        assert f"recorded by {judge}" in " ".join(text.split())
    assessed.to_html(tmp_path / "report.html")
    assert judge in (tmp_path / "report.html").read_text("utf-8")
    record = assessed.to_dict()
    assert judge in " ".join(record["first"])
    assert record["observed_expected_in_data"] is None
    assert "in the data" not in str(assessed)


def test_nothing_is_recommended_and_no_size_is_said_to_settle(assessed):
    assert assessed.recommendation.choice is None
    assert "known of true outcomes alone" in str(assessed.recommendation)
    assert assessed.verdict != "cannot tell" or np.isnan(assessed.more_to_settle)


def test_estimators_stand_beside_what_judged_outcomes_of_a_calibrated_model_give(assessed):
    """Taken as the truth they would be larger than chance allows."""
    y, p = recorded(4000)
    ece = [
        bc.check_consistency(bc.fit(y, p, **FAST, **how), "ece", n_resamples=200)
        for how in ({}, {"judged": JUDGE})
    ]
    assert ece[0].observed == ece[1].observed
    assert ece[0].prob_calibrated_exceeds < 0.02
    assert ece[1].prob_calibrated_exceeds > 0.05
    assert assessed.estimators["calibrated_upper"].notna().all()


@pytest.mark.slow
def test_the_pymc_model_has_the_judge_as_variables():
    y, p = recorded(60)
    model = bc.build_model(y, p, curve="logistic", judged=JUDGE)
    names = {variable.name for variable in model.free_RVs}
    assert {"shift", "log_slope", "sensitivity", "specificity"} == names


@pytest.mark.slow
def test_a_study_is_planned_as_it_will_be_judged():
    scores = recorded(400)[1]
    goal = {"width": 0.5, "of": "calibration_slope", "analysis": "curve", "curve": "logistic"}
    how = {"scores": scores, "n_simulations": 50, "draws": 400, "random_state": 1}
    goal |= {"truth": "clinical", "assurance": None}
    known, judged = bc.plan(**goal, **how), bc.plan(**goal, **how, judged=JUDGE)
    assert judged.n > 1.2 * known.n
    assert "recorded by a judge right on 90 of 100" in judged.protocol()
    assert judged.table["closed_form"].isna().all()


def test_few_scores_have_no_risk_of_their_own_under_a_judge():
    rng = np.random.default_rng(0)
    p = rng.choice([0, 0.2, 0.5, 0.8, 1], 120)
    y = (rng.random(120) < 0.05 + 0.85 * p).astype(int)
    cmp = bc.compare(y, p, judged=JUDGE, draws=400)
    assert "saturated" not in cmp.table.index
    assert "saturated" in bc.compare(y, p, draws=400).table.index
    with pytest.raises(InputError, match="these outcomes have the law 'judged'"):
        bc.fit(y, p, curve="saturated", judged=JUDGE)
