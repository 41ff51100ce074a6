"""Print how long a few calls take in one tree of the package and in another, and the ratios.

`python .ci/speed.py BASE HEAD` runs each tree in fresh interpreters that take turns, so that a busy
minute of the machine slows both. It judges nothing: its status says only whether it could measure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Times = dict[str, float | None]  # seconds of each call; None where it fails
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def seconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def warm(call: Callable[[], object], repeats: int) -> float:
    """Median of some repeats, after one that is not counted."""
    call()
    return statistics.median(seconds(call) for _ in range(repeats))


def calls() -> Iterator[tuple[str, Callable[[], float]]]:
    """Names of what is timed, and what times it: in this order, in a fresh interpreter."""
    yield "import bayescal", lambda: seconds(lambda: __import__("bayescal"))

    import numpy as np

    import bayescal as bc

    rng = np.random.default_rng(1)

    def sample(n: int) -> tuple[Any, Any]:
        score = rng.beta(2, 3, n)
        return (rng.random(n) < score**1.3).astype(int), score

    patients, thousand, million = sample(200), sample(1000), sample(1_000_000)

    def fit() -> Any:
        return bc.fit(*patients, random_state=0)

    yield "first fit, n = 200", lambda: seconds(fit)
    yield "fit", lambda: warm(fit, 15)
    yield "fit().summary()", lambda: warm(lambda: fit().summary(), 5)
    yield "compare", lambda: warm(lambda: bc.compare(*patients, random_state=0), 1)
    yield (
        "print(assess), n = 1000",
        lambda: seconds(lambda: str(bc.assess(*thousand, random_state=0))),
    )
    yield "ece, n = 1 000 000", lambda: warm(lambda: bc.estimators.ece(*million), 3)
    yield "smooth_ece, n = 1 000 000", lambda: warm(lambda: bc.estimators.smooth_ece(*million), 1)


def measure() -> None:
    """Print the seconds of each call in this interpreter; null where the call fails."""
    times: Times = {}
    for name, timed in calls():
        try:
            times[name] = timed()
        except Exception as error:
            times[name] = None
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    print(json.dumps(times))


def run(tree: Path) -> Times:
    """The times of a tree, from a fresh interpreter that imports the package from there."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure"],
        cwd=tree,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": str(tree)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    times: Times = json.loads(done.stdout.splitlines()[-1])
    return times


def median(rounds: list[Times], name: str) -> float | None:
    """Over rounds; nothing where the call failed in one of them."""
    values = [times[name] for times in rounds]
    known = [value for value in values if value is not None]
    return statistics.median(known) if len(known) == len(values) else None


def table(base: list[Times], head: list[Times]) -> str:
    """Medians in milliseconds, and head over base: the median, and the range over rounds."""
    lines = [f"{'':28s}{'base, ms':>12s}{'head, ms':>12s}{'ratio':>8s}  range over rounds"]
    for name in head[0]:
        before, after = median(base, name), median(head, name)
        if before is None or after is None:
            lines.append(f"{name:28s}  fails in {'base' if before is None else 'head'}")
            continue
        ratios = [two[name] / one[name] for one, two in zip(base, head, strict=True)]
        lines.append(
            f"{name:28s}{1e3 * before:12.2f}{1e3 * after:12.2f}{statistics.median(ratios):8.2f}"
            f"  {min(ratios):.2f} to {max(ratios):.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure both trees in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE", help="base, then head")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=float, default=40, help="seconds after which none begins")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure()
        return
    if len(options.trees) != 2:
        parser.error("two trees are compared: the base, and the head")
    base, head = (tree.resolve() for tree in options.trees)
    start = time.perf_counter()
    times: tuple[list[Times], list[Times]] = ([], [])
    for turn in range(options.rounds):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            times[which].append(run((base, head)[which]))
        if time.perf_counter() - start > options.most:
            break
    print(table(*times))
    print(f"medians of {len(times[1])} rounds, a fresh interpreter for each tree in each")


if __name__ == "__main__":
    main()
