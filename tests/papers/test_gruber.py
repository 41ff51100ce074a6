"""Statements of Gruber & Buettner (2022) that this package meets, and misprints that it shows."""

import numpy as np
import pytest
from scipy.special import softmax

from bayescal import estimators, recalibrate, scores


def cases(truth, proba, size):
    """Labels, predictions and weights of a law: each group once for every class it can have."""
    groups, classes = truth.shape
    weight = (truth * size[:, None]).ravel()
    kept = weight > 0
    label = np.tile(np.arange(classes), groups)[kept]
    return label, np.repeat(proba, classes, axis=0)[kept], weight[kept]


def errors(truth, proba, size):
    """The calibration errors of Theorem 3.1, of a law."""
    label, each, weight = cases(truth, proba, size)
    best = each.argmax(axis=1)
    top, weighted = (best == label, each.max(axis=1)), {"sample_weight": weight}
    law = {"truth": truth, "y_prob": proba, "sample_weight": size}
    return {
        "CE_2": scores.canonical_calibration_error(p=2, **law),
        "CWCE_2": scores.class_wise_calibration_error(p=2, **law),
        "TCE_2": scores.top_label_calibration_error(p=2, **law),
        "TCE_1": scores.top_label_calibration_error(p=1, **law),
        "ECE": float(estimators.ece(*top, **weighted)),
        "KS": float(estimators.ks_error(*top, **weighted)),
        "KS by class": float(estimators.ks_error(*top, cells=best, **weighted)),
    }


def random_law(rng):
    groups, classes = rng.integers(2, 9), rng.integers(2, 6)
    truth = rng.dirichlet(np.ones(classes), groups)
    proba = rng.dirichlet(np.ones(classes), groups)
    kind = rng.integers(3)
    if kind == 1:
        proba = 0.9 * truth + 0.1 * proba
    elif kind == 2:
        proba = rng.permuted(np.tile(proba[0], (groups, 1)), axis=1)
    return truth, proba, rng.dirichlet(np.ones(groups))


@pytest.mark.parametrize("classes", [3, 5, 10])
def test_proposition_3_2(classes):
    alpha = 0.51
    proba = np.full((classes, classes), (1 - alpha) / (classes - 1))
    np.fill_diagonal(proba, alpha)
    truth = alpha * np.eye(classes) + (1 - alpha) * np.roll(np.eye(classes), -1, axis=1)
    made = errors(truth, proba, np.ones(classes))
    assert made.pop("CE_2") == pytest.approx(0.49 * np.sqrt(1 - 1 / (classes - 1)), abs=1e-12)
    assert max(made.values()) == pytest.approx(0, abs=1e-12)
    label, each, weight = cases(truth, proba, np.ones(classes))
    assert float(estimators.kce(label, each, sample_weight=np.rint(100 * weight))) > 0.01


def test_the_order_of_theorem_3_1():
    """All bounds but that of KS by predicted class, which random laws break."""
    rng, broken = np.random.default_rng([3, 31]), 0
    for _ in range(100):
        made = errors(*random_law(rng))
        for larger, smaller in (
            *(("CE_2", "CWCE_2"), ("CE_2", "TCE_2"), ("TCE_2", "TCE_1")),
            *(("TCE_1", "ECE"), ("TCE_1", "KS")),
        ):
            assert made[smaller] <= made[larger] + 1e-9, (larger, smaller)
        broken += made["KS by class"] > made["TCE_2"] + 1e-9
    assert broken > 0


def test_two_groups_refute_the_bound_of_ks_by_class():
    """Two predicted classes with one confidence: the accuracies .9 and .7 are .8 on average."""
    truth, proba = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([[0.8, 0.2], [0.2, 0.8]])
    made = errors(truth, proba, np.ones(2))
    assert made["TCE_2"] == pytest.approx(0, abs=1e-12)
    assert made["KS"] == pytest.approx(0, abs=1e-12)
    assert made["KS by class"] == pytest.approx(0.1)


def test_no_map_adds_sharpness():
    """Proposition E.2."""
    rng = np.random.default_rng([3, 52])
    for _ in range(60):
        truth, proba, size = random_law(rng)
        distinct, which = np.unique(proba, axis=0, return_inverse=True)
        merged = distinct[rng.integers(0, len(distinct), len(distinct))][which.ravel()]
        for score in ("brier", "log", "spherical"):
            sides = [
                scores.proper_decomposition(truth, p, score=score, sample_weight=size)
                for p in (proba, merged)
            ]
            assert sides[1].discrimination <= sides[0].discrimination + 1e-9


def test_both_maps_have_no_ece_and_keep_the_accuracy():
    """Proposition D.2 and appendix E.1.2."""
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4) / 2, 500)
    label = np.array([rng.choice(4, p=row) for row in proba])
    best = proba.argmax(axis=1)
    accuracy = float((best == label).mean())
    top = np.full(proba.shape, (1 - accuracy) / 3)
    top[np.arange(500), best] = accuracy
    counts = np.zeros((4, 4))
    np.add.at(counts, (best, label), 1)
    given = (counts / counts.sum(axis=1, keepdims=True))[best]
    for made in (top, given):
        assert float(estimators.top_label_ece(label, made)) == pytest.approx(0, abs=1e-12)
        assert (made.argmax(axis=1) == label).mean() == accuracy
        assert scores.brier_score(label, made) > scores.brier_score(label, given) - 1e-12


def test_the_kernel_score_does_not_tell_a_base_rate_from_the_truth():
    """Appendix F: proper, and not strictly."""
    truth = np.array([[0.8, 0.2], [0.2, 0.8]])
    made = {}
    forecasts = {"constant": np.full((2, 2), 0.5), "truth": truth, "reversed": truth[::-1].copy()}
    for name, proba in forecasts.items():
        label, each, weight = cases(truth, proba, np.ones(2))
        counts = np.rint(1000 * weight)
        made[name] = float(estimators.skce(label, each, form="biased", sample_weight=counts))
    assert made["constant"] == pytest.approx(0, abs=1e-12)
    assert made["truth"] == pytest.approx(0, abs=1e-12)
    assert made["reversed"] > 0.1


def test_brier_falls_as_much_as_its_calibration_error_for_an_injective_map():
    """Proposition 4.5, of the squares; the roots fall by less."""
    truth, proba, size = random_law(np.random.default_rng(2))
    after = proba**0.5 / (proba**0.5).sum(axis=1, keepdims=True)
    label, _, weight = cases(truth, proba, size)
    classes = truth.shape[1]
    sides = []
    for p in (proba, after):
        square = ((np.repeat(p, classes, axis=0) - np.eye(classes)[label]) ** 2).sum(axis=1)
        error = scores.canonical_calibration_error(truth, p, p=2, sample_weight=size)
        sides.append((np.average(square, weights=weight), error**2))
    (brier, error), (brier_after, error_after) = sides
    assert brier - brier_after == pytest.approx(error - error_after, abs=1e-9)
    roots = abs(np.sqrt(brier) - np.sqrt(brier_after))
    assert roots < abs(np.sqrt(error) - np.sqrt(error_after))


def test_the_accuracy_of_appendix_e_1_1_may_change():
    """Frequencies .6 and .9 below and above 1/2: the first is less, and it changes its class."""
    risk = np.array([0.6, 0.9])
    before = np.where(np.array([0.4, 0.8]) >= 0.5, risk, 1 - risk).mean()
    assert np.where(risk >= 0.5, risk, 1 - risk).mean() > before


@pytest.mark.slow
def test_all_test_cases_of_figure_1(shared_data):
    """What ETS improved, of all cases: as read off the authors' panel, to .001."""
    with np.load(shared_data / "data" / "cifar10_resnet110_logits.npz") as arrays:
        known, test = (
            softmax(arrays[f"{k}_logits"].astype(float), axis=1) for k in ("val", "test")
        )
        label, truth = arrays["val_y"].astype(int), arrays["test_y"].astype(int)
    fitted = recalibrate.EnsembleTemperatureRecalibrator("brier").fit(known, label)
    after = fitted.predict_proba(test)

    def top(estimate, **options):
        def fall(p):
            return float(estimate(p.argmax(axis=1) == truth, p.max(axis=1), **options))

        return fall(test) - fall(after)

    rbs = scores.root_brier_score(truth, test) - scores.root_brier_score(truth, after)
    assert rbs == pytest.approx(0.0195, abs=0.0015)
    assert top(estimators.ks_error) == pytest.approx(0.0435, abs=0.0015)
    assert top(estimators.ece, p=2) == pytest.approx(0.047, abs=0.0015)
    assert top(estimators.ece, p=2, n_bins=100) == pytest.approx(0.055, abs=0.0015)
    assert top(estimators.debiased_ece) == pytest.approx(0.0795, abs=0.0015)
    assert top(estimators.kde_ece, form="triweight", p=2) == pytest.approx(0.0615, abs=0.0015)
