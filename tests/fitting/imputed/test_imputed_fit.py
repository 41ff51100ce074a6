"""fit(imputations=) against pooled results of R, and how many draws there are."""

import csv

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError
from bayescal.fitting.imputed import draws_of_each

VAGUE = {"shift": bc.priors.Normal(0, 10), "log_slope": bc.priors.Normal(0, 10)}
PSFMI = {
    "calibration_intercept": (-0.0788, 0.205, 0.019),
    "calibration_slope": (0.9818, 0.160, 0.087),
    "calibration_in_the_large": (-0.0768, 0.206, 0.021),
}
"""Estimate, standard error and fraction of missing information by Rubin's rules, of psfmi."""


@pytest.fixture(scope="module")
def published(shared_data):
    """Outcomes, and five imputations of the scores of 159 patients."""
    with (shared_data / "oracles/imputation/psfmi_lbpmilr_scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    first = [row for row in rows if row["imputation"] == "1"]
    scores = [
        [float(row["score"]) for row in rows if row["imputation"] == str(k)] for k in range(1, 6)
    ]
    return np.array([int(row["outcome"]) for row in first]), np.array(scores)


def test_it_agrees_with_rubins_rules_where_these_hold(published):
    y, scores = published
    post = bc.fit(y, imputation=scores, curve="logistic", prior=VAGUE, random_state=1)
    table = post.missing_information
    for name, (estimate, error, share) in PSFMI.items():
        values = post.functional(name)
        assert float(values.mean()) == pytest.approx(estimate, abs=0.01)
        assert float(values.std()) == pytest.approx(error, rel=0.05)
        assert table.loc[name, "missing_information"] == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(
    ("draws", "m", "each"), [(4000, 2, 4000), (4000, 5, 4000), (4000, 20, 1000), (4000, 100, 400)]
)
def test_draws_of_many_imputations_are_shared(draws, m, each):
    assert draws_of_each(draws, m) == each
    assert draws_of_each(300, m) == 300


def test_options_reach_every_imputation():
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    scores = np.stack([s, np.clip(s + 0.02, 0, 1)])
    labels = np.where(y == 1, "dead", "alive")
    post = bc.fit(
        labels,
        imputation=scores,
        curve="logistic",
        prior="clinical",
        sample_weight=np.full(60, 2),
        weight_type="counts",
        pos_label="dead",
        edge=0.001,
        random_state=3,
        draws=400,
    )
    for one in post.imputations:
        assert (one.data.n, one.data.events) == (120, 2 * y.sum())
        assert (one.problem.curve.name, one.problem.prior.name) == ("logistic", "clinical")
        assert (one.problem.seed, one.draws, one.problem.edges.low) == (3, 400, 0.001)
    assert post.draws == 800


@pytest.mark.slow
def test_imputations_by_nuts():
    y, s = bc.simulate.sample("calibrated", 80, random_state=1)
    scores = np.stack([s, np.clip(s + 0.02, 0, 1)])
    options = {"curve": "intercept", "random_state": 3, "draws": 2000}
    nuts, fast = (bc.fit(y, imputation=scores, engine=e, **options) for e in ("nuts", "auto"))
    assert nuts.engine == "nuts"
    name = "observed_expected"
    assert nuts.estimate(name) == pytest.approx(fast.estimate(name), abs=0.012)  # 4 errors


@pytest.fixture(scope="module")
def visits():
    """Outcomes and imputed scores of 40 patients with 5 visits each, and the patients."""
    rng = np.random.default_rng(8)
    patient = np.repeat(np.arange(40), 5)
    own = rng.normal(0, 1, 40)[patient]
    scores = np.clip(0.5 + 0.15 * own + rng.normal(0, 0.1, (3, 200)), 0.05, 0.95)
    y = rng.random(200) < 1 / (1 + np.exp(-1.5 * own))
    return y.astype(int), scores, patient


@pytest.mark.slow
@pytest.mark.parametrize("of", [bc.fit, lambda *a, **o: bc.compare(*a, **o).posterior])
def test_clusters_reach_every_imputation(visits, of, tmp_path):
    y, scores, patient = visits
    options = {"random_state": 1, "draws": 1500}
    clustered = of(y, imputation=scores, cluster=patient, **options)
    alone = of(y, imputation=scores, **options)
    each = [of(y, score, cluster=patient, **options) for score in scores]
    assert bc.combine_imputations(each).summary().equals(clustered.summary())
    effects = [one.design.effect for one in each]
    assert clustered.design.effect == pytest.approx(np.mean(effects))
    assert clustered.diagnostics["clusters"] == 40
    widths = [np.diff(post.interval("observed_expected"))[0] for post in (clustered, alone)]
    assert widths[0] > widths[1]
    clustered.to_netcdf(tmp_path / "visits.nc")
    assert bc.load(tmp_path / "visits.nc").summary().equals(clustered.summary())


@pytest.mark.parametrize("analyse", [bc.fit, bc.assess, bc.recommend])
def test_imputations_of_which_some_have_few_scores_have_no_common_average(analyse):
    few = np.resize(np.arange(1, 21) / 22, 300)
    more = np.append(0.97, few[1:])
    y = np.resize([0, 1, 1], 300)
    with pytest.raises(InputError, match=r"at most 20 distinct scores .* curve='beta'"):
        analyse(y, imputation=[few, more], draws=200, random_state=1)
    one = bc.fit(y, imputation=[few, more], curve="beta", draws=200, random_state=1)
    assert len(one.imputations) == 2
