"""The page on how numbers are checked, with its counts taken from the tests and stored results."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
TESTS = REPOSITORY / "tests"
RESULTS = REPOSITORY / "docs" / "benchmarks" / "results"


def trees() -> list[ast.Module]:
    """Syntax trees of all files of tests."""
    return [ast.parse(path.read_text("utf-8")) for path in sorted(TESTS.rglob("test_*.py"))]


def of_tests(parsed: list[ast.Module]) -> Counter[str]:
    """How many test functions there are, and how many have an answer from outside."""
    counts: Counter[str] = Counter()
    for tree in parsed:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                counts["tests"] += 1
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "oracle"
            ):
                counts["oracles"] += 1
    return counts


def attacks() -> int:
    """How many wrong values each argument is given."""
    tree = ast.parse((TESTS / "attacks.py").read_text("utf-8"))
    values = {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }["HOSTILE"]
    assert isinstance(values, ast.Tuple)
    return len(values.elts)


def stored(name: str) -> dict:
    """A stored result."""
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def coverage() -> tuple[int, int]:
    """Cells of the coverage benchmark, and the fewest data sets of one."""
    cells = [
        cell
        for path in sorted(RESULTS.glob("coverage-*.json"))
        for cell in json.loads(path.read_text("utf-8"))["cells"]
    ]
    return len(cells), min(cell["runs"] for cell in cells)


def checks_page() -> str:
    """The page, as Markdown."""
    parsed = trees()
    tests = of_tests(parsed)
    files = len(parsed)
    golden = sum(len(json.loads(path.read_text("utf-8"))) for path in TESTS.glob("golden/*.json"))
    cells, sets = coverage()
    ranks = stored("sbc")["runs"]
    return f"""# How numbers are checked

This page says what stands behind a number that bayescal
prints. Its counts are made when the documentation is built.

**Answers from elsewhere.** {tests["tests"]} test functions in {files} files run before each
change, or every night where they take long. {tests["oracles"]} of them compare estimators with an
answer that bayescal did not compute: a closed form, an integral, a published table, or another
program. A test fails if an estimator has none. [The same numbers in R](../same_numbers.md) lists
calls of R packages beside ours.

**Two engines.** Importance sampling and NUTS draw from the same posterior, by code that shares
only the model. Tests compare them for each family of curves, on real and simulated data.

**Simulation-based calibration.** Curves are drawn from the prior, data from the curves, and the
posterior is asked where the true curve is among its draws. The ranks must be uniform.
{len(ranks)} settings are stored, on [a page of their own](sbc.md).

**Coverage.** A 95 % interval should contain the truth in 95 % of data sets, also where the truth
is in none of the families. [Coverage](coverage.md) is stored for {cells} cells of population,
size, method and measure, each from {sets} data sets or more. Cells that fail are shown too.

**Attacks.** Every argument of every public function is given {attacks()} wrong values, and each
column of cases more: infinite, missing, too long, of another type. The answer must be a finite
number, or an error that names the argument.

**Numbers that must not move.** {golden} numbers are stored with the code. A change that moves one
of them says which, and why.

**Published papers.** The [papers](../papers/index.md) behind the method are computed again, with
what could not be reproduced.

**Versions.** [Which version made each result](versions.md) names the version behind each
benchmark.

What is not checked: whether the model that you assess was used as intended, and whether the
outcomes that you recorded are right.
"""
