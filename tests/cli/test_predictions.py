"""What a person is told whose file holds no probabilities, but something near."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayescal._base.errors import InputError
from bayescal.cli._predictions import read_predictions


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_predictions(path, outcome="y", score="p", event=None, weight=None, drop_missing=False)
    return str(caught.value)


@pytest.mark.parametrize(
    ("scores", "cure"),
    [
        (("-1.5", "0.3", "2.2"), "log-odds"),
        (("16.7", "30", "80"), "percentages"),
        (("16.7%", "30%", "80%"), "without the sign"),
    ],
)
def test_scores_that_are_no_probabilities_get_a_hint(
    tmp_path: Path, scores: tuple[str, ...], cure: str
) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{k % 2},{score}" for k, score in enumerate(scores)]
    path.write_text("\n".join(["y,p", *rows]))
    assert cure in refused(path)


def test_an_excel_workbook_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"PK")
    assert "save the sheet as CSV" in refused(path)
