"""What is stated of selective prediction and of joint maps is what was stored."""

from __future__ import annotations

from pathlib import Path

from bayescal.posterior.selective import Selective
from benchmark_pages import stored
from learning_pages import class_joint_page, selective_page

HOW_TO = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "language-model.md"


def test_the_page_of_promises_has_every_cell() -> None:
    page, cells = selective_page(), stored("selective")["cells"]
    assert all(f"| {cell['truth']}, n = {cell['n']} | {cell['sets']} |" in page for cell in cells)
    assert len(cells) == 6


def test_promises_are_kept_as_stated() -> None:
    cells = stored("selective")["cells"]
    broken = [cell["promised"] * (1 - cell["kept"]) for cell in cells]
    assert max(broken) < 0.15
    kept = [round(100 * cell["kept"]) for cell in cells]
    text = " ".join((Selective.threshold.__doc__ or "").split() + HOW_TO.read_text("utf-8").split())
    assert sorted(kept[:2]) == [98, 99]
    assert (min(kept[2:]), max(kept[2:])) == (77, 87)
    assert "in 98 % and more" in text
    assert "in 98 to 99 %" in text
    assert text.count("in 77 to 87 %") == 2
    assert max(broken[:2]) < 0.05  # calibrated
    assert min(cell["worst"] for cell in cells) > 0.87  # asked for: 0.9
    assert all(cell["kept"] > cell["raw_kept"] for cell in cells)
    assert min(cell["aurc"] for cell in cells) > 0.85


def test_the_page_of_classes_says_which_map_is_better() -> None:
    page, known = class_joint_page(), stored("class_joint")
    assert all(
        f"| {n} cases, {cell['splits']} splits |" in page for n, cell in known["sizes"].items()
    )
    assert known["time"]["processor"] < 10
    assert known["time"]["classes"] == 100
    for cell in known["sizes"].values():
        maps = cell["maps"]
        assert maps["class-wise"]["log_loss"] < maps["none"]["log_loss"]
        assert maps["class-wise"]["log_loss"] < maps["joint"]["log_loss"]
