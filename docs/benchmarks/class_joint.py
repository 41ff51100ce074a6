"""One joint curve of all classes, or a curve for each? `python docs/benchmarks/class_joint.py`.

ResNet110 on CIFAR-10. The 10000 test cases are split in halves at random, and maps are fitted to
500 to 5000 cases of the first half. The other half judges them by the log loss and the Brier score
of all classes, and by the squared error of the number of cases of each class.

- temperature: one slope for all classes.
- class-wise: `bc.fit(labels, matrix, mode="class-wise")`, the mean curve of each class, rows scaled
  to a sum of 1.
- joint: softmax(log p + W log p + b), the map of Dirichlet calibration (Kull et al., 2019), with
  W and b Normal(0, sd^2): a prior that is centred on the identity. It is fitted at the mode, and sd
  is chosen by the evidence (Laplace).
- class-wise, and joint, after temperature: the same, of probabilities to which the temperature was
  applied before.

Beside it, the time of a class-wise fit of 100 classes, on data that are simulated as those of
Gruber & Buettner (NeurIPS 2022). Results are kept in `results/class_joint.json`.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax

import bayescal as bc
from bayescal._base.versions import library_versions
from classes import HERE, cases

RESULTS = HERE / "results" / "class_joint.json"
SIZES, SPLITS, DRAWS = (500, 1000, 2000, 5000), 10, 1000
SCALES = (0.003, 0.01, 0.03, 0.1, 0.3)
LEAST = 1e-12
CLASSES, N = 100, 10_000


class Joint:
    """The joint map at the mode of its posterior, with the scale of the prior of most evidence."""

    def __init__(self, proba: np.ndarray, label: np.ndarray) -> None:
        fits = [self._fitted(proba, label, sd) for sd in SCALES]
        self.evidence, self.sd, self.weights = max(fits, key=lambda fit: fit[0])

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        return softmax(joint_logits(self.weights, proba), axis=1)

    @staticmethod
    def _fitted(proba: np.ndarray, label: np.ndarray, sd: float) -> tuple[float, float, np.ndarray]:
        """Log evidence up to a constant, the scale, and the mode."""
        n, k = proba.shape
        features, hot = features_of(proba), np.eye(k)[label]

        def cost(flat: np.ndarray) -> tuple[float, np.ndarray]:
            weights = flat.reshape(k + 1, k)
            logits = joint_logits(weights, proba)
            residual = softmax(logits, axis=1) - hot
            value = float((logsumexp(logits, axis=1) - logits[np.arange(n), label]).sum())
            return value + flat @ flat / (2 * sd**2), (
                features.T @ residual + weights / sd**2
            ).ravel()

        mode = minimize(cost, np.zeros((k + 1) * k), jac=True, method="L-BFGS-B")
        weights = mode.x.reshape(k + 1, k)
        q = softmax(joint_logits(weights, proba), axis=1)
        hessian = np.empty((k + 1, k, k + 1, k))
        for a in range(k):
            for b in range(k):
                curvature = q[:, a] * ((a == b) - q[:, b])
                hessian[:, a, :, b] = features.T @ (curvature[:, None] * features)
        size = (k + 1) * k
        determinant = np.linalg.slogdet(hessian.reshape(size, size) * sd**2 + np.eye(size))[1]
        return -float(mode.fun) - determinant / 2, sd, weights


def features_of(proba: np.ndarray) -> np.ndarray:
    """Log probabilities and a one."""
    return np.column_stack([np.log(np.clip(proba, LEAST, 1)), np.ones(len(proba))])


def joint_logits(weights: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Log probabilities, moved."""
    features = features_of(proba)
    return features[:, :-1] + features @ weights


def tempered(proba: np.ndarray, label: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Temperature scaling at the maximum of the likelihood."""
    log_p = features_of(proba)[:, :-1]
    at = np.arange(label.size)

    def cost(log_slope: np.ndarray) -> float:
        return -float(log_softmax(np.exp(log_slope) * log_p, axis=1)[at, label].sum())

    slope = np.exp(minimize(cost, np.zeros(1)).x)
    return softmax(slope * features_of(new)[:, :-1], axis=1)


def class_wise(proba: np.ndarray, label: np.ndarray, new: np.ndarray, seed: int) -> np.ndarray:
    """The mean curve of each class, of one hierarchical fit, rows scaled to a sum of 1."""
    table = bc.CalibrationData.from_multiclass(
        label, proba, "class-wise", classes=range(proba.shape[1])
    )
    post = bc.fit(table, curve="logistic", draws=DRAWS, engine="importance", random_state=seed)
    columns = [
        post.site(str(k)).predict(new[:, k]).mean(("chain", "draw")).to_numpy()
        for k in range(proba.shape[1])
    ]
    mapped = np.column_stack(columns)
    return mapped / mapped.sum(axis=1, keepdims=True)


def judged(proba: np.ndarray, label: np.ndarray) -> dict[str, float]:
    """How good predictions are on cases that were not seen."""
    hot = np.eye(proba.shape[1])[label]
    share = np.clip(proba[np.arange(label.size), label], LEAST, 1)
    return {
        "log_loss": float(-np.log(share).mean()),
        "brier": float(((proba - hot) ** 2).sum(axis=1).mean()),
        "counts": float(np.mean((hot.sum(axis=0) / proba.sum(axis=0) - 1) ** 2)),
    }


def one_split(n: int, seed: int) -> dict[str, dict[str, float]]:
    """All maps, fitted to n cases and judged by the other half."""
    proba, label = cases()
    order = np.random.default_rng([seed, n]).permutation(label.size)
    seen, held_out = order[:n], order[label.size // 2 :]
    old, y, new = proba[seen], label[seen], proba[held_out]
    joint = Joint(old, y)
    cooled, cooled_new = tempered(old, y, old), tempered(old, y, new)
    second = Joint(cooled, y)
    maps = {
        "none": new,
        "temperature": cooled_new,
        "class-wise": class_wise(old, y, new, seed),
        "class-wise after temperature": class_wise(cooled, y, cooled_new, seed),
        "joint": joint(new),
        "joint after temperature": second(cooled_new),
    }
    told = {name: judged(mapped, label[held_out]) for name, mapped in maps.items()}
    return told


def seconds_of_many() -> dict[str, float]:
    """Time of the processor and of the clock for a class-wise fit of 100 classes."""
    rng = np.random.default_rng(1)
    true = softmax(rng.normal(0, 1.5, (N, CLASSES)), axis=1)
    label = (true.cumsum(axis=1) > rng.random((N, 1))).argmax(axis=1)
    proba = softmax(1.3 * np.log(true), axis=1)
    clock, processor = time.perf_counter(), time.process_time()
    bc.fit(label, proba, mode="class-wise", curve="logistic", draws=DRAWS, random_state=1)
    return {
        "classes": CLASSES,
        "n": N,
        "draws": DRAWS,
        "processor": time.process_time() - processor,
        "clock": time.perf_counter() - clock,
    }


def main() -> None:
    """Run all sizes, storing each when it is done."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=SPLITS)
    splits = parser.parse_args().splits
    stored: dict[str, Any] = {
        "time": seconds_of_many(),
        "versions": library_versions("bayescal", "numpy", "scipy"),
    }
    sizes: dict[str, Any] = {}
    for n in SIZES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = [one_split(n, seed) for seed in range(splits)]
        table = {
            name: {key: float(np.mean([row[name][key] for row in rows])) for key in rows[0][name]}
            for name in rows[0]
        }
        better = {
            after: float(
                np.mean(
                    [
                        row[f"joint{after}"]["log_loss"] < row[f"class-wise{after}"]["log_loss"]
                        for row in rows
                    ]
                )
            )
            for after in ("", " after temperature")
        }
        sizes[str(n)] = {"splits": splits, "maps": table, "better": better}
        RESULTS.write_text(json.dumps(stored | {"sizes": sizes}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
