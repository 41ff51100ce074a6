"""Three sets of cases with known answers: those of the reference data, or stand-ins for them.

With reference data the answers are those of other packages (`oracles/estimators.json`). A stand-in
is made from a seed, and each answer is computed by the definition that is written out here, as
plainly as possible and with nothing of bayescal. What the packages relplot and betacal say of the
stand-ins is stored in `known_sets.json`; `python tests/known_sets.py`, with both installed, makes
it again.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit, ndtr
from scipy.stats import beta, norm
from sklearn.isotonic import isotonic_regression

__all__ = ["NAMES", "Known", "area", "known_set", "stand_in"]

NAMES = ("A", "B", "C")
STORED = Path(__file__).with_suffix(".json")
EDGE = 1e-12

Known = Callable[[str], tuple[Any, Any, Mapping[str, Any]]]
"""Of the name of a set: outcomes, scores and answers by their keys."""


def known_set(folder, name):
    """Outcomes, scores and answers: of the reference data in a folder, or of a stand-in."""
    if folder is None:
        outcomes, scores = stand_in(name)
        return outcomes, scores, Definitions(name, outcomes, scores)
    scores, outcomes = np.loadtxt(folder / "oracles" / f"{name}.csv", delimiter=",", skiprows=1).T
    answers = json.loads((folder / "oracles" / "estimators.json").read_text())
    return outcomes, scores, answers[name]


def stand_in(name):
    """Over-confident scores (A, the recipe of the set), some equal (B), and nearly certain (C)."""
    rng = np.random.default_rng(NAMES.index(name))
    if name == "A":
        scores = rng.beta(2, 1, 200)
        rates = expit(-0.3 + 0.6 * logit(scores))
    elif name == "B":
        scores = rng.beta(1.5, 4, 731).round(4).clip(0.005)
        scores[:7] = 1.0
        rates = 0.02 + 0.8 * scores
    else:
        scores = expit(rng.normal(8, 4, 1000)).clip(0.3, 1 - EDGE)
        rates = np.where(scores > 0.999, 1, scores**3)
    return (rng.random(scores.size) < rates).astype(float), scores


class Definitions(Mapping[str, Any]):
    """Answers by the keys of the reference data, each computed when it is asked for."""

    def __init__(self, name, outcomes, scores):
        self.y, self.s = outcomes, scores
        self.stored = json.loads(STORED.read_text("utf-8"))[name]

    def __getitem__(self, key):
        if key in self.stored:
            return self.stored[key]
        for pattern, answer in ANSWERS.items():
            match = re.fullmatch(pattern, key)
            if match:
                return answer(self.y, self.s, **match.groupdict())
        raise KeyError(key)

    def __iter__(self):
        return iter(self.stored)

    def __len__(self):
        return len(self.stored)


# Bins


def bins_of(y, s, kind, n):
    """Outcomes and scores of every bin that holds a case.

    "EW" has equal widths, closed on the right. "EM" splits the sorted cases evenly, equal scores
    all going to the first of their bins. "em" splits them by rank, equal scores sharing their
    outcomes.
    """
    order = np.argsort(s, kind="stable")
    y, s = y[order], s[order]
    rank = np.arange(s.size)
    if kind == "EW":
        index = np.searchsorted(np.arange(1, n) / n, s)
    elif kind == "EM":
        index = np.repeat(np.arange(n), [len(part) for part in np.array_split(s, n)])
        index = index[np.searchsorted(s, s)]
    else:
        index = rank * n // s.size
        y = np.array([y[s == score].mean() for score in s])
    return [(y[index == b], s[index == b]) for b in np.unique(index)]


def gaps_of(bins):
    """Share of the cases, mean outcome less mean score, and variance of the mean outcome."""
    size = np.array([y.size for y, _ in bins])
    rate = np.array([y.mean() for y, _ in bins])
    score = np.array([s.mean() for _, s in bins])
    return size / size.sum(), rate - score, rate * (1 - rate) / np.maximum(size - 1, 1)


def plain(y, s, n="15", p="1", kind="EW"):
    share, gap, _ = gaps_of(bins_of(y, s, kind, int(n)))
    return float((share @ np.abs(gap) ** int(p)) ** (1 / int(p)))


def average(y, s, n):
    return float(np.abs(gaps_of(bins_of(y, s, "EW", int(n)))[1]).mean())


def signed(y, s, n="15", kind="EM"):
    share, gap, variance = gaps_of(bins_of(y, s, kind, int(n)))
    return float(share @ (gap**2 - variance))


def debiased(y, s, n="15", kind="EM"):
    return float(np.sqrt(max(signed(y, s, n, kind), 0.0)))


def debiased_absolute(y, s, n, kind):
    """The limit of many resampled rates: with them |gap| has the mean of a folded normal."""
    bins = bins_of(y, s, kind, int(n))
    share, gap, _ = gaps_of(bins)
    rate = np.array([y.mean() for y, _ in bins])
    sd = np.sqrt(rate * (1 - rate) / np.array([y.size for y, _ in bins]))
    z = np.divide(gap, sd, out=np.full(gap.size, np.inf), where=sd > 0)
    folded = np.where(sd > 0, 2 * sd * norm.pdf(z) + gap * (1 - 2 * ndtr(-z)), np.abs(gap))
    return float(share @ (2 * np.abs(gap) - folded))


def swept(y, s, kind):
    """The most bins before mean outcomes first fall."""
    for n in range(2, s.size + 1):
        rates = [part.mean() for part, _ in bins_of(y, s, kind, n)]
        if np.any(np.diff(rates) < -1e-12):
            return n - 1
    return int(s.size)


KINDS = {"em": "em", "ew": "EW"}


# Smoothing


def area(places, residuals, sigma, mirrors):
    """Integral of the absolute smoothed residual, between roots, by the normal distribution."""
    low, high = places.min() - 9 * sigma, places.max() + 9 * sigma
    if mirrors:
        turns = np.arange(-2, 3)[:, None]
        images = np.concatenate([(2 * turns + places).ravel(), (2 * turns - places).ravel()])
        near = np.abs(images - 0.5) < 0.5 + 9 * sigma
        places, residuals, low, high = images[near], np.tile(residuals, 10)[near], 0.0, 1.0

    def smoothed(at):
        z = (np.asarray(at)[..., None] - places) / sigma
        return np.exp(-0.5 * z**2) @ residuals

    at = np.linspace(low, high, 4001)
    sign = np.sign(np.concatenate([smoothed(part) for part in np.array_split(at, 40)]))
    turns = np.flatnonzero(sign[:-1] * sign[1:] < 0)
    roots = [brentq(smoothed, at[i], at[i + 1], xtol=1e-14) for i in turns]
    ends = np.array([low, *roots, high])
    return float(np.abs(np.diff(ndtr((ends[:, None] - places) / sigma) @ residuals)).sum())


def smoothed_error(y, s, sigma):
    return area(s, (y - s) / s.size, float(sigma), mirrors=True)


def fixed_point(y, s):
    return float(
        brentq(lambda sigma: area(s, (y - s) / s.size, sigma, True) - sigma, 1e-3, 1, xtol=1e-11)
    )


def along_log_odds(y, s, bins):
    """By a cubic spline through the smoothed residual; each case reaches nine bandwidths."""
    sigma, centres = 1 / int(bins), np.clip(logit(s), -40, 40)
    at = np.linspace(centres.min() - 9 * sigma, centres.max() + 9 * sigma, 200_001)
    gap, chance = np.zeros_like(at), expit(at)
    for outcome, centre in zip(y, centres, strict=True):
        near = slice(*np.searchsorted(at, (centre - 9 * sigma, centre + 9 * sigma)))
        gap[near] += (outcome - chance[near]) * np.exp(-0.5 * ((at[near] - centre) / sigma) ** 2)
    spline = CubicSpline(at, gap)
    turns = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    roots = [brentq(spline, at[i], at[i + 1], xtol=1e-14) for i in turns]
    ends = at[1:][np.diff(gap == 0)]  # of stretches that no case reaches
    areas = np.diff(spline.antiderivative()(np.sort([at[0], *roots, *ends, at[-1]])))
    return float(np.abs(areas).sum() / (s.size * sigma * np.sqrt(2 * np.pi)))


def twice_the_ratio(y, s, bandwidth, p):
    """Beta kernels, each case left out of its own mean."""
    width, s = float(bandwidth), s.clip(1e-6, 1 - 1e-6)
    kernel = beta.pdf(s[:, None], s / width + 1, (1 - s) / width + 1)
    np.fill_diagonal(kernel, 0)
    return float(2 * (np.abs(kernel @ y / kernel.sum(axis=1) - s) ** int(p)).mean())


# Pairs of cases


def pairs_of(y, s, kernel):
    gap = y - s
    return np.outer(gap, gap) * kernel(np.abs(s[:, None] - s))


def mean_embedding(y, s):
    return float(np.sqrt(pairs_of(y, s, lambda d: np.exp(-d / 0.4)).mean()))


def kernel_error(y, s, form, shape):
    """Of both classes, whose residuals are opposite: each product counts twice."""
    kernel = (lambda d: np.exp(-d)) if shape == "Exp" else (lambda d: np.exp(-(d**2) / 2))
    pairs = 2 * pairs_of(y, s, kernel)
    if form == "biased":
        return float(pairs.mean())
    if form == "unbiased":
        return float((pairs.sum() - np.trace(pairs)) / (y.size * (y.size - 1)))
    first = np.arange(0, y.size - 1, 2)
    return float(pairs[first, first + 1].mean())


# Sums, and maximum likelihood


def furthest_sum(y, s):
    """Of outcome less score, summed over all cases up to each distinct score."""
    return float(max(abs(np.sum((y - s)[s <= score])) for score in np.unique(s)) / s.size)


def maximum(y, basis, offset=0.0):
    """Coefficients by Newton steps, and their standard errors."""
    coef = np.zeros(basis.shape[1])
    for _ in range(50):
        rate = expit(offset + basis @ coef)
        inverse = np.linalg.inv((basis.T * (rate * (1 - rate))) @ basis)
        coef = coef + inverse @ (basis.T @ (y - rate))
    return coef.tolist(), np.sqrt(np.diag(inverse)).tolist()


def line(y, s):
    x = logit(s.clip(EDGE, 1 - EDGE))
    return maximum(y, np.column_stack([np.ones_like(x), x]))


def shift(y, s):
    x = logit(s.clip(EDGE, 1 - EDGE))
    return maximum(y, np.ones((x.size, 1)), x)[0][0]


def curve(y, s):
    s = s.clip(EDGE, 1 - EDGE)
    return maximum(y, np.column_stack([np.log(s), -np.log1p(-s), np.ones_like(s)]))[0]


# Scores


def brier(y, s):
    return float(np.mean((s - y) ** 2))


def isotonic(y, s):
    """The mean outcome of each score, pooled until it rises."""
    score, row, cases = np.unique(s, return_inverse=True, return_counts=True)
    rate = np.bincount(row, y) / cases
    assert score.size > 1
    return isotonic_regression(rate, sample_weight=cases)[row]


def corp(y, s):
    uncertainty, resolved = brier(y, np.full(y.size, y.mean())), brier(y, isotonic(y, s))
    return [brier(y, s) - resolved, uncertainty - resolved, uncertainty]


def beta_moments(y, s):
    """Shapes of the beta law with the mean and variance of the scores."""
    size = s.mean() * (1 - s.mean()) / s.var(ddof=1) - 1
    return {"beta_moments": [s.mean() * size, (1 - s.mean()) * size]}


def least_squares(y, s):
    """Equation 9: a beta curve through bins of all numbers, without a constraint, on log-odds.

    Of each number of bins N // B cases a bin in ascending order, the rest left out.
    """
    order, n = np.argsort(s, kind="stable"), s.size
    fewest, most = n // 100, n // 20
    counts = range(max(fewest, min(2, n)), max(most, min(5, n)) + 1, max(1, (most - fewest) // 10))
    parts = []
    for bins in counts:
        rows = n // bins
        shaped = (
            values[order][: bins * rows].reshape(bins, rows).mean(axis=1) for values in (s, y)
        )
        parts.append([*shaped, np.full(bins, 1 / bins)])
    score, rate, weight = np.concatenate(parts, axis=1)
    basis = np.column_stack([np.log(score), -np.log1p(-score), np.ones_like(score)])

    def loss(coef):
        return float(weight @ np.exp((expit(basis @ coef) - rate) ** 2))

    tight = {"xatol": 1e-10, "fatol": 1e-15, "maxiter": 20_000, "maxfev": 20_000}
    best = minimize(loss, [1.0, 1.0, 0.0], method="Nelder-Mead", options=tight)
    best = minimize(loss, best.x, method="Nelder-Mead", options=tight)
    return {"a,b,c": best.x.tolist(), "objective": float(best.fun)}


ANSWERS = {
    r"verified\.get_calibration_error\(.*": debiased,
    r"caltrain\.ew_ece_bin,norm(?P<p>\d),(?P<n>\d+)": plain,
    r"caltrain\.em_ece_bin,norm(?P<p>\d),(?P<n>\d+)": lambda y, s, n, p: plain(y, s, n, p, "em"),
    r"(relplot\.binnedECE|netcal\.ECE)\((?P<n>\d+)\)": plain,
    r"netcal\.ACE\((?P<n>\d+)\)": average,
    r"verified\.get_ece(_em)?\((?P<kind>E[WM]),p(?P<p>\d),plugin,(?P<n>\d+)\)": plain,
    r"verified\.(?P<kind>E[WM]),p(?P<p>\d),plugin,(?P<n>\d+)": plain,
    r"verified\.(?P<kind>E[WM]),p2,debiased,(?P<n>\d+)": debiased,
    r"verified\.(?P<kind>E[WM]),unbiased_square_ce\(signed\),(?P<n>\d+)": signed,
    r"verified\.(?P<kind>E[WM]),p1,debiased,(?P<n>\d+),INFINITE.*": debiased_absolute,
    r"caltrain\.(?P<kind>e[mw])_sweep\.n_bins": lambda y, s, kind: swept(y, s, KINDS[kind]),
    r"caltrain\.(?P<kind>e[mw])_ece_sweep,norm(?P<p>\d)": lambda y, s, kind, p: plain(
        y, s, str(swept(y, s, KINDS[kind])), p, KINDS[kind]
    ),
    r"smECE_sigma exact\((?P<sigma>.*)\)": smoothed_error,
    r"smECE exact value at sigma\*": fixed_point,
    r"LS-ECE sigma=1/(?P<bins>\d+) exact .*": along_log_odds,
    r"ece_kde\.get_ece_kde\(bw=(?P<bandwidth>[\d.]+),p=(?P<p>\d),.*": twice_the_ratio,
    r"MMCE_laplace2\.5 .*": mean_embedding,
    r"netcal\.MMCE\(.*": lambda y, s: mean_embedding((s > 0.5) == y, s),
    r"SKCE transcription, (?P<form>biased|unbiased|block)\S*( unbiased)?, "
    r"(?P<shape>Exp|SqExp)onential.*": kernel_error,
    r"spline\.KS_error.*": furthest_sum,
    r"exact MLE logistic recalibration \(.*": lambda y, s: line(y, s)[0],
    r"exact MLE logistic recalibration SEs": lambda y, s: line(y, s)[1],
    r"exact MLE beta abm .*": curve,
    r"exact calibration-in-the-large .*": shift,
    r"O:E ratio": lambda y, s: float(y.sum() / s.sum()),
    r"Brier mean .*": brier,
    r"BS 2-class .*": lambda y, s: 2 * brier(y, s),
    r"RBS = .*": lambda y, s: np.sqrt(2 * brier(y, s)),
    r"RBS 1-dim .*": lambda y, s: np.sqrt(brier(y, s)),
    r"CORP \(.*": corp,
    r"CORP L1.*": lambda y, s: float(np.abs(s - isotonic(y, s)).mean()),
    r"tcebpm\.transcription.*": beta_moments,
    r"own: paper Eq\.9 .*": least_squares,
}


def by_packages(outcomes, scores):
    """What relplot and betacal say."""
    from betacal import BetaCalibration
    from relplot import metrics, prepare_rel_diagram

    answers = {"relplot.smECE": float(metrics.smECE(scores, outcomes))}
    for sigma in (0.02, 0.05, 0.1, 0.2):
        value = metrics.smECE_sigma(scores, outcomes, sigma)
        answers[f"relplot.smECE_sigma({sigma})"] = float(value)
    diagram = prepare_rel_diagram(scores, outcomes, plot_confidence_band=False)
    at = [20, 60, 100, 140, 180]
    answers["relplot.reldiag_noboot"] = {"sigma": float(diagram["sigma"])} | {
        name: np.asarray(diagram[key])[at].tolist()
        for name, key in (("t", "mesh"), ("mu", "mu"), ("density", "density"))
    }
    inside = scores.clip(EDGE, 1 - EDGE)
    for form in ("abm", "am"):
        fitted = BetaCalibration(form).fit(inside, outcomes)
        printed = fitted.predict(np.array([0.1, 0.5, 0.9]))
        answers[f"betacal.{form}.map [a,b,m]"] = [float(value) for value in fitted.calibrator_.map_]
        answers[f"betacal.{form}.predict([.1,.5,.9])"] = printed.tolist()
    return answers


if __name__ == "__main__":
    stored = {name: by_packages(*stand_in(name)) for name in NAMES}
    STORED.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
