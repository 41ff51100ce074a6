"""Every file of tests is one that pytest collects, or that the tests read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def test_pytest_enters_the_folder_of_every_test(pytestconfig: pytest.Config) -> None:
    """Pytest leaves out folders of some names, such as `build`, without a word."""
    ignored = pytestconfig.hook.pytest_ignore_collect
    left_out = {
        str(part.relative_to(TESTS))
        for path in TESTS.rglob("test_*.py")
        for part in (path, *path.parents)
        if part.is_relative_to(TESTS) and ignored(collection_path=part, config=pytestconfig)
    }
    assert not left_out


def test_files_with_tests_have_the_name_that_pytest_looks_for(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getini("testpaths") == [TESTS.name]
    assert "test_*.py" in pytestconfig.getini("python_files")
    other_names = [
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if not path.name.startswith("test_")
        if re.search("^ *def test_", path.read_text("utf-8"), re.M)
    ]
    assert not other_names


def test_the_configuration_needs_no_plugin() -> None:
    """Notebooks are run where pytest-xdist and pytest-cov are not installed."""
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cov", "--collect-only"]
    done = subprocess.run([*command, __file__], cwd=TESTS.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_long_tests_are_slow_and_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text("utf-8"), "utf-8")
    (tmp_path / "pyproject.toml").write_text((TESTS.parent / "pyproject.toml").read_text("utf-8"))
    marked = "import pytest\n\ndef test_a(): pass\n\n@pytest.mark.long\ndef test_b(): pass\n"
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text(marked)
    for asked, names in {("-m", ""): {"a", "b"}, ("-m", "not slow"): {"a"}}.items():
        command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "--collect-only", *asked]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert set(re.findall(r"::test_(\w)", done.stdout)) == names, done.stdout + done.stderr


def test_no_test_left_a_file_behind() -> None:
    kept = {
        TESTS / "known_sets.json",
        TESTS / "truths/stored.json",
        *TESTS.glob("golden/*.json"),
        *TESTS.rglob("*.py"),
        *TESTS.glob("posterior/stored/*.nc"),
    }
    other = {path for path in TESTS.rglob("*") if path.is_file()} - kept
    assert not {path for path in other if "__pycache__" not in path.parts}
