"""Terms: what the curves of groups vary by, as a user names them and in a problem.

The levels of a robust term are like the others or, with a small probability, unlike them. Of a term
that stands alone, the share of levels that are unlike is not known. Its prior has a mean of 0.1 and
most of its mass near zero, so that levels of which none stands out are not taken for a mixture.
Beside other terms each level is unlike with probability 0.1, independently; by default the
combinations of factors, if there are ten or more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from scipy.special import roots_jacobi, softmax

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.model.prior import Heterogeneity, Normal, OtherLaw, Prior, StudentT, as_heterogeneity

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Vary", "by", "walk"]

# The mean of .1 and the size of like effects were held against normal effects on 100 data sets a
# cell. With one of 14 sites unlike the rest its O/E is covered in .90 (.76 with normal effects),
# and P(next site's TCE < .05), truly .91, is stated as .80 (.58). Where effects are normal,
# interval scores are at most 4 % larger.
# Shapes of the beta prior of the share of levels that are unlike the others.
SHARE_UNLIKE = 0.3, 2.7
# Expected size of the effects of like levels, relative to that of normal effects of all levels.
LIKE_SHARE = 0.6
# Each level of several terms has this probability by itself. A bad cell of 80 patients among twelve
# is covered in .81 of 100 data sets (.26 with normal effects), and without a bad cell the interval
# score is 1 % larger. When at most one level could be unlike, two bad cells shut each other out.
# Prior probability that a level is unlike the others.
PROB_UNLIKE = SHARE_UNLIKE[0] / sum(SHARE_UNLIKE)
LOG_ODDS_UNLIKE = float(np.log(PROB_UNLIKE / (1 - PROB_UNLIKE)))
# Levels from which on the data say which of them are unlike the others.
LEAST_ROBUST = 10
# Probability of being unlike the others from which on a level is named.
CLEARLY_UNLIKE = 0.75
MOST_SHARES_UNLIKE = 64
# Levels whose likelihoods are multiplied before a logarithm is taken: the least of the shares, to
# this power, is a number that can be written.
LEVELS_OF_A_PRODUCT = 32
# Levels unlike the others are spread at least so many times as far as those that are like them.
FARTHER = 2.0


def clearly_unlike(prob: pd.Series) -> dict[str, float]:
    """Levels that are named, with their probabilities, the most likely first."""
    clear = prob[prob > CLEARLY_UNLIKE].sort_values(ascending=False)
    return {str(label): float(each) for label, each in clear.items()}


def unlike_scale(prior: Prior, name: str, scale: Any) -> Any:
    """Standard deviation of a coordinate of levels that are unlike the others.

    It is that of the coordinate's own prior, and bounded away from the `scale` of the like levels.
    """
    law = prior.of(name)
    assert isinstance(law, Normal | StudentT | OtherLaw)  # only a shift and slopes vary
    return (law.sigma**2 + (FARTHER * scale) ** 2) ** 0.5


def unlike_scales(prior: Prior, names: Sequence[str], scales: Floats) -> Floats:
    """Of several coordinates, for scales of shape (..., names)."""
    farther = np.empty_like(scales)
    for k, name in enumerate(names):
        farther[..., k] = unlike_scale(prior, name, scales[..., k])
    return farther


def shares_unlike(levels: int) -> tuple[Floats, Floats]:
    """Shares that stand for their prior, and the logarithms of their weights.

    Those of Gauss's rule, by which the likelihood, a polynomial in the share of a degree that is
    the number of levels, has its integral exactly up to 127 levels.
    """
    a, b = SHARE_UNLIKE
    at, weight = roots_jacobi(min(levels // 2 + 1, MOST_SHARES_UNLIKE), b - 1, a - 1)
    return (1 + at) / 2, np.log(weight / weight.sum())


def shares_of(levels: int, *, alone: bool) -> tuple[Floats, Floats]:
    """The shares, and the logarithms of their weights: one share beside other terms."""
    return shares_unlike(levels) if alone else (np.array([PROB_UNLIKE]), np.zeros(1))


def log_weights_of_shares(log_ratio: Floats, shares: tuple[Floats, Floats]) -> Floats:
    """Logarithms (shares, n) of the prior weights of shares times their likelihoods.

    By the log likelihood (levels, n) of a level, were it unlike the others, over that were it like.
    """
    at, log_prior = shares
    log_weight = np.repeat(log_prior[:, None], log_ratio.shape[1], axis=1)
    for points in blocks(log_ratio.shape[1], at.size):
        for levels in blocks(len(log_ratio), room=LEVELS_OF_A_PRODUCT):
            log_weight[:, points] += _log_products(at, log_ratio[levels, points])
    return log_weight


def _log_products(shares: Floats, log_ratio: Floats) -> Floats:
    """Log likelihoods (shares, n) of a few levels, each over that were it like the others.

    By one logarithm of their product, whose factors are at most 1.
    """
    largest = np.maximum(log_ratio, 0)
    by_law = np.stack([np.exp(-largest), np.exp(log_ratio - largest)], axis=1)
    factors = np.stack([1 - shares, shares], axis=1) @ by_law
    return np.asarray(np.log(np.multiply.reduce(factors, axis=0)) + largest.sum(axis=0))


def one_of_shares(shares: Floats, log_weight: Floats, rng: np.random.Generator) -> Floats:
    """A share for each of n points, by the logarithms (shares, n) of their weights."""
    ladder = softmax(log_weight, axis=0).cumsum(axis=0)
    chosen = (ladder < rng.random(log_weight.shape[1]) * ladder[-1]).sum(axis=0)
    return np.asarray(shares[chosen])


Kind: TypeAlias = Literal["exchangeable", "walk"]
# Joins the names of factors to that of their interaction.
JOINED = " x "
# Expected size of the effects of an interaction, relative to those of the levels of a factor.
INTERACTION_SHARE = 0.5


@dataclass(frozen=True)
class Vary:
    """What curves vary by, as a user names it; made by `bayescal.by` and `bayescal.walk`.

    Attributes
    ----------
    names : tuple of str
        Site, period or factors; of an interaction several.
    kind : {"exchangeable", "walk"}
    robust : bool, optional
        Whether a level may be unlike the others. None: where the term stands alone, and of ten
        combinations or more beside their factors.
    prior : Heterogeneity or mapping, optional
        How much the levels are expected to differ; a mapping changes parts of the default.
    """

    names: tuple[str, ...]
    kind: Kind = "exchangeable"
    robust: bool | None = None
    prior: Heterogeneity | Mapping[str, Any] | None = None

    def is_robust(self, alone: bool) -> bool:
        """Whether a level may be unlike the others, where the term is `alone` or beside others."""
        return self.kind == "exchangeable" and (alone if self.robust is None else self.robust)

    @property
    def name(self) -> str:
        """Name of the term: that of what it varies by, or those of an interaction, joined."""
        return JOINED.join(self.names)

    def __repr__(self) -> str:
        word = "walk" if self.kind == "walk" else "by"
        robust = "" if self.robust is None else f", robust={self.robust}"
        prior = "" if self.prior is None else f", prior={self.prior}"
        return f"{word}({', '.join(map(repr, self.names))}{robust}{prior})"

    def scales(self, alone: bool) -> Heterogeneity:
        """The prior of its scales, where the term is `alone` or beside others."""
        is_beside = len(self.names) > 1 and not alone
        usual = Heterogeneity().scaled(INTERACTION_SHARE if is_beside else 1.0)
        if self.is_robust(alone):
            usual = usual.scaled(LIKE_SHARE)
        return as_heterogeneity(self.prior, usual)

    def check_beside(self, others: Sequence[Vary], *, known: bool) -> None:
        """Refuse what no engine can do with this term."""
        beside = [each for each in others if (each.names, each.kind) != (self.names, self.kind)]
        if len(beside) < len(others) - 1:
            raise InputError(f"vary has {self!r} twice. Name every term once.")
        walks = [each for each in beside if each.kind == "walk"]
        if self.kind == "walk" and walks:
            raise InputError(
                f"vary has {self!r} beside {walks[0]!r}, but cases have one order in time. Leave "
                "one of the two out, or name it with bc.by."
            )
        robust = [each for each in others if each.is_robust(len(others) == 1)]
        if len(robust) > 1:
            raise InputError(
                f"vary has robust=True in {robust[0]!r} and {robust[1]!r}, but the levels of one "
                "term only can be unlike the others. Leave it out of one of them."
            )
        if known and (self.kind == "walk" or beside):
            of = "periods" if self.kind == "walk" else "several subgroups"
            raise InputError(
                f"known was given with {of}, but it is of sites: pass the site of each case, "
                "site=, or leave known= out."
            )


# What curves vary by, as it comes in.
VaryBy: TypeAlias = str | Vary | Sequence[str | Vary]


def by(
    name: str,
    *more: str,
    robust: bool | None = None,
    prior: Heterogeneity | Mapping[str, Any] | None = None,
) -> Vary:
    """Curves that vary by the levels of a factor, or by combinations of levels of several.

    Every level has a shift and a slope of its own, drawn towards those of the average as far as
    the levels are alike. A level of a term that stands alone is like the others or, with prior
    probability 0.1, unlike them, so that one bad hospital does not change what is said of the rest.
    So is each of ten or more combinations of factors, beside effects of the factors themselves,
    which are normal; `robust=True` says it of another term.

    Parameters
    ----------
    name : str
        Of a factor, such as "site" or "sex".
    *more : str
        Of further factors, for their interaction: an effect of every combination of levels, beside
        those of each factor.
    robust : bool, optional
        Whether a level may be unlike the others; by default where the term stands alone, and of
        ten combinations or more. Beside other terms a fit takes several times as long.
    prior : Heterogeneity or mapping, optional
        How much the levels are expected to differ, as standard deviations of shift and log slope:
        `bc.priors.Heterogeneity()` by default, with scales half as large of an interaction, and 0.6
        times where a level may be unlike the others: they are then of those that are like each
        other. A mapping changes parts of it, such as `{"shift": 0.5}`.

    Returns
    -------
    Vary

    Raises
    ------
    InputError
        If a name is not text or is there twice, or `robust` is not True or False.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.by("sex")
    by('sex')
    >>> bc.by("sex", "age").name
    'sex x age'
    >>> bc.by("sex", "age", robust=True)
    by('sex', 'age', robust=True)
    """
    if robust is not None and not isinstance(robust, bool):
        raise InputError(
            "robust must be True, so that a level may be unlike the others, or False, got "
            f"{shortened(repr(robust))}."
        )
    as_heterogeneity(prior)
    return Vary(_checked((name, *more), "name"), robust=robust, prior=prior)


def walk(name: str = "period", *, prior: Heterogeneity | Mapping[str, Any] | None = None) -> Vary:
    """Curves that change from each period to the next, suddenly, step by step, or not at all.

    Parameters
    ----------
    name : str
    prior : Heterogeneity or mapping, optional
        The size of a sudden change, and of gradual drift over all periods together, as of
        `bayescal.by`.

    Returns
    -------
    Vary

    Raises
    ------
    InputError
        If the name is not text.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.walk("period")
    walk('period')
    """
    as_heterogeneity(prior)
    return Vary(_checked((name,), "name"), "walk", prior=prior)


def as_vary(vary: VaryBy) -> tuple[Vary, ...]:
    """The terms that `vary=` names: plain names are exchangeable."""
    listed = [vary] if isinstance(vary, (str, Vary)) else vary
    if not isinstance(listed, Sequence) or not listed:
        raise InputError(
            "vary must name what curves vary by, such as 'site', bc.by('sex', 'age') or "
            f"bc.walk('period'), or be a list of these, got {shortened(repr(vary))}."
        )
    return tuple(
        each if isinstance(each, Vary) else Vary(_checked((each,), f"vary[{k}]"))
        for k, each in enumerate(listed)
    )


def crossed(names: Sequence[str]) -> tuple[Vary, ...]:
    """Each of several factors, and their interaction."""
    return *(Vary((name,)) for name in names), Vary(tuple(names))


def _checked(names: Sequence[Any], argument: str) -> tuple[str, ...]:
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise InputError(
                f"{argument} must be the name of a factor, of the site or of the period, got "
                f"{shortened(repr(name))}."
            )
        if list(names).count(name) > 1:
            raise InputError(f"{argument} has {shortened(repr(name))} twice. Name it once.")
    return tuple(names)


@dataclass(frozen=True)
class Term:
    """How the levels of one factor, or ordered periods, move shift and log slope.

    Attributes
    ----------
    kind : {"exchangeable", "walk"}
        Effects of exchangeable levels are independent normals of one scale. Those of a walk are
        zero at the first level, and normal steps lead from each level to the next.
    levels : tuple of str
        Of a walk, in order.
    of_group : tuple of int
        Index of the level of each group, in the order of the problem's labels. A level may have no
        group.
    prior : Heterogeneity
        Of the scales, `shift` and `log_slope` with `nu`, and of their correlation.
    elapsed : tuple of float
        Of a walk, the time from each level to the next, in units of the step that has the scale:
        the variance of a step is proportional to its time.
    correlated : bool
        Whether shift and log slope of a level are correlated; otherwise they are independent.
    robust : bool
        Whether a level may be unlike the others in all its coordinates.
    of : tuple of str
        The axes whose levels it combines, of an interaction; by default that of its name.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...]
    of_group: tuple[int, ...]
    prior: Heterogeneity
    elapsed: tuple[float, ...] = ()
    correlated: bool = False
    of: tuple[str, ...] = ()
    robust: bool = False

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes whose levels it combines."""
        return self.of or (self.name,)

    @property
    def vary(self) -> Vary:
        """The term as `bayescal.fit` takes it, with the default prior of scales."""
        is_usual = len(self.axes) == 1 and self.robust == self.correlated
        return Vary(self.axes, self.kind, None if is_usual else self.robust)

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
        return asdict(self)

    @classmethod
    def from_dict(cls, described: dict[str, Any]) -> Term:
        """Read back what `to_dict` wrote."""
        listed = {name: tuple(described[name]) for name in ("levels", "of_group", "elapsed", "of")}
        return cls(**{**described, **listed, "prior": Heterogeneity(**described["prior"])})
