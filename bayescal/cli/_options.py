"""Options that several commands share, so that they are spelt and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "CiProb",
    "Close",
    "DropMissing",
    "Edge",
    "Encoding",
    "Event",
    "File",
    "Group",
    "Html",
    "Outcome",
    "Prior",
    "Record",
    "RowFile",
    "Score",
    "Seed",
    "Threshold",
    "Weight",
    "WeightType",
]

File = Annotated[
    Path,
    typer.Argument(
        help="Predictions: CSV (also .tsv, .txt, .gz) or Parquet, of which also a folder."
    ),
]
RowFile = Annotated[
    Path, typer.Argument(help="Predictions: CSV (also .tsv, .txt, .gz) or Parquet.")
]
Outcome = Annotated[
    str | None, typer.Option(help="Column with the outcome. Guessed if only one fits.")
]
Score = Annotated[
    str | None,
    typer.Option(help="Column with the predicted probability. Guessed if only one fits."),
]
Event = Annotated[
    str | None,
    typer.Option(help="The outcome that was predicted, when outcomes are not 0 and 1."),
]
Weight = Annotated[
    str | None, typer.Option(help="Column with the weight of each row; see --weight-type.")
]
WeightType = Annotated[
    str | None,
    typer.Option(
        help="counts: weights are numbers of cases. sampling: they correct for how cases were "
        "sampled. Asked for when it is not clear."
    ),
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", metavar=" ", help="Leave out rows with a missing value.")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of text files, such as latin-1 or cp1252. By default UTF-8, or UTF-16 if "
        "the file is marked so."
    ),
]
Prior = Annotated[str, typer.Option(help="Prior on the curve: neutral or clinical.")]
CiProb = Annotated[float, typer.Option(help="Probability of the credible intervals.")]
Edge = Annotated[
    float | None, typer.Option(help="How far inside scores of exactly 0 and 1 are read.")
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed. Drawn and shown if not given.")]
Close = Annotated[
    float | None,
    typer.Option(
        help="A true calibration error that is close enough to none. By default 0.03, less for "
        "rare events."
    ),
]
Group = Annotated[
    str | None, typer.Option(help="Column with the group of each case, such as its hospital.")
]
Threshold = Annotated[
    list[float] | None,
    typer.Option(
        help="Risk from which a patient is treated, for the net benefit. May be given several "
        "times."
    ),
]
Html = Annotated[Path | None, typer.Option(help="Write the report to this file.")]
Record = Annotated[Path | None, typer.Option("--json", help="Write all numbers to this file.")]
