"""Rows of cases that are alike keep what the gain of single cases needs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

import bayescal as bc
from bayescal.data.doors import Given
from bayescal.gain.paired import MOST_SINGLE, Alike, as_paired, of_equal_cells, of_neighbours
from bayescal.model.problem import prepare


def cases(n, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    before = rng.beta(2, 3, n)
    y = (rng.random(n) < expit(-0.3 + 0.7 * logit(before))).astype(int)
    return y, before, expit(logit(before) + 0.01 + noise * rng.normal(size=n))


def problems(pairs):
    tables = (pairs.table_before, pairs.tables_after[0])
    return [prepare(table, random_state=0) for table in tables]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 12_000),
    st.sampled_from([2, 3, None]),
    st.lists(st.sampled_from([0.1, 0.3, 0.31, 0.7]), max_size=3, unique=True),
    st.booleans(),
)
def test_rows_of_cells_are_of_all_cases_and_of_one_side_of_every_threshold(
    n, digits, thresholds, weighted
):
    y, before, after = cases(n)
    if digits:
        before, after = before.round(digits), after.round(digits)
    weight = np.arange(n) % 3 + 1.0 if weighted else None
    pairs = as_paired(
        Given(y, before, {"sample_weight": weight}, {"weight_type": "counts"} if weighted else {}),
        after,
    )
    alike = of_equal_cells(pairs, *problems(pairs), thresholds)
    np.testing.assert_array_equal(alike.row[alike.one], np.arange(alike.trials.size))
    assert alike.trials.sum() == pytest.approx(pairs.weight.sum())
    for score in (pairs.before, pairs.after[0]):
        total = alike.trials @ alike.means(score)
        assert total == pytest.approx(pairs.weight @ score)
        for threshold in thresholds:
            share = alike.means((score >= threshold) * 1.0)
            assert np.isin(share, (0, 1)).all()


@pytest.mark.parametrize(("n", "digits"), [(5000, 2), (100, 17)])
def test_few_distinct_scores_keep_their_very_values(n, digits):
    y, before, after = (values.round(digits) for values in cases(n))
    pairs = as_paired(Given(y, before), after)
    alike = of_equal_cells(pairs, *problems(pairs), ())
    np.testing.assert_array_equal(np.unique(alike.means(before)), np.unique(before))


def test_neighbours_lose_little_of_the_variance_of_a_gain_however_small_the_moves():
    """Moves of a hundredth in log-odds, far below the width of a cell."""
    for noise in (0.0, 0.01, 0.3):
        y, before, after = cases(4 * MOST_SINGLE, noise)
        alike = of_neighbours(as_paired(Given(y, before), after[None]), (0.3,))
        assert alike.trials.size < 2 * MOST_SINGLE
        gains = {
            "brier": (before - y) ** 2 - (after - y) ** 2,
            "moved": ((after >= 0.3) * 1.0 - (before >= 0.3)) * y,
        }
        for values in gains.values():
            among = np.average((alike.means(values) - values.mean()) ** 2, weights=alike.trials)
            assert among == pytest.approx(values.var(), rel=0.02)


def test_few_cases_stand_alone_in_their_order():
    y, before, after = cases(50)
    alike = of_neighbours(as_paired(Given(y, before), after), ())
    np.testing.assert_array_equal(alike.means(before), before)


@pytest.mark.slow
@pytest.mark.parametrize("change", [lambda a: a, lambda a: a.round(2)])
def test_gains_on_the_grid_are_those_of_single_cases(change, monkeypatch):
    """The same law, other draws: 2500 distinct scores, each a row of its own or in cells."""

    def single(pairs, *_):
        return Alike.of(np.argsort(np.argsort(pairs.before)), pairs.weight)

    y, before, _ = cases(2500)
    after = change(expit(-0.28 + 0.72 * logit(before)))
    options = {"thresholds": (0.3,), "draws": 1000, "random_state": 1}
    cells = bc.recalibration_gain(y, before, after, **options).summary(parts=True)
    monkeypatch.setattr("bayescal.gain.routes.of_equal_cells", single)
    alone = bc.recalibration_gain(y, before, after, **options).summary(parts=True)
    spread = (alone["upper"] - alone["lower"]) / 4
    for part in ("brier", "log"):  # what changes within a cell is little beside the score
        spread[f"{part}_refinement"] = spread[f"{part}_calibration"]
    for column in ("estimate", "mean", "lower", "upper"):
        assert ((cells[column] - alone[column]).abs() < 0.4 * spread).all(), column


def test_the_fall_in_error_reaches_its_largest_where_a_side_is_exactly_calibrated():
    covered = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        before = rng.beta(1.5, 3, 300)
        after = expit(0.6 * logit(before))
        y = (rng.random(300) < after).astype(int)
        gain = bc.recalibration_gain(y, before, after, route="paired", draws=400, random_state=0)
        lower, upper = gain.interval("tce")
        covered.append(lower <= np.abs(after - before).mean() <= upper)
    assert sum(covered) >= 5
