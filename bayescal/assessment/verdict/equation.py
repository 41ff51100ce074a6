"""The recommended update as an equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from bayescal._base.arrays import Floats
from bayescal.fitting.imputed.comparison import ImputedComparison
from bayescal.inference import CurveComparison

__all__ = ["EQUATIONS", "Equation", "update_equation"]


class Form(NamedTuple):
    """A recalibrated risk as text and as a sum: expit(offset + columns @ coefficients).

    Attributes
    ----------
    text : str
    columns, offset : callable
        Of a risk.
    """

    text: str
    columns: Callable[[Floats], list[Floats]]
    offset: Callable[[Floats], Floats] = np.zeros_like


EQUATIONS = {
    "intercept": Form("expit({} + logit(risk))", lambda s: [np.ones_like(s)], logit),
    "temperature": Form("expit({} logit(risk))", lambda s: [logit(s)]),
    "logistic": Form("expit({} + {} logit(risk))", lambda s: [np.ones_like(s), logit(s)]),
    "beta": Form(
        "expit({} + {} ln(risk) - {} ln(1 - risk))",
        lambda s: [np.ones_like(s), np.log(s), -np.log1p(-s)],
    ),
}
"""Of the families that have a short one, by name."""


class Equation(NamedTuple):
    """An update in coefficients, the intercept first.

    Attributes
    ----------
    curve : str
        One of `EQUATIONS`.
    coefficients : tuple of float
    """

    curve: str
    coefficients: tuple[float, ...]

    def __str__(self) -> str:
        shown = (f"{round(value, 3) + 0.0:.3f}" for value in self.coefficients)
        text = EQUATIONS[self.curve].text.format(*shown)
        return f"new risk = {text.replace('- -', '+ ')}"

    def __call__(self, risk: Floats) -> Floats:
        """The recalibrated risks of these, inside (0, 1)."""
        form = EQUATIONS[self.curve]
        columns = np.column_stack(form.columns(risk))
        return np.asarray(expit(form.offset(risk) + columns @ np.array(self.coefficients)))


def update_equation(comparison: CurveComparison, curve: str) -> Equation | None:
    """The equation nearest to the posterior mean of a family's curve, over the scores of the data.

    The mean of curves of a family is not quite a curve of it: on simulated sets of 100 to 1000
    patients the risks of the equation were within 0.004 of it.

    Parameters
    ----------
    comparison : CurveComparison
        Of several imputations: the mean curves of all are one.
    curve : str
        A family.

    Returns
    -------
    Equation or None
        None of a family that has no short equation.
    """
    if curve not in EQUATIONS:
        return None
    each: Sequence[CurveComparison] = [comparison]
    if isinstance(comparison, ImputedComparison):
        each = comparison.comparisons
    score, weight, risk = np.hstack([_mean_curve(one, curve) for one in each])
    form = EQUATIONS[curve]
    root = np.sqrt(weight * risk * (1 - risk))
    columns = np.column_stack(form.columns(score)) * root[:, None]
    coefficients = np.linalg.lstsq(columns, (logit(risk) - form.offset(score)) * root)[0]
    return Equation(curve, tuple(map(float, coefficients)))


def _mean_curve(comparison: CurveComparison, curve: str) -> Floats:
    """Scores, cases and posterior mean of a family's curve, of shape (3, rows)."""
    problem, u = comparison.of_family(curve)
    return np.stack([problem.score, problem.trials, problem.probability(u).mean(axis=0)])
