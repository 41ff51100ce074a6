"""The benchmark of the verdict measures what its page says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verdict as benchmark
import verdict_page as page


def test_the_page_and_the_benchmark_ask_for_the_same() -> None:
    assert benchmark.BARS == {
        "yes": page.YES_BAR,
        "wrong way": page.WRONG_BAR,
        "settled": page.SETTLED_BAR,
    }


def test_ways_are_judged_by_the_truth() -> None:
    curve, _ = benchmark.OFF["too extreme, slope .65"]
    truth = benchmark.Truth("x", "x", benchmark.SPREAD, curve)
    y, s = truth.sample(3000, np.random.default_rng(1))
    a = benchmark.answered({"y_true": y, "y_prob": s}, 1)
    assert {"over-confident", "too high over a range"} <= set(a.off.ways)
    assert all(benchmark.rightly(way, truth, a) for way in a.off.ways)
    assert not benchmark.rightly("under-confident", truth, a)
    upside_down = benchmark.Truth("x", "x", benchmark.SPREAD, lambda p, q: 3 - curve(p, q))
    assert not benchmark.rightly("too high over a range", upside_down, a)


def test_a_cell_with_too_many_yes_is_named() -> None:
    rows = pd.DataFrame({"name": ["a", "b"], "n": [100, 100], "yes": [16, 17], "runs": [200, 200]})
    assert page.above_the_bar(rows) == ["b, n = 100"]


def test_the_number_needed_is_between_those_tried() -> None:
    row = pd.Series({"sizes": [100, 200, 400, 800], "shares": [0.2, 0.6, 0.9, 1.0], "more": 400})
    assert 200 < page.needed(row) < 400
    assert page.needed(row) == pytest.approx(200 * 2 ** (2 / 3))


def test_every_calibrated_population_is_calibrated() -> None:
    for law in benchmark.LAWS.values():
        assert benchmark.calibrated(law).functional("tce") == pytest.approx(0, abs=1e-9)
    for curve, _ in benchmark.OFF.values():
        truth = benchmark.Truth("x", "x", benchmark.SPREAD, curve)
        assert truth.functional("tce") > 0.005
        assert isinstance(truth.sample(10, np.random.default_rng(1))[0], np.ndarray)


def test_the_stored_results_keep_to_what_was_asked() -> None:
    """Every stored cell; what does not is named on the page."""
    text = page.verdict_page()
    assert text.startswith("# Is the verdict right?")
    assert "This is so in every cell" in text
    for n in benchmark.CALIBRATED:
        assert f"| {n:,} |" in text
