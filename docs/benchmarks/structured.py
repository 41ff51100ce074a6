"""Are the numbers of structured tables true? Sites, subgroups, periods, clusters, imputations,
and times to an event, each drawn with a known truth."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_expit

import bayescal as bc
from record import Row, judged, means, run, stated

ASKED = (
    "Do 95 % intervals hold the true value where patients have hospitals, subgroups, months, "
    "clusters, imputed predictors, or times?"
)
MEAN, WIDTH = -1.3, 1.2
"""Of the log-odds of the scores."""
DRAWS = 1000
OFF = 0.05


def outcomes(risk: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(risk.size) < risk).astype(int)


def errors(risk: np.ndarray, score: np.ndarray) -> dict[str, float]:
    """True O/E and calibration error of these patients."""
    return {"observed_expected": risk.mean() / score.mean(), "tce": np.abs(risk - score).mean()}


def of_these(post: Any, true: dict[str, float], **labels: Any) -> Iterator[Row]:
    """Intervals of a posterior at the scores of the sample."""
    names = {"observed_expected": "O/E", "tce": "TCE", "calibration_slope": "slope"}
    for name, value in true.items():
        ends = post.interval(name, population="sample")
        yield judged(ends, value, number=names[name], **labels)


# Sites

SITES, SPREADS = (5, 15, 50), (0.0, 0.15, 0.33)
NEW_SITES = 100


def site_rows(seed: int, repeats: int) -> Iterator[Row]:
    """Curves of sites are lines in log-odds; sizes are 20 to 500 patients."""
    for count in SITES:
        for spread in SPREADS:
            for index in range(repeats):
                rng = np.random.default_rng([seed, 1, count, round(100 * spread), index])
                z = rng.standard_normal((count + NEW_SITES, 2)) @ [[1, 0.4], [0, 0.92]]
                at = np.array([0.25, -0.2]) * (index % 2) + spread * z * [1, 0.5]
                size = np.exp(rng.uniform(np.log(20), np.log(500), count)).astype(int)
                site = np.repeat(np.arange(count), size)
                x = rng.normal(MEAN, WIDTH, site.size)

                def risk(rows: Any, x: np.ndarray = x, at: np.ndarray = at) -> np.ndarray:
                    return expit(MEAN + at[rows, 0] + np.exp(at[rows, 1]) * (x - MEAN))

                true, score = risk(site), expit(x)
                labels = np.array([f"{k:03}" for k in range(count)])[site]
                data = bc.CalibrationData(outcomes(true, rng), score, site=labels)
                post = bc.fit(data, vary=bc.by("site"), draws=DRAWS, random_state=index)
                told = {"sites": count, "spread": spread}
                for k, label in enumerate(post.labels):
                    mine, view = site == k, post.at(site=label)
                    here = errors(true[mine], score[mine])
                    here["calibration_slope"] = np.exp(at[k, 1])
                    yield from of_these(view, here, what="each site", **told)
                middle = np.array([0.25, -0.2]) * (index % 2)
                centre = expit(MEAN + middle[0] + np.exp(middle[1]) * (x - MEAN))
                average, new = post.average(), post.new()
                yield from of_these(average, errors(centre, score), what="average site", **told)
                ends = new.interval("observed_expected", population="sample")
                for k in range(count, count + NEW_SITES):
                    true_ratio = risk(np.full(x.size, k)).mean() / score.mean()
                    yield judged(ends, true_ratio, number="O/E", what="a new site", **told)


def sites(seed: int, repeats: int) -> list[Row]:
    """Hospitals

    By the spread of the shift between hospitals on the log-odds; slopes spread half as much.
    Half of the populations are calibrated on average, half are not.
    """
    return means(site_rows(seed, repeats), "what", "number", "sites", "spread")


# Subgroups

SHAPES = {4: (2, 2), 16: (2, 2, 4), 64: (4, 4, 4)}


def subgroups(seed: int, repeats: int) -> list[Row]:
    """Subgroups

    Every level and every combination of two or three factors, with 4000 patients in all. Where
    they differ, effects of levels have a standard deviation of 0.25, and of combinations 0.1. The
    TCE of a level is that of its curve, the mean risk at each score, in which errors of its
    combinations cancel; "own" is that of its patients, each with the risk of their combination.
    """
    rows: list[Row] = []
    for count, shape in SHAPES.items():
        for spread in (0.0, 1.0):
            for index in range(repeats):
                rng = np.random.default_rng([seed, 2, count, int(spread), index])
                cell = np.arange(4000) % count
                codes = np.unravel_index(cell, shape)
                shift = 0.1 * spread * rng.standard_normal(count)[cell]
                for code, size in zip(codes, shape, strict=True):
                    shift = shift + 0.25 * spread * rng.standard_normal(size)[code]
                x = rng.normal(MEAN, WIDTH, cell.size)
                risk, score = expit(x + shift), expit(x)
                factors = {f"factor {k}": code for k, code in enumerate(codes, 1)}
                options: dict[str, Any] = {"engine": "importance", "draws": DRAWS}
                post = bc.fit(
                    outcomes(risk, rng), score, subgroup=factors, random_state=index, **options
                )
                told = {"subgroups": count, "differ": "yes" if spread else "no"}
                for k, (name, code) in enumerate(factors.items()):
                    for level in range(shape[k]):
                        here, where = code == level, {name: str(level)}
                        own = errors(risk[here], score[here])
                        mean_risk = expit(x[here] + np.unique(shift[here])[:, None]).mean(axis=0)
                        true = own | {"tce": errors(mean_risk, score[here])["tce"]}
                        rows += of_these(post.at(where), true, what="levels", **told)
                        own = {"tce": own["tce"]}
                        rows += of_these(post.own(where), own, what="levels, own", **told)
                for c in range(count):
                    levels = np.unravel_index(c, shape)
                    where = {name: str(k) for name, k in zip(factors, levels, strict=True)}
                    true = errors(risk[cell == c], score[cell == c])
                    rows += of_these(post.at(where), true, what="combinations", **told)
    return means(rows, "what", "number", "subgroups", "differ")


# Periods

MONTHS, PATIENTS = 12, 100
PATHS = {
    "no change": np.zeros(MONTHS),
    "off all along": np.full(MONTHS, 0.3),
    "sudden, month 7": 0.4 * (np.arange(MONTHS) >= 6),
    "sudden and large, month 7": 0.8 * (np.arange(MONTHS) >= 6),
    "sudden, month 11": 0.4 * (np.arange(MONTHS) >= 10),
    "gradual": 0.4 * np.arange(MONTHS) / (MONTHS - 1),
}


@cache
def years(seed: int, repeats: int) -> list[dict[str, Any]]:
    """Years of 100 patients a month, each fitted by months and, for comparison, as one table."""
    made = []
    for name, path in PATHS.items():
        for index in range(repeats):
            rng = np.random.default_rng([seed, 3, list(PATHS).index(name), index])
            month = np.repeat(np.arange(MONTHS), PATIENTS)
            x = rng.normal(-1.0, WIDTH, month.size)
            y, last = outcomes(expit(x + path[month]), rng), month == MONTHS - 1
            options: dict[str, Any] = {"draws": DRAWS, "random_state": index}
            post = bc.fit(y, expit(x), period=month, curve="logistic", **options)
            pooled = bc.fit(y, expit(x), curve="logistic", **options)
            true = errors(expit(x[last] + path[-1]), expit(x[last]))
            made.append(
                {"path": name, "post": post, "pooled": pooled, "true": true, "end": path[-1]}
            )
    return made


def periods(seed: int, repeats: int) -> list[Row]:
    """The last month

    Of years of 100 patients a month whose log-odds change in one way. Beside the fit by months
    stands one fit of the whole year.
    """
    rows: list[Row] = []
    for it in years(seed, repeats):
        rows += of_these(it["post"].now(), it["true"], path=it["path"], fit="by months")
        rows += of_these(it["pooled"], it["true"], path=it["path"], fit="one table")
    return means(rows, "path", "number", "fit")


def changes(seed: int, repeats: int) -> list[Row]:
    """Probabilities about changes

    Of the same years: that anything changed, that the change was sudden, and that the last month
    is off by more than 5 points.
    """

    def pairs() -> Iterator[tuple[str, float, bool]]:
        for it in years(seed, repeats):
            share = {str(k): float(v) for k, v in it["post"].explanations.items()}
            constant = next(v for k, v in share.items() if "constant" in k or "no change" in k)
            sudden = next(v for k, v in share.items() if "sudden" in k)
            yield "changed", 1 - constant, it["path"] not in ("no change", "off all along")
            yield "changed suddenly", sudden, "sudden" in it["path"]
            off = 1 - it["post"].now().prob_below(OFF)
            yield "last month off by 0.05", off, it["true"]["tce"] > OFF

    return stated(pairs())


# Clusters

CLUSTERS = ((20, 50, 0.0), (20, 50, 0.05), (100, 10, 0.05), (100, 10, 0.2))


def spread_of(icc: float) -> float:
    """Standard deviation of a random effect that leaves residuals with this correlation."""
    x = np.random.default_rng(0).normal(MEAN, WIDTH, 4000)
    z, w = np.polynomial.hermite_e.hermegauss(21)
    w = w / w.sum()

    def excess(sd: float) -> float:
        risk = expit(x[:, None] + sd * z)
        mean = risk @ w
        between = (risk**2) @ w - mean**2
        return float(np.mean(between) / np.mean(mean * (1 - mean))) - icc

    return brentq(excess, 0, 6) if icc else 0.0


def clusters(seed: int, repeats: int) -> list[Row]:
    """Clusters

    Patients who come several times, or doctors: the residuals of a cluster are correlated (ICC).
    Numbers are those of the population of all clusters, with and without `cluster=`.
    """
    rows: list[Row] = []
    z, w = np.polynomial.hermite_e.hermegauss(41)
    w = w / w.sum()
    for count, size, icc in CLUSTERS:
        sd = spread_of(icc)
        for index in range(repeats):
            rng = np.random.default_rng([seed, 4, count, round(100 * icc), index])
            cluster = np.repeat(np.arange(count), size)
            x = rng.normal(MEAN, WIDTH, cluster.size)
            centre = MEAN + 0.2 + 0.85 * (x - MEAN)
            y = outcomes(expit(centre + sd * rng.standard_normal(count)[cluster]), rng)
            risk, score = expit(centre[:, None] + sd * z) @ w, expit(x)
            told = {"clusters": count, "patients each": size, "ICC": icc}
            for title, more in (("with", {"cluster": cluster}), ("without", {})):
                post = bc.fit(y, score, draws=DRAWS, random_state=index, **more)
                rows += of_these(post, errors(risk, score), given=title, **told)
    return means(rows, "clusters", "patients each", "ICC", "given", "number")


# Imputation

TRUE, MODEL = np.array([-0.6, 0.5, 1.0]), np.array([-0.3, 0.5, 1.5])
CHANCE = np.array([-2.8, 1.0, 2.0])
CORRELATION, CASES = 0.2, 600


def population_of_two() -> dict[str, float]:
    """True numbers of the model of two predictors, by quadrature."""
    both = np.array([[1, CORRELATION], [CORRELATION, 1]])
    variance = MODEL[1:] @ both @ MODEL[1:]
    shared = TRUE[1:] @ both @ MODEL[1:]
    rest = TRUE[1:] @ both @ TRUE[1:] - shared**2 / variance
    at, weight = np.polynomial.hermite_e.hermegauss(101)
    weight = weight / weight.sum()
    x = MODEL[0] + np.sqrt(variance) * at
    risk = expit((TRUE[0] + shared / np.sqrt(variance) * at)[:, None] + np.sqrt(rest) * at) @ weight

    def loss(line: Any) -> float:
        z = line[0] + line[1] * x
        return float(-weight @ (risk * log_expit(z) + (1 - risk) * log_expit(-z)))

    return {
        "O/E": (weight @ risk) / (weight @ expit(x)),
        "TCE": weight @ np.abs(risk - expit(x)),
        "slope": minimize(loss, [0.0, 1.0], tol=1e-12).x[1],
    }


def completed(y: Any, x1: Any, x2: Any, missing: Any, rng: Any, m: int) -> np.ndarray:
    """The second predictor, m times: the regression's parameters are drawn, then the values."""
    design = np.column_stack([np.ones(y.size), x1, y, x1 * y])
    known = design[~missing]
    root = np.linalg.inv(known.T @ known)
    fitted = root @ known.T @ x2[~missing]
    rest = x2[~missing] - known @ fitted
    values = np.tile(x2, (m, 1))
    for row in values:
        variance = rest @ rest / rng.chisquare(rest.size - fitted.size)
        drawn = rng.multivariate_normal(fitted, variance * root)
        noise = np.sqrt(variance) * rng.standard_normal(missing.sum())
        row[missing] = design[missing] @ drawn + noise
    return values


def imputation(seed: int, repeats: int) -> list[Row]:
    """A predictor that is missing

    In a fifth of 600 patients, more often where the event happened. Numbers are those of all
    patients. With several imputations the intervals should be wider than with one, and hold.
    """
    true, rows = population_of_two(), []
    names = {"O/E": "observed_expected", "TCE": "tce", "slope": "calibration_slope"}
    for index in range(repeats):
        rng = np.random.default_rng([seed, 5, index])
        x1 = rng.standard_normal(CASES)
        x2 = CORRELATION * x1 + np.sqrt(1 - CORRELATION**2) * rng.standard_normal(CASES)
        y = outcomes(expit(TRUE @ [np.ones(CASES), x1, x2]), rng)
        missing = rng.random(CASES) < expit(CHANCE @ [np.ones(CASES), x1, y])

        def score(values: np.ndarray, x1: np.ndarray = x1) -> np.ndarray:
            return expit(MODEL[0] + MODEL[1] * x1 + MODEL[2] * values)

        filled = score(completed(y, x1, np.where(missing, 0.0, x2), missing, rng, 10))
        how: dict[str, Any] = {"curve": "beta", "draws": DRAWS, "random_state": index}
        fits = {
            "nothing is missing": bc.fit(y, score(x2), **how),
            "complete cases": bc.fit(y[~missing], score(x2)[~missing], **how),
            "one imputation": bc.fit(y, filled[0], **how),
            "10 imputations": bc.fit(y, imputation=filled, **how),
        }
        for title, post in fits.items():
            for name, value in true.items():
                ends = post.interval(names[name])
                rows.append(judged(ends, value, analysis=title, number=name))
    return means(rows, "analysis", "number")


# Times to an event

TIMES = [
    {"curve": curve, "hazards": hazards, "leaving": leaving}
    for curve in ("line", "wave")
    for hazards, leaving in (
        ("proportional", "whatever the score"),
        ("not proportional", "whatever the score"),
        ("not proportional", "by score"),
    )
]


def risk_by_horizon(curve: str, x: np.ndarray) -> np.ndarray:
    return expit(-0.45 + 0.6 * x) if curve == "line" else expit(x + 0.35 * np.sin(2 * x))


def times(seed: int, repeats: int) -> list[Row]:
    """Times to an event

    The risk by the horizon, for 400 and 1000 patients of whom many leave before it. When events
    come depends on the score through the risk alone (proportional hazards), or in another way too.
    """
    rows: list[Row] = []
    for number, cell in enumerate(TIMES):
        for n in (400, 1000):
            for index in range(repeats):
                rng = np.random.default_rng([seed, 6, number, n, index])
                x = rng.normal(-1.0, 1.1, n)
                z, risk = (x + 1.0) / 1.1, risk_by_horizon(cell["curve"], x)
                power = 1.2 if cell["hazards"] == "proportional" else np.exp(-0.7 * z)
                event = (-rng.exponential(1, n) / np.log1p(-risk)) ** (1 / power)
                by_score = cell["leaving"] == "by score"
                rate = 0.6 * np.exp(0.9 * z) if by_score else 0.7
                left = np.minimum(rng.exponential(1, n) / rate, 2.0)
                outcome = bc.Survival(np.minimum(event, left), event <= left)
                post = bc.fit(outcome, expit(x), horizon=1, draws=400, random_state=index)
                rows += of_these(post, errors(risk, expit(x)), **cell, n=n)
    return means(rows, "curve", "hazards", "leaving", "n", "number")


# One set of draws for several curves

KINDS = ("exact", "near", "some", "off", "outlier", "outlier, rest near", "bend", "wide")


def moved(kind: str, count: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Shift of each hospital in log-odds, and a bend that all of them have."""
    side, rest = rng.choice([-1, 1], count), np.zeros(count)
    size = rng.uniform(0.35, 0.7, count) * side
    shifts = {
        "near": rng.normal(0, 0.06, count),
        "some": np.where(np.arange(count) % 2, size, 0),
        "off": size,
        "outlier": np.where(np.arange(count) == 0, 0.9 * side, 0),
        "outlier, rest near": np.where(
            np.arange(count) == 0, 0.9 * side, rng.normal(0, 0.1, count)
        ),
        "wide": rng.normal(0, 0.5, count),
    }
    return shifts.get(kind, rest), 0.3 if kind == "bend" else 0.0


def one_set(seed: int, repeats: int) -> list[Row]:
    """One set of draws for several curves

    6 to 15 hospitals of 60 to 600 patients: all exactly calibrated, nearly so, half of them off,
    all off, one outlier (the others exact, or nearly so), a bend that lines do not have, or widely
    spread. "These, own" is the error of the patients against the curve of their own hospital,
    "pooled" that of one curve for all. A contradiction is a draw whose mean error is larger than
    its calibration error.
    """
    rows: list[Row] = []
    for kind in KINDS:
        for index in range(repeats):
            rng = np.random.default_rng([seed, 7, KINDS.index(kind), index])
            count = int(rng.integers(6, 16))
            site = np.repeat(np.arange(count), np.exp(rng.uniform(4.1, 6.4, count)).astype(int))
            shift, bend = moved(kind, count, rng)
            x = rng.normal(MEAN, WIDTH, site.size)
            risk = expit(x + shift[site] + bend * (((x - MEAN) / WIDTH) ** 2 - 1))
            labels = np.array([f"{k:02}" for k in range(count)])[site]
            data, score = bc.CalibrationData(outcomes(risk, rng), expit(x), site=labels), expit(x)
            options: dict[str, Any] = {"engine": "importance", "draws": DRAWS}
            post = bc.fit(data, vary="site", curve="logistic", random_state=index, **options)
            for k, label in enumerate(post.labels):
                true, view = errors(risk[site == k], score[site == k]), post.at(site=label)
                below = np.abs(view.values_of("signed_error")) > view.values_of("tce") + 1e-12
                for name in ("tce", "observed_expected"):
                    ends = view.interval(name, population="sample")
                    told = judged(near_zero(ends, true[name]), true[name], what=f"site {name}")
                    rows.append(told | {"kind": kind, "contradictions": below.mean()})
            own = np.abs(risk - score).mean()
            ends = post.own().interval("tce", population="sample")
            rows.append(judged(near_zero(ends, own), own, what="these, own", kind=kind))
            at = pooled_error(risk, score)
            ends = post.at().interval("tce", population="sample")
            rows.append(judged(near_zero(ends, at), at, what="these, pooled", kind=kind))
    return means(rows, "what", "kind")


def near_zero(ends: tuple[float, float], true: float) -> tuple[float, float]:
    """The interval; one of an error of 0 holds it if it begins at .003 or below."""
    lower, upper = ends
    return (0.0 if true == 0 and lower <= 0.003 else lower), upper


def pooled_error(risk: np.ndarray, score: np.ndarray) -> float:
    """Error of the mean risk at each score, in forty ranges of scores with as many patients."""
    parts = np.array_split(np.argsort(score), 40)
    return sum(abs((risk - score)[part].sum()) for part in parts) / score.size


def odd_cells(seed: int, repeats: int) -> list[Row]:
    """An odd cell

    3000 patients in 2 x 2 x 3 cells, of which one of 60 to 150 patients is off by .9 in log-odds,
    or none is. "Named" is the share of cells, or of sets, whose probability of being unlike the
    others is above .75.
    """
    rows: list[Row] = []
    for kind in ("one odd cell", "none"):
        for index in range(repeats):
            rng = np.random.default_rng([seed, 8, kind == "none", index])
            odd, small = rng.integers(12), int(rng.integers(60, 151))
            others = rng.choice(np.delete(np.arange(12), odd), 3000 - small)
            cell = np.concatenate([np.full(small, odd), others])
            x = rng.normal(MEAN, WIDTH, cell.size)
            off = (kind != "none") * 0.9 * rng.choice([-1, 1])
            risk, score = expit(x + off * (cell == odd)), expit(x)
            codes = np.unravel_index(cell, (2, 2, 3))
            factors = {f"factor {k}": code for k, code in enumerate(codes, 1)}
            data = bc.CalibrationData(outcomes(risk, rng), score, subgroup=factors)
            vary = [*factors, bc.by(*factors)]
            options: dict[str, Any] = {"engine": "importance", "draws": DRAWS}
            post = bc.fit(data, vary=vary, curve="logistic", random_state=index, **options)
            named = post.unlike()
            for part in post.parts(list(factors)):
                levels = [int(part.levels[name]) for name in factors]
                here = np.ravel_multi_index(levels, (2, 2, 3))
                true = errors(risk[cell == here], score[cell == here])["observed_expected"]
                ends = post.at(part.levels).interval("observed_expected", population="sample")
                what = "the odd cell" if off and here == odd else "the others"
                told = judged(ends, true, cells=what, kind=kind)
                rows.append(told | {"named": float(part.level in named)})
            share = {"cells": "any", "kind": kind, "named": float(bool(named))}
            rows.append(dict.fromkeys(("coverage", "width", "score"), np.nan) | share)
    return means(rows, "kind", "cells")


PARTS = {
    sites: 15,
    subgroups: 15,
    periods: 30,
    changes: 30,
    clusters: 30,
    imputation: 60,
    times: 30,
    one_set: 10,
    odd_cells: 20,
}


def main(arguments: Any = None) -> None:
    run("structured", ASKED, PARTS, 57_002, arguments)


if __name__ == "__main__":
    main()
