"""Names say what a thing is, and docstrings use words that a reader can look up."""

import ast
import re
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path
    for folder in ("bayescal", "docs/_scripts", "docs/benchmarks", "tests", ".ci")
    for path in (REPOSITORY / folder).rglob("*.py")
)
PAGES = [
    path
    for path in sorted(REPOSITORY.glob("docs/**/*.md"))
    if not {"_build", "generated", "results"} & set(path.parts)
]

VAGUE = {"found", "held", "place", "said", "whole"}
"""They name a value by what happened to it; what it is goes unsaid."""
MENTIONED = re.compile(rf"\b_*({'|'.join(sorted(VAGUE))})_*\b")

UNEXPLAINED = re.compile(r"\bfound\b|\bheld\b(?!-out| out| at | together)")


@cache
def parsed(path):
    return ast.parse(path.read_text("utf-8"))


def names_in(tree):
    """Every name that the code gives to something, and its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


def docstrings_in(tree):
    """Lines of docstrings, of modules, classes and functions."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and (text := ast.get_docstring(node, clean=False)):
            first = node.body[0].lineno
            yield from enumerate(text.splitlines(), first)


def where(path):
    return path.relative_to(REPOSITORY).as_posix()


def vague(tree):
    return [(line, name) for line, name in names_in(tree) if name.strip("_") in VAGUE]


def test_names_say_what_a_thing_is():
    wrong = [
        f"{where(path)}:{line} {name}"
        for path in SOURCES
        if MENTIONED.search(path.read_text("utf-8"))  # so that few files are parsed
        for line, name in vague(parsed(path))
    ]
    assert not wrong, "\n".join([f"{len(wrong)} names to replace:", *wrong])


def test_docstrings_use_words_that_can_be_looked_up():
    wrong = [
        f"{where(path)}:{line} {text.strip()}"
        for path in SOURCES
        if path.is_relative_to(REPOSITORY / "bayescal")
        for line, text in docstrings_in(parsed(path))
        if UNEXPLAINED.search(text)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} lines to reword:", *wrong])


def test_examples_on_pages_name_things_too():
    wrong = []
    for path in [REPOSITORY / "README.md", *PAGES]:
        for code in re.findall(r"^```python\n(.*?)^```", path.read_text("utf-8"), re.M | re.S):
            wrong += [f"{where(path)}: {name}" for _, name in vague(ast.parse(code))]
    assert not wrong, "\n".join([f"{len(wrong)} names to replace:", *wrong])
