"""How much curves differ: scales of each term, and which levels are unlike the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.model.draws import at_centre
from bayescal.multilevel.compared import parts_of
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.posterior.imputed import in_turn, mixed
from bayescal.posterior.intervals import equal_tailed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["heterogeneity", "prob_unlike"]

# Largest correlation whose Fisher's z is taken.
NEAR_ONE = 1 - 1e-9


def heterogeneity(each: Sequence[MultilevelDraws]) -> pd.DataFrame:
    """The table of `MultilevelPosterior.heterogeneity`, of the draws of each imputation.

    Logarithms of scales and Fisher's z of correlations are moved apart.
    """
    import pandas as pd

    problem = each[0].problem
    scales = _scales(each)
    rows: dict[Any, dict[str, float]] = {}
    several = scales.shape[1] > 1
    for k, term in enumerate(problem.terms):
        for column, name in enumerate(problem.varying):
            row = _described(scales[:, k, column])
            if several:
                row["prob_largest"] = float((scales[:, :, column].argmax(axis=1) == k).mean())
            rows[(term.name, name) if several else name] = row
    known = [drawn.correlation for drawn in each if drawn.correlation is not None]
    if known and len(problem.varying) > 1:
        z = mixed([np.arctanh(np.clip(one, -NEAR_ONE, NEAR_ONE)) for one in known])
        rows["correlation"] = _described(known[0] if len(known) == 1 else np.tanh(z))
    table = pd.DataFrame.from_dict(rows, orient="index")
    if several:
        table.index = pd.MultiIndex.from_tuples(list(rows), names=["term", "coordinate"])
    return table


def _scales(each: Sequence[MultilevelDraws]) -> Floats:
    """Of shape (draws, terms, coordinates); of ordered periods, their standard deviation."""
    if not each[0].problem.is_walk:
        scales = [drawn.scales.swapaxes(0, 1) for drawn in each]
        return scales[0] if len(scales) == 1 else np.exp(mixed([np.log(one) for one in scales]))
    centre, spreads = each[0].problem.pooled.frame.centre, []
    for drawn in each:
        names = drawn.problem.pooled.curve.coordinates
        named = dict(zip(names, np.moveaxis(drawn.groups, -1, 0), strict=True))
        moved = at_centre(named, drawn.problem.pooled.frame.centre, centre)
        varying = [moved[name].std(axis=0) for name in drawn.problem.varying]
        spreads.append(np.stack(varying, axis=-1)[:, None])
    return in_turn(np.stack(spreads))


def prob_unlike(each: Sequence[MultilevelDraws]) -> pd.Series:
    """The table of `MultilevelPosterior.prob_unlike`, the mean over imputations."""
    import pandas as pd

    problem = each[0].problem
    term, known = problem.robust_term, [drawn.unlike for drawn in each if drawn.unlike is not None]
    if term is None or not known:
        what, cure = "a site", "vary=bc.by('site'), whose effects are robust"
        if problem.kind != "sites":
            what, cure = "a cell", "vary=['sex', 'age', bc.by('sex', 'age', robust=True)]"
        raise InputError(
            f"the posterior has no probability that {what} is unlike the others: its effects are "
            f"normal. Fit it with {cure}."
        )
    parts = parts_of(problem.axes, problem.cells, term.axes)
    groups = [problem.groups_with(part.levels)[0] for part in parts]
    shares = np.mean([unlike[groups].mean(axis=1) for unlike in known], axis=0)
    return pd.Series(
        shares, pd.Index([part.level for part in parts], name=term.name), name="prob_unlike"
    )


def _described(values: Floats) -> dict[str, Any]:
    lower, upper = equal_tailed(values, 0.95)
    named = {"mean": values.mean(), "median": np.median(values), "lower": lower, "upper": upper}
    return {name: float(value) for name, value in named.items()}
