"""The code against the picture in docs/architecture.md, which is the only copy of it."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import bayescal

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "bayescal"
OUTSIDE = {"errors", "__main__"}
"""What stands at the top level beside the rooms and the front door."""

PAGE = REPOSITORY / "docs" / "architecture.md"

MOST_ROOMS, MOST_FLOORS = 16, 11

MODULES = {"scikit-learn": "sklearn", "arviz-stats": "arviz_stats"}
"""Distributions whose module has another name."""

ENGINES = {"h5netcdf", "h5py"}
"""xarray writes NetCDF with the first, which needs the second; both are asked for by name."""

FOR_USERS = {"arviz_plots"}
"""What users draw a posterior's tree with, as a page shows; the package itself draws without it."""

LAZY = {"arviz_base", "arviz_plots", "arviz_stats", "joblib", "matplotlib", "pandas", "xarray"}
"""What a function imports when it is called, beside PyMC; NumPy and SciPy may stand at the top."""

SUBCLASSES = {"posterior.datatree"}
"""Modules with a subclass of what these libraries define: themselves imported inside functions."""

HEAVY = {
    "arviz",
    "arviz_base",
    "arviz_plots",
    "arviz_stats",
    "h5netcdf",
    "matplotlib",
    "pandas",
    "pymc",
    "pytensor",
    "rich",
    "scipy",
    "sklearn",
    "xarray",
}


# The picture, as the page states it


def block(name):
    """Lines of the fenced block that the page calls by this name."""
    actual = re.findall(rf"^```text {name}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(actual) == 1, f"{PAGE.name} must hold one fenced block 'text {name}'"
    return [line for line in actual[0].splitlines() if line.strip()]


@cache
def rooms():
    """Each room and the rooms it may import, in the page's order."""
    pairs = [line.split(":") for line in block("rooms")]
    assert len({name for name, _ in pairs}) == len(pairs), "a room is listed twice"
    return {name.strip(): set(allowed.split()) for name, allowed in pairs}


@cache
def arrays_only():
    return " ".join(block("arrays-only")).split()


# The code, as Python parses it


@dataclass(frozen=True)
class Import:
    """One import: who asks, for what, inside which function (if any), and whether it runs."""

    module: str  # the asking module, relative to the package: "curves.beta"
    target: str  # absolute dotted name: "bayescal.model.priors", "numpy.typing"
    scope: str  # "Class.method", or "" at the top of the module
    line: int
    runs: bool  # not under TYPE_CHECKING

    @property
    def top(self):
        return self.target.partition(".")[0]

    @property
    def inside(self):
        """The imported module relative to the package; "" is the front door."""
        return self.target.partition(".")[2]

    def __str__(self):
        return f"{self.module}:{self.line} imports {self.target}"


class Imports(ast.NodeVisitor):
    """Collects the imports of one module, noting which stand under TYPE_CHECKING."""

    def __init__(self, module, is_package):
        self.module = module
        self.home = ["bayescal", *module.split(".")] if module else ["bayescal"]
        if not is_package:
            self.home = self.home[:-1]
        self.scope = []
        self.runs = True
        self.collected = []

    def add(self, target, line):
        scope = ".".join(self.scope)
        self.collected.append(Import(self.module, target, scope, line, self.runs))

    def visit_Import(self, node):
        for name in node.names:
            self.add(name.name, node.lineno)

    def visit_ImportFrom(self, node):
        base = node.module or ""
        if node.level:
            here = self.home[: len(self.home) - node.level + 1]
            base = ".".join([*here, base] if base else here)
        for name in node.names:
            submodule = f"{base}.{name.name}"
            self.add(submodule if submodule in absolute_names() else base, node.lineno)

    def visit_Call(self, node):
        asked = ast.unparse(node.func)
        if asked in {"__import__", "import_module", "importlib.import_module"}:
            name = node.args[0] if node.args else None
            assert isinstance(name, ast.Constant), (
                f"{self.module}:{node.lineno} imports a name that is only known at run time"
            )
            self.add(str(name.value), node.lineno)
        self.generic_visit(node)

    def visit_If(self, node):
        checking = ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
        before, self.runs = self.runs, self.runs and not checking
        for child in node.body:
            self.visit(child)
        self.runs = before
        for child in node.orelse:
            self.visit(child)

    def nested(self, node):
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = nested


@cache
def modules():
    """Every module, by its name relative to the package; "" is the front door."""
    actual = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        actual[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return actual


@cache
def absolute_names():
    return {f"bayescal.{name}".rstrip(".") for name in modules()}


@cache
def tree(name):
    return ast.parse(modules()[name].read_text("utf-8"))


@cache
def all_imports():
    collected = []
    for name, path in modules().items():
        visitor = Imports(name, path.name == "__init__.py")
        visitor.visit(tree(name))
        collected += visitor.collected
    return collected


@cache
def imports():
    """Imports that run."""
    return [item for item in all_imports() if item.runs]


def own_imports():
    """Imports of the package's own modules, those under TYPE_CHECKING included."""
    return (item for item in all_imports() if item.top == "bayescal")


def room_of(name):
    return name.partition(".")[0]


def report(wrong):
    return "\n" + "\n".join(wrong)


# The tests


def test_every_module_has_a_room_and_every_room_a_module():
    seen = {room_of(name) for name in modules() if name}
    assert seen - OUTSIDE == set(rooms())


def test_the_picture_runs_one_way():
    above = set()
    for room, allowed in rooms().items():
        assert allowed <= above, f"{room} may import {allowed - above}, not listed above it"
        above.add(room)


def test_the_picture_can_be_drawn_from_memory():
    floor = {}
    for room, allowed in rooms().items():
        floor[room] = 1 + max((floor[below] for below in allowed), default=0)
    assert len(floor) <= MOST_ROOMS
    assert max(floor.values()) <= MOST_FLOORS


def test_the_page_gives_each_room_its_floor():
    floor = {}
    for room, allowed in rooms().items():
        floor[room] = 1 + max((floor[below] for below in allowed), default=0)
    table = re.findall(r"^\| (\d+) \| `(\w+)` \|", PAGE.read_text("utf-8"), re.M)
    assert {name: int(number) for number, name in table} == floor


def test_nothing_but_the_front_door_stands_at_the_top_level():
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert files == {"__init__.py", "__init__.pyi", "py.typed"} | {f"{name}.py" for name in OUTSIDE}


def test_no_room_imports_the_private_modules_of_another():
    wrong = [
        str(item)
        for item in own_imports()
        if item.module and room_of(item.inside) != room_of(item.module) and private(item.inside)
    ]
    assert not wrong, report(wrong)


def test_a_private_module_is_tested_by_its_own_file_alone():
    wrong = []
    for path in sorted((REPOSITORY / "tests").rglob("*.py")):
        folder = path.parent.relative_to(REPOSITORY / "tests").parts
        own = ".".join([*folder, path.stem.removeprefix("test")])
        wrong += [
            f"{path.relative_to(REPOSITORY)} imports {name}"
            for name in imported_by(ast.parse(path.read_text("utf-8")))
            if name.startswith("bayescal.") and private(name.partition(".")[2])
            if name != f"bayescal.{own}"
        ]
    assert not wrong, report(wrong)


def imported_by(module):
    """Every module that a file outside the package names in an import."""
    names = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{name.name}" for name in node.names} & absolute_names()
            names |= submodules or {node.module}
    return names


def private(name):
    """Whether a module below its room, or a folder on the way to it, begins with an underscore."""
    return any(part.startswith("_") for part in name.split(".")[1:])


def test_imports_follow_the_picture():
    wrong = [
        str(item)
        for item in own_imports()
        if item.module
        and item.module not in OUTSIDE  # they may name anything
        and room_of(item.inside) != room_of(item.module)
        and room_of(item.inside) not in rooms().get(room_of(item.module), set())
    ]
    assert not wrong, report(wrong)


def test_no_module_imports_itself_by_a_detour():
    graph = {name: set() for name in modules()}
    for item in own_imports():
        if item.inside in graph and item.inside != item.module:
            graph[item.module].add(item.inside)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a circle of imports: " + " -> ".join(error.args[1]))


def test_arrays_only_rooms_need_numpy_and_scipy_alone():
    assert set(arrays_only()) <= set(rooms())
    allowed = {"bayescal", "numpy", "scipy", *sys.stdlib_module_names}
    wrong = [
        str(item)
        for item in imports()
        if room_of(item.module) in arrays_only() and item.top not in allowed
    ]
    assert not wrong, report(wrong)


@pytest.mark.parametrize("room", ["estimators", "scores"])
def test_estimators_and_scores_stand_on_data_alone(room):
    assert room in arrays_only()
    assert rooms()[room] == {"core", "data"}


def test_every_dependency_is_used():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {re.split(r"[^\w.-]", text)[0].lower() for text in project["dependencies"]}
    wanted = {MODULES.get(name, name.replace("-", "_")) for name in declared} - ENGINES - FOR_USERS
    used = {item.top for item in imports()}
    assert wanted <= used, f"declared, and imported nowhere: {', '.join(sorted(wanted - used))}"


def test_slow_libraries_are_imported_inside_functions():
    eager = [item for item in imports() if not item.scope and item.module not in SUBCLASSES]
    slow = tuple(f"bayescal.{module}" for module in SUBCLASSES)
    wrong = [str(it) for it in eager if it.top in LAZY or it.target.startswith(slow)]
    assert not wrong, report(wrong)


def test_arviz_is_never_imported_whole():
    wrong = [str(item) for item in imports() if item.top == "arviz"]
    assert not wrong, report(wrong)


def test_pymc_is_imported_inside_functions():
    eager = [item for item in imports() if not item.scope]
    wrong = [str(item) for item in eager if item.top in {"pymc", "pytensor"}]
    assert not wrong, report(wrong)


def test_only_compat_knows_versions():
    wrong = []
    for name in modules().keys() - {"core.versions"}:
        asked = versions_asked(tree(name))
        wrong += [f"{name or 'bayescal'}:{line} {what}" for line, what in asked]
    assert not wrong, report(sorted(wrong))


def versions_asked(module):
    """Where a module asks for the version of Python, or of a library other than bayescal."""
    attributes = {"__version__", "hexversion", "version_info"}
    kinds = ast.Attribute | ast.Call | ast.Import | ast.ImportFrom
    for node in ast.walk(module):
        asked = ast.unparse(node) if isinstance(node, kinds) else ""
        if isinstance(node, ast.Attribute):
            actual = node.attr in attributes and asked != "bayescal.__version__"
        elif isinstance(node, ast.ImportFrom):
            names = {name.name for name in node.names}
            actual = (node.module or "").startswith("packaging") or bool(names & attributes)
        elif isinstance(node, ast.Import):
            actual = any(name.name.startswith("packaging") for name in node.names)
        elif isinstance(node, ast.Call):
            call = re.fullmatch(r"(?:(?:importlib\.)?metadata\.)?version\((.*)\)", asked)
            actual = call is not None and call[1] not in {"'bayescal'", "__name__"}
        else:
            actual = False
        if actual:
            yield node.lineno, asked


def test_no_module_shares_its_name_with_an_exported_function():
    wrong = []
    for package, path in modules().items():
        if path.name != "__init__.py":
            continue
        prefix = f"{package}." if package else ""
        children = {
            name.removeprefix(prefix).partition(".")[0]
            for name in modules()
            if name.startswith(prefix) and name != package
        }
        wrong += [f"{package or 'bayescal'}: {name}" for name in children & exported(path)]
    assert not wrong, report(wrong)


def exported(init):
    """Functions, classes and values that a package exports: by definition, import or stub."""
    names = set()
    for path in (init, init.with_suffix(".pyi")):
        if not path.exists():
            continue
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.ImportFrom) and node.module and node.module != "bayescal":
                submodules = {f"{node.module}.{name.name}" for name in node.names}
                names |= {
                    name.asname or name.name
                    for name in node.names
                    if f"{node.module}.{name.name}" not in submodules & absolute_names()
                }
    return names


def loaded_by(code):
    """Modules a fresh interpreter has loaded after running `code`."""
    environment = {key: value for key, value in os.environ.items() if key != "EAGER_IMPORT"}
    result = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


def test_import_loads_no_heavy_library():
    assert not loaded_by("import bayescal") & HEAVY


def test_the_names_it_lists_load_no_heavy_library():
    assert not loaded_by("import bayescal; dir(bayescal)") & HEAVY


def test_a_fit_by_the_default_engine_loads_no_sampler():
    code = "import bayescal as bc; bc.fit([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4])"
    assert not loaded_by(code) & HEAVY - {"scipy"}
    assert not loaded_by(f"{code}.summary()") & HEAVY - {"scipy", "pandas", "xarray"}


def test_a_fit_of_a_family_and_its_error_load_no_more_of_scipy_than_special_functions():
    code = "import bayescal as bc; bc.fit([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], curve='beta')"
    parts = {"interpolate", "linalg", "ndimage", "optimize", "sparse", "spatial", "stats"}
    scipy = {f"scipy.{part}" for part in parts} - loaded_by("import numpy, scipy.special")
    assert not loaded_by(code) & scipy
    of_xarray = {"pandas", "scipy", "scipy.sparse", "xarray"}
    assert not loaded_by(f"{code}.tce()") & ((scipy | HEAVY) - of_xarray)


@pytest.mark.parametrize("room", arrays_only())
def test_arrays_only_rooms_load_no_heavy_library(room):
    assert not loaded_by(f"import bayescal.{room}") & (HEAVY - {"scipy"})


MULTILEVEL = {"multilevel", "data"}
"""Where what is about months, sites and factors lies, beside those who show it."""


def test_what_is_about_periods_lies_in_one_room():
    below = {name for name, allowed in rooms().items() if "multilevel" not in allowed}
    wrong = [
        name
        for name in modules()
        if room_of(name) in below - MULTILEVEL and {"drift", "periods"} & set(name.split("."))
    ]
    assert not wrong, report(wrong)


def test_every_arrow_of_the_picture_is_an_import():
    arrows = {(room_of(item.module), room_of(item.inside)) for item in own_imports()}
    unused = [
        f"{a}: {b}" for a, allowed in rooms().items() for b in allowed if (a, b) not in arrows
    ]
    assert not unused, report(unused)


# Rules that do not hold yet: each has a list of exceptions, from which names are only taken away

POSTERIORS = """
    MultilevelPosterior Posterior PosteriorTree
"""
"""Classes that stand beside the one class of posterior, `CalibrationPosterior`."""

DOORS = {"plan"}
"""Doors with more than `MOST_KEYWORDS` keywords beside the roles of columns."""

MOST_KEYWORDS = 10
ROLES = """
    y_true y_prob before after models X y post outcome prob time event entry site period subgroup
    cluster stratum imputation sample_weight weight_type pos_label horizon mode ignore
"""

KINDS = {"competing", "follow_up", "judged", "of_times"}
"""Attributes that say which kind of data there is; only `data` and `model` may ask for them."""

ASKING = """
    estimators.survival fitting._update
    fitting.pymc gain.advice gain.paired gain.updates
    inference.density inference.loo
    multilevel.changes multilevel.clusters
    multilevel.compared multilevel.curves multilevel.followed multilevel.nuts
    multilevel.problem multilevel.replicates plots._curve
    plots._numbers posterior.decisions posterior.departures
    posterior.functionals posterior.posterior
    report.assessment report.facts report.followed report.page report.paper
    report.performance report.record report.tables validation.consistency validation.followed
"""
"""Modules elsewhere that ask for the kind of data."""


ASKING_OF_WEIGHTS = """
    estimators.survival
    fitting._update gain.paired inference.lower_bound multilevel.changes multilevel.clusters
    plots._curve posterior.performance
    posterior.words report.followed report.notes report.paper
    report.performance validation.consistency
"""
"""Modules elsewhere that ask whether weights are sampling weights."""


def only_exceptions(actual, listed, rule):
    """No exception beside those listed, and none listed that is none any more."""
    assert not actual - {*listed}, f"{rule}: {', '.join(sorted(actual - {*listed}))}"
    gone = sorted({*listed} - actual)
    assert not gone, f"take these out of the list of exceptions: {', '.join(gone)}"


def test_there_is_one_class_of_posterior():
    defined = [node for name in modules() for node in tree(name).body if is_class(node)]
    actual = {node.name for node in defined if is_posterior(node)} - {"CalibrationPosterior"}
    only_exceptions(actual, POSTERIORS.split(), "more than one class of posterior")


def is_class(node):
    return isinstance(node, ast.ClassDef)


def is_posterior(node):
    names = {node.name, *(ast.unparse(base) for base in node.bases)}
    return any("Posterior" in name for name in names)


def test_no_door_has_more_keywords_than_can_be_remembered():
    doors = {name: getattr(bayescal, name) for name in bayescal.__all__}
    actual = {
        name
        for name, door in doors.items()
        if inspect.isfunction(door)
        and len(set(inspect.signature(door).parameters) - set(ROLES.split())) > MOST_KEYWORDS
    }
    only_exceptions(actual, DOORS, f"more than {MOST_KEYWORDS} keywords beside roles")


@pytest.mark.parametrize(("kinds", "asking"), [(KINDS, ASKING), ({"is_pseudo"}, ASKING_OF_WEIGHTS)])
def test_the_kind_of_data_is_asked_for_in_data_and_model_alone(kinds, asking):
    actual = {
        name
        for name in modules()
        if room_of(name) not in {"data", "model"}
        if any(
            isinstance(node, ast.Attribute) and node.attr in kinds for node in ast.walk(tree(name))
        )
    }
    only_exceptions(actual, asking.split(), "the kind of data is asked for")
