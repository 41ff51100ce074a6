"""The parts of the checks before a merge."""

import importlib.util
import io
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


def script(name):
    """A script of `.ci`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_depends_on_versions_exists():
    """Pytest would end with an error in three environments, after minutes."""
    text = (REPOSITORY / ".ci" / "run").read_text("utf-8")
    listed = re.findall(r"^    (tests/\S+)$", text, re.M)
    assert len(listed) > 5
    assert [name for name in listed if not (REPOSITORY / name.partition("::")[0]).exists()] == []


@pytest.fixture
def built(tmp_path):
    """A source of three files, and its sdist and wheel as they should be."""
    source, dist = tmp_path / "source", tmp_path / "dist"
    for name in ("README.md", "bayescal/__init__.py", ".github/x.yml"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    dist.mkdir()
    sdist(dist, ["README.md", "bayescal/__init__.py", "PKG-INFO"])
    with zipfile.ZipFile(dist / "a-1.whl", "w") as wheel:
        wheel.writestr("bayescal/__init__.py", "")
        wheel.writestr("a-1.dist-info/METADATA", "")
    return source, dist


def sdist(dist, names):
    with tarfile.open(dist / "a-1.tar.gz", "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"a-1/{name}"), io.BytesIO())


def test_distributions_with_the_files_of_the_source_pass(built, monkeypatch):
    monkeypatch.setattr("sys.argv", ["contents.py", *map(str, built)])
    script("contents").main()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["README.md", "PKG-INFO"], "a-1.tar.gz has no bayescal/__init__.py"),
        (["README.md", "bayescal/__init__.py", "x.nc"], "a-1.tar.gz should not have x.nc"),
    ],
)
def test_a_file_too_many_or_too_few_is_named(built, monkeypatch, names, message):
    sdist(built[1], names)
    monkeypatch.setattr("sys.argv", ["contents.py", *map(str, built)])
    with pytest.raises(SystemExit, match=message):
        script("contents").main()
