"""Priors that are given as distributions of PyMC or PreliZ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.symbolic import is_symbolic
from bayescal.core.text import shortened

__all__ = ["OtherLaw", "is_foreign", "law_of"]

SHARES_OF_SD = (0.1587, 0.8413)
"""Probabilities of a normal distribution one standard deviation below and above its mean."""


def is_foreign(value: Any) -> bool:
    """Whether this is a distribution of PyMC or of PreliZ."""
    return is_symbolic(value) or (hasattr(value, "to_pymc") and hasattr(value, "rvs"))


def law_of(value: Any) -> OtherLaw:
    """The law of a distribution of PyMC, such as `pm.Laplace.dist(0, 0.3)`, or of PreliZ.

    Only its name and numbers are kept, so that it can be written to a file.
    """
    import pymc as pm
    from pymc.pytensorf import constant_fold

    if not is_symbolic(value):
        with pm.Model(model=None):  # PreliZ adds a variable to the model that is open
            value = value.to_pymc("prior")
    op = value.owner.op
    of_its_type = (name for name in pm.distributions.__all__ if type(_operation(name)) is type(op))
    name = next(of_its_type, None)
    try:
        numbers = constant_fold(op.dist_params(value.owner), raise_not_constant=True)
    except Exception:  # of variables, or of an operation without parameters
        numbers = ()
    if name is None or not numbers or any(np.ndim(number) for number in numbers):
        raise InputError(
            f"a prior is {shortened(repr(value))}, and only the named distributions of PyMC with "
            "numbers as parameters can be stored with a fit, such as pm.Laplace.dist(0, 0.3). "
            "Pass one of these; or put the prior into bc.build_model's model yourself."
        )
    return OtherLaw(name, tuple(float(number) for number in numbers))


def _operation(name: str) -> Any:
    """What draws a named distribution of PyMC; None of those without."""
    import pymc as pm

    return getattr(getattr(pm, name, None), "rv_op", None)


@dataclass(frozen=True)
class OtherLaw:
    """A named distribution of PyMC, which NUTS takes and the fast engines do not.

    Parameters
    ----------
    name : str
        Of its class in PyMC.
    parameters : tuple of float
        As the operation that draws it takes them.
    """

    name: str
    parameters: tuple[float, ...]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{number:g}' for number in self.parameters)})"

    def _variable(self) -> Any:
        import pytensor

        operation = _operation(self.name)
        if operation is None:
            raise InputError(f"PyMC has no distribution {shortened(repr(self.name))}.")
        # Called, the operation warns of a change to come in what it returns.
        node = operation.make_node(
            pytensor.shared(np.random.default_rng(0)), None, *self.parameters
        )
        return node.outputs[1]

    def logpdf(self, x: Floats) -> Floats:
        """Log density at `x`, of the same shape."""
        import pymc as pm

        return np.asarray(pm.logp(self._variable(), np.asarray(x, np.float64)).eval())

    def slope_and_curvature(self, x: Any) -> tuple[Any, Any]:
        """Refused: the fast engines ask for it."""
        raise InputError(
            f"a prior is {self!r}, and the fast engine takes bc.priors.Normal and StudentT. Pass "
            "one of these, or fit one family with bc.fit(..., engine='nuts')."
        )

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Independent draws of shape (size,)."""
        import pymc as pm

        seed = int(rng.integers(2**31))
        return np.asarray(pm.draw(self._variable(), size, random_seed=seed), np.float64)

    @cached_property
    def sigma(self) -> float:
        """Half the width of the middle 68 %, which is the standard deviation of a normal one."""
        drawn = self.sample(np.random.default_rng(0), 4000)
        low, high = np.quantile(drawn, SHARES_OF_SD)
        return float(high - low) / 2

    def to_pymc(self, name: str) -> Any:
        """The PyMC variable of this name; call it inside a model."""
        import pymc as pm

        return pm.modelcontext(None).register_rv(self._variable(), name)
