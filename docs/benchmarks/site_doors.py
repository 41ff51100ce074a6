"""What is said of several sites at once, held against known curves: `site_doors.py [--runs N]`.

Data sets of ten sites with 40 to 300 patients each are drawn from known curves. Four doors are
asked about each: the gain of a recalibration by site (`recalibration_gain` with groups), which
update to make (`recommend`), what a model will meet at a site that it was not developed on
(`optimism` with groups), and how far two models differ (`compare_models`). Runs are kept beside
the results as they are made; doors that are not asked keep their stored result.

With a given spread all data sets are of one population. `recommend` is also asked about data sets
each of which has a population of its own: stated probabilities can be true on average over such
populations alone.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri
from sklearn.linear_model import LogisticRegression

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).with_name("results")
SITES, NEW_SITES, DRAWS = 10, 200, 1000
SPREADS = (0.0, 0.15, 0.3)
ANY = "any"
"""In place of a spread: each data set has an average and spreads of its own, drawn at random."""
MEAN, WIDTH = -1.3, 1.2
AVERAGE = np.array([0.25, -0.25])
SLOPE_SHARE, THRESHOLD = 0.5, 0.2
NODES = expit(MEAN + WIDTH * ndtri((np.arange(2000) + 0.5) / 2000))
WEIGHTS = np.full(NODES.size, 1 / NODES.size)
"""Scores of a patient, and how probable each is, in every site."""

Run = dict[str, Any]


def curve(at: np.ndarray, score: np.ndarray) -> np.ndarray:
    """True curves of shift and log slope, of shape (sites, scores)."""
    x = logit(score) - MEAN
    return expit(MEAN + at[:, :1] + np.exp(at[:, 1:]) * x)


def population(spread: float | str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Shift and log slope of the average site, and their standard deviations between sites."""
    if spread != ANY:
        return AVERAGE, float(spread) * np.array([1, SLOPE_SHARE])
    rng = np.random.default_rng([seed, 31])
    average = rng.standard_t(5, 2) * [0.35, 0.2]
    return average, np.abs(rng.standard_normal(2)) * [0.35, 0.18]


def drawn(spread: float | str, seed: int) -> tuple[np.ndarray, ...]:
    """Coordinates of the sites and of new ones; outcome, score and site of each patient."""
    average, between = population(spread, seed)
    rng = np.random.default_rng([seed, 100 if spread == ANY else round(100 * float(spread))])
    at, new_at = (average + between * rng.standard_normal((size, 2)) for size in (SITES, NEW_SITES))
    sizes = np.exp(rng.uniform(np.log(40), np.log(300), SITES)).astype(int)
    site = np.repeat(np.arange(SITES), sizes)
    score = expit(rng.normal(MEAN, WIDTH, site.size))
    risk = np.take_along_axis(curve(at, score), site[None], axis=0)[0]
    return at, new_at, (rng.random(site.size) < risk).astype(int), score, site


def recalibrated(score: np.ndarray) -> np.ndarray:
    """The map: that of the average site."""
    return curve(AVERAGE[None], score)[0]


def gains(eta: np.ndarray, after: np.ndarray) -> dict[str, np.ndarray]:
    """True gains of a map with values `after` at the nodes, for curves of shape (curves, nodes)."""
    change = (after >= THRESHOLD).astype(float) - (NODES >= THRESHOLD)
    worth = eta - (1 - eta) * THRESHOLD / (1 - THRESHOLD)
    return {
        "brier": ((eta - NODES) ** 2 - (eta - after) ** 2) @ WEIGHTS,
        "tce": (np.abs(eta - NODES) - np.abs(eta - after)) @ WEIGHTS,
        f"net_benefit@{THRESHOLD:g}": (worth * change) @ WEIGHTS,
    }


def true_curves(
    at: np.ndarray, new_at: np.ndarray, site: np.ndarray, average: np.ndarray = AVERAGE
) -> dict[str, np.ndarray]:
    """True curves at the nodes of every population, of shape (curves, nodes)."""
    each = curve(at, NODES)
    share = np.bincount(site) / site.size
    return {
        "sites": each,
        "all": share[None] @ each,
        "average": curve(average[None], NODES),
        "new": curve(new_at, NODES),
    }


def covered(ends: tuple[float, float], truth: np.ndarray) -> float:
    """Share of true values in an interval."""
    slack = 1e-12
    return float(np.mean((ends[0] - slack <= truth) & (truth <= ends[1] + slack)))


def of_gain(spread: float, seed: int) -> Run:
    """Coverage of gains, and whether stated probabilities of improvement come true."""
    at, new_at, outcome, score, site = drawn(spread, seed)
    answer: Any = bc.recalibration_gain(
        outcome,
        score,
        recalibrated,
        groups=[f"{k:02}" for k in site],
        thresholds=[THRESHOLD],
        draws=DRAWS,
        random_state=seed,
    )
    truth = {
        name: gains(eta, recalibrated(NODES)) for name, eta in true_curves(at, new_at, site).items()
    }
    row: Run = {}
    for measure in truth["all"]:
        asked = {"all": answer, "average": answer.average(), "new": answer.new()}
        for name, gain in asked.items():
            row[f"{name}.{measure}"] = covered(gain.interval(measure), truth[name][measure])
        each = [
            covered(answer.at(site=label).interval(measure), truth["sites"][measure][k])
            for k, label in enumerate(answer.before.labels)
        ]
        row[f"sites.{measure}"] = float(np.mean(each))
    of_sites = truth["sites"]["brier"] > 0
    stated = [answer.at(site=label).prob_improved for label in answer.before.labels]
    row["stated"] = [[float(p), float(t)] for p, t in zip(stated, of_sites, strict=True)]
    row["stated_new"] = [answer.new().prob_improved, float(np.mean(truth["new"]["brier"] > 0))]
    return row


def of_recommend(spread: float | str, seed: int) -> Run:
    """How often the update that is recommended, or the likeliest, truly helps."""
    at, new_at, outcome, score, site = drawn(spread, seed)
    labels = [f"{k:02}" for k in site]
    advice: Any = bc.recommend(outcome, score, groups=labels, draws=DRAWS, random_state=seed)
    problem, u = advice.comparison.of_family(advice.asked)
    after = problem.curves_at(NODES).probability(u).mean(axis=0)
    truth = true_curves(at, new_at, site, population(spread, seed)[0])
    helps = {name: gains(eta, after)["brier"] > 0 for name, eta in truth.items()}
    told = advice.by_curve()["prob_better"].to_numpy()
    stated = dict(zip(("all", "average", "new"), told[:3], strict=True))
    row: Run = {"chosen": advice.choice or ""}
    row |= {name: [float(p), float(np.mean(helps[name]))] for name, p in stated.items()}
    row["sites"] = [[float(p), float(t)] for p, t in zip(told[3:], helps["sites"], strict=True)]
    return row


FEATURES, EFFECTS = 6, np.array([0.9, 0.6, 0.4, 0.0, 0.0, 0.0])
MEASURED = ("observed_expected", "calibration_slope", "tce")


def of_optimism(spread: float, seed: int) -> Run:
    """Whether intervals contain what the model meets at 40 new sites, and on average."""
    rng = np.random.default_rng([seed, round(100 * spread), 7])
    sizes = np.exp(rng.uniform(np.log(40), np.log(300), SITES)).astype(int)
    site = np.repeat(np.arange(SITES), sizes)
    X = rng.normal(size=(site.size, FEATURES))
    shift = spread * rng.standard_normal(SITES)
    slope = np.exp(SLOPE_SHARE * spread * rng.standard_normal(SITES))
    risk = expit(-1.2 + shift[site] + slope[site] * (X @ EFFECTS))
    outcome = (rng.random(site.size) < risk).astype(int)
    model = LogisticRegression(C=np.inf, max_iter=1000)
    answer = bc.optimism(
        model, X, outcome, groups=[f"{k:02}" for k in site], n_resamples=0, draws=DRAWS,
        random_state=seed,
    )  # fmt: skip
    model.fit(X, outcome)
    there = rng.normal(size=(20_000, FEATURES))
    score = model.predict_proba(there)[:, 1]
    new_shift = spread * rng.standard_normal(40)
    new_slope = np.exp(SLOPE_SHARE * spread * rng.standard_normal(40))
    places = {"new": (new_shift, new_slope), "average": (np.zeros(1), np.ones(1))}
    views = {"new": answer.posterior, "average": answer.by_group.average()}
    row: Run = {}
    for name, (shifts, slopes) in places.items():
        truths = [
            measures(expit(-1.2 + a + b * (there @ EFFECTS)), score)
            for a, b in zip(shifts, slopes, strict=True)
        ]
        for measure in MEASURED:
            ends = views[name].interval(measure)
            values = np.array([truth[measure] for truth in truths])
            row[f"{name}.{measure}"] = covered(ends, values)
    return row


def measures(risk: np.ndarray, score: np.ndarray) -> dict[str, float]:
    """True measures of a score where the risk of each patient is known."""
    x = logit(score)
    design = np.stack([np.ones(x.size), x])
    line = np.array([0.0, 1.0])
    for _ in range(30):
        fitted = expit(line @ design)
        step = np.linalg.solve(
            (design * fitted * (1 - fitted)) @ design.T, design @ (risk - fitted)
        )
        line = line + step
    return {
        "observed_expected": float(risk.mean() / score.mean()),
        "calibration_slope": float(line[1]),
        "tce": float(np.abs(expit(line @ design) - score).mean()),
    }


def two_scores(x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """An old model, too high and too extreme, and a new one that sees the patients less well."""
    return expit(0.3 + 1.2 * x), expit(-0.1 + 0.8 * (x + 0.5 * rng.standard_normal(x.size)))


def of_compare(spread: float, seed: int) -> Run:
    """Whether intervals contain the true differences of two models, and how long they are."""
    rng = np.random.default_rng([seed, round(100 * spread), 9])
    sizes = np.exp(rng.uniform(np.log(40), np.log(300), SITES)).astype(int)
    site = np.repeat(np.arange(SITES), sizes)
    x = rng.normal(MEAN, WIDTH, site.size)
    at, new_at = (
        spread * rng.standard_normal((size, 2)) * [1, SLOPE_SHARE] for size in (SITES, 40)
    )
    risk = expit(MEAN + at[site, 0] + np.exp(at[site, 1]) * (x - MEAN))
    outcome = (rng.random(site.size) < risk).astype(int)
    old, new = two_scores(x, rng)
    answer = bc.compare_models(
        outcome,
        {"old": old, "new": new},
        groups=[f"{k:02}" for k in site],
        draws=DRAWS,
        random_state=seed,
    )
    there = rng.normal(MEAN, WIDTH, 20_000)
    scores = two_scores(there, rng)

    def differences(shift: np.ndarray) -> dict[str, np.ndarray]:
        """True differences for sites with these coordinates."""
        each = []
        for a, b in shift:
            own = expit(MEAN + a + np.exp(b) * (there - MEAN))
            first, second = (with_brier(own, score) for score in scores)
            each.append([second[name] - first[name] for name in (*MEASURED, "brier")])
        return dict(zip((*MEASURED, "brier"), np.array(each).T, strict=True))

    truths = {"average": differences(np.zeros((1, 2))), "new": differences(new_at)}
    views = {"average": answer.average(), "new": answer.new()}
    labels = answer.labels[:4]
    of_sites = differences(at[:4])
    row: Run = {}
    for measure in (*MEASURED, "brier"):
        for name, view in views.items():
            ends, length = of_pair(view, measure)
            row[f"{name}.{measure}"] = covered(ends, truths[name][measure])
            row[f"{name}.{measure}.length"] = length
        told = [of_pair(answer.at(label), measure) for label in labels]
        inside = [covered(told[k][0], of_sites[measure][k]) for k in range(len(labels))]
        row[f"sites.{measure}"] = float(np.mean(inside))
        row[f"sites.{measure}.length"] = float(np.mean([length for _, length in told]))
    return row


def of_pair(view: Any, measure: str) -> tuple[tuple[float, float], float]:
    """Interval of a difference, and its length for one of unrelated draws."""
    drawn = view.draws(measure)
    ends = np.quantile(drawn["new"] - drawn["old"], [0.025, 0.975])
    apart = np.random.default_rng(0).permutation(drawn["new"]) - drawn["old"]
    alone = np.diff(np.quantile(apart, [0.025, 0.975]))[0]
    return (float(ends[0]), float(ends[1])), float((ends[1] - ends[0]) / alone)


def with_brier(risk: np.ndarray, score: np.ndarray) -> dict[str, float]:
    """True measures, and the Brier score."""
    return measures(risk, score) | {"brier": float(np.mean(risk * (1 - 2 * score) + score**2))}


DOORS: dict[str, Callable[[Any, int], Run]] = {
    "gain": of_gain,
    "recommend": of_recommend,
    "optimism": of_optimism,
    "compare": of_compare,
}


def in_bins(pairs: list[list[float]]) -> list[list[float]]:
    """Of stated probabilities in four bins: number, mean, and share that came true."""
    stated, true = np.array(pairs).T
    of = np.digitize(stated, [0.5, 0.75, 0.95])
    return [
        [int((of == k).sum()), float(stated[of == k].mean()), float(true[of == k].mean())]
        for k in range(4)
        if (of == k).any()
    ]


def summarised(runs: list[Run]) -> dict[str, Any]:
    """Means of shares; stated probabilities in bins."""
    cell: dict[str, Any] = {"runs": len(runs)}
    for name, first in runs[0].items():
        values = [run[name] for run in runs]
        if isinstance(first, str):
            cell[name] = {each: values.count(each) for each in sorted(set(values))}
        elif isinstance(first, list):
            pairs = values if not isinstance(first[0], list) else [p for run in values for p in run]
            cell[name] = in_bins(pairs)
        else:
            cell[name] = round(float(np.mean(values)), 4)
    return cell


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--doors", nargs="*", choices=DOORS, default=list(DOORS))
    options = parser.parse_args()
    kept = Rows("site_doors")
    warnings.simplefilter("ignore")
    result = RESULTS / "site_doors.json"
    cells: dict[str, dict[str, Any]] = {}
    for door in options.doors:
        cells[door] = {}
        for spread in (*SPREADS, ANY):
            if spread != ANY or door == "recommend":
                name = spread if isinstance(spread, str) else f"{spread:g}"
                runs = kept.of(f"{door}, {name}", options.runs, partial(DOORS[door], spread))
                cells[door][name] = summarised(runs)
    versions = library_versions("bayescal", "numpy", "scipy", "scikit-learn")
    record = {"versions": versions, "sites": SITES, "doors": cells}
    result.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
