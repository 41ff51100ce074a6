"""What figures call the quantities, in few words, and on which scale each is measured."""

from __future__ import annotations

from typing import Any

from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["SCALES", "axis_label", "ideal", "scale_of", "short_name"]

SHORT = {
    "tce": "TCE",
    "ici": "ICI",
    "e50": "E50",
    "e90": "E90",
    "emax": "Emax",
    "signed_error": "Mean signed error",
    "observed_expected": "O/E",
    "calibration_in_the_large": "Calibration-in-the-large",
    "calibration_intercept": "Intercept, with slope",
    "calibration_slope": "Slope",
    "shift": "Shift",
    "log_slope": "Log slope",
    "asymmetry": "Asymmetry",
    "guess": "Floor",
    "lapse": "One minus ceiling",
}

AXES = {
    "shift": "Shift (log-odds)",
    "log_slope": "Log slope (negative: overconfident)",
    "asymmetry": "Asymmetry, log(alpha / beta)",
    "guess": "Floor (risk at a score of 0)",
    "lapse": "One minus ceiling",
}

SCALES = {
    "error": "Error (difference in probability)",
    "ratio": "Ratio",
    "log-odds": "Log-odds",
}
"""Scales in the order of panels, and the labels of their axes."""

RATIOS = {"observed_expected", "calibration_slope"}
LOG_ODDS = {"calibration_in_the_large", "calibration_intercept"}


def short_name(name: str, **options: Any) -> str:
    """A few letters for titles and rows: `TCE`, or `TCE (p = 2)`."""
    short = SHORT.get(name, name)
    return short if options.get("p", 1) == 1 else f"{short} (p = {options['p']:g})"


def axis_label(name: str) -> str:
    """The label of an axis, with its unit if it has one."""
    if name not in FUNCTIONALS:
        return AXES.get(name, name)
    label = FUNCTIONALS[name].label
    return label[0].upper() + label[1:]


def ideal(name: str) -> float:
    """The value of a functional at perfect calibration; 0 for a working coordinate."""
    return FUNCTIONALS[name].calibrated if name in FUNCTIONALS else 0.0


def scale_of(name: str) -> str:
    """The key of SCALES on which a functional or an estimator is measured."""
    if name in RATIOS:
        return "ratio"
    return "log-odds" if name in LOG_ODDS else "error"
