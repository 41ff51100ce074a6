"""Eight sets of clinical and other forecasts with known answers, or stand-ins for them.

With reference data the answers are those of R (`recomputed_R` in `oracles/clinical.json`). A
stand-in of the same size and kind is made from a seed, and each answer is computed by the
definition that is written out here, as plainly as possible and with nothing of bayescal.
"""

import csv
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import chi2, norm, rankdata
from sklearn.isotonic import isotonic_regression
from statsmodels.nonparametric.smoothers_lowess import lowess

__all__ = ["CLINICAL", "Clinical", "clinical_set", "read", "stand_in"]

CLINICAL = {
    "predtools_val_data": (400, (3, 6), (-0.1, 0.7), 16),
    "brcal_hockey_538": (868, (9, 8), (0, 1.3), 16),
    "brcal_hockey_rand": (868, (1.5, 1.5), (0.1, 0.05), 16),
    "precip_Logistic": (92, (4, 4), (0.2, 1.5), 16),
    "precip_EMOS": (92, (5, 5), (0.3, 1), 16),
    "precip_EPC": (92, (6, 5), (0.2, 1), 2),
    "dcurves_df_binary": (750, (0.7, 4), (0, 1), 16),
    "impact_tbi_iecv": (1200, (1.2, 3.4), (0, 1), 16),
}
"""Of a stand-in: cases, the beta law of its scores, intercept and slope, and digits of scores."""

Clinical = Callable[[str], tuple[Any, Any, Mapping[str, Any]]]
"""Of the name of a set: outcomes, scores and answers by R's names."""


def clinical_set(folder, name):
    """Outcomes, scores and answers: of the reference data in a folder, or of a stand-in."""
    if folder is None:
        outcomes, scores = stand_in(name)
        return outcomes, scores, Definitions(outcomes, scores)
    answers = json.loads((folder / "oracles" / "clinical.json").read_text("utf-8"))
    return *read(folder, name), answers["recomputed_R"][name]


def read(folder, name):
    """Outcomes and scores of a file, or of one forecaster of rain."""
    file, outcome, score = name, "outcome", "score"
    if name.startswith("precip_"):
        file, outcome, score = "reliabilitydiag_precip_Niamey_2016", "obs", name[7:]
    with (folder / "data" / "clinical" / f"{file}.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    outcomes, scores = ([float(row[column]) for row in rows] for column in (outcome, score))
    return np.array(outcomes), np.array(scores)


def stand_in(name):
    """Scores from a beta law, and outcomes from a line in their log-odds."""
    n, law, (intercept, slope), digits = CLINICAL[name]
    rng = np.random.default_rng(list(CLINICAL).index(name))
    scores = rng.beta(*law, n).round(digits).clip(0.001, 0.999)
    rates = expit(intercept + slope * logit(scores))
    return (rng.random(n) < rates).astype(float), scores


class Definitions(Mapping[str, Any]):
    """Answers by R's names, each computed when it is asked for."""

    def __init__(self, outcomes, scores):
        self.y, self.s = outcomes, scores

    def __getitem__(self, key):
        return ANSWERS[key](self.y, self.s)

    def __iter__(self):
        return iter(ANSWERS)

    def __len__(self):
        return len(ANSWERS)


# Regressions


def fitted(y, columns, offset=0.0):
    """Coefficients, their standard errors and rates of a logistic regression, by Newton's steps."""
    basis, coef = np.column_stack(columns), np.zeros(len(columns))
    for _ in range(60):
        rate = expit(basis @ coef + offset)
        information = (basis.T * (rate * (1 - rate))) @ basis
        coef = coef + np.linalg.solve(information, basis.T @ (y - rate))
    return coef, np.sqrt(np.diag(np.linalg.inv(information))), expit(basis @ coef + offset)


def log_likelihood(y, rate):
    return float(y @ np.log(rate) + (1 - y) @ np.log(1 - rate))


def line(y, s):
    coef, error, _ = fitted(y, [np.ones_like(s), logit(s)])
    names = "(Intercept)", "lp", "(Intercept).1", "lp.1"
    return dict(zip(names, [*coef, *error], strict=True))


def shift(y, s):
    coef, error, _ = fitted(y, [np.ones_like(s)], logit(s))
    return [float(coef[0]), float(error[0])]


def beta(y, s):
    coef, _, rate = fitted(y, [np.log(s), -np.log(1 - s), np.ones_like(s)])
    return dict(zip("abc", coef, strict=True)), rate


def splines(y, s, places):
    """Rates by a restricted cubic spline of the log-odds: Harrell's truncated powers."""
    x = logit(s)
    *inner, before, last = knots = np.quantile(x, places)
    columns = [np.ones_like(x), x]
    for knot in inner:
        part = np.maximum(x - knot, 0) ** 3
        part -= np.maximum(x - before, 0) ** 3 * (last - knot) / (last - before)
        part += np.maximum(x - last, 0) ** 3 * (before - knot) / (last - before)
        columns.append(part / (last - knots[0]) ** 2)
    return fitted(y, columns)[2]


# Tests and scores


def gain_of_line(y, s):
    """Twice the gain in log likelihood by intercept and slope."""
    rate = fitted(y, [np.ones_like(s), logit(s)])[2]
    return 2 * (log_likelihood(y, rate) - log_likelihood(y, s))


def gain_of_scores(y, s):
    """Twice the gain in log likelihood over the mean outcome."""
    return 2 * (log_likelihood(y, s) - log_likelihood(y, np.full(s.size, y.mean())))


def concordance(y, s):
    """The share of pairs in order: Mann and Whitney's statistic."""
    ones = y.sum()
    return float((rankdata(s)[y == 1].sum() - ones * (ones + 1) / 2) / (ones * (y.size - ones)))


def spiegelhalter(y, s):
    z = ((y - s) * (1 - 2 * s)).sum() / np.sqrt(((1 - 2 * s) ** 2 * s * (1 - s)).sum())
    return {"Z": float(z), "P": float(2 * norm.sf(abs(z)))}


def hosmer_lemeshow(y, s):
    """Ten groups, each closed on the right, cut at the quantiles."""
    group = np.searchsorted(np.unique(np.quantile(s, np.arange(1, 10) / 10)), s)
    statistic = 0.0
    for k in np.unique(group):
        n, events, expected = (group == k).sum(), y[group == k].sum(), s[group == k].sum()
        statistic += (events - expected) ** 2 / (expected * (1 - expected / n))
    groups = np.unique(group).size
    tails = {"p_df_g": groups, "p_df_gm2": groups - 2}
    tests = {name: float(chi2.sf(statistic, df)) for name, df in tails.items()}
    return {"stat": float(statistic), "groups": groups} | tests


def pooled(y, s):
    """Isotonic rates, equal scores together."""
    values, index, count = np.unique(s, return_inverse=True, return_counts=True)
    means = np.bincount(index, y) / count
    assert values.size == means.size
    return isotonic_regression(means, sample_weight=count.astype(float))[index]


def corp(y, s):
    parts = [np.mean((y - rate) ** 2) for rate in (s, pooled(y, s), np.full(y.size, y.mean()))]
    score, best, unc = map(float, parts)
    return {"S": score, "MCB": score - best, "DSC": unc - best, "UNC": unc}


# Distances between a curve and the scores


def smoothed(y, s):
    """Cleveland's lowess without robust steps, as val.prob calls it."""
    return lowess(y, s, frac=2 / 3, it=0, delta=0.01 * np.ptp(s), return_sorted=False)


def indices(curve):
    def computed(y, s):
        gap = np.abs(curve(y, s) - s)
        each = gap.mean(), np.median(gap), np.quantile(gap, 0.9), gap.max(), 100 * (gap**2).mean()
        return dict(zip(("Eavg", "E50", "E90", "Emax", "ECI"), map(float, each), strict=True))

    return computed


ANSWERS = {
    "n": lambda y, s: y.size,
    "events": lambda y, s: y.sum(),
    "n_dropped": lambda y, s: 0,
    "OE": lambda y, s: y.sum() / s.sum(),
    "OE_se_log": lambda y, s: np.sqrt((1 - y.mean()) / y.sum()),
    "citl": shift,
    "int_slope": line,
    "beta_cal_abc": lambda y, s: beta(y, s)[0],
    "C": concordance,
    "Brier": lambda y, s: np.mean((y - s) ** 2),
    "Brier_scaled": lambda y, s: 1 - np.mean((y - s) ** 2) / (y.mean() * (1 - y.mean())),
    "logloss": lambda y, s: -log_likelihood(y, s) / y.size,
    "D_chisq": gain_of_scores,
    "D": lambda y, s: (gain_of_scores(y, s) - 1) / y.size,
    "U_chisq": gain_of_line,
    "U": lambda y, s: (gain_of_line(y, s) - 2) / y.size,
    "U_p": lambda y, s: chi2.sf(gain_of_line(y, s), 2),
    "Q": lambda y, s: (gain_of_scores(y, s) - gain_of_line(y, s) + 1) / y.size,
    "Spiegelhalter": spiegelhalter,
    "HL10": hosmer_lemeshow,
    "CORP": corp,
    "valprob_lowess": indices(smoothed),
    "rcs5_logit": indices(lambda y, s: splines(y, s, [0.05, 0.275, 0.5, 0.725, 0.95])),
    "rcs3_logit": indices(lambda y, s: splines(y, s, [0.1, 0.5, 0.9])),
    "logistic": indices(lambda y, s: fitted(y, [np.ones_like(s), logit(s)])[2]),
    "beta": indices(lambda y, s: beta(y, s)[1]),
    "iso": indices(pooled),
}
"""All but R's loess, which interpolates between anchors of its own."""
