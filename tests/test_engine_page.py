"""What the page on the engine says of its draws is what was stored."""

from __future__ import annotations

from pathlib import Path

from benchmark_pages import stored

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "engine.md"


def test_the_page_says_how_often_k_hat_is_large() -> None:
    page = " ".join(PAGE.read_text("utf-8").split())
    large = {
        (run["curve"], run["prior"], run["n"]): run["pareto_k_above_0.7"] * run["simulations"]
        for run in stored("sbc")["runs"]
        if run["pareto_k_above_0.7"] > 0
    }
    assert list(large) == [("beta", "neutral", 300)]
    assert f"in {large['beta', 'neutral', 300]:.0f} of 1000 data sets of 300 cases" in page
