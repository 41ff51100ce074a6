"""How a file is to be read: its encoding, its sheet, and the scale of its scores."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from bayescal.cli._excel import open_workbook
from bayescal.cli._read import Source, TableFile, is_text, is_workbook, open_source
from bayescal.cli._stats import is_statistical, open_statistical
from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.data.table import CalibrationData

__all__ = ["AS_IS", "LOGIT", "PERCENT", "PROBABILITY", "SURVIVAL", "Form", "Scale"]


@dataclass(frozen=True)
class Scale:
    """What scores are written as.

    Attributes
    ----------
    name : str
        In the plural: "log-odds".
    lowest, highest : float
        Of the scores that there can be.
    to_probability, from_probability : callable
        From scores to probabilities, and back.
    """

    name: str
    lowest: float
    highest: float
    to_probability: Callable[[Floats], Floats]
    from_probability: Callable[[Floats], Floats]

    def in_words(self, fault: str) -> str:
        """What is wrong with a probability, said of the score that it was written as."""
        if self is PERCENT:
            fault = fault.replace(" If these are percentages, divide by 100.", "")
        number = re.match(r" (\S+) is outside \[0, 1\]; scores are probabilities", fault)
        if number is not None:
            score = self.from_probability(np.array(float(number[1])))
            where = f"[{self.lowest:g}, {self.highest:g}]; scores are {self.name}"
            fault = f" {score:.12g} is outside {where}{fault[number.end() :]}"
        for cure, option in CURES.items():
            fault = fault.replace(cure, option)
        return fault


CURES = {
    "divide by 100.": "read them with --percent.",
    "pass scipy.special.expit(values).": "read them with --logit.",
    "Pass percentages as numbers without the sign, / 100.": "Percentages, with or without the "
    "sign, are read with --percent.",
}
"""What is to be done with other scores in Python, and the options that do it."""

PROBABILITY = Scale("probabilities", 0, 1, lambda score: score, lambda probability: probability)
LOGIT = Scale("log-odds", -math.inf, math.inf, expit, logit)
SURVIVAL = Scale(
    "probabilities of survival", 0, 1, lambda score: 1 - score, lambda probability: 1 - probability
)
PERCENT = Scale(
    "percentages", 0, 100, lambda score: score / 100, lambda probability: 100 * probability
)


@dataclass(frozen=True)
class Form:
    """What was said of a file, or of several that are alike.

    Attributes
    ----------
    encoding : str or None
        Of text; None for UTF-8, or UTF-16 where the file is marked so.
    sheet : str or None
        Of an Excel workbook; None for the only one that is not empty.
    scale : Scale
        Of the scores.
    """

    encoding: str | None = None
    sheet: str | None = None
    scale: Scale = PROBABILITY

    @classmethod
    def of(
        cls,
        *files: TableFile | None,
        encoding: str | None,
        sheet: str | None,
        logit: bool,
        percent: bool,
        survival: bool = False,
    ) -> Form:
        """Take the options as they were typed, for the files that are read."""
        paths = [path for path in files if path is not None]
        if encoding is not None and not any(map(is_text, paths)):
            raise InputError(f"--encoding goes with text, and {paths[0]} is none by its name.")
        if sheet is not None and not any(map(is_workbook, paths)):
            raise InputError(
                f"--sheet goes with Excel workbooks (.xlsx), and {paths[0]} is none by its name."
            )
        scales = {"--logit": logit, "--percent": percent, "--survival": survival}
        given = [option for option, typed in scales.items() if typed]
        if len(given) > 1:
            both = " and ".join(given[:2])
            raise InputError(f"{both} exclude each other: name one scale of scores.")
        scale = {"--logit": LOGIT, "--percent": PERCENT, "--survival": SURVIVAL}
        return cls(encoding, sheet, scale[given[0]] if given else PROBABILITY)

    def open(self, path: TableFile) -> Source:
        """Look at a file; see `open_source`, `open_workbook` and `open_statistical`."""
        if is_workbook(path):
            return open_workbook(path, self.sheet)
        if is_statistical(path):
            return open_statistical(path)
        return open_source(path, self.encoding)

    def describe(self, data: CalibrationData) -> str:
        """How scores that are no probabilities were read, in a sentence."""
        scores = data.score
        return (
            f"Scores are read as {self.scale.name}; as probabilities they run from "
            f"{scores.min():.3g} to {scores.max():.3g}."
        )

    @property
    def source(self) -> dict[str, str]:
        """What scores are written as, for the record; nothing for probabilities."""
        return {} if self.scale is PROBABILITY else {"scale": self.scale.name}

    @property
    def words(self) -> list[str]:
        """The options that say the same on a command line."""
        words = [] if self.encoding is None else ["--encoding", self.encoding]
        words += [] if self.sheet is None else ["--sheet", self.sheet]
        if self.scale is LOGIT:
            words.append("--logit")
        if self.scale is PERCENT:
            words.append("--percent")
        if self.scale is SURVIVAL:
            words.append("--survival")
        return words


AS_IS = Form()
