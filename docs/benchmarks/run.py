"""Make every published number with this version: `python docs/benchmarks/run.py [NAME ...]`.

Without names, all benchmarks whose results are old are run, one after the other, the shortest of
those that were timed first; one that is current is left out, so that an interrupted run goes on
where it stopped. A script that keeps rows or batches resumes inside as well. Each result is
recorded in `results/runs.json`.

`--quick` tries each script with few repeats in a temporary copy, and stores nothing.
`--stale` lists what is old, and ends with status 1 if anything is: the check before a release.
`--plan` lists how long each old one took when it was last run, and the sum; `--quick` says how long
the full number of repeats would take, where a script has such an option.
`--rehash` replaces stored hashes after a change of the rule by which they are made.
`--again` runs the named scripts although they are current.
`--confirm` makes the first data sets of each cell again, for results whose code has changed: if all
of their numbers are what they were, the result counts as confirmed and is not old.
`--jobs 2` runs two scripts at a time. Those whose results are times or memory run alone, before the
others.
Arguments of one script stand after `--`: `run.py sites -- --runs 200`.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kept
import provenance

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "pymc", "arviz-base")
FIRST_SETS = HERE / "results" / "first_sets"
"""Of each script that keeps rows: those of the first data sets of each cell."""
SETS_TO_CONFIRM = 2
OTHERS = ("ece", "debiased", "bins_beta11", "logistic_ici", "rcs_ici")
"""Methods that the page on coverage has beside ours."""
CALLS = {
    "deciding_coverage": [[], ["--kl"]],
    "ends": [["--version", "present"], ["--version", "present", "--few"]],
    "interval_coverage": [
        *([name] for name in ("development", "held-out", "near", "rare")),
        *([name, "--methods", *OTHERS, "--runs", "100"] for name in ("development", "held-out")),
        ["held-out", "--methods", "smooth", "--runs", "100"],
    ],
    "one_posterior": [["--version", "present"]],
    "peers": [["--memory"]],
}
"""Arguments of the calls that make all results of a script; of others one call without any."""
ALONE = provenance.TIMED | {
    "estimator_cost", "nodes", "peers", "sites_speed", "survival_cost", "tables",
}  # fmt: skip
"""Scripts that measure times or memory: nothing may run beside them."""
FEW = {
    "--runs": "2",
    "--sets": "1",
    "--simulations": "20",
    "--studies": "50",
    "--splits": "2",
    "--share": "0.01",
    "--turns": "1",
    "--most": "1000",
    "--largest": "1000",
    "--held-out-runs": "2",
    "--runs-of-worst": "2",
    "--chunks": "1",
}
"""Options that make a run short, where a script has them."""


def options_of(script: Path) -> dict[str, Any]:
    """Options of a script with their defaults, as its source states them."""
    known = {}
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            default = [word.value for word in node.keywords if word.arg == "default"]
            if isinstance(name, str) and name.startswith("--"):
                known[name] = default[0].value if default and _is_plain(default[0]) else None
    return known


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def seeds_of(script: Path, arguments: list[str]) -> str:
    """Where the random numbers of a script come from."""
    options = options_of(script)
    if "--seed" in options:
        given = arguments[arguments.index("--seed") + 1] if "--seed" in arguments else None
        return f"seed {given or options['--seed']}"
    constants = [
        f"{target.id} = {ast.unparse(node.value)}"
        for node in ast.parse(script.read_text("utf-8")).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and "SEED" in target.id
    ]
    return "; ".join(constants) or "the number of each run"


def repeats_of(script: Path, arguments: list[str]) -> Any:
    """How often a script repeats: of the arguments, or its default; nothing if it has none."""
    options = options_of(script)
    for name in ("--runs", "--simulations", "--studies", "--sets", "--splits", "--share"):
        if name in arguments:
            return float(arguments[arguments.index(name) + 1])
        if options.get(name) is not None:
            return options[name]
    return None


def commit() -> str:
    """The commit of the code, with a mark if code has changed since; "unknown" without git."""
    told = []
    for words in (
        ["rev-parse", "HEAD"],
        ["status", "--porcelain", "-uno", "--", ".", ":!docs/benchmarks/results"],
    ):
        done = subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True)
        if done.returncode:
            return "unknown"
        told.append(done.stdout.strip())
    return f"{told[0]}-dirty" if told[1] else told[0]


def environment(root: Path) -> dict[str, str]:
    """One thread, no windows, and the package of this copy."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    data = os.environ.get("BAYESCAL_DATA") or str(REPOSITORY.parent / "shared")
    own = {"PYTHONPATH": str(root), "MPLBACKEND": "Agg", "BAYESCAL_DATA": data}
    return {**os.environ, **threads, **own}


def few(script: Path) -> list[str]:
    """Arguments of a quick run."""
    return [word for name in options_of(script) if name in FEW for word in (name, FEW[name])]


def in_process(
    command: list[str], more: dict[str, str] | None = None, **how: Any
) -> tuple[int, float]:
    """Exit status and CPU seconds of a command, its own processes included."""
    started = subprocess.Popen(command, env=environment(REPOSITORY) | (more or {}), **how)
    if not hasattr(os, "wait4"):  # Windows
        return started.wait(), 0.0
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    return started.returncode, used.ru_utime + used.ru_stime


def run(name: str, script: Path, arguments: list[str]) -> dict[str, Any] | None:
    """Run a script, and what is recorded of it; nothing if it failed."""
    before, code = commit(), provenance.here().code(name)
    processors = 0.0
    start = time.perf_counter()
    for call in CALLS.get(name, [[]]):
        status, seconds = in_process(
            [sys.executable, str(script), *call, *arguments], cwd=REPOSITORY
        )
        if status:
            return None
        processors += seconds
    return {
        "version": version("bayescal"),
        "commit": before,
        "date": datetime.now(UTC).date().isoformat(),
        "code": code,
        "data_sets": keep_first_sets(name, HERE / "results" / f"{name}-batches" / code),
        "arguments": arguments,
        "repeats": repeats_of(script, arguments),
        "seeds": seeds_of(script, arguments),
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(processors, 1),
        "libraries": {"python": platform.python_version()}
        | {library: version(library) for library in LIBRARIES},
    }


def run_all(
    names: list[str], jobs: int, record_of: Callable[[str], dict[str, Any] | None]
) -> list[str]:
    """Run scripts and record each as soon as it has ended.

    Parameters
    ----------
    names : list of str
        The scripts.
    jobs : int
        How many run at a time.
    record_of : callable
        Runs a script by its name, and gives what is recorded of it, or None if it failed.

    Returns
    -------
    list of str
        The names of those that failed.
    """
    writing = threading.Lock()
    failed = []

    def one(name: str) -> None:
        print(f"{name}: started", flush=True)
        record = record_of(name)
        with writing:
            if record is None:
                failed.append(name)
                return
            write_record(name, record)
            print(f"{name}: {record['seconds']} s", flush=True)

    for alone, at_a_time in ((True, 1), (False, jobs)):
        chosen = [name for name in names if (name in ALONE) is alone]
        with ThreadPoolExecutor(at_a_time) as pool:
            list(pool.map(one, chosen))
    return failed


def write_record(name: str, record: dict[str, Any]) -> None:
    """Replace what is recorded of a script."""
    known = provenance.records() | {name: record}
    text = json.dumps(dict(sorted(known.items())), indent=1) + "\n"
    provenance.RECORDS.write_text(text, "utf-8")


def plan(names: list[str], known: dict[str, dict[str, Any]]) -> list[str]:
    """How long each script took when it was last run, and the sum of these."""
    seconds = {name: known.get(name, {}).get("seconds") for name in names}
    lines = [
        f"{name}: {_long(took) if took else 'not timed yet'}" for name, took in seconds.items()
    ]
    timed = [took for took in seconds.values() if took]
    return [*lines, f"{_long(sum(timed))} for {len(timed)} of {len(names)} that were timed"]


def in_full(script: Path, seconds: float) -> str:
    """How long all repeats would take after a quick run, where options count them.

    With several such options the largest ratio counts, so that the answer is not too small.
    """
    options = options_of(script)
    ratios = [
        options[name] / float(few)
        for name, few in FEW.items()
        if isinstance(options.get(name), (int, float))
    ]
    if not ratios:
        return ""
    about = "about" if len(ratios) == 1 else "at most"
    return f"; all repeats: {about} {_long(seconds * max(ratios))}"


def _long(seconds: float) -> str:
    """A duration in seconds, minutes or hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def rehash(known: dict[str, dict[str, Any]]) -> list[str]:
    """Write the hashes that the present rule gives of the commits that made or confirmed results.

    Commits with changes that were not committed, or that are not there, keep their hashes.
    """
    made = list(known.items())
    made += [(name, one["confirmed"]) for name, one in known.items() if "confirmed" in one]
    told = set()
    for before in sorted({one["commit"] for _, one in made}):
        command = ["git", "archive", before, provenance.PACKAGE, "docs/benchmarks"]
        packed = subprocess.run(command, cwd=REPOSITORY, capture_output=True)
        if packed.returncode:
            continue
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
                archive.extractall(folder, filter="data")
            sources = provenance.Sources(Path(folder))
            for name, one in made:
                if one["commit"] != before or name not in sources.scripts:
                    continue
                code = sources.code(name)
                if one["code"] not in ("unknown", code):
                    one["code"] = code
                    told.add(name)
    for name in told:
        write_record(name, known[name])
    return sorted(told)


def keep_first_sets(name: str, folder: Path) -> int | None:
    """Store the first rows of each cell of a run, and count all; None if it keeps no rows."""
    rows = kept.read(folder / kept.ROWS)
    if not rows:
        return None
    first = [
        json.dumps({"cell": cell, "set": number, "row": row})
        for (cell, number), row in sorted(rows.items())
        if number < SETS_TO_CONFIRM
    ]
    FIRST_SETS.mkdir(parents=True, exist_ok=True)
    (FIRST_SETS / f"{name}.jsonl").write_text("\n".join([*first, ""]), "utf-8")
    return len(rows)


@contextmanager
def copied(name: str) -> Iterator[Path]:
    """A copy of this folder without results of the script, so that none is taken for finished."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "docs" / "benchmarks"
        own = (f"{name}.json", f"{name}.npz")
        left_out = shutil.ignore_patterns("*-batches", "first_sets", "__pycache__", *own)
        shutil.copytree(HERE, copy, ignore=left_out)
        scripts = shutil.ignore_patterns("__pycache__")
        shutil.copytree(HERE.parent / "_scripts", copy.parent / "_scripts", ignore=scripts)
        yield copy


def run_in_copy(
    name: str, script: Path, copy: Path, arguments: list[str], more: dict[str, str] | None = None
) -> tuple[str, float]:
    """The last line of the error of a script in a copy, or nothing; and its CPU seconds."""
    errors, used = copy / "errors.txt", 0.0
    for call in CALLS.get(name, [[]]):
        command = [sys.executable, str(copy / script.relative_to(HERE)), *call, *arguments]
        with errors.open("w") as written:
            status, seconds = in_process(
                command, more, cwd=copy, stdout=subprocess.DEVNULL, stderr=written
            )
        used += seconds
        if status:
            lines = errors.read_text("utf-8").strip().splitlines()
            return lines[-1] if lines else "no message", used
    return "", used


def try_quickly(name: str, script: Path, arguments: list[str]) -> str:
    """Run a script with few repeats in a copy of this folder: its CPU seconds, or its error."""
    with copied(name) as copy:
        wrong, used = run_in_copy(name, script, copy, arguments or few(script))
    if wrong:
        return f"FAILED: {wrong}"
    return f"{used:.0f} s{'' if arguments else in_full(script, used)}"


def same(one: Any, other: Any) -> bool:
    """Whether two rows say the same: numbers to a millionth, all else but seconds exactly."""
    if isinstance(one, dict) and isinstance(other, dict):
        told = [key for key in one if not key.endswith("seconds")]
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in told)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        both_missing = math.isnan(one) and math.isnan(other)
        return both_missing or math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)
    return bool(one == other)


def confirm(name: str, script: Path) -> tuple[dict[str, Any] | None, str]:
    """What to record of a result whose first data sets are as they were; and the answer in words.

    Parameters
    ----------
    name : str
    script : Path
    """
    record = provenance.records().get(name)
    before = kept.read(FIRST_SETS / f"{name}.jsonl")
    if record is None or not before:
        return None, "no data sets are stored that could be made again: run it"
    with copied(name) as copy:
        wrong, used = run_in_copy(name, script, copy, [], {kept.FIRST: str(SETS_TO_CONFIRM)})
        if wrong:
            return None, f"FAILED: {wrong}"
        files = (copy / "results" / f"{name}-batches").glob(f"*/{kept.ROWS}")
        again = {key: row for file in files for key, row in kept.read(file).items()}
    other = [key for key, row in before.items() if key not in again or not same(row, again[key])]
    if other:
        cell, number = other[0]
        return None, (
            f"{len(other)} of {len(before)} data sets differ, first set {number} of {cell}: run it"
        )
    told = {
        "version": version("bayescal"),
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "code": provenance.here().code(name),
        "sets": len(before),
        "of": record["data_sets"],
    }
    return told, f"{len(before)} of {record['data_sets']} data sets are as they were ({used:.0f} s)"


def main() -> None:
    """Run, try, or list."""
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments = sys.argv[cut + 1 :]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="names of scripts, without .py")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--stale", action="store_true")
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--confirm", action="store_true")
    parser.add_argument("--rehash", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(sys.argv[1:cut])
    sources = provenance.here()
    unknown = set(options.names) - set(sources.scripts)
    if unknown:
        parser.error(f"no script is called {', '.join(sorted(unknown))}")
    if arguments and len(options.names) != 1:
        parser.error("arguments after -- are those of one script: name it")
    asked = options.names or list(sources.scripts)
    if options.rehash:
        known = {name: one for name, one in provenance.records().items() if name in asked}
        print("\n".join(rehash(known)) or "no hash differs")
        return
    old = provenance.stale(provenance.records(), sources)
    if options.stale:
        lines = [f"{name}: {old[name]}" for name in asked if name in old]
        same_again = provenance.confirmed(provenance.records(), sources)
        more = [f"{name}: {same_again[name]}" for name in asked if name in same_again]
        print("\n".join(lines + more) or "every stored result is of this code")
        sys.exit(bool(lines))
    if options.plan:
        print("\n".join(plan([name for name in asked if name in old], provenance.records())))
        return
    answers: dict[str, str] = {}
    if options.confirm:
        for name in asked:
            if name in old:
                told, answers[name] = confirm(name, sources.scripts[name])
                if told is not None:
                    write_record(name, provenance.records()[name] | {"confirmed": told})
                print(f"{name}: {answers[name]}", flush=True)
        failed = [name for name, answer in answers.items() if answer.startswith("FAILED")]
    elif options.quick:
        for name in asked:
            answers[name] = try_quickly(name, sources.scripts[name], arguments)
            print(f"{name}: {answers[name]}", flush=True)
        failed = [name for name, answer in answers.items() if answer.startswith("FAILED")]
    else:
        known = provenance.records()
        due = [name for name in asked if name in old or options.again]
        due.sort(key=lambda name: known.get(name, {}).get("cpu_seconds") or math.inf)
        for name in sorted(set(asked) - set(due)):
            print(f"{name}: current", flush=True)
        failed = run_all(
            due, options.jobs, lambda name: run(name, sources.scripts[name], arguments)
        )
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
