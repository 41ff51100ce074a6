"""A likelihood for tests: events of a score that vary more than those of independent cases."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, digamma, expit, polygamma

from bayescal.model.likelihood.law import Likelihood
from bayescal.model.share import Beta

__all__ = ["BetaBinomial"]


class BetaBinomial(Likelihood):
    """hits ~ BetaBinomial(trials, g, alike): cases of a score are correlated by `alike`."""

    name = "beta-binomial"
    of_cases = False

    def __init__(self, a=2.0, b=8.0):
        self.law = Beta(a, b)

    @property
    def priors(self):
        return (("alike", self.law),)

    def log_density(self, log_odds, trials, hits, nuisance):
        size = 1 / nuisance[:, :1] - 1
        a, b = expit(log_odds) * size, expit(-log_odds) * size
        return betaln(hits + a, trials - hits + b) - betaln(a, b)

    def derivatives(self, log_odds, trials, hits, nuisance):
        (alike,) = nuisance
        size, misses = 1 / alike - 1, trials - hits
        g, rest = expit(log_odds), expit(-log_odds)
        a, b = g * size, rest * size
        value = betaln(hits + a, misses + b) - betaln(a, b)
        (first_a, second_a), (first_b, second_b), (first_n, second_n) = (
            (digamma(k + x) - digamma(x), polygamma(1, k + x) - polygamma(1, x))
            for k, x in ((hits, a), (misses, b), (trials, size))
        )
        by_g, by_size = size * (first_a - first_b), g * first_a + rest * first_b - first_n
        g_g = size**2 * (second_a + second_b)
        size_size = g**2 * second_a + rest**2 * second_b - second_n
        g_size = first_a - first_b + size * (g * second_a - rest * second_b)
        rise, bend = g * rest, g * rest * (rest - g)
        once, twice = -1 / alike**2, 2 / alike**3
        cross = g_size * rise * once
        return (
            value,
            np.stack([by_g * rise, by_size * once]),
            np.array(
                [
                    [g_g * rise**2 + by_g * bend, cross],
                    [cross, size_size * once**2 + by_size * twice],
                ]
            ),
        )

    def draw(self, generator, trials, probability, nuisance):
        size = 1 / nuisance[:, :1] - 1
        share = generator.beta(
            np.maximum(probability * size, 1e-9), np.maximum((1 - probability) * size, 1e-9)
        )
        return generator.binomial(trials, share)

    def pymc_log_density(self, hits, trials, log_odds, *nuisance):
        import pytensor.tensor as pt

        (alike,) = nuisance
        size = 1 / alike - 1
        a, b = pt.sigmoid(log_odds) * size, pt.sigmoid(-log_odds) * size

        def log_beta(x, y):
            return pt.gammaln(x) + pt.gammaln(y) - pt.gammaln(x + y)

        return log_beta(hits + a, trials - hits + b) - log_beta(a, b)

    def to_dict(self):
        return {"name": self.name, "a": self.law.a, "b": self.law.b}

    @classmethod
    def from_dict(cls, described):
        return cls(described["a"], described["b"])
