"""What building a table costs: rows a second of one core, and the most memory of its process.

Run `python docs/benchmarks/tables.py`. Cases come in chunks of a million that lie in memory
already, each kind in a process of its own, whose memory before the first chunk is stored beside.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bayescal as bc

RESULTS = Path(__file__).parent / "results"
CHUNK = 1_000_000
DISTINCT = 4
"""Chunks that are made; they come round again."""
KINDS = ("float64", "float32", "hundredths", "groups", "weights")
"""Scores of either type or rounded; a thousand groups; lognormal sampling weights."""


def columns(kind: str, seed: int) -> tuple[Any, ...]:
    """One chunk."""
    rng = np.random.default_rng(seed)
    score = rng.beta(2, 5, CHUNK)
    outcome = (rng.random(CHUNK) < score).astype(np.int8)
    if kind == "float32":
        score = score.astype(np.float32)
    if kind == "hundredths":
        score = score.round(2)
    if kind == "groups":
        return outcome, score, None, rng.integers(0, 1000, CHUNK)
    if kind == "weights":
        return outcome, score, rng.lognormal(size=CHUNK)
    return outcome, score


def most_memory() -> float:
    """Largest resident size of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(kind: str, n_chunks: int) -> dict[str, float | str]:
    """Seconds of the processor and memory of one table."""
    made = [columns(kind, seed) for seed in range(DISTINCT)]

    def chunks() -> Iterator[tuple[Any, ...]]:
        for number in range(n_chunks):
            yield made[number % DISTINCT]

    bc.CalibrationData.from_chunks([made[0]])
    before, start = most_memory(), time.process_time()
    table = bc.CalibrationData.from_chunks(chunks())
    seconds = time.process_time() - start
    return {
        "kind": kind,
        "cases": n_chunks * CHUNK,
        "rows": table.score.size,
        "seconds": round(seconds, 3),
        "cases_per_second": round(n_chunks * CHUNK / seconds),
        "megabytes_before": round(before),
        "megabytes_most": round(most_memory()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100, help="millions of cases")
    parser.add_argument("--kind", choices=KINDS, help="measure one kind, here, and print it")
    options = parser.parse_args()
    if options.kind is not None:
        print(json.dumps(measure(options.kind, options.chunks)))
        return
    stored = []
    for kind in KINDS:
        command = [sys.executable, __file__, "--kind", kind, "--chunks", str(options.chunks)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(output, end="", flush=True)
        stored.append(json.loads(output))
    (RESULTS / "tables.json").write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
