"""The benchmark against other packages asks for what there is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import peer_calls
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


@pytest.mark.slow
def test_the_script_starts():
    asked = [sys.executable, str(FOLDER / "peers.py"), "--help"]
    assert b"peer_calls.py" in subprocess.run(asked, capture_output=True, check=True).stdout
