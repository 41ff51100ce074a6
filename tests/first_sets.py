"""Fifteen data sets that people bring, each as the arguments of `bayescal.assess`."""

from typing import Any

import numpy as np
from scipy.special import expit

Given = tuple[tuple[Any, ...], dict[str, Any]]


def drawn(n, *, mean=-1.0, sd=1.0, slope=1.0, shift=0.0):
    """Outcomes and scores: log-odds of the outcomes are a line in those of the scores."""
    rng = np.random.default_rng(n)
    x = rng.normal(mean, sd, n)
    y = (rng.random(n) < expit(shift + mean + slope * (x - mean))).astype(int)
    return y, expit(x)


def of_sites(spread):
    rng = np.random.default_rng(15)
    site = np.repeat(np.arange(15), 150)
    shift = spread * rng.standard_normal(15)
    y, p = drawn(site.size, shift=shift[site])
    return (y, p), {"site": np.array([f"H{k:02}" for k in range(15)])[site]}


def of_periods():
    period = np.repeat(np.arange(12), 150)
    y, p = drawn(period.size, shift=0.7 * (period >= 8))
    return (y, p), {"period": np.array([f"2024-{k + 1:02}" for k in range(12)])[period]}


def of_wards():
    """3000 patients, of whom 80 of one ward have 1.6 times their events."""
    rng = np.random.default_rng(6)
    risk = expit(rng.normal(-1, 0.8, 3000))
    name = np.array([f"W{k}" for k in rng.integers(0, 8, 3000)], dtype=object)
    name[:80] = "Q17"
    odds = np.where(name == "Q17", np.minimum(1.6 * risk, 0.99), risk)
    y = (rng.random(3000) < odds).astype(int)
    return (y, risk), {"subgroup": {"ward": name}}


def of_classes():
    rng = np.random.default_rng(3)
    z = rng.normal(0, 1.5, (600, 3))
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    sharp = np.exp(0.7 * z) / np.exp(0.7 * z).sum(axis=1, keepdims=True)
    y = np.array([rng.choice(3, p=row) for row in sharp])
    return (y, p), {}


def of_a_language_model():
    """Stated confidences, most of them .9 and more, of answers of which 6 in 10 are right."""
    rng = np.random.default_rng(4)
    stated = rng.choice(
        [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0], 500, p=[0.02, 0.03, 0.05, 0.1, 0.3, 0.3, 0.2]
    )
    y = (rng.random(500) < 0.35 + 0.3 * stated).astype(int)
    return (y, stated), {}


def inverted():
    y, p = drawn(300, slope=1.3)
    return (1 - y, p), {}


def separated():
    _, p = drawn(80)
    return ((p > 0.3).astype(int), p), {}


def labels_as_scores():
    y, p = drawn(400)
    return (y, (p > 0.4).astype(float)), {}


SETS = {
    "150 calibrated": lambda: (drawn(150), {}),
    "slope .55 of 400": lambda: (drawn(400, slope=0.55), {}),
    "12 patients": lambda: (drawn(12), {}),
    "29 events in 4000": lambda: (drawn(4000, mean=-5.2, sd=0.8), {}),
    "300 000 patients": lambda: (drawn(300_000, slope=0.96), {}),
    "all scores .5": lambda: ((drawn(200)[0], np.full(200, 0.5)), {}),
    "scores 0 and 1": labels_as_scores,
    "inverted": inverted,
    "separated": separated,
    "15 hospitals that differ": lambda: of_sites(0.5),
    "15 hospitals alike": lambda: of_sites(0.0),
    "periods with a jump": of_periods,
    "an odd subgroup": of_wards,
    "three classes": of_classes,
    "a language model": of_a_language_model,
}
