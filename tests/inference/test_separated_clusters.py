"""Clusters whose outcomes are separated by the scores, or of one class: no sandwich can be had."""

import json
import warnings

import numpy as np
import pytest

import bayescal as bc
from bayescal.inference.density import CurveDensity
from bayescal.model.clusters import cluster_design, is_separated
from bayescal.model.curves import CURVES
from bayescal.model.problem import prepare

N = 200
SCORE = np.round(np.random.default_rng(0).uniform(0.05, 0.95, N), 3)
CLUSTER = np.arange(N) // 10
SEPARATED = (SCORE > 0.5).astype(int)
OUTCOMES = {
    "separated": SEPARATED,
    "reversed": 1 - SEPARATED,
    "no event": np.zeros(N, dtype=int),
    "only events": np.ones(N, dtype=int),
    "both at the threshold": np.where(np.arange(N) == np.argmax(SCORE == 0.5), 1, SEPARATED),
}


@pytest.fixture(autouse=True)
def _without_the_warning():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "outcomes are separated", bc.errors.DiagnosticWarning)
        yield


@pytest.mark.parametrize("name", OUTCOMES)
def test_separated_clusters_are_told_apart(name):
    problem = prepare(OUTCOMES[name], SCORE, cluster=CLUSTER, random_state=0)
    assert is_separated(problem.table)
    design = cluster_design(problem)
    assert (design.effect, design.effective_n) == (10, 20)
    contrary = OUTCOMES[name].copy()
    contrary[[np.argmax(SCORE), np.argmin(SCORE)]] = [0, 1]
    contrary[np.argmax(np.sort(SCORE)[1] == SCORE)] = 0
    contrary[np.argmax(np.sort(SCORE)[-2] == SCORE)] = 1
    assert not is_separated(prepare(contrary, SCORE, random_state=0).table)


def test_both_classes_at_one_score_are_not_separated():
    assert not is_separated(prepare([0, 1, 1], [0.3, 0.3, 0.3], random_state=0).table)


@pytest.mark.parametrize("curve", ["intercept", "temperature", "logistic", "beta"])
@pytest.mark.parametrize("name", ["separated", "only events"])
def test_cases_told_ten_times_are_told_once(curve, name):
    """Each cluster counts as the one case that it is; knots of splines follow all cases."""
    y, s = OUTCOMES[name][::4], SCORE[::4]
    once = prepare(y, s, curve=CURVES[curve], random_state=1)
    often = prepare(
        *(np.repeat(y, 10), np.repeat(s, 10)),
        curve=CURVES[curve],
        cluster=np.repeat(np.arange(y.size), 10),
        random_state=1,
    )
    u = np.random.default_rng(0).normal(size=(50, once.curve.size))
    diagonal = CurveDensity(once).log_likelihood(np.zeros((1, once.curve.size)))
    np.testing.assert_allclose(
        CurveDensity(often)(u), CurveDensity(once)(u) + 9 * diagonal, atol=1e-6
    )


@pytest.mark.parametrize("contrary", [0.614, 0.258, 0.945])
def test_one_contrary_patient_hardly_changes_the_answer(contrary):
    """Where the sandwich was taken at a mode that is infinitely far, the error was .055."""
    other = np.where(contrary == SCORE, 1 - SEPARATED, SEPARATED)
    assert other.sum() != SEPARATED.sum()
    tables = []
    for y in (SEPARATED, other):
        post = bc.fit(y, SCORE, curve="beta", cluster=CLUSTER, engine="importance", random_state=1)
        tables.append(post.summary(names=["tce", "observed_expected"]))
    separated, near = tables
    assert (separated["lower"] < near["lower"]).all()
    assert (separated["upper"] > near["lower"]).all()
    assert separated["estimate"]["tce"] == pytest.approx(near["estimate"]["tce"], abs=0.11)
    assert separated["estimate"]["observed_expected"] == pytest.approx(0.99, abs=0.03)


@pytest.mark.parametrize(
    "name",
    [
        name if name == "separated" else pytest.param(name, marks=pytest.mark.slow)
        for name in OUTCOMES
    ],
)
def test_the_verdict_is_not_ok_and_nan_is_never_printed(name, tmp_path):
    y, options = OUTCOMES[name], {"cluster": CLUSTER, "draws": 400, "random_state": 1}
    post = bc.fit(y, SCORE, curve="beta", **options)
    assert "each cluster counts as one case" in post.diagnostics["verdict"]
    assert not any(np.isnan(v) for v in post.diagnostics.values() if not isinstance(v, str))
    assert post.diagnostics["separated"] is True
    assert "20 clusters; effective n 20 of 200, one a cluster" in repr(post)
    compared = bc.compare(y, SCORE, **options)
    assert 0 < compared.prob_calibrated < 1
    a = bc.assess(y, SCORE, **options)
    assert any("each cluster counts as one case" in note for note in a.notes)
    assert "each cluster counts as one case" in a.describe()
    a.to_html(tmp_path / "page.html")
    gain = bc.recalibration_gain(y, SCORE, SCORE**0.9, **options)
    page = (tmp_path / "page.html").read_text("utf-8")
    for text in (repr(post), repr(compared), str(a), a.describe(), a.tripod(), page, repr(gain)):
        assert not [word for word in text.replace(",", " ").split() if word.strip("(;.)") == "nan"]
    json.dumps(a.to_dict(), allow_nan=False)


def test_a_fit_warns_and_clusters_of_one_case_do_not():
    with pytest.warns(bc.errors.DiagnosticWarning, match="each cluster counts as one case"):
        bc.fit(SEPARATED, SCORE, curve="beta", cluster=CLUSTER, draws=400, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = bc.fit(
            np.ones(40, dtype=int),
            SCORE[:40],
            curve="beta",
            cluster=range(40),
            draws=400,
            random_state=0,
        )
    assert single.diagnostics["verdict"] == "ok"


def test_one_separated_imputation_is_enough():
    other = np.clip(SCORE + np.random.default_rng(1).normal(0, 0.1, N), 0.01, 0.99)
    post = bc.fit(
        SEPARATED,
        curve="beta",
        imputation=[SCORE, other],
        cluster=CLUSTER,
        draws=400,
        random_state=0,
    )
    assert post.diagnostics["separated"] is True
    assert post.diagnostics["verdict"].startswith("imputation 1: outcomes are separated")
