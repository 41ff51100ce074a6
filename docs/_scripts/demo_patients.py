"""Train the classifier of `bayescal demo`, and store what it predicts for patients it has not seen.

Run from the root of the repository: python docs/_scripts/demo_patients.py
"""

from __future__ import annotations

import csv
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

from bayescal.cli.commands import DEMO_FILE

FEATURES = ("texture", "smoothness", "compactness", "concavity", "symmetry")
TREES, TRAINED_ON, PATIENTS, SEED = 200, 419, 150, 0


def predictions() -> list[tuple[int, float]]:
    """Outcome (1: malignant) and predicted probability of each patient, by the latter."""
    patients = load_breast_cancer()
    measured = [list(patients.feature_names).index(f"mean {name}") for name in FEATURES]
    malignant = patients.target == list(patients.target_names).index("malignant")
    seen, unseen, outcome_seen, outcome = train_test_split(
        patients.data[:, measured],
        malignant,
        test_size=PATIENTS,
        random_state=SEED,
        stratify=malignant,
    )
    assert len(seen) == TRAINED_ON
    classifier = GradientBoostingClassifier(n_estimators=TREES, random_state=SEED)
    classifier.fit(seen, outcome_seen)
    risk = classifier.predict_proba(unseen)[:, 1]
    return sorted(zip(outcome.astype(int).tolist(), risk.tolist(), strict=True), key=lambda r: r[1])


def write(path: Path) -> None:
    """The predictions as a file with a header, to the last bit."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["malignant", "risk"])
        table.writerows(predictions())


if __name__ == "__main__":
    write(DEMO_FILE)
