"""Bayesian assessment of how well predicted probabilities are calibrated."""

from typing import Any

import lazy_loader as _lazy

_named, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("bayescal")
    return _named(name)
