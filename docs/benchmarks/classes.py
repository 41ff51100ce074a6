"""Classes of ResNet110 on CIFAR-10 as groups of one fit: `python docs/benchmarks/classes.py`.

The 10000 test cases are split in halves at random. From one half 500 to 2000 cases are taken, and
calibration of every class against the rest is estimated: O/E and the calibration curve, class by
class (raw: the ratio itself, and a logistic curve by maximum likelihood), and in one hierarchical
fit of all classes (shrunk). The other half judges: squared distance to its own O/E, and the Brier
score of its cases after each curve. The data are looked for as in `cifar.py`. Results are kept in
`results/classes.json`, size by size.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

import bayescal as bc
from kept import Rows

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "classes.json"
DATA = Path(os.environ.get("BAYESCAL_DATA") or HERE.parents[2] / "shared") / "data"
FILE = DATA / "cifar10_resnet110_logits.npz"
SIZES, DRAWS = (500, 1000, 2000), 1000
EDGE = 1e-12


def cases() -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and labels of the test cases."""
    with np.load(FILE) as kept:
        return softmax(kept["test_logits"].astype(float), axis=1), kept["test_y"].astype(int)


def one_split(n: int, seed: int) -> dict[str, Any]:
    """Squared errors of both kinds of estimates, on the half that was not seen."""
    proba, label = cases()
    order = np.random.default_rng([seed, n]).permutation(label.size)
    seen, held_out = order[:n], order[label.size // 2 :]
    table = bc.CalibrationData.from_multiclass(label[seen], proba[seen], mode="class-wise")
    options = {"draws": DRAWS, "engine": "importance", "random_state": seed}
    post = bc.fit(table, curve="logistic", **options)
    sites, curves = post.sites, {}
    errors: dict[str, list[float]] = {"k": [post.diagnostics["pareto_k"]]}
    for name in post.labels:
        k = int(name)
        score, event = np.clip(proba[held_out, k], EDGE, 1 - EDGE), label[held_out] == k
        true = event.sum() / score.sum()
        curves["shrunk"] = post.site(name).predict(score).mean(("chain", "draw")).to_numpy()
        curves["raw"] = logistic(proba[seen, k], label[seen] == k, score)
        curves["none"] = score
        for kind, curve in curves.items():
            errors.setdefault(f"brier_{kind}", []).append(np.mean((curve - event) ** 2))
        for kind, column in (("shrunk", "observed_expected"), ("raw", "observed_expected_raw")):
            errors.setdefault(f"ratio_{kind}", []).append((sites.loc[name, column] - true) ** 2)
        errors.setdefault("ratio_none", []).append((1 - true) ** 2)
    return {name: float(np.mean(values)) for name, values in errors.items()}


def logistic(score: np.ndarray, event: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The curve of one class by itself, by maximum likelihood; none where there is none."""
    recalibrator = bc.recalibrate.LogisticRecalibrator()
    try:
        recalibrator.fit(np.clip(score, EDGE, 1 - EDGE), event)
    except ValueError:
        return at
    return np.asarray(recalibrator.transform(at))


def summarised(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over splits, and how often the shrunk estimates were nearer."""
    record: dict[str, Any] = {"splits": len(rows)}
    record |= {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    record["k"] = float(np.max([row["k"] for row in rows]))
    for what in ("ratio", "brier"):
        better = [row[f"{what}_shrunk"] < row[f"{what}_raw"] for row in rows]
        record[f"{what}_better"] = float(np.mean(better))
    return record


def main() -> None:
    """Run what is not stored yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not FILE.is_file():
        parser.error(f"no data at {FILE}: set BAYESCAL_DATA to the folder that holds data/")
    stored, kept = {}, Rows("classes")
    warnings.simplefilter("ignore")
    for n in SIZES:
        rows = kept.of(f"{n} cases", options.splits, partial(one_split, n))
        stored[str(n)] = {"n": n} | summarised(rows)
        options.output.write_text(json.dumps(stored, indent=1) + "\n")
        print(n, json.dumps(stored[str(n)]), flush=True)


if __name__ == "__main__":
    main()
