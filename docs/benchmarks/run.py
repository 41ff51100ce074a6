"""Make every published number with this version: `python docs/benchmarks/run.py [NAME ...]`.

Without names, all benchmarks whose results are old are run, one after the other; one that is
current is left out, so that an interrupted run goes on where it stopped. A script that keeps
batches resumes inside as well. Each result is recorded in `results/runs.json`.

`--quick` tries each script with few repeats in a temporary copy, and stores nothing.
`--stale` lists what is old, and ends with status 1 if anything is: the check before a release.
`--plan` lists how long each old one took when it was last run, and the sum; `--quick` says how long
the full number of repeats would take, where a script has such an option.
`--again` runs the named scripts although they are current.
`--jobs 2` runs two scripts at a time. Those whose results are times or memory run alone, before the
others.
Arguments of one script stand after `--`: `run.py sites -- --runs 200`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import provenance

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "pymc", "arviz-base")
CALLS = {
    "ends": [["--version", "present"], ["--version", "present", "--few"]],
    "interval_coverage": [[name] for name in ("development", "held-out", "near", "rare")],
    "one_posterior": [["--version", "present"]],
}
"""Arguments of the calls that make all results of a script; of others one call without any."""
ALONE = provenance.TIMED | {"estimator_cost", "nodes", "peers", "sites_speed", "survival_cost"}
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
    """The commit of the code, with a mark if files have changed since; "unknown" without git."""
    done = subprocess.run(
        ["git", "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
        cwd=REPOSITORY, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def environment(root: Path) -> dict[str, str]:
    """One thread, no windows, and the package of this copy."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    data = os.environ.get("BAYESCAL_DATA") or str(REPOSITORY.parent / "shared")
    own = {"PYTHONPATH": str(root), "MPLBACKEND": "Agg", "BAYESCAL_DATA": data}
    return {**os.environ, **threads, **own}


def few(script: Path) -> list[str]:
    """Arguments of a quick run."""
    return [word for name in options_of(script) if name in FEW for word in (name, FEW[name])]


def in_process(command: list[str]) -> tuple[int, float]:
    """Exit status and CPU seconds of a command, its own processes included."""
    started = subprocess.Popen(command, cwd=REPOSITORY, env=environment(REPOSITORY))
    if not hasattr(os, "wait4"):  # Windows
        return started.wait(), 0.0
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    return started.returncode, used.ru_utime + used.ru_stime


def run(name: str, script: Path, arguments: list[str]) -> dict[str, Any] | None:
    """Run a script, and what is recorded of it; nothing if it failed."""
    before = commit()
    processors = 0.0
    start = time.perf_counter()
    for call in CALLS.get(name, [[]]):
        status, seconds = in_process([sys.executable, str(script), *call, *arguments])
        if status:
            return None
        processors += seconds
    return {
        "version": version("bayescal"),
        "commit": before,
        "date": datetime.now(UTC).date().isoformat(),
        "code": provenance.here().code(name),
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
            known = provenance.records() | {name: record}
            text = json.dumps(dict(sorted(known.items())), indent=1) + "\n"
            provenance.RECORDS.write_text(text, "utf-8")
            print(f"{name}: {record['seconds']} s", flush=True)

    for alone, at_a_time in ((True, 1), (False, jobs)):
        chosen = [name for name in names if (name in ALONE) is alone]
        with ThreadPoolExecutor(at_a_time) as pool:
            list(pool.map(one, chosen))
    return failed


def plan(names: list[str], known: dict[str, dict[str, Any]]) -> list[str]:
    """How long each script took when it was last run, and the sum of these."""
    seconds = {name: known.get(name, {}).get("seconds") for name in names}
    lines = [
        f"{name}: {_long(took) if took else 'not timed yet'}" for name, took in seconds.items()
    ]
    timed = [took for took in seconds.values() if took]
    return [*lines, f"{_long(sum(timed))} for {len(timed)} of {len(names)} that were timed"]


def in_full(script: Path, seconds: float) -> str:
    """How long all repeats would take after a quick run, where one option counts them."""
    options = options_of(script)
    counted = [name for name in ("--runs", "--simulations", "--studies") if name in options]
    if len(counted) != 1 or not isinstance(options[counted[0]], int):
        return ""
    return f"; all repeats: about {_long(seconds * options[counted[0]] / int(FEW[counted[0]]))}"


def _long(seconds: float) -> str:
    """A duration in seconds, minutes or hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def try_quickly(name: str, script: Path, arguments: list[str]) -> str:
    """Run a script with few repeats in a copy of this folder: how long it took, or its error."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "docs" / "benchmarks"
        ignored = shutil.ignore_patterns("*-batches", "__pycache__")
        shutil.copytree(HERE, copy, ignore=ignored)
        shutil.copytree(HERE.parent / "_scripts", copy.parent / "_scripts", ignore=ignored)
        start = time.perf_counter()
        for call in CALLS.get(name, [[]]):
            command = [sys.executable, str(copy / script.relative_to(HERE)), *call]
            done = subprocess.run(
                [*command, *(arguments or few(script))],
                cwd=folder, env=environment(REPOSITORY), capture_output=True, text=True,
            )  # fmt: skip
            if done.returncode:
                last = (done.stderr.strip() or "no message").splitlines()[-1]
                return f"FAILED: {last}"
        seconds = time.perf_counter() - start
        return f"{seconds:.0f} s{'' if arguments else in_full(script, seconds)}"


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
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(sys.argv[1:cut])
    sources = provenance.here()
    unknown = set(options.names) - set(sources.scripts)
    if unknown:
        parser.error(f"no script is called {', '.join(sorted(unknown))}")
    if arguments and len(options.names) != 1:
        parser.error("arguments after -- are those of one script: name it")
    old = provenance.stale(provenance.records(), sources)
    asked = options.names or list(sources.scripts)
    if options.stale:
        lines = [f"{name}: {old[name]}" for name in asked if name in old]
        print("\n".join(lines) or "every stored result is of this code")
        sys.exit(bool(lines))
    if options.plan:
        print("\n".join(plan([name for name in asked if name in old], provenance.records())))
        return
    if options.quick:
        answers = {}
        for name in asked:
            answers[name] = try_quickly(name, sources.scripts[name], arguments)
            print(f"{name}: {answers[name]}", flush=True)
        failed = [name for name, answer in answers.items() if answer.startswith("FAILED")]
    else:
        due = [name for name in asked if name in old or options.again]
        for name in sorted(set(asked) - set(due)):
            print(f"{name}: current", flush=True)
        failed = run_all(
            due, options.jobs, lambda name: run(name, sources.scripts[name], arguments)
        )
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
