"""Local lines of long tables, whose rows are merged, against those of every row."""

import numpy as np
import pytest

from bayescal.data.rows import levels_of
from bayescal.estimators import smoothers


@pytest.mark.parametrize("law", ["even", "tail"])
def test_a_long_table_hardly_changes_local_lines_when_its_rows_are_merged(law, monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.random(4000) if law == "even" else np.r_[rng.beta(1, 100, 3950), rng.random(50)]
    y, table = (rng.random(x.size) < x**1.3)[None], levels_of(x, None)
    exact = smoothers.lowess(table, table.score, 2 / 3)(table.hits(y))
    monkeypatch.setattr(smoothers, "MOST_LOCAL_ROWS", 2000)
    merged = smoothers.lowess(table, table.score, 2 / 3)(table.hits(y))
    assert 0 < np.abs(merged - exact).max() < 1e-3  # 2000 rows; with 65 536 about 1e-6
