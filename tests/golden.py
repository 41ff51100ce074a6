"""Numbers of the public interface, stored so that a change of structure is seen to change none.

`python tests/golden.py` writes them to golden.json, beside this file. Every number is reached
through `import bayescal as bc`, from fixed seeds and small data sets.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import bayescal as bc

STORED = Path(__file__).with_name("golden.json")
Theme = dict[str, Callable[[], Any]]

# Names in golden.json, and what the package calls the same thing. Edit here what is renamed.
TCE = "tce"
ROWS = {
    "signed_error": "signed_error",
    "observed_expected": "observed_expected",
    "calibration_in_the_large": "calibration_in_the_large",
    "calibration_intercept": "calibration_intercept",
    "calibration_slope": "calibration_slope",
}
DISTANCES = ("e50", "e90", "emax")
PRIOR_WEIGHTS = "prior_weights"  # an argument of compare
LEAVE_ONE_OUT = "loo"  # an attribute of what compare gives
WEAK_CALIBRATION_ERROR = "weak_calibration_error"
KERNEL_CURVE = "smooth_ece_curve"  # gives scores, outcomes, density and bandwidth
BERNOULLI_SCORE = "bernoulli_dawid_sebastiani_score"
SMOOTHER_CURVE = "flexible_curve"  # gives the curve at each score

FAMILIES = ("identity", "intercept", "temperature", "logistic", "beta", "spline", "pieces")
DRAWS = 400


# Data


@cache
def clinical() -> tuple[Any, Any]:
    """An overconfident model and 200 patients."""
    return bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)


@cache
def rounded() -> tuple[Any, Any]:
    """150 patients whose scores are in steps of 0.05, with scores of 0 among them."""
    y_true, y_prob = bc.simulate.sample("clinical-middle-shifted", 150, random_state=2)
    return y_true, np.round(20 * y_prob) / 20


@cache
def with_ends() -> tuple[Any, Any]:
    """120 patients, two scores of 0 and two of 1 among them."""
    y_true, y_prob = bc.simulate.sample("calibrated", 120, random_state=3)
    ends = y_prob.copy()
    ends[:2], ends[2:4] = 0, 1
    outcomes = y_true.copy()
    outcomes[:4] = 0, 0, 1, 0
    return outcomes, ends


@cache
def many_classes() -> tuple[Any, Any]:
    """True class and class probabilities of 150 cases, 3 classes."""
    rng = np.random.default_rng(4)
    log_odds = rng.normal(size=(150, 3))
    truth, predicted = np.exp(log_odds), np.exp(1.6 * log_odds)
    truth /= truth.sum(axis=1, keepdims=True)
    predicted /= predicted.sum(axis=1, keepdims=True)
    return (rng.random((150, 1)) > truth.cumsum(axis=1)).sum(axis=1), predicted


@cache
def known_classes() -> tuple[Any, Any]:
    """True and predicted probabilities of 3 classes in 4 groups, some predictions equal."""
    truth = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
    predicted = [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6], [0.1, 0.2, 0.7], [0.6, 0.2, 0.2]]
    return truth, predicted


@cache
def counts() -> Any:
    """Counts of 0 to 3 cases for each of the 200 patients."""
    return np.random.default_rng(6).integers(0, 4, 200)


@cache
def sampling() -> Any:
    """Sampling weights of the 200 patients."""
    return 0.5 + 2 * np.random.default_rng(7).random(200)


# Fits, each made once


@cache
def fitted(curve: str = "beta", prior: Any = "neutral") -> Any:
    return bc.fit(*clinical(), curve=curve, prior=prior, draws=DRAWS, random_state=11)


@cache
def compared() -> Any:
    return bc.compare(*clinical(), draws=DRAWS, random_state=12)


@cache
def assessed() -> Any:
    return bc.assess(
        *clinical(),
        close=0.05,
        draws=DRAWS,
        groups=np.repeat(["north", "south"], 100),
        random_state=13,
    ).to_dict()


@cache
def cross_fitted() -> Any:
    recalibrator = bc.recalibrate.LogisticRecalibrator()
    return bc.cross_fit(*clinical(), recalibrator, n_folds=5, n_repeats=2, random_state=14)


def rows_of(table: Any, column: str = "estimate") -> dict[str, float]:
    """Rows of a summary that are no distances, under their names in golden.json."""
    return {name: table.loc[row, column] for name, row in ROWS.items() if row in table.index}


def tce_of(table: Any) -> dict[str, float]:
    """The row of the true calibration error."""
    return {name: table.loc[TCE, name] for name in ("estimate", "mean", "lower", "upper")}


# One family of curves


def family_numbers(curve: str) -> dict[str, Any]:
    """What a fit of one family gives."""
    post = fitted(curve)
    table = post.summary()
    return {
        "tce": table.loc[TCE, ["estimate", "upper"]].to_numpy(),
        "log_evidence": post.diagnostics["log_evidence"],
        "curve": post.curve().mean(("chain", "draw")).to_numpy(),
    }


def beta_distances() -> dict[str, Any]:
    table = fitted().summary()
    return {name: table.loc[name, "estimate"] for name in DISTANCES}


def beta_net_benefit() -> dict[str, Any]:
    benefit = fitted().net_benefit([0.2, 0.4])
    return {
        "model": benefit["model"].mean(("chain", "draw")).to_numpy(),
        "treat_all": benefit["treat_all"].mean(("chain", "draw")).to_numpy(),
        "prob_best": benefit["prob_best"].to_numpy(),
    }


def student_prior() -> float:
    prior = bc.priors.Prior(shift=bc.priors.StudentT(4, 0, 1), log_slope=bc.priors.Normal(0, 0.3))
    return fitted(prior=prior).estimate("tce")


CURVES: Theme = {name: partial(family_numbers, name) for name in FAMILIES} | {
    "beta/estimate": lambda: rows_of(fitted().summary()),
    "beta/lower": lambda: list(rows_of(fitted().summary(ci_prob=0.8), "lower").values()),
    "beta/distance": beta_distances,
    "beta/tce_of_order_2": lambda: fitted().estimate("tce", p=2),
    "beta/tce_of_sample": lambda: fitted().estimate("tce", population="sample"),
    "beta/tce_of_beta_density": lambda: fitted().estimate("tce", population="beta"),
    "beta/tce_of_prior": lambda: fitted().functional("tce", group="prior").to_numpy().ravel(),
    "beta/prob_tce_below": lambda: fitted().prob_tce_below(0.06),
    "beta/prob_tce_above": lambda: fitted().prob_tce_above(0.06),
    "beta/predict": lambda: fitted().predict([0.1, 0.5]).mean(("chain", "draw")).to_numpy(),
    "beta/net_benefit": beta_net_benefit,
    "beta/off_diagonal": lambda: fitted().off_diagonal(0.8).to_numpy(),
    "beta/pareto_k": lambda: fitted().diagnostics["pareto_k"],
    "beta/ess": lambda: fitted().diagnostics["ess"],
    "beta/clinical_prior": lambda: fitted(prior="clinical").estimate("tce"),
    "beta/student_prior": student_prior,
    "spline/prob_monotone": lambda: fitted("spline").prob_monotone(),
    "pieces/prob_on_diagonal": lambda: fitted("pieces").prob_on_diagonal().to_numpy(),
}


# The comparison of families


def leave_one_out() -> dict[str, Any]:
    beta = getattr(compared(), LEAVE_ONE_OUT)["beta"]
    return {"elpd": beta.elpd, "pointwise": beta.pointwise, "pareto_k": beta.pareto_k}


def weighed_comparison() -> dict[str, Any]:
    chosen = {"logistic": 0.75, "beta": 0.25}
    comparison = bc.compare(
        *clinical(),
        curves=("identity", *chosen),
        prior_calibrated=0.5,
        draws=DRAWS,
        random_state=12,
        **{PRIOR_WEIGHTS: chosen},
    )
    return {
        "prob_calibrated": comparison.prob_calibrated,
        "logistic": comparison.posterior_prob["logistic"],
    }


def comparison_sensitivity() -> dict[str, Any]:
    table = compared().sensitivity
    return {
        "clinical": table.loc["clinical", "prob_calibrated"],
        "tce_prior": table.loc["neutral", "tce_prior_sensitivity"],
        "tce_likelihood": table.loc["neutral", "tce_likelihood_sensitivity"],
    }


COMPARISON: Theme = {
    "log_evidence": lambda: compared().log_evidence,
    "posterior_prob": lambda: compared().table["posterior_prob"].to_numpy(),
    "elpd_loo": lambda: compared().table["elpd_loo"].to_numpy(),
    "leave_one_out/beta": leave_one_out,
    "elpd_diff_error": lambda: compared().table["elpd_diff_error"].to_numpy(),
    "largest_stacking_weight": lambda: compared().table["stacking_weight"].max(),
    "prob_calibrated": lambda: compared().prob_calibrated,
    "prob_calibrated_at_even_odds": lambda: compared().prob_calibrated_at(0.5),
    "prob_calibrated_bic": lambda: compared().prob_calibrated_bic,
    "prob_tce_below": lambda: compared().prob_tce_below(0.06),
    "prob_tce_above": lambda: compared().prob_tce_above(0.02),
    "sensitivity": comparison_sensitivity,
    "posterior/tce": lambda: tce_of(compared().posterior.summary()),
    "posterior/tce_of_order_2": lambda: compared().posterior.interval("tce", p=2),
    "posterior/estimate": lambda: rows_of(compared().posterior.summary()),
    "posterior/upper": lambda: list(rows_of(compared().posterior.summary(), "upper").values()),
    "posterior/prob_on_diagonal": lambda: compared().posterior.prob_on_diagonal([0.2, 0.7]),
    "prior_weights": weighed_comparison,
    "clinical_prior": lambda: (
        bc.compare(*clinical(), prior="clinical", draws=DRAWS, random_state=12).prob_calibrated
    ),
}


# The assessment


def rows_at(key: str, *columns: str) -> dict[str, Any]:
    """Columns of a table in the dictionary of an assessment, one list for each row."""
    return {name: [row[column] for column in columns] for name, row in assessed()[key].items()}


def assessed_functionals() -> dict[str, Any]:
    rows = rows_at("functionals", "estimate", "lower", "upper")
    return {"tce": rows[TCE], "calibration_slope": rows[ROWS["calibration_slope"]]}


ASSESSMENT: Theme = {
    name: partial(lambda key: assessed()[key], name)
    for name in (
        "cases",
        "events",
        "mean_score",
        "prob_close",
        "prob_miscalibrated",
        "prob_calibrated",
        "prob_calibrated_even_odds",
    )
} | {
    "functionals": assessed_functionals,
    "estimators": lambda: rows_at("estimators", "estimate", "calibrated_upper", "prob_exceeds"),
    "performance": lambda: rows_at("performance", "estimate", "lower"),
    "recommendation": lambda: [
        row["brier_gain"] for row in assessed()["recommendation"]["table"].values()
    ],
    "groups": lambda: rows_at("groups", "tce_estimate", "prob_close", "prob_calibrated"),
}


# Estimators


def estimate(name: str, **options: Any) -> Any:
    return getattr(bc.estimators, name)(*clinical(), **options)


def tested(name: str, **options: Any) -> dict[str, float]:
    test = estimate(name, **options)
    return {"statistic": test.statistic, "pvalue": test.pvalue}


def classes_estimate(name: str) -> Any:
    return getattr(bc.estimators, name)(*many_classes())


def rounded_estimate(name: str, **options: Any) -> Any:
    return getattr(bc.estimators, name)(*rounded(), **options)


def bpm_curve(objective: str) -> list[float]:
    curve = bc.estimators.fit_bpm_curve(*clinical(), objective=objective)
    return [curve.a, curve.b, curve.c, curve.loss]


def estimator_interval(method: str) -> list[float]:
    interval = bc.estimators.estimator_interval(
        *clinical(), "ece", method=method, n_resamples=100, random_state=21
    )
    return [interval.estimate, interval.lower, interval.upper]


def smooth_reliability() -> dict[str, Any]:
    shown = estimate("smooth_reliability", grid=[0.1, 0.5], n_resamples=100, random_state=24)
    return {"lower": shown.lower, "upper": shown.upper, "shown_error": shown.shown_error}


def in_fifths() -> Any:
    return np.floor(5 * clinical()[1]).astype(int)


OF_OUTCOMES = (
    "ace",
    "auc_v",
    "calibration_in_the_large",
    "calibration_intercept",
    "calibration_slope",
    "debiased_ece",
    "discrimination_index",
    "e50",
    "e90",
    "ece",
    "eci",
    "emax",
    "ici",
    "kce",
    "kde_ece",
    "ks_error",
    "kuiper_error",
    "logit_smooth_ece",
    "lower_distance_to_calibration",
    "ls_ece",
    "mce",
    "mmce",
    "observed_expected",
    "pde",
    "probabilistic_kendall_tau",
    "quality_index",
    "skce",
    "smooth_ece",
    "sweep_bins",
    "sweep_ece",
    "tce_bpm",
    "unreliability",
)
TESTS = (
    "cox_test",
    "cumulative_difference_test",
    "giviti_test",
    "hosmer_lemeshow_test",
    "ks_test",
    "kuiper_test",
    "spiegelhalter_test",
)
INTERVALS = (
    "calibration_in_the_large_interval",
    "calibration_intercept_interval",
    "calibration_slope_interval",
    "observed_expected_interval",
)

ESTIMATORS: Theme = (
    {f"{name}/clinical": partial(estimate, name) for name in (*OF_OUTCOMES, *INTERVALS)}
    | {f"{name}/clinical": partial(tested, name) for name in TESTS}
    | {
        f"{name}/rounded": partial(rounded_estimate, name)
        for name in ("ece", "debiased_ece", "smooth_ece")
    }
    | {
        f"{name}/classes": partial(classes_estimate, name)
        for name in ("class_wise_ece", "kce", "kde_ece", "skce", "top_label_ece")
    }
    | {
        "weak_calibration_error/clinical": lambda: estimate(WEAK_CALIBRATION_ERROR),
        "weak_calibration_error/logit": lambda: estimate(WEAK_CALIBRATION_ERROR, metric="logit"),
        "smooth_ece/by_logit": lambda: estimate("smooth_ece", metric="logit"),
        "lower_distance_to_calibration/with_outcomes": lambda: estimate(
            "lower_distance_to_calibration", metric="logit", outcome_cost=1
        ),
        "expected_ece/clinical": lambda: estimate("expected_ece", sizes=[100, 1000]),
        "smooth_reliability/clinical": smooth_reliability,
        "binned_reliability/clinical": lambda: estimate("binned_reliability", n_bins=6).outcome,
        "kernel_curve/clinical": lambda: {
            "outcome": estimate(KERNEL_CURVE).outcome,
            "sigma": estimate(KERNEL_CURVE).bandwidth,
        },
        "smoother_curve/loess": lambda: estimate(SMOOTHER_CURVE),
        "smoother_curve/rcs": lambda: estimate(SMOOTHER_CURVE, smoother="rcs"),
        "ici/rcs": lambda: estimate("ici", smoother="rcs"),
        "ici_interval/clinical": lambda: estimate("ici_interval", draws=100, random_state=22),
        "ece/mass": lambda: estimate("ece", binning="mass", n_bins=10),
        "ece/of_order_2": lambda: estimate("ece", p=2),
        "ece/cells": lambda: estimate("ece", cells=in_fifths(), p=2),
        "ece/weighted": lambda: estimate("ece", sample_weight=sampling()),
        "ici/weighted": lambda: estimate("ici", sample_weight=sampling()),
        "calibration_slope/weighted": lambda: estimate(
            "calibration_slope", sample_weight=sampling()
        ),
        "distance_bounds/clinical": lambda: estimate("distance_bounds"),
        "estimator_interval/percentile": lambda: estimator_interval("percentile"),
        "estimator_interval/consistency": lambda: estimator_interval("consistency"),
        "fit_bpm_curve/paper": lambda: bpm_curve("paper"),
        "skce_test/clinical": lambda: tested("skce_test", n_resamples=99, random_state=23),
        "pde/of_order_2": lambda: estimate("pde", p=2),
        "pde_bins/clinical": lambda: estimate("pde_bins", n_bins=8).deviation,
        "average_labels/clinical": lambda: estimate("average_labels", cells=in_fifths()),
        "merge_cells/clinical": lambda: bc.estimators.merge_cells(clinical()[1], in_fifths()),
        "probabilistic_kendall_tau/probabilities": lambda: bc.estimators.probabilistic_kendall_tau(
            5 * clinical()[1] % 1, in_fifths() / 5
        ),
        "validity_curve/clinical": lambda: estimate("validity_curve").share[::10],
        "probabilistic_count/clinical": lambda: bc.estimators.probabilistic_count(
            clinical()[1], cells=in_fifths()
        ),
    }
)


# Scores


def score(name: str, *more: Any, **options: Any) -> Any:
    return getattr(bc.scores, name)(*clinical(), *more, **options)


@cache
def variances() -> tuple[Any, Any, Any]:
    """Outcomes, means and too small variances of 200 numbers."""
    _, outcome, mean, variance = bc.simulate.friedman_1(200, random_state=41)
    return outcome, mean, variance / 3


def decision_curve() -> dict[str, Any]:
    curve = bc.scores.decision_curve(*clinical(), [0.1, 0.3, 0.5])
    return {"model": curve.model, "treat_all": curve.treat_all}


SCORES: Theme = (
    {
        f"{name}/clinical": partial(score, name)
        for name in (
            "brier_score",
            "c_statistic",
            "log_score",
            "root_brier_score",
            "scaled_brier_score",
            "somers_dxy",
            "spherical_score",
        )
    }
    | {"dawid_sebastiani_score/clinical": partial(score, BERNOULLI_SCORE)}
    | {
        f"{name}/classes": partial(lambda key: getattr(bc.scores, key)(*many_classes()), name)
        for name in (
            "brier_score",
            "calibration_upper_bound",
            "log_score",
            "murphy_decomposition",
            "spherical_score",
        )
    }
    | {
        f"{name}/known": partial(lambda key: getattr(bc.scores, key)(*known_classes()), name)
        for name in (
            "canonical_calibration_error",
            "class_wise_calibration_error",
            "proper_calibration_error",
            "proper_decomposition",
            "top_label_calibration_error",
        )
    }
    | {
        "brier_score/weighted": lambda: score("brier_score", sample_weight=sampling()),
        "corp_decomposition/clinical": lambda: score("corp_decomposition"),
        "murphy_decomposition/rounded": lambda: bc.scores.murphy_decomposition(*rounded()),
        "decision_curve/clinical": decision_curve,
        "net_benefit/clinical": lambda: score("net_benefit", 0.3),
        "standardised_net_benefit/clinical": lambda: score("standardised_net_benefit", 0.3),
        "dawid_sebastiani_score/variances": lambda: bc.scores.dawid_sebastiani_score(*variances()),
        "gaussian_skce/variances": lambda: bc.scores.gaussian_skce(*variances()),
    }
)


# Recalibrators


def recalibrated(name: str, **options: Any) -> Any:
    """Recalibrated probabilities at a few scores, from the 200 patients."""
    y_true, y_prob = clinical()
    recalibrator = getattr(bc.recalibrate, name)(**options)
    return recalibrator.fit(y_prob, y_true).transform([0.05, 0.2, 0.4, 0.6, 0.9])


def recalibrated_by_tree() -> Any:
    y_true, y_prob = bc.simulate.sample("D5", 300, random_state=34)
    return bc.recalibrate.DecisionTreeRecalibrator().fit(y_prob, y_true).transform(y_prob)


def recalibrated_classes(name: str, **options: Any) -> Any:
    """Recalibrated probabilities of the first of 3 classes."""
    y_true, y_proba = many_classes()
    recalibrator = getattr(bc.recalibrate, name)(**options).fit(y_proba, y_true)
    return recalibrator.predict_proba(y_proba)[:, 0]


def recalibrated_variances() -> Any:
    outcome, *predictions = variances()
    X = np.column_stack(predictions)
    return bc.recalibrate.VarianceRecalibrator().fit(X, outcome).transform(X)[:, 1]


def recalibrated_with_features() -> Any:
    y_true, y_prob = clinical()
    features = np.random.default_rng(31).normal(size=(200, 2))
    tree = bc.recalibrate.ProbabilityCalibrationTreeRecalibrator()
    return tree.fit(y_prob, y_true, features=features).transform(y_prob, features=features)


def recalibrated_classifier() -> Any:
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(32)
    features = rng.normal(size=(200, 3))
    outcomes = (features[:, 0] + features[:, 1] + rng.normal(size=200) > 0).astype(int)
    classifier = GaussianNB().fit(features[:100], outcomes[:100])
    both = bc.recalibrate.RecalibratedClassifier(classifier, bc.recalibrate.LogisticRecalibrator())
    return both.fit(features[100:], outcomes[100:]).predict_proba(features)[:, 1]


def bayesian_interval() -> Any:
    y_true, y_prob = clinical()
    recalibrator = bc.recalibrate.BayesianRecalibrator(draws=DRAWS, random_state=33)
    return recalibrator.fit(y_prob, y_true).interval([0.1, 0.6])


RECALIBRATORS: Theme = (
    {
        name: partial(recalibrated, name)
        for name in (
            "BBQRecalibrator",
            "BetaRecalibrator",
            "DiagonalRecalibrator",
            "EnsembleTemperatureRecalibrator",
            "HistogramRecalibrator",
            "InterceptRecalibrator",
            "IsotonicRecalibrator",
            "LogisticRecalibrator",
            "MonotoneRecalibrator",
            "SplineRecalibrator",
            "TPMRecalibrator",
            "TemperatureRecalibrator",
            "VectorScalingRecalibrator",
        )
    }
    | {
        f"{name}/classes": partial(recalibrated_classes, name)
        for name in ("TemperatureRecalibrator", "VectorScalingRecalibrator")
    }
    | {
        "BayesianRecalibrator": lambda: recalibrated(
            "BayesianRecalibrator", draws=DRAWS, random_state=33
        ),
        "BayesianRecalibrator/classes": lambda: recalibrated_classes(
            "BayesianRecalibrator", draws=DRAWS, random_state=33
        ),
        "BayesianRecalibrator/interval": bayesian_interval,
        "SmoothRecalibrator": lambda: recalibrated("SmoothRecalibrator", random_state=34),
        "HistogramRecalibrator/shrunk": lambda: recalibrated(
            "HistogramRecalibrator", prior_weight=4.0
        ),
    }
    | {
        f"{name}/brier": partial(recalibrated_classes, name, loss="brier")
        for name in ("EnsembleTemperatureRecalibrator", "TemperatureRecalibrator")
    }
    | {
        "VarianceRecalibrator": recalibrated_variances,
        "DecisionTreeRecalibrator": recalibrated_by_tree,
        "ProbabilityCalibrationTreeRecalibrator": recalibrated_with_features,
        "RecalibratedClassifier": recalibrated_classifier,
    }
)


# What a recalibration gains


@cache
def gain(route: str) -> Any:
    y_true, before = clinical()
    log_odds = np.log(before / (1 - before))
    return bc.recalibration_gain(
        y_true,
        before,
        1 / (1 + np.exp(0.3 - 0.6 * log_odds)),
        thresholds=(0.3,),
        route=route,
        draws=DRAWS,
        random_state=45,
    )


def gain_numbers(route: str) -> dict[str, Any]:
    of = gain(route)
    table = of.summary()
    return {name: table.loc[name, ["estimate", "lower"]].to_numpy() for name in table.index}


def cross_fitted_gain() -> dict[str, Any]:
    y_true, before = clinical()
    of = bc.recalibration_gain(y_true, before, cross_fitted(), draws=DRAWS, random_state=42)
    return {"tce": of.summary().loc["tce", "estimate"], "prob_improved": of.prob_improved}


@cache
def recommended() -> Any:
    return bc.recommend(*clinical(), draws=DRAWS, random_state=43)


def variance_gain(method: str) -> dict[str, Any]:
    outcome, mean, variance = variances()
    options: Any = {"method": method, "draws": DRAWS, "random_state": 42}
    return bc.variance_gain(outcome, mean, variance, 3 * variance, **options).draws


GAIN: Theme = {
    "curve": lambda: gain_numbers("curve"),
    "paired": lambda: gain_numbers("paired"),
    "curve/prob_improved": lambda: gain("curve").prob_improved,
    "paired/prob_above": lambda: gain("paired").prob_above(0.005, "brier"),
    "curve/prob_calibrated": lambda: gain("curve").prob_calibrated,
    "cross_fit": cross_fitted,
    "cross_fit/gain": cross_fitted_gain,
    "variance": lambda: variance_gain("bootstrap"),
    "variance/gaussian": lambda: variance_gain("gaussian"),
    "recommend/gain": lambda: recommended().table["brier_gain"].to_numpy(),
    "recommend/upper": lambda: recommended().table["brier_upper"].to_numpy(),
    "recommend/prob_better": lambda: recommended().table["prob_better"].to_numpy(),
}


# Kinds of data


def tce_from(*data: Any, **options: Any) -> dict[str, Any]:
    """Calibration error and evidence of a fit of the logistic curve."""
    post = bc.fit(*data, curve="logistic", draws=DRAWS, random_state=51, **options)
    return {"tce": post.estimate(), "log_evidence": post.diagnostics["log_evidence"]}


def table_numbers(data: Any) -> dict[str, Any]:
    """What a table holds."""
    return {
        "rows": data.score.size,
        "score": data.score,
        "hits": data.hits,
    }


def grouped() -> Any:
    return bc.CalibrationData(*clinical(), groups=np.repeat(["north", "south"], [120, 80]))


def added() -> Any:
    return bc.CalibrationData(*clinical()) + bc.CalibrationData(*rounded())


@cache
def large() -> Any:
    return bc.CalibrationData(*bc.simulate.sample("clinical-low-shifted", 5000, random_state=52))


def effective_size() -> float:
    data = bc.CalibrationData(*clinical(), sampling(), weight_type="sampling")
    return data.effective_size


def model_log_density() -> float:
    """Log density of the model for NUTS, at the calibrated curve."""
    model = bc.build_model(*clinical(), curve="logistic")
    return float(model.compile_logp(mode="FAST_COMPILE")(model.initial_point()))


def saved_and_loaded() -> float:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "posterior.nc"
        fitted("logistic").to_netcdf(path)
        return bc.load(path).estimate("tce")


DATA: Theme = {
    "counts": lambda: tce_from(*clinical(), sample_weight=counts(), weight_type="counts"),
    "sampling": lambda: tce_from(*clinical(), sample_weight=sampling(), weight_type="sampling"),
    "sampling/effective_size": effective_size,
    "ends": lambda: tce_from(*with_ends()),
    "ends/compared": lambda: bc.compare(*with_ends(), draws=DRAWS, random_state=53).prob_calibrated,
    "edge": lambda: tce_from(*with_ends(), edge=0.01),
    "grouped/pooled": lambda: tce_from(grouped().pooled()),
    "grouped/south": lambda: table_numbers(grouped().select("south")),
    "from_counts": lambda: tce_from(
        bc.CalibrationData.from_counts([0.1, 0.3, 0.6, 0.9], [40, 30, 20, 10], [6, 8, 11, 7])
    ),
    "sum": lambda: table_numbers(added()),
    "sum/fit": lambda: tce_from(added()),
    "large": lambda: table_numbers(large()),
    "large/fit": lambda: tce_from(large()),
    "from_multiclass/top_label": lambda: tce_from(
        bc.CalibrationData.from_multiclass(*many_classes())
    ),
    "from_multiclass/class_wise": lambda: table_numbers(
        bc.CalibrationData.from_multiclass(*many_classes(), "class-wise").pooled()
    ),
    "model_log_density": model_log_density,
    "saved_and_loaded": saved_and_loaded,
}


# Simulation and checks


def truth_numbers(name: str) -> list[float]:
    known = bc.simulate.truth(name)
    return [known.tce(), known.prevalence()]


def clinical_truth() -> dict[str, Any]:
    known = bc.simulate.clinical(0.2, "asymmetric", spread=1.0)
    return {
        "tce_of_order_2": known.tce(2),
        "curve": known.curve([0.1, 0.5]),
        "net_benefit": known.net_benefit([0.2]),
        "score_quantile": known.score_quantile(0.9),
        "observed_expected": known.functional(ROWS["observed_expected"]),
    }


def own_truth() -> list[float]:
    def doubled_odds(log_s: Any, log_q: Any) -> Any:
        return math.log(2) + log_s - log_q

    laws = bc.simulate.BetaScores(2, 3), bc.simulate.LogitNormalScores(-1, 1)
    return [bc.simulate.Truth("doubled", "odds times 2", law, doubled_odds).tce() for law in laws]


def consistency() -> dict[str, Any]:
    table = bc.check_consistency(fitted(), "ece", n_resamples=100, random_state=61).summary()
    return {name: table.loc[name, "median"] for name in table.index}


SIMULATION: Theme = {name: partial(truth_numbers, name) for name in ("D1", "D3", "D5")} | {
    "clinical": clinical_truth,
    "own_truth": own_truth,
    "ead": lambda: bc.simulate.ead(np.sqrt, "D5"),
    "friedman_1": lambda: bc.simulate.friedman_1(50, random_state=43)[1],
    "sample": lambda: dict(zip(("outcome", "score"), clinical(), strict=True)),
    "check_consistency": consistency,
}

THEMES: dict[str, Theme] = {
    "curves": CURVES,
    "comparison": COMPARISON,
    "assessment": ASSESSMENT,
    "estimators": ESTIMATORS,
    "scores": SCORES,
    "recalibrators": RECALIBRATORS,
    "gain": GAIN,
    "data": DATA,
    "simulation": SIMULATION,
}


def numbers(theme: str) -> dict[str, float]:
    """Every number of a theme, by name."""
    return {
        name: number
        for key, compute in THEMES[theme].items()
        for name, number in flat(f"{theme}/{key}", compute()).items()
    }


def flat(name: str, value: Any) -> dict[str, float]:
    """The finite numbers in a result, by name.

    Dictionaries and named tuples give a number for each part, and arrays, lists and pairs one
    number: a mean with weights that rise from 1 to 2, so that its order matters.
    """
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        parts = [flat(f"{name}/{key}", part) for key, part in value.items()]
        return {key: number for part in parts for key, number in part.items()}
    values = np.asarray(value, dtype=float).ravel()
    number = float(values @ np.linspace(1, 2, values.size) / values.size)
    return {name: number} if math.isfinite(number) else {}


def write() -> None:
    """Compute every number and store it."""
    stored = {name: number for theme in THEMES for name, number in numbers(theme).items()}
    STORED.write_text(json.dumps(stored, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    write()
