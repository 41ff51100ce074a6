"""Are ranks uniform? The exact probability that an ECDF stays inside a band, and the band.

The number of ranks below each possible value is a random walk. Given the total, its steps are
independent Poisson counts, so the probability that it stays between two boundaries is a chain of
short convolutions (Moscovich & Nadler); no simulation is needed.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, gammaln

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.stored import check_dataset
from bayescal.data.validate import as_level

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["RankBand", "rank_bands", "uniformity"]

Counts = NDArray[np.int64]
RANKS_NEGLIGIBLE = 1e-25
HALVINGS = 60


class RankBand(NamedTuple):
    """ECDFs of the ranks of several quantities, and one band for all of them.

    Attributes
    ----------
    fraction : ndarray of shape (points,)
        Fractional rank, from 0 to 1.
    ecdf : ndarray of shape (quantities, points)
    lower, upper : ndarray of shape (points,)
        The band that every ECDF stays inside with the probability asked for, if ranks are uniform.
    """

    quantity: tuple[str, ...]
    fraction: Floats
    ecdf: Floats
    lower: Floats
    upper: Floats


def uniformity(dataset: xr.Dataset, ci_prob: float = 0.99) -> pd.DataFrame:
    """Are the ranks of simulation-based calibration uniform?

    The ECDF of each quantity's ranks is compared with a simultaneous band: if ranks are uniform,
    then with probability at least `ci_prob` every point of every quantity's ECDF is inside. Points
    are taken together exactly, and quantities by Bonferroni.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `sbc`.
    ci_prob : float in (0, 1)
        Probability that all is inside when nothing is wrong.

    Returns
    -------
    pandas.DataFrame
        Index: quantity. `inside`: whether all of its ECDF is inside; `worst_at`: the fractional
        rank where it is most surprising; `difference`: ECDF minus uniform there; `level`: how
        often uniform ranks look at least as surprising, for this quantity alone; `joint_level`:
        the same for all quantities, by Bonferroni. `attrs` hold `ci_prob`.

    Raises
    ------
    InputError
        If the dataset is not from `sbc`.

    References
    ----------
    Säilynoja, Bürkner & Vehtari (2022), Graphical test for discrete uniformity and its
    applications in goodness-of-fit evaluation and multiple sample comparison, Statistics and
    Computing 32. Moscovich & Nadler (2017), Fast calculation of boundary crossing probabilities
    for Poisson processes, Statistics & Probability Letters 123.

    Examples
    --------
    >>> from bayescal.validation import sbc, uniformity
    >>> ranks = sbc("intercept", n=50, n_simulations=20, random_state=0, n_jobs=1)
    >>> uniformity(ranks).loc["shift", "inside"]
    np.True_
    """
    import pandas as pd

    counts, draws = _counts(dataset)
    size = dataset.sizes["simulation"]
    quantities = [str(name) for name in dataset["quantity"].to_numpy()]
    lower, upper = _band(size, draws, _for_each(ci_prob, len(quantities)))
    tails = _tails(size, draws)
    rows = []
    for walk in counts:
        surprise = tails[np.arange(draws), walk]
        worst = int(surprise.argmin())
        fraction = (worst + 1) / (draws + 1)
        level = 1 - _stays_inside(*_boundaries(tails, float(surprise[worst])), size)
        rows.append(
            {
                "inside": bool(((lower <= walk) & (walk <= upper)).all()),
                "worst_at": fraction,
                "difference": walk[worst] / size - fraction,
                "level": min(max(level, 0.0), 1.0),
            }
        )
    table = pd.DataFrame(rows, index=pd.Index(quantities, name="quantity"))
    table["joint_level"] = np.minimum(table["level"] * len(quantities), 1)
    table.attrs["ci_prob"] = ci_prob
    return table


def rank_bands(dataset: xr.Dataset, ci_prob: float = 0.99) -> RankBand:
    """What a figure of the ranks shows; see `uniformity`.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `sbc`.
    """
    counts, draws = _counts(dataset)
    size = dataset.sizes["simulation"]
    names = tuple(str(name) for name in dataset["quantity"].to_numpy())
    lower, upper = _band(size, draws, _for_each(ci_prob, len(names)))
    fraction = np.arange(draws + 2) / (draws + 1)
    return RankBand(names, fraction, *(_closed(walk / size) for walk in (counts, lower, upper)))


def _counts(dataset: xr.Dataset) -> tuple[Counts, int]:
    """Simulations whose rank is below 1, 2, ..., draws: shape (quantities, draws), and draws."""
    check_dataset(dataset, "bayescal.validation.sbc")
    if "rank" not in dataset or "draws" not in dataset.attrs:
        raise InputError("dataset holds no ranks; pass what bayescal.validation.sbc returned.")
    draws = int(json.loads(dataset.attrs["draws"]))
    rank = dataset["rank"].transpose("quantity", "simulation").to_numpy()
    walks = [np.cumsum(np.bincount(row, minlength=draws + 1))[:-1] for row in rank]
    return np.array(walks, dtype=np.int64), draws


def _for_each(ci_prob: float, quantities: int) -> float:
    """The probability each of several bands needs so that all hold together (Bonferroni)."""
    return 1 - (1 - as_level(ci_prob, "ci_prob")) / quantities


@lru_cache(maxsize=4)
def _tails(size: int, draws: int) -> Floats:
    """Two-sided tail probability of each count, by fractional rank: shape (draws, size + 1)."""
    count = np.arange(size + 1)
    fraction = np.arange(1, draws + 1)[:, None] / (draws + 1)
    return np.asarray(2 * np.minimum(bdtr(count, size, fraction), bdtrc(count - 1, size, fraction)))


def _boundaries(table: Floats, tail: float) -> tuple[Counts, Counts]:
    """Lowest and highest count at each fractional rank whose tail probability exceeds `tail`."""
    likely = table > tail
    return likely.argmax(axis=1), table.shape[1] - 1 - likely[:, ::-1].argmax(axis=1)


@lru_cache(maxsize=32)
def _band(size: int, draws: int, ci_prob: float) -> tuple[Counts, Counts]:
    """The narrowest boundaries of equal tails that hold at all points with this probability."""
    table = _tails(size, draws)
    low, high = 0.0, 1.0 - ci_prob
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _stays_inside(*_boundaries(table, middle), size) >= ci_prob:
            low = middle
        else:
            high = middle
    return _boundaries(table, low)


def _stays_inside(lower: Counts, upper: Counts, size: int) -> float:
    """Probability that the walk of `size` uniform ranks keeps within both boundaries."""
    mean = size / (lower.size + 1)
    step = _poisson(np.arange(size + 1), mean)
    step = step[: np.flatnonzero(step > RANKS_NEGLIGIBLE)[-1] + 1]
    state, start = np.ones(1), 0
    for first, last in zip(lower.tolist(), upper.tolist(), strict=True):
        reached = np.zeros(last - first + 1)
        moved = np.convolve(state, step)[max(first - start, 0) : last - start + 1]
        offset = max(start - first, 0)
        reached[offset : offset + moved.size] = moved
        state, start = reached, first
    final = _poisson(size - np.arange(start, start + state.size), mean)
    return float(state @ final / _poisson(np.array([size]), float(size))[0])


def _poisson(count: NDArray[np.int64], mean: float) -> Floats:
    return np.asarray(np.exp(count * np.log(mean) - mean - gammaln(count + 1)))


def _closed(inner: Floats) -> Floats:
    """A distribution function with its ends, 0 and 1."""
    ends = [(0, 0)] * (inner.ndim - 1)
    from_zero = np.pad(inner, [*ends, (1, 0)])
    return np.pad(from_zero, [*ends, (0, 1)], constant_values=1.0)
