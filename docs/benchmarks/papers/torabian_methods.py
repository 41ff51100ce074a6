"""Table 3 of Torabian & Urner: four calibrators, each on the same splits of the same data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import datasets
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from torabian_theory import zero_one_loss

import bayescal as bc
from bayescal import estimators, recalibrate, scores

Numbers = NDArray[np.float64]

METHODS = ("PS", "IR", "PCT", "DT")
TREES = ("PCT", "DT")
HIGHER = ("AUC", "AUC_V")
METRICS = ("RMSE", "0/1 loss", "AUC", "ECE", "PDE", "AUC_V")
N_BINS, N_NEIGHBORS = 32, 10
TRAINING, CALIBRATION = 0.405, 0.9
"""Where the training part and the calibration part of a permutation end."""
POOL = 20_000
"""Cases for the true calibration error, where the probabilities are known."""
RULES = ("exact", "two decimals", "one sd")


class Law(NamedTuple):
    """Generated data with a known probability of the event."""

    n_features: int
    eta: Callable[[Numbers], Numbers]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Numbers, Numbers, Numbers]:
        """Features, outcomes and probabilities."""
        x = rng.uniform(-1, 1, (n, self.n_features))
        eta = self.eta(x)
        return x, (rng.random(n) < eta).astype(float), eta


def _simple(x: Numbers) -> Numbers:
    return expit(3 * x[:, 0] - 2 * x[:, 1] + x[:, 2])


def _complex(x: Numbers) -> Numbers:
    waves = 1.5 * np.sin(4 * x[:, 0]) + 2 * x[:, 1] * x[:, 2] + np.cos(5 * x[:, 3])
    return expit(waves + 2 * np.sign(x[:, 4]) * x[:, 5] - x[:, 6] ** 2)


LAWS = {"simple law": Law(5, _simple), "complex law": Law(10, _complex)}
"""Ours: the paper generates a simpler and a more complex data set and describes neither."""


def _drawn(law: Law) -> tuple[Numbers, Numbers]:
    return law.draw(2000, np.random.default_rng(0))[:2]


REAL = {
    "breast cancer": datasets.load_breast_cancer,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "digits": datasets.load_digits,
}
GENERATED: dict[str, Callable[[], tuple[Numbers, Numbers]]] = {
    "moons": lambda: datasets.make_moons(2000, noise=0.3, random_state=0),
    "circles": lambda: datasets.make_circles(2000, noise=0.2, factor=0.5, random_state=0),
    "hastie": lambda: datasets.make_hastie_10_2(2000, random_state=0),
    "quantiles": lambda: datasets.make_gaussian_quantiles(
        n_samples=1500, n_features=4, n_classes=3, random_state=0
    ),
    "separated": lambda: datasets.make_classification(
        2000, 20, n_informative=6, class_sep=2, random_state=0
    ),
    "noisy": lambda: datasets.make_classification(
        2000, 20, n_informative=6, flip_y=0.3, random_state=0
    ),
    **{name: partial(_drawn, law) for name, law in LAWS.items()},
}
NAMES = (*REAL, *GENERATED)


@cache
def data_of(name: str) -> tuple[Numbers, NDArray[Any]]:
    """Features and labels."""
    x, y = REAL[name](return_X_y=True) if name in REAL else GENERATED[name]()
    return x, y


def problems(y: NDArray[Any]) -> Iterable[NDArray[np.float64]]:
    """Outcomes of each class against the rest; of two classes, of the greater alone."""
    classes = np.unique(y)
    for label in classes[1:] if classes.size == 2 else classes:
        yield (y == label).astype(float)


def platt(proba: Numbers, y: Numbers) -> recalibrate.LogisticRecalibrator:
    """Platt's scaling with Platt's targets, which exist where the scores separate the outcomes."""
    events, others = y.sum(), (1 - y).sum()
    target = np.where(y == 1, (events + 1) / (events + 2), 1 / (others + 2))
    twice, outcome = np.tile(proba, 2), np.repeat([1, 0], y.size)
    weight = np.concatenate([target, 1 - target])
    return recalibrate.LogisticRecalibrator().fit(twice, outcome, weight)


class Calibrated:
    """An SVM with a Gaussian kernel on the training part, and the four on the calibration part."""

    def __init__(self, x: Numbers, y: Numbers, x_fit: Numbers, y_fit: Numbers) -> None:
        self.scaler = StandardScaler().fit(x)
        self.svm = SVC(cache_size=1000).fit(self.scaler.transform(x), y)
        base = self.base(x_fit)
        self.fitted: dict[str, Any] = {
            "PS": platt(base, y_fit),
            "IR": recalibrate.IsotonicRecalibrator().fit(base, y_fit),
            "PCT": recalibrate.ProbabilityCalibrationTreeRecalibrator().fit(
                base, y_fit, features=x_fit
            ),
            "DT": recalibrate.DecisionTreeRecalibrator().fit(base, y_fit, features=x_fit),
        }

    def base(self, x: Numbers) -> Numbers:
        """The SVM's decision value as a probability, whose log-odds it is."""
        return expit(self.svm.decision_function(self.scaler.transform(x)))

    def predict(self, x: Numbers) -> dict[str, Numbers]:
        """Probabilities by each method."""
        base = self.base(x)
        return {
            name: it.transform(base, x) if name in TREES else it.transform(base)
            for name, it in self.fitted.items()
        }

    def leaves(self, name: str, x: Numbers) -> NDArray[np.intp]:
        return self.fitted[name].leaf(self.base(x), x)


def parts(n: int, seed: int) -> list[NDArray[np.intp]]:
    """Training, calibration and test part: 40.5, 49.5 and 10 % of the cases, at random."""
    order = np.random.default_rng(seed).permutation(n)
    return np.split(order, [round(TRAINING * n), round(CALIBRATION * n)])


def metrics_of(y: Numbers, s: Numbers, cells: NDArray[np.intp] | None) -> dict[str, float]:
    """The columns of Table 3, and the number of distinct scores."""
    both = 0 < y.mean() < 1
    result = {
        "RMSE": scores.brier_score(y, s) ** 0.5,
        "0/1 loss": zero_one_loss(y, s),
        "AUC": scores.c_statistic(y, s) if both else np.nan,
        "ECE": estimators.ece(y, s, n_bins=N_BINS, binning="mass"),
        "AUC_V": estimators.auc_v(y, s, n_neighbors=N_NEIGHBORS),
        "levels": np.unique(s).size,
    }
    if cells is not None:
        result["PDE"] = estimators.pde(y, s, cells=cells)
    return result


def true_errors(s: Numbers, eta: Numbers, n_bins: int = 200) -> dict[str, float]:
    """|f - eta| on average, and the calibration error, by narrow bins of a large pool."""
    order = np.argsort(s, kind="stable")
    gaps = [abs(float(np.sum(s[b] - eta[b]))) for b in np.array_split(order, n_bins)]
    return {"true |f - eta|": float(np.mean(np.abs(s - eta))), "true CE": sum(gaps) / s.size}


def one_problem(
    x: Numbers, y: Numbers, seed: int, law: Law | None = None
) -> tuple[dict[str, dict[str, float]], dict[str, Numbers]]:
    """Metrics of each method on one split, and posterior draws of its calibration error."""
    train, calibrate, test = parts(y.size, seed)
    model = Calibrated(x[train], y[train], x[calibrate], y[calibrate])
    predicted, rows, draws = model.predict(x[test]), {}, {}
    edge = 0.5 / calibrate.size  # where a leaf or a step says 0 or 1
    for name, s in predicted.items():
        cells = model.leaves(name, x[test]) if name in TREES else None
        rows[name] = metrics_of(y[test], s, cells)
        post = bc.fit(y[test], s, curve="beta", edge=edge, random_state=seed)
        draws[name] = post.tce().to_numpy().ravel()
        low, high = post.interval("tce")
        rows[name]["TCE"] = float(post.estimate("tce"))
        rows[name] |= {"TCE, lower end": float(low), "TCE, upper end": float(high)}
    if law is not None:
        pool, _, eta = law.draw(POOL, np.random.default_rng(10_000))
        for name, s in model.predict(pool).items():
            rows[name] |= true_errors(s, eta)
    return rows, draws


def best_of(draws: dict[str, Numbers]) -> dict[str, float]:
    """Probability that each method has the least calibration error, of posteriors apart."""
    table = np.column_stack([draws[name] for name in METHODS])
    table = np.random.default_rng(0).permuted(table, axis=0)
    share = np.bincount(table.argmin(axis=1), minlength=len(METHODS)) / len(table)
    return dict(zip(METHODS, share.tolist(), strict=True))


def one_set(name: str, n_repeats: int) -> dict[str, Any]:
    """Mean and sd over repetitions of each method's metrics, themselves averaged over classes."""
    x, y = data_of(name)
    repeats, sure, asked = [], 0, 0
    for seed in range(n_repeats):
        classes = [one_problem(x, outcome, seed, LAWS.get(name)) for outcome in problems(y)]
        repeats.append(
            {
                method: {
                    metric: float(np.nanmean([rows[method][metric] for rows, _ in classes]))
                    for metric in classes[0][0][method]
                }
                for method in METHODS
            }
        )
        certain = [max(best_of(draws).values()) > 0.95 for _, draws in classes]
        sure, asked = sure + sum(certain), asked + len(certain)
    result: dict[str, Any] = {
        "n": y.size, "features": x.shape[1], "classes": np.unique(y).size,
        "sure": sure, "asked": asked, "mean": {}, "sd": {},
    }  # fmt: skip
    for method in METHODS:
        values = {k: [row[method][k] for row in repeats] for k in repeats[0][method]}
        result["mean"][method] = {k: float(np.nanmean(v)) for k, v in values.items()}
        result["sd"][method] = {k: float(np.nanstd(v, ddof=1)) for k, v in values.items()}
    return result


def wins(sets: dict[str, dict[str, Any]], metric: str, rule: str) -> dict[str, int]:
    """How often each method is the best on average, with ties by a rule."""
    result = dict.fromkeys(METHODS, 0)
    sign = -1 if metric in HIGHER else 1
    for it in sets.values():
        value = {m: sign * it["mean"][m][metric] for m in METHODS if metric in it["mean"][m]}
        if rule == "two decimals":
            value = {m: round(v, 2) for m, v in value.items()}
        best = min(value, key=value.__getitem__)
        margin = it["sd"][best][metric] if rule == "one sd" else 1e-12
        for method, v in value.items():
            result[method] += v <= value[best] + margin
    return result


def table_3(names: Iterable[str], n_repeats: int) -> dict[str, Any]:
    """Every data set, and who wins by each rule of ties."""
    sets = {name: one_set(name, n_repeats) for name in names}
    columns = (*METRICS, "TCE")
    return {
        "n_repeats": n_repeats,
        "sets": sets,
        "wins": {rule: {c: wins(sets, c, rule) for c in columns} for rule in RULES},
    }
