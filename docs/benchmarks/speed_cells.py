"""What `speed.py` measures against n: each kind of work by name.

`python speed_cells.py NAME FOLDER N ...` prints times and peak memory at these sizes, as JSON.
"""

from __future__ import annotations

import peers  # first, since it sets the number of threads

# isort: split
import ctypes
import json
import math
import statistics
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["CELLS", "GIVEN", "LONGEST", "SIZES", "Cell"]

SIZES = tuple(10**power for power in range(2, 9))
LONGEST, GIVEN = 60.0, 300.0
"""Seconds after which no larger size is tried, and after which a process is ended."""
TOGETHER = 10**5
"""Sizes up to which one process measures one after the other."""
ENOUGH, MOST_CALLS, SHORTEST = 1.0, 9, 0.02
CHUNK = 1_000_000

Work = Callable[[], Any]


@dataclass(frozen=True)
class Cell:
    """Work on outcomes, scores and mapped scores: `prepare` imports and returns the call."""

    title: str
    prepare: Callable[[Any, Any, str], Work]
    largest: int = 10**8
    ours: bool = True


def data(n: int) -> tuple[Any, Any]:
    """Outcomes and overconfident scores without ties, made in chunks."""
    rng = np.random.default_rng(0)
    scores, outcomes = np.empty(n), np.empty(n, dtype=np.int8)
    for start in range(0, n, CHUNK):
        part = scores[start : start + CHUNK]
        part[:] = np.sqrt(rng.random(part.size))
        outcomes[start : start + CHUNK] = rng.random(part.size) < part * (0.7 + 0.3 * part)
    return outcomes, scores


def sort(y: Any, s: Any, folder: str) -> Work:
    return lambda: np.sort(s)


def table(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    return lambda: bc.CalibrationData(y, s)


def chunks(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    def parts() -> Any:
        for start in range(0, s.size, CHUNK):
            yield y[start : start + CHUNK], s[start : start + CHUNK]

    return lambda: bc.CalibrationData.from_chunks(parts())


def fit(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    return lambda: bc.fit(y, s, curve="beta", random_state=0).tce()


def average(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    return lambda: bc.fit(y, s, random_state=0).tce()


def of_family(curve: str) -> Callable[[Any, Any, str], Work]:
    """The fit of a family alone, 4000 draws."""

    def prepare(y: Any, s: Any, folder: str) -> Work:
        import bayescal as bc

        return lambda: bc.fit(y, s, curve=curve, random_state=0)

    return prepare


def compare(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    return lambda: bc.compare(y, s, random_state=0).table


def summary(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    return lambda: bc.fit(y, s, random_state=0).summary()


def assess(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    return lambda: str(bc.assess(y, s, random_state=0))


def page(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    return lambda: bc.assess(y, s, random_state=0).to_html(Path(folder) / "page.html")


def gain(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    after = mapped(s)
    return lambda: bc.recalibration_gain(y, s, after, random_state=0).summary()


def pairs(y: Any, s: Any, folder: str) -> Work:
    import bayescal as bc

    after = mapped(s, np.random.default_rng(1).normal(0, 0.3, s.size))
    return lambda: bc.recalibration_gain(y, s, after, random_state=0).summary()


def mapped(s: Any, noise: Any = 0.0) -> Any:
    """A recalibration by a logistic map, and noise in log-odds."""
    return 1 / (1 + np.exp(0.3 + noise) * ((1 - s) / s) ** 0.8)


def ece(y: Any, s: Any, folder: str) -> Work:
    from bayescal import estimators

    return lambda: estimators.ece(y, s)


def smooth_ece(y: Any, s: Any, folder: str) -> Work:
    from bayescal import estimators

    return lambda: estimators.smooth_ece(y, s)


def peer(package: str, quantity: str) -> Callable[[Any, Any, str], Work]:
    """A call of `peer_calls.py`."""

    def prepare(y: Any, s: Any, folder: str) -> Work:
        from peer_calls import PEERS

        call, wide = PEERS[package]()[quantity], y.astype(int)
        return lambda: call.run(wide, s)

    return prepare


def sampler(name: str) -> Callable[[Any, Any, str], Work]:
    """A sampler of the same posterior, compiled before it is timed, and its TCE."""

    def prepare(y: Any, s: Any, folder: str) -> Work:
        from speed_samplers import SAMPLERS, calibration_error

        outcomes = y.astype(float)
        sample = SAMPLERS[name](outcomes, s)
        return lambda: calibration_error(sample(outcomes, s), s)

    return prepare


CELLS = {
    "numpy.sort": Cell("numpy.sort of the scores", sort, ours=False),
    "table": Cell("table", table),
    "chunks": Cell("table, from chunks of a million", chunks),
    "fit": Cell("fit of one family + TCE, arrays to answer", fit),
    "average": Cell("fit of the average + TCE, arrays to answer", average),
    "beta": Cell("fit of a beta curve alone", of_family("beta"), 10**6),
    "spline": Cell("fit of a spline alone", of_family("spline"), 10**6),
    "pieces": Cell("fit of stretches alone", of_family("pieces"), 10**6),
    "compare": Cell("compare and its table", compare, 10**7),
    "summary": Cell("fit of the average + summary()", summary, 10**7),
    "assess": Cell("assess, printed", assess, 10**7),
    "page": Cell("assess and its HTML page", page, 10**7),
    "gain": Cell("gain of a map", gain, 10**7),
    "pairs": Cell("gain by pairs", pairs, 10**7),
    "ece": Cell("ECE", ece, 10**7),
    "smooth_ece": Cell("SmoothECE", smooth_ece, 10**7),
    "relplot ECE": Cell("ECE, relplot", peer("relplot", "ece_width"), 10**7, ours=False),
    "netcal ECE": Cell("ECE, netcal", peer("netcal", "ece_width"), 10**7, ours=False),
    "relplot SmoothECE": Cell("SmoothECE, relplot", peer("relplot", "smooth"), 10**7, ours=False),
    "probcal SmoothECE": Cell(
        "SmoothECE in log-odds, probcal", peer("probcal", "logit_smooth"), 10**7, ours=False
    ),
    "nutpie": Cell("fit + TCE, nutpie, compiled", sampler("nutpie"), 10**5, ours=False),
    "blackjax": Cell("fit + TCE, blackjax, compiled", sampler("blackjax"), 10**5, ours=False),
    "pymc": Cell("fit + TCE, pm.sample", sampler("pymc"), 10**4, ours=False),
}


def measured(work: Work) -> dict[str, float]:
    """CPU seconds, median of several calls; and the peak memory of the first call."""
    ctypes.CDLL(None).malloc_trim(0)  # what was freed before is given back, to be counted again
    before = peers.resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    first, _ = peers.timed(work, 1)
    megabytes = (peers.resident("VmHWM") - before) / 2**20
    together = math.ceil(SHORTEST / max(first, 1e-6))
    calls = 0 if first > ENOUGH else min(MOST_CALLS, round(ENOUGH / (together * first)))
    times = [peers.timed(work, together)[0] for _ in range(calls)] or [first]
    return {"seconds": statistics.median(times), "calls": len(times), "megabytes": megabytes}


def main() -> None:
    warnings.simplefilter("ignore")
    name, folder, *wanted = sys.argv[1:]
    cell = CELLS[name]
    cell.prepare(*data(200), folder)()  # not counted
    for n in map(int, wanted):
        row = measured(cell.prepare(*data(n), folder))
        print(json.dumps({"n": n} | row), flush=True)
        if row["seconds"] > LONGEST:
            break


if __name__ == "__main__":
    main()
