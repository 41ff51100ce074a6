"""`bayescal demo`: a real data set, an over-confident classifier, and what the package says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bayescal.data.data import CalibrationData

__all__ = ["demo"]

FEATURES = ("texture", "smoothness", "compactness", "concavity", "symmetry")
TREES = 200
PATIENTS = 150
SEED = 0


def demo(
    plot: Annotated[
        Path | None, typer.Option(help="Draw the reliability diagram to this file.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write all numbers to this file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None,
) -> None:
    """Assess a classifier of breast tumours on real patients; no download, no file needed."""
    from bayescal.cli._averaged import Averaged
    from bayescal.cli._terminal import output, say, working

    analysis = Averaged.of(seed=SEED, plot=plot, record=json, html=html)
    console = output()
    say(console, "Is this breast tumour malignant? A classifier says how likely.", "bold")
    with working("Training a classifier ..."):
        data, trained_on = predictions()
    say(
        console,
        f"Boosted trees ({TREES} of them, too many) learned from {trained_on} patients of the "
        f"Wisconsin data that come with scikit-learn, by the {', '.join(FEATURES[:-1])} and "
        f"{FEATURES[-1]} of the cell nuclei. Their predictions for the other {PATIENTS} patients "
        "are assessed here. The event is: malignant.",
    )
    say(console, "")
    source = {"data": "scikit-learn breast cancer", "event": "malignant"}
    analysis.run(data, console, source, "Calibration of boosted trees: is this tumour malignant?")
    say(console, "")
    say(
        console,
        "Your own predictions, one row per patient: "
        "bayescal assess predictions.csv --html report.html",
    )


def predictions() -> tuple[CalibrationData, int]:
    """Predictions for patients the classifier has not seen, and how many it has seen."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.model_selection import train_test_split

    from bayescal.data.data import CalibrationData

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
    classifier = GradientBoostingClassifier(n_estimators=TREES, random_state=SEED)
    classifier.fit(seen, outcome_seen)
    return CalibrationData(outcome, classifier.predict_proba(unseen)[:, 1]), len(seen)
