"""A stored result is old as soon as code that it uses has changed, and not before."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calling
import confirm
import provenance
import run
import taking
import versions_page

FOLDER = Path(provenance.__file__).parent
SCRIPT = """
import argparse, json
from pathlib import Path
import bayescal as bc

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    (Path(__file__).parent / "results" / "one.json").write_text(json.dumps(bc.room.twice(runs)))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A package with a lazy front door and two rooms, and a benchmark that uses one of them."""
    package, benchmarks = tmp_path / "bayescal", tmp_path / "docs" / "benchmarks"
    for folder in (package / "room", package / "other", benchmarks / "results"):
        folder.mkdir(parents=True)
    (tmp_path / "docs" / "_scripts").mkdir()
    (package / "__init__.py").write_text("from bayescal import room\n")
    (package / "__init__.pyi").write_text("from . import other as other\nfrom . import room\n")
    (package / "room" / "__init__.py").write_text("from ._sum import twice\n")
    (package / "room" / "_sum.py").write_text("def twice(x):\n    '''Two.'''\n    return 2 * x\n")
    (package / "other" / "__init__.py").write_text("x = 1\n")
    (benchmarks / "one.py").write_text(SCRIPT)
    for name in sorted(provenance.MACHINERY):
        shutil.copy2(FOLDER / f"{name}.py", benchmarks)
    return tmp_path


def command(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = repository / "docs" / "benchmarks" / "run.py"
    words = [sys.executable, str(script), *arguments]
    return subprocess.run(words, cwd=repository, capture_output=True, text=True)


def in_git(repository: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    done = subprocess.run(
        ["git", *own, *words], cwd=repository, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_script_uses_what_its_names_lead_to(repository: Path) -> None:
    used = provenance.Sources(repository).used("one")
    assert used == {"one", "bayescal.room", "bayescal.room._sum"}


def test_a_real_script_uses_what_its_names_lead_to() -> None:
    used = provenance.here().used("e_value")
    assert {name.split(".")[1] for name in used if "." in name} == {
        "_base",
        "data",
        "inference",
        "model",
    }
    assert not [name for name in used if name.startswith("bayescal.plots")]


def test_only_scripts_that_measure_times_depend_on_what_shows_or_limits_threads() -> None:
    sources = provenance.here()
    for name in provenance.WITHOUT_NUMBERS:
        assert f"bayescal.{name}" in sources.modules, name
    shown = {
        script: {name for name in sources.used(script) if provenance._is_without_numbers(name)}
        for script in sources.scripts
    }
    assert {script for script, names in shown.items() if names} == provenance.TIMED
    assert "bayescal.assessment.findings" in sources.used("verdict")


@pytest.mark.parametrize(
    ("code", "same"),
    [
        ("if x < 0:\n    raise ValueError('x is below 0')", True),
        ("if x < 0:\n    raise ValueError(f'x is {x}') from None", True),
        ("if x < 0:\n    raise TypeError('x is negative')", False),
        ("if x < 1:\n    raise ValueError('x is negative')", False),
    ],
)
def test_what_errors_say_does_not_count(code: str, same: bool) -> None:
    former = "if x < 0:\n    raise ValueError('x is negative')"
    both = [provenance.essence(ast.parse(text)) for text in (former, code)]
    assert (both[0] == both[1]) is same


def test_what_warnings_say_and_imports_for_types_do_not_count(repository: Path) -> None:
    room = repository / "bayescal" / "room" / "_sum.py"
    lines = "import warnings\ndef twice(x):\n    warnings.warn('{}')\n    return 2 * x\n"
    codes, types = (
        set(),
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {} import x\n",
    )
    for word, module in (("one", "bayescal.other"), ("two", "bayescal")):
        room.write_text(types.format(module) + lines.format(word))
        sources = provenance.Sources(repository)
        assert "bayescal.other" not in sources.used("one")
        codes.add(sources.code("one"))
    assert len(codes) == 1
    room.write_text(types.format("bayescal") + lines.replace("2 *", "3 *"))
    assert provenance.Sources(repository).code("one") not in codes


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("def f(x: int) -> int:\n    return x + 1", True),
        ("def f(x):\n    # a remark\n    return x + 1", True),
        ('"""Text."""\n\ndef f(x):\n    """Text."""\n    return (x +\n        1)', True),
        ("def f(x):\n    return x + 2", False),
        ("def f(x):\n    return x - 1", False),
        ("def f(x, y=0):\n    return x + 1", False),
    ],
)
def test_only_code_counts(changed: str, same: bool) -> None:
    former = provenance.essence(ast.parse("def f(x):\n    return x + 1"))
    assert (provenance.essence(ast.parse(changed)) == former) is same


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("def f(x):\n    b = x + G\n    return [b * i for i in x]", True),
        ("def f(x):\n    b = x + G\n    return [b * j for j in x]", True),
        ("def f(x):\n    b = x + H\n    return [b * i for i in x]", False),
        ("def f(x):\n    b = x + G\n    return [i * b for i in x]", False),
        ("def f(x):\n    b = x + G\n    return [b * b for i in x]", False),
        ("def f(y):\n    b = y + G\n    return [b * i for i in y]", False),
        ("def f(x):\n    global b\n    b = x + G\n    return [b * i for i in x]", False),
    ],
)
def test_names_of_local_variables_do_not_count(changed: str, same: bool) -> None:
    former = "def f(x):\n    a = x + G\n    return [a * i for i in x]"
    digests = [provenance.pieces(ast.parse(text))[0].digest for text in (former, changed)]
    assert (digests[0] == digests[1]) is same


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("B = 1\nC = 2\ndef f(x):\n    return x + B", True),
        ("B = 1\nC = 2\ndef f(x):\n    return x + C", False),
        ("B = 3\nC = 2\ndef f(x):\n    return x + B", False),
        ("C = 2\nB = 1\ndef f(x):\n    return x + B", False),
        ("B = 1\nC = 2\ndef f(x):\n    return x + D", False),
    ],
)
def test_names_of_constants_do_not_count(changed: str, same: bool) -> None:
    def digests(code: str) -> list[str]:
        return [piece.digest for piece in provenance.pieces(ast.parse(code))]

    former = digests("A = 1\nC = 2\ndef f(x):\n    return x + A")
    assert (digests(changed) == former) is same


def test_limits_of_threads_count_only_where_times_are_the_result(repository: Path) -> None:
    room = repository / "bayescal" / "room" / "_sum.py"
    (repository / "docs" / "benchmarks" / "speed.py").write_text(
        (repository / "docs" / "benchmarks" / "one.py").read_text()
    )
    (repository / "bayescal" / "_base").mkdir()
    (repository / "bayescal" / "_base" / "threads.py").write_text("one_blas_thread = None\n")
    plain = "from bayescal import other\ndef twice(x):\n    return other(2 * x)\n"
    limit = "from bayescal._base.threads import one_blas_thread\n"
    codes, timed = set(), set()
    for text in (
        plain,
        limit + plain.replace("def", "@one_blas_thread\ndef"),
        limit + plain.replace("    return", "    with one_blas_thread:\n        return"),
        limit + plain.replace("other(2", "one_blas_thread(other)(2"),
    ):
        room.write_text(text)
        sources = provenance.Sources(repository)
        codes.add(sources.code("one"))
        timed.add(sources.code("speed"))
    assert len(codes) == 1
    assert len(timed) == 4
    room.write_text(text.replace("2 *", "3 *"))
    assert provenance.Sources(repository).code("one") not in codes


def test_results_are_recorded_and_old_when_code_changes(repository: Path) -> None:
    missing = command(repository, "--stale")
    assert missing.returncode == 1
    assert missing.stdout == "one: no record of a run\n"

    done = command(repository, "one", "--", "--runs", "3")
    assert done.returncode == 0, done.stderr
    results = repository / "docs" / "benchmarks" / "results"
    assert json.loads((results / "one.json").read_text()) == 6
    record = json.loads((results / "runs.json").read_text())["one"]
    assert record["repeats"] == 3
    assert record["seeds"] == "the number of each run"
    assert 0 <= record["seconds"] < 600
    assert "numpy" in record["libraries"]
    short = command(repository, "--stale")
    assert short.returncode == 1
    assert short.stdout == "one: made with other arguments: --runs 3\n"

    assert command(repository, "one").returncode == 0
    assert "one: current" in command(repository).stdout
    room = repository / "bayescal" / "room" / "_sum.py"
    room.write_text("def twice(x):\n    return x + x\n")
    later = command(repository, "--stale")
    assert later.returncode == 1
    assert "the code has changed since" in later.stdout

    before = (results / "one.json").read_text()
    assert "one:" in command(repository, "--quick").stdout
    assert (results / "one.json").read_text() == before


def test_a_script_that_fails_is_named_and_not_recorded(repository: Path) -> None:
    (repository / "bayescal" / "room" / "_sum.py").write_text("twice = None\n")
    failed = command(repository, "one")
    assert failed.returncode == 1
    assert "failed: one" in failed.stderr
    assert not (repository / "docs" / "benchmarks" / "results" / "runs.json").exists()
    assert "one: FAILED: TypeError" in command(repository, "--quick").stdout
    assert "no script is called two" in command(repository, "two").stderr


def test_scripts_that_measure_times_run_alone_and_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "RECORDS", tmp_path / "runs.json")
    monkeypatch.setattr(provenance.records, "__defaults__", (tmp_path / "runs.json",))
    monkeypatch.setattr(run, "ALONE", {"timed"})
    both = threading.Barrier(2, timeout=30)
    order = []

    def record(name: str) -> dict[str, float] | None:
        order.append(name)
        if name != "timed":
            both.wait()  # ends only if the other one runs at the same time
        return None if name == "b" else {"seconds": 1.0}

    assert run.run_all(["a", "timed", "b"], 2, record) == ["b"]
    assert order[0] == "timed"
    assert sorted(provenance.records()) == ["a", "timed"]


def test_every_script_that_runs_alone_exists() -> None:
    assert provenance.here().scripts.keys() >= calling.ALONE


def test_pages_say_which_version_made_them(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"version": "1", "commit": "abcdef0123", "date": "2026-01-02", "code": "x"}
    one |= {"repeats": 20, "seconds": 61.2, "seeds": "seed 1"}
    known = {"sbc": one, "verdict": one}
    monkeypatch.setattr(versions_page, "state", lambda: (known, {"sbc": "changed"}, {}))
    assert "an earlier version" in versions_page.sentence("sbc")
    assert "the present code" in versions_page.sentence("verdict")
    assert "commit abcdef012, 2026-01-02 (20 repeats, 61 s)" in versions_page.sentence("verdict")
    assert versions_page.sentence("no such page") == ""
    page = versions_page.versions_page()
    assert "1 of 2 results are of the present code, and 0 of an earlier one" in page
    assert "| `sbc` | 1 | abcdef012 | 2026-01-02 | 20 | seed 1 | 61 s | old |" in page


def test_every_page_of_results_names_benchmarks_that_exist() -> None:
    named = {name for names in versions_page.SCRIPTS.values() for name in names}
    assert named <= provenance.here().scripts.keys()


def test_the_plan_sums_what_was_timed() -> None:
    known = {"a": {"seconds": 90.0}, "b": {"seconds": 7200.0}, "c": {"seconds": None}}
    lines = run.plan(["a", "b", "c", "d"], known)
    assert lines[:2] == ["a: 90 s", "b: 2.0 h"]
    assert lines[2:4] == ["c: not timed yet", "d: not timed yet"]
    assert lines[4] == "2.0 h for 2 of 4 that were timed"


@pytest.mark.parametrize(
    ("option", "told"),
    [("'--runs', type=int, default=400", "; all repeats: about 33 min"), ("'--cells'", "")],
)
def test_a_quick_run_tells_how_long_all_repeats_take(
    tmp_path: Path, option: str, told: str
) -> None:
    script = tmp_path / "a.py"
    script.write_text(f"parser.add_argument({option})\n")
    assert run.in_full(script, 10.0) == told


def test_seeds_and_repeats_are_those_of_the_script(tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    script.write_text("SEEDS = {'a': 3}\nparser.add_argument('--runs', type=int, default=5)\n")
    assert run.seeds_of(script, []) == "SEEDS = {'a': 3}"
    assert run.repeats_of(script, []) == 5
    assert run.repeats_of(script, ["--runs", "9"]) == 9
    assert calling.few(script) == ["--runs", "2"]
    script.write_text("SEED, RUNS = 7, 30\nSEEDS = 10\nadd.add_argument('--runs', default=RUNS)\n")
    assert run.seeds_of(script, []) == "SEED = 7"
    assert run.repeats_of(script, []) == 30


def test_nothing_is_recorded_of_code_that_changed_while_it_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "a.py"
    script.write_text("print(1)\n")
    codes = iter(["one", "another"])
    monkeypatch.setattr(provenance.Sources, "code", lambda self, name: next(codes))
    assert run.run("a", script, []) is None


ROWS = """
import argparse, json
from functools import partial
from pathlib import Path
import bayescal as bc
from kept import Rows

def one(factor, number):
    yield {"cell": factor, "value": factor * bc.room.twice(number) / 3}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    runs, kept = parser.parse_args().runs, Rows("rows")
    rows = []
    for factor in (1, 2):
        rows += kept.all_of(str(factor), runs, partial(one, factor))
    (Path(__file__).parent / "results" / "rows.json").write_text(json.dumps(rows))
"""


@pytest.fixture
def finished(repository: Path) -> Path:
    """The same with the result of a benchmark that keeps rows."""
    (repository / "docs" / "benchmarks" / "rows.py").write_text(ROWS)
    done = command(repository, "rows")
    assert done.returncode == 0, done.stderr
    return repository


def change(repository: Path, code: str) -> None:
    room = repository / "bayescal" / "room" / "_sum.py"
    room.write_text(f"def twice(x):\n    {code}\n")


def test_finished_data_sets_are_kept_apart_for_each_code(finished: Path) -> None:
    results = finished / "docs" / "benchmarks" / "results"
    before = json.loads((results / "rows.json").read_text())
    (first,) = (results / "rows-batches").iterdir()
    lines = (first / "rows.jsonl").read_text().splitlines()
    assert len(lines) == len(before) == 10

    stopped = "\n".join([*lines[:3], lines[3][:20], ""])
    (first / "rows.jsonl").write_text(stopped)
    assert command(finished, "--again", "rows").returncode == 0
    assert json.loads((results / "rows.json").read_text()) == before
    assert (first / "rows.jsonl").read_text() == stopped + "\n".join([*lines[3:], ""])

    change(finished, "return 3 * x")
    assert command(finished, "rows").returncode == 0
    after = json.loads((results / "rows.json").read_text())
    assert [row["value"] for row in after] == [1.5 * row["value"] for row in before]


def test_a_result_is_confirmed_by_its_first_data_sets(finished: Path) -> None:
    change(finished, "return x + x")
    assert "rows: made at" in command(finished, "--stale", "rows").stdout
    done = command(finished, "--confirm", "rows")
    assert "4 of 10 data sets are as they were" in done.stdout, done.stderr
    stale = command(finished, "--stale", "rows")
    assert stale.returncode == 0
    assert "confirmed by 4 of 10 data sets at version" in stale.stdout

    change(finished, "return 2 * x + (x == 1) * 1e-4")
    done = command(finished, "--confirm", "rows")
    assert "2 of 4 data sets differ, first set 1 of 1" in done.stdout
    assert "rows: made at" in command(finished, "--stale", "rows").stdout


def test_a_result_without_rows_is_confirmed_by_short_runs_of_both_versions(
    repository: Path,
) -> None:
    in_git(repository, "init")
    assert command(repository, "one").returncode == 0
    told = command(repository, "--confirm", "one").stdout
    assert told == ""  # it is not old
    change(repository, "return x + x")
    assert "the commit that made it is not here" in command(repository, "--confirm", "one").stdout

    change(repository, "return 2 * x")
    in_git(repository, "add", ".")
    in_git(repository, "commit", "-m", "one")
    assert command(repository, "--again", "one").returncode == 0
    change(repository, "return x + x")
    done = command(repository, "--confirm", "one")
    assert "short runs (--runs 2) of both versions are the same" in done.stdout, done.stderr
    stale = command(repository, "--stale", "one")
    assert stale.returncode == 0
    assert "confirmed by short runs of both versions at version" in stale.stdout
    result = repository / "docs" / "benchmarks" / "results" / "one.json"
    assert json.loads(result.read_text()) == 14  # of all repeats

    change(repository, "return 3 * x")
    done = command(repository, "--confirm", "one")
    assert "short runs (--runs 2) of both versions differ" in done.stdout
    assert command(repository, "--stale", "one").returncode == 1


def test_columns_of_two_runs_are_compared_without_versions_and_times(tmp_path: Path) -> None:
    told = []
    for seconds, tce in ((1.0, 0.1), (2.0, 0.1), (1.0, 0.2)):
        file = tmp_path / f"{seconds}.npz"
        np.savez(file, versions=str(seconds), tce=[tce, np.nan], n=[3, 4], seconds=[seconds])
        told.append(confirm.stored(file))
    one, again, other = told
    assert set(one) == {"tce", "n", "seconds"}
    assert confirm.same(one, again)
    assert not confirm.same(one, other)


def test_times_are_never_confirmed() -> None:
    for name in calling.ALONE & provenance.records().keys():
        assert confirm.confirm(name, Path(name)) == (None, "times are its result: run it")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ([1.0, {"a": None}], [1 + 1e-9, {"a": None}], True),
        (float("nan"), float("nan"), True),
        (True, True, True),
        ({"fit.seconds": 1.0, "a": 1}, {"fit.seconds": 2.0, "a": 1}, True),
        ({"time": {"clock": 1.0}, "a": 1}, {"time": {"clock": 2.0}, "a": 1}, True),
        (1.0, 1.00001, False),
        ([{"bias": 1e-5}], [{"bias": 1.01e-5}], False),
        ({"a": 1.0}, {"b": 1.0}, False),
        ([1.0], [1.0, 2.0], False),
        ("yes", "no sign", False),
        (1.0, None, False),
    ],
)
def test_rows_are_the_same_to_a_millionth(one: object, other: object, alike: bool) -> None:
    assert confirm.same(one, other) is alike


@pytest.mark.parametrize(
    ("former", "told"),
    [
        ({("a", 0): [2.0]}, "1 of 9 data sets are as they were where both versions run"),
        ({("a", 0): [3.0]}, "1 of 1 data sets differ, first set 0 of a where both versions run"),
        ({}, "the code that made them does not run here"),
    ],
)
def test_sets_of_another_machine_are_made_by_both_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, former: dict[Any, Any], told: str
) -> None:
    """The present code says 2, the stored set 1, and the code that made it `former` here."""
    monkeypatch.setattr(confirm, "copied", lambda name: nullcontext(tmp_path / "present"))
    monkeypatch.setattr(confirm, "at_commit", lambda name: nullcontext(tmp_path / name))

    def first_sets(name: str, script: Path, benchmarks: Path, package: Path) -> Any:
        return "", former if package == tmp_path / "made" else {("a", 0): [2.0]}, 1.0

    monkeypatch.setattr(confirm, "first_sets", first_sets)
    record = {"commit": "made", "data_sets": 9}
    answer = confirm.by_first_sets("one", Path("one.py"), {("a", 0): [1.0]}, record)
    assert told in answer[1]
    assert (answer[0] is not None) == ("as they were" in told)


def test_the_page_says_how_a_result_was_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = provenance.records()
    again = {"sbc": "confirmed by 4 of 10 data sets at version 1, commit abc"}
    monkeypatch.setattr(versions_page, "state", lambda: (known, {}, again))
    assert "confirmed by 4 of 10 data sets" in versions_page.sentence("sbc")
    assert "1 of an earlier one were confirmed" in versions_page.versions_page()


def test_machinery_does_not_make_results_old() -> None:
    assert not provenance.MACHINERY & provenance.here().used("slopes")


CALLED = """
class Sum:
    factor = 2
    def twice(self, x):
        return self.factor * x

def twice(x):
    return Sum().twice(x)
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("\ndef twice", "\ndef thrice(x):\n    return 3 * x\n\ndef twice", True),
        ("\ndef twice", "\nclass Other:\n    pass\n\ndef twice", True),
        (
            "\ndef twice",
            "\ndef helper():\n    return 3\n\ndef thrice(x):\n    return helper() * x\n\ndef twice",
            True,
        ),
        ("    factor = 2", "    factor = 2\n    def thrice(self, x):\n        return 3", True),
        ("    factor = 2", "    'What it is.'\n    factor = 2", True),
        ("    factor = 2", "    factor = 3", False),
        ("self.factor * x", "self.factor + x", False),
        ("Sum().twice(x)", "Sum().twice(x) + 1", False),
        ("    factor = 2", "    factor = 2\n    def __init__(self):\n        pass", False),
        ("\ndef twice", "\n@register\ndef thrice(x):\n    return 3\n\ndef twice", False),
        ("\ndef twice", "\nTHREE = 3\n\ndef twice", False),
        ("class Sum:", "class Sum(dict):", False),
    ],
)
def test_what_nothing_names_does_not_make_a_result_old(
    repository: Path, old: str, new: str, same: bool
) -> None:
    room = repository / "bayescal" / "room" / "_sum.py"
    room.write_text(CALLED)
    before = provenance.Sources(repository).code("one")
    assert CALLED.count(old) == 1
    room.write_text(CALLED.replace(old, new))
    assert (provenance.Sources(repository).code("one") == before) is same


def test_methods_that_another_library_may_call_count(repository: Path) -> None:
    room, codes = repository / "bayescal" / "room" / "_sum.py", set()
    for factor in (2, 3):
        room.write_text(
            f"class Sum(dict):\n    def __missing__(self, x):\n        return x\n"
            f"    def pop(self, x):\n        return {factor} * x\n\n"
            "def twice(x):\n    return Sum()[x]\n"
        )
        codes.add(provenance.Sources(repository).code("one"))
    assert len(codes) == 2


def test_a_function_that_is_named_in_a_string_counts(repository: Path) -> None:
    room, codes = repository / "bayescal" / "room" / "_sum.py", set()
    for factor in (2, 3):
        room.write_text(
            f"def other(x):\n    return {factor} * x\n\n"
            "def twice(x):\n    return globals()['other'](x)\n"
        )
        codes.add(provenance.Sources(repository).code("one"))
    assert len(codes) == 2


def calls(tree: ast.AST, *names: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    ]


def test_scripts_keep_what_is_finished_under_their_own_names() -> None:
    named = 0
    for name, path in provenance.here().scripts.items():
        for call in calls(ast.parse(path.read_text("utf-8")), "Rows", "folder"):
            if isinstance(call.args[0], ast.Constant):
                assert call.args[0].value == name
                named += 1
    assert named > 40


REPLACED = {
    "dong",
    "estimator_cost",
    "several_terms",
    "sites_speed",
    "speed",
    "tables",
    "terms_sbc",
    "torabian",
}
"""Scripts that can make a part alone and keep the other parts; as a whole they make all again."""


def test_no_script_takes_a_stored_result_for_finished() -> None:
    reading = {
        name
        for name, path in provenance.here().scripts.items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.IfExp) and "json.loads" in ast.unparse(node.body)
    }
    assert reading <= REPLACED


def test_commits_that_made_results_are_in_this_repository() -> None:
    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words], cwd=provenance.HERE, capture_output=True, text=True, check=False
        )

    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the history of this copy is not here, or not all of it")
    known = provenance.records().values()
    made = {one["commit"] for one in known}
    made |= {one["confirmed"]["commit"] for one in known if "confirmed" in one}
    assert not [name for name in made if git("cat-file", "-e", f"{name}^{{commit}}").returncode]


def test_hashes_are_those_of_the_commits_that_made_the_results(finished: Path) -> None:
    for words in (("init",), ("add", "."), ("commit", "-m", "one")):
        in_git(finished, *words)
    records = finished / "docs" / "benchmarks" / "results" / "runs.json"
    known = json.loads(records.read_text())
    code, known["rows"]["commit"] = known["rows"]["code"], in_git(finished, "rev-parse", "HEAD")
    known["rows"]["code"] = "of a former rule"
    known["rows"]["confirmed"] = {"commit": known["rows"]["commit"], "code": "of a former rule"}
    records.write_text(json.dumps(known))
    assert command(finished, "--again", "one").returncode == 0  # new results are no new code
    assert json.loads(records.read_text())["one"]["commit"] == known["rows"]["commit"]
    change(finished, "return 3 * x")
    assert command(finished, "--again", "one").returncode == 0
    assert json.loads(records.read_text())["one"]["commit"].endswith("-dirty")
    assert command(finished, "--rehash").stdout == "rows\n"
    rows = json.loads(records.read_text())["rows"]
    assert rows["code"] == rows["confirmed"]["code"] == code
    assert command(finished, "--stale", "rows").returncode == 1
    change(finished, "return 2 * x")
    assert command(finished, "--stale", "rows").returncode == 0


def test_each_result_belongs_to_one_script() -> None:
    owners: dict[Path, set[str]] = {}
    for name in provenance.here().scripts:
        for file in taking.files_of(name, FOLDER):
            owners.setdefault(file, set()).add(name)
    stored = {path.relative_to(FOLDER) for path in (FOLDER / "results").glob("**/*.*")}
    stored = {path for path in stored if not path.parts[1].endswith("-batches")}
    assert stored - set(owners) == {Path("results/runs.json")}
    assert not {file: names for file, names in owners.items() if len(names) > 1}
    assert set(provenance.records()) <= set().union(*owners.values())


def test_results_of_the_same_code_are_taken_from_another_copy(
    finished: Path, tmp_path: Path
) -> None:
    (finished / ".gitignore").write_text("__pycache__\n*-batches\n")
    for words in (("init",), ("add", "."), ("commit", "-m", "one")):
        in_git(finished, *words)
    other = tmp_path / "elsewhere"
    shutil.copytree(finished, other, ignore=shutil.ignore_patterns("elsewhere"))
    results = finished / "docs" / "benchmarks" / "results"
    assert command(other, "one").returncode == 0
    assert not (results / "one.json").exists()
    assert command(finished, "--from", str(other)).stdout == "one: taken, 1 file\n"
    assert (results / "one.json").read_text() == "14"
    assert command(finished, "--stale", "one").returncode == 0
    assert command(finished, "--from", str(other)).stdout == ""
    assert "no results" in command(finished, "--from", str(tmp_path / "bayescal")).stderr

    in_git(other, "commit", "-m", "two", "--allow-empty")
    assert command(other, "--again", "one").returncode == 0
    assert "one of this code is here" in command(finished, "--from", str(other)).stdout
    change(finished, "return 3 * x")
    assert "one: not taken: made by other code" in command(finished, "--from", str(other)).stdout
    change(other, "return 3 * x")
    assert command(other, "one").returncode == 0
    assert "is not in the history" in command(finished, "--from", str(other)).stdout
    assert (results / "one.json").read_text() == "14"
