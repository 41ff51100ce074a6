"""What the assessment says of groups as sites of one hierarchical fit."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import bayescal as bc
from bayescal.assessment.text.sites import log_bayes_factor, site_sentences
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.posterior import MultilevelPosterior


@pytest.fixture
def findings():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bc.assess(y, s, site=np.resize(["A", "B", "C"], 300), random_state=1)


def test_both_sides_of_the_bayes_factor_have_the_prior_of_the_average(findings):
    post = findings.sites
    prior = post.problem.pooled.prior
    one = bc.fit(findings.data.pooled(), curve="logistic", prior=prior, random_state=1)
    rise = post.diagnostics["log_evidence"] - one.diagnostics["log_evidence"]
    assert log_bayes_factor(findings, post) == pytest.approx(rise, abs=0.05)
    sentences = " ".join(site_sentences(findings))
    assert "curve for each" in sentences or "curve each" in sentences


def test_nothing_is_said_of_evidence_that_was_not_computed(findings):
    drawn = findings.sites._free
    numbers = {"r_hat": 1.0, "ess_bulk": 400.0, "ess_tail": 400.0, "divergences": 0.0}
    sampled = MultilevelPosterior([Curves(replace(drawn, engine="nuts", stats=numbers))])
    findings.__dict__["sites"] = sampled
    assert np.isnan(log_bayes_factor(findings, sampled))
    sentences = " ".join(site_sentences(findings))
    assert "Bayes factor" not in sentences
    assert "one curve or a curve each" not in sentences
    assert ").  " not in sentences


def test_tables_of_sites_hold_the_numbers_of_the_fit(findings):
    post = findings.sites
    views = {"these": post.at(), "average": post.average()}
    table = findings.tables["populations"].to_frame()
    assert table.index.tolist() == list(views)
    average = views["average"]
    assert table.loc["average", "tce_lower"] == average.interval("tce")[0]
    assert table.loc["average", "tce_estimate"] == average.estimate("tce")
    assert table.loc["average", "prob_close"] == average.prob_below(findings.close)
    assert table.loc["these", "tce_estimate"] == findings.error["estimate"]
    assert table.loc["these", "prob_close"] == findings.prob_tce_below(findings.close)
    assert (
        table.loc["these", "observed_expected_lower"] == post.at().interval("observed_expected")[0]
    )
    spread = findings.tables["spread"].to_frame()
    assert spread.loc["shift", "spread_upper"] == post.heterogeneity.loc["shift", "upper"]
    cells = findings.tables["populations"].texts()["average"]["tce"]
    shown = " ".join(str(findings).split())
    assert f"Average group {cells}" in shown
    assert f"SD of the shift {findings.tables['spread'].texts()['shift']['spread']}" in shown
    few = bc.assess([0, 1, 0, 1] * 9, [0.2, 0.7, 0.4, 0.6] * 9, site=[0, 1] * 18, draws=400)
    assert not {"populations", "spread"} & set(few.tables)
