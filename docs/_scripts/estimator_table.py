"""The page of estimators, from their register."""

from __future__ import annotations

import math
from itertools import chain
from pathlib import Path

import bayescal.estimators  # noqa: F401, fills the register
from bayescal.estimators.registry import ESTIMATORS, Estimator

DOCS = Path(__file__).resolve().parents[1]
PAGE = DOCS / "estimators.md"

INTRODUCTION = """# Estimators

These are the point estimates of
`bayescal.estimators`; each takes outcomes and scores and returns a number. Those of
times to an event are [a section of their page](how-to/time-to-event.md#second-opinions). The
[module's page](generated/bayescal.estimators.rst) also has the tests, the intervals and the curves.
[Why not just ECE?](explanation/estimators.md) explains their bias.

*Perfect* is the value for a calibrated model in the limit of many cases. With few cases most
estimators differ from it even for a calibrated model: `bc.check_consistency` shows by how much.
*Bounds* says what the estimate bounds in the population. *Cost* is given as a function of the
number of cases n. If it is more than one sort of the scores, or two copies of outcomes and scores,
the reason is given. {ties}
`estimator_interval` gives a bootstrap interval of any of them.

These tables are made from the register of estimators, which `bc.assess` uses too.
"""
ALL_SAFE = "Every one is the same for any order of cases with equal scores."
SOME_UNSAFE = "These depend on the order of cases with equal scores: {names}."

GROUPS = {
    "The calibration error, by bins": (
        "ece", "debiased_ece", "sweep_ece", "ace", "mce", "pde", "top_label_ece", "class_wise_ece",
    ),
    "The calibration error, by a smooth curve": (
        "ici", "e50", "e90", "emax", "eci", "tce_bpm", "kde_ece", "auc_v",
    ),
    "The calibration error after smoothing": ("smooth_ece", "logit_smooth_ece", "ls_ece"),
    "The distance to calibration, and kernel errors": (
        "lower_distance_to_calibration", "weak_calibration_error", "skce", "kce", "mmce",
    ),
    "Errors summed along the scores": ("ks_error", "kuiper_error", "averaged_two_bin_error"),
    "Parameters of recalibration": (
        "observed_expected", "calibration_in_the_large", "calibration_intercept",
        "calibration_slope", "unreliability",
    ),
}  # fmt: skip
OTHERS = "Others"
SIGNS = {math.inf: "∞", -math.inf: "-∞"}


def grouped() -> dict[str, list[Estimator]]:
    """Every registered estimator under its heading; new ones come last until they are sorted."""
    sorted_names = set(chain.from_iterable(GROUPS.values()))
    groups = {
        title: [ESTIMATORS[name] for name in names if name in ESTIMATORS]
        for title, names in GROUPS.items()
    }
    left = [estimator for name, estimator in ESTIMATORS.items() if name not in sorted_names]
    return groups | ({OTHERS: left} if left else {})


def number(value: float) -> str:
    return SIGNS.get(value, f"{value:.3g}")


def cost_of(estimator: Estimator) -> str:
    """Its cost in the number of cases, and why it is so much."""
    known = estimator.cost.replace("^2", "²").replace("n log n", "n&nbsp;log&nbsp;n")
    return "<br>".join(filter(None, [known, estimator.dear]))


def row(estimator: Estimator) -> str:
    """One line of a table."""
    low, high = map(number, estimator.span)
    name = f"{{py:obj}}`{estimator.name} <bayescal.estimators.{estimator.name}>`"
    cells = (
        f"{name}<br>{estimator.title}<br>*{estimator.paper}*",
        f"{estimator.estimates}<br>*bounds:* {estimator.bound}"
        if estimator.bound
        else estimator.estimates,
        f"{low} to {high}",
        number(estimator.perfect),
        cost_of(estimator),
    )
    return "| " + " | ".join(cells) + " |"


def table(estimator: list[Estimator]) -> str:
    heads = ("estimator", "of what", "range", "perfect", "cost")
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *map(row, estimator)])


def text() -> str:
    """The whole page."""
    unsafe = [f"`{estimator.name}`" for estimator in ESTIMATORS.values() if not estimator.tie_safe]
    ties = SOME_UNSAFE.format(names=", ".join(unsafe)) if unsafe else ALL_SAFE
    sections = [f"## {title}\n\n{table(estimator)}" for title, estimator in grouped().items()]
    return "\n\n".join([INTRODUCTION.format(ties=ties), *sections]) + "\n"


def write_page() -> None:
    """Write the page."""
    PAGE.write_text(text(), "utf-8")


if __name__ == "__main__":
    write_page()
