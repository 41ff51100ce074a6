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
of their numbers are what they were, the result counts as confirmed and is not old. For a script
that keeps no rows, a short run of the code that made the result is held against one of this code.
`--from FOLDER` takes results over from another copy of the repository, if they are of this code.
`--jobs 2` runs two scripts at a time. Those whose results are times or memory run alone, before the
others.
Arguments of one script stand after `--`: `run.py sites -- --runs 200`.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import platform
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import provenance
from calling import (
    ALONE,
    CALLS,
    FEW,
    HERE,
    REPOSITORY,
    at_commit,
    commit,
    constants,
    copied,
    few,
    in_process,
    options_of,
    run_in_copy,
)
from confirm import confirm, keep_first_sets
from taking import take

LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "pymc", "arviz-base")


def seeds_of(script: Path, arguments: list[str]) -> str:
    """Where the random numbers of a script come from."""
    options = options_of(script)
    if "--seed" in options:
        given = arguments[arguments.index("--seed") + 1] if "--seed" in arguments else None
        return f"seed {given or options['--seed']}"
    told = []
    tree = ast.parse(script.read_text("utf-8"))
    for name, value in constants(tree):
        is_number_of_seeds = name == "SEEDS" and isinstance(value, ast.Constant)
        if "SEED" in name and not is_number_of_seeds:
            told.append(f"{name} = {ast.unparse(value)}")
    return "; ".join(told) or "the number of each run"


def repeats_of(script: Path, arguments: list[str]) -> Any:
    """How often a script repeats: of the arguments, or its default; nothing if it has none."""
    options = options_of(script)
    for name in ("--runs", "--simulations", "--studies", "--sets", "--splits", "--share"):
        if name in arguments:
            return float(arguments[arguments.index(name) + 1])
        if options.get(name) is not None:
            return options[name]
    return None


def run(name: str, script: Path, arguments: list[str]) -> dict[str, Any] | None:
    """Run a script, and what is recorded of it; nothing if it failed, or its code changed."""
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
    if provenance.Sources(REPOSITORY).code(name) != code:
        print(f"{name}: its code was changed while it ran, so that nothing is recorded", flush=True)
        return None
    return {
        "version": version("bayescal"),
        "commit": before,
        "date": datetime.now(UTC).date().isoformat(),
        "code": code,
        "data_sets": keep_first_sets(name, HERE / "results" / f"{name}-batches" / code),
        "arguments": arguments,
        "calls": CALLS.get(name, [[]]),
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
    unfinished = provenance.RECORDS.with_suffix(".unfinished")
    unfinished.write_text(text, "utf-8")
    unfinished.replace(provenance.RECORDS)


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
        with at_commit(before) as root:
            if root is None:
                continue
            sources = provenance.Sources(root)
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


def try_quickly(name: str, script: Path, arguments: list[str]) -> str:
    """Run a script with few repeats in a copy of this folder: its CPU seconds, or its error."""
    with copied(name) as copy:
        wrong, used = run_in_copy(name, script, copy, arguments or few(script))
    if wrong:
        return f"FAILED: {wrong}"
    return f"{used:.0f} s{'' if arguments else in_full(script, used)}"


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
    parser.add_argument("--from", dest="copy", type=Path, metavar="FOLDER")
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
    if options.copy:
        made = provenance.records(options.copy / provenance.RECORDS.relative_to(REPOSITORY))
        if not made:
            parser.error(f"--from {options.copy}: no results of benchmarks are there")
        known = provenance.records()
        for name in (name for name in asked if name in made and made[name] != known.get(name)):
            taken, answer = take(name, options.copy, made[name], sources.code(name))
            if taken:
                write_record(name, made[name])
            print(f"{name}: {answer}", flush=True)
        return
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
