"""What public functions return can be imported by name from a public module."""

import importlib
import inspect
import pkgutil
import re
from typing import TypeVar

import pytest

import bayescal


def modules():
    """Every module of the package, private ones too."""
    yield bayescal
    for info in pkgutil.walk_packages(bayescal.__path__, "bayescal."):
        if info.name != "bayescal.__main__":
            yield importlib.import_module(info.name)


MODULES = {module.__name__: module for module in modules()}
PUBLIC = {
    name: module
    for name, module in MODULES.items()
    if not any(part.startswith("_") for part in name.split("."))
}
ROOMS = [
    *(module for name, module in PUBLIC.items() if name.count(".") < 2),
    bayescal.simulate,
    bayescal.priors,
    bayescal.functionals,
    bayescal.curves,
]
CLASSES = {
    value.__name__: value
    for module in MODULES.values()
    for value in vars(module).values()
    if inspect.isclass(value) and value.__module__ == module.__name__
}


def exported(module):
    for name in getattr(module, "__all__", ()):
        yield name, getattr(module, name)


IMPORTABLE = {id(value) for module in PUBLIC.values() for _, value in exported(module)}


def returned(value):
    """A function, or each public method and property of a class and its bases, and its name."""
    members = [("", value)]
    if inspect.isclass(value):
        members = [item for base in reversed(value.__mro__) for item in vars(base).items()]
    for name, member in members:
        for attribute in ("fget", "func", "__func__"):
            member = getattr(member, attribute, member)
        ours = str(getattr(member, "__module__", "")).startswith("bayescal")
        if ours and not name.startswith("_") and inspect.isfunction(member):
            yield f".{name}" if name else "", member


FUNCTIONS = {
    f"{value.__module__}.{value.__qualname__}{method}": function
    for module in ROOMS
    for _, value in exported(module)
    if str(getattr(value, "__module__", "")).startswith("bayescal")
    for method, function in returned(value)
}


def annotation(function):
    return str(inspect.signature(FUNCTIONS[function]).return_annotation)


def test_the_walk_sees_functions_methods_and_properties():
    assert "CalibrationPosterior" in annotation("bayescal.fitting._fit.fit")
    assert "RecalibrationGain" in annotation("bayescal.gain._gain.recalibration_gain")
    assert "DataTree" in annotation("bayescal.posterior.posterior.CalibrationPosterior.tree")
    assert len(FUNCTIONS) > 150


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_returned_types_are_importable(function):
    names = CLASSES | vars(MODULES[FUNCTIONS[function].__module__])
    for word in set(re.findall(r"\w+", annotation(function))) & CLASSES.keys():
        value = names[word]
        if isinstance(value, TypeVar):
            continue
        assert id(value) in IMPORTABLE, (
            f"{function} returns {word} of {value.__module__}, which no public module names in "
            "__all__."
        )
