"""Options that several commands share, so that they are spelt and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "PYTHON_NAMES",
    "CiProb",
    "Close",
    "DropMissing",
    "Edge",
    "Html",
    "Outcome",
    "Positive",
    "Prior",
    "Prob",
    "Record",
    "Seed",
    "Threshold",
    "Word",
]

PYTHON_NAMES = {
    "delta": "deltas",
    "folds": "n_folds",
    "jobs": "n_jobs",
    "outcome": "y_true",
    "positive": "pos_label",
    "prob": "y_prob",
    "seed": "random_state",
    "simulations": "n_simulations",
    "threshold": "thresholds",
}
"""Options whose argument has another name in Python, by which they can be given as well."""

Outcome = Annotated[
    str | None, typer.Option(help="Column with the outcome. Not needed if only one column fits.")
]
Prob = Annotated[
    str | None,
    typer.Option(help="Column with the predicted probability. Not needed if only one column fits."),
]
Positive = Annotated[
    str | None,
    typer.Option(help="Value of the outcome that is the event, if outcomes are not 0 and 1."),
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", metavar=" ", help="Leave out rows with a missing value.")
]
Prior = Annotated[str, typer.Option(help="Prior on the curve: neutral or clinical.")]
CiProb = Annotated[float, typer.Option(help="Probability of the credible intervals.")]
Edge = Annotated[
    float | None,
    typer.Option(help="Least distance of a score from 0 and 1; nearer ones are moved."),
]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Random seed. If not given, it is drawn and shown.")
]
Close = Annotated[
    float | None,
    typer.Option(
        help="Limit of the true calibration error for the verdict 'close enough'. By default "
        "0.03, smaller for rare events."
    ),
]
Threshold = Annotated[
    list[float] | None,
    typer.Option(
        help="Risk from which a patient is treated, for the net benefit. Can be repeated."
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        metavar=" ",
        help="With --update: add the cases even if the table seems to contain them already.",
    ),
]
Html = Annotated[
    Path | None, typer.Option(help="Write the report, a web page, to this file (.html).")
]
Word = Annotated[
    Path | None, typer.Option(help="Write the report as a Word document to this file (.docx).")
]
Record = Annotated[
    Path | None,
    typer.Option(
        "--json", help="Write all numbers to this file; to stdout if it is -, and text to stderr."
    ),
]
