"""Fill a folder with the data of the tests: `python docs/_scripts/reference_data.py FOLDER`.

Name that folder in BAYESCAL_DATA. A simulated set is made by its recipe. Sets of R packages are
written by R, where it and the package are installed. A set that is made is compared with the
number of its cases and its means before it is kept. Of every other set it is said where it comes
from. Files that are there already stay as they are.
"""

from __future__ import annotations

import csv
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

__all__ = ["SETS", "NotMadeError", "Set", "fill", "main"]

REPOSITORY = Path(__file__).resolve().parents[2]


class NotMadeError(Exception):
    """Why a set cannot be made here, in words."""


@dataclass(frozen=True)
class Set:
    """A set of reference data.

    Attributes
    ----------
    file : str
        Below the folder of reference data.
    source : str
        Where it comes from, as the user is told.
    make : callable or None
        Writes it to a path; None if it must be copied by hand.
    cases : int
    means : dict
        Of columns, to compare a set with that was made.
    """

    file: str
    source: str
    make: Callable[[Path], None] | None = None
    cases: int = 0
    means: dict[str, float] | None = None


def simulated(path: Path) -> None:
    """Set A: over-confident scores, whose outcomes follow a line of slope .6 in their log-odds."""
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 1, 200)
    outcomes = rng.random(200) < expit(-0.3 + 0.6 * logit(scores))
    rows = zip(scores.tolist(), outcomes.astype(int).tolist(), strict=True)
    lines = [f"{score!r},{outcome}" for score, outcome in rows]
    path.write_text("\n".join(["score,outcome", *lines, ""]), "utf-8")


def by_r(package: str, code: str) -> Callable[[Path], None]:
    """A maker that lets R write the data frame that `code` gives, with the package loaded."""

    def make(path: Path) -> None:
        program = shutil.which("Rscript")
        if program is None:
            raise NotMadeError(f"there is no Rscript on this computer; it needs R and {package}")
        script = (
            "arguments <- commandArgs(trailingOnly = TRUE)\n"
            f'if (!requireNamespace("{package}", quietly = TRUE)) quit(status = 3)\n'
            f"library({package})\n"
            f"write.csv({code}, arguments[1], row.names = FALSE)\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "make.R"
            file.write_text(script, "utf-8")
            done = subprocess.run(
                [program, "--vanilla", str(file), str(path)], capture_output=True, text=True
            )
        if done.returncode == 3:
            raise NotMadeError(f'R has no package {package}: install.packages("{package}")')
        if done.returncode:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise NotMadeError(f"R stopped with: {last}")

    return make


def scored(frame: str, score: str, outcome: str) -> str:
    """R code for the two columns of a frame."""
    return f"data.frame(score = {frame}${score}, outcome = as.integer({frame}${outcome}))"


def of_hockey(column: str, mean: float) -> Set:
    name = "538" if column == "x" else "rand"
    return Set(
        f"data/clinical/brcal_hockey_{name}.csv",
        "R package BRcal, hockey",
        by_r("BRcal", scored("hockey", column, "y")),
        868,
        {"score": mean, "outcome": 463 / 868},
    )


RAIN = "precip_Niamey_2016"
SETS = (
    Set(
        "oracles/A.csv",
        "simulated: beta(2, 1) scores, outcomes by a line of slope .6, seed 0",
        simulated,
        200,
        {"score": 0.6350299, "outcome": 0.54},
    ),
    Set("oracles/B.csv", "data/solar_C1_DAFFS.csv, as three columns"),
    Set("oracles/C.csv", "nearly certain scores, some of them 0 and 1; not published"),
    of_hockey("x", 0.5342744),
    of_hockey("rand", 0.5100883),
    Set(
        "data/clinical/dcurves_df_binary.csv",
        "R package dcurves, df_binary",
        by_r("dcurves", scored("df_binary", "cancerpredmarker", "cancer")),
        750,
        {"score": 0.14, "outcome": 0.14},
    ),
    Set(
        "data/rain_niamey_EMOS.csv",
        f"R package reliabilitydiag, {RAIN}",
        by_r("reliabilitydiag", scored(RAIN, "EMOS", "obs")),
        92,
        {"score": 0.5166237, "outcome": 53 / 92},
    ),
    Set(
        "data/clinical/reliabilitydiag_precip_Niamey_2016.csv",
        f"R package reliabilitydiag, {RAIN}",
        by_r("reliabilitydiag", f"as.data.frame({RAIN})"),
        92,
        {"EMOS": 0.5166237, "obs": 53 / 92},
    ),
    Set(
        "oracles/published/euroscore2_validations.csv",
        "R package metamisc, EuroSCORE",
        by_r("metamisc", "EuroSCORE"),
        23,
        {"n": 6330.08696, "n.events": 186.652174},
    ),
    Set("data/rain_finland_p24.csv", "R package verification; it needs a choice of columns"),
    Set("data/solar_C1_DAFFS.csv", "repository TimoDimi/replication_DGJ20 on GitHub"),
    Set("data/cifar10_resnet110_logits.npz", "repository NeuroDong/TCEbpm on GitHub"),
    Set("data/imagenet_timm_resnet34.npz", "repository hollance/reliability-diagrams on GitHub"),
    Set("data/clinical/impact_tbi_iecv.csv", "models of R package metamisc's impact, by study"),
    Set("data/clinical/predtools_val_data.csv", "a model of R package predtools' val_data"),
    Set("data/clinical/pmcalibration_readme_sim2345.csv", "README of R package pmcalibration"),
    Set(
        "data/clinical/pmcalibration_vignette_sim2345_a3_0.3.csv",
        "vignette of R package pmcalibration",
    ),
    Set("oracles/imputation/psfmi_lbpmilr_scores.csv", "models of R package psfmi's lbpmilr"),
    Set("oracles/published/isaric_regions.csv", "data of R package bayespmtools"),
    Set("oracles/estimators.json", "answers of the packages that its keys name"),
    Set("oracles/clinical.json", "answers of R; see the definitions in tests/clinical_sets.py"),
    Set("oracles/sites", "answers of lme4, metafor and rms on impact_tbi_iecv.csv"),
)


def check(one: Set, path: Path) -> None:
    """Refuse what has other cases or other means than the tests were written for."""
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    if len(rows) != one.cases:
        raise NotMadeError(f"{len(rows)} cases came out, and the tests need {one.cases}")
    for column, mean in (one.means or {}).items():
        if column not in rows[0]:
            raise NotMadeError(f"the column {column} is missing; there are {', '.join(rows[0])}")
        actual = sum(float(row[column]) for row in rows) / len(rows)
        if not math.isclose(actual, mean, rel_tol=1e-5):
            raise NotMadeError(f"the mean of {column} is {actual:.7g}, and the tests need {mean}")


def fill(folder: Path, sets: tuple[Set, ...] = SETS) -> dict[str, str]:
    """What became of each set: "there", "made", or why not and where it comes from."""
    told = {}
    for one in sets:
        path = folder / one.file
        if path.exists():
            told[one.file] = "there"
            continue
        if one.make is None:
            told[one.file] = f"copy it by hand: {one.source}"
            continue
        with tempfile.TemporaryDirectory() as temporary:
            new = Path(temporary) / path.name
            try:
                one.make(new)
                check(one, new)
            except NotMadeError as why:
                told[one.file] = f"not made: {why} ({one.source})"
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(new, path)
        told[one.file] = "made"
    return told


def main() -> None:
    """Fill the folder, and say what became of each set."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    told = fill(Path(sys.argv[1]))
    for name, what in told.items():
        print(f"{name}: {what}")
    ready = sum(what in ("there", "made") for what in told.values())
    print(f"{ready} of {len(told)} sets are in {sys.argv[1]}; docs/reference-data.md has more.")


if __name__ == "__main__":
    main()
