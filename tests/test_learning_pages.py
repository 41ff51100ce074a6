"""What is stated of joint maps is what was stored."""

from __future__ import annotations

from benchmark_pages import stored
from learning_pages import class_joint_page


def test_the_page_of_classes_says_which_map_is_better() -> None:
    page, known = class_joint_page(), stored("class_joint")
    assert all(
        f"| {n} cases, {cell['splits']} splits |" in page for n, cell in known["sizes"].items()
    )
    assert known["time"]["processor"] < 10
    assert known["time"]["classes"] == 100
    for n, cell in known["sizes"].items():
        maps = cell["maps"]
        assert maps["class-wise"]["log_loss"] < maps["none"]["log_loss"]
        ahead = maps["joint"]["log_loss"] - maps["class-wise"]["log_loss"]
        assert abs(ahead) < 0.001 if int(n) == 5000 else ahead > 0.02  # "also before it"


def test_in_observed_over_expected_no_map_is_better_at_every_size() -> None:
    for cell in stored("class_joint")["sizes"].values():
        error = {name: told["counts"] for name, told in cell["maps"].items()}
        for name in ("class-wise", "joint"):
            assert error[name] > error["none"]
    assert "In O/E both are worse than no map at every size" in class_joint_page()
