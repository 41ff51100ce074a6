"""A prior as data: a distribution for each working coordinate of a curve.

Every coordinate is zero at perfect calibration, so a prior centred on zero is a prior centred on
a calibrated model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, gammaln, log_ndtr, ndtr, stdtrit, xlog1py, xlogy

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, check_choice, check_type
from bayescal.core.symbolic import is_symbolic
from bayescal.core.text import shortened

# Probabilities of a normal distribution one standard deviation below and above its mean.
SHARES_OF_SD = (0.1587, 0.8413)

# What the stored name of a distribution of PyMC begins with.
PYMC = "pymc."

# Numbers beyond it are no parameter of a prior: their squares are not finite.
LARGEST = 1e300

# Nine scales in place of three: in a trial with twenty knots, finer scales (.55, 1 and 1.8 for .3,
# 1 and 3) covered the curve of a step in .90 to .96 of the data sets in place of .87 to .91.
TAUS = np.geomspace(0.02, 1.8, 9)
OF_TAUS = TAUS / (1 + (TAUS / 0.2) ** 2 / 3) ** 2

# A half Student-t of 3 degrees of freedom and scale .2, at nine scales.
ROUGHNESS = tuple(zip(TAUS.tolist(), (OF_TAUS / OF_TAUS.sum()).tolist(), strict=True))

# Coordinates that differ between sites; any other is common to all of them.
VARYING = ("shift", "log_slope")
LARGEST_PARAMETER = 1e6

# Standard normal points beyond which a probability of the t law would round to one.
FARTHEST_POINT = 7.0
LEAST_SCALE, LARGEST_SCALE = 1e-4, 50.0

# Beyond these, sites are alike, or unlike, or perfectly correlated, and only rounding differs.
LARGEST_CORRELATION = 1 - 1e-6


@dataclass(frozen=True)
class Rate:
    """A rate in [0, most]: `most` times a variable with the law of Kumaraswamy.

    P(rate < x) = 1 - (1 - (x / most)^a)^b. With a below 1 it may be so small that it does not
    matter: by default it is below .001 with probability .25, and above .05 with .18.

    Parameters
    ----------
    most : float in (0, 0.5)
        The largest rate; two of them then never add up to one.
    a, b : float
        Positive.

    References
    ----------
    Kumaraswamy (1980), A generalized probability density function for double-bounded random
    processes, Journal of Hydrology 46.

    Examples
    --------
    >>> from bayescal.model.priors import Rate
    >>> Rate(most=0.1)
    Rate(most=0.1, a=0.4, b=3.0)
    """

    # With .2, scores of 0 of which a larger share have the event were beyond any floor.
    most: float = 0.4
    a: float = 0.4
    b: float = 3.0

    def __post_init__(self) -> None:
        for name, largest in (("most", 0.5), ("a", 1e3), ("b", 1e6)):
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value < largest:
                none = value == 0 and name == "most"
                advice = " For no such rate, leave the curves noise and lapse out." if none else ""
                raise InputError(
                    f"{name} must be a positive number below {largest:g}, got "
                    f"{shortened(repr(value))}.{advice}"
                )

    def logpdf(self, x: Floats) -> Floats:
        """Log density at `x`, of the same shape; minus infinity outside [0, most]."""
        share = np.asarray(x, np.float64) / self.most
        inside = np.clip(share, 0, 1)
        density = np.log(self.a * self.b / self.most) + xlogy(self.a - 1, inside)
        density = density + xlog1py(self.b - 1, -(inside**self.a))
        return np.where(share == inside, density, -np.inf)

    def slope_and_curvature(self, x: Any) -> tuple[Any, Any]:
        """First and second derivative of the log density at `x`, inside (0, most)."""
        power = (x / self.most) ** self.a
        pull = (self.b - 1) * self.a * power / (1 - power)
        slope = (self.a - 1 - pull) / x
        return slope, -slope / x - pull * self.a / (1 - power) / x**2

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Independent draws of shape (size,)."""
        return self.from_normal(rng.standard_normal(size))

    def from_normal(self, z: Floats) -> Floats:
        """The rates at the same probabilities as standard normal numbers."""
        return np.asarray(self.most * self._root(z) ** (1 / self.a))

    def derivatives_from_normal(self, z: Floats) -> tuple[Floats, Floats]:
        """First and second derivative of `from_normal`."""
        root, hazard = self._root(z), np.exp(-(z**2) / 2 - log_ndtr(-z)) / np.sqrt(2 * np.pi)
        relative = (1 - root) * hazard / self.b / root
        first = self.from_normal(z) * relative / self.a
        return first, first * ((1 / self.a - 1) * relative + hazard - z - hazard / self.b)

    def _root(self, z: Floats) -> Floats:
        """(rate / most)^a."""
        return np.asarray(-np.expm1(log_ndtr(-z) / self.b))

    def to_pymc(self, name: str) -> Any:
        """The PyMC variable of this name; call it inside a model."""
        import pymc as pm

        share = pm.Kumaraswamy(f"{name}_share", self.a, self.b)
        return pm.Deterministic(name, self.most * share)


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


def _is_number(value: Any) -> bool:
    return isinstance(value, Real)


class _Located:
    """A law with a location `mu`, and parameters that are positive."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            kind = "finite" if name == "mu" else "positive"
            inside = _is_number(value) and -LARGEST <= value <= LARGEST
            if not inside or (kind == "positive" and value <= 0):
                raise InputError(f"{name} must be a {kind} number, got {shortened(repr(value))}.")


@dataclass(frozen=True)
class Normal(_Located):
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
class StudentT(_Located):
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

    def logpdf(self, x: Floats) -> Floats:
        """Log density at `x`, of the same shape."""
        z = (x - self.mu) / self.sigma
        return np.asarray(self._at_mode - (self.nu + 1) / 2 * np.log1p(z**2 / self.nu))

    @cached_property
    def _at_mode(self) -> float:
        """The log density at its peak."""
        constant = gammaln((self.nu + 1) / 2) - gammaln(self.nu / 2)
        return float(constant - 0.5 * np.log(self.nu * np.pi) - np.log(self.sigma))

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

    def deviation_logpdf(self, deviations: Floats, tau: float | None = None) -> Floats:
        """Joint log density of deviations of shape (draws, k), tau summed out or fixed."""
        taus, weights = np.array(self.roughness if tau is None else ((tau, 1.0),)).T
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


@dataclass(frozen=True)
class JointPrior:
    """The prior of all coordinates of a curve, the scale of its deviations summed out or fixed."""

    prior: Prior
    coordinates: tuple[str, ...]
    tau: float | None = None

    @cached_property
    def laws(self) -> tuple[list[tuple[int, Distribution]], NDArray[np.intp]]:
        """Coordinates with a law of their own and these, and deviations: looked up once."""
        laws, rough = [], []
        for k, name in enumerate(self.coordinates):
            if name.startswith("deviation"):
                rough.append(k)
            else:
                laws.append((k, self.prior.of(name)))
        return laws, np.array(rough, dtype=np.intp)

    def logpdf(self, u: Floats) -> Floats:
        """Joint log density of draws `u` of shape (draws, d)."""
        laws, rough = self.laws
        density = np.zeros(u.shape[0])
        for column, law in laws:
            density += law.logpdf(u[:, column])
        if not rough.size:
            return density
        return density + self.prior.deviation_logpdf(u[:, rough], self.tau)

    def derivatives(self, u: Floats) -> tuple[float, Floats, Floats]:
        """Log density at one point of shape (d,), and its first and second derivatives.

        Where there are deviations, their scale is fixed.
        """
        (laws, rough), value = self.laws, 0.0
        slope, curvature = np.empty((2, u.size))
        for column, law in laws:
            value += float(law.logpdf(u[column]))
            slope[column], curvature[column] = law.slope_and_curvature(u[column])
        if rough.size:
            tau = self.tau
            assert tau is not None
            slope[rough], curvature[rough] = -u[rough] / tau**2, -1 / tau**2
            value += float(self.prior.deviation_logpdf(u[None, rough], tau)[0])
        return value, slope, curvature


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


@dataclass(frozen=True)
class Heterogeneity:
    """A prior on how far the sites' curves lie from the curve of the average site.

    The shift and the logarithm of the slope of a site are normal round those of the average site;
    of robust effects those of sites that are like each other.
    Their standard deviations between sites have half-t priors, and their correlation has the
    prior of Lewandowski, Kurowicka and Joe.

    Parameters
    ----------
    shift : float
        Scale of the half-t prior of the standard deviation of the shift (log-odds).
    log_slope : float
        Scale of the half-t prior of the standard deviation of the log slope.
    nu : float
        Degrees of freedom of both half-t priors.
    correlation : float
        Shape eta of the correlation's prior, with density proportional to (1 - r^2)^(eta - 1): 1 is
        uniform, and larger values prefer correlations near zero.

    Raises
    ------
    InputError
        If a parameter is not a positive number.

    References
    ----------
    Gelman (2006), Prior distributions for variance parameters in hierarchical models, Bayesian
    Analysis 1. Lewandowski, Kurowicka & Joe (2009), Journal of Multivariate Analysis 100.

    Examples
    --------
    >>> from bayescal.model.priors import Heterogeneity
    >>> Heterogeneity(shift=0.5)
    Heterogeneity(shift=0.5, log_slope=0.15, nu=3.0, correlation=2.0)
    """

    shift: float = 0.3
    log_slope: float = 0.15
    nu: float = 3.0
    correlation: float = 2.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
            if not (number and 0 < value < LARGEST_PARAMETER):
                raise InputError(
                    f"{name} of the heterogeneity prior must be a positive number below 1e6, got "
                    f"{shortened(repr(value))}."
                )

    def scaled(self, factor: float) -> Heterogeneity:
        """The same prior with both scales multiplied."""
        return replace(self, shift=factor * self.shift, log_slope=factor * self.log_slope)

    def scales(self, standard: Floats, names: Sequence[str]) -> Floats:
        """Standard deviations between sites at standard normal points of shape (n, names).

        The map from a standard normal variable to the half-t law, so that the prior of the points
        is standard normal and the whole line is used.
        """
        unit = stdtrit(self.nu, (1 + ndtr(np.minimum(standard, FARTHEST_POINT))) / 2)
        scale = np.array([getattr(self, name) for name in names])
        return np.asarray(np.clip(unit * scale, LEAST_SCALE, LARGEST_SCALE))

    def logpdf(self, scales: Floats, names: Sequence[str]) -> Floats:
        """Log density of standard deviations of shape (n, names), of shape (n,)."""
        scale = np.array([getattr(self, name) for name in names])
        kernel = np.log1p(np.square(scales / scale) / self.nu)
        half = (self.nu + 1) / 2
        constant = np.log(2) + gammaln(half) - gammaln(self.nu / 2) - np.log(self.nu * np.pi) / 2
        return np.asarray((constant - half * kernel - np.log(scale)).sum(axis=-1))

    def correlations(self, standard: Floats) -> Floats:
        """Correlations at standard normal points of shape (n,)."""
        unit = betaincinv(self.correlation, self.correlation, ndtr(standard))
        return np.asarray(np.clip(2 * unit - 1, -LARGEST_CORRELATION, LARGEST_CORRELATION))

    def to_dict(self) -> dict[str, float]:
        """A JSON-ready description."""
        return {name: float(value) for name, value in asdict(self).items()}


def as_heterogeneity(
    given: Heterogeneity | Mapping[str, Any] | None, default: Heterogeneity | None = None
) -> Heterogeneity:
    """A heterogeneity prior, or a mapping that changes parts of the default one."""
    usual = Heterogeneity() if default is None else default
    if given is None:
        return usual
    if isinstance(given, Heterogeneity):
        return given
    if isinstance(given, Mapping):
        known = tuple(asdict(Heterogeneity()))
        for key in given:
            check_choice(key, known, "the keys of prior")
        return replace(usual, **given)
    raise InputError(
        "prior of a term must be a bc.priors.Heterogeneity or a mapping such as "
        f"{{'shift': 0.5}}, got {shortened(repr(given))}."
    )
