"""What building a table costs: from memory, and from a Parquet file beside pyarrow's own reading.

    python docs/benchmarks/tables.py
    python docs/_scripts/speed_quoted.py  # what the page on large data says of it

Each measurement has a process of its own, whose memory before the first chunk is stored beside.

    memory  rows a second of one core; cases come in chunks of a million that lie there already
    disk    seconds by the clock and of the processor for a file of outcomes and scores, with the
            libraries imported before; ours and pyarrow's ways of reading take turns, and of each
            the fastest run counts. Before a "cold" run the system is told to forget the file, so
            that it comes from the disk; before a "warm" one it was just read. On a busy machine
            start it with real-time priority (`chrt -r 10`), as the stored results were.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
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
ROWS = (10_000_000, 100_000_000)
TURNS = 7
COLUMNS = ["y", "p"]


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


# A file


def write(path: Path, rows: int) -> None:
    """Outcomes as bytes and scores of 64 bits, in row groups of a million, as pyarrow writes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = [dict(zip(COLUMNS, columns("float64", seed), strict=True)) for seed in range(DISTINCT)]
    groups = [pa.table(columns) for columns in made]
    with pq.ParquetWriter(path, groups[0].schema) as writer:
        for number in range(rows // CHUNK):
            writer.write_table(groups[number % DISTINCT])
    os.sync()


def at_once(path: str) -> None:
    """All rows into memory, by pyarrow."""
    import pyarrow.parquet as pq

    pq.read_table(path, columns=COLUMNS)


def batches(path: str) -> None:
    """A million rows at a time, by pyarrow, which forgets them."""
    import pyarrow.parquet as pq

    for _ in pq.ParquetFile(path).iter_batches(CHUNK, columns=COLUMNS):
        pass


def table(path: str) -> None:
    """A table, by us."""
    bc.CalibrationData.from_parquet(path, outcome=COLUMNS[0], score=COLUMNS[1])


READERS: dict[str, Callable[[str], None]] = {
    "pyarrow, read_table": at_once,
    "pyarrow, iter_batches": batches,
    "bayescal": table,
}


def read(reader: str, cache: str, path: str) -> dict[str, Any]:
    """Time and memory of reading a file once, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.parquet"
        write(small, CHUNK)
        READERS[reader](str(small))
    file = os.open(path, os.O_RDONLY)
    if cache == "cold":
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    else:
        while os.read(file, 1 << 24):
            pass
    os.close(file)
    before, clock, processor = most_memory(), time.perf_counter(), time.process_time()
    READERS[reader](path)
    return {
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
        "megabytes_before": round(before),
        "megabytes_most": round(most_memory()),
        "processors": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
    }


def from_disk(turns: int) -> list[dict[str, Any]]:
    """The fastest run of each reader at each size."""
    rows = []
    for n in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cases.parquet"
            write(path, n)
            for cache in ("cold", "warm"):
                runs: dict[str, list[dict[str, Any]]] = {reader: [] for reader in READERS}
                for _ in range(turns):
                    for reader, known in runs.items():
                        known.append(child("--read", reader, cache, str(path)))
                for reader, known in runs.items():
                    best = min(known, key=lambda run: run["seconds"])
                    shared = {"reader": reader, "cases": n, "file": cache, "turns": turns}
                    size = {"megabytes_file": round(path.stat().st_size / 1e6)}
                    rows.append(shared | size | best)
                    print(rows[-1], flush=True)
    return rows


def child(*arguments: str) -> dict[str, Any]:
    """What this script prints in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def from_memory(chunks: int) -> list[dict[str, Any]]:
    """Every kind of chunk."""
    rows = []
    for kind in KINDS:
        rows.append(child("--kind", kind, "--chunks", str(chunks)))
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("memory", "disk"), help="the other part stays")
    parser.add_argument("--chunks", type=int, default=100, help="millions of cases in memory")
    parser.add_argument("--turns", type=int, default=TURNS, help="runs of each reader of files")
    parser.add_argument("--kind", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--read", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kind is not None:
        print(json.dumps(measure(options.kind, options.chunks)))
        return
    if options.read is not None:
        print(json.dumps(read(*options.read)))
        return
    output = RESULTS / "tables.json"
    stored = json.loads(output.read_text("utf-8")) if output.is_file() else {}
    if options.only != "disk":
        stored["memory"] = from_memory(options.chunks)
    if options.only != "memory":
        stored["disk"] = from_disk(options.turns)
    output.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
