"""What each package calls the same quantity: ours first, then one function for each peer.

A function imports its package and returns its calls by quantity, each of (y_true, y_prob). Where a
peer's own definition differs, the call says how. `value` makes a number of what a call returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import bootstrap

ALL_SIZES = (200, 10_000, 1_000_000)
SMALL = 10_000
BINS = 15
OWN_RESAMPLES = "resamples of its own"
AT = np.array([0.3])


@dataclass(frozen=True)
class Quantity:
    """A row of the benchmark: the speed-up asked for at n >= 10^4, and whether it is linear."""

    title: str
    goal: float = 1
    sizes: tuple[int, ...] = ALL_SIZES
    linear: bool = True


@dataclass(frozen=True)
class Call:
    """How a package computes a quantity; `largest` is the most cases it is asked to take."""

    run: Callable[[Any, Any], Any]
    value: Callable[[Any], float] = float
    differs: str = ""
    largest: int = 1_000_000


Calls = dict[str, Call]

QUANTITIES = {
    "ece_width": Quantity("ECE, equal width"),
    "ece_quantile": Quantity("ECE, cut at quantiles"),
    "ece_mass": Quantity("ECE, equal mass"),
    "debiased": Quantity("Debiased ECE", goal=5),
    "sweep": Quantity("Sweep ECE", goal=5),
    "smooth": Quantity("SmoothECE", goal=5),
    "logit_smooth": Quantity("SmoothECE, log-odds", goal=5),
    "ici_loess": Quantity("ICI, loess", goal=5),
    "ici_lowess": Quantity("ICI, local lines", goal=5),
    "slope": Quantity("Calibration slope"),
    "corp": Quantity("CORP decomposition"),
    "skce": Quantity("SKCE, unbiased"),
    "mmce": Quantity("MMCE"),
    "ks": Quantity("KS error"),
    "ks_test": Quantity("KS test"),
    "kuiper_test": Quantity("Kuiper test"),
    "hosmer_lemeshow": Quantity("Hosmer-Lemeshow test"),
    "spiegelhalter": Quantity("Spiegelhalter's test"),
    "brier": Quantity("Brier score"),
    "beta": Quantity("Beta recalibration"),
    "bbq": Quantity("BBQ"),
    "isotonic": Quantity("Isotonic recalibration"),
    "ece_interval": Quantity("ECE, bootstrap interval", goal=5, linear=False),
    "debiased_interval": Quantity("Debiased ECE, bootstrap interval", goal=5, linear=False),
    "ici_interval": Quantity(
        "ICI, loess, bootstrap interval", goal=5, sizes=(200, SMALL), linear=False
    ),
    "smooth_interval": Quantity(
        "SmoothECE, bootstrap interval", goal=5, sizes=(200, 1000, 10_000, 1_000_000), linear=False
    ),
    "logit_smooth_interval": Quantity(
        "SmoothECE, log-odds, bootstrap interval",
        goal=5,
        sizes=(200, 1000, 10_000, 1_000_000),
        linear=False,
    ),
}


def resamples(n: int) -> int:
    """Bootstrap resamples at n cases."""
    return 1000 if n <= 10_000 else 100


def fitted(recalibrator: Any) -> float:
    """What a recalibrator makes of a score of 0.3."""
    again = getattr(recalibrator, "transform", None) or recalibrator.predict_proba
    return float(np.ravel(again(AT))[-1])


def upper(interval: Any) -> float:
    """The upper end of an interval of ours."""
    return float(interval.upper)


def bayescal() -> Calls:
    from bayescal import estimators as e
    from bayescal import recalibrate as r
    from bayescal import scores as s

    def interval(estimator: str, **options: Any) -> Call:
        return Call(
            lambda y, p: e.estimator_interval(
                y, p, estimator, n_resamples=resamples(p.size), random_state=0, **options
            ),
            upper,
        )

    def statistic(test: Callable[..., Any]) -> Call:
        return Call(test, lambda result: float(result.statistic))

    return {
        "ece_width": Call(e.ece),
        "ece_quantile": Call(lambda y, p: e.ece(y, p, binning="quantile")),
        "ece_mass": Call(lambda y, p: e.ece(y, p, binning="mass")),
        "debiased": Call(e.debiased_ece),
        "sweep": Call(e.sweep_ece),
        "smooth": Call(e.smooth_ece),
        "logit_smooth": Call(e.logit_smooth_ece),
        "ici_loess": Call(e.ici),
        "ici_lowess": Call(lambda y, p: e.ici(y, p, smoother="lowess", span=0.75)),
        "slope": Call(e.calibration_slope),
        "corp": Call(s.corp_decomposition, lambda result: float(result.miscalibration)),
        "skce": Call(e.skce),
        "mmce": Call(e.mmce),
        "ks": Call(e.ks_error),
        "ks_test": statistic(e.ks_test),
        "kuiper_test": statistic(e.kuiper_test),
        "hosmer_lemeshow": statistic(e.hosmer_lemeshow_test),
        "spiegelhalter": statistic(e.spiegelhalter_test),
        "brier": Call(s.brier_score),
        "ece_interval": interval("ece", binning="quantile"),
        "debiased_interval": interval("debiased_ece", binning="quantile"),
        "ici_interval": interval("ici"),
        "smooth_interval": interval("smooth_ece"),
        "logit_smooth_interval": interval("logit_smooth_ece"),
        "beta": Call(lambda y, p: r.BetaRecalibrator().fit(p, y), fitted),
        "bbq": Call(lambda y, p: r.BBQRecalibrator().fit(p, y), fitted),
        "isotonic": Call(lambda y, p: r.IsotonicRecalibrator().fit(p, y), fitted),
    }


def unchecked() -> Calls:
    """Ours without the checks of arguments: cores, on arrays that are taken as they are."""
    from bayescal.data.read import Cases
    from bayescal.estimators.binned.plugin import ece_core
    from bayescal.scores._core import mean
    from bayescal.scores._rules import squared_error

    cut = {"n_bins": BINS, "binning": "width", "ties": "together"}
    return {
        "ece_width": Call(lambda y, p: ece_core(p, None, p=1, **cut)(y[None])[0]),
        "brier": Call(lambda y, p: mean(Cases(y[None], p, None), squared_error)[0]),
    }


def relplot() -> Calls:
    from relplot import metrics

    def interval(y: Any, p: Any) -> Any:
        return bootstrap(
            (p, y), metrics.smECE, paired=True, n_resamples=resamples(p.size), method="percentile"
        )

    return {
        "ece_width": Call(lambda y, p: metrics.binnedECE(p, y, nbins=BINS)),
        "smooth": Call(lambda y, p: metrics.smECE(p, y), differs="bandwidth to 1/1024"),
        "smooth_interval": Call(
            interval,
            lambda result: float(result.confidence_interval.high),
            "bandwidth to 1/1024; it ships with 100 resamples",
            SMALL,
        ),
    }


def probcal() -> Calls:
    from probcal import BBQCalibrator, BetaCalibrator, IsotonicCalibrator, curves, metrics

    def interval(metric: str, differs: str = OWN_RESAMPLES) -> Call:
        return Call(
            lambda y, p: metrics.evaluate(
                y, p, metrics=[metric], n_boot=resamples(p.size), random_state=0, stratify=False
            ),
            lambda result: float(result.ci_high[0]),
            differs,
        )

    lattice = "bandwidth to 1e-4, on a lattice"
    loess = "local lines at 512 quantiles, joined by lines"
    floor = "bins floored at 0 and rooted one by one"
    return {
        "ece_width": Call(lambda y, p: metrics.ece(y, p, strategy="width")),
        "ece_quantile": Call(metrics.ece),
        "debiased": Call(metrics.ece_debiased, differs=floor),
        "sweep": Call(metrics.ece_sweep, differs="cut at quantiles, at most 100 bins"),
        "logit_smooth": Call(metrics.smooth_ece, differs=lattice),
        "ici_loess": Call(metrics.ici, differs=loess),
        "ici_lowess": Call(metrics.ici, differs=loess),
        "slope": Call(metrics.calibration_slope),
        "corp": Call(
            lambda y, p: curves.corp_reliability(y, p, bands=None),
            lambda result: float(result.brier_mcb),
            "the log score's decomposition as well",
        ),
        "skce": Call(lambda y, p: metrics.skce(y, p, bandwidth=1.0), largest=SMALL),
        "ks": Call(metrics.ecce, lambda result: result.stat_max),
        "hosmer_lemeshow": Call(metrics.hosmer_lemeshow, lambda result: result.statistic),
        "spiegelhalter": Call(metrics.spiegelhalter_z, lambda result: result.z),
        "brier": Call(metrics.brier_score),
        "ece_interval": interval("ece"),
        "debiased_interval": interval("ece_debiased", floor),
        "ici_interval": interval("ici", loess),
        "logit_smooth_interval": interval("smooth_ece", lattice),
        "beta": Call(lambda y, p: BetaCalibrator().fit(p, y), fitted),
        "bbq": Call(lambda y, p: BBQCalibrator().fit(p, y), fitted, "other priors and models"),
        "isotonic": Call(lambda y, p: IsotonicCalibrator().fit(p, y), fitted),
    }


def calibre() -> Calls:
    from calibre import metrics

    return {
        "ece_width": Call(lambda y, p: metrics.expected_calibration_error(y, p, n_bins=BINS)),
        "brier": Call(metrics.brier_score),
    }


def netcal() -> Calls:
    from netcal.binning import BBQ, IsotonicRegression
    from netcal.metrics import ECE, MMCE
    from netcal.scaling import BetaCalibration

    def both(p: Any) -> Any:
        return np.column_stack([1 - p, p])

    return {
        "ece_width": Call(lambda y, p: ECE(BINS).measure(p, y)),
        "ece_quantile": Call(lambda y, p: ECE(BINS, equal_intervals=False).measure(p, y)),
        "mmce": Call(lambda y, p: MMCE().measure(both(p), y), float, "of the top label", SMALL),
        "beta": Call(lambda y, p: BetaCalibration().fit(p, y), fitted),
        "bbq": Call(lambda y, p: BBQ().fit(p, y), fitted, "equal width, BIC"),
        "isotonic": Call(lambda y, p: IsotonicRegression().fit(p, y), fitted),
    }


def uncertainty_calibration() -> Calls:
    import calibration

    def debiased(y: Any, p: Any) -> Any:
        return calibration.lower_bound_scaling_ce(p, y, p=2, debias=True, num_bins=BINS)

    def interval(y: Any, p: Any) -> Any:
        pairs = list(zip(p, y, strict=True))

        def error(sample: Any) -> Any:
            scores, outcomes = zip(*sample, strict=True)
            return calibration.get_ece_em(np.array(scores), np.array(outcomes))

        return calibration.utils.precentile_bootstrap_uncertainty(
            pairs, error, alpha=5, num_samples=resamples(p.size)
        )

    return {
        "ece_width": Call(lambda y, p: calibration.get_ece(p, y, num_bins=BINS)),
        "ece_mass": Call(lambda y, p: calibration.get_ece_em(p, y, num_bins=BINS)),
        "debiased": Call(debiased),
        "ece_interval": Call(
            interval, lambda ends: float(ends[2]), "equal mass, less the bias", 200
        ),
    }


def scikit_learn() -> Calls:
    from sklearn.calibration import calibration_curve
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import brier_score_loss

    def ece(y: Any, p: Any) -> float:
        rate, score = calibration_curve(y, p, n_bins=BINS)
        cases = np.histogram(p, BINS, (0, 1))[0]
        return float(cases[cases > 0] @ np.abs(rate - score) / p.size)

    def isotonic(y: Any, p: Any) -> Any:
        return IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p, y)

    def slope(y: Any, p: Any) -> Any:
        return LogisticRegression(C=np.inf).fit(logit(p)[:, None], y)

    return {
        "ece_width": Call(ece, differs="calibration_curve and numpy.histogram"),
        "slope": Call(slope, lambda result: float(result.coef_[0, 0]), "L-BFGS to 1e-4"),
        "brier": Call(brier_score_loss),
        "isotonic": Call(isotonic, fitted),
    }


def scores() -> Calls:
    import xarray as xr
    from scores.probability import brier_score
    from scores.processing import isotonic_fit

    def brier(y: Any, p: Any) -> Any:
        return brier_score(xr.DataArray(p, dims="case"), xr.DataArray(y, dims="case"))

    def corp(y: Any, p: Any) -> float:
        curve = isotonic_fit(p, y)
        again = np.interp(p, curve["fcst_sorted"], curve["regression_values"])
        return float(np.mean((p - y) ** 2) - np.mean((again - y) ** 2))

    return {
        "brier": Call(brier),
        "corp": Call(corp, differs="isotonic_fit and two means"),
    }


def mapie() -> Calls:
    from mapie.metrics import calibration as m

    edges = BINS + 1  # its num_bins counts edges
    return {
        "ece_width": Call(lambda y, p: m.expected_calibration_error(y, p, edges, "uniform")),
        "ece_quantile": Call(lambda y, p: m.expected_calibration_error(y, p, edges, "quantile")),
        "ks_test": Call(m.kolmogorov_smirnov_statistic, differs="scores jittered; no p-value"),
        "kuiper_test": Call(m.kuiper_statistic, differs="scores jittered; no p-value"),
        "spiegelhalter": Call(m.spiegelhalter_statistic, differs="no p-value"),
    }


def model_diagnostics() -> Calls:
    from model_diagnostics.scoring import SquaredError, decompose

    return {
        "brier": Call(SquaredError()),
        "corp": Call(
            lambda y, p: decompose(y, p, scoring_function=SquaredError()),
            lambda result: float(result["miscalibration"][0]),
        ),
    }


def betacal() -> Calls:
    from betacal import BetaCalibration

    return {
        "beta": Call(
            lambda y, p: BetaCalibration("abm").fit(p, y),
            lambda result: float(result.predict(AT)[0]),
            "L-BFGS to 1e-4",
        )
    }


PEERS = {
    "relplot": relplot,
    "probcal": probcal,
    "calibre": calibre,
    "netcal": netcal,
    "uncertainty-calibration": uncertainty_calibration,
    "scikit-learn": scikit_learn,
    "scores": scores,
    "mapie": mapie,
    "model-diagnostics": model_diagnostics,
    "betacal": betacal,
}
