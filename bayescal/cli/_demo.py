"""`bayescal demo`: a real data set, an over-confident classifier, and what the package says."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bayescal.data.table import CalibrationData

__all__ = ["demo"]

FEATURES = ("texture", "smoothness", "compactness", "concavity", "symmetry")
TREES = 200
TRAINED_ON = 419
PATIENTS = 150
STORED = Path(__file__).with_name("demo.csv")
SEED = 0


def demo(
    plot: Annotated[
        Path | None, typer.Option(help="Draw the reliability diagram to this file.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write all numbers to this file.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the report to this file (.html).")
    ] = None,
) -> None:
    """Assess a classifier of breast tumours on real patients. The data are part of the package."""
    from bayescal.cli._averaged import Averaged
    from bayescal.cli._terminal import output, say

    analysis = Averaged(seed=SEED, plot=plot, record=json, html=html)
    console = output()
    say(console, "Is this breast tumour malignant? A classifier says how likely.", "bold")
    data = predictions()
    say(
        console,
        f"Boosted trees ({TREES} of them, too many) learned from {TRAINED_ON} patients of the "
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


def predictions() -> CalibrationData:
    """Stored predictions for patients of the Wisconsin data whom the classifier has not seen."""
    from bayescal.data.table import CalibrationData

    with STORED.open(newline="", encoding="utf-8") as file:
        patients = list(csv.DictReader(file))
    malignant = [int(patient["malignant"]) for patient in patients]
    return CalibrationData(malignant, [float(patient["risk"]) for patient in patients])
