"""What a posterior of crossed subgroups answers."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.problem import prepare
from bayescal.multilevel.compared import raw_estimates

N = 3000


def patients():
    """Women have more events than predicted, and men fewer; age and device do not matter."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], N),
            "age group": rng.choice(["<60", "60-79", "80+"], N, p=[0.6, 0.37, 0.03]),
            "device": rng.choice(["A", "B"], N),
        }
    )
    log_odds = rng.normal(-0.8, 1, N)
    risk = expit(log_odds + np.where(frame["sex"] == "F", 0.35, -0.35))
    return (rng.random(N) < risk).astype(int), expit(log_odds), frame


@pytest.fixture(scope="module")
def post():
    y, s, frame = patients()
    return bc.fit(y, s, subgroup=frame, curve="logistic", draws=2000, random_state=5)


@pytest.mark.slow
def test_every_level_and_every_cell_is_a_subgroup(post):
    table = post.table()
    assert table.index.names == ["factor", "level"]
    counts = table.index.get_level_values("factor").value_counts()
    assert counts.to_dict() == {
        "sex": 2,
        "age group": 3,
        "device": 2,
        "sex x age group x device": 12,
    }
    for factor in counts.index:
        assert table.loc[factor, "cases"].sum() == N
        assert table.loc[factor, "prob_worst"].sum() == pytest.approx(1)
    for name in ("tce", "observed_expected", "calibration_slope"):
        assert (table[f"{name}_lower"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_upper"]).all()
    assert table["prob_off"].between(0, 1).all()
    assert (post.table(ci_prob=0.99)["tce_upper"] >= table["tce_upper"]).all()
    assert (post.table(delta=0.2)["prob_off"] <= table["prob_off"]).all()


def test_raw_estimates_are_those_of_the_subgroup_alone(post):
    y, s, frame = patients()
    mine = (frame["sex"] == "F").to_numpy()
    row = post.table().loc[("sex", "F")]
    assert row["observed_expected_raw"] == pytest.approx(y[mine].sum() / s[mine].sum(), rel=1e-3)
    slope = bc.estimators.calibration_slope(y[mine], s[mine])
    assert row["calibration_slope_raw"] == pytest.approx(slope, abs=0.01)
    own = LogisticRegression(C=np.inf).fit(logit(s[mine])[:, None], y[mine])
    distance = np.abs(own.predict_proba(logit(s[mine])[:, None])[:, 1] - s[mine]).mean()
    assert row["tce_raw"] == pytest.approx(distance, abs=1e-4)


def raw_of(score, trials, hits):
    data = bc.CalibrationData.from_counts(*(np.array(each) for each in (score, trials, hits)))
    return raw_estimates(prepare(data, curve="logistic", prior="neutral"))


def test_raw_estimates_of_two_scores_are_closed_forms():
    """A logistic curve passes through the observed proportions of two scores: .3 and .5."""
    raw = raw_of([0.2, 0.8], [100, 300], [30, 150])
    assert raw["observed_expected"] == pytest.approx(180 / 260)
    assert raw["calibration_slope"] == pytest.approx(-logit(0.3) / (logit(0.8) - logit(0.2)))
    assert raw["tce"] == pytest.approx((100 * 0.1 + 300 * 0.3) / 400)


def test_raw_errors_are_measured_from_the_scores_as_they_came_in():
    raw = raw_of([0.0, 0.5, 1.0], [100, 200, 100], [10, 100, 80])
    assert raw["observed_expected"] == pytest.approx(190 / 200)


def test_without_a_logistic_curve_there_is_no_raw_error():
    raw = raw_of([0.2, 0.3, 0.6], [1, 1, 1], [0, 0, 1])
    assert raw["observed_expected"] == pytest.approx(1 / 1.1)
    assert np.isnan(raw["calibration_slope"])
    assert np.isnan(raw["tce"])


def test_a_view_is_of_the_cases_of_its_levels(post):
    women = post.at(sex="F")
    assert women is post.at({"sex": "F"})
    assert str(women).startswith("sex F\n")
    cell = post.at({"age group": "80+"}, sex="M", device="A")
    assert cell is post.at({"device": "A", "sex": "M", "age group": "80+"})
    assert cell._title == "sex M, age group 80+, device A"
    assert cell.data.n == post.table().loc["sex x age group x device"].loc["M, 80+, A", "cases"]
    assert post.at().data.n == N


def test_joint_probabilities_are_those_of_the_draws(post):
    levels = post.functional("tce")
    assert levels.dims == ("chain", "draw", "subgroup")
    assert levels["factor"].to_numpy().tolist()[:2] == ["sex", "sex"]
    single = (levels > 0.05).mean(("chain", "draw"))
    joint = post.prob_any_above(0.05)
    assert float(single.max()) <= joint <= min(1.0, float(single.sum()))
    by_one = [post.prob_any_above(0.05, by=factor) for factor in post.levels]
    assert max(by_one) <= joint <= sum(by_one)
    cells = post.functional("tce", by=list(post.levels))
    off = float((cells > 0.05).any("subgroup").mean())
    assert post.prob_any_above(0.05, by=list(post.levels)) == off
    assert post.prob_any_above(-1) == 1
    assert post.prob_worst("sex").sum() == pytest.approx(1)
    worst = post.prob_worst()
    assert worst.sum() == pytest.approx(1)
    assert worst.index.names == ["factor", "level"]
    assert worst.index.tolist() == [(each.factor, each.level) for each in post.parts()]
    assert len(post.prob_worst(list(post.levels))) == 12
    ratio = post.functional("observed_expected") - 1
    off = float((np.abs(ratio) > 0.1).any("subgroup").mean())
    assert post.prob_any_above(0.1, "observed_expected") == off


def test_what_is_unknown_is_refused(post):
    with pytest.raises(InputError, match="'age group', 'device', 'sex'"):
        post.at(ward="3")
    with pytest.raises(InputError, match="level of sex must be one of 'F', 'M'"):
        post.at(sex="X")
    with pytest.raises(InputError, match="levels must be a level for each"):
        post.at(["F"])
    with pytest.raises(InputError, match="first must be one of"):
        post.prob_differs("sex", "X", "M")
    with pytest.raises(InputError, match="first and second go together"):
        post.prob_differs("sex", "F")
    with pytest.raises(InputError, match="by must be one of 'age group', 'device', 'sex'"):
        post.prob_any_above(0.05, by="everyone")


def test_combinations_that_do_not_occur():
    rng = np.random.default_rng(1)
    sex, ward = np.resize(["F", "M", "M"], 300), np.resize(["x", "y", "z"], 300)
    s = rng.uniform(0.1, 0.9, 300)
    y = (rng.random(300) < s).astype(int)
    post = bc.fit(y, s, subgroup={"sex": sex, "ward": ward}, curve="intercept", draws=1000)
    assert len(post.problem.cells) == 3
    with pytest.raises(InputError, match="no case has sex='F', ward='z'"):
        post.at(sex="F", ward="z")
    assert post.heterogeneity.index.tolist() == [
        (term, "shift") for term in ("sex", "ward", "sex x ward")
    ]
    with pytest.raises(InputError, match="cannot be fitted"):
        bc.fit(y, s, subgroup={"sex": sex, "ward": ward}, curve="spline")


def test_labels_are_untrusted_text():
    y, s = bc.simulate.sample("calibrated", 80, random_state=1)
    hostile = {
        "<b>": np.resize(["<script>", "x\n\x1b[31m"], 80),
        "$\\frac{": np.resize([0, 0, 1], 80),
    }
    post = bc.fit(y, s, subgroup=hostile, curve="logistic", draws=1000, random_state=1)
    assert "<script>" in post.levels["<b>"]
    shown = post._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown.replace("</b>", "")
    bc.plots.forest(post)[0].figure.canvas.draw()
    a = bc.assess(y, s, subgroup=hostile, draws=1000, random_state=1)
    assert "\x1b" not in str(a)


@pytest.mark.slow
def test_weights_and_the_order_of_cases_do_not_matter():
    """Counts are cases, and any order of the cases and of the factors' labels is the same fit."""
    rng = np.random.default_rng(2)
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    s = np.round(s, 2)
    factors = pd.DataFrame({"a": np.resize([0, 1], 200), "b": np.resize([0, 0, 1], 200)})
    options = {"curve": "logistic", "draws": 1000, "random_state": 2}
    post = bc.fit(y, s, subgroup=factors, **options)
    order = rng.permutation(200)
    again = bc.fit(y[order], s[order], subgroup=factors.iloc[order], **options)
    pd.testing.assert_frame_equal(again.table(), post.table())
    twice = np.tile(np.arange(200), 2)
    repeated = bc.fit(y[twice], s[twice], subgroup=factors.iloc[twice], **options)
    counted = bc.fit(
        y, s, subgroup=factors, sample_weight=np.full(200, 2), weight_type="counts", **options
    )
    pd.testing.assert_frame_equal(counted.table(), repeated.table())
