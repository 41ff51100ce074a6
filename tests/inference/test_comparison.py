"""Comparison of families: evidence, averaging, the atom, cross-validation, sensitivity."""

import json

import arviz_stats
import numpy as np
import pandas as pd
import pytest
from scipy import integrate
from scipy.special import expit, logit
from scipy.stats import norm
from scipy.stats import t as student

import bayescal as bc
from bayescal.errors import InputError
from bayescal.inference import comparison
from bayescal.inference.loo import LeaveOneOut, leave_one_out, stacking_weights
from bayescal.model.curves import CURVES
from bayescal.model.draws import WEIGHTS


def hockey(shared_data):
    return pd.read_csv(shared_data / "data" / "clinical" / "brcal_hockey_538.csv")


@pytest.fixture(scope="module")
def calibrated():
    y, s = bc.simulate.sample("clinical-middle-calibrated", 400, random_state=5)
    return bc.compare(y, s, random_state=3)


@pytest.fixture(scope="module")
def overconfident():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=5)
    return bc.compare(y, s, random_state=3)


def test_evidence_is_the_integral_of_the_likelihood():
    y, s = bc.simulate.sample("clinical-middle-shifted", 60, random_state=1)
    cmp = bc.compare(y, s, random_state=0)
    base = np.sum(np.where(y == 1, np.log(s), np.log1p(-s)))

    def likelihood(shift, slope=1.0):
        eta = shift + slope * logit(s)
        return np.exp(np.sum(np.where(y == 1, eta, 0) - np.logaddexp(0, eta)) - base)

    law, centre = student(3, 0, 0.35).pdf, logit(s).mean()

    def at_centre(a, b):
        return likelihood(a + centre * (1 - np.exp(b)), np.exp(b))

    def line(density, reach):
        return integrate.dblquad(
            lambda b, a: at_centre(a, b) * density(a) * density(b),
            -reach, reach, -reach, reach, epsabs=1e-7,
        )[0]  # fmt: skip

    shift = integrate.quad(lambda a: likelihood(a) * law(a), -6, 6)[0]
    assert cmp.log_evidence["identity"] == pytest.approx(base)
    assert cmp.log_evidence["intercept"] - base == pytest.approx(np.log(shift), abs=0.02)
    evidence = cmp.log_evidence
    assert evidence["logistic"] - base == pytest.approx(np.log(line(law, 4)), abs=0.02)
    near = np.log(line(norm(0, 0.05).pdf, 0.4))
    assert evidence["near"] - base == pytest.approx(near, abs=0.01)


def test_probabilities_follow_from_evidence_and_prior(overconfident):
    weights = {name: 0.95 * weight / 19 for name, weight in WEIGHTS.items()} | {"identity": 0.05}
    joint = {k: w * np.exp(overconfident.log_evidence[k]) for k, w in weights.items()}
    for name, probability in overconfident.posterior_prob.items():
        assert probability == pytest.approx(joint.get(name, 0) / sum(joint.values()))
    assert overconfident.prob_calibrated == overconfident.posterior_prob["identity"]
    assert overconfident.prob_calibrated_at(0.05) == pytest.approx(overconfident.prob_calibrated)
    assert overconfident.prob_calibrated_at(0.5) > overconfident.prob_calibrated


def test_bic_reproduces_the_published_probability(shared_data):
    oracle = json.loads((shared_data / "oracles" / "clinical.json").read_text())["published"]
    key = next(name for name in oracle if name.startswith("BRcal hockey"))
    data = hockey(shared_data)
    actual = bc.compare(data.outcome, data.score, random_state=0).prob_calibrated_bic
    assert actual == pytest.approx(oracle[key]["posterior_model_prob"], abs=1e-6)


def test_an_asymmetric_curve_is_seen_by_beta_and_missed_by_bic(shared_data):
    path = shared_data / "data" / "clinical" / "pmcalibration_readme_sim2345.csv"
    data = pd.read_csv(path)
    cmp = bc.compare(data.outcome, data.score, prior="clinical", random_state=0)
    table = cmp.sensitivity
    assert table.loc["clinical", "beta"] == pytest.approx(0.023, abs=0.003)
    assert table.loc["BIC", "logistic"] == pytest.approx(0.996, abs=0.001)
    assert table.loc["clinical", "prob_calibrated"] == pytest.approx(cmp.prob_calibrated, rel=0.1)


def test_table_has_a_row_per_family_and_the_contract_columns(overconfident):
    table = overconfident.table
    assert list(table.index) == [name for name in CURVES if name != "saturated"]
    assert list(table.columns)[:6] == [
        "log_evidence", "bayes_factor", "prior", "posterior_prob", "elpd_loo", "stacking_weight",
    ]  # fmt: skip
    assert table.loc["identity", "bayes_factor"] == 1
    assert table["posterior_prob"].sum() == pytest.approx(1)
    assert table["stacking_weight"].sum() == pytest.approx(1)
    assert (table["pareto_k_loo"].drop(["spline", "pieces"]) < 0.7).all()
    assert table["pareto_k_loo"]["spline"] < 1  # a single case can bend a curve
    assert not np.isnan(table["pareto_k_loo"]["pieces"])  # and a stretch may depend on one


@pytest.mark.parametrize(("n", "off"), [(120, 2e-3), (400, 2e-3)])  # equal draws are told apart
def test_leave_one_out_is_arviz_s(n, off):
    data = bc.CalibrationData(*bc.simulate.sample("clinical-middle-overconfident", n, 2))
    post = bc.fit(data, curve="beta", draws=1000, random_state=1)
    draws = np.stack(
        [post.tree["posterior"][n].to_numpy().ravel() for n in post.problem.curve.coordinates]
    )
    ours = leave_one_out(post.problem, draws.T)
    theirs = arviz_stats.loo(post.tree, reff=1.0)
    assert post.problem.is_merged == (n == 400)
    assert ours.elpd == pytest.approx(theirs.elpd, abs=off)
    assert ours.count.sum() == theirs.n_data_points


def test_leave_one_out_is_computed_of_families_that_are_asked_for(monkeypatch):
    asked = []

    def counted(problem, draws):
        asked.append(problem.curve.name)
        return leave_one_out(problem, draws)

    monkeypatch.setattr(comparison, "leave_one_out", counted)
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    cmp = bc.compare(y, s, draws=400, random_state=1)
    assert cmp.loo["beta"] is cmp.loo["beta"]
    assert asked == ["beta"]
    assert list(cmp.loo) == list(cmp.prior_prob)
    assert set(cmp.table.index) == set(asked)
    with pytest.raises(KeyError):
        cmp.loo["nothing"]


def test_identity_predicts_what_it_says(overconfident):
    row = overconfident.table.loc["identity"]
    assert row["elpd_loo"] == pytest.approx(row["log_evidence"])


def test_stacking_weights_maximise_the_mixture():
    rng = np.random.default_rng(0)
    densities = rng.normal(-1, 0.5, (3, 200))
    count = rng.integers(1, 5, 200).astype(float)
    parts = [LeaveOneOut(0.0, row, count, 0.0) for row in densities]
    best = stacking_weights(parts)

    def score(weights):
        return count @ np.log(weights @ np.exp(densities))

    for other in rng.dirichlet(np.ones(3), 500):
        assert score(other) <= score(best) + 1e-6


def test_each_family_keeps_its_curve_in_the_average():
    """Also `near`, whose centre may be another."""
    y, s = bc.simulate.sample("clinical-low-overconfident", 300, random_state=2)
    weights = dict.fromkeys(("logistic", "beta", "lapse", "spline"), 1.0) | {"near": 5.0}
    prior = {"centre": 0.5, "shift": 0.6, "log_slope": 0.4}
    cmp = bc.compare(y, s, prior=prior, curves=weights, draws=8000, random_state=1)
    post = cmp.posterior
    family = post.tree["posterior"]["family"].to_numpy().ravel()
    score = np.array([0.01, 0.1, 0.6])
    curve = post.curve(score).to_numpy().reshape(-1, 3)
    names = list(json.loads(post.tree.attrs["families"]))
    enough = [name for k, name in enumerate(names) if np.sum(family == k) >= 400]
    assert "near" in enough
    assert len(enough) >= 2
    for name in enough:
        mine = curve[family == names.index(name)]
        own, u = cmp.of_family(name)
        alone = own.curves_at(score).probability(u)
        spread = 5 * mine.std(axis=0) / np.sqrt(len(mine))
        assert (np.abs(mine.mean(axis=0) - alone.mean(axis=0)) < 1.5 * spread).all(), name


@pytest.mark.slow
@pytest.mark.parametrize("z", [0.0, 1.0, 2.5])
def test_intervals_of_what_has_two_sides_cover_near_calibration(z):
    """O/E and slope, of shifts so small that exact calibration is not ruled out."""
    inside = {"observed_expected": 0, "calibration_slope": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        log_odds = rng.normal(-1.5, 1, 5000)
        score = expit(log_odds)
        shift = z / np.sqrt(np.sum(score * (1 - score)))
        true = {"observed_expected": expit(log_odds + shift).sum() / score.sum()}
        y_true = rng.random(5000) < expit(log_odds + shift)
        post = bc.compare(y_true, score, draws=400, random_state=1).posterior
        own, error = y_true.sum() / score.sum(), np.sqrt(np.sum(score * (1 - score))) / score.sum()
        for name in inside:
            lower, upper = post.interval(name)
            inside[name] += lower <= true.get(name, 1.0) <= upper
        lower, upper = post.interval("observed_expected")
        assert 0.5 < (upper - lower) / (2 * 1.96 * error) < 1.2
        assert abs(post.estimate("observed_expected") - 1) < abs(own - 1) + error / 3
    assert min(inside.values()) >= 17  # of 20


def test_a_contradicted_sure_score_shows_what_the_edge_decides():
    y = [0, 1, 1, 0, 1, 0, 1, 1, 0, 0]
    s = [0, 1, 1, 1, 0.8, 0.3, 0.6, 0.9, 0.2, 0.1]
    contradicted = bc.compare(y, s, random_state=0).sensitivity
    nearer = contradicted.loc["neutral, 0 and 1 read ten times nearer", "prob_calibrated"]
    assert nearer < contradicted.loc["neutral", "prob_calibrated"]
    kept = bc.compare([0, 1, 1, 1, 0], [0, 1, 1, 0.7, 0.2], random_state=0).sensitivity
    assert list(kept.index) == ["neutral", "clinical", "modest", "BIC"]


@pytest.mark.parametrize("outcome", [np.zeros(20), np.ones(20), np.arange(20) > 9])
def test_separated_and_one_class_outcomes_have_finite_answers(outcome):
    cmp = bc.compare(outcome, np.linspace(0.05, 0.95, 20), random_state=0)
    assert 0 <= cmp.prob_calibrated_bic <= 1
    assert 0 <= cmp.prob_calibrated <= 1
    finite = cmp.table.drop(columns=["pareto_k", "pareto_k_loo"])
    assert np.isfinite(finite.to_numpy()).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curves": ("logistic", "cubic")}, "curves must be one of"),
        ({"prior_calibrated": 1.0}, "prior_calibrated must lie strictly between 0 and 1"),
        ({"curves": {"cubic": 1}}, "curves must be one of"),
        ({"curves": {"beta": -1}}, "weights of curves must be non-negative"),
        ({"curves": {"beta": 0}}, "no family other than identity with any weight"),
    ],
)
def test_bad_requests_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        bc.compare([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.3], **options)


def test_expit_is_scipy_s():
    from bayescal.model.curve import expit_in_place

    x = np.array([-800.0, -40.0, -1e-9, 0.0, 2.5, 40.0, 800.0])
    np.testing.assert_allclose(expit_in_place(x.copy()), expit(x), rtol=1e-14)


# Nothing is fitted twice


@pytest.mark.slow
@pytest.mark.parametrize("law", ["clinical-middle-overconfident", "clinical-low-overconfident"])
def test_an_assessment_fits_no_family_twice_on_one_problem(law, monkeypatch, tmp_path):
    from bayescal.inference import averaging

    fitted = []

    def counted(function):
        def call(problem, *arguments):
            assert problem not in fitted, f"{problem.curve.name} under {problem.prior.name}"
            fitted.append(problem)
            return function(problem, *arguments)

        return call

    for name in ("sample_importance", "sample_pieces"):
        monkeypatch.setattr(averaging, name, counted(getattr(averaging, name)))
    a = bc.assess(*bc.simulate.sample(law, 80, random_state=1), draws=400, random_state=1)
    assert len(str(a)) > 1000
    assert len(a.facts.comparison.sensitivity)
    printed = len(fitted)
    a.to_html(tmp_path / "report.html")
    assert len(fitted) == printed  # the page asks for nothing that was not computed
    families = [problem.curve.name for problem in fitted]
    # The families with a prior of their own are drawn once under all priors:
    assert families.count("pieces") == families.count("near") == 1
    assert families.count("beta") == families.count("spline")
