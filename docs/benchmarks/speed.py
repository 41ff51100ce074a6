"""What ordinary calls cost, beside samplers and other packages, in one run on one machine.

Times are CPU seconds of one thread. Since machines differ, each is also given as a ratio to one fit
of one family of curves (beta, 200 cases) with its TCE in the same run.
"""

from __future__ import annotations

import os

os.environ |= {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}

import json
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

import bayescal as bc
from record import Row, run

ASKED = "What do ordinary calls cost, in time and memory, beside samplers and other packages?"
CASES = 200
CHAINS, DRAWS, TUNE = 4, 1000, 400
SCALES = (1.0, 0.5, 1.0)
MISSING = "not installed"

Call = Callable[[], Any]


@cache
def data(n: int) -> tuple[Any, Any]:
    """Outcomes and scores without ties."""
    return bc.simulate.sample("clinical-middle-overconfident", n, random_state=1)


def seconds(call: Call, repeats: int) -> float:
    """Median CPU seconds, after one call that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
        if sum(times) > 20:
            break
    return statistics.median(times)


@cache
def unit(repeats: int) -> float:
    """One fit of one family, with its TCE."""
    y, s = data(CASES)
    return seconds(lambda: bc.fit(y, s, curve="beta", random_state=0).tce(), 3 * repeats)


def timed(call: Call, repeats: int, /, **labels: Any) -> Row:
    cpu = seconds(call, repeats)
    return labels | {"seconds": cpu, "ratio": cpu / unit(repeats)}


# Ordinary calls


def calls(seed: int, repeats: int) -> list[Row]:
    """Ordinary calls

    `ratio`: over one fit of one family to 200 cases, with its TCE.
    """
    return [
        timed(call, repeats, call=title, n=n)
        for n in (CASES, 2000)
        for title, call in ordinary(n).items()
    ]


def ordinary(n: int) -> dict[str, Call]:
    (y, s), row = data(n), np.arange(n)
    fit = partial(bc.fit, y, s, random_state=0)
    return {
        "one family, TCE": lambda: fit(curve="beta").tce(),
        "one family, summary": lambda: fit(curve="beta").summary(),
        "average of families, TCE": lambda: fit().tce(),
        "average of families, summary": lambda: fit().summary(),
        "assess, printed": lambda: str(bc.assess(y, s, random_state=0)),
        "assess, page": lambda: paged(y, s),
        "recommend": lambda: bc.recommend(y, s, random_state=0),
        "gain of a map": lambda: bc.recalibration_gain(y, s, s**1.1, random_state=0),
        "clusters of 5": lambda: fit(cluster=row // 5).tce(),
        "15 sites": lambda: fit(site=row % 15).table(),
        "12 periods": lambda: fit(period=row * 12 // n).table(),
        "20 imputations, TCE": lambda: imputed(n, 20).tce(),
        "times to an event, TCE": lambda: followed(n).tce(),
        "ECE": lambda: bc.estimators.ece(y, s),
        "ECE, 1000 resamples": lambda: bc.estimators.estimator_interval(y, s, "ece"),
    }


def paged(y: Any, s: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bc.assess(y, s, random_state=0).to_html(f"{folder}/page.html")


def imputed(n: int, imputations: int) -> Any:
    """A fit of scores that were imputed."""
    (y, s), rng = data(n), np.random.default_rng(2)
    noise = rng.normal(0, 0.2, (imputations, n))
    each = 1 / (1 + np.exp(-np.log(s / (1 - s)) - noise)).ravel()
    number = np.repeat(np.arange(imputations), n)
    return bc.fit(np.tile(y, imputations), each, imputation=number, random_state=0)


def followed(n: int) -> Any:
    """A fit of times, some of which are censored."""
    (y, s), leave = data(n), np.random.default_rng(3).exponential(2, n)
    died = np.asarray(y) == 1
    outcome = bc.Survival(np.minimum(leave, np.where(died, 0.5, 2)), died & (leave > 0.5))
    return bc.fit(outcome, s, horizon=1, random_state=0)


def growth(seed: int, repeats: int) -> list[Row]:
    """Growth

    CPU seconds of the smallest and the largest, and the slope of log seconds on log size: 1 is in
    proportion, 0 not at all.
    """
    rng = np.random.default_rng(seed)
    most = 10**6 if repeats <= 2 else 10**7
    s = rng.beta(1.5, 3, most)
    y, few = (rng.random(most) < s**1.1).astype(int), data(CASES)
    works: list[tuple[str, str, tuple[int, ...], Callable[[int], Any]]] = [
        ("cases", title, (1000, 10**5, most), work)
        for title, work in {
            "one sort of the scores": lambda n: np.sort(s[:n]),
            "average of families": lambda n: bc.fit(y[:n], s[:n], random_state=0),
            "gain of a map": lambda n: bc.recalibration_gain(y[:n], s[:n], s[:n] ** 1.1),
            "ECE": lambda n: bc.estimators.ece(y[:n], s[:n]),
            "SmoothECE": lambda n: bc.estimators.smooth_ece(y[:n], s[:n]),
        }.items()
    ]
    works += [
        ("sites", "of 50 cases", (10, 20, 40), lambda k: of_sites(y[: 50 * k], s[: 50 * k])),
        ("draws", "average, TCE", (1000, 4000, 16_000), lambda k: bc.fit(*few, draws=k).tce()),
        ("imputations", "average, TCE", (5, 10, 20), lambda k: imputed(CASES, k).tce()),
    ]
    rows = []
    for grown, work, sizes, call in works:
        times = [seconds(partial(call, k), min(repeats, 3)) for k in sizes]
        slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        ends = {"from": sizes[0], "to": sizes[-1], "first": times[0], "last": times[-1]}
        rows.append({"more": grown, "work": work} | ends | {"slope": slope})
    return rows


def of_sites(y: Any, s: Any) -> Any:
    return bc.fit(y, s, site=np.arange(y.size) // 50, random_state=0)


# The same posterior by samplers


def basis(s: Any) -> tuple[Any, Any]:
    """log(2 s) and -log(2 (1 - s)): the beta curve is linear in them."""
    return np.log(2 * s), -np.log(2 * (1 - s))


def error(draws: Any, s: Any) -> Any:
    """Draws of the TCE over the Bayesian bootstrap of the scores, of shape (chains, draws)."""
    shift, log_slope, asymmetry = draws.reshape(-1, 3).T
    first, second = basis(s)
    alpha, beta = np.exp(log_slope + asymmetry / 2), np.exp(log_slope - asymmetry / 2)
    log_odds = shift[:, None] + np.outer(alpha, first) + np.outer(beta, second)
    weight = np.random.default_rng(0).standard_exponential(log_odds.shape)
    distance = np.abs(1 / (1 + np.exp(-log_odds)) - s)
    return ((weight * distance).sum(axis=1) / weight.sum(axis=1)).reshape(draws.shape[:2])


def pymc_model(y: Any, s: Any) -> Any:
    import pymc as pm

    first, second = basis(s)
    with pm.Model() as model:
        names = ("shift", "log_slope", "asymmetry")
        shift, slope, lean = (
            pm.Normal(name, 0, scale) for name, scale in zip(names, SCALES, strict=True)
        )
        alpha, beta = pm.math.exp(slope + lean / 2), pm.math.exp(slope - lean / 2)
        pm.Bernoulli("y", logit_p=shift + alpha * first + beta * second, observed=y)
    return model


def stacked(posterior: Any) -> Any:
    return np.stack([posterior[name] for name in ("shift", "log_slope", "asymmetry")], axis=-1)


def of_pymc(y: Any, s: Any) -> Call:
    """`pm.sample` as it is called, with its own tuning."""
    import pymc as pm

    logging.getLogger("pymc").setLevel(logging.ERROR)
    model = pymc_model(y, s)

    def sample() -> Any:
        with model:
            drawn = pm.sample(DRAWS, chains=CHAINS, cores=1, progressbar=False, random_seed=1)
        return stacked(drawn.posterior)

    return sample


def of_nutpie(y: Any, s: Any) -> Call:
    """Compiled before it is timed."""
    import nutpie

    compiled = nutpie.compile_pymc_model(pymc_model(y, s))

    def sample() -> Any:
        drawn = nutpie.sample(
            compiled, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=1, seed=1, progress_bar=False
        )
        return stacked(drawn.posterior)

    return sample


def log_density(y: Any, s: Any, np_: Any, log_expit: Any) -> Callable[[Any], Any]:
    first, second = basis(s)

    def log_posterior(at: Any) -> Any:
        alpha, beta = np_.exp(at[1] + at[2] / 2), np_.exp(at[1] - at[2] / 2)
        eta = at[0] + alpha * first + beta * second
        prior = -0.5 * ((at / np_.array(SCALES)) ** 2).sum()
        return prior + (y * log_expit(eta) + (1 - y) * log_expit(-eta)).sum()

    return log_posterior


def of_blackjax(y: Any, s: Any) -> Call:
    """Compiled before it is timed."""
    import blackjax
    import jax
    import jax.numpy as jnp

    density = log_density(y, s, jnp, jax.nn.log_sigmoid)

    @jax.jit
    def chain(key: Any) -> Any:
        warm, main = jax.random.split(key)
        adapted, _ = blackjax.window_adaptation(blackjax.nuts, density).run(
            warm, jnp.zeros(3), TUNE
        )
        kernel = blackjax.nuts(density, **adapted.parameters)

        def step(state: Any, key: Any) -> Any:
            state, _ = kernel.step(key, state)
            return state, state.position

        return jax.lax.scan(step, adapted.state, jax.random.split(main, DRAWS))[1]

    keys = jax.random.split(jax.random.key(1), CHAINS)
    return lambda: np.stack([np.asarray(chain(key)) for key in keys])


def of_numpyro(y: Any, s: Any) -> Call:
    """Compiled before it is timed."""
    import jax
    import jax.numpy as jnp
    from numpyro.infer import MCMC, NUTS

    density = log_density(y, s, jnp, jax.nn.log_sigmoid)
    sampler = MCMC(
        NUTS(potential_fn=lambda at: -density(at)),
        num_warmup=TUNE,
        num_samples=DRAWS,
        num_chains=CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )

    def sample() -> Any:
        sampler.run(jax.random.key(1), init_params=jnp.zeros((CHAINS, 3)))
        return np.asarray(sampler.get_samples(group_by_chain=True))

    return sample


SAMPLERS = {"PyMC": of_pymc, "nutpie": of_nutpie, "blackjax": of_blackjax, "NumPyro": of_numpyro}


def samplers(seed: int, repeats: int) -> list[Row]:
    """The same posterior by samplers

    The beta curve under normal priors on 200 cases, and its TCE; 4 chains of 1000 draws each. What
    is compiled is compiled before, but NumPyro does so again in each call. `effective`: the least
    effective number of draws.
    """
    import arviz_stats

    y, s = data(CASES)
    y = np.asarray(y, float)

    def ours() -> Any:
        normal = (bc.priors.Normal(0, scale) for scale in SCALES)
        prior = dict(zip(("shift", "log_slope", "asymmetry"), normal, strict=True))
        post = bc.fit(y, s, curve="beta", prior=prior, random_state=0)
        return post.functional("tce").to_numpy()

    def told(title: str, tce: Any, call: Call, times: int) -> Row:
        numbers = {"TCE": float(tce.mean()), "sd": float(tce.std())}
        effective = float(arviz_stats.base.array_stats.ess(np.asarray(tce)))
        return timed(call, times, by=title) | numbers | {"effective": round(effective)}

    rows = [told("bayescal", ours(), ours, 3 * repeats)]
    for title, prepare in SAMPLERS.items():
        try:
            sample = prepare(y, s)
        except ImportError:
            rows.append({"by": f"{title}, {MISSING}"})
            continue
        tce = error(sample(), s)
        rows.append(told(title, tce, lambda sample=sample: error(sample(), s), min(repeats, 5)))
    return rows


# Other packages


def of_scikit_learn(y: Any, s: Any) -> dict[str, Call]:
    from sklearn.calibration import calibration_curve
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import brier_score_loss

    def ece() -> float:
        rate, score = calibration_curve(y, s, n_bins=15)
        cases = np.histogram(s, 15, (0, 1))[0]
        return float(cases[cases > 0] @ np.abs(rate - score) / s.size)

    x = np.log(s / (1 - s))[:, None]
    return {
        "ECE": ece,
        "Brier score": lambda: brier_score_loss(y, s),
        "calibration slope": lambda: LogisticRegression(C=np.inf).fit(x, y).coef_[0, 0],
        "isotonic map": lambda: IsotonicRegression(out_of_bounds="clip").fit(s, y),
    }


def of_relplot(y: Any, s: Any) -> dict[str, Call]:
    from relplot import metrics

    return {
        "ECE": lambda: metrics.binnedECE(s, y, nbins=15),
        "SmoothECE": lambda: metrics.smECE(s, y),
    }


def of_probcal(y: Any, s: Any) -> dict[str, Call]:
    from probcal import BetaCalibrator, IsotonicCalibrator, metrics

    return {
        "ECE": lambda: metrics.ece(y, s, strategy="width"),
        "ICI by loess": lambda: metrics.ici(y, s),
        "Brier score": lambda: metrics.brier_score(y, s),
        "calibration slope": lambda: metrics.calibration_slope(y, s),
        "isotonic map": lambda: IsotonicCalibrator().fit(s, y),
        "beta map": lambda: BetaCalibrator().fit(s, y),
    }


def of_scikit_misc(y: Any, s: Any) -> dict[str, Call]:
    from skmisc.loess import loess

    def ici() -> float:
        fit = loess(s, y, span=0.75, degree=2)
        fit.fit()
        return float(np.mean(np.abs(np.clip(fit.outputs.fitted_values, 0, 1) - s)))

    return {"ICI by loess": ici}


def of_bayescal(y: Any, s: Any) -> dict[str, Call]:
    return {
        "ECE": lambda: bc.estimators.ece(y, s),
        "SmoothECE": lambda: bc.estimators.smooth_ece(y, s),
        "ICI by loess": lambda: bc.estimators.ici(y, s),
        "Brier score": lambda: bc.scores.brier_score(y, s),
        "calibration slope": lambda: bc.estimators.calibration_slope(y, s),
        "isotonic map": lambda: bc.recalibrate.IsotonicRecalibrator().fit(s, y),
        "beta map": lambda: bc.recalibrate.BetaRecalibrator().fit(s, y),
    }


PACKAGES = {
    "bayescal": of_bayescal,
    "scikit-learn": of_scikit_learn,
    "scikit-misc": of_scikit_misc,
    "relplot": of_relplot,
    "probcal": of_probcal,
}


def peers(seed: int, repeats: int) -> dict[str, list[Row]]:
    """The same quantity by other packages"""
    rows, absent = [], []
    for package, prepare in PACKAGES.items():
        try:
            prepare(*data(CASES))
        except ImportError:
            absent.append({"quantity": "all", "package": f"{package}, {MISSING}"})
            continue
        for n in (10_000, 10**6):
            for quantity, call in prepare(np.asarray(data(n)[0]), data(n)[1]).items():
                if quantity == "ICI by loess" and n > 10_000:
                    continue
                cpu = seconds(call, min(repeats, 5))
                rows.append({"quantity": quantity, "n": n, "package": package, "seconds": cpu})
    rows.sort(key=lambda row: (row["quantity"], row["n"]))
    ours = {(row["quantity"], row["n"]): row for row in rows if row["package"] == "bayescal"}
    faster = []
    for row in rows:
        ratio = ours[row["quantity"], row["n"]]["seconds"] / row["seconds"]
        if ratio > 1:
            faster.append({key: row[key] for key in ("quantity", "n", "package")} | {"by": ratio})
    none = [{"quantity": "none"}]
    return {
        "The same quantity by other packages, CPU seconds": rows + absent,
        "Where another package is faster, and how many times": faster or none,
    }


# Fresh processes

SAMPLE = (
    "import bayescal as bc;y, s = bc.simulate.sample('clinical-middle-overconfident', 200, "
    "random_state=1);"
)
STARTS = {
    "interpreter": ["-c", "pass"],
    "numpy and scipy.special": ["-c", "import numpy, scipy.special"],
    "import bayescal": ["-c", "import bayescal"],
    "fit, one family": ["-c", SAMPLE + "bc.fit(y, s, curve='beta', random_state=0)"],
    "fit of a million cases": [
        "-c",
        SAMPLE.replace("200", "1_000_000") + "bc.fit(y, s, random_state=0)",
    ],
    "bayescal demo": ["-m", "bayescal", "demo"],
    "bayescal, a CSV of 200 rows": ["-m", "bayescal", "200.csv"],
    "the same with a page": ["-m", "bayescal", "200.csv", "--html", "page.html"],
    "bayescal, a CSV of a million rows": ["-m", "bayescal", "1000000.csv"],
    "pandas reads it": ["-c", "import pandas; pandas.read_csv('1000000.csv')"],
    "an error message": ["-m", "bayescal", "assess", "absent.csv"],
}
SMALL = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"seconds": used.ru_utime + used.ru_stime, "MB": used.ru_maxrss / 1024}))
"""


def cold(seed: int, repeats: int) -> list[Row]:
    """Fresh processes

    CPU seconds and the peak of memory in MB: medians.
    """
    with tempfile.TemporaryDirectory() as folder:
        for n in (CASES, 10**6):
            columns = {"outcome": data(n)[0], "risk": np.round(data(n)[1], 6)}
            pd.DataFrame(columns).to_csv(f"{folder}/{n}.csv", index=False)
        return started(folder, repeats)


def started(folder: str, repeats: int) -> list[Row]:
    rows = []
    usual = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for title, arguments in STARTS.items():
        # A small process starts each, since the peak of a child includes that of its parent.
        command = [sys.executable, "-c", SMALL, sys.executable, *arguments]
        runs = [
            json.loads(
                subprocess.run(
                    command, capture_output=True, check=True, env=usual, cwd=folder
                ).stdout
            )
            for _ in range(min(repeats, 5))
        ]
        medians = {key: statistics.median(made[key] for made in runs) for key in runs[0]}
        rows.append({"start": title} | medians)
    return rows


PARTS = {calls: 5, growth: 3, samplers: 5, peers: 5, cold: 5}


def main(arguments: Any = None) -> None:
    run("speed", ASKED, PARTS, 57_005, arguments)


if __name__ == "__main__":
    main()
