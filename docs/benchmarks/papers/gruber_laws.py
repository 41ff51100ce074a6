"""Theorem 3.1, Propositions 3.2, D.2 and E.2 and Appendices E and F of Gruber & Buettner.

A law has groups of cases; each group has a size, one prediction and the true probabilities of the
classes. Errors of laws are exact: estimators are given each case of a law as often as it happens.
A computation refutes a statement about all laws or fails to; it does not prove it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal import estimators, scores

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
TINY = 1e-9
SCORES = ("brier", "log", "spherical")


def cases(truth: Floats, proba: Floats, size: Floats) -> tuple[Integers, Floats, Floats]:
    """Labels, predictions and weights of a law: each group once for every class it can have."""
    groups, classes = truth.shape
    weight = (truth * size[:, None]).ravel()
    kept = weight > 0
    label = np.tile(np.arange(classes), groups)[kept]
    return label, np.repeat(proba, classes, axis=0)[kept], weight[kept]


def ks_literal(label: Integers, proba: Floats, weight: Floats) -> float:
    """Definition C.2 as printed: of each class among all cases, averaged over predicted classes."""
    best = proba.argmax(axis=1)
    shares = np.bincount(best, weight, minlength=proba.shape[1]) / weight.sum()
    return float(
        sum(
            share * estimators.ks_error(label == k, proba[:, k], sample_weight=weight)
            for k, share in enumerate(shares)
            if share > 0
        )
    )


def ks_of_the_proof(truth: Floats, proba: Floats, size: Floats) -> float:
    """By predicted class, with accuracies of all classes together at each largest probability."""
    best, top = proba.argmax(axis=1), proba.max(axis=1)
    right = truth[np.arange(best.size), best]
    each, which = np.unique(top, return_inverse=True)
    accuracy = np.bincount(which, size * right) / np.bincount(which, size)
    total = 0.0
    for c in np.unique(best):
        gap = np.where(best == c, size * (top - accuracy[which]), 0)
        total += float(np.abs(np.cumsum(np.bincount(which, gap, minlength=each.size))).max())
    return total / float(size.sum())


def errors(truth: Floats, proba: Floats, size: Floats) -> dict[str, float]:
    """The calibration errors of Theorem 3.1, of a law."""
    label, each, weight = cases(truth, proba, size)
    best = each.argmax(axis=1)
    top = (best == label, each.max(axis=1))
    law = {"truth": truth, "y_prob": proba, "sample_weight": size}
    return {
        "CE_2": scores.canonical_calibration_error(p=2, **law),
        "CWCE_2": scores.class_wise_calibration_error(p=2, **law),
        "TCE_2": scores.top_label_calibration_error(p=2, **law),
        "TCE_1": scores.top_label_calibration_error(p=1, **law),
        "ECE": float(estimators.ece(*top, sample_weight=weight)),
        "KS": float(estimators.ks_error(*top, sample_weight=weight)),
        "KS by class": float(estimators.ks_error(*top, cells=best, sample_weight=weight)),
        "KS as printed": ks_literal(label, each, weight),
        "KS of the proof": ks_of_the_proof(truth, proba, size),
    }


def proposition_3_2(alpha: float = 0.51) -> list[dict[str, float]]:
    """CE_2 of the law of its proof, by number of classes, and the largest of the other errors."""
    rows = []
    for classes in (3, 5, 10, 100):
        proba = np.full((classes, classes), (1 - alpha) / (classes - 1))
        np.fill_diagonal(proba, alpha)
        truth = alpha * np.eye(classes) + (1 - alpha) * np.roll(np.eye(classes), -1, axis=1)
        size = np.ones(classes)
        made = errors(truth, proba, size)
        label, each, weight = cases(truth, proba, size)
        hit, top = each.argmax(axis=1) == label, each.max(axis=1)
        counts = np.rint(100 * weight)
        others = [made[name] for name in ("CWCE_2", "TCE_2", "TCE_1", "ECE", "KS", "KS by class")]
        others.append(float(estimators.mmce(hit, top, sample_weight=counts)))
        others.append(scores.class_wise_calibration_error(truth, proba, p=1))
        kernel = estimators.kce(label, each, sample_weight=counts)
        rows.append(
            {
                "classes": classes,
                "printed": float(np.sqrt(1 - 1 / (classes - 1)) * 0.49),
                "ce_2": made["CE_2"],
                "largest_other": float(max(others)),
                "kce": float(kernel),
            }
        )
    return rows


def random_law(rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Two to eight groups of two to five classes, of one of three kinds.

    Predictions are any; near the truth; or one prediction with its classes exchanged, so that
    groups of different predicted classes have the same largest probability.
    """
    groups, classes = rng.integers(2, 9), rng.integers(2, 6)
    truth = rng.dirichlet(np.ones(classes), groups)
    proba = rng.dirichlet(np.ones(classes), groups)
    kind = rng.integers(3)
    if kind == 1:
        proba = 0.9 * truth + 0.1 * proba
    elif kind == 2:
        proba = rng.permuted(np.tile(proba[0], (groups, 1)), axis=1)
    return truth, proba, rng.dirichlet(np.ones(groups))


ORDERED = (
    ("CE_2", "CWCE_2"),
    ("CE_2", "TCE_2"),
    ("TCE_2", "TCE_1"),
    ("TCE_1", "ECE"),
    ("TCE_1", "KS"),
    ("TCE_2", "KS by class"),
    ("TCE_2", "KS as printed"),
    ("TCE_1", "KS of the proof"),
)


def theorem_3_1(laws: int, seed: int) -> dict[str, Any]:
    """Share of random laws in which the error that should be larger is smaller."""
    rng = np.random.default_rng([seed, 31])
    broken = dict.fromkeys(ORDERED, 0)
    for _ in range(laws):
        made = errors(*random_law(rng))
        for larger, smaller in ORDERED:
            broken[larger, smaller] += made[smaller] > made[larger] + TINY
    return {f"{a} < {b}": int(count) / laws for (a, b), count in broken.items()}


def proposition_e_2(laws: int, seed: int) -> dict[str, float]:
    """The largest growth of sharpness when a random map makes some predictions equal."""
    rng = np.random.default_rng([seed, 52])
    largest = dict.fromkeys(SCORES, -np.inf)
    for _ in range(laws):
        truth, proba, size = random_law(rng)
        distinct, which = np.unique(proba, axis=0, return_inverse=True)
        merged = distinct[rng.integers(0, len(distinct), len(distinct))][which.ravel()]
        for score in SCORES:
            sides = [
                scores.proper_decomposition(truth, p, score=score, sample_weight=size)
                for p in (proba, merged)
            ]
            largest[score] = max(largest[score], sides[1].discrimination - sides[0].discrimination)
    return {score: float(value) for score, value in largest.items()}


def accuracy_for_the_top(proba: Floats, accuracy: float) -> Floats:
    """The map of Proposition D.2: the largest entry becomes the accuracy, the rest is even."""
    classes = proba.shape[1]
    after = np.full(proba.shape, (1 - accuracy) / (classes - 1))
    after[np.arange(len(proba)), proba.argmax(axis=1)] = accuracy
    return after


def label_frequencies(proba: Floats, label: Integers) -> Floats:
    """The map of appendix E.1.2: the frequencies of classes among cases of one predicted class."""
    best, classes = proba.argmax(axis=1), proba.shape[1]
    counts = np.zeros((classes, classes))
    np.add.at(counts, (best, label), 1)
    return (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))[best]


def maps(after: dict[str, Floats], label: Integers) -> dict[str, Any]:
    """What the maps of appendices D.4 and E make of ResNet110, its test cases being the law."""
    proba = after["none"]
    accuracy = float((proba.argmax(axis=1) == label).mean())
    made = {
        "as predicted": proba,
        "TS": after["TS"],
        "top entry := accuracy": accuracy_for_the_top(proba, accuracy),
        "frequencies given the predicted label": label_frequencies(proba, label),
    }
    record: dict[str, Any] = {}
    for name, p in made.items():
        record[name] = {
            "accuracy": float((p.argmax(axis=1) == label).mean()),
            "distinct": len(np.unique(p, axis=0)),
            "ECE": float(estimators.top_label_ece(label, p)),
            "Brier": float(scores.calibration_upper_bound(label, p)),
            "log score": float(scores.log_score(label, p)),
        }
        if len(np.unique(p, axis=0)) <= proba.shape[1]:
            truth, size = label_frequencies(p, label), np.ones(len(p))
            chosen = np.unique(p.argmax(axis=1), return_index=True, return_counts=True)
            rows, size = chosen[1], chosen[2].astype(float)
            record[name] |= errors(truth[rows], p[rows], size)
            parts = scores.proper_decomposition(truth[rows], p[rows], sample_weight=size)
            record[name] |= {"sharpness": parts.discrimination, "entropy": parts.uncertainty}
    return record


def threshold_map() -> dict[str, float]:
    """Appendix E.1.1 keeps accuracy only if the two frequencies are on their sides of 1/2.

    Half of the cases are scored .4 and have a risk of .6, half .8 and have a risk of .9.
    """
    score, risk = np.array([0.4, 0.8]), np.array([0.6, 0.9])
    before = np.where(score >= 0.5, risk, 1 - risk).mean()
    after = np.where(risk >= 0.5, risk, 1 - risk).mean()
    return {
        "below": float(risk[0]),
        "above": float(risk[1]),
        "accuracy_before": float(before),
        "accuracy_after": float(after),
    }


def kernel_score() -> dict[str, float]:
    """The score of the SKCE is proper, not strictly: a constant base rate has the least value.

    Truths .2 and .8 for half of the cases each. By definition F.5 the divergence between a forecast
    and the truth is (P_1 - Q_1)' k(P_1, P_2) (P_2 - Q_2), averaged over pairs.
    """
    truth, size = np.array([[0.8, 0.2], [0.2, 0.8]]), np.ones(2)
    record = {}
    for name, proba in {
        "constant": np.full((2, 2), 0.5),
        "truth": truth,
        "reversed": truth[::-1].copy(),
    }.items():
        label, each, weight = cases(truth, proba, size)
        counts = np.rint(1000 * weight)
        record[name] = float(estimators.skce(label, each, form="biased", sample_weight=counts))
        record[f"{name}, Brier"] = float(
            scores.calibration_upper_bound(label, each, sample_weight=counts)
        )
    return record
