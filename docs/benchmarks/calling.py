"""How a benchmark is called: its options, its processor time, and copies in which to try it."""

from __future__ import annotations

import ast
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import provenance

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
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
    "peers": [["--memory"]],
}
"""Arguments of the calls that make all results of a script; of others one call without any."""
ALONE = provenance.TIMED | {
    "consistency", "estimator_cost", "nodes", "peers", "sites_speed", "survival_cost", "tables",
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
    tree, known = ast.parse(script.read_text("utf-8")), {}
    named = {name: value for name, value in constants(tree) if isinstance(value, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            default = [word.value for word in node.keywords if word.arg == "default"]
            if isinstance(name, str) and name.startswith("--"):
                stated = default[0] if default else None
                if isinstance(stated, ast.Name):
                    stated = named.get(stated.id)
                known[name] = stated.value if isinstance(stated, ast.Constant) else None
    return known


def constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names that a module gives values to at its top, with the expressions of these."""
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for each, value in zip(target.elts, node.value.elts, strict=True):
                    if isinstance(each, ast.Name):
                        yield each.id, value


def environment(root: Path) -> dict[str, str]:
    """One thread, no windows, and the package of this copy."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    data = os.environ.get("BAYESCAL_DATA") or str(REPOSITORY.parent / "shared")
    own = {"PYTHONPATH": str(root), "MPLBACKEND": "Agg", "BAYESCAL_DATA": data}
    return {**os.environ, **threads, **own}


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


@contextmanager
def at_commit(name: str) -> Iterator[Path | None]:
    """The package and the documents of a commit in a folder; nothing if it is not there."""
    command = ["git", "archive", name, "bayescal", "docs"]
    packed = subprocess.run(command, cwd=REPOSITORY, capture_output=True)
    with tempfile.TemporaryDirectory() as folder:
        if packed.returncode:
            yield None
            return
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder)
