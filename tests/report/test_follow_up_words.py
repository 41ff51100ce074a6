"""What a paper and TRIPOD+AI say of times to an event."""

import jsonschema
import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError
from bayescal.posterior.departures import other_hazard
from bayescal.report.followed import follow_up_words
from bayescal.report.record import schema


@pytest.fixture(scope="module")
def patients():
    """Risks by 5, and times of which some end by leaving."""
    rng = np.random.default_rng(3)
    risk = rng.uniform(0.05, 0.7, 160)
    event, left = -5 * rng.exponential(1, 160) / np.log1p(-risk), rng.uniform(1, 9, 160)
    return bc.Survival(np.minimum(event, left), event <= left), risk


@pytest.fixture(scope="module")
def assessed(patients):
    outcome, risk = patients
    return bc.assess(outcome, risk, horizon=5, draws=400, random_state=1)


def test_the_median_follow_up_is_that_of_statsmodels(patients):
    statsmodels = pytest.importorskip("statsmodels.api")
    outcome, risk = patients
    late = np.minimum(0.3 * outcome.time, np.linspace(0, 2, 160))
    for entry in (None, late):
        cases = bc.Survival(outcome.time, outcome.event, entry)
        data = bc.CalibrationData(cases, risk, horizon=8)
        theirs = statsmodels.SurvfuncRight(outcome.time, ~outcome.event, entry=entry).quantile(0.5)
        mine = float(follow_up_words(data)[0].removeprefix("Median follow-up was ").split()[0])
        assert mine == pytest.approx(theirs, abs=0.02)


def test_a_median_beyond_the_horizon_is_said_to_be(patients):
    outcome, risk = patients
    data = bc.CalibrationData(outcome, risk, horizon=2)
    told = follow_up_words(data)[0]
    assert told.startswith("Median follow-up was more than 2, the horizon")
    stayed = 100 * np.mean(outcome.time > 2)
    assert f"{stayed:.3g} % were followed to 2 without an event" in told


@pytest.mark.slow
def test_the_record_says_how_long_cases_were_followed(assessed):
    record = assessed.to_dict()
    jsonschema.validate(record, schema())
    told, followed = record["follow_up"], assessed.data.follow_up
    assert (told["horizon"], told["censored"]) == (5, followed.censored)
    assert told["competing"] == 0
    assert told["median"] == pytest.approx(4.37, abs=0.01)
    cases = [row["cases"] for row in told["by_fifth"].values()]
    assert sum(cases) == assessed.data.n
    post = assessed.posterior
    others = post._departing(other_hazard(post.problem, np.log(told["hazard_ratio"])))
    ratio = told["observed_expected_at_other_hazard"]
    assert ratio == pytest.approx(others.estimate("observed_expected"))


def test_methods_are_of_times(assessed):
    text = " ".join(assessed.describe().split())
    assert text.startswith("Calibration of the risks by 5 was assessed")
    assert "The likelihood is of times to an event" in text
    assert "binomial" not in text
    assert "Estimators were compared" not in text
    assert "the slope in complementary log-log was" in text
    assert follow_up_words(assessed.data)[0] in text


@pytest.mark.slow
def test_estimators_of_times_are_those_of_check_consistency(patients, assessed, tmp_path):
    outcome, risk = patients
    names = ["survival_observed_expected", "survival_ici"]
    named = bc.assess(outcome, risk, horizon=5, draws=400, random_state=1, estimators=names)
    assert list(named.facts.estimators.index) == names
    for name in names:
        check = bc.check_consistency(
            named.posterior, name, predict=False, random_state=named.facts.seed
        )
        told = named.facts.estimators.loc[name]
        assert told["estimate"] == pytest.approx(check.observed)
        assert told["prob_exceeds"] == pytest.approx(check.prob_calibrated_exceeds)
    assert "Estimators were compared" in named.describe()
    named.to_html(tmp_path / "named.html")
    assert "Log O/E by Kaplan-Meier" in (tmp_path / "named.html").read_text("utf-8")
    assert assessed.facts.estimators.empty
    with pytest.raises(InputError, match="Choose from survival_ici"):
        bc.assess(outcome, risk, horizon=5, estimators=["ece"])
    with pytest.raises(InputError, match="estimators must be one of"):
        bc.assess(outcome.event, risk, estimators=["survival_ici"])


def test_methods_of_known_outcomes_are_as_before():
    y_true, y_prob = bc.simulate.sample("calibrated", 120, random_state=1)
    text = " ".join(bc.assess(y_true, y_prob, draws=400, random_state=1).describe().split())
    assert "with a binomial likelihood (Dong et al., 2025)" in text
    assert "Estimators were compared" in text
    assert "complementary log-log" not in text
    assert "follow-up" not in text


@pytest.mark.parametrize(("role", "kind"), [("period", "period"), ("site", "site")])
def test_one_group_is_named_and_not_compared(role, kind):
    y_true, y_prob = bc.simulate.sample("calibrated", 120, random_state=1)
    data = bc.CalibrationData(y_true, y_prob, **{role: ["2024"] * 120})
    assessed = bc.assess(data, draws=400, random_state=1)
    text = " ".join(str(assessed).split())
    assert f"all cases are of one {kind}, 2024" in text
    checklist = " ".join(str(assessed.tripod()).split())
    assert f"All cases are of one {kind}, 2024, so heterogeneity was not examined." in checklist
    assert "1 site" not in text + checklist
