"""The families of few parameters and the spline, each a basis on the log-odds scale."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.core.symbolic import functions_for, is_symbolic, logit_of
from bayescal.core.versions import one_blas_thread
from bayescal.model.cells import weight_of_rows
from bayescal.model.curve import RATES, Curve, Frame
from bayescal.model.prior import Normal, Rate

# Chosen on the same curves as the exponent. Fifteen knots of an earlier basis covered the curve of
# a step in .77 of 100 data sets of 5000 cases, twenty in .88.
KNOTS = 40
OUTER = 0.005  # share of the cases beyond each outer knot

# Chosen by evidence on simulated curves. The log evidence over a line's with 5000 cases is 189 for
# a step and 52 for a sine; with 1/2 it is 175 and 51, with 1/4 194 and 51, with 1 121 and 33.
SMOOTHNESS = 0.35  # 1/2 is the cubic smoothing spline; less favours quick bends more
FAINT = 0.1  # what the deviations left out could add to the log likelihood, at a tau of one
REACH = 12.0  # log-odds past which no bend is looked for


def line_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    """Offset and basis of a shift at the centre and a slope on the log-odds."""
    of, centre = functions_for(score), logit(frame.centre)
    one = of.ones_like(score)
    return centre * one, of.stack([one, logit_of(score) - centre], axis=-1)


def slope_of(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    """The slope itself, from its logarithm."""
    return {"slope": exp(u["log_slope"])}


def _identity_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return logit_of(score), functions_for(score).zeros((score.shape[0], 0))


# Perfect calibration: g(s) = s.
IDENTITY = Curve(
    name="identity",
    formula="logit s",
    coordinates=(),
    basis=_identity_basis,
    combination=(),
    positive=(),
    meaning="exact calibration",
    update="do not update the model",
)


def _intercept_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return logit_of(score), functions_for(score).ones_like(score)[:, None]


# A constant shift in log-odds: calibration-in-the-large and nothing else.
INTERCEPT = Curve(
    name="intercept",
    formula="logit s + shift",
    coordinates=("shift",),
    basis=_intercept_basis,
    combination=((1.0,),),
    positive=(False,),
    meaning="risks too high, or too low, throughout",
    update="update the intercept",
)


def _temperature_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return functions_for(score).zeros_like(score), logit_of(score)[:, None]


def _through_one_half(u: Floats, frame: Frame) -> dict[str, Floats]:
    """A line through one half, wherever the centre of the average is."""
    return {"log_slope": u[:, 0], "shift": (np.exp(u[:, 0]) - 1) * logit(frame.centre)}


# Temperature scaling: a slope on the log-odds through one half.
TEMPERATURE = Curve(
    name="temperature",
    formula="slope * logit s",
    coordinates=("log_slope",),
    basis=_temperature_basis,
    combination=((1.0,),),
    positive=(True,),
    derived=slope_of,
    in_average=_through_one_half,
    meaning="predictions too extreme, or too moderate",
)


# Logistic recalibration (Cox, Platt): a shift and a slope on the log-odds.
LOGISTIC = Curve(
    name="logistic",
    formula="logit m + shift + slope * (logit s - logit m)",
    coordinates=("shift", "log_slope"),
    basis=line_basis,
    combination=((1.0, 0.0), (0.0, 1.0)),
    positive=(False, True),
    derived=slope_of,
    meaning="an intercept and a slope",
    update="update intercept and slope (logistic recalibration)",
)


# A logistic curve very near the diagonal, so that exact calibration does not stand for it.
NEAR_CURVE = replace(
    LOGISTIC,
    name="near",
    priors=(("shift", Normal(0.0, 0.05)), ("log_slope", Normal(0.0, 0.05))),
    meaning="off by a few per cent, which matters to nobody",
    update="",
)


def _beta_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    of, m = functions_for(score), frame.centre
    one = of.ones_like(score)
    columns = [one, of.log(score) - np.log(m), np.log1p(-m) - of.log1p(-score)]
    return logit(m) * one, of.stack(columns, axis=-1)


def _beta_derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    """Parameters of logit g = alpha log s - beta log(1 - s) - c."""
    _, alpha, beta = BETA.coefficients([u[name] for name in BETA.coordinates], exp)
    m = frame.centre
    at_centre = float(logit(m)) + u["shift"]
    c = -(at_centre - alpha * float(np.log(m)) + beta * float(np.log1p(-m)))
    return {"curve_alpha": alpha, "curve_beta": beta, "curve_c": c}


# The beta family of Kull et al. and Dong et al. (eq. 12): slopes of their own at each end.
BETA = Curve(
    name="beta",
    formula="logit m + shift + alpha * log(s / m) - beta * log((1 - s) / (1 - m))",
    coordinates=("shift", "log_slope", "asymmetry"),
    basis=_beta_basis,
    combination=((1.0, 0.0, 0.0), (0.0, 1.0, 0.5), (0.0, 1.0, -0.5)),
    positive=(False, True, True),
    derived=_beta_derived,
    meaning="both, and a difference between low and high risks",
    update="recalibrate with a beta curve",
)


RATE_PRIORS = tuple((name, Rate()) for name in RATES)


# Without the mass near 0, where `noise` would be exact calibration under another name.
NOISE_PRIORS = tuple((name, Rate(a=1.0, b=5.0)) for name in RATES)


# g = guess + (1 - guess - lapse) s: exact calibration where some labels are wrong.
NOISE = Curve(
    name="noise",
    formula="logit(guess + (1 - guess - lapse) s)",
    coordinates=RATES,
    basis=IDENTITY.basis,
    combination=(),
    positive=(),
    priors=NOISE_PRIORS,
    meaning="a calibrated model, and wrong labels",
)


# g = guess + (1 - guess - lapse) h(s), with h logistic; without both it is `logistic`.
LAPSE = Curve(
    name="lapse",
    formula="logit(guess + (1 - guess - lapse) h), h as in logistic",
    coordinates=("shift", "log_slope", *RATES),
    basis=line_basis,
    combination=((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)),
    positive=(False, True),
    priors=RATE_PRIORS,
    meaning="an intercept, a slope, and risks that stay away from 0 and 1",
    update="recalibrate with an intercept, a slope, a floor and a ceiling",
)


def _knots(x: Floats, weight: Floats) -> tuple[float, ...]:
    """Quantiles of the log-odds, or the log-odds themselves when they are few."""
    distinct = np.unique(np.round(x, 6))
    if distinct.size <= KNOTS:
        return tuple(distinct.tolist())
    order = np.argsort(x)
    level = (np.cumsum(weight[order]) - weight[order] / 2) / weight.sum()
    quantiles = np.interp(np.linspace(OUTER, 1 - OUTER, KNOTS), level, x[order])
    return tuple(np.unique(np.round(quantiles, 6)).tolist())


class Splines(NamedTuple):
    """Cubic splines, one a column.

    `pieces` (4, knots - 1, columns): coefficients between neighbouring knots, that of the cube
    first.
    """

    knots: tuple[float, ...]
    pieces: Floats


def _natural_splines(knots: tuple[float, ...], at_knots: Any) -> Splines:
    """Natural cubic splines through `at_knots`, one a column.

    Written out here, since scipy.interpolate takes a quarter of a second to import.
    """
    y = np.array(at_knots)
    gap = np.diff(knots)[:, None]
    steep = np.diff(y, axis=0) / gap
    bend = np.zeros_like(y)
    bend[1:-1] = np.linalg.solve(_between_hats(knots), np.diff(steep, axis=0))
    slope = steep - gap * (2 * bend[:-1] + bend[1:]) / 6
    return Splines(
        knots, np.array([np.diff(bend, axis=0) / (6 * gap), bend[:-1] / 2, slope, y[:-1]])
    )


# The splines of a frame's deviations, which a fit evaluates at several sets of scores.
_deviations = lru_cache(maxsize=8)(_natural_splines)


def _straight_beyond(splines: Splines, x: Any) -> Any:
    """Values of natural splines, straight beyond the outer knots."""
    knots, of = splines.knots, functions_for(x)
    inside = of.clip(x, knots[0], knots[-1])
    piece = (inside[:, None] >= np.array(knots[1:-1])).sum(axis=1)
    start, pieces = np.array(knots), tuple(splines.pieces)
    if is_symbolic(x):
        import pytensor.tensor as pt

        start, pieces = pt.as_tensor(start), tuple(map(pt.as_tensor, pieces))
    a, b, c, d = (each[piece] for each in pieces)
    h = (inside - start[piece])[:, None]
    slope = (3 * a * h + 2 * b) * h + c
    return ((a * h + b) * h + c) * h + d + (x - inside)[:, None] * slope


def _between_hats(knots: tuple[float, ...]) -> Floats:
    """Integrals of the products of hats over the inner knots, of shape (knots - 2, knots - 2)."""
    gap = np.diff(knots)
    beside = gap[1:-1] / 6
    return np.diag((gap[:-1] + gap[1:]) / 3) + np.diag(beside, 1) + np.diag(beside, -1)


def _hats(knots: tuple[float, ...]) -> Floats:
    """Curves whose second derivative is a hat over one inner knot, at the knots and up to a line.

    Returns (knots, knots - 2).
    """
    gap, hat = np.diff(knots)[:, None], np.eye(len(knots))[:, 1:-1]
    start = np.zeros((1, hat.shape[1]))
    slope = np.concatenate([start, np.cumsum(gap * (hat[:-1] + hat[1:]) / 2, axis=0)])
    rise = gap * slope[:-1] + gap**2 * (2 * hat[:-1] + hat[1:]) / 6
    return np.concatenate([start, np.cumsum(rise, axis=0)])


@one_blas_thread
def spline_frame(score: Floats, trials: Floats, centre: float) -> Frame:
    """Knots at quantiles of the scores, and deviations orthogonal to intercept and slope.

    Quantiles are of cases weighted by `weight_of_rows`. Deviations are the Demmler-Reinsch basis of
    the natural cubic splines: orthogonal over the cases and in the integrated squared second
    derivative alike. They are positive at the last knot, since linear algebra libraries choose
    signs by the processor. Prior variance is that penalty to the power -2 SMOOTHNESS, scaled so
    that the trial-weighted mean variance of their sum is one. Those too faint for this many cases
    to show are left out. Demmler & Reinsch (1975), Numerische Mathematik 24.
    """
    from scipy.linalg import eigh

    x = np.clip(logit(score), -REACH, REACH)
    knots = _knots(x, weight_of_rows(score, trials))
    if len(knots) < 3:
        return Frame(centre, knots)
    at_knots, penalty = _hats(knots), _between_hats(knots)
    at_scores = _straight_beyond(_natural_splines(knots, at_knots), x)
    mass = np.sqrt(trials / trials.sum())[:, None]
    line = np.linalg.lstsq(mass * _line(x), mass * at_scores, rcond=None)[0]
    bent = mass * (at_scores - _line(x) @ line)
    smooth, vectors = eigh(bent.T @ bent, penalty)  # mean square over penalty, least smooth first
    smooth, vectors = np.maximum(smooth[::-1], 0), vectors[:, ::-1]
    variance = smooth ** (2 * SMOOTHNESS)
    if not variance[0] > 0:
        return Frame(centre, knots)
    left_out = variance[::-1].cumsum()[::-1] / variance.sum()
    size = np.count_nonzero(trials.sum() / 8 * left_out > FAINT)
    scale = smooth[:size] ** (SMOOTHNESS - 0.5) / np.sqrt(variance[:size].sum())
    deviations = (at_knots - _line(np.array(knots)) @ line) @ vectors[:, :size] * scale
    deviations *= np.where(deviations[-1] < 0, -1, 1)
    return Frame(centre, knots, tuple(map(tuple, deviations.tolist())))


def _line(x: Floats) -> Floats:
    return np.column_stack([np.ones_like(x), x])


def deviation_columns(score: Any, frame: Frame) -> Any:
    """The deviations of a fit at `score`, of shape (rows, deviations)."""
    of = functions_for(score)
    if not frame.deviations:
        return of.zeros((score.shape[0], 0))
    x = of.clip(logit_of(score), -REACH, REACH)
    return _straight_beyond(_deviations(frame.knots, frame.deviations), x)


def with_deviations(curve: Curve, frame: Frame) -> Curve:
    """The family with a coordinate for each deviation of a fit."""
    fixed = sum(not name.startswith("deviation") for name in curve.coordinates)
    rows = len(curve.combination) - (curve.size - fixed)
    size = len(frame.deviations[0]) if frame.deviations else 0
    combination = np.zeros((rows + size, fixed + size))
    combination[:rows, :fixed] = [row[:fixed] for row in curve.combination[:rows]]
    combination[rows:, fixed:] = np.eye(size)
    return replace(
        curve,
        coordinates=(*curve.coordinates[:fixed], *(f"deviation_{k + 1}" for k in range(size))),
        combination=tuple(map(tuple, combination.tolist())),
        positive=(*curve.positive[:rows], *(False for _ in range(size))),
    )


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    offset, line = line_basis(score, frame)
    columns = [line, deviation_columns(score, frame)]
    return offset, functions_for(score).concatenate(columns, axis=-1)


SPLINE = Curve(
    name="spline",
    formula="logit m + shift + slope * (logit s - logit m) + smooth deviations",
    coordinates=("shift", "log_slope"),
    basis=_basis,
    combination=((1.0, 0.0), (0.0, 1.0)),
    positive=(False, True),
    derived=slope_of,
    shape_frame=spline_frame,
    sized=with_deviations,
    meaning="any smooth shape",
    update="recalibrate with a smooth curve",
)
