"""The proper scores as losses, so that less is better.

A loss takes `given`, the probability given to what happened, and `others`, the probabilities of
what did not, along the first axis. So one line serves two classes and many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayescal._base.arrays import Floats

__all__ = [
    "BINARY",
    "MULTICLASS",
    "Loss",
    "bernoulli_dawid_sebastiani",
    "brier",
    "contradiction",
    "entropy",
    "half_brier",
    "log",
    "spherical",
    "squared_error",
]

Loss = Callable[[Floats, Floats], Floats]
"""Of the probability given to what happened, and of those given to what did not, which run along
the first axis."""

IMPOSSIBLE = 1e-300


def brier(given: Floats, others: Floats) -> Floats:
    """Squared distance from the prediction to the corner of the class that happened."""
    loss: Floats = (1 - given) ** 2 + (others**2).sum(axis=0)
    return loss


def half_brier(given: Floats, others: Floats) -> Floats:
    """Half of the squared distance from the prediction to the corner of the class that happened."""
    return brier(given, others) / 2


def squared_error(given: Floats, others: Floats) -> Floats:
    """(score - outcome)^2 of an event: `half_brier` for two classes."""
    loss: Floats = others[0] ** 2
    return loss


def log(given: Floats, others: Floats) -> Floats:
    """Surprise at what happened, in nats."""
    with np.errstate(divide="ignore"):
        loss: Floats = 0 - np.log(given)
    return loss


def spherical(given: Floats, others: Floats) -> Floats:
    """One less the cosine of the angle from the prediction to the corner."""
    cosine = given / np.sqrt(given**2 + (others**2).sum(axis=0))
    loss: Floats = np.maximum(1 - cosine, 0)
    return loss


def bernoulli_dawid_sebastiani(given: Floats, others: Floats) -> Floats:
    """Log determinant of the prediction's covariance, plus squared distance in its metric.

    A contradiction, which costs infinitely much, counts as 0 here.
    """
    known = np.where(given > IMPOSSIBLE, given, 1)
    with np.errstate(divide="ignore"):
        loss: Floats = np.log(known) + np.log(others).sum(axis=0) + 1 / known - 1
    return np.where(given > IMPOSSIBLE, loss, 0)


def contradiction(given: Floats, others: Floats) -> Floats:
    """1 where what happened had been given probability 0, else 0."""
    return np.where(given > IMPOSSIBLE, 0.0, 1.0)


BINARY: dict[str, Loss] = {"brier": squared_error, "log": log, "spherical": spherical}
MULTICLASS: dict[str, Loss] = BINARY | {"brier": brier}
"""The losses that are 0 for certainty in what happened, and never less, by name."""


def entropy(loss: Loss, rate: Floats) -> Floats:
    """Expected loss when a binary event is predicted by its own probability."""
    return _share(loss, rate) + _share(loss, 1 - rate)


def _share(loss: Loss, rate: Floats) -> Floats:
    given = np.where(rate > 0, rate, 1)
    return rate * loss(given, (1 - given)[None])
