"""The binomial table: collapsing, compressing, adding, round trips, and refusing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.data.rows import LIMIT, Rows
from bayescal.errors import InputError, WeightWarning
from bayescal.inference.density import CurveDensity
from bayescal.model.problem import prepare


def many_scores(n, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.beta(2, 1, n)
    scores[: n // 50] = 1.0
    scores[n // 50 : n // 40] = 0.0
    return (rng.random(n) < scores).astype(int), scores


def test_ties_collapse_to_binomial_rows():
    data = bc.CalibrationData([0, 1, 1, 0, 1], [0.2, 0.8, 0.8, 0.2, 0.5])
    np.testing.assert_array_equal(data.score, [0.2, 0.5, 0.8])
    np.testing.assert_array_equal(data.trials, [2, 1, 2])
    np.testing.assert_array_equal(data.hits, [0, 1, 2])
    assert (data.n, data.events) == (5, 3)


# What weights are


def weighted_patients(rows=200, factors=(4, 20)):
    """Patients with continuous scores, and whole-number weights that can be either type."""
    y, s = bc.simulate.sample("clinical-middle-shifted", rows, random_state=5)
    return y, s, np.random.default_rng(5).choice(factors, rows).astype(float)


def summary(weights, weight_type=None, groups=None):
    y, s, _ = weighted_patients()
    data = bc.CalibrationData(y, s, weights, site=groups, weight_type=weight_type)
    return bc.fit(data.pooled(), curve="beta", draws=400, random_state=1).summary()


def test_counts_are_repeats_whatever_their_size():
    y, s, weights = weighted_patients()
    counts = bc.CalibrationData(y, s, weights, weight_type="counts")
    cases = weights.astype(int)
    assert counts == bc.CalibrationData(np.repeat(y, cases), np.repeat(s, cases))
    assert (counts.effective_size, counts.weight_type) == (weights.sum(), "counts")


@pytest.mark.parametrize("factor", [0.5, 2.0, 1 / 64])
def test_sampling_weights_have_no_scale_whole_or_not(factor):
    _, _, weights = weighted_patients()
    given, scaled = summary(weights, "sampling"), summary(factor * weights, "sampling")
    pd.testing.assert_frame_equal(given, scaled, check_exact=True)


@given(factor=st.floats(1e-6, 1e5))
def test_the_effective_size_does_not_depend_on_the_scale(factor):
    y, s, weights = weighted_patients()
    data = bc.CalibrationData(y, s, factor * weights, weight_type="sampling")
    kish = weights.sum() ** 2 / (weights @ weights)
    assert data.is_pseudo
    assert data.effective_size == pytest.approx(kish)
    assert data.to_arrays()[2].sum() == pytest.approx(kish)
    scaled = np.sort(data.trials * data.weight_scale)
    np.testing.assert_allclose(scaled, np.sort(weights) * kish / weights.sum())


def test_equal_sampling_weights_are_no_weights():
    pd.testing.assert_frame_equal(summary(np.full(200, 4.0), "sampling"), summary(None))


def test_each_group_has_its_own_effective_size():
    y, s, _ = weighted_patients()
    site = np.where(np.arange(200) < 80, "often", "seldom")
    weights = np.where(site == "often", 4.0, 20.0)
    data = bc.CalibrationData(y, s, weights, site=site, weight_type="sampling")
    assert data.select("often").effective_size == pytest.approx(80)
    assert data.select("seldom").effective_size == pytest.approx(120)
    alone = bc.CalibrationData(y, s, weights, weight_type="sampling")
    assert data.pooled() == alone
    again = bc.CalibrationData.from_xarray(data.to_xarray())
    assert again == data
    assert again.select("often") == data.select("often")


@pytest.mark.parametrize("weight_type", ["counts", "sampling"])
def test_a_table_remembers_what_its_weights_are(tmp_path, weight_type):
    y, s, weights = weighted_patients()
    data = bc.CalibrationData(y, s, weights, weight_type=weight_type)
    assert bc.CalibrationData.from_xarray(data.to_xarray()).weight_type == weight_type
    assert (data + data).weight_type == data.pooled().weight_type == weight_type
    post = bc.fit(data, curve="beta", draws=400, random_state=1)
    post.to_netcdf(tmp_path / "fit.nc")
    again = bc.load(tmp_path / "fit.nc")
    assert again.data == data
    assert again.summary().attrs["weight_type"] == weight_type
    pd.testing.assert_frame_equal(again.summary(), post.summary())


def test_parts_of_sampling_weights_add_up_though_some_are_whole():
    y, s, weights = weighted_patients(factors=(1, 2))
    weights[150:] += 0.5
    parts = [slice(0, 150), slice(150, None)]
    first, second = (bc.CalibrationData(y[part], s[part], weights[part]) for part in parts)
    assert (first.weight_type, second.weight_type) == ("counts", "sampling")
    assert first + second == second + first == bc.CalibrationData(y, s, weights)


def test_counts_that_were_said_to_be_counts_add_to_no_sampling_weights():
    y, s, weights = weighted_patients()
    sampling = bc.CalibrationData(y, s, weights, weight_type="sampling")
    for counts in (
        bc.CalibrationData(y, s, weights, weight_type="counts"),
        bc.CalibrationData.from_counts([0.1, 0.5], [10, 4], [1, 2]),
    ):
        for first, second in ((sampling, counts), (counts, sampling)):
            with pytest.raises(InputError, match=r"no common scale.*weight_type="):
                first + second


def test_whole_numbers_that_can_be_either_are_named_with_both_readings():
    y, s, weights = weighted_patients()
    kish = weights.sum() ** 2 / (weights @ weights)
    readings = rf"n = {weights.sum():.0f} cases\).*n = 200 cases of effective size {kish:.4g}"
    with pytest.warns(WeightWarning, match=readings) as caught:
        data = bc.CalibrationData(y, s, weights)
    assert len(caught) == 1
    assert data.weight_type == "counts"
    proba = np.column_stack([1 - s, s])
    with pytest.warns(WeightWarning, match=readings):
        bc.CalibrationData(y, proba, weights, mode="top-label")
    for reading in ("counts", "sampling"):
        bc.CalibrationData(y, s, weights, weight_type=reading)
        bc.CalibrationData(y, proba, weights, mode="top-label", weight_type=reading)


def test_every_entrance_warns_once_and_takes_the_type():
    y, s, weights = weighted_patients()
    after = 0.9 * s
    few = {"draws": 100, "random_state": 1}
    entrances = {
        "fit": lambda **more: bc.fit(y, s, **few, **more),
        "compare": lambda **more: bc.compare(y, s, **few, **more),
        "assess": lambda **more: bc.assess(y, s, **few, **more),
        "recommend": lambda **more: bc.recommend(y, s, **few, **more),
        "gain": lambda **more: bc.recalibration_gain(y, s, after, **few, **more),
    }
    for enter in entrances.values():
        with pytest.warns(WeightWarning) as caught:
            enter(sample_weight=weights)
        assert len(caught) == 1
        enter(sample_weight=weights, weight_type="sampling")
        with pytest.raises(InputError, match="weight_type must be one of 'counts', 'sampling'"):
            enter(sample_weight=weights, weight_type="frequency")


@pytest.mark.parametrize(
    "weights",
    [
        np.arange(200) % 3 + 1.0,  # a few repeats
        np.full(200, 3.0),
        np.where(np.arange(200) == 0, 100.0, 1.0),  # one row stands for many
        np.random.default_rng(1).multinomial(200, np.full(200, 1 / 200)).astype(float),
        np.where(np.arange(200) < 10, 1.0, 0.0),
    ],
)
def test_a_few_repeats_are_counts_without_a_word(weights):
    assert bc.CalibrationData(*weighted_patients()[:2], weights).weight_type == "counts"


def test_a_collapsed_table_is_counts_without_a_word():
    y, s = bc.simulate.sample("clinical-middle-shifted", 20_000, random_state=2)
    table = bc.CalibrationData(y, s.round(2))
    y, s, weights = table.to_arrays()
    assert weights.mean() > 50
    assert bc.CalibrationData(y, s, weights) == table
    site = np.array(["a", "b"] * y.size)
    twice = bc.CalibrationData(np.repeat(y, 2), np.repeat(s, 2), np.repeat(weights, 2), site=site)
    assert twice.select("b") == table
    with pytest.warns(WeightWarning):
        bc.CalibrationData(np.repeat(y, 2), np.repeat(s, 2), np.repeat(weights, 2))


def test_compression_keeps_counts_means_and_the_scores_zero_and_one():
    y, s = many_scores(10_000)
    data = bc.CalibrationData(y, s)
    assert data.is_compressed
    assert data.score.size <= LIMIT
    assert (data.n, data.events) == (y.size, y.sum())
    assert data.score @ data.trials == pytest.approx(s.sum(), rel=1e-8)
    assert data.score[0] == 0
    assert data.score[-1] == 1
    assert data.trials[[0, -1]].tolist() == [np.sum(s == 0), np.sum(s == 1)]
    assert (np.diff(data.score) > 0).all()


def test_rows_stay_exact_up_to_the_limit():
    scores = np.linspace(0.01, 0.99, LIMIT)
    outcome = np.arange(LIMIT) % 2
    assert not bc.CalibrationData(outcome, scores).is_compressed
    more = bc.CalibrationData([1], [0.995])
    assert (bc.CalibrationData(outcome, scores) + more).is_compressed


def test_compression_hardly_moves_the_posterior():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 4000, random_state=3)
    table = bc.CalibrationData(y, s)
    order = np.argsort(s)
    rows = Rows.exact(s[order], np.ones(s.size), y[order] * 1.0)
    exact = bc.CalibrationData._new(replace(table._contents, cases=rows))
    assert table.is_compressed
    assert not exact.is_compressed
    modes = [CurveDensity(prepare(data, random_state=0)).mode() for data in (table, exact)]
    spread = np.sqrt(np.diag(np.linalg.inv(modes[1].information)))
    np.testing.assert_array_less(abs(modes[0].point - modes[1].point), 0.01 * spread)
    np.testing.assert_allclose(modes[0].information, modes[1].information, rtol=1e-2, atol=0.1)
    coarse, fine = (bc.fit(data, curve="beta", random_state=0) for data in (table, exact))
    difference = coarse.tce(population="sample").mean() - fine.tce(population="sample").mean()
    assert abs(float(difference)) < 5e-4


def test_edges_move_a_quarter_of_the_way_to_the_nearest_score():
    edges = bc.CalibrationData([0, 1, 1, 0], [0.0, 0.2, 1.0, 0.96]).edges()
    assert edges.low == pytest.approx(0.05)
    assert edges.high == pytest.approx(0.99)
    assert edges.moved == 2
    assert not edges.assumed
    np.testing.assert_allclose(edges.inside(np.array([0, 0.2, 1])), [0.05, 0.2, 0.99])


def test_edges_never_come_nearer_than_the_floor():
    edges = bc.CalibrationData([0, 1, 1], [0.0, 1e-300, 1.0]).edges()
    assert edges.low == 1e-12
    assert edges.inside(np.array([1e-300]))[0] == 1e-12


def test_edges_that_nothing_explains_are_said_to_be_assumed():
    with pytest.warns(bc.errors.EdgeWarning, match="every score is exactly 0 or 1"):
        bc.fit([0, 1, 1, 0], [0, 1, 0, 1], curve="beta")
    assert bc.CalibrationData([0, 1], [0, 1]).edges(0.01).low == 0.01


def test_one_curve_is_not_fitted_to_several_groups_by_accident():
    data = bc.CalibrationData([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3], site=["a", "a", "b", "b"])
    with pytest.raises(InputError, match=r"2 groups .*data.pooled\(\)"):
        bc.compare(data)


def test_from_counts_and_to_arrays_invert_each_other():
    data = bc.CalibrationData.from_counts([0.1, 0.5, 0.9], [10, 4, 6], [1, 2, 6])
    assert bc.CalibrationData(*data.to_arrays()) == data
    with pytest.raises(InputError, match=r"hits\[1\] = 5 exceeds trials\[1\] = 4"):
        bc.CalibrationData.from_counts([0.1, 0.5], [10, 4], [1, 5])
    with pytest.raises(InputError, match="not a whole number"):
        bc.CalibrationData.from_counts([0.1, 0.5], [10, 4], [1, 2.5])


def test_multiclass_reductions():
    proba = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.25, 0.5, 0.25]])
    top = bc.CalibrationData([0, 1, 1], proba)
    np.testing.assert_array_equal(top.score, [0.5, 0.6, 0.7])
    np.testing.assert_array_equal(top.hits, [1, 0, 1])
    each = bc.CalibrationData(["a", "b", "b"], proba, mode="class-wise", classes=["a", "b", "c"])
    assert each.groups == ("a", "b", "c")
    assert each.select("b").events == 2
    with pytest.raises(InputError, match=r"y_prob\[0\] sums to 1.4"):
        bc.CalibrationData([0], [[0.7, 0.7]], mode="top-label")
    with pytest.raises(InputError, match=r"y_true\[0\] = 7 is not one of the 2 classes"):
        bc.CalibrationData([7], [[0.3, 0.7]], mode="top-label")


REFUSED = [
    (([0, 1], [0.2, 1.2]), {}, r"y_prob\[1\] = 1.2 is outside \[0, 1\].*percentages"),
    (([0, 1], [-3.0, 1.2]), {}, r"y_prob\[0\] = -3 is outside .*log-odds"),
    (([0, 1], [0.2, np.nan]), {}, r"y_prob\[1\] = nan is missing"),
    (([0.2, 0.7], [0, 1]), {}, "Pass the outcomes first"),
    (([0, 2], [0.2, 0.3]), {}, r"y_true\[1\] = 2 is neither 0 nor 1"),
    ((["no", "yes"], [0.2, 0.3]), {}, r"y_true must be 0/1 or boolean, but holds 'no', 'yes'"),
    (([0, 1], ["a", "b"]), {}, r"y_prob\[0\] is .*a.*not a number"),
    (([0, 1, 1], [0.2, 0.3]), {}, r"y_true has 3 observations but y_prob has 2"),
    (([], []), {}, "y_true is empty"),
    (([[0, 1]], [[[0.2, 0.3]]]), {}, "must be one-dimensional"),
    (([0, 1], [[0.2, 0.8], [0.3, 0.7]]), {}, "two columns, one for each of two classes"),
    ((1, 0.5), {}, "must be a list or array"),
    (([0, 1], None), {}, "y_prob is missing"),
    (([0, 1], [0.2, 0.3]), {"sample_weight": [1, -1]}, r"sample_weight\[1\] = -1"),
    (([0, 1], [0.2, 0.3]), {"sample_weight": [0, 0]}, "zero everywhere"),
    (([0, 1], [0.2, 0.3]), {"sample_weight": [1]}, "sample_weight has 1"),
    (
        ([0, 1], [0.2, 0.3]),
        {"sample_weight": [1, 0.5], "weight_type": "counts"},
        r"sample_weight\[1\] = 0.5 is not a whole number.*weight_type='sampling'",
    ),
    (([0, 1], [0.2, 0.3]), {"weight_type": "sampling"}, "says how sample_weight is read.*none"),
    (([0, 1], [0.2, 0.3]), {"site": ["a", None]}, r"site\[1\] is missing"),
    (([0, 1], [0.2, 0.3 + 0.1j]), {}, "complex"),
    ((["a", "b", "c"], [0.1, 0.2, 0.3]), {"pos_label": "z"}, "not two classes"),
    ((["a", "b", "b"], [0.1, 0.2, 0.3]), {"pos_label": "z"}, "not two classes"),
]


@pytest.mark.parametrize(("args", "options", "message"), REFUSED)
def test_bad_input_is_refused_with_a_cure(args, options, message):
    with pytest.raises(InputError, match=message):
        bc.CalibrationData(*args, **options)


def test_labels_other_than_zero_and_one_need_to_be_named():
    data = bc.CalibrationData(["ill", "well", "ill"], [0.9, 0.2, 0.7], pos_label="ill")
    assert data.events == 2


@pytest.mark.parametrize(
    "wrap",
    [
        list,
        tuple,
        np.float32,
        lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
        lambda v: xr.DataArray(np.asarray(v), dims="patient"),
        lambda v: np.asarray(v)[:, None],
        lambda v: pd.array(v, dtype="Float64"),
    ],
)
def test_anything_array_like_is_read_by_position(wrap):
    y, s = np.array([0, 1, 1, 0]), np.array([0.25, 0.75, 0.5, 0.125])
    assert bc.CalibrationData(wrap(y), wrap(s)) == bc.CalibrationData(y, s)


def test_nullable_pandas_missing_values_are_refused():
    with pytest.raises(InputError, match="y_prob"):
        bc.CalibrationData([0, 1], pd.array([0.2, None], dtype="Float64"))
    with pytest.raises(InputError, match="site"):
        bc.CalibrationData([0, 1], [0.2, 0.3], site=pd.array([0, None], dtype="Int64"))


def test_a_table_and_arrays_at_once_are_refused():
    data = bc.CalibrationData([0, 1], [0.2, 0.3])
    with pytest.raises(InputError, match="y_prob was given beside a CalibrationData"):
        bc.fit(data, [0.2, 0.3], curve="beta")
