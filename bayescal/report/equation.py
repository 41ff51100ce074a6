"""The recommended update as an equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.inference import CurveComparison

__all__ = ["EQUATIONS", "Equation", "update_equation"]


class Form(NamedTuple):
    """A recalibrated risk as text and as a sum: expit(offset + columns @ coefficients).

    Attributes
    ----------
    columns, offset : callable
        Of a risk.
    bounded : bool
        Whether the last two coefficients are a floor and a ceiling of that.
    """

    text: str
    columns: Callable[[Floats], list[Floats]]
    offset: Callable[[Floats], Floats] = np.zeros_like
    bounded: bool = False

    def risk(self, score: Floats, coefficients: Floats) -> Floats:
        """The recalibrated risk of each score."""
        floor, ceiling = coefficients[-2:] if self.bounded else (0.0, 1.0)
        columns = np.column_stack(self.columns(score))
        h = expit(self.offset(score) + columns @ coefficients[: columns.shape[1]])
        return np.asarray(floor + (ceiling - floor) * h)


LEAST_INSIDE = 1e-6

# Of the families that have a short one, by name.
EQUATIONS = {
    "intercept": Form("expit({} + logit(risk))", lambda s: [np.ones_like(s)], logit),
    "temperature": Form("expit({} logit(risk))", lambda s: [logit(s)]),
    "logistic": Form("expit({} + {} logit(risk))", lambda s: [np.ones_like(s), logit(s)]),
    "lapse": Form(
        "{floor} + {range} expit({} + {} logit(risk))",
        lambda s: [np.ones_like(s), logit(s)],
        bounded=True,
    ),
    "beta": Form(
        "expit({} + {} ln(risk) - {} ln(1 - risk))",
        lambda s: [np.ones_like(s), np.log(s), -np.log1p(-s)],
    ),
}


class Equation(NamedTuple):
    """An update in coefficients, the intercept first, and a floor and a ceiling last.

    Attributes
    ----------
    curve : str
        One of `EQUATIONS`.
    """

    curve: str
    coefficients: tuple[float, ...]

    def __str__(self) -> str:
        form, (*_, floor, ceiling) = EQUATIONS[self.curve], (0.0, 0.0, *self.coefficients)
        shown, bounds = map(_shown, self.coefficients), map(_shown, (floor, ceiling - floor))
        text = form.text.format(*shown, **dict(zip(("floor", "range"), bounds, strict=True)))
        return f"new risk = {text.replace('- -', '+ ')}"

    def __call__(self, risk: Floats) -> Floats:
        """The recalibrated risks of these, inside (0, 1)."""
        return EQUATIONS[self.curve].risk(risk, np.array(self.coefficients))


def _shown(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}"


def update_equation(comparison: CurveComparison, curve: str) -> Equation | None:
    """The equation nearest to the posterior mean of a family's curve, over the scores of the data.

    The mean of curves of a family is not quite a curve of it, so that the equation is an
    approximation.

    Returns
    -------
    Equation or None
        None of a family that has no short equation.
    """
    if curve not in EQUATIONS:
        return None
    score, weight, risk = np.hstack([_mean_curve(one, curve) for one in comparison.imputations])
    form = EQUATIONS[curve]
    root = np.sqrt(weight * risk * (1 - risk))
    columns = np.column_stack(form.columns(score)) * root[:, None]
    coefficients = np.linalg.lstsq(columns, (logit(risk) - form.offset(score)) * root)[0]
    if form.bounded:
        coefficients = _between_bounds(form, coefficients, score, risk, np.sqrt(weight))
    return Equation(curve, tuple(map(float, coefficients)))


def _between_bounds(form: Form, start: Floats, score: Floats, risk: Floats, root: Floats) -> Floats:
    """The coefficients, a floor and a ceiling by least squares, from those without bounds on."""
    from scipy.optimize import least_squares

    first = np.r_[start, risk.min() / 2, (1 + risk.max()) / 2]
    free = np.full(start.size, np.inf)
    bounds = np.r_[-free, 0, 0.5], np.r_[free, 0.5, 1]
    fitted = least_squares(
        lambda each: (form.risk(score, each) - risk) * root,
        np.clip(first, bounds[0] + LEAST_INSIDE, bounds[1] - LEAST_INSIDE),
        bounds=bounds,
    )
    return np.asarray(fitted.x)


def _mean_curve(comparison: CurveComparison, curve: str) -> Floats:
    """Scores, cases and posterior mean of a family's curve, of shape (3, rows)."""
    problem, u = comparison.of_family(curve)
    return np.stack([problem.score, problem.trials, problem.probability(u).mean(axis=0)])
