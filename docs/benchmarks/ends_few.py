"""Populations with few distinct scores: stated confidences, clinical points, and tenths.

They were written down, and the version before was run on them, before the family `saturated` was
tried on any data set of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit


@dataclass(frozen=True)
class FewScores:
    """A few scores, the share of the cases at each, and the risk there."""

    name: str
    description: str
    score: np.ndarray
    share: np.ndarray
    risk: np.ndarray

    def sample(self, n, rng):
        """Outcomes and scores."""
        at = rng.choice(self.score.size, n, p=self.share)
        return (rng.random(n) < self.risk[at]).astype(int), self.score[at]

    def true_values(self) -> dict[str, float]:
        """Of the whole population."""
        distance = np.abs(self.risk - self.score)
        order = np.argsort(distance)
        reached = np.searchsorted(np.cumsum(self.share[order]), 0.9)
        return {
            "tce": float(self.share @ distance),
            "tce_2": float(np.sqrt(self.share @ distance**2)),
            "e90": float(distance[order][reached]),
            "emax": float(distance.max()),
            "signed_error": float(self.share @ (self.risk - self.score)),
            "observed_expected": float(self.share @ self.risk / (self.share @ self.score)),
        }


def populations_of(scores, shares, told: str, risks: dict[str, tuple[str, object]]):
    """The populations that share scores; the first of them is told with its scores."""
    score, share = np.array(scores), np.array(shares) / np.sum(shares)
    made = []
    for name, (curve, risk) in risks.items():
        with np.errstate(divide="ignore"):
            true = np.array(risk(score) if callable(risk) else risk, dtype=float)
        described = f"{told if not made else 'the same'}; {curve}"
        made.append(FewScores(name, described, score, share, true))
    return tuple(made)


FEW: tuple[FewScores, ...] = (
    *populations_of(
        (0.0, 0.5, 0.9, 1.0),
        (0.15, 0.20, 0.35, 0.30),
        "scores 0, .5, .9, 1 in shares of .15, .20, .35, .30",
        {
            "confidences, calibrated": ("g = s", lambda s: s),
            "confidences, nearly": ("g = .02, .5, .9, .97", (0.02, 0.5, 0.9, 0.97)),
            "confidences, one wrong": ("g = 0, .5, .75, 1", (0.0, 0.5, 0.75, 1.0)),
            "confidences, noise": ("g = .05 + .9 s", lambda s: 0.05 + 0.9 * s),
            "overconfident": ("g = .2, .45, .7, .85", (0.2, 0.45, 0.7, 0.85)),
        },
    ),
    *populations_of(
        np.round(expit(-4 + 0.55 * np.arange(11)), 4),
        (5, 9, 13, 16, 16, 14, 11, 7, 5, 3, 1),
        "0 to 10 points, x = logit s = -4 + .55 points, most patients with 2 to 6 points",
        {
            "points, calibrated": ("g = s", lambda s: s),
            "points, too high": ("logit g = x - .5", lambda s: expit(logit(s) - 0.5)),
            "points, flat": ("logit g = .7 x - .3", lambda s: expit(0.7 * logit(s) - 0.3)),
            "points, jump": (
                "g = s below 6 points, logit g = x + .8 from there on",
                lambda s: np.where(s < 0.3, s, expit(logit(s) + 0.8)),
            ),
            "points, jagged": (
                "logit g = x + .4 at even points, x - .4 at odd ones",
                lambda s: expit(logit(s) + 0.4 * (-1.0) ** np.arange(11)),
            ),
        },
    ),
    *populations_of(
        np.arange(11) / 10,
        (1,) * 11,
        "scores 0, .1, ..., 1, equally often",
        {
            "tenths, calibrated": ("g = s", lambda s: s),
            "tenths, timid": ("logit g = 1.6 x", lambda s: expit(1.6 * logit(s))),
            "tenths, noise": ("g = .04 + .94 s", lambda s: 0.04 + 0.94 * s),
        },
    ),
)
