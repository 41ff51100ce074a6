"""Maps that say 0 or 1, and thresholds that nobody crosses: what is said of them, without NaN."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayescal as bc
from bayescal.data.doors import Given
from bayescal.gain.paired import as_paired, of_equal_cells
from bayescal.model.problem import prepare

ROUTES = ("curve", "paired")
OPTIONS = {"draws": 400, "random_state": 1}


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def lowest_to_0(score, cases=20):
    """The same scores, but 0 for those with the lowest."""
    after = score.copy()
    after[np.argsort(score)[:cases]] = 0.0
    return after


def said_everywhere(gain):
    """All that is printed or drawn of a gain; nowhere is there a NaN."""
    table = gain.summary(parts=True)
    assert not table.isna().any(axis=None)
    told = [repr(gain), gain._repr_html_()]
    for measure in table.index:
        axes = bc.plots.gain(gain, measure)
        told += [axes.get_title("left"), *(text.get_text() for text in axes.texts)]
    printed = " ".join(" ".join(told).split())
    assert "nan" not in printed.lower()
    return printed


@pytest.mark.parametrize("route", ROUTES)
def test_probability_0_of_what_happened_loses_infinitely_much(patients, route):
    y, s = patients
    after = lowest_to_0(s)
    wrong = int(y[after == 0].sum())
    assert wrong > 0
    assert bc.scores.log_score(y, after) == np.inf
    gain = bc.recalibration_gain(y, s, after, route=route, thresholds=(0.3,), **OPTIONS)
    table = gain.summary(parts=True)
    for name in ("log_score", "log_calibration"):
        assert (table.loc[name].iloc[:5] == -np.inf).all()
        assert table.loc[name, "prob_improved"] == 0
    assert np.isfinite(table.drop(["log_score", "log_calibration"])).all(axis=None)
    assert gain.interval("log_score") == (-np.inf, -np.inf)
    assert gain.contradicted == {"before": 0, "after": wrong}
    assert table.attrs["contradicted"] == gain.contradicted
    printed = said_everywhere(gain)
    assert "minus infinity" in printed
    assert f"before to 0 cases, after to {wrong} case" in printed
    assert gain.prob_above(0, "log_score") == 0


def test_the_signs_of_both_sides(patients):
    """Infinite after outweighs infinite before; the same patients on both sides count nothing."""
    y, s = patients
    low, high = lowest_to_0(s), np.where(s > 0.8, 1.0, s)
    assert y[high == 1].min() == 0
    options = {"route": "paired", **OPTIONS}
    better = bc.recalibration_gain(y, low, s, **options)
    assert better.summary().loc["log_score", "estimate"] == np.inf
    assert better.summary().loc["log_score", "prob_improved"] == 1
    assert "infinity" in said_everywhere(better)
    worse = bc.recalibration_gain(y, low, high, **options)
    assert worse.summary().loc["log_score", "estimate"] == -np.inf
    assert min(worse.contradicted.values()) > 0
    same = bc.recalibration_gain(y, low, np.where(low > 0, 0.9 * s + 0.02, 0.0), **options)
    assert same.contradicted["before"] == same.contradicted["after"] > 0
    kept = low > 0
    rest = bc.recalibration_gain(y[kept], s[kept], 0.9 * s[kept] + 0.02, **options)
    expected = rest.summary().loc["log_score", "estimate"] * kept.mean()
    assert same.summary().loc["log_score", "estimate"] == pytest.approx(expected, abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["IsotonicRecalibrator", "BBQRecalibrator", "HistogramRecalibrator"]
)
def test_the_maps_own_numbers_decide(patients, name):
    """A map is as bad as the log score of its predictions says; a clipped one is another map."""
    y, s = patients
    map_of = getattr(bc.recalibrate, name)().fit(s, y)
    seen = set()
    for seed, n in enumerate((60, 60, 900)):
        new_y, before = bc.simulate.sample(
            "clinical-middle-overconfident", n, random_state=seed + 2
        )
        after = map_of.transform(before)
        gain = bc.recalibration_gain(new_y, before, after, **OPTIONS)
        infinite = bool(np.isinf(bc.scores.log_score(new_y, after)))
        estimate = gain.summary().loc["log_score", "estimate"]
        assert np.isinf(estimate) == infinite
        seen.add(infinite)
        clipped = bc.recalibration_gain(new_y, before, np.clip(after, 1e-3, 1 - 1e-3), **OPTIONS)
        assert np.isfinite(clipped.summary()).all(axis=None)
        assert not clipped.notes
    if name == "IsotonicRecalibrator":
        assert seen == {True, False}


@pytest.mark.parametrize("route", ROUTES)
def test_what_no_outcome_contradicts_is_counted_as_it_happened(patients, route):
    y, s = patients
    y = np.where(s < 0.1, 0, y)
    after = np.where(s < 0.1, 0.0, s)
    gain = bc.recalibration_gain(y, s, after, route=route, draws=2000, random_state=1)
    expected = bc.scores.log_score(y, s) - bc.scores.log_score(y, after)
    table = gain.summary(parts=True)
    assert np.isfinite(table).all(axis=None)
    assert table.loc["log_score", "estimate"] == pytest.approx(expected, rel=0.02)
    (note,) = gain.notes
    assert f"0 or 1 to {int((after == 0).sum())} cases, and no outcome contradicts it" in note
    if route == "paired":
        brier = bc.scores.brier_score(y, s) - bc.scores.brier_score(y, after)
        assert table.loc["brier", "estimate"] == pytest.approx(brier, rel=0.02)


def test_counts_of_patients_are_those_of_the_weights_or_of_any_repeat(patients):
    y, s = patients
    after = lowest_to_0(s)
    wrong = int(y[after == 0].sum())
    weight = np.where(after == 0, 3, 1)
    counted = bc.recalibration_gain(y, s, after, sample_weight=weight, **OPTIONS)
    assert counted.contradicted["after"] == 3 * wrong
    sampled = {"sample_weight": weight / 7, "weight_type": "sampling"}
    assert bc.recalibration_gain(y, s, after, **sampled, **OPTIONS).contradicted["after"] == wrong
    repeats = np.stack([0.9 * s + 0.02, after, s])
    gain = bc.recalibration_gain(y, s, repeats, **OPTIONS)
    assert gain.contradicted["after"] == wrong
    assert gain.summary().loc["log_score", "estimate"] == -np.inf
    several = bc.recalibration_gain(
        y, imputation=np.stack([s, s**1.01]), after=np.stack([s**0.9, after]), **OPTIONS
    )
    table = several.summary(parts=True)
    assert table.loc["log_score", "estimate"] == table.loc["log_score", "lower"] == -np.inf
    assert np.isfinite(table.loc["log_score", "upper"])
    assert table.loc["log_score", "prob_improved"] <= 0.5
    assert "with probability 0.50" in said_everywhere(several)
    assert not several.missing_information.isna().any(axis=None)
    assert "log_score" not in several.missing_information.index


@pytest.mark.parametrize("side", ["before", "after"])
def test_scores_of_0_and_1_among_many_share_no_row_with_others(side):
    """Also where neighbouring scores share a row of the curve."""
    y, s = bc.simulate.sample("clinical-middle-overconfident", 3000, random_state=2)
    order = np.argsort(s)
    certain = s.copy()
    certain[order[:3]], certain[order[-2:]] = 0.0, 1.0
    pair = (certain, s) if side == "before" else (s, certain)
    pairs = as_paired(Given(y, pair[0]), pair[1])
    sides = [prepare(bc.CalibrationData(y, score), random_state=0) for score in pair]
    alike = of_equal_cells(pairs, *sides, ())
    assert alike.trials.size < 1000
    kind = (certain > 0).astype(int) + (certain == 1)
    np.testing.assert_array_equal(kind[alike.one][alike.row], kind)


@pytest.mark.parametrize("route", ROUTES)
def test_a_threshold_that_nobody_crosses_leaves_the_net_benefit_unchanged(patients, route):
    y, s = patients
    after = 0.95 * s + 0.02
    thresholds = (0.3, 0.999)
    gain = bc.recalibration_gain(y, s, after, route=route, thresholds=thresholds, **OPTIONS)
    assert "net_benefit@0.999" in gain.unchanged
    assert "net_benefit@0.3" not in gain.unchanged
    row = next(line for line in repr(gain).splitlines() if line.startswith("net_benefit@0.999"))
    assert row.split() == ["net_benefit@0.999", "unchanged"]
    assert "Net benefit at 0.999: unchanged, since no case crosses" in repr(gain)
    assert bc.plots.gain(gain, "net_benefit@0.999").texts[0].get_text() == "unchanged"
    printed = said_everywhere(bc.recalibration_gain(y, s, s, thresholds=(0.3,), **OPTIONS))
    assert "P(improved)</th>" in printed
    assert "P(improved) 0" not in printed
