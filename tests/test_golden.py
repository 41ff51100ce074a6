"""The public interface gives the numbers that are stored in golden.json."""

from __future__ import annotations

import json
import math

import pytest

import golden

RELATIVE = 1e-9
ABSOLUTE = 1e-12
LOOSE = 1e-6
LOOSEST = 1e-3

# Where an iterative search stops: the last digits depend on the versions of NumPy and SciPy.
SEARCHED = (
    "comparison/largest_stacking_weight",
    "comparison/leave_one_out/beta/pareto_k",
    "comparison/sensitivity/",
    "curves/beta/pareto_k",
    "estimators/fit_bpm_curve",
    "estimators/logit_smooth_ece",
    "estimators/smooth_ece/by_logit",
    "estimators/tce_bpm",
    "recalibrators/",
)


# Whether a search takes one more step depends on the last digits, too.
BRANCHING = ("assessment/groups/", "gain/curve/prob_calibrated")


def tolerance(name: str) -> float:
    if name.startswith(BRANCHING):
        return LOOSEST
    return LOOSE if name.startswith(SEARCHED) else RELATIVE


def moved(old: float | None, new: float | None, relative: float) -> bool:
    """Whether a number is missing on either side, or differs."""
    if old is None or new is None:
        return True
    return not math.isclose(old, new, rel_tol=relative, abs_tol=ABSOLUTE)


@pytest.mark.parametrize("theme", golden.THEMES)
def test_numbers_are_those_stored(theme: str) -> None:
    stored = json.loads(golden.STORED.read_text())
    old = {name: number for name, number in stored.items() if name.startswith(f"{theme}/")}
    new = golden.numbers(theme)
    changes = [
        f"{name}: {old.get(name)!r} -> {new.get(name)!r}"
        for name in sorted(old.keys() | new.keys())
        if moved(old.get(name), new.get(name), tolerance(name))
    ]
    title = f"{len(changes)} numbers moved; `python tests/golden.py` would store the new ones:"
    assert not changes, "\n".join([title, *changes])


def test_every_stored_number_belongs_to_a_theme() -> None:
    stored = json.loads(golden.STORED.read_text())
    assert {name.partition("/")[0] for name in stored} == set(golden.THEMES)
