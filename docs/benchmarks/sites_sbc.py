"""Simulation-based calibration of hierarchical fits: `python docs/benchmarks/sites_sbc.py`.

The average site, the spread between sites, the sites and a new one are drawn from the default
priors, and outcomes of eight sites at fixed scores from their curves. The ranks of the truth among
the draws of the fast engine must be uniform.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.multilevel.factorised.sample import draw_sites
from bayescal.multilevel.problem import MultilevelProblem, prepare_terms
from bayescal.validation import uniformity
from bayescal.validation.experiment import ENGINE_DRAWS, Facts
from bayescal.validation.simulation_based import sbc_of
from kept import folder

RESULTS = Path(__file__).parent / "results" / "sites_sbc.json"
SIZES = (60, 70, 80, 100, 120, 140, 170, 200)
MEAN, WIDTH = -1.3, 1.2
SEED = 20260


@dataclass(frozen=True)
class Hierarchy:
    """Several sites under the default priors, by the fast engine, at fixed scores.

    A point has the average site, the two scales, their correlation, a new site, and each site.

    Attributes
    ----------
    problem : MultilevelProblem
        Its centre is read off the scores, so it is the same for every simulation.
    score, site : ndarray of shape (n,)
    """

    problem: MultilevelProblem
    score: np.ndarray
    site: np.ndarray

    @property
    def quantities(self) -> tuple[str, ...]:
        """The population, one small site, and errors of the average and of a new site."""
        return (
            *("shift", "log_slope", "sd_shift", "sd_log_slope", "correlation"),
            *("shift of a site", "log_slope of a site", "TCE of a site"),
            *("TCE of the average", "TCE of a new site"),
        )

    @property
    def depends_on(self) -> dict[str, Any]:
        """The priors and the scores."""
        table = np.concatenate([self.score, self.site]).tobytes()
        described = self.problem.pooled.to_attributes()
        described["heterogeneity"] = json.dumps(self.problem.heterogeneity.to_dict())
        del described["seed"]
        return described | {"scores": hashlib.sha256(table).hexdigest()}

    def truth(self, rng: np.random.Generator) -> np.ndarray:
        """A point from the prior."""
        prior = self.problem.heterogeneity
        average = self.problem.pooled.sample_prior(rng, 1)[0]
        scales = np.abs(rng.standard_t(prior.nu, 2)) * [prior.shift, prior.log_slope]
        correlation = 2 * rng.beta(prior.correlation, prior.correlation) - 1
        standard = rng.standard_normal((1 + len(SIZES), 2))
        own = np.sqrt(1 - correlation**2)
        standard[:, 1] = correlation * standard[:, 0] + own * standard[:, 1]
        each = average + scales * standard
        return np.concatenate([average, scales, [correlation], each.ravel()])

    def observe(self, truth: np.ndarray, rng: np.random.Generator) -> bc.CalibrationData:
        """Outcomes of that truth."""
        each = truth[5:].reshape(-1, 2)[1:][self.site]
        x = self._log_odds
        events = rng.random(x.size) < expit(self._centre + each[:, 0] + np.exp(each[:, 1]) * x)
        return bc.CalibrationData(events.astype(int), self.score, groups=self.site.astype(str))

    def posterior(
        self, data: bc.CalibrationData, draws: int, seed: int
    ) -> tuple[np.ndarray, Facts]:
        """Posterior draws, and the Pareto k-hat of the population."""
        pooled = replace(self.problem.pooled, data=data.pooled(), seed=seed)
        problem = replace(self.problem, data=data, pooled=pooled)
        drawn = draw_sites(problem, ENGINE_DRAWS)
        population = np.column_stack([drawn.average, drawn.scales[0], drawn.correlation])
        points = np.column_stack([population, drawn.of_new_level("site"), *drawn.groups])
        return points[:draws], {"pareto_k": drawn.stats["pareto_k"]}

    def evaluate(self, u: np.ndarray) -> np.ndarray:
        """The quantities at each point."""
        site = u[:, 7:9]
        errors = self._error(site, self.site == 0), self._error(u[:, :2]), self._error(u[:, 5:7])
        return np.column_stack([u[:, :5], site, *errors])

    @property
    def _centre(self) -> float:
        centre = self.problem.pooled.frame.centre
        return float(np.log(centre / (1 - centre)))

    @cached_property
    def _log_odds(self) -> np.ndarray:
        """From the centre."""
        return np.log(self.score / (1 - self.score)) - self._centre

    def _error(self, at: np.ndarray, mine: Any = slice(None)) -> np.ndarray:
        """Mean distance from calibration of curves of shape (n, 2), over some patients."""
        x, score = self._log_odds[mine], self.score[mine]
        curve = expit(self._centre + at[:, :1] + np.exp(at[:, 1:]) * x)
        return np.asarray(np.abs(curve - score).mean(axis=1))


def hierarchy() -> Hierarchy:
    """Eight sites of 60 to 200 patients."""
    rng = np.random.default_rng(SEED)
    site = np.repeat(np.arange(len(SIZES)), SIZES)
    score = expit(rng.normal(MEAN, WIDTH, site.size))
    data = bc.CalibrationData(np.zeros(site.size), score, groups=site.astype(str))
    vary = bc.by("site", robust=False)
    problem = prepare_terms(data, vary, prior="neutral", curve="logistic", random_state=SEED)
    return Hierarchy(problem, score, site)


def main() -> None:
    """Rank the truths, and say whether the ranks are uniform."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--path", default=folder("sites_sbc"))
    options = parser.parse_args()
    start = time.process_time()
    result = sbc_of(
        hierarchy(),
        n_simulations=options.simulations,
        draws=255,
        seed=SEED,
        n_jobs=1,
        progress=False,
        path=options.path,
    )
    table = uniformity(result)
    print(table.to_string())
    record = {
        "simulations": options.simulations,
        "prob": 0.99,
        "sizes": SIZES,
        "inside": bool(table["inside"].all()),
        "quantities": table.reset_index().to_dict("records"),
        "largest_pareto_k": float(result["pareto_k"].max()),
        "pareto_k_above_0.7": float((result["pareto_k"] > 0.7).mean()),
        "cpu_seconds": time.process_time() - start,
        "versions": library_versions("bayescal", "numpy", "scipy"),
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
