"""The same posterior by samplers: PyMC, nutpie compiled once, blackjax compiled once.

Each function imports its package, compiles what can be compiled, and returns a call of (outcomes,
scores) that fits the beta curve under the neutral prior with 4 chains of 1000 draws and gives draws
of (shift, log_slope, asymmetry), of shape (4, 1000, 3). Data are arguments: nothing is compiled
again for other data of the same size. Every sampler runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CHAINS", "DRAWS", "SAMPLERS", "TUNE", "calibration_error"]

CHAINS, DRAWS, TUNE = 4, 1000, 400
SCALES = (1.0, 0.5, 1.0)

Sampler = Callable[[Any, Any], Any]


def basis(scores: Any) -> tuple[Any, Any]:
    """log(s / m) and -log((1 - s) / (1 - m)) at the centre m = 1/2."""
    return np.log(2 * scores), -np.log(2 * (1 - scores))


def calibration_error(draws: Any, scores: Any) -> Any:
    """Draws of the TCE over the Bayesian bootstrap of the scores, of shape (4, 1000)."""
    shift, log_slope, asymmetry = draws.reshape(-1, 3).T
    first, second = basis(scores)
    alpha, beta = np.exp(log_slope + asymmetry / 2), np.exp(log_slope - asymmetry / 2)
    log_odds = shift[:, None] + np.outer(alpha, first) + np.outer(beta, second)
    weight = np.random.default_rng(0).standard_exponential(log_odds.shape)
    distance = np.abs(1 / (1 + np.exp(-log_odds)) - scores)
    error = (weight * distance).sum(axis=1) / weight.sum(axis=1)
    return error.reshape(CHAINS, DRAWS)


def pymc_model(outcomes: Any, scores: Any) -> Any:
    import pymc as pm

    first, second = basis(scores)
    with pm.Model() as model:
        x, z = pm.Data("first", first), pm.Data("second", second)
        shift, log_slope, asymmetry = (
            pm.Normal(name, 0, scale)
            for name, scale in zip(("shift", "log_slope", "asymmetry"), SCALES, strict=True)
        )
        alpha = pm.math.exp(log_slope + asymmetry / 2)
        beta = pm.math.exp(log_slope - asymmetry / 2)
        y = pm.Data("outcomes", outcomes)
        pm.Bernoulli("y", logit_p=shift + alpha * x + beta * z, observed=y)
    return model


def stacked(posterior: Any) -> Any:
    """Draws of the three coordinates, of shape (4, 1000, 3)."""
    return np.stack([posterior[name] for name in ("shift", "log_slope", "asymmetry")], axis=-1)


def pymc(outcomes: Any, scores: Any) -> Sampler:
    """`pm.sample` as it is called, with its own default of 1000 steps of tuning."""
    import logging

    import pymc as pm

    logging.getLogger("pymc").setLevel(logging.ERROR)
    model = pymc_model(outcomes, scores)

    def sample(outcomes: Any, scores: Any) -> Any:
        first, second = basis(scores)
        with model:
            pm.set_data({"first": first, "second": second, "outcomes": outcomes})
            drawn = pm.sample(
                DRAWS, chains=CHAINS, cores=1, progressbar=False, random_seed=1,
                nuts_sampler="pymc", compute_convergence_checks=False,
            )  # fmt: skip
        return stacked(drawn.posterior)

    return sample


def nutpie(outcomes: Any, scores: Any) -> Sampler:
    import nutpie

    compiled = nutpie.compile_pymc_model(pymc_model(outcomes, scores))

    def sample(outcomes: Any, scores: Any) -> Any:
        first, second = basis(scores)
        mine = compiled.with_data(first=first, second=second, outcomes=outcomes)
        drawn = nutpie.sample(
            mine, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=1, seed=1, progress_bar=False
        )
        return stacked(drawn.posterior)

    return sample


def blackjax(outcomes: Any, scores: Any) -> Sampler:
    import blackjax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    scales = jnp.array(SCALES)

    @jax.jit
    def run(key: Any, first: Any, second: Any, outcomes: Any) -> Any:
        def log_density(u: Any) -> Any:
            alpha, beta = jnp.exp(u[1] + u[2] / 2), jnp.exp(u[1] - u[2] / 2)
            log_odds = u[0] + alpha * first + beta * second
            likelihood = outcomes @ log_odds - jnp.logaddexp(0, log_odds).sum()
            return likelihood - 0.5 * jnp.sum((u / scales) ** 2)

        def chain(key: Any) -> Any:
            adapting, sampling = jax.random.split(key)
            adaptation = blackjax.window_adaptation(blackjax.nuts, log_density)
            (state, parameters), _ = adaptation.run(adapting, jnp.zeros(3), num_steps=TUNE)
            step = blackjax.nuts(log_density, **parameters).step

            def one(state: Any, key: Any) -> Any:
                state, _ = step(key, state)
                return state, state.position

            return jax.lax.scan(one, state, jax.random.split(sampling, DRAWS))[1]

        return jax.lax.map(chain, jax.random.split(key, CHAINS))

    def sample(outcomes: Any, scores: Any) -> Any:
        first, second = basis(scores)
        return np.asarray(run(jax.random.key(1), first, second, outcomes.astype(float)))

    return sample


SAMPLERS = {"nutpie": nutpie, "blackjax": blackjax, "pymc": pymc}
