"""Term: a factor, or ordered periods, each level of which moves the curves of its groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayescal._base.arrays import Floats
from bayescal.model.heterogeneity import Heterogeneity

__all__ = ["Term"]


@dataclass(frozen=True)
class Term:
    """How the levels of one factor move shift and log slope, which they do independently.

    Attributes
    ----------
    name : str
    kind : {"exchangeable", "walk"}
        Effects of exchangeable levels are independent normals of one scale. Those of a walk are
        zero at the first level, and normal steps lead from each level to the next.
    levels : tuple of str
        Of a walk, in order.
    of_group : tuple of int
        Index of the level of each group, in the order of the table's groups. A level may have no
        group.
    prior : Heterogeneity
        Of the scales, `shift` and `log_slope` with `nu`; its correlation is not used, since shift
        and log slope are independent.
    elapsed : tuple of float
        Of a walk, the time from each level to the next, in units of the step that has the scale:
        the variance of a step is proportional to its time.
    """

    name: str
    kind: Literal["exchangeable", "walk"]
    levels: tuple[str, ...]
    of_group: tuple[int, ...]
    prior: Heterogeneity
    elapsed: tuple[float, ...] = ()

    @property
    def innovations(self) -> int:
        """Number of independent standard normals behind the effects of one coordinate."""
        return len(self.levels) - (self.kind == "walk")

    @property
    def design(self) -> Floats:
        """Effects of (levels, innovations), at a scale of one."""
        if self.kind == "exchangeable":
            return np.eye(len(self.levels))
        step = np.sqrt(np.array(self.elapsed))
        below = np.tri(len(self.levels), self.innovations, -1)
        return np.asarray(below * step)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description; `from_dict` reads it back."""
        return {
            "name": self.name,
            "kind": self.kind,
            "levels": list(self.levels),
            "of_group": list(self.of_group),
            "prior": self.prior.to_dict(),
            "elapsed": list(self.elapsed),
        }

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Term:
        """Read back what `to_dict` wrote."""
        return cls(
            described["name"],
            described["kind"],
            tuple(described["levels"]),
            tuple(described["of_group"]),
            Heterogeneity(**described["prior"]),
            tuple(described["elapsed"]),
        )
