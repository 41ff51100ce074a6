"""The least size at which simulated studies reach a goal.

Sizes are searched on one grid, so that a wider interval or less assurance never asks for more
patients: the same studies are simulated at a size whatever is asked of them. Between two sizes of
the grid the measured quantity is a line in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import chance

__all__ = ["LARGEST_SIZE", "LEAST_SIZE", "Goal", "Search"]

LEAST_SIZE, LARGEST_SIZE = 20, 1_000_000
GRID_OF_SIZES = [round(LEAST_SIZE * 2 ** (k / 2)) for k in range(33)]
SIZE_RESAMPLES = 200
FIRST_LOOKS = 8
LONGEST_JUMP = 12  # most steps of the grid between two looks
# Standard errors from the goal at which a part of the studies decides.
BEYOND_DOUBT = 4.0
LEAST_OF_GOAL = 0.1  # width that a line in logarithms still starts from, as a share of the goal

Extent = Literal["look", "around", "part", "all"]


@dataclass(frozen=True)
class Goal:
    """What studies must reach: a `width`, or None for a conclusion; and with which `assurance`.

    Without an assurance it is the mean width.
    """

    width: float | None
    assurance: float | None

    def excess(self, values: Floats) -> Floats:
        """How far studies are from the goal, negative where they reach it.

        Shapes: `values` (..., studies); result (...).
        """
        if self.width is None:
            assert self.assurance is not None
            share = (values.sum(axis=-1) + 0.5) / (values.shape[-1] + 1)
            return np.asarray(ndtri(self.assurance) - ndtri(share))
        # An interval of no width, where the model is calibrated for sure, is no further than this.
        return np.asarray(np.log(np.maximum(self.reached(values) / self.width, LEAST_OF_GOAL)))

    def reached(self, values: Floats) -> Floats:
        """The mean width, or the width that a share `assurance` of the studies keeps to."""
        if self.assurance is None:
            return np.asarray(values.mean(axis=-1))
        return np.asarray(
            np.quantile(np.minimum(values, 1e6), self.assurance, axis=-1, method="linear")
        )

    def share(self, values: Floats) -> float:
        """Share of the studies that reach the goal."""
        return float(np.mean(values if self.width is None else values <= self.width))

    def is_clear(self, values: Floats) -> bool:
        """Whether some studies leave no doubt on which side of the goal their size is."""
        if self.assurance is None:
            assert self.width is not None
            error = np.std(values) / np.sqrt(values.size)
            return bool(abs(values.mean() - self.width) > BEYOND_DOUBT * error)
        error = np.sqrt(self.assurance * (1 - self.assurance) / values.size)
        return abs(self.share(values) - self.assurance) > BEYOND_DOUBT * float(error)


@dataclass
class Search:
    """The search for a size.

    Attributes
    ----------
    simulate : callable
        Takes a size, and how many studies are wanted, and gives values of shape (studies,).
    values : dict of int to ndarray
        What was simulated, by size.
    """

    goal: Goal
    simulate: Callable[[int, Extent], Floats]
    seed: int
    values: dict[int, Floats] = field(default_factory=dict)

    def size(self, start: float) -> tuple[int, float]:
        """The size, and its Monte Carlo standard error."""
        at = self._near(start)
        while True:
            if self._excess(at) > 0:
                if at == len(GRID_OF_SIZES) - 1:
                    raise InputError(self._impossible())
                at += 1
            elif at == 0:
                return LEAST_SIZE, 0.0
            elif self._excess(at - 1) <= 0:
                at -= 1
            else:
                pair = GRID_OF_SIZES[at - 1], GRID_OF_SIZES[at]
                for n in pair:
                    self.values[n] = self.simulate(n, "all")
                if self._excess(at - 1) > 0 >= self._excess(at):
                    break
        size = self._between(pair, *(self.goal.excess(self.values[n]) for n in pair))
        return math.ceil(float(size) - 1e-9), self._error(pair)

    def _excess(self, at: int) -> float:
        n = GRID_OF_SIZES[at]
        if n not in self.values:
            part = self.simulate(n, "part")
            self.values[n] = part if self.goal.is_clear(part) else self.simulate(n, "all")
        return float(self.goal.excess(self.values[n]))

    def _near(self, start: float) -> int:
        """The grid's size near the goal, by first looks at few studies."""
        at, seen = _nearest(start), dict[int, float]()
        for _ in range(FIRST_LOOKS):
            if at in seen:
                break
            seen[at] = float(self.goal.excess(self.simulate(GRID_OF_SIZES[at], "look")))
            # A width falls with the root of the size: half a step of log 2 a step of the grid.
            steps = 4 * seen[at] / math.log(2) if self.goal.width is not None else 3 * seen[at]
            move = int(
                np.clip(
                    np.ceil(np.nan_to_num(steps, posinf=LONGEST_JUMP)), -LONGEST_JUMP, LONGEST_JUMP
                )
            )
            at = min(max(at + move, 0), len(GRID_OF_SIZES) - 1)
            if move == 0:
                break
        return at

    def _between(self, pair: tuple[int, int], above: Any, below: Any) -> Floats:
        """The size at which a line in logarithms meets the goal."""
        low, high = np.log(pair[0]), np.log(pair[1])
        fall = np.maximum(above - below, 1e-9)
        share = np.clip(above / fall, -2, 3)
        return np.asarray(np.exp(low + share * (high - low)))

    def _error(self, pair: tuple[int, int]) -> float:
        """Standard deviation of the size over resamples of the simulated studies."""
        rng = np.random.default_rng([self.seed, 1])
        first, second = (self.values[n] for n in pair)
        chosen = rng.integers(first.size, size=(SIZE_RESAMPLES, first.size))
        above, below = self.goal.excess(first[chosen]), self.goal.excess(second[chosen])
        usual = float(self.goal.excess(first) - self.goal.excess(second))
        fall = np.full(SIZE_RESAMPLES, max(usual, 1e-9))
        middle = (above + below) / 2
        sizes = self._between(pair, middle + fall / 2, middle - fall / 2)
        return float(np.std(sizes))

    def _impossible(self) -> str:
        share = self.goal.share(self.values[GRID_OF_SIZES[-1]])
        if self.goal.width is None:
            return (
                f"assurance {self.goal.assurance:g} is out of reach: in studies of "
                f"{GRID_OF_SIZES[-1]:,} patients the conclusion is drawn with probability "
                f"{chance(share)}. Ask for less assurance, or for another conclusion."
            )
        how = (
            "on average"
            if self.goal.assurance is None
            else f"with assurance {self.goal.assurance:g}"
        )
        width = float(self.goal.reached(self.values[GRID_OF_SIZES[-1]]))
        return (
            f"width {self.goal.width:g} is out of reach: studies of {GRID_OF_SIZES[-1]:,} patients "
            f"have {width:.3g} {how}. Ask for a wider interval."
        )


def _nearest(n: float) -> int:
    if not n > LEAST_SIZE:
        return 0
    return min(round(2 * math.log2(n / LEAST_SIZE)), len(GRID_OF_SIZES) - 1)
