"""assess(): what it says follows from its parts, and changes when the data do."""

from __future__ import annotations

import json
import math
import pickle
import re

import jsonschema
import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.assessment.performance import with_ranks
from bayescal.assessment.record import schema
from bayescal.assessment.text.references import REFERENCES, cited
from bayescal.assessment.words import with_interval
from bayescal.core.text import rounded
from bayescal.errors import InputError
from bayescal.posterior.functionals import FUNCTIONALS

CHEAP = {"estimators": ("ece",), "draws": 1000, "random_state": 1}


def data(scenario: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    return bc.simulate.sample(scenario, n, random_state=1)


@pytest.fixture(scope="module")
def off() -> bc.Assessment:
    return bc.assess(*data("clinical-middle-overconfident", 600), random_state=1)


@pytest.fixture(scope="module")
def rare() -> bc.Assessment:
    y_true, y_prob = data("clinical-low-calibrated", 600)
    sites = np.array(["north", "south", "\x1b[31m" + "east" * 30])[np.arange(600) % 3]
    return bc.assess(y_true, y_prob, site=sites, **CHEAP)


# The parts


@pytest.mark.slow
def test_it_stands_on_the_comparison(off) -> None:
    y_true, y_prob = data("clinical-middle-overconfident", 600)
    alone = bc.compare(y_true, y_prob, random_state=1)
    assert off.prob_calibrated == alone.prob_calibrated
    for x in (0.01, 0.05, 0.08):
        assert off.prob_tce_below(x) == alone.posterior.prob_below(x)
    pd.testing.assert_frame_equal(off.summary(), alone.posterior.summary())
    pd.testing.assert_frame_equal(off.summary(0.5), alone.posterior.summary(0.5))
    assert off.recommendation.choice == bc.recommend(y_true, y_prob, random_state=1).choice
    assert off.seed == 1


@pytest.mark.slow
def test_estimators_stand_beside_what_calibration_gives(off) -> None:
    table = off.estimators
    y_true, y_prob = data("clinical-middle-overconfident", 600)
    for name, row in table.iterrows():
        estimator = getattr(bc.estimators, name)
        assert row["estimate"] == pytest.approx(estimator(y_true, y_prob), rel=1e-9)
        assert 0 <= row["calibrated_lower"] < row["calibrated_upper"]
        assert (row["prob_exceeds"] < 0.05) == row["verdict"].startswith("larger")
        assert (row["prob_exceeds"] < 0.05) == (row["estimate"] > row["calibrated_upper"])
    assert (table["prob_exceeds"] < 0.05).sum() >= 3
    record = off.to_dict()["estimators"]
    assert not {"lower", "upper"} & {key for row in record.values() for key in row}


def test_performance_is_that_of_the_scores(off) -> None:
    y_true, y_prob = data("clinical-middle-overconfident", 600)
    for name, row in off.performance.iterrows():
        assert row["estimate"] == pytest.approx(getattr(bc.scores, name)(y_true, y_prob))
        assert row["lower"] < row["estimate"] < row["upper"]


def test_sampling_weights_of_equal_scores_are_worth_what_the_table_says() -> None:
    rng = np.random.default_rng(0)
    y_prob = np.repeat(np.linspace(0.05, 0.95, 10), 60)
    y_true, weight = rng.random(600) < y_prob, rng.lognormal(size=600)
    a = bc.assess(y_true, y_prob, sample_weight=weight, **CHEAP)
    ece = bc.estimators.ece(y_true, y_prob, sample_weight=weight)
    assert a.estimators.loc["ece", "estimate"] == pytest.approx(ece)
    row = a.performance.loc["c_statistic"]
    case_by_case = bc.estimators.estimator_interval(
        y_true,
        y_prob,
        bc.scores.c_statistic,
        method="percentile",
        n_resamples=400,
        sample_weight=weight,
        random_state=1,
    )
    for name in ("estimate", "lower", "upper"):
        assert row[name] == pytest.approx(getattr(case_by_case, name))


def test_parts_that_the_data_do_not_define_are_nan() -> None:
    a = bc.assess([0, 0, 0], [0.3, 0.3, 0.3], estimators=("calibration_slope",), random_state=1)
    assert a.estimators["estimate"].isna().all()
    assert "holds one class only" in a.estimators["verdict"].iloc[0]
    assert math.isnan(a.performance.loc["c_statistic", "estimate"])
    assert "undefined" in str(a)
    assert "slope was" not in a.describe()


def test_groups_are_assessed_one_by_one(rare) -> None:
    table = rare.by_group
    assert table["cases"].tolist() == [200, 200, 200]
    assert table["events"].sum() == rare.data.events
    assert table[["cases", "events"]].dtypes.tolist() == [np.int64, np.int64]
    north = rare.sites.at(site="north")
    assert table.loc["north", "tce_estimate"] == north.estimate("tce")
    assert table.loc["north", "prob_close"] == north.prob_below(rare.close)
    own = rare.data.select("north")
    alone = own.events / float(own.trials @ own.score)
    assert table.loc["north", "observed_expected_raw"] == pytest.approx(alone)
    assert set(rare.groups) == set(table.index)
    assert all(rare.group(name) is post for name, post in rare.groups.items())


def test_of_two_groups_each_is_assessed_by_itself() -> None:
    y_true, y_prob = data("calibrated", 120)
    a = bc.assess(y_true, y_prob, site=np.resize(["a", "b"], 120), **CHEAP)
    alone = bc.compare(a.data.select("a"), draws=1000, random_state=1)
    assert a.by_group.loc["a", "tce_estimate"] == alone.posterior.estimate("tce")
    assert "observed_expected_raw" not in a.by_group
    assert a.group("a") is a.groups["a"]


def test_a_group_with_one_score_has_no_slope() -> None:
    y_true, y_prob = data("calibrated", 60)
    a = bc.assess(y_true, y_prob, site=["a"] * 59 + ["b"], **CHEAP)
    assert math.isnan(a.by_group.loc["b", "calibration_slope_estimate"])
    assert a.by_group.loc["b", "tce_upper"] > 0.2
    assert a.to_dict()["groups"]["b"]["calibration_slope_estimate"] is None


@pytest.mark.slow
def test_the_clinical_prior_stands_beside_where_risks_are_extreme(rare, off) -> None:
    assert off.clinical is None
    mean = data("clinical-low-calibrated", 600)[1].mean()
    assert mean < 0.05
    assert rare.clinical.prior.name == "clinical"
    assert rare.clinical.clinical is None
    few = bc.assess(*data("clinical-low-calibrated", 40), **{**CHEAP, "draws": 40_000})
    assert (
        few.clinical.summary().loc["observed_expected", "upper"]
        > few.summary().loc["observed_expected", "upper"]
    )
    assert any(rare.clinical.headline() in note for note in rare.notes)
    assert rare.to_dict()["clinical_prior"]["headline"] == rare.clinical.headline()
    y_true, y_prob = data("clinical-low-calibrated", 600)
    own = bc.assess(y_true, y_prob, prior={"shift": bc.priors.Normal(0, 0.3)}, **CHEAP)
    assert own.clinical is None


# What it says


@pytest.mark.parametrize(
    ("scenario", "n", "off", "verdict", "wording", "choice"),
    [
        *[("clinical-middle-calibrated", 4000, "no sign", "close enough", "No sign", "identity")],
        *[("clinical-middle-overconfident", 3000, "yes", "miscalibrated", "Yes, ", "logistic")],
        *[("clinical-middle-calibrated", 20, "cannot say", "cannot tell", "cannot say", None)],
    ],
)
def test_verdict_and_advice_follow_the_data(scenario, n, off, verdict, wording, choice) -> None:
    a = bc.assess(*data(scenario, n), **CHEAP)
    lower, upper = a.summary().loc["tce", ["lower", "upper"]]
    assert a.verdict == verdict, (lower, upper)
    assert a.off.answer == off
    assert (a.prob_tce_below(a.close) > 0.975) == (verdict == "close enough")
    assert wording in a.headline()
    assert a.recommendation.choice == choice
    assert any("too few" in note for note in a.notes) == (a.data.events < 100)


def test_close_enough_shrinks_with_the_risk(rare, off) -> None:
    assert off.close == 0.03
    assert rare.close == pytest.approx(
        0.25 * data("clinical-low-calibrated", 600)[1].mean(), abs=0.005
    )
    wide = bc.assess(*data("clinical-middle-overconfident", 600), close=0.2, **CHEAP)
    assert wide.verdict == "close enough"
    assert "within your limit of 20 points with probability > 0.99" in wide.headline()


def test_the_headline_tells_the_interval(off) -> None:
    estimate, lower, upper = off.summary().loc["tce", ["estimate", "lower", "upper"]]
    told = re.search(
        r"off by (\S+) percentage points on average \(95 % interval (\S+) to (\S+)\)"
        r".* the default limit of 3 points",
        off.headline(),
    )
    assert told
    assert [float(text) for text in told.groups()] == pytest.approx(
        [100 * estimate, 100 * lower, 100 * upper], abs=0.5
    )


def test_it_prints_within_80_columns(off, rare) -> None:
    for a in (off, rare):
        text = str(a)
        assert max(map(len, text.splitlines())) <= 80
        assert " ".join(a.headline().split()) in " ".join(text.split())
        assert "\x1b" not in text
    for label in ("-in-the-large", "jointly with the slope", "Kolmogorov-Smirnov", "C-statistic"):
        assert label in str(off)
    assert "…" in str(rare)  # of a name of 125 characters
    assert "north" in str(rare)


def test_what_is_wrong_with_the_scores_is_said_before_any_number() -> None:
    y_true, y_prob = data("clinical-middle-overconfident", 300)
    labels = bc.assess(y_true, (y_prob > 0.5) * 1.0, **CHEAP)
    reversed_ = bc.assess(y_true, 1 - y_prob, **CHEAP)
    for a, words in ((labels, "The scores are labels"), (reversed_, "The scores seem to be")):
        assert a.notes[0].startswith(words)
        assert str(a).index(words) < str(a).index(a.headline()[:20])
        assert str(a).count(words) == 1
        assert words in a.describe()
    assert "reversed" in reversed_.off.ways
    assert "where its risks are higher, events are rarer (slope -" in reversed_.headline()


def test_a_measure_is_printed_as_its_interval_says(off, rare) -> None:
    for a in (off, rare):
        texts = a.tables["measures"].texts()
        for name, cells in texts.items():
            of_curve = name in a.summary().index
            table = a.summary() if of_curve else a.performance
            if name == "own_error":
                table = pd.DataFrame({name: a.error}).T
            known = table.loc[name, ["estimate", "lower", "upper"]]
            apart = FUNCTIONALS[name].apart if of_curve else None
            middle, lower, upper = rounded(tuple(known), *known[1:], apart)
            assert (cells["estimate"], cells["interval"]) == (middle, f"{lower} to {upper}")
        assert len(texts) == 12 + a.has_own_curves


def test_thresholds_give_the_net_benefit(off) -> None:
    y_true, y_prob = data("clinical-middle-overconfident", 600)
    a = bc.assess(y_true, y_prob, thresholds=(0.3, 0.1), **CHEAP)
    assert a.net_benefit.index.tolist() == [0.1, 0.3]
    own = bc.scores.decision_curve(y_true, y_prob, [0.1, 0.3])
    assert a.net_benefit["estimate"].to_numpy() == pytest.approx(own.model, abs=0.02)
    assert a.net_benefit["treat_all"].to_numpy() == pytest.approx(own.treat_all, abs=0.02)
    assert (a.net_benefit["lower"] < a.net_benefit["estimate"]).all()
    assert {"net_benefit_gain@0.1", "net_benefit_upper@0.3"} <= set(a.recommendation.table)
    assert "Net benefit of 1000" in str(a)
    worth = a.posterior.value_of_information([0.1, 0.3])
    for name in ("evpi", "evpi_of_recalibrating"):
        assert a.information[name].tolist() == worth[name].to_numpy().tolist()
    assert set(a.information["best"]) <= set(worth["strategy"].to_numpy())
    assert "Perfect information, per 1000" in str(a)
    assert off.information.empty
    assert off.net_benefit.empty
    assert "net benefit" not in str(off).lower()


def test_a_class_wise_table_is_refused_and_other_groups_are_not() -> None:
    rng = np.random.default_rng(0)
    y_proba = rng.dirichlet([1, 1, 1], 90)
    y_true = [rng.choice(3, p=row) for row in y_proba]
    table = bc.CalibrationData.from_multiclass(y_true, y_proba, "class-wise")
    with pytest.raises(InputError, match=r"class-wise.* or assess one class"):
        bc.assess(table, **CHEAP)
    one = bc.assess(table.select("0"), **CHEAP)
    assert one.data.n == 90
    y, p = data("calibrated", 90)
    assert bc.assess(y, p, site=np.arange(90) % 3, **CHEAP).data.groups == ("0", "1", "2")


def test_groups_are_in_the_order_of_their_numbers() -> None:
    y_true, y_prob = data("calibrated", 110)
    names = [f"site {i % 11}" for i in range(110)]
    a = bc.assess(y_true, y_prob, site=names, **CHEAP)
    assert list(a.by_group.index) == [f"site {i}" for i in range(11)]


def test_the_c_statistic_of_many_scores_is_that_of_the_cases() -> None:
    y_true, y_prob = data("clinical-low-calibrated", 6000)
    table = bc.CalibrationData(y_true, y_prob)
    assert table.is_compressed
    own = bc.scores.c_statistic(y_true, y_prob)
    assert bc.scores.c_statistic(with_ranks(table)) == pytest.approx(own, abs=5e-4)


def test_the_sentences_for_a_paper_hold_the_numbers(off) -> None:
    text, table = off.describe(), off.summary()
    methods, results = text.split("\n\n")[:2]
    for key in cited(text):
        assert REFERENCES[key].doi in text
    assert len(cited(methods)) >= 5
    assert f"bayescal {off.versions['bayescal']}, seed 1" in methods
    assert "600 cases" in results
    for name in (
        "observed_expected",
        "calibration_in_the_large",
        "calibration_slope",
        "calibration_intercept",
    ):
        assert with_interval(table.loc[name]).split(" to ")[0] in results
    assert "intercept with the slope fixed at 1" in results
    assert "jointly fitted intercept" in results
    assert f"C-statistic was {with_interval(off.performance.loc['c_statistic'])}" in results


def test_the_methods_describe_the_intervals_that_are_used(off, rare) -> None:
    one_sided = "its upper end is given, below which the error is with a probability of 0.975."
    for a in (off, rare):
        methods = a.describe().split("\n\n")[0]
        assert (one_sided in methods) == (a.table.loc["tce", "lower"] == 0)
        bootstrap = "95 % percentile intervals of the bootstrap of the cases."
        assert (bootstrap in methods) == (a is off)
        assert "pseudo-posterior" not in methods
    assert off.table.loc["tce", "lower"] > 0


def test_counts_are_integers_in_the_record(rare) -> None:
    record = rare.to_dict()
    counts = [record[name] for name in ("cases", "events", "distinct_scores")]
    counts += [group[name] for group in record["groups"].values() for name in ("cases", "events")]
    assert counts[0] == 600
    assert [type(number) for number in counts] == [int] * 9
    assert type(record["mean_score"]) is float


def test_the_record_is_ready_for_json(off, rare) -> None:
    for a in (off, rare):
        actual = json.loads(json.dumps(a.to_dict(), allow_nan=False))
        assert actual["verdict"] == a.verdict
        assert set(actual["functionals"]) == set(bc.functionals.usual_functionals())
        assert actual["functionals"]["calibration_slope"]["ideal"] == 1
        assert actual["settings"]["seed"] == 1
        assert (actual["curves"] == {}) == (a.several is not None)
    assert off.to_dict()["curves"]["identity"]["prior"] == 0.05
    for a in (off, rare):
        actual = json.loads(json.dumps(a.to_dict(), allow_nan=False))
        assert actual["notes"] == a.notes
    assert actual["groups"]["north"]["cases"] == 200


@pytest.mark.slow
def test_the_record_keeps_to_its_schema(off, rare) -> None:
    y_true, y_prob = data("calibrated", 30)
    more = bc.assess(y_true, y_prob, thresholds=(0.2, 0.5), **CHEAP)
    one = bc.assess([1], [0.3], **CHEAP)
    for a in (off, rare, more, one):
        jsonschema.validate(a.to_dict(), schema())
    wrong = off.to_dict() | {"verdict": "fine"}
    with pytest.raises(jsonschema.ValidationError, match="fine"):
        jsonschema.validate(wrong, schema())
    with pytest.raises(jsonschema.ValidationError, match="unexpected"):
        jsonschema.validate(off.to_dict() | {"more": 1}, schema())
    assert schema()["properties"]["schema"]["const"] == off.to_dict()["schema"] == 2


# Notes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda y, p: (y, p.round(1)), "read as they are: there are only"),
        (
            lambda y, p: (y, p * (p > 0.1)),
            "taken as rounded, and read as another value: 0 as 0.0",
        ),
        (lambda y, p: (y, (p > 0.5) * 1.0), "every score is exactly 0 or 1"),
        (lambda y, p: (y, (p > 0.5) * 1.0), "read as 1e-12 and 1 - 1e-12"),
        (lambda y, p: (y, 1 - p), "The scores seem to be reversed"),
        (lambda y, p: (y * 0, p), "no case had the event"),
        (lambda y, p: (y * 0 + 1, p), "every case had the event"),
        (lambda y, p: (y, p / 50), "Under the clinical prior: "),
        (lambda y, p: (y, p), "Fewer than 100 are usually too few"),
    ],
)
def test_what_a_reader_should_know_is_a_note(change, note) -> None:
    a = bc.assess(*change(*data("clinical-middle-overconfident", 120)), **CHEAP)
    assert any(note in text for text in a.notes)
    assert " ".join(note.split()[:4]) in " ".join(str(a).split())


@pytest.mark.slow
def test_a_note_says_how_weights_are_read() -> None:
    y_true, y_prob = data("calibrated", 100)
    weights = np.where(np.arange(100) < 50, 4, 20)
    expected = {
        "counts": "read as counts, 1,200 cases in all. If they correct",
        "sampling": "read as sampling weights. They add up to 1,200 and are worth 69.2 cases",
    }
    for weight_type, words in expected.items():
        a = bc.assess(y_true, y_prob, sample_weight=weights, weight_type=weight_type, **CHEAP)
        assert [text for text in a.notes if "the weights" in text and words in text]
        assert a.to_dict()["settings"]["weight_type"] == weight_type
        size = "1,200 cases with " if weight_type == "counts" else "weights worth 69.2 cases, "
        assert size in a.describe()
    unweighted = bc.assess(y_true, y_prob, **CHEAP)
    assert not any("weights" in text for text in unweighted.notes)


def test_weights_and_poor_draws_are_noted(off, monkeypatch) -> None:
    y_true, y_prob = data("calibrated", 100)
    a = bc.assess(y_true, y_prob, sample_weight=np.full(100, 1.5), **CHEAP)
    assert any("pseudo-posterior" in text for text in a.notes)
    monkeypatch.setattr("bayescal.assessment.notes.BAD_K", -math.inf)
    a = bc.assess(y_true, y_prob, **CHEAP)
    assert any("importance sampling is unreliable" in text for text in a.notes)


# The data


def test_the_fingerprint_is_of_the_cases_and_nothing_else(off) -> None:
    y_true, y_prob = data("clinical-middle-overconfident", 600)
    order = np.random.default_rng(0).permutation(600)
    again = bc.assess(y_true[order], y_prob[order], close=0.1, **CHEAP)
    assert again.sha256 == off.sha256
    y_true = y_true.copy()
    y_true[0] = 1 - y_true[0]
    assert bc.assess(y_true, y_prob, **CHEAP).sha256 != off.sha256


@pytest.mark.slow
def test_equal_seeds_give_equal_words() -> None:
    first, second = (bc.assess(*data("calibrated", 150), **CHEAP) for _ in range(2))
    assert str(first) == str(second)
    assert first.to_dict() == second.to_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimators": ("nope",)}, "estimators must be one of"),
        ({"close": 3}, "close must lie strictly between 0 and 1"),
        ({"ci_prob": 95}, "ci_prob"),
        ({"prior": "flat"}, "prior must be one of"),
        ({"prior_calibrated": 0}, "prior_calibrated must lie strictly between"),
        ({"site": ["a"]}, "site"),
        ({"site": np.arange(300)}, "site holds 300 distinct labels"),
        ({"sample_weight": -np.ones(300)}, "sample_weight"),
    ],
)
def test_bad_input_is_refused_with_a_lesson(options, message) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        bc.assess(*data("calibrated", 300), **options)


def test_groups_must_have_been_given(off) -> None:
    with pytest.raises(InputError, match="Pass site= to assess"):
        _ = off.by_group


@pytest.mark.slow
@pytest.mark.parametrize(
    ("y_true", "y_prob"),
    [
        ([1], [0.3]),
        ([0, 1], [0.0, 1.0]),
        ([1, 0], [0.0, 1.0]),
        ([0, 0, 0], [0.0, 0.0, 0.0]),
        ([1, 0, 1], [0.4, 0.4, 0.4]),
        (np.zeros(50), np.linspace(0, 1, 50)),
    ],
)
def test_odd_data_have_an_assessment(y_true, y_prob) -> None:
    a = bc.assess(y_true, y_prob, draws=1000, random_state=1)
    assert max(map(len, str(a).splitlines())) <= 80
    json.dumps(a.to_dict(), allow_nan=False)
    assert a.describe().startswith("Calibration was assessed")
    assert "nan" not in a.describe()
    assert re.match(r"Assessment\(\d+ cases?, \d+ events?: ", repr(a))


def test_an_assessment_is_pickled_after_it_was_printed():
    y, s = bc.simulate.sample("calibrated", 100, random_state=1)
    a = bc.assess(y, s, draws=500, random_state=1)
    told = str(a)
    assert str(pickle.loads(pickle.dumps(a))) == told
