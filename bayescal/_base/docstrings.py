"""Paragraphs that many docstrings share, each written once.

A docstring names a paragraph as `%(cases)s` on a line of its own, and `documented` puts it there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["PARAGRAPHS", "documented"]

Function = TypeVar("Function", bound=Callable[..., Any])

PARAGRAPHS = {
    "replicates": """\
y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
    Outcomes, 0 or 1. Leading dimensions are replicates: other outcomes at the same scores. A
    table replaces outcomes, scores and weights.""",
    "outcomes": """\
y_true : array-like of shape (n_samples,), or CalibrationData
    Outcomes, 0 or 1. A table replaces outcomes, scores and weights.""",
    "outcomes_of_both_classes": """\
y_true : array-like of shape (n_samples,), or CalibrationData
    Outcomes, 0 or 1, of both classes. A table replaces outcomes, scores and weights.""",
    "scores": """\
y_prob : array-like of shape (n_samples,), optional
    Predicted probabilities.""",
    "scores_inside": """\
y_prob : array-like of shape (n_samples,), optional
    Predicted probabilities; those nearer than 1e-12 to 0 or 1 are read as 1e-12 away.""",
    "weights": """\
sample_weight : array-like of shape (n_samples,), optional
    Counts of cases, or sampling weights. The largest is at least 1e-50, the sum at most 1e9.""",
    "weights_by_kish": """\
sample_weight : array-like of shape (n_samples,), optional
    Counts of cases. Unless all are integers they are sampling weights, and are rescaled to
    Kish's effective sample size.""",
    "counts": """\
sample_weight : array-like of shape (n_samples,), optional
    Counts of cases.""",
    "share_of_each_replicate": """\
float or ndarray
    From 0 to 1; one for each replicate when `y_true` has leading dimensions.""",
    "not_cases": """\
InputError
    If the arrays are not outcomes and probabilities of the same cases, or their labels (of pandas
    or xarray) differ.""",
}


def documented(function: Function) -> Function:
    """Put the shared paragraphs into the docstring of a function.

    Parameters
    ----------
    function : callable
        Its docstring may hold names of `PARAGRAPHS` as `%(name)s`, each on a line of its own.

    Returns
    -------
    callable
        The same function.
    """
    if function.__doc__:  # python -OO leaves none
        function.__doc__ = re.sub(r"^( *)%\((\w+)\)s$", _paragraph, function.__doc__, flags=re.M)
    return function


def _paragraph(named: re.Match[str]) -> str:
    indent, name = named.groups()
    return "\n".join(indent + line for line in PARAGRAPHS[name].splitlines())
