"""Bayesian assessment of how well predicted probabilities are calibrated."""

import sys as _sys
from typing import Any

import lazy_loader as _lazy

_named, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)

_ROOMS = (
    "estimators",
    "scores",
    "recalibrate",
    "plots",
    "simulate",
    "functionals",
    "priors",
    "curves",
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("bayescal")
    try:
        return _named(name)
    except AttributeError as error:
        if name in __all__ or name.startswith("_"):
            raise
        raise AttributeError(
            f"{error}{_hint(name)}", name=name, obj=_sys.modules[__name__]
        ) from None


def _hint(name: str) -> str:
    """The public names that are called so in a module of the package."""
    named = [f"bayescal.{room}.{name}" for room in _ROOMS if name in dir(_named(room))]
    return f". Use {' or '.join(named)}." if named else "."
