"""What no change of the posterior may move: estimators, scores, maps, closed forms, evidence."""

import math
from functools import cache, partial

import numpy as np

import bayescal as bc
from golden.shared import (
    DRAWS,
    both_samples,
    clinical,
    compared,
    cross_fitted,
    family_numbers,
    large,
    many_classes,
    rounded,
    sampling,
    two_groups,
)

TEST = ("statistic", "pvalue")
OF_OUTCOMES = """
ace auc_v calibration_in_the_large calibration_in_the_large_interval calibration_intercept
calibration_intercept_interval calibration_slope calibration_slope_interval debiased_ece
discrimination_index distance_bounds e50 e90 ece eci emax ici kce kde_ece ks_error kuiper_error
logit_smooth_ece lower_distance_to_calibration ls_ece mce mmce observed_expected
observed_expected_interval pde probabilistic_kendall_tau quality_index skce smooth_ece sweep_bins
sweep_ece tce_bpm unreliability weak_calibration_error
"""
TESTS = """
cox_test cumulative_difference_test giviti_test hosmer_lemeshow_test ks_test kuiper_test
spiegelhalter_test
"""


def each_of(room, names, data, case, parts=()):
    """What functions of a subpackage give for a data set."""
    return {
        f"{room}/{name}/{case}": partial(one, room, name, data, parts) for name in names.split()
    }


def one(room, name, data, parts=(), **options):
    """What a function gives for a data set, or parts of that."""
    result = getattr(getattr(bc, room), name)(*data(), **options)
    return {part: getattr(result, part) for part in parts} or result


def estimate(name, *parts, **options):
    return one("estimators", name, clinical, parts, **options)


def in_fifths():
    return np.floor(5 * clinical()[1]).astype(int)


def weighted(name):
    return estimate(name, sample_weight=sampling())


def interval(method):
    options = {"method": method, "n_resamples": 100, "random_state": 21}
    return list(estimate("estimator_interval", *ENDS, estimator="ece", **options).values())


def reliability():
    parts = ("lower", "upper", "shown_error")
    options = {"grid": [0.1, 0.5], "n_resamples": 100, "random_state": 24}
    return estimate("smooth_reliability", *parts, **options)


def kernel_curve():
    curve = estimate("smooth_ece_curve")
    return {"outcome": curve.outcome, "sigma": curve.bandwidth}


def tau():
    return bc.estimators.probabilistic_kendall_tau(5 * clinical()[1] % 1, in_fifths() / 5)


def lower_distance():
    return estimate("lower_distance_to_calibration", metric="logit", outcome_cost=1)


def paper_curve():
    return list(estimate("fit_bpm_curve", "a", "b", "c", "loss", objective="paper").values())


def skce_test():
    return estimate("skce_test", *TEST, n_resamples=99, random_state=23)


ENDS = ("estimate", "lower", "upper")
CLASSES = "class_wise_ece kce kde_ece skce top_label_ece"
ESTIMATORS = {
    **each_of("estimators", OF_OUTCOMES, clinical, "clinical"),
    **each_of("estimators", TESTS, clinical, "clinical", TEST),
    **each_of("estimators", "ece debiased_ece smooth_ece", rounded, "rounded"),
    **each_of("estimators", CLASSES, many_classes, "classes"),
    **{
        f"estimators/{name}/weighted": partial(weighted, name)
        for name in ("ece", "ici", "calibration_slope")
    },
    "estimators/average_labels/clinical": lambda: estimate("average_labels", cells=in_fifths()),
    "estimators/binned_reliability/clinical": lambda: (
        estimate("binned_reliability", n_bins=6).outcome
    ),
    "estimators/ece/cells": lambda: estimate("ece", cells=in_fifths(), p=2),
    "estimators/ece/mass": lambda: estimate("ece", binning="mass", n_bins=10),
    "estimators/ece/of_order_2": lambda: estimate("ece", p=2),
    "estimators/estimator_interval/consistency": lambda: interval("consistency"),
    "estimators/estimator_interval/percentile": lambda: interval("percentile"),
    "estimators/expected_ece/clinical": lambda: estimate("expected_ece", sizes=[100, 1000]),
    "estimators/fit_bpm_curve/paper": paper_curve,
    "estimators/ici/rcs": lambda: estimate("ici", smoother="rcs"),
    "estimators/ici_interval/clinical": lambda: estimate(
        "ici_interval", draws=100, random_state=22
    ),
    "estimators/kernel_curve/clinical": kernel_curve,
    "estimators/lower_distance_to_calibration/with_outcomes": lower_distance,
    "estimators/merge_cells/clinical": lambda: bc.estimators.merge_cells(
        clinical()[1], in_fifths()
    ),
    "estimators/pde/of_order_2": lambda: estimate("pde", p=2),
    "estimators/pde_bins/clinical": lambda: estimate("pde_bins", n_bins=8).deviation,
    "estimators/probabilistic_count/clinical": lambda: bc.estimators.probabilistic_count(
        clinical()[1], cells=in_fifths()
    ),
    "estimators/probabilistic_kendall_tau/probabilities": tau,
    "estimators/skce_test/clinical": skce_test,
    "estimators/smooth_ece/by_logit": lambda: estimate("smooth_ece", metric="logit"),
    "estimators/smooth_reliability/clinical": reliability,
    "estimators/smoother_curve/loess": lambda: estimate("flexible_curve"),
    "estimators/smoother_curve/rcs": lambda: estimate("flexible_curve", smoother="rcs"),
    "estimators/validity_curve/clinical": lambda: estimate("validity_curve").share[::10],
    "estimators/weak_calibration_error/logit": lambda: estimate(
        "weak_calibration_error", metric="logit"
    ),
}


@cache
def known_classes():
    """True and predicted probabilities of 3 classes in 4 groups, some predictions equal."""
    truth = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
    predicted = [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6], [0.1, 0.2, 0.7], [0.6, 0.2, 0.2]]
    return truth, predicted


@cache
def variances():
    """Outcomes, means and too small variances of 200 numbers."""
    _, outcome, mean, variance = bc.simulate.friedman_1(200, random_state=41)
    return outcome, mean, variance / 3


def decision_curve():
    curve = bc.scores.decision_curve(*clinical(), [0.1, 0.3, 0.5])
    return {"model": curve.model, "treat_all": curve.treat_all}


OF_BINARY = """
brier_score c_statistic corp_decomposition log_score root_brier_score scaled_brier_score somers_dxy
spherical_score
"""
OF_CLASSES = "brier_score calibration_upper_bound log_score murphy_decomposition spherical_score"
OF_KNOWN = """
canonical_calibration_error class_wise_calibration_error proper_calibration_error
proper_decomposition top_label_calibration_error
"""


def weighted_brier():
    return bc.scores.brier_score(*clinical(), sample_weight=sampling())


SCORES = {
    **each_of("scores", OF_BINARY, clinical, "clinical"),
    **each_of("scores", OF_CLASSES, many_classes, "classes"),
    **each_of("scores", OF_KNOWN, known_classes, "known"),
    **each_of("scores", "murphy_decomposition", rounded, "rounded"),
    **each_of("scores", "dawid_sebastiani_score gaussian_skce", variances, "variances"),
    "scores/brier_score/weighted": weighted_brier,
    "scores/dawid_sebastiani_score/clinical": lambda: bc.scores.bernoulli_dawid_sebastiani_score(
        *clinical()
    ),
    "scores/decision_curve/clinical": decision_curve,
    "scores/net_benefit/clinical": lambda: bc.scores.net_benefit(*clinical(), 0.3),
    "scores/standardised_net_benefit/clinical": lambda: bc.scores.standardised_net_benefit(
        *clinical(), 0.3
    ),
}


def recalibrated(name, **options):
    """Recalibrated probabilities at a few scores, from the 200 patients."""
    y_true, y_prob = clinical()
    recalibrator = getattr(bc.recalibrate, name)(**options)
    return recalibrator.fit(y_prob, y_true).transform([0.05, 0.2, 0.4, 0.6, 0.9])


def recalibrated_classes(name, **options):
    """Recalibrated probabilities of the first of 3 classes."""
    y_true, y_proba = many_classes()
    recalibrator = getattr(bc.recalibrate, name)(**options).fit(y_proba, y_true)
    return recalibrator.predict_proba(y_proba)[:, 0]


def recalibrated_variances():
    outcome, *predictions = variances()
    X = np.column_stack(predictions)
    return bc.recalibrate.VarianceRecalibrator().fit(X, outcome).transform(X)[:, 1]


def recalibrated_by_tree():
    y_true, y_prob = bc.simulate.sample("D5", 300, random_state=34)
    return bc.recalibrate.DecisionTreeRecalibrator().fit(y_prob, y_true).transform(y_prob)


def recalibrated_with_features():
    y_true, y_prob = clinical()
    features = np.random.default_rng(31).normal(size=(200, 2))
    tree = bc.recalibrate.ProbabilityCalibrationTreeRecalibrator()
    return tree.fit(y_prob, y_true, features=features).transform(y_prob, features=features)


def recalibrated_classifier():
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(32)
    features = rng.normal(size=(200, 3))
    outcomes = (features[:, 0] + features[:, 1] + rng.normal(size=200) > 0).astype(int)
    classifier = GaussianNB().fit(features[:100], outcomes[:100])
    both = bc.recalibrate.RecalibratedClassifier(classifier, bc.recalibrate.LogisticRecalibrator())
    return both.fit(features[100:], outcomes[100:]).predict_proba(features)[:, 1]


MAPS = (
    "BBQ Beta Diagonal EnsembleTemperature Histogram Intercept Isotonic Logistic Monotone Spline "
    "TPM Temperature VectorScaling"
)
RECALIBRATORS = {
    **{
        f"recalibrators/{name}Recalibrator": partial(recalibrated, f"{name}Recalibrator")
        for name in MAPS.split()
    },
    **{
        f"recalibrators/{name}/classes": partial(recalibrated_classes, name)
        for name in ("TemperatureRecalibrator", "VectorScalingRecalibrator")
    },
    **{
        f"recalibrators/{name}/brier": partial(recalibrated_classes, name, loss="brier")
        for name in ("EnsembleTemperatureRecalibrator", "TemperatureRecalibrator")
    },
    "recalibrators/SmoothRecalibrator": partial(
        recalibrated, "SmoothRecalibrator", random_state=34
    ),
    "recalibrators/HistogramRecalibrator/shrunk": partial(
        recalibrated, "HistogramRecalibrator", prior_weight=4.0
    ),
    "recalibrators/VarianceRecalibrator": recalibrated_variances,
    "recalibrators/DecisionTreeRecalibrator": recalibrated_by_tree,
    "recalibrators/ProbabilityCalibrationTreeRecalibrator": recalibrated_with_features,
    "recalibrators/RecalibratedClassifier": recalibrated_classifier,
}


def truth_numbers(name):
    known = bc.simulate.truth(name)
    return [known.tce(), known.prevalence()]


def clinical_truth():
    known = bc.simulate.clinical(0.2, "asymmetric", spread=1.0)
    return {
        "tce_of_order_2": known.tce(2),
        "curve": known.curve([0.1, 0.5]),
        "net_benefit": known.net_benefit([0.2]),
        "score_quantile": known.score_quantile(0.9),
        "observed_expected": known.functional("observed_expected"),
    }


def own_truth():
    def doubled_odds(log_s, log_q):
        return math.log(2) + log_s - log_q

    laws = bc.simulate.BetaScores(2, 3), bc.simulate.LogitNormalScores(-1, 1)
    return [bc.simulate.Truth("doubled", "odds times 2", law, doubled_odds).tce() for law in laws]


SIMULATION = {
    **{f"simulation/{name}": partial(truth_numbers, name) for name in ("D1", "D3", "D5")},
    "simulation/clinical": clinical_truth,
    "simulation/own_truth": own_truth,
    "simulation/ead": lambda: bc.simulate.ead(np.sqrt, "D5"),
    "simulation/friedman_1": lambda: bc.simulate.friedman_1(50, random_state=43)[1],
    "simulation/sample": lambda: dict(zip(("outcome", "score"), clinical(), strict=True)),
}


def table_numbers(data):
    """What a table holds."""
    return {"rows": data.score.size, "score": data.score, "hits": data.hits}


def effective_size():
    data = bc.CalibrationData(*clinical(), sampling(), weight_type="sampling")
    return data.effective_size


def variance_gain(method):
    outcome, mean, variance = variances()
    options = {"method": method, "draws": DRAWS, "random_state": 42}
    return bc.variance_gain(outcome, mean, variance, 3 * variance, **options).draws


NUMBERS = {
    **ESTIMATORS,
    **SCORES,
    **RECALIBRATORS,
    **SIMULATION,
    "curves/identity": lambda: family_numbers("identity"),
    "comparison/prob_calibrated_bic": lambda: compared().prob_calibrated_bic,
    "gain/cross_fit": cross_fitted,
    "gain/variance": lambda: variance_gain("bootstrap"),
    "gain/variance/gaussian": lambda: variance_gain("gaussian"),
    "data/sampling/effective_size": effective_size,
    "data/grouped/south": lambda: table_numbers(two_groups().select("south")),
    "data/sum": lambda: table_numbers(both_samples()),
    "data/large": lambda: table_numbers(large()),
    "data/from_multiclass/class_wise": lambda: table_numbers(
        bc.CalibrationData(*many_classes(), mode="class-wise").pooled()
    ),
}
