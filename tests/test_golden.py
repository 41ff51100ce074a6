"""The public interface gives the numbers that are stored in `golden/`."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from golden import exact, one_curve, shared, structured

ABSOLUTE = 1e-12
RELATIVE = 1e-9
# Where an iterative search stops, and whether it takes one more step, depends on the versions of
# NumPy and SciPy in the last digits.
LOOSE = {
    "assessment/groups/": 1e-3,
    "gain/curve/prob_calibrated": 1e-3,
    **dict.fromkeys(
        (
            "comparison/largest_stacking_weight",
            "comparison/leave_one_out/beta/pareto_k",
            "comparison/sensitivity/",
            "curves/beta/pareto_k",
            "estimators/fit_bpm_curve",
            "estimators/logit_smooth_ece",
            "estimators/smooth_ece/by_logit",
            "estimators/tce_bpm",
            "recalibrators/",
        ),
        1e-6,
    ),
    **dict.fromkeys(("clusters/", "imputations/", "periods/", "sites/", "times/"), 1e-3),
}
PARTS = {"exact": exact, "one_curve": one_curve, "structured": structured}
ROOMS = [
    (part, room)
    for part, module in PARTS.items()
    for room in dict.fromkeys(name.partition("/")[0] for name in module.NUMBERS)
]


def moved(name, old, new):
    """Whether a number is missing on either side, or differs."""
    if old is None or new is None:
        return True
    relative = next((most for start, most in LOOSE.items() if name.startswith(start)), RELATIVE)
    return not math.isclose(old, new, rel_tol=relative, abs_tol=ABSOLUTE)


@pytest.mark.parametrize(("part", "room"), ROOMS)
def test_numbers_are_those_stored(part, room):
    def of_room(numbers):
        return {name: value for name, value in numbers.items() if name.split("/")[0] == room}

    old, new = of_room(shared.stored(part)), shared.computed(of_room(PARTS[part].NUMBERS))
    changes = [
        f"{name}: {old.get(name)!r} -> {new.get(name)!r}"
        for name in sorted(old.keys() | new.keys())
        if moved(name, old.get(name), new.get(name))
    ]
    title = f"{len(changes)} numbers moved; `python tests/golden {part}` would store the new ones:"
    assert not changes, "\n".join([title, *changes])


@pytest.mark.parametrize("part", PARTS)
def test_every_stored_number_belongs_to_a_room(part):
    assert {(part, name.partition("/")[0]) for name in shared.stored(part)} <= set(ROOMS)


def test_exact_numbers_are_not_stored_anew_by_the_way():
    command = [sys.executable, str(Path(shared.__file__).parent), "exact"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--exact-was-wrong" in done.stderr
