"""Printed digits are the same with another seed, but for one unit of the last."""

from __future__ import annotations

import pandas as pd
import pytest

import digits as benchmark
import digits_page as page


def seeds(*ends):
    """One row of a summary under several seeds."""
    rows = [{"estimate": 0.04, "lower": low, "upper": high} for low, high in ends]
    return pd.DataFrame(rows).assign(kind="a", n=1, run=0, row="tce")


def test_the_largest_difference_is_counted_in_units_of_the_last_digit():
    table = seeds((0.0301, 0.0502), (0.0297, 0.0502), (0.0304, 0.0522))
    finer = benchmark.steadiness(table).iloc[0]
    assert finer["units"] == 2
    assert finer["share"] == pytest.approx(0.002 / 0.0208, rel=1e-3)
    coarser = benchmark.steadiness(seeds((0.0301, 0.0699), (0.0301, 0.0752))).iloc[0]
    assert coarser["units"] == 1


def check(kinds, runs, least):
    rows = [row for kind in kinds for run in runs for row in benchmark.of_seeds(kind, run)]
    steady = benchmark.steadiness(pd.DataFrame(rows))["units"] <= 1
    assert len(steady) >= least
    assert steady.mean() >= page.ASKED


@pytest.mark.slow
def test_the_last_printed_digit_is_steady_in_some_kinds_of_data():
    check(benchmark.KINDS[::4], (0,), 25)


def test_the_page_counts_the_stored_rows():
    table = page.stored()
    assert table["seed"].nunique() == benchmark.SEEDS
    assert {(kind.truth.name, kind.n) for kind in benchmark.KINDS} == set(
        zip(table["kind"], table["n"], strict=True)
    )
    steady = (benchmark.steadiness(table)["units"] <= 1).mean()
    assert steady >= page.ASKED
    assert f"{steady:.3f} of" in page.digits_page()
