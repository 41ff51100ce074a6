"""Does an interval of the calibration error cover, ours and those that people use?

This is the protocol. It was fixed, and committed, before the first run; populations, methods and
criteria were not changed after results were seen.

**Populations.** Seven kinds of `populations.py`, with which earlier versions were measured too, and
nine that are new. Two are exactly calibrated. Kinds of `populations.py` have new parameters in each
set; in all kinds scores and outcomes are drawn anew. 50, 100, 200, 500, 1000, 2000 and 5000
patients; 30 sets of each kind and size (3360 sets), of which SmoothECE and the loess ICI, which
take longest, are computed on the first 10. No set is left out, whatever its number of events.

**Methods.** `bc.fit(y, p)` with its defaults, and eight intervals that are in use. Of the peers we
run bayescal's own estimators, which are checked against the packages: ECE and debiased ECE as in
uncertainty-calibration, SmoothECE as in relplot (exactly), the ICI with R's loess, and the ICI with
a spline of five knots and simulated interval as in pmcalibration. `val.prob` of rms gives its Eavg
no interval. Bootstraps have 200 resamples of the patients.

**Truth.** The L1 distance of the true curve from the scores, averaged over the patients at hand:
mean |g(s) - s|; the root mean square for debiased ECE, which estimates the L2 distance. So that no
peer is judged by an aim that it does not have, "own aim" repeats the coverage with what the
estimator gives where outcomes are replaced by true risks: for ECE and debiased ECE the error after
binning, for SmoothECE the error after smoothing. "population" is the coverage of the L1 or L2
distance of the population that the patients come from (20 000 other scores).

**Measured.** Coverage of 95 % intervals, mean width, interval score (`record.judged`), the share
of intervals that contain 0, mean error (`bias`) and mean absolute error of the point estimate. A
method that refuses a set or cannot give an interval does not cover there ("none").

**Failure, of any method.** (1) at some size, coverage over all kinds below .93; (2) in some kind,
coverage over all sizes below .90; (3) a cell of 30 sets of one kind and size fails where less than
25 are covered: at a true coverage of .95 this happens by chance in .3 % of the cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

import bayescal as bc
import populations
from bayescal import estimators
from bayescal.errors import InputError
from bayescal.estimators import estimator_interval as interval
from populations import BetaScores, LogitNormalScores, Truth, drawn, of_log_odds
from record import Row, judged, means, run

ASKED = (
    "Does a 95 % interval of the calibration error hold the true error, ours and those that "
    "people use, with 50 to 5000 patients?"
)
SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
RESAMPLES = 200
SLOW = 10  # sets of a cell on which the slow methods are computed

# The new kinds of populations


@dataclass(frozen=True)
class Law:
    """Scores that a function of (rng, n) draws."""

    function: Any

    def draw(self, n, random_state=None):
        return self.function(np.random.default_rng(random_state), n)


def clumped(rng) -> Truth:
    """Exactly calibrated; two thirds of the scores are 5, 10, 20 or 50 %."""

    def scores(rng, n):
        often = rng.choice([0.05, 0.1, 0.2, 0.5], n, p=[0.3, 0.3, 0.25, 0.15])
        return np.where(rng.random(n) < 0.65, often, expit(rng.normal(-1.0, 1.3, n)))

    return of_log_odds("calibrated, clumped scores", Law(scores), lambda x: x)


def skewed(rng) -> Truth:
    """Slope .7 around a score of 10 %, with most scores near 0."""
    return of_log_odds("slope .7, skewed scores", BetaScores(0.9, 7), lambda x: 0.7 * x - 0.66)


def upper_end(rng) -> Truth:
    """Calibrated up to a score of .8; above it risks rise by three tenths of what they should."""

    def curve(x):
        s = expit(x)
        return logit(np.minimum(s, 0.8 + 0.3 * (s - 0.8)))

    return of_log_odds("over-confident above .8", BetaScores(2.5, 1.2), curve)


def clinics(rng) -> Truth:
    """Half of the patients are from a clinic of low risks (more events), half from another."""
    means, sds, shifts = np.array([-2.0, -0.4]), np.array([0.9, 1.0]), np.array([0.7, -0.4])

    def scores(rng, n):
        clinic = rng.integers(2, size=n)
        return expit(rng.normal(means[clinic], sds[clinic]))

    def curve(x):
        weight = norm.pdf(x[:, None], means, sds)
        return logit(np.average(expit(x[:, None] + shifts), axis=1, weights=weight))

    return of_log_odds("two clinics", Law(scores), curve)


def rare(rng) -> Truth:
    """3 % events where 2 % are predicted."""
    return of_log_odds("3 % events, shifted", LogitNormalScores(-4.4, 1.0), lambda x: x + 0.5)


def wiggle(rng) -> Truth:
    """A small wave of the log-odds."""
    law = LogitNormalScores(-0.8, 1.2)
    return of_log_odds("small wiggle", law, lambda x: x + 0.2 * np.sin(3 * x))


def tree(rng) -> Truth:
    """Five leaves of a small tree."""
    scores, risks = np.array([0.06, 0.13, 0.25, 0.42, 0.66]), np.array([0.1, 0.12, 0.31, 0.38, 0.5])
    law = Law(lambda rng, n: rng.choice(scores, n, p=[0.3, 0.25, 0.2, 0.15, 0.1]))
    at, to = logit(scores), logit(risks)
    return of_log_odds("five leaves of a tree", law, lambda x: np.interp(x, at, to))


def network(rng) -> Truth:
    """Scores near 0 and 1, of which the log-odds are nearly twice too large."""
    law = LogitNormalScores(1.0, 4.0)
    return of_log_odds("network, scores at the ends", law, lambda x: 0.55 * x)


def nearly(rng) -> Truth:
    """Risks are higher by .06 in log-odds: an error of one point."""
    return of_log_odds("nearly calibrated", LogitNormalScores(-1.2, 1.1), lambda x: x + 0.06)


NEW = (clumped, skewed, upper_end, clinics, rare, wiggle, tree, network, nearly)
KINDS = (*populations.KINDS, *NEW)
# Methods

OURS = "bayescal"
BOOTSTRAPS: dict[str, tuple[str, dict[str, Any]]] = {
    "ECE, 10 equal-width": ("ece", {"n_bins": 10}),
    "ECE, 10 equal-mass": ("ece", {"n_bins": 10, "binning": "mass"}),
    "debiased ECE": ("debiased_ece", {}),
    "SmoothECE": ("smooth_ece", {}),
    "ICI, loess": ("ici", {}),
}
ON_FEWER = ("SmoothECE", "ICI, loess")
Made = tuple[float, float, float]  # an estimate, and the ends of its interval


def intervals(y: Any, s: Any, seed: int, slow: bool) -> Iterator[tuple[str, Made]]:
    """What every method gives."""
    yield OURS, attempt(ours, y, s, seed)
    for title, (name, options) in BOOTSTRAPS.items():
        if slow or title not in ON_FEWER:
            more = options | {"n_resamples": RESAMPLES, "random_state": seed}
            yield f"{title}, bootstrap", (made := attempt(interval, y, s, name, **more))
            if title == "ECE, 10 equal-mass":  # 2 estimate - q takes the bias off
                ends = np.clip(2 * made[0] - np.array(made[:0:-1]), 0, 1)
                yield f"{title}, basic bootstrap", (made[0], *ends)
    sun = attempt(interval, y, s, "debiased_ece", method="analytic")
    yield "debiased ECE, Sun et al.", sun
    yield "ICI, spline, simulated", attempt(spline, y, s, seed)


def ours(y: Any, s: Any, seed: int) -> Made:
    post = bc.fit(y, s, random_state=seed)
    return post.estimate("tce"), *post.interval("tce")


def spline(y: Any, s: Any, seed: int) -> Made:
    ends = estimators.ici_interval(y, s, random_state=seed)
    return estimators.ici(y, s, smoother="rcs"), *ends


def attempt(method: Any, /, *given: Any, **options: Any) -> Made:
    """The result of a method, or three NaN where it refuses the set."""
    try:
        return tuple(method(*given, **options)[:3])
    except InputError:
        return np.nan, np.nan, np.nan


def own_aim(title: str, s: np.ndarray, g: np.ndarray) -> float | None:
    """What an estimator gives with true risks in place of outcomes, where this is another aim."""
    base = title.rpartition(", ")[0]
    if base not in BOOTSTRAPS or base.startswith("ICI"):
        return None
    name, options = BOOTSTRAPS[base]
    if name == "debiased_ece":
        name, options = "ece", {"n_bins": 15, "binning": "mass", "p": 2}
    both, twice = np.repeat([1, 0], s.size), np.concatenate([s, s])
    weight = np.concatenate([g, 1 - g])
    return float(getattr(estimators, name)(both, twice, sample_weight=weight, **options))


@cache
def studies(seed: int, repeats: int) -> tuple[Row, ...]:
    """Every interval of every set."""
    rows = []
    for n in SIZES:
        for kind, index in product(KINDS, range(repeats)):
            truth, rng = drawn(kind, n, index, seed)
            y, s = truth.sample(n, rng)
            others = truth.scores.draw(20_000, rng)
            g, far = truth.curve(s), np.abs(truth.curve(others) - others)
            exact = bool(far.max() < 1e-9)
            for title, made in intervals(y, s, index, index < SLOW):
                p = 2 if title.startswith("debiased") else 1
                true, everywhere = (
                    0.0 if exact else np.mean(d**p) ** (1 / p) for d in (np.abs(g - s), far)
                )
                aim = own_aim(title, s, g)
                row = told(made, true, true if aim is None or exact else aim, everywhere)
                rows.append(row | {"method": title, "kind": truth.name, "n": n, "exact": exact})
        print(f"  {n} patients: {len(rows)} intervals so far", flush=True)
    return tuple(rows)


def told(made: Any, true: float, aim: float, everywhere: float) -> Row:
    """One interval and its estimate against three truths."""
    estimate, *ends = map(float, made)
    if not np.all(np.isfinite(ends)):
        return dict.fromkeys(("coverage", "own aim", "population", "contains 0"), 0.0) | {"none": 1}
    return judged(ends, true, none=0) | {
        "own aim": judged(ends, aim)["coverage"],
        "population": judged(ends, everywhere)["coverage"],
        "contains 0": float(ends[0] <= 1e-9),
        "bias": estimate - true,
        "absolute error": abs(estimate - true),
    }


# Tables


def by_size(seed: int, repeats: int) -> list[Row]:
    """By number of patients

    Over all kinds of populations.
    """
    return means(studies(seed, repeats), "method", "n")


def zero(seed: int, repeats: int) -> list[Row]:
    """Intervals that contain zero

    The share, where the model is exactly calibrated and where it is not.
    """
    shown = ("exact", "method", "n", "contains 0", "width", "sets")
    table = means(studies(seed, repeats), "exact", "method", "n")
    return [{name: row[name] for name in shown} for row in table]


def by_kind(seed: int, repeats: int) -> list[Row]:
    """By kind of population

    Coverage over all sizes: first of bayescal with its mean width and bias, then of each peer.
    """
    rows: dict[str, Row] = {}
    for row in means(studies(seed, repeats), "kind", "method"):
        here = rows.setdefault(row["kind"], {"kind": row["kind"]})
        if row["method"] == OURS:
            here |= {name: row[name] for name in ("coverage", "width", "bias", "sets")}
        else:
            here[row["method"]] = row["coverage"]
    return list(rows.values())


def cells(seed: int, repeats: int) -> list[Row]:
    """Coverage of bayescal in each cell

    Of the true error of the patients at hand, by kind and number of patients.
    """
    rows: dict[str, Row] = {}
    for row in means(studies(seed, repeats), "kind", "n", "method"):
        if row["method"] == OURS:
            rows.setdefault(row["kind"], {"kind": row["kind"]})[str(row["n"])] = row["coverage"]
    return list(rows.values())


PARTS = {by_size: 30, zero: 30, by_kind: 30, cells: 30}


def main(arguments: Any = None) -> None:
    run("claim", ASKED, PARTS, 57_006, arguments)


if __name__ == "__main__":
    main()
