"""Cells: the definitions by loops, and what averaging and merging may and may not do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.errors import InputError
from bayescal.estimators import (
    average_labels,
    ece,
    merge_cells,
    pde,
    pde_bins,
    probabilistic_count,
    probabilistic_kendall_tau,
)
from bayescal.scores import canonical_calibration_error

BINNINGS = ["width", "mass", "rank", "quantile"]


def drawn(n=60, digits=1, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n).round(digits)
    return (rng.random(n) < scores).astype(int), scores


# The deviation error


@pytest.mark.oracle("pde")
@pytest.mark.parametrize("p", [1, 2, 3.5])
def test_pde_is_its_definition(p):
    """Section 5: the power is of the mean deviation of a bin, and not of each case's."""
    outcomes, scores = drawn(digits=3)
    cell = np.random.default_rng(1).integers(0, 7, 60)
    total = 0.0
    for label in set(cell.tolist()):
        inside = cell == label
        rate = outcomes[inside].mean()
        deviation = sum(abs(score - rate) for score in scores[inside]) / inside.sum()
        total += inside.sum() / 60 * deviation**p
    assert pde(outcomes, scores, cells=cell, p=p) == pytest.approx(total ** (1 / p))


# The expected error over cells


@pytest.mark.oracle("ece")
@pytest.mark.parametrize("p", [1, 2, 3.5])
def test_ece_over_cells_is_its_definition(p):
    outcomes, scores = drawn(digits=3)
    rng = np.random.default_rng(2)
    cell, weight = rng.integers(0, 7, 60), rng.integers(0, 3, 60)
    total = 0.0
    for label in set(cell.tolist()):
        inside = (cell == label) * weight
        gap = (inside @ scores - inside @ outcomes) / inside.sum()
        total += inside.sum() / weight.sum() * abs(gap) ** p
    actual = ece(outcomes, scores, cells=cell, p=p, sample_weight=weight)
    assert actual == pytest.approx(total ** (1 / p))


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("binning", BINNINGS)
def test_cells_that_are_the_bins_give_what_the_bins_give(binning, p):
    outcomes, scores = drawn(200, 3)
    cut = {"n_bins": 6, "binning": binning}
    table = pde_bins(outcomes, scores, **cut)
    cells = np.repeat(np.arange(table.cases.size), table.cases.astype(int))
    order = np.argsort(scores, kind="stable")
    for function in (ece, pde):
        of_cells = function(outcomes[order], scores[order], cells=cells, p=p)
        assert of_cells == pytest.approx(function(outcomes, scores, p=p, **cut))


@pytest.mark.parametrize("p", [1, 2])
def test_pde_bins_add_up_to_pde(p):
    outcomes, scores = drawn(100, 3)
    for options in ({"n_bins": 7}, {"binning": "width"}, {"cells": np.arange(100) % 3}):
        table = pde_bins(outcomes, scores, **options)
        assert (np.diff(table.score) >= 0).all()
        assert (table.cases > 0).all()
        total = (table.deviation**p @ table.cases / 100) ** (1 / p)
        assert total == pytest.approx(pde(outcomes, scores, p=p, **options))
        gaps = abs(table.rate - table.score)
        assert (table.deviation >= gaps - 1e-12).all()


def test_a_batch_is_a_loop():
    rng = np.random.default_rng(3)
    scores = rng.random(40).round(1)
    outcomes = rng.random((2, 3, 40)) < scores
    cell = rng.integers(0, 5, 40)
    functions = [
        pde,
        lambda y, s: pde(y, s, cells=cell),
        lambda y, s: pde(y, s, cells=cell, p=2),
        lambda y, s: ece(y, s, cells=cell, p=2),
        probabilistic_kendall_tau,
        average_labels,
        lambda y, s: average_labels(y, s, cells=cell),
    ]
    for function in functions:
        actual = function(outcomes, scores)
        for index in np.ndindex(2, 3):
            np.testing.assert_allclose(actual[index], function(outcomes[index], scores))


def test_whole_weights_are_repeats():
    outcomes, scores = drawn()
    rng = np.random.default_rng(4)
    weight, cell = rng.integers(0, 4, 60), rng.integers(0, 5, 60)
    y, s, c = (np.repeat(values, weight) for values in (outcomes, scores, cell))
    for function in (pde, ece):
        for p in (1, 2):
            actual = function(outcomes, scores, cells=cell, p=p, sample_weight=weight)
            assert actual == pytest.approx(function(y, s, cells=c, p=p))
    count = probabilistic_count(scores, cells=cell, sample_weight=weight)
    assert count == pytest.approx(probabilistic_count(s, cells=c))
    merged = np.repeat(merge_cells(scores, cell, sample_weight=weight), weight)
    np.testing.assert_allclose(merged, merge_cells(s, c))
    averaged = np.repeat(average_labels(outcomes, scores, cells=cell, sample_weight=weight), weight)
    np.testing.assert_allclose(averaged, average_labels(y, s, cells=c))


# The count


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([1, 1, 1, 1, 1], 5),
        ([1, 1, 2], 8 / 3),
        ([10, 10, *[1] * 10], 30 / 7),
        ([10, *[1] * 20], 7.5),
        ([20, 20, 20, 15, *[1] * 5], 1 / (3 / 16 + (15 / 80) ** 2 + 5 / 6400)),
    ],
)
def test_counts_of_the_papers_figures(shares, expected):
    """Figures 2 to 6; the 19/80 printed under figure 3 does not add up to 1, and 15/80 does."""
    cells = np.arange(len(shares))
    count = probabilistic_count(np.full(cells.size, 0.5), cells=cells, sample_weight=shares)
    assert count == pytest.approx(expected)


def test_count_of_cells():
    assert probabilistic_count([0.1, 0.4, 0.4, 0.1]) == pytest.approx(2)
    assert probabilistic_count([0.1, 0.4, 0.4, 0.4]) == pytest.approx(1 / (1 / 16 + 9 / 16))
    assert probabilistic_count([0.1, 0.4], cells=["a", "a"]) == 1
    assert probabilistic_count([0.0, 1.0, 0.5], sample_weight=[1, 1, 0]) == pytest.approx(2)


# What averaging and merging do to a model that is constant on fine cells


@st.composite
def models(draw):
    """Outcomes, scores constant on cells, those cells, and coarser ones that merge them."""
    cells = draw(st.integers(1, 8))
    level = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0])
    scores = np.array(draw(st.lists(level, min_size=cells, max_size=cells)))
    coarse = np.array(draw(st.lists(st.integers(0, 3), min_size=cells, max_size=cells)))
    fine = np.concatenate(
        [np.arange(cells), draw(st.lists(st.integers(0, cells - 1), min_size=1, max_size=30))]
    )
    outcomes = np.array(draw(st.lists(st.integers(0, 1), min_size=fine.size, max_size=fine.size)))
    return outcomes, scores[fine], fine, coarse[fine]


def brier(outcomes, scores):
    return float(((outcomes - scores) ** 2).mean())


@given(models())
def test_averaged_labels_are_calibrated(model):
    outcomes, scores, fine, _ = model
    averaged = average_labels(outcomes, scores, cells=fine)
    assert pde(outcomes, averaged, cells=fine) == pytest.approx(0, abs=1e-12)
    level_sets = averaged.round(12)
    assert pde(outcomes, level_sets, cells=level_sets) == pytest.approx(0, abs=1e-9)


@given(models())
def test_averaging_takes_the_calibration_error_off_the_brier_score(model):
    outcomes, scores, fine, _ = model
    averaged = average_labels(outcomes, scores, cells=fine)
    fall = brier(outcomes, scores) - brier(outcomes, averaged)
    assert fall == pytest.approx(pde(outcomes, scores, cells=fine, p=2) ** 2, abs=1e-12)


@given(models())
def test_merging_averaged_cells_is_averaging_merged_ones(model):
    outcomes, scores, fine, coarse = model
    merged = merge_cells(average_labels(outcomes, scores, cells=fine), coarse)
    np.testing.assert_allclose(merged, average_labels(outcomes, scores, cells=coarse), atol=1e-12)
    loss = brier(outcomes, merged) - brier(outcomes, average_labels(outcomes, scores, cells=fine))
    assert loss >= -1e-12


# Hostile input


def test_cells_have_labels_of_any_one_kind():
    for cell in (["a", "b", "a"], [True, False, True], [0.5, -1.0, 0.5], [7, 3, 7]):
        np.testing.assert_allclose(
            average_labels([0, 1, 1], [0.1, 0.5, 0.9], cells=cell), [0.5, 1, 0.5]
        )


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ([1, 2], "cells has 2 observations but y_prob has 3"),
        ([1, 2, np.nan], "cells has missing labels"),
        (["a", None, "b"], "cells has missing labels"),
        ([[1, 2], [1, 2], [1, 2]], "cells must be one-dimensional"),
    ],
)
def test_refuses_what_are_not_cells(cell, message):
    outcomes, scores = [0, 1, 1], [0.1, 0.5, 0.9]
    for call in (
        lambda: pde(outcomes, scores, cells=cell),
        lambda: ece(outcomes, scores, cells=cell),
        lambda: pde_bins(outcomes, scores, cells=cell),
        lambda: average_labels(outcomes, scores, cells=cell),
        lambda: merge_cells(scores, cell),
        lambda: probabilistic_count(scores, cells=cell),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_refuses_a_mean_of_nothing():
    with pytest.raises(InputError, match="cell of case 2 has no weight"):
        average_labels([0, 1, 1], [0.1, 0.5, 0.9], sample_weight=[1, 1, 0])


def test_pde_of_each_order_by_hand():
    """Bins of three and one case with mean deviations .4 and .1."""
    outcomes, scores = [0, 0, 0, 1], [0.1, 0.3, 0.8, 0.9]
    cells = ["a", "a", "a", "b"]
    for p, expected in ((1, 0.325), (2, 0.1225**0.5), (3, 0.04825 ** (1 / 3))):
        assert pde(outcomes, scores, cells=cells, p=p) == pytest.approx(expected)


def test_example_1_of_the_paper():
    """Appendix B: scores .35 and .65 in a bin where half are events."""
    outcomes, scores = np.arange(200) % 2, np.repeat([0.35, 0.65], 100)
    assert ece(outcomes, scores, n_bins=1) == pytest.approx(0)
    assert pde(outcomes, scores, n_bins=1) == pytest.approx(0.15)
    assert ece(outcomes, scores, cells=np.zeros(200)) == pytest.approx(0)
    assert pde(outcomes, scores, cells=np.zeros(200)) == pytest.approx(0.15)
    assert pde_bins(outcomes, scores, n_bins=1).deviation == pytest.approx(0.15)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_errors_over_level_sets_are_those_of_known_probabilities(p):
    """Both classes of a binary model are off by as much as the event, which counts twice there."""
    truth, scores = np.array([0.1, 0.5, 0.9, 0.3]), np.array([0.2, 0.6, 0.6, 0.9])
    outcomes = np.tile([0, 1], 4)
    weight = np.column_stack([1 - truth, truth]).ravel() * 10
    of_classes = canonical_calibration_error(
        np.column_stack([1 - truth, truth]), np.column_stack([1 - scores, scores]), p=p
    )
    twice = np.repeat(scores, 2)
    for function in (ece, pde):
        error = function(outcomes, twice, cells=twice, p=p, sample_weight=weight.round())
        assert of_classes == pytest.approx(2 ** (1 / p) * error)


def test_the_order_of_the_cases_does_not_matter():
    outcomes, scores = drawn(200)
    order = np.random.default_rng(5).permutation(200)
    for function in (pde, probabilistic_kendall_tau):
        assert function(outcomes[order], scores[order]) == pytest.approx(function(outcomes, scores))
    np.testing.assert_allclose(
        average_labels(outcomes[order], scores[order]), average_labels(outcomes, scores)[order]
    )
