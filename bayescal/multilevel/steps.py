"""The steps of Q that several groups with times to an event have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bayescal.inference.density import CurveDensity
from bayescal.model.problem import Problem
from bayescal.model.times import Partial, Steps, entries_of, joined, law_of, likeliest_steps
from bayescal.model.times_rows import partial_of_group, rows_given_steps

__all__ = ["SharedSteps", "given_steps", "steps_in_common"]


class SharedSteps(NamedTuple):
    """The steps of Q, at their likeliest values, that all groups have in common.

    Attributes
    ----------
    steps : Steps
    partial : dict of int to Partial
        Entries of each group with patients that are known in part, or nodes in their place.
    coarse : dict of int to Partial
        Fewer nodes, by which draws are proposed.
    """

    steps: Steps
    partial: dict[int, Partial]
    coarse: dict[int, Partial]


def steps_in_common(
    pooled: Problem, labels: Sequence[str], tables: Mapping[str, Problem]
) -> SharedSteps:
    """Those of some groups, computed once.

    Parameters
    ----------
    pooled : Problem
        All patients as one table.
    labels : sequence of str
        Names of the groups, in order.
    tables : mapping of str to Problem
        The problem of each group with patients.
    """
    law, table = law_of(pooled), pooled.table
    key = "groups", tuple(labels), pooled.edges, float(table.score @ table.trials)
    if key not in law.kept:
        law.kept[key] = _made(pooled, {labels.index(label): tables[label] for label in tables})
    known: SharedSteps = law.kept[key]
    return known


def _made(pooled: Problem, each: Mapping[int, Problem]) -> SharedSteps:
    partial = {k: partial_of_group(group) for k, group in each.items()}
    entries = joined([entries_of(group) for group in each.values()])
    nodes = joined([replace(entries_of(each[k]), partial=nodes) for k, nodes in partial.items()])
    score = np.concatenate([group.table.score for group in each.values()])
    steps = likeliest_steps(law_of(pooled), score, entries, nodes.partial).steps
    coarse = {k: partial_of_group(group, coarse=True) for k, group in each.items()}
    return SharedSteps(steps, partial, coarse)


def given_steps(group: Problem, number: int, shared: SharedSteps) -> CurveDensity:
    """The density of the curve of independent cases of one group, given the steps of Q."""
    return CurveDensity(group, rows=rows_given_steps(group, shared.coarse[number], shared.steps))
