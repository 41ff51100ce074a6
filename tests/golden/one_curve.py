"""What is said of one calibration curve: families, their average, an assessment, gains."""

from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import bayescal as bc
from golden.exact import recalibrated, recalibrated_classes
from golden.shared import (
    DRAWS,
    assessed,
    assessed_rows,
    both_samples,
    clinical,
    compared,
    cross_fitted,
    family_numbers,
    fitted,
    large,
    many_classes,
    sampling,
    two_groups,
)

SIGNED = (
    "signed_error",
    "observed_expected",
    "calibration_in_the_large",
    "calibration_intercept",
    "calibration_slope",
)


def signed_of(table, column="estimate"):
    """Rows of a summary that are no distances."""
    return {name: table.loc[name, column] for name in SIGNED}


def mean_of(draws):
    return draws.mean(("chain", "draw")).to_numpy()


def distances():
    return {name: fitted().estimate(name) for name in ("e50", "e90", "emax")}


def net_benefit():
    benefit = fitted().net_benefit([0.2, 0.4])
    means = {name: mean_of(benefit[name]) for name in ("model", "treat_all")}
    return means | {"prob_best": benefit["prob_best"].to_numpy()}


def student_prior():
    prior = bc.priors.Prior(shift=bc.priors.StudentT(4, 0, 1), log_slope=bc.priors.Normal(0, 0.3))
    return fitted(prior=prior).estimate("tce")


CURVES = {
    **{
        f"curves/{name}": partial(family_numbers, name)
        for name in ("intercept", "temperature", "logistic", "beta", "spline", "pieces")
    },
    "curves/beta/estimate": lambda: signed_of(fitted().summary()),
    "curves/beta/lower": lambda: list(signed_of(fitted().summary(ci_prob=0.8), "lower").values()),
    "curves/beta/distance": distances,
    "curves/beta/tce_of_order_2": lambda: fitted().estimate("tce", p=2),
    "curves/beta/tce_of_sample": lambda: fitted().estimate("tce", population="sample"),
    "curves/beta/tce_of_beta_density": lambda: fitted().estimate("tce", population="beta"),
    "curves/beta/tce_of_prior": lambda: fitted().functional("tce", group="prior"),
    "curves/beta/prob_tce_below": lambda: fitted().prob_below(0.06),
    "curves/beta/prob_tce_above": lambda: 1 - fitted().prob_below(0.06),
    "curves/beta/predict": lambda: mean_of(fitted().predict([0.1, 0.5])),
    "curves/beta/net_benefit": net_benefit,
    "curves/beta/off_diagonal": lambda: fitted().off_diagonal(0.8),
    "curves/beta/pareto_k": lambda: fitted().diagnostics["pareto_k"],
    "curves/beta/ess": lambda: fitted().diagnostics["ess"],
    "curves/beta/clinical_prior": lambda: fitted(prior="clinical").estimate("tce"),
    "curves/beta/student_prior": student_prior,
    "curves/pieces/prob_on_diagonal": lambda: fitted("pieces").prob_on_diagonal(),
}


def leave_one_out():
    beta = compared().loo["beta"]
    return {"elpd": beta.elpd, "pointwise": beta.pointwise, "pareto_k": beta.pareto_k}


def weighed_comparison():
    chosen = {"logistic": 0.75, "beta": 0.25}
    comparison = bc.compare(
        *clinical(),
        curves=chosen,
        prior_calibrated=0.5,
        draws=DRAWS,
        random_state=12,
    )
    return {
        "prob_calibrated": comparison.prob_calibrated,
        "logistic": comparison.posterior_prob["logistic"],
    }


def sensitivity():
    table = compared().sensitivity
    return {"clinical": table.loc["clinical", "prob_calibrated"]}


def average():
    """What the average over families says."""
    post = compared().posterior
    table = post.summary()
    return {
        "tce": table.loc["tce", ["estimate", "mean", "lower", "upper"]].to_dict(),
        "tce_of_order_2": post.interval("tce", p=2),
        "estimate": signed_of(table),
        "upper": list(signed_of(table, "upper").values()),
        "prob_on_diagonal": post.prob_on_diagonal([0.2, 0.7]),
    }


COMPARISON = {
    "comparison/log_evidence": lambda: compared().log_evidence,
    **{
        f"comparison/{name}": partial(lambda name: compared().table[name].to_numpy(), name)
        for name in ("posterior_prob", "elpd_loo", "elpd_diff_error")
    },
    "comparison/leave_one_out/beta": leave_one_out,
    "comparison/largest_stacking_weight": lambda: compared().table["stacking_weight"].max(),
    "comparison/prob_calibrated": lambda: compared().prob_calibrated,
    "comparison/prob_calibrated_at_even_odds": lambda: compared().prob_calibrated_at(0.5),
    "comparison/prob_tce_below": lambda: compared().posterior.prob_below(0.06),
    "comparison/prob_tce_above": lambda: 1 - compared().posterior.prob_below(0.02),
    "comparison/sensitivity": sensitivity,
    "comparison/posterior": average,
    "comparison/prior_weights": weighed_comparison,
    "comparison/clinical_prior": lambda: (
        bc.compare(*clinical(), prior="clinical", draws=DRAWS, random_state=12).prob_calibrated
    ),
}


def assessed_functionals():
    rows = assessed_rows("functionals", "estimate", "lower", "upper")
    return {name: rows[name] for name in ("tce", "calibration_slope")}


ASSESSMENT = {
    **{
        f"assessment/{name}": partial(lambda name: assessed()[name], name)
        for name in (
            "cases",
            "events",
            "mean_score",
            "prob_calibrated",
            "prob_calibrated_even_odds",
        )
    },
    "assessment/limit": lambda: assessed()["limit"]["prob_below"],
    "assessment/functionals": assessed_functionals,
    "assessment/estimators": lambda: assessed_rows(
        "estimators", "estimate", "calibrated_upper", "prob_exceeds"
    ),
    "assessment/performance": lambda: assessed_rows("performance", "estimate", "lower"),
    "assessment/recommendation": lambda: [
        row["brier_gain"] for row in assessed()["recommendation"]["table"].values()
    ],
}


@cache
def gain(route):
    y_true, before = clinical()
    log_odds = np.log(before / (1 - before))
    after = 1 / (1 + np.exp(0.3 - 0.6 * log_odds))
    options = {"thresholds": (0.3,), "route": route, "draws": DRAWS, "random_state": 45}
    return bc.recalibration_gain(y_true, before, after, **options)


def gain_numbers(route):
    table = gain(route).summary()
    return {name: table.loc[name, ["estimate", "lower"]].to_numpy() for name in table.index}


def cross_fitted_gain():
    y_true, before = clinical()
    of = bc.recalibration_gain(y_true, before, cross_fitted(), draws=DRAWS, random_state=42)
    return {"tce": of.summary().loc["tce", "estimate"], "prob_improved": of.prob_improved}


@cache
def recommended():
    return bc.recommend(*clinical(), draws=DRAWS, random_state=43).table


def bayesian_interval():
    y_true, y_prob = clinical()
    recalibrator = bc.recalibrate.BayesianRecalibrator(draws=DRAWS, random_state=33)
    return recalibrator.fit(y_prob, y_true).interval([0.1, 0.6])


BAYESIAN = {"name": "BayesianRecalibrator", "draws": DRAWS, "random_state": 33}
GAIN = {
    "gain/curve": lambda: gain_numbers("curve"),
    "gain/paired": lambda: gain_numbers("paired"),
    "gain/curve/prob_improved": lambda: gain("curve").prob_improved,
    "gain/paired/prob_above": lambda: gain("paired").prob_above(0.005, "brier"),
    "gain/curve/prob_calibrated": lambda: gain("curve").prob_calibrated,
    "gain/cross_fit/gain": cross_fitted_gain,
    "gain/recommend/gain": lambda: recommended()["brier_gain"],
    "gain/recommend/upper": lambda: recommended()["brier_upper"],
    "gain/recommend/prob_better": lambda: recommended()["prob_better"],
    "recalibrators/BayesianRecalibrator": lambda: recalibrated(**BAYESIAN),
    "recalibrators/BayesianRecalibrator/classes": lambda: recalibrated_classes(**BAYESIAN),
    "recalibrators/BayesianRecalibrator/interval": bayesian_interval,
}


def logistic(*data, **options):
    """Calibration error and evidence of a fit of the logistic curve."""
    post = bc.fit(*data, curve="logistic", draws=DRAWS, random_state=51, **options)
    return {"tce": post.estimate(), "log_evidence": post.diagnostics["log_evidence"]}


def counts():
    """Counts of 0 to 3 cases for each of the 200 patients."""
    return np.random.default_rng(6).integers(0, 4, 200)


def weighted(weights, weight_type):
    return logistic(*clinical(), sample_weight=weights, weight_type=weight_type)


@cache
def with_ends():
    """120 patients, two scores of 0 and two of 1 among them."""
    y_true, y_prob = bc.simulate.sample("calibrated", 120, random_state=3)
    ends, outcomes = y_prob.copy(), y_true.copy()
    ends[:2], ends[2:4], outcomes[:4] = 0, 1, (0, 0, 1, 0)
    return outcomes, ends


def model_log_density():
    """Log density of the model for NUTS, at the calibrated curve."""
    model = bc.build_model(*clinical(), curve="logistic")
    return float(model.compile_logp(mode="FAST_COMPILE")(model.initial_point()))


def saved_and_loaded():
    with TemporaryDirectory() as folder:
        path = Path(folder) / "posterior.nc"
        fitted("logistic").to_netcdf(path)
        return bc.load(path).estimate("tce")


def consistency():
    table = bc.check_consistency(fitted(), "ece", n_resamples=100, random_state=61).summary()
    return table["median"].to_dict()


DATA = {
    "data/counts": lambda: weighted(counts(), "counts"),
    "data/sampling": lambda: weighted(sampling(), "sampling"),
    "data/ends": lambda: logistic(*with_ends()),
    "data/ends/compared": lambda: (
        bc.compare(*with_ends(), draws=DRAWS, random_state=53).prob_calibrated
    ),
    "data/edge": lambda: logistic(*with_ends(), edge=0.01),
    "data/grouped/pooled": lambda: logistic(two_groups().pooled()),
    "data/from_counts": lambda: logistic(
        bc.CalibrationData.from_counts([0.1, 0.3, 0.6, 0.9], [40, 30, 20, 10], [6, 8, 11, 7])
    ),
    "data/sum/fit": lambda: logistic(both_samples()),
    "data/large/fit": lambda: logistic(large()),
    "data/from_multiclass/top_label": lambda: logistic(bc.CalibrationData(*many_classes())),
    "data/model_log_density": model_log_density,
    "data/saved_and_loaded": saved_and_loaded,
    "simulation/check_consistency": consistency,
}

NUMBERS = {**CURVES, **COMPARISON, **ASSESSMENT, **GAIN, **DATA}
