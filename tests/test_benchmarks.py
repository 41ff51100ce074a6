"""The benchmark against other packages asks for what there is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import number_coverage
import peer_calls
import truths
from bayescal import simulate

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"


INTERVALS = [name for name in peer_calls.QUANTITIES if name.endswith("_interval")]
OURS = peer_calls.bayescal()


def test_we_have_every_quantity_once():
    assert OURS.keys() == peer_calls.QUANTITIES.keys()


@pytest.mark.parametrize("name", [name for name in OURS if name not in INTERVALS])
def test_each_of_our_calls_gives_a_number(name):
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    assert np.isfinite(OURS[name].value(OURS[name].run(y_true, y_prob)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", peer_calls.PEERS)
def test_a_peer_is_asked_for_known_quantities_and_agrees_unless_it_says_how_not(package):
    try:
        calls = peer_calls.PEERS[package]()
    except ImportError:
        pytest.skip(f"{package} is not installed")
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    for name, call in calls.items():
        assert name in peer_calls.QUANTITIES
        if name not in INTERVALS and not call.differs:
            ours, theirs = (c.value(c.run(y_true, y_prob)) for c in (OURS[name], call))
            assert theirs == pytest.approx(ours, rel=1e-6), name


def test_curves_are_excused_next_to_a_jump_or_an_end_and_nothing_else_is():
    named = {item.name: item for item in (*truths.DEVELOPMENT, *truths.HELD_OUT)}
    assert set(truths.JUMPS) < set(named)
    assert number_coverage.remark(named["step"], "curve@50%") == "next to a jump"
    assert number_coverage.remark(named["step"], "curve@10%") == ""
    assert number_coverage.remark(named["step"], "observed_expected") == ""
    assert number_coverage.remark(named["D1"], "curve@90%") == "score next to 0 or 1"
    assert number_coverage.remark(named["sine"], "curve@50%") == ""


@pytest.mark.parametrize("n", [200, 1_000_000])
def test_populations_near_calibration_are_as_many_standard_errors_away(n):
    """Standard errors of a regression's intercept, and of its slope, on cases from the law."""
    score = truths.NEAR_LAW.draw(400_000, np.random.default_rng(0))
    information = score * (1 - score)
    log_odds = np.log(score / (1 - score))
    centred = log_odds - np.average(log_odds, weights=information)
    shift_error = 1 / np.sqrt(n * information.mean())
    slope_error = 1 / np.sqrt(n * np.mean(information * centred**2))
    shift, slope = truths.near_calibration(n, (1.5,))
    assert shift.functional("calibration_in_the_large") == pytest.approx(
        1.5 * shift_error, rel=0.01
    )
    assert slope.functional("calibration_slope") == pytest.approx(
        np.exp(-1.5 * slope_error), rel=0.01
    )
    assert slope.functional("calibration_in_the_large") == pytest.approx(0, abs=shift_error)


def test_the_worst_cells_of_each_number_are_chosen_among_those_that_count():
    table = pd.DataFrame(
        {
            "group": "near",
            "truth": [f"t{i}" for i in range(24)],
            "size": 200,
            "target": ["observed_expected", "calibration_slope"] * 12,
            "coverage": np.linspace(0, 1, 24),
            "remark": ["next to a jump"] * 2 + [""] * 22,
        }
    )
    chosen = number_coverage.worst_cells(table)["truth"]
    assert number_coverage.WORST == 3
    assert set(chosen) == {f"t{i}" for i in range(2, 8)}


@pytest.mark.slow
def test_the_script_starts():
    asked = [sys.executable, str(FOLDER / "peers.py"), "--help"]
    assert b"peer_calls.py" in subprocess.run(asked, capture_output=True, check=True).stdout
