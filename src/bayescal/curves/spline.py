"""Logistic recalibration plus smooth deviations: for when no ladder of parameters fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._validate import Floats
from bayescal.curves._curve import Curve, Frame

__all__ = ["DEVIATIONS", "KNOTS", "SPLINE", "deviation_columns", "spline_frame"]

KNOTS = 20
DEVIATIONS = tuple(f"deviation_{k + 1}" for k in range(KNOTS - 2))
SMOOTHNESS = 0.75  # 1/2 is the cubic smoothing spline; more favours slow bends over quick ones
REACH = 12.0  # log-odds past which no bend is looked for


def _raw_columns(x: Floats, knots: tuple[float, ...]) -> Floats:
    """Natural cubic splines that are linear beyond the outer knots, without their line.

    Hastie, Tibshirani & Friedman (2009), The Elements of Statistical Learning, eq. 5.5, in units
    of the knots' span.
    """
    t = np.array(knots)
    span = t[-1] - t[0]
    if t.size < 3:
        return np.zeros((x.size, 0))
    z, t = (x - t[0]) / span, (t - t[0]) / span
    cubes = np.maximum(z[:, None] - t, 0) ** 3
    bends = (cubes[:, :-1] - cubes[:, -1:]) / (t[-1] - t[:-1])
    return np.asarray(bends[:, :-1] - bends[:, -1:])


def _roughness(knots: tuple[float, ...]) -> Floats:
    """Integrated squared second derivative of the raw columns, by Gauss-Legendre on each span."""
    t = np.array(knots)
    t = (t - t[0]) / (t[-1] - t[0])
    nodes, weights = np.polynomial.legendre.leggauss(3)
    gap = np.diff(t)
    at = (t[:-1, None] + gap[:, None] * (nodes + 1) / 2).ravel()
    weight = (gap[:, None] * weights / 2).ravel()
    ramps = 6 * np.maximum(at[:, None] - t, 0)
    bends = (ramps[:, :-1] - ramps[:, -1:]) / (t[-1] - t[:-1])
    second = bends[:, :-1] - bends[:, -1:]
    return np.asarray((second.T * weight) @ second)


def _knots(x: Floats, weight: Floats) -> tuple[float, ...]:
    """Quantiles of the log-odds, or the log-odds themselves when they are few."""
    distinct = np.unique(np.round(x, 6))
    if distinct.size <= KNOTS:
        return tuple(distinct.tolist())
    order = np.argsort(x)
    place = (np.cumsum(weight[order]) - weight[order] / 2) / weight.sum()
    quantiles = np.interp(np.linspace(0.02, 0.98, KNOTS), place, x[order])
    return tuple(np.unique(np.round(quantiles, 6)).tolist())


def spline_frame(score: Floats, trials: Floats, centre: float) -> Frame:
    """Knots at quantiles of the scores, and deviations orthogonal to intercept and slope.

    Quantiles are of cases weighted by sqrt(s (1 - s)), so that knots go where outcomes can tell
    one curve from another. Deviations are the eigenvectors of the integrated squared second
    derivative, with prior variance its eigenvalue to the power -2 SMOOTHNESS, scaled so that the
    trial-weighted mean variance of their sum is one.
    """
    x = np.clip(logit(score), -REACH, REACH)
    knots = _knots(x, trials * np.sqrt(score * (1 - score)))
    if len(knots) < 3:
        return Frame(centre, knots, ())
    raw = _raw_columns(x, knots)
    line = np.column_stack([np.ones_like(x), x])
    mass = (trials / trials.sum())[:, None]
    on_line = np.linalg.lstsq(np.sqrt(mass) * line, np.sqrt(mass) * raw, rcond=None)[0]
    values, vectors = np.linalg.eigh(_roughness(knots))
    smooth = vectors / np.maximum(values, 1e-9 * values[-1]) ** SMOOTHNESS
    bent = (raw - line @ on_line) @ smooth
    scale = np.sqrt(np.sum(mass * bent**2))
    if not scale > 0:
        return Frame(centre, knots, ())
    mixing = np.vstack([smooth, -on_line @ smooth]) / scale
    return Frame(centre, knots, tuple(map(tuple, mixing.tolist())))


def deviation_columns(score: Floats, frame: Frame) -> Floats:
    """The deviations at `score`, of shape (rows, KNOTS - 2); zero where there are too few knots."""
    columns = np.zeros((score.size, len(DEVIATIONS)))
    if frame.smoother:
        x = np.clip(logit(score), -REACH, REACH)
        stacked = np.column_stack([_raw_columns(x, frame.knots), np.ones_like(x), x])
        found = stacked @ np.array(frame.smoother)
        columns[:, : found.shape[1]] = found
    return columns


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    centre = logit(frame.centre)
    line = np.column_stack([np.ones(score.size), logit(score) - centre])
    return np.full(score.size, centre), np.hstack([line, deviation_columns(score, frame)])


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {"slope": exp(u["log_slope"])}


SPLINE = Curve(
    name="spline",
    formula="logit m + shift + slope * (logit s - logit m) + smooth deviations",
    coordinates=("shift", "log_slope", *DEVIATIONS),
    basis=_basis,
    combination=tuple(map(tuple, np.eye(KNOTS).tolist())),
    positive=(False, True, *(False for _ in DEVIATIONS)),
    derived=_derived,
    shape_frame=spline_frame,
)
