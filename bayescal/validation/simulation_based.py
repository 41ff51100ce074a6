"""Simulation-based calibration: does the engine sample the posterior it claims to sample?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal._base.arrays import as_seed
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.validate import MOST_DRAWS, as_count, as_scores
from bayescal.inference.candidates import prior_probabilities
from bayescal.model.curves import AVERAGE, Curve, as_curve, average_of
from bayescal.model.mixture import WEIGHTS
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.validation.batches import (
    Arrays,
    Batch,
    Progress,
    run_batches,
    spans,
    stream,
)
from bayescal.validation.experiment import (
    ENGINE_DRAWS,
    AverageOfFamilies,
    Experiment,
    OneFamily,
    ranks,
)
from bayescal.validation.simulate import truth

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["sbc", "sbc_of"]

LAW = "clinical-middle-calibrated"
BATCH = 25


def sbc(
    curve: str | Curve = "beta",
    prior: str | Prior | Mapping[str, Any] = "neutral",
    *,
    n: int = 300,
    scores: Any = None,
    n_simulations: int = 1000,
    draws: int = 255,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 2,
    progress: Progress = None,
    path: str | PathLike[str] | None = None,
) -> xr.Dataset:
    """Simulation-based calibration of a family, its prior and the default engine.

    Truths are drawn from the prior, outcomes from each truth, and a posterior is fitted to the
    outcomes. If the engine is right, the rank of the truth among the posterior draws is uniform,
    for every quantity; `uniformity` tests that. The scores stay the same throughout, since the
    analysis conditions on them.

    Parameters
    ----------
    curve : str or Curve
        Family of the calibration curve; or "average", for the average over families that
        `bayescal.compare` gives by default. A truth is then of a family drawn from its prior
        weight.
    prior : {"neutral", "clinical"}, Prior, or mapping
    n : int
        How many scores to draw, when they are not given.
    scores : array-like of shape (n,) or str, optional
        The scores themselves, or the name of a truth in `bayescal.simulate` from whose scores to
        draw them; by default log-odds are normal and the mean score is 0.3.
    n_simulations : int
        How many truths to draw.
    draws : int, at most 4000
        Posterior draws that a truth is ranked among; ranks run from 0 to `draws`. They are a
        random part of the 4000 that `bayescal.fit` draws.
    random_state : int or numpy.random.Generator, optional
    n_jobs : int
        Processes to work in. Results do not depend on it.
    progress : bool or callable, optional
        Whether to show a progress bar on stderr; by default when that is a terminal. Or what to
        call with the number of simulations that are done, and of all.
    path : str or path-like, optional
        Folder for finished batches. The same call finds them again, so that a run can be
        interrupted, or lengthened.

    Returns
    -------
    xarray.Dataset
        `rank` with dims (simulation, quantity) and `pareto_k` with dim simulation. The quantities
        are the working coordinates, TCE at these scores, and the curve g at five of them. The
        average has no coordinates to rank, and instead `posterior_prob` with dims (simulation,
        family): its mean should be the coordinate `prior_prob`. Attributes, as JSON, say how it
        was made.

    Raises
    ------
    InputError
        If a name is unknown, or a number out of range.

    See Also
    --------
    uniformity : Are the ranks uniform?
    bayescal.plots.rank_ecdf : Draws them.

    References
    ----------
    Talts, Betancourt, Simpson, Vehtari & Gelman (2018), Validating Bayesian inference algorithms
    with simulation-based calibration, arXiv:1804.06788, Algorithm 1.

    Examples
    --------
    >>> from bayescal.validation import sbc, uniformity
    >>> ranks = sbc("logistic", n=50, n_simulations=20, random_state=0, n_jobs=1)
    >>> dict(ranks.sizes)
    {'simulation': 20, 'quantity': 8}
    >>> bool(uniformity(ranks)["inside"].all())
    True
    """
    seed = as_seed(random_state)
    data = _at_scores(scores, as_count(n, "n"), seed)
    averaged = isinstance(curve, str) and curve == AVERAGE.name
    family = average_of(("identity", *WEIGHTS)) if averaged else as_curve(curve)
    problem = prepare(data, curve=family, prior=prior, random_state=seed)
    weights = prior_probabilities(("identity", *WEIGHTS)) if averaged else {}
    dataset = sbc_of(
        AverageOfFamilies(problem, data.score, data.trials, weights)
        if weights
        else OneFamily(problem, data.score, data.trials),
        n_simulations=n_simulations,
        draws=draws,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
        path=path,
    )
    if weights:
        dataset = _with_families(dataset, weights)
    described = {"curve": problem.curve.name, "prior": problem.prior.to_dict(), "n": data.n}
    dataset.attrs.update({name: json.dumps(value) for name, value in described.items()})
    return dataset


def sbc_of(
    experiment: Experiment,
    *,
    n_simulations: int,
    draws: int,
    seed: int,
    n_jobs: int,
    progress: Progress,
    path: str | PathLike[str] | None,
) -> xr.Dataset:
    """Simulation-based calibration of any experiment; see `sbc` for the arguments."""
    import xarray as xr

    if as_count(draws, "draws") > ENGINE_DRAWS:
        raise InputError(f"draws must be at most {ENGINE_DRAWS}, got {draws}.")
    kept = {"what": "sbc", "experiment": experiment.depends_on, "draws": draws, "seed": seed}
    batches = [
        Batch(
            partial(_batch_of_ranks, experiment, draws, seed, span),
            len(span),
            kept | {"span": [span.start, span.stop]},
        )
        for span in spans(as_count(n_simulations, "n_simulations", 1, MOST_DRAWS), BATCH)
    ]
    title = "Simulation-based calibration"
    results = run_batches(batches, title, n_jobs=n_jobs, progress=progress, path=path)
    joined = {name: np.concatenate([result[name] for result in results]) for name in results[0]}
    return xr.Dataset(
        {
            name: (("simulation", "quantity") if name == "rank" else "simulation", values)
            for name, values in joined.items()
        },
        {"simulation": np.arange(n_simulations), "quantity": list(experiment.quantities)},
        {"draws": json.dumps(draws), "seed": json.dumps(seed)},
    )


def _batch_of_ranks(experiment: Experiment, draws: int, seed: int, span: range) -> Arrays:
    runs = [ranks(experiment, draws, stream(seed, "sbc", number)) for number in span]
    kept = {name: np.array([facts[name] for _, facts in runs]) for name in runs[0][1]}
    return {"rank": np.array([rank for rank, _ in runs])} | kept


def _with_families(dataset: xr.Dataset, weights: Mapping[str, float]) -> xr.Dataset:
    """The families' probabilities as one variable, beside their prior weights."""
    names = [f"prob_{name}" for name in weights]
    probabilities = np.column_stack([dataset[name] for name in names])
    return (
        dataset.drop_vars(names)
        .assign(posterior_prob=(("simulation", "family"), probabilities))
        .assign_coords(family=list(weights), prior_prob=("family", list(weights.values())))
    )


def _at_scores(scores: Any, n: int, seed: int) -> CalibrationData:
    """A table with these scores, or with `n` from a law; its outcomes are never looked at."""
    if scores is None or isinstance(scores, str):
        values = truth(scores or LAW).scores.draw(n, stream(seed, "scores"))
    else:
        values = as_scores(scores, "scores")
    return CalibrationData(np.zeros(values.size), values)
