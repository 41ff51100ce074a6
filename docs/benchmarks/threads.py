"""What threads of the linear algebra cost: `python docs/benchmarks/threads.py`.

Each call runs in fresh processes with one thread and with all threads of the machine, as the
package is (its work in one thread) and with that limit taken out. Results are kept in
`results/threads.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "threads.json"
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
CALLS, REPEATS = 3, 5


def calls(folder: str = "") -> dict[str, Callable[[], Any]]:
    """What is timed, by name; a page is written into the folder."""
    import bayescal as bc

    y, s = bc.simulate.sample("calibrated", 1000, random_state=1)
    rng = np.random.default_rng(1)
    factors = {name: rng.integers(0, 4, y.size).astype(str) for name in "abc"}
    crossed = bc.CalibrationData(y, s, factors=factors)
    return {
        "one family and its TCE": lambda: bc.fit(y, s, curve="beta", random_state=1).tce(),
        "average and its summary": lambda: bc.fit(y, s, random_state=1).summary(),
        "assess": lambda: bc.assess(y, s, random_state=1),
        "assess and its page": lambda: bc.assess(y, s, random_state=1).to_html(
            Path(folder) / "page.html"
        ),
        "recommend": lambda: bc.recommend(y, s, random_state=1),
        "three factors of four levels": lambda: bc.fit(crossed, draws=1000, random_state=1),
    }


def measure(name: str, limited: bool) -> dict[str, float]:
    """Least seconds of CPU and of the clock in this process."""
    from bayescal._base.threads import one_blas_thread

    warnings.simplefilter("ignore")
    if not limited:
        one_blas_thread._inside = 1  # as if a caller were inside, who set no limit
    cpu, clock = [], []
    with tempfile.TemporaryDirectory() as folder:
        call = calls(folder)[name]
        call()
        for _ in range(REPEATS):
            start = time.process_time(), time.perf_counter()
            call()
            cpu.append(time.process_time() - start[0])
            clock.append(time.perf_counter() - start[1])
    return {"cpu": min(cpu), "clock": min(clock)}


def in_process(name: str, threads: int, limited: bool) -> dict[str, float]:
    """The same in a fresh process with so many threads."""
    command = [sys.executable, __file__, "--here", name, *(["--limited"] if limited else [])]
    environment = os.environ | dict.fromkeys(LIBRARIES, str(threads))
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--here", help=argparse.SUPPRESS)
    parser.add_argument("--limited", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.here, options.limited)))
        return
    cores = os.cpu_count() or 1
    rows = {}
    for name in calls():
        turns: dict[str, list[dict[str, float]]] = {}
        for _ in range(CALLS):
            for what, (threads, limited) in {
                "one thread": (1, True),
                "all threads": (cores, True),
                "all threads, no limit": (cores, False),
            }.items():
                turns.setdefault(what, []).append(in_process(name, threads, limited))
        rows[name] = {
            what: {key: min(turn[key] for turn in each) for key in each[0]}
            for what, each in turns.items()
        }
        print(name, json.dumps(rows[name]), flush=True)
    RESULTS.write_text(json.dumps({"cores": cores, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
