"""The version, the addresses and what is known of Python 3.11 stand in one place each."""

import importlib.util
import json
import re
import shutil
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PROJECT_FILE = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
PROJECT = PROJECT_FILE["project"]
FORGE = REPOSITORY / ".github"
needs_forge = pytest.mark.skipif(not FORGE.is_dir(), reason="an sdist has no files for a forge")


def loaded(path):
    """A file of Python that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def release():
    return loaded(REPOSITORY / ".ci" / "release.py")


@pytest.fixture
def copy(tmp_path):
    """The files that a release check reads, as they should be for version 1.2."""
    shutil.copy2(REPOSITORY / "pyproject.toml", tmp_path)
    text = (tmp_path / "pyproject.toml").read_text("utf-8")
    text = text.replace(f'version = "{PROJECT["version"]}"', 'version = "1.2"')
    (tmp_path / "pyproject.toml").write_text(text, "utf-8")
    (tmp_path / "CITATION.cff").write_text("version: 1.2\n")
    (tmp_path / "CHANGELOG.md").write_text("## 1.2: a release, 2026-11-27\n")
    results = tmp_path / "docs" / "benchmarks"
    results.mkdir(parents=True)
    for name in ("claim", "coverage", "gain", "papers", "planning", "speed", "structured"):
        (results / f"{name}.json").write_text('{"version": "1.2"}')
    (tmp_path / "docs" / "cite.md").write_text("bayescal (version 1.2)")
    (tmp_path / "docs" / "install.md").write_text("pip install bayescal")
    return tmp_path


def test_a_release_is_ready_when_all_name_it(copy, release):
    assert release.problems(copy, "1.2") == []


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("pyproject.toml", '"1.2"', '"1.3.dev0"', "the version is 1.3.dev0, not 1.2"),
        ("CITATION.cff", "1.2", "1.1", "CITATION.cff: the version is 1.1"),
        ("CHANGELOG.md", "1.2", "Unreleased", "there is no section for 1.2"),
        ("CHANGELOG.md", ", 2026-11-27", " (in preparation)", "no date ends the heading"),
        (
            "docs/benchmarks/gain.json",
            "1.2",
            "1.1",
            "gain.py: its result is of",
        ),
        ("docs/cite.md", "1.2", "1.1", "the version to cite is not 1.2"),
        ("docs/install.md", "pip", "There is no release yet.", "there is no release yet"),
    ],
)
def test_what_is_not_of_the_release_is_named(copy, release, file, old, new, problem):
    path = copy / file
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    assert any(problem in line for line in release.problems(copy, "1.2"))


def test_the_links_of_the_readme_are_absolute_on_the_page_of_an_index():
    links = loaded(REPOSITORY / ".ci" / "links.py")
    text = "[a](docs/a.md#b) ![c](docs/c.png) [d](https://x.org) [e](#f)"
    assert links.absolute(text, "https://h.org/us/it", "1.2") == (
        "[a](https://h.org/us/it/blob/v1.2/docs/a.md#b) "
        "![c](https://h.org/us/it/raw/v1.2/docs/c.png) [d](https://x.org) [e](#f)"
    )
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    assert links.LINK.search(readme)
    assert not links.LINK.search(links.absolute(readme, "https://h.org/us/it", "1.2"))


def test_no_placeholder_is_left_for_a_release():
    """Addresses are added to `project.urls` when there are some; then they stand there alone."""
    files = [
        REPOSITORY / name
        for name in ("pyproject.toml", "README.md", "CITATION.cff", "CHANGELOG.md")
    ]
    files += [path for path in (REPOSITORY / "docs").rglob("*.md") if "_build" not in path.parts]
    for path in files:
        assert not re.search(r"\b(OWNER|TODO|FILL)\b|example\.com", path.read_text("utf-8")), path


def test_the_citation_has_the_version_of_the_package():
    text = (REPOSITORY / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (.+)$", text, re.M)[1] == PROJECT["version"]
    assert re.search(r'^date-released: "\d{4}-\d\d-\d\d"$', text, re.M)


def test_the_page_lists_what_branches_on_python_3_11():
    branching = {
        re.match(r"[\w-]+", text)[0] for text in PROJECT["dependencies"] if "python_version" in text
    }
    page = (REPOSITORY / "docs" / "install.md").read_text("utf-8")
    table = page.partition("## Python 3.11")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([\w-]+)` \|", table, re.M)) == branching
    assert "October 2027" in table


@needs_forge
def test_workflows_call_scripts_that_exist_on_each_supported_python():
    texts = {path.name: path.read_text("utf-8") for path in (FORGE / "workflows").glob("*.yml")}
    assert texts.keys() == {"docs.yml", "nightly.yml", "release.yml", "tests.yml"}
    for text in texts.values():
        for script in re.findall(r"(?:\.ci|docs/_scripts)/\w+(?:\.py)?", text):
            assert (REPOSITORY / script).is_file(), script
    supported = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if ":: 3." in text]
    for name in ("tests.yml", "nightly.yml", "release.yml"):
        assert re.search(r"python: (\[.*\])", texts[name])[1] == json.dumps(supported)


@needs_forge
def test_slow_tests_are_left_out_unless_they_are_asked_for_and_run_every_night():
    assert PROJECT_FILE["tool"]["pytest"]["ini_options"]["addopts"][-2:] == ["-m", "not slow"]
    nightly = (FORGE / "workflows" / "nightly.yml").read_text("utf-8")
    assert 'pytest -n auto -rs -m ""\n' in nightly


@needs_forge
def test_the_archive_and_the_citation_have_one_title():
    archive = json.loads((REPOSITORY / ".zenodo.json").read_text("utf-8"))
    citation = (REPOSITORY / "CITATION.cff").read_text("utf-8")
    assert f'title: "{archive["title"]}"' in citation


def test_pytest_says_where_data_that_are_missing_come_from():
    configuration = loaded(REPOSITORY / "tests" / "conftest.py")
    lines = []
    reasons = [f"Skipped: {configuration.NO_DATA} at /x: set BAYESCAL_DATA", "Skipped: no browser"]
    reporter = SimpleNamespace(
        stats={"skipped": [SimpleNamespace(longrepr=("a.py", 1, why)) for why in reasons]},
        write_line=lines.append,
    )
    configuration.pytest_terminal_summary(reporter)
    assert len(lines) == 1
    assert lines[0].startswith("1 tests were skipped")
    page = re.search(r"docs/[\w-]+\.md", lines[0])[0]
    assert (REPOSITORY / page).is_file()
