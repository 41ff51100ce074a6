"""A prior as data: a distribution for each working coordinate of a curve.

Every coordinate is zero at perfect calibration, so a prior centred on zero is a prior centred on
a calibrated model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.special import expit, gammaln

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, check_choice, check_type
from bayescal.core.symbolic import is_symbolic
from bayescal.core.text import shortened
from bayescal.model.lapse import Rate

__all__ = [
    "CLINICAL",
    "Distribution",
    "JointPrior",
    "Normal",
    "OtherLaw",
    "Prior",
    "StudentT",
    "is_foreign",
    "law_of",
]


# Probabilities of a normal distribution one standard deviation below and above its mean.
SHARES_OF_SD = (0.1587, 0.8413)


def is_foreign(value: Any) -> bool:
    """Whether this is a distribution of PyMC or of PreliZ."""
    return is_symbolic(value) or (hasattr(value, "to_pymc") and hasattr(value, "rvs"))


def law_of(value: Any) -> OtherLaw:
    """The law of a distribution of PyMC, such as `pm.Laplace.dist(0, 0.3)`, or of PreliZ.

    Only its name and numbers are kept, so that it can be written to a file.
    """
    import pymc as pm
    from pymc.pytensorf import constant_fold

    if not is_symbolic(value):
        with pm.Model(model=None):  # PreliZ adds a variable to the model that is open
            value = value.to_pymc("prior")
    op = value.owner.op
    of_its_type = (name for name in pm.distributions.__all__ if type(_operation(name)) is type(op))
    name = next(of_its_type, None)
    try:
        numbers = constant_fold(op.dist_params(value.owner), raise_not_constant=True)
    except Exception:  # of variables, or of an operation without parameters
        numbers = ()
    if name is None or not numbers or any(np.ndim(number) for number in numbers):
        raise InputError(
            f"a prior is {shortened(repr(value))}, and only the named distributions of PyMC with "
            "numbers as parameters can be stored with a fit, such as pm.Laplace.dist(0, 0.3). "
            "Pass one of these; or put the prior into bc.build_model's model yourself."
        )
    return OtherLaw(name, tuple(float(number) for number in numbers))


def _operation(name: str) -> Any:
    """What draws a named distribution of PyMC; None of those without."""
    import pymc as pm

    return getattr(getattr(pm, name, None), "rv_op", None)


@dataclass(frozen=True)
class OtherLaw:
    """A named distribution of PyMC, which NUTS takes and the fast engines do not.

    `parameters` are those of the operation that draws it.
    """

    name: str
    parameters: tuple[float, ...]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{number:g}' for number in self.parameters)})"

    def _variable(self) -> Any:
        import pytensor

        operation = _operation(self.name)
        if operation is None:
            raise InputError(f"PyMC has no distribution {shortened(repr(self.name))}.")
        # Called, the operation warns of a change to come in what it returns.
        node = operation.make_node(
            pytensor.shared(np.random.default_rng(0)), None, *self.parameters
        )
        return node.outputs[1]

    def logpdf(self, x: Floats) -> Floats:
        """Log density at `x`, of the same shape."""
        import pymc as pm

        return np.asarray(pm.logp(self._variable(), np.asarray(x, np.float64)).eval())

    def slope_and_curvature(self, x: Any) -> tuple[Any, Any]:
        """Refused: the fast engines ask for it."""
        raise InputError(
            f"a prior is {self!r}, and the fast engine takes bc.priors.Normal and StudentT. Pass "
            "one of these, or fit one family with bc.fit(..., engine='nuts')."
        )

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Independent draws of shape (size,)."""
        import pymc as pm

        seed = int(rng.integers(2**31))
        return np.asarray(pm.draw(self._variable(), size, random_seed=seed), np.float64)

    @cached_property
    def sigma(self) -> float:
        """Half the width of the middle 68 %, which is the standard deviation of a normal one."""
        drawn = self.sample(np.random.default_rng(0), 4000)
        low, high = np.quantile(drawn, SHARES_OF_SD)
        return float(high - low) / 2

    def to_pymc(self, name: str) -> Any:
        """The PyMC variable of this name; call it inside a model."""
        import pymc as pm

        return pm.modelcontext(None).register_rv(self._variable(), name)


# What the stored name of a distribution of PyMC begins with.
PYMC = "pymc."
# Numbers beyond it are no parameter of a prior: their squares are not finite.
LARGEST = 1e300


def _check_scale(mu: Any, sigma: Any) -> None:
    _check_real(mu, "mu")
    _check_positive(sigma, "sigma")


def _check_real(value: Any, name: str) -> None:
    if not _is_number(value) or not -LARGEST <= value <= LARGEST:
        raise InputError(f"{name} must be a finite number, got {shortened(repr(value))}.")


def _check_positive(value: Any, name: str) -> None:
    if not _is_number(value) or not 0 < value <= LARGEST:
        raise InputError(f"{name} must be a positive number, got {shortened(repr(value))}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real)


def _check_others(others: Any) -> None:
    pairs = isinstance(others, tuple) and all(
        isinstance(pair, tuple)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], (Normal, StudentT, Rate))
        for pair in others
    )
    if not pairs:
        raise InputError(
            "others must be a tuple of pairs, a coordinate's name and its Normal, StudentT or "
            f"Rate, got {shortened(repr(others))}."
        )


@dataclass(frozen=True)
class Normal:
    """Normal distribution.

    Parameters
    ----------
    mu : float
        Mean.
    sigma : float
        Standard deviation, positive.

    Examples
    --------
    >>> from bayescal.model.priors import Normal
    >>> Normal(0, 0.5)
    Normal(mu=0, sigma=0.5)
    """

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        _check_scale(self.mu, self.sigma)

    def logpdf(self, x: Floats) -> Floats:
        """Log density at `x`, of the same shape."""
        z = (x - self.mu) / self.sigma
        return np.asarray(-0.5 * z**2 - np.log(self.sigma) - 0.5 * np.log(2 * np.pi))

    def slope_and_curvature(self, x: Any) -> tuple[Any, Any]:
        """First and second derivative of the log density at `x`."""
        return (self.mu - x) / self.sigma**2, -1 / self.sigma**2

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Independent draws of shape (size,)."""
        return rng.normal(self.mu, self.sigma, size)

    def to_pymc(self, name: str) -> Any:
        """The PyMC variable of this name; call it inside a model."""
        import pymc as pm

        return pm.Normal(name, self.mu, self.sigma)


@dataclass(frozen=True)
class StudentT:
    """Student-t distribution.

    Parameters
    ----------
    nu : float
        Degrees of freedom, positive.
    mu : float
        Location.
    sigma : float
        Scale, positive.

    Examples
    --------
    >>> from bayescal.model.priors import StudentT
    >>> StudentT(4, 0, 0.5)
    StudentT(nu=4, mu=0, sigma=0.5)
    """

    nu: float
    mu: float
    sigma: float

    def __post_init__(self) -> None:
        _check_scale(self.mu, self.sigma)
        _check_positive(self.nu, "nu")

    def logpdf(self, x: Floats) -> Floats:
        """Log density at `x`, of the same shape."""
        z = (x - self.mu) / self.sigma
        half = (self.nu + 1) / 2
        constant = gammaln(half) - gammaln(self.nu / 2) - 0.5 * np.log(self.nu * np.pi)
        return np.asarray(constant - np.log(self.sigma) - half * np.log1p(z**2 / self.nu))

    def slope_and_curvature(self, x: Any) -> tuple[Any, Any]:
        """First and second derivative of the log density at `x`."""
        d = x - self.mu
        spread = self.nu * self.sigma**2 + d**2
        slope = -(self.nu + 1) * d / spread
        curvature = -(self.nu + 1) * (self.nu * self.sigma**2 - d**2) / spread**2
        return slope, curvature

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Independent draws of shape (size,)."""
        return self.mu + self.sigma * rng.standard_t(self.nu, size)

    def to_pymc(self, name: str) -> Any:
        """The PyMC variable of this name; call it inside a model."""
        import pymc as pm

        return pm.StudentT(name, nu=self.nu, mu=self.mu, sigma=self.sigma)


Distribution = Normal | StudentT | Rate | OtherLaw

_KINDS: dict[str, type[Distribution]] = {law.__name__: law for law in (Normal, StudentT, Rate)}
# Distributions of PyMC that are one of ours, with the same parameters.
SAME: dict[str, Any] = {"Normal": Normal, "StudentT": StudentT}


# Nine scales in place of three: in a trial with twenty knots, finer scales (.55, 1 and 1.8 for .3,
# 1 and 3) covered the curve of a step in .90 to .96 of the data sets in place of .87 to .91.
TAUS = np.geomspace(0.02, 1.8, 9)
OF_TAUS = TAUS / (1 + (TAUS / 0.2) ** 2 / 3) ** 2
# A half Student-t of 3 degrees of freedom and scale .2, at nine scales.
ROUGHNESS = tuple(zip(TAUS.tolist(), (OF_TAUS / OF_TAUS.sum()).tolist(), strict=True))


def usual_error() -> StudentT:
    """What a model is off by, in log-odds: mostly less than .35, and far more now and then.

    On 284 simulated data sets this scale scored best of .2 to .45 for shift and slope together; the
    heavy tail covers slopes below .75 or above 1.35 in .90 where a normal one of .5 did in .88.
    """
    return StudentT(3.0, 0.0, 0.35)


@dataclass(frozen=True)
class Prior:
    """A prior on calibration curves: a centre, and a distribution for each coordinate.

    Parameters
    ----------
    shift : Normal, StudentT, or distribution of PyMC or PreliZ
        Log-odds by which the curve lies above (+) or below (-) the diagonal at the centre.
    log_slope : the same
        Logarithm of the curve's slope on the log-odds scale; negative is overconfident.
    asymmetry : the same
        log(alpha / beta) of the beta family: how differently low and high scores behave.
    roughness : tuple of (tau, weight) pairs
        Prior of the spline's scale tau, the standard deviation of its departure from a line in
        log-odds, averaged over the cases: a few values and their probabilities.
    centre : float in (0, 1) or "mean"
        Score at which `shift` acts; "mean" takes the score whose log-odds is the mean.
    name : str
        What tables and figures call it.
    others : tuple of (str, Normal, StudentT or Rate) pairs
        Priors of coordinates that only some other family has, by name. A family states its own;
        what stands here goes before them.

    Notes
    -----
    A distribution of PyMC, such as `pm.Laplace.dist(0, 0.3)`, or of PreliZ, such as
    `pz.maxent(pz.Normal(), -0.5, 0.5, 0.9)`, is kept by its name and numbers. Any but a normal and
    a Student-t one is sampled by NUTS.

    Examples
    --------
    >>> from bayescal.model.priors import Normal, Prior
    >>> sceptical = Prior(shift=Normal(0, 0.2), log_slope=Normal(0, 0.1), name="sceptical")
    >>> sceptical.asymmetry
    StudentT(nu=3.0, mu=0.0, sigma=0.35)
    """

    shift: Distribution = field(default_factory=usual_error)
    log_slope: Distribution = field(default_factory=usual_error)
    asymmetry: Distribution = field(default_factory=usual_error)
    roughness: tuple[tuple[float, float], ...] = ROUGHNESS
    centre: float | Literal["mean"] = "mean"
    name: str = "custom"
    others: tuple[tuple[str, Distribution], ...] = ()

    def __post_init__(self) -> None:
        for coordinate in ("shift", "log_slope", "asymmetry"):
            law = getattr(self, coordinate)
            if is_foreign(law):
                law = law_of(law)
                own = SAME.get(law.name)
                law = law if own is None else own(*law.parameters)
                object.__setattr__(self, coordinate, law)
            if not isinstance(law, (Normal, StudentT, OtherLaw)):
                raise InputError(
                    f"the prior of {coordinate} must be a distribution: Normal or StudentT of "
                    "bayescal.priors, one of PyMC, such as pm.Laplace.dist(0, 0.3), or one of "
                    f"PreliZ, got {shortened(repr(law))}."
                )
        try:
            taus = np.array(self.roughness, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            taus = np.empty(0)
        if taus.ndim != 2 or taus.shape[1] != 2 or not (taus > 0).all():
            raise InputError(
                "roughness must hold (tau, weight) pairs of positive numbers, "
                f"got {shortened(repr(self.roughness))}."
            )
        if abs(taus[:, 1].sum() - 1) > 1e-9:
            raise InputError(f"the weights of roughness sum to {taus[:, 1].sum():g}, not 1.")
        if isinstance(self.centre, str):
            check_choice(self.centre, ("mean",), "centre")
        elif not _is_number(self.centre) or not 0 < self.centre < 1:
            given = shortened(repr(self.centre))
            raise InputError(f'centre must lie in (0, 1) or be "mean", got {given}.')
        check_type(self.name, str, "name", "Pass a text.")
        _check_others(self.others)

    def with_others(self, others: tuple[tuple[str, Distribution], ...]) -> Prior:
        """The same prior with these distributions, where it names none of the coordinate."""
        named = dict(self.others)
        missing = tuple((name, prior) for name, prior in others if name not in named)
        return replace(self, others=self.others + missing) if missing else self

    def beyond_fast_engines(self, coordinates: tuple[str, ...]) -> str:
        """A clause on the first of these coordinates that only NUTS can sample; or nothing."""
        for name in ("shift", "log_slope", "asymmetry"):
            law = getattr(self, name)
            if name in coordinates and isinstance(law, OtherLaw):
                return f"the prior of {name} is {law!r}, which only NUTS can sample"
        return ""

    def of(self, coordinate: str) -> Distribution:
        """The distribution of one coordinate; of a deviation only once tau is fixed by `at`."""
        for name, other in self.others:
            if name == coordinate:
                return other
        if coordinate.startswith("deviation"):
            ((tau, _),) = self.roughness
            return Normal(0.0, tau)
        distribution: Distribution = getattr(self, coordinate)
        return distribution

    def at(self, tau: float) -> Prior:
        """The same prior with the spline's scale fixed."""
        return replace(self, roughness=((tau, 1.0),))

    def centre_for(self, log_odds: Floats, trials: Floats) -> float:
        """The centre for scores with these log-odds, each counted `trials` times."""
        if self.centre == "mean":
            return float(expit(np.average(log_odds, weights=trials)))
        return float(self.centre)

    def logpdf(self, coordinates: tuple[str, ...], u: Floats) -> Floats:
        """Joint log density of draws `u` of shape (draws, d)."""
        return JointPrior(self, coordinates).logpdf(u)

    def deviation_logpdf(self, deviations: Floats) -> Floats:
        """Joint log density of deviations of shape (draws, k), tau summed out."""
        taus, weights = np.array(self.roughness).T
        size, squares = deviations.shape[1], np.vecdot(deviations, deviations)
        level = np.log(weights) - size * np.log(taus)
        terms = level[:, None] - squares / (2 * taus**2)[:, None]
        largest = terms.max(axis=0)
        summed = np.exp(terms - largest).sum(axis=0)
        return np.asarray(largest + np.log(summed) - size * np.log(2 * np.pi) / 2)

    def sample(
        self, coordinates: tuple[str, ...], rng: np.random.Generator, size: int
    ) -> dict[str, Floats]:
        """Draws of the coordinates, each of shape (size,)."""
        taus, weights = np.array(self.roughness).T
        tau = rng.choice(taus, size, p=weights)
        return {
            name: tau * rng.standard_normal(size)
            if name.startswith("deviation")
            else self.of(name).sample(rng, size)
            for name in coordinates
        }

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description; `from_dict` reads it back."""
        described: dict[str, Any] = {"name": self.name, "centre": self.centre}
        described["roughness"] = [list(pair) for pair in self.roughness]
        for coordinate in ("shift", "log_slope", "asymmetry"):
            described[coordinate] = _described(self.of(coordinate))
        if self.others:
            described["others"] = {name: _described(prior) for name, prior in self.others}
        return described

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Prior:
        """Read back what `to_dict` wrote."""
        others = described.get("others", {}).items()
        return cls(
            shift=_distribution(described["shift"]),
            log_slope=_distribution(described["log_slope"]),
            asymmetry=_distribution(described["asymmetry"]),
            others=tuple((name, _distribution(read)) for name, read in others),
            roughness=tuple(map(tuple, described["roughness"])),
            centre=described["centre"],
            name=described["name"],
        )


class JointPrior:
    """The prior of all coordinates of a curve; its deviations share one scale."""

    def __init__(self, prior: Prior, coordinates: tuple[str, ...]) -> None:
        self._prior, self._coordinates = prior, coordinates
        rough = np.array([name.startswith("deviation") for name in coordinates], dtype=bool)
        self._rough, self._others = np.flatnonzero(rough), np.flatnonzero(~rough)

    @cached_property
    def _laws(self) -> list[tuple[int, Distribution]]:
        """The other coordinates and their laws, looked up once for many points."""
        return [(int(k), self._prior.of(self._coordinates[k])) for k in self._others]

    def logpdf(self, u: Floats) -> Floats:
        """Joint log density of draws `u` of shape (draws, d)."""
        density = np.zeros(u.shape[0])
        for column, law in self._laws:
            density += law.logpdf(u[:, column])
        if not self._rough.size:
            return density
        return density + self._prior.deviation_logpdf(u[:, self._rough])

    def slope_and_curvature(self, u: Floats) -> tuple[Floats, Floats]:
        """First and second derivatives of the log density at one point of shape (d,).

        Where there are deviations, their scale is fixed.
        """
        slope, curvature = np.empty((2, u.size))
        for column, law in self._laws:
            slope[column], curvature[column] = law.slope_and_curvature(u[column])
        if self._rough.size:
            ((tau, _),) = self._prior.roughness
            slope[self._rough] = -u[self._rough] / tau**2
            curvature[self._rough] = -1 / tau**2
        return slope, curvature


def _described(distribution: Distribution) -> dict[str, Any]:
    if isinstance(distribution, OtherLaw):
        of_pymc = f"{PYMC}{distribution.name}"
        return {"distribution": of_pymc, "parameters": list(distribution.parameters)}
    kind: dict[str, Any] = {"distribution": type(distribution).__name__}
    return kind | {name: float(value) for name, value in asdict(distribution).items()}


def _distribution(described: Mapping[str, Any]) -> Distribution:
    arguments = dict(described)
    if str(described["distribution"]).startswith(PYMC):
        name = str(described["distribution"]).removeprefix(PYMC)
        return OtherLaw(name, tuple(map(float, described["parameters"])))
    return _KINDS[arguments.pop("distribution")](**arguments)


# Follows the spread between external validations of clinical models.
CLINICAL = Prior(
    shift=StudentT(4.0, 0.0, 0.5),
    log_slope=Normal(0.0, 0.4),
    asymmetry=Normal(0.0, 0.5),
    centre="mean",
    name="clinical",
)
