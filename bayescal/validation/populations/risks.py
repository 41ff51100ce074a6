"""Scores of a setting of which only the share of events and the c-statistic are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

from bayescal.core.arrays import Floats, RandomState, random_generator
from bayescal.core.errors import InputError, as_number
from bayescal.core.text import shortened
from bayescal.validation.truths import LogitNormalScores

__all__ = ["ScoresOfSetting", "moments_of", "scores"]

# A number, or its mean and standard deviation.
Known = float | tuple[float, float]

LEAST_PREVALENCE = 1e-5
LEAST_C, MOST_C = 0.501, 0.995
RISKS_NODES = 400
RISKS_STEPS = 40
RISKS_CONVERGED = 1e-9
RISKS_LONGEST = 1.0


@dataclass(frozen=True)
class ScoresOfSetting:
    """Normal log-odds with a given share of events and c-statistic. Made by `scores`.

    Attributes
    ----------
    prevalence, c_statistic : float or (float, float)
        As they were given: numbers, or means and standard deviations.
    """

    prevalence: Known
    c_statistic: Known

    @cached_property
    def law(self) -> LogitNormalScores:
        """The law at the means of prevalence and c-statistic."""
        known = np.array([[_mean(self.prevalence)], [_mean(self.c_statistic)]])
        mean, sd = moments_of(*known)
        return LogitNormalScores(float(mean[0]), float(sd[0]))

    def draw(self, n: int, random_state: RandomState = None) -> Floats:
        """Independent scores of that law."""
        return self.law.draw(n, random_state)

    def quantiles(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Scores s with P(score <= s) = lower, and 1 - s, given upper = 1 - lower."""
        return self.law.quantiles(lower, upper)

    @property
    def is_uncertain(self) -> bool:
        """Whether prevalence or c-statistic has a standard deviation."""
        return isinstance(self.prevalence, tuple) or isinstance(self.c_statistic, tuple)

    def settings(self, size: int, random_state: RandomState = None) -> tuple[Floats, Floats]:
        """Means and standard deviations of log-odds in several settings, each of shape (size,).

        Prevalences and c-statistics are drawn from Beta laws of their means and standard
        deviations, independently.
        """
        if not self.is_uncertain:
            return np.full(size, self.law.mean), np.full(size, self.law.sd)
        rng = random_generator(random_state)
        drawn = _drawn(self.prevalence, size, rng), _drawn(self.c_statistic, size, rng)
        return moments_of(
            np.clip(drawn[0], LEAST_PREVALENCE, 1 - LEAST_PREVALENCE),
            np.clip(drawn[1], LEAST_C, MOST_C),
        )


def scores(*, prevalence: Any, c_statistic: Any) -> ScoresOfSetting:
    """Scores of a calibrated model of which only prevalence and c-statistic are known.

    Their log-odds are normal, with the mean and the standard deviation at which the share of
    events and the c-statistic are as stated.

    Parameters
    ----------
    prevalence : float, or (float, float)
        Share of events, from 1e-5 to 1 - 1e-5; or its mean and standard deviation, where it is
        not known exactly.
    c_statistic : float, or (float, float)
        From 0.501 to 0.995; or its mean and standard deviation.

    Returns
    -------
    ScoresOfSetting
        A law of scores: for `bayescal.plan`, and for `simulate.Truth`. In `bayescal.plan`,
        prevalence and c-statistic are those of the patients of the study, whatever the
        miscalibration: the scores are then such that the events are that frequent.

    Raises
    ------
    InputError
        If a number is out of range, or no law has such standard deviations.

    Examples
    --------
    >>> from bayescal import simulate
    >>> law = simulate.scores(prevalence=0.1, c_statistic=0.75)
    >>> round(law.law.mean, 3), round(law.law.sd, 3)
    (-2.565, 1.001)
    >>> draws = law.draw(1_000_000, random_state=1)
    >>> round(float(draws.mean()), 2)
    0.1
    """
    made = ScoresOfSetting(
        _as_known(prevalence, "prevalence", LEAST_PREVALENCE, 1 - LEAST_PREVALENCE),
        _as_known(c_statistic, "c_statistic", LEAST_C, MOST_C),
    )
    assert made.law.sd > 0
    return made


def moments_of(prevalence: Floats, c_statistic: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the log-odds of calibrated scores, by Newton steps.

    Shapes: `prevalence`, `c_statistic`, `mean`, `sd` (n,).
    """
    apart = 2 * ndtri(c_statistic) ** 2  # of normal log-odds of events and of non-events
    spread = np.sqrt(apart + prevalence * (1 - prevalence) * apart**2)
    point = np.stack([logit(prevalence) * np.sqrt(1 + 0.35 * spread**2), np.log(spread)])
    aim = np.stack([logit(prevalence), logit(c_statistic)])
    small = 1e-5
    for _ in range(RISKS_STEPS):
        value = _of_law(point)
        moved = [_of_law(point + small * axis) - value for axis in np.eye(2)[:, :, None]]
        jacobian = np.moveaxis(np.stack(moved, axis=1) / small, -1, 0)
        step = np.linalg.solve(jacobian, (aim - value).T[..., None])[..., 0].T
        point = point + np.clip(step, -RISKS_LONGEST, RISKS_LONGEST)
        if np.abs(step).max() < RISKS_CONVERGED:
            return point[0], np.exp(point[1])
    raise InputError(
        "prevalence and c_statistic have no calibrated scores with normal log-odds: "
        "take a c_statistic further from 1, or a prevalence further from 0 and 1."
    )


def _of_law(point: Floats) -> Floats:
    """Log-odds of prevalence and c-statistic at means and log standard deviations, (2, n)."""
    t = (np.arange(RISKS_NODES) + 0.5) / RISKS_NODES
    z = ndtri(t**2 * (3 - 2 * t))
    weight = t * (1 - t) / (t * (1 - t)).sum()
    risk = expit(point[0][:, None] + np.exp(point[1])[:, None] * z)
    events, others = weight * risk, weight * (1 - risk)
    prevalence = events.sum(axis=1)
    below = np.cumsum(others, axis=1) - others / 2
    c = np.vecdot(events, below) / (prevalence * (1 - prevalence))
    return np.stack([logit(prevalence), logit(c)])


def _as_known(value: Any, name: str, least: float, most: float) -> Known:
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise InputError(
                f"{name} must be a number, or a pair of its mean and standard deviation, got "
                f"{shortened(repr(value))}."
            )
        mean, sd = as_number(value[0], name), as_number(value[1], name)
        _check_range(mean, name, least, most)
        most_sd = (mean * (1 - mean)) ** 0.5
        if not 0 < sd < most_sd:
            raise InputError(
                f"{name} has a mean of {mean:g}, and no Beta law of that mean has a standard "
                f"deviation of {sd:g}. It must be positive, and below {most_sd:.3g}."
            )
        return mean, sd
    number = as_number(value, name)
    _check_range(number, name, least, most)
    return number


def _check_range(number: float, name: str, least: float, most: float) -> None:
    if not least <= number <= most:
        why = (
            "a c-statistic of 0.5 says that scores carry nothing, and one of 1 that they are "
            "never wrong"
            if name == "c_statistic"
            else "without events, or without non-events, no calibration can be measured"
        )
        raise InputError(f"{name} must be from {least:g} to {most:g}, got {number:g}: {why}.")


def _mean(known: Known) -> float:
    return known[0] if isinstance(known, tuple) else known


def _drawn(known: Known, size: int, rng: np.random.Generator) -> Floats:
    if not isinstance(known, tuple):
        return np.full(size, known)
    mean, sd = known
    strength = mean * (1 - mean) / sd**2 - 1
    return rng.beta(mean * strength, (1 - mean) * strength, size)
