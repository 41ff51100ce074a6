"""DriftProblem: tables of ordered periods, and what may have happened between them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.periods import Periods
from bayescal.model.priors import StudentT
from bayescal.model.problem import Problem
from bayescal.multilevel.problem import EffectsProblem
from bayescal.multilevel.sites_problem import prepare_sites
from bayescal.multilevel.term import Term

__all__ = ["DriftProblem", "prepare_drift"]

PROB_CONSTANT, PROB_SUDDEN, PROB_GRADUAL = 0.5, 0.25, 0.25


@dataclass(frozen=True)
class DriftProblem:
    """Periods with one curve, with a curve before and one after a change, or with a walk.

    Three explanations of the data are averaged. Constant: one curve. Sudden: one change of shift
    and log slope, with Student-t priors, into any period but the first, each equally probable.
    Gradual: a random walk of both, whose scale over all periods together has a half-t prior.

    Attributes
    ----------
    walk : EffectsProblem
        With one term, the walk, whose groups are the periods; its first level is the average.
    periods : Periods
    """

    walk: EffectsProblem
    periods: Periods

    @property
    def data(self) -> CalibrationData:
        """The table, with a group a period."""
        return self.walk.data

    @property
    def pooled(self) -> Problem:
        """All periods as one table, and the prior of the first period's curve."""
        return self.walk.pooled

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the periods, in order of time."""
        return self.periods.labels

    @cached_property
    def tables(self) -> dict[str, Problem]:
        """The problem of each period, in order of time."""
        return {label: self.walk.groups[label] for label in self.labels}

    @property
    def varying(self) -> tuple[str, ...]:
        """Coordinates that change; any other is common to all periods."""
        return self.walk.varying

    @property
    def columns(self) -> list[int]:
        """Columns of the coordinates that change."""
        return self.walk.columns

    @property
    def change_prior(self) -> dict[str, StudentT]:
        """Priors of a sudden change of each coordinate."""
        prior = self.walk.terms[0].prior
        return {name: StudentT(prior.nu, 0.0, getattr(prior, name)) for name in self.varying}

    @property
    def explanation_prior(self) -> Floats:
        """Prior probabilities: of no change, a change into each later period, and a walk."""
        places = len(self.labels) - 1
        return np.array([PROB_CONSTANT, *[PROB_SUDDEN / places] * places, PROB_GRADUAL])

    @property
    def next_step(self) -> float:
        """Time to the next period, the median of those before, as a share of all time so far."""
        return float(np.median(self.periods.elapsed))

    def to_attributes(self) -> dict[str, str]:
        """All but the tables as JSON strings."""
        return self.walk.to_attributes() | {"periods": json.dumps(asdict(self.periods))}

    @classmethod
    def from_attributes(cls, attributes: Mapping[Any, Any], data: CalibrationData) -> DriftProblem:
        """Read back what `to_attributes` wrote, for the tables it was written of."""
        periods = Periods(**json.loads(attributes["periods"]))
        return cls(EffectsProblem.from_attributes(attributes, data), periods)


def prepare_drift(data: CalibrationData, **options: Any) -> DriftProblem:
    """Make the problem that a fit of ordered periods starts from.

    Parameters
    ----------
    data : CalibrationData
        With a group a period.
    **options
        As of `prepare_sites`: `prior` of the first period's curve, `heterogeneity` with the scales
        of a change, `centre`, `curve`, `edge` and `random_state`.

    Returns
    -------
    DriftProblem

    Raises
    ------
    InputError
        If there is one period, the weights are sampling weights, or as `prepare_sites`.
    """
    assert data.periods is not None
    periods = data.periods.checked()
    if data.is_pseudo:
        raise InputError(
            "weight_type='sampling' cannot be used with periods: explanations of a change are "
            "compared by how well they predict cases, and sampling weights are not cases. Drop "
            "sample_weight, or give counts of cases."
        )
    tables = prepare_sites(data, **options)
    order = tuple(periods.labels.index(label) for label in data.groups)
    elapsed = tuple(periods.elapsed.tolist())
    walk = Term("period", "walk", periods.labels, order, tables.heterogeneity, elapsed)
    return DriftProblem(EffectsProblem(tables, (walk,)), periods)
