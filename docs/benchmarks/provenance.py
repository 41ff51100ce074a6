"""Which version of the code made which stored result, and whether that code has changed since.

`results/runs.json` has a record for each script: version, commit, date, duration, and a hash of the
source of every module that the script uses, of this folder and of the package. A result is old if
the hash has changed. What cannot change a number does not enter the hash: comments, docstrings and
layout, annotations of functions, names of local variables and of constants, imports for types
alone, and what errors and warnings say; unless times are the result, the modules that print, draw
and write pages, and limits of the threads of linear algebra, of which `run.py` leaves one; and
functions, classes and methods that nothing names which the script uses, such as new ones.

Where the code has changed, the first data sets of each cell can be made again, or a short run of
both versions: if each of their numbers is what it was, the result is confirmed for the present code
(`run.py --confirm`).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeGuard

HERE = Path(__file__).resolve().parent
RECORDS = HERE / "results" / "runs.json"
PACKAGE = "bayescal"
MACHINERY = {"calling", "confirm", "kept", "provenance", "run", "taking"}
"""Files of this folder that run, keep and record, and compute no number."""
NOT_STANDING_ALONE = MACHINERY | {"speed_cells"}
"""Files with a command that no page shows: this machinery, and what `speed.py` calls."""

WITHOUT_NUMBERS = (
    "_base.threads",
    "cli",
    "plots",
    *(f"assessment.{name}" for name in ("html", "notes", "text", "vocabulary", "word", "words")),
)
"""Rooms and modules of the package that compute no number: they show them, or limit threads."""
TIMED = {"speed", "threads"}
"""Scripts whose results are times of these too."""


def essence(
    node: Any, local: Mapping[str, str] | None = None, constant: Mapping[str, str] | None = None
) -> str:
    """A syntax tree as text, without places, comments and docstrings; equal on all Pythons.

    Parameters
    ----------
    local : mapping of str to str, optional
        What stands for each local variable of the function around it; outside of any None.
    constant : mapping of str to str, optional
        What stands for each constant of the module, where no local variable is called so.
    """
    if isinstance(node, list):
        return "[" + ",".join(essence(each, local, constant) for each in node) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Name):
        told = {**(constant or {}), **(local or {})}
        node = ast.Name(told.get(node.id, node.id), node.ctx)
    if isinstance(node, ast.FunctionDef) and local is None:
        local = locals_of(node)
    shown = []
    for name, value in ast.iter_fields(_without_message(node)):
        if name == "body" and isinstance(value, list):
            value = [each for each in value if not _is_text(each) and not _is_for_types(each)]
        if name == "returns" or (name == "annotation" and isinstance(node, ast.arg)):
            continue
        if value is not None and value != [] and name not in {"kind", "type_params"}:
            shown.append(f"{name}={essence(value, local, constant)}")
    return f"{type(node).__name__}({','.join(shown)})"


READ_NAMES = {"eval", "exec", "locals", "vars"}
"""Functions that read variables by their names."""


def locals_of(function: ast.FunctionDef) -> dict[str, str]:
    """Local variables of a function and of those in it, numbered in their order.

    Of a function that defines a class, or reads variables by their names, none are told.
    """
    inside = list(ast.walk(function))
    names = [each for each in inside if isinstance(each, ast.Name)]
    if any(each.id in READ_NAMES for each in names) or any(
        isinstance(each, ast.ClassDef | ast.Global | ast.Nonlocal) for each in inside
    ):
        return {}
    given = {each.arg for each in inside if isinstance(each, ast.arg)}
    stored = [each for each in names if isinstance(each.ctx, ast.Store) and each.id not in given]
    stored.sort(key=lambda each: (each.lineno, each.col_offset))
    return {name: f"local {k}" for k, name in enumerate(dict.fromkeys(each.id for each in stored))}


def constants_of(tree: ast.Module) -> dict[str, str]:
    """Constants of a module, numbered in their order; who imports one has its name."""
    told = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
    named = [each.id for each in told if isinstance(each, ast.Name) and each.id.isupper()]
    return {name: f"constant {k}" for k, name in enumerate(dict.fromkeys(named))}


@dataclass(frozen=True)
class Piece:
    """A part of a module: a function, a class without its methods, a method, or all the rest.

    Attributes
    ----------
    needs : tuple of str
        Names without which nothing calls it; none for what runs when the module is loaded.
    bases : tuple of str
        What its class is derived from: a class of another library may call its methods.
    names : frozenset of str
        Names that it reads, imports or has in strings.
    digest : str
    """

    needs: tuple[str, ...]
    bases: tuple[str, ...]
    names: frozenset[str]
    digest: str

    def is_used(self, names: set[str], classes: set[str]) -> bool:
        """Whether it counts, if these names are written and these classes are ours."""
        foreign = not classes.issuperset(self.bases)
        return names.issuperset(self.needs[:1] if foreign else self.needs)


PASSED_ON = {"cache", "cached_property", "classmethod", "contextmanager", "dataclass"} | {
    "lru_cache", "property", "setter", "staticmethod",
}  # fmt: skip
"""Decorators that call nothing and enter nothing into a register."""
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def pieces(tree: ast.Module) -> list[Piece]:
    """The parts of a module."""
    parts, rest, constant = [], [], constants_of(tree)
    for node in tree.body:
        if _is_unread(node):
            continue
        if not isinstance(node, DEFINITIONS) or not _is_plain(node):
            rest.append(node)
        elif isinstance(node, ast.ClassDef):
            bases = tuple(ast.unparse(base).partition("[")[0] for base in node.bases)
            own = [part for part in node.body if not (_is_method(part) or _is_unread(part))]
            shell = [*node.bases, *node.keywords, *node.decorator_list, *own]
            parts.append(_piece((node.name,), (), shell, constant))
            parts += [
                _piece((node.name, part.name), bases, [part], constant)
                for part in node.body
                if _is_method(part)
            ]
        else:
            parts.append(_piece((node.name,), (), [node], constant))
    return [*parts, _piece((), (), rest, constant)]


def _piece(
    needs: tuple[str, ...],
    bases: tuple[str, ...],
    nodes: list[ast.AST],
    constant: Mapping[str, str],
) -> Piece:
    digest = hashlib.sha256(essence(nodes, None, constant).encode()).hexdigest()
    return Piece(needs, bases, frozenset(written(nodes)), digest)


def _is_plain(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a definition by itself does nothing; special names are called by Python."""
    names = (ast.unparse(each).partition("(")[0] for each in node.decorator_list)
    passed_on = all(name.rpartition(".")[2] in PASSED_ON for name in names)
    return passed_on and not node.name.startswith("__")


def _is_method(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and _is_plain(node)


def written(nodes: list[ast.AST]) -> set[str]:
    """Names that are read, imported or in strings, and not those that are only defined."""
    names = set()
    for node in _executed(nodes):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.alias):
            names |= set(node.name.split("."))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= set(re.findall(r"\w+", node.value))
    return names


class WithoutLimitsOfThreads(ast.NodeTransformer):
    """Code as it is where `one_blas_thread` has nothing to limit."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function without its limit."""
        node.decorator_list = [each for each in node.decorator_list if not _is_limit(each)]
        return self.generic_visit(node)

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        """What is done inside a limit."""
        self.generic_visit(node)
        return node.body if all(_is_limit(item.context_expr) for item in node.items) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A function that is called inside a limit, itself."""
        self.generic_visit(node)
        return node.args[0] if _is_limit(node.func) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        """What else is imported."""
        return None if [alias.name for alias in node.names] == [LIMIT] else node


LIMIT = "one_blas_thread"


def _is_limit(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == LIMIT


def _is_text(node: ast.AST) -> bool:
    """A string that stands by itself: a docstring, or a remark on a constant."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _without_message(node: ast.AST) -> ast.AST:
    """An error that is raised by its class alone, a warning by nothing but the call.

    What is printed as the caution of a number is left out as well.
    """
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return ast.Raise(exc=node.exc.func, cause=None)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
        return ast.Call(func=node.func, args=[], keywords=[])
    if isinstance(node, ast.Call) and any(each.arg == "caution" for each in node.keywords):
        others = [each for each in node.keywords if each.arg != "caution"]
        return ast.Call(func=node.func, args=node.args, keywords=others)
    return node


def _executed(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers and people read."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if not _is_unread(node):
            yield node
            waiting += ast.iter_child_nodes(node)


def _is_unread(node: ast.AST) -> bool:
    """A text, an import for types, the list of public names, or how an object is pickled."""
    pickles = isinstance(node, ast.FunctionDef) and node.name == "__getstate__"
    lists = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    return pickles or lists or _is_text(node) or _is_for_types(node)


class Sources:
    """The modules of a copy of the repository, by their dotted names.

    Parameters
    ----------
    root : Path
        The top of the copy.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._trees: dict[Path, ast.Module] = {}
        self._below: dict[str, set[str]] = {}
        self._pieces: dict[tuple[str, bool], list[Piece]] = {}

    @cached_property
    def modules(self) -> dict[str, Path]:
        """Those of the package by their full names, scripts by their file names."""
        known = {}
        for path in sorted((self.root / PACKAGE).rglob("*.py")):
            parts = path.relative_to(self.root).with_suffix("").parts
            known[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        folder = self.root / "docs" / "benchmarks"
        for path in (*folder.glob("*.py"), *folder.glob("papers/*.py")):
            known[path.stem] = path
        return known

    def tree(self, path: Path) -> ast.Module:
        """The syntax tree of a file, parsed once."""
        if path not in self._trees:
            self._trees[path] = ast.parse(path.read_text("utf-8"))
        return self._trees[path]

    @cached_property
    def scripts(self) -> dict[str, Path]:
        """Benchmarks that can be run, by name."""
        folder = self.root / "docs" / "benchmarks"
        return {
            name: path
            for name, path in self.modules.items()
            if path.is_relative_to(folder)
            and name not in NOT_STANDING_ALONE
            and any(
                isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)
                for node in self.tree(path).body
            )
        }

    def resolved(self, dotted: str) -> str | None:
        """The module in which a dotted name is defined, through the stubs of lazy packages."""
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            module = ".".join(parts[:length])
            if module not in self.modules:
                continue
            stub = self.modules[module].with_suffix(".pyi")
            if length == len(parts) or not stub.is_file():
                return module
            target = self._in_stub(stub, module).get(parts[length])
            if target is None:
                return module
            return self.resolved(".".join([target, *parts[length + 1 :]]))
        return None

    def _in_stub(self, stub: Path, module: str) -> dict[str, str]:
        """Public names of a lazy package, and the dotted names they stand for."""
        names = {}
        for node in self.tree(stub).body:
            if isinstance(node, ast.ImportFrom):
                source = ".".join([module, node.module] if node.module else [module])
                for alias in node.names:
                    direct = f"{source}.{alias.name}"
                    names[alias.asname or alias.name] = direct
        return names

    def used(self, module: str) -> set[str]:
        """Names of modules on which the result of a script depends, itself included."""
        reached, waiting = set(), [module]
        while waiting:
            name = waiting.pop()
            left_out = module not in TIMED and _is_without_numbers(name)
            if name in reached or name in MACHINERY or left_out:
                continue
            reached.add(name)
            if name not in self._below:
                targets = {self.resolved(dotted) for dotted in set(self._mentions(name))}
                self._below[name] = {target for target in targets if target is not None}
            waiting += self._below[name]
        return reached

    def _mentions(self, module: str) -> Iterator[str]:
        """Dotted names that a module imports, or reads of the package."""
        path = self.modules[module]
        if path.with_suffix(".pyi").is_file():  # a lazy package loads what is asked of it
            return
        aliases = {}
        for node in _executed([self.tree(path)]):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name == PACKAGE:
                        aliases[alias.asname or alias.name] = PACKAGE
                    else:
                        yield alias.name
            elif isinstance(node, ast.ImportFrom):
                source = node.module or ""
                if node.level:  # of the package, from where this module stands
                    above = module.split(".")
                    drop = node.level - (path.name == "__init__.py")
                    source = ".".join([*above[: len(above) - drop], *filter(None, [node.module])])
                yield from (f"{source}.{alias.name}" for alias in node.names)
        for node in _executed([self.tree(path)]):
            if isinstance(node, ast.Attribute):
                dotted = ast.unparse(node) if _is_dotted(node) else ""
                head, _, rest = dotted.partition(".")
                if head in aliases:
                    yield f"{aliases[head]}.{rest}"

    def code(self, script: str) -> str:
        """A hash of the source of what a script uses.

        What runs when its modules are loaded counts, and what is named there, and what is named in
        these parts, and so on.
        """
        waiting = []
        for name in sorted(self.used(script)):
            waiting += [(name, piece) for piece in self._pieces_of(name, script in TIMED)]
        classes = {piece.needs[0] for _, piece in waiting if piece.needs}
        names: set[str] = set()
        used: list[str] = []
        while True:
            told = [(name, piece) for name, piece in waiting if piece.is_used(names, classes)]
            if not told:
                break
            used += [f"{name}:{piece.digest}\n" for name, piece in told]
            waiting = [each for each in waiting if not each[1].is_used(names, classes)]
            names.update(*(piece.names for _, piece in told))
        return hashlib.sha256("".join(sorted(used)).encode()).hexdigest()[:16]

    def _pieces_of(self, module: str, timed: bool) -> list[Piece]:
        """The parts of a module; where times are the result, with limits of threads."""
        if (module, timed) not in self._pieces:
            tree = self.tree(self.modules[module])
            self._pieces[module, timed] = pieces(
                tree if timed else WithoutLimitsOfThreads().visit(deepcopy(tree))
            )
        return self._pieces[module, timed]


def _is_without_numbers(module: str) -> bool:
    return any(f"{module}.".startswith(f"{PACKAGE}.{name}.") for name in WITHOUT_NUMBERS)


def _is_dotted(node: ast.AST) -> bool:
    """A name, or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def here() -> Sources:
    """The modules of this repository."""
    return Sources(HERE.parents[1])


def records(path: Path = RECORDS) -> dict[str, dict[str, Any]]:
    """What is recorded of each script."""
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def confirmed(known: dict[str, dict[str, Any]], sources: Sources) -> dict[str, str]:
    """Results of earlier code whose first data sets came out the same with this one."""
    told = {}
    for name in sources.scripts:
        again = known.get(name, {}).get("confirmed")
        if again and sources.code(name) == again["code"] != known[name]["code"]:
            by = (
                f"{again['sets']} of {again['of']} data sets"
                if "sets" in again
                else "short runs of both versions"
            )
            told[name] = (
                f"confirmed by {by} at version {again['version']}, commit {again['commit'][:9]}"
            )
    return told


def stale(known: dict[str, dict[str, Any]], sources: Sources) -> dict[str, str]:
    """Scripts whose results are old or missing and not confirmed, and why."""
    why, same = {}, confirmed(known, sources)
    for name in sources.scripts:
        if name not in known:
            why[name] = "no record of a run"
        elif known[name]["code"] != sources.code(name) and name not in same:
            why[name] = f"made at {known[name]['commit'][:9]}; the code has changed since"
        elif known[name].get("arguments"):
            why[name] = f"made with other arguments: {' '.join(known[name]['arguments'])}"
    return why
