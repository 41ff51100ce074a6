"""Binned estimators against other packages, their own loops, and hostile data."""

import numpy as np
import pytest

from bayescal.errors import InputError
from bayescal.estimators import ace, debiased_ece, ece, mce

# Other packages


def oracle_rows():
    """The key of each known answer, and what of ours must give it.

    The caltrain ones part tied scores in the order of the rows, which happens to be what sharing
    out gives on B and C; the other equal-mass answers keep them together. netcal's ACE is the mean
    over bins of equal width.
    """
    rows = [
        ("verified.get_calibration_error(default p2 debiased; is_discrete heuristic)",
         debiased_ece, {}),
        ("caltrain.ew_ece_bin,norm1,15", ece, {}),
        ("caltrain.ew_ece_bin,norm2,15", ece, {"p": 2}),
        ("caltrain.em_ece_bin,norm1,15", ece, {"binning": "rank", "ties": "split"}),
        ("caltrain.em_ece_bin,norm2,15", ece, {"binning": "rank", "ties": "split", "p": 2}),
    ]  # fmt: skip
    for n in (10, 15):
        bins = {"n_bins": n}
        mass = bins | {"binning": "mass"}
        rows += [
            (f"relplot.binnedECE({n})", ece, bins),
            (f"netcal.ECE({n})", ece, bins),
            (f"netcal.ACE({n})", ace, bins | {"binning": "width"}),
            (f"verified.get_ece(EW,p1,plugin,{n})", ece, bins),
            (f"verified.EW,p2,plugin,{n}", ece, bins | {"p": 2}),
            (f"verified.get_ece_em(EM,p1,plugin,{n})", ece, mass),
            (f"verified.EM,p2,plugin,{n}", ece, mass | {"p": 2}),
        ]
        for name, options in (("EW", bins | {"binning": "width"}), ("EM", mass)):
            limit = f"verified.{name},p1,debiased,{n},INFINITE-RESAMPLE LIMIT(analytic)"
            signed = f"verified.{name},unbiased_square_ce(signed),{n}"
            rows += [
                (f"verified.{name},p2,debiased,{n}", debiased_ece, options),
                (signed, debiased_ece, options | {"signed": True}),
                (limit, debiased_ece, options | {"p": 1}),
            ]
    return rows


# A bin of one case has no variance: the reference refuses, and we count it as having no error.
UNDEFINED = {("A", "EW", "15"), *(("C", kind, n) for kind in ("EW", "EM") for n in ("10", "15"))}


@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.oracle("ece", "ace", "debiased_ece")
@pytest.mark.parametrize(("key", "estimator", "options"), oracle_rows())
def test_gives_the_known_answer(known, name, key, estimator, options):
    outcomes, scores, answers = known(name)
    answer = answers[key]
    actual = estimator(outcomes, scores, **options)
    if isinstance(answer, str):
        kind, n = key.split(".")[1][:2], str(options["n_bins"])
        assert (name, kind, n) in UNDEFINED
        assert 0 <= actual < 1
    else:
        assert actual == pytest.approx(answer, rel=1e-6, abs=1e-12)


# Bins


def test_equal_width_bins_are_closed_on_the_right():
    for n_bins in (3, 10, 15, 100):
        edges = np.arange(1, n_bins) / n_bins
        for scores in (edges, np.nextafter(edges, 1), np.nextafter(edges, 0)):
            for score in scores:
                below = int(np.count_nonzero(edges < score))
                inside = (below + 0.5) / n_bins
                alone = ece([1, 0], [score, inside], n_bins=n_bins)
                assert alone == pytest.approx(abs(score + inside - 1) / 2)


def test_scores_of_0_and_1_belong_to_the_first_and_last_bin():
    assert ece([1, 0], [0.95, 1.0], n_bins=10) == pytest.approx(0.475)
    assert ece([1, 0], [0.0, 0.05], n_bins=10) == pytest.approx(0.475)


CUTS = {
    "mass": lambda scores, n: np.concatenate(
        [np.full(len(part), b) for b, part in enumerate(np.array_split(scores, n))]
    ),
    "rank": lambda scores, n: np.arange(scores.size) * n // scores.size,
    "quantile": lambda scores, n: np.searchsorted(
        np.unique(np.quantile(scores, np.arange(1, n) / n)), scores
    ),
}


@pytest.mark.parametrize("binning", CUTS)
@pytest.mark.parametrize("n", [103, 5000])
def test_bins_of_equal_mass(binning, n):
    rng = np.random.default_rng(0)
    scores = np.sort(rng.beta(0.3, 2, n))
    outcomes, order = rng.integers(0, 2, n), rng.permutation(n)
    for n_bins in (1, 7, 10, 103, 200):
        index = CUTS[binning](scores, n_bins)
        gap = np.bincount(index, scores - outcomes)
        for ties in ("together", "split"):
            options = {"n_bins": n_bins, "binning": binning, "ties": ties}
            actual = ece(outcomes[order], scores[order], **options)
            assert actual == pytest.approx(np.abs(gap).sum() / n)
            mean = np.abs(gap / np.maximum(np.bincount(index), 1)).sum() / np.unique(index).size
            assert ace(outcomes[order], scores[order], **options) == pytest.approx(mean)


@pytest.mark.parametrize("binning", CUTS)
@pytest.mark.parametrize("n", [60, 3000])
def test_equal_scores_go_to_the_bin_of_their_first(binning, n):
    rng = np.random.default_rng(1)
    scores = np.sort(rng.beta(1, 3, n).round(2))
    outcomes = rng.integers(0, 2, n)
    first = np.searchsorted(scores, scores)
    for n_bins in (3, 10, 40):
        apart = CUTS[binning](np.arange(n) / n, n_bins)
        gap = np.bincount(apart[first], scores - outcomes)
        actual = ece(outcomes, scores, n_bins=n_bins, binning=binning)
        assert actual == pytest.approx(np.abs(gap).sum() / n)


def test_quantile_bins_of_tied_scores_are_those_of_numpy():
    rng = np.random.default_rng(2)
    scores = np.sort(rng.beta(1, 3, 500).round(2))
    outcomes = rng.integers(0, 2, 500)
    gap = np.bincount(CUTS["quantile"](scores, 10), scores - outcomes)
    actual = ece(outcomes, scores, n_bins=10, binning="quantile")
    assert actual == pytest.approx(np.abs(gap).sum() / 500)


def test_split_is_the_mean_gap_over_orders():
    """Where no gap changes sign, sharing out is the average over random orders of tied cases."""
    rng = np.random.default_rng(1)
    scores, outcomes = rng.choice([0.6, 0.7, 0.8], 50), (rng.random(50) < 0.1).astype(int)
    values = []
    for _ in range(400):
        shuffled = rng.permutation(50)
        order = shuffled[np.argsort(scores[shuffled], kind="stable")]
        gaps = [
            (scores[part] - outcomes[part]).mean() ** 1 * part.size
            for part in np.array_split(order, 7)
        ]
        values.append(sum(gaps) / 50)
    actual = ece(outcomes, scores, n_bins=7, binning="mass", ties="split")
    assert actual == pytest.approx(np.mean(values))


@pytest.mark.oracle("mce")
def test_mce_is_the_largest_gap_and_the_limit_of_the_norms():
    scores, outcomes = [0.1, 0.2, 0.7, 0.9], [0, 1, 1, 0]
    assert mce(outcomes, scores, n_bins=10) == pytest.approx(0.9)
    assert ece(outcomes, scores, n_bins=10, p=200) == pytest.approx(0.9, rel=0.01)


# Limits and symmetries


def test_rounding_makes_no_rate_above_one():
    rng = np.random.default_rng(9)
    scores, weight = rng.random(40_000), rng.uniform(0.1, 2, 40_000)
    outcomes = np.ones((2, scores.size), dtype=bool)
    actual = debiased_ece(outcomes, scores, p=1, sample_weight=weight)
    mean = weight @ scores / weight.sum()
    np.testing.assert_allclose(actual, 1 - mean, rtol=1e-9)


def test_a_bin_of_one_case_counts_as_having_no_error():
    assert debiased_ece([1], [0.2]) == 0
    assert debiased_ece([1], [0.2], p=1) == 0
    alone = debiased_ece([1, 1, 1], [0.2, 0.25, 0.9], n_bins=2, binning="width")
    assert alone == pytest.approx(np.sqrt(2 / 3) * 0.775)


# Hostile input


def test_debiased_knows_two_orders():
    with pytest.raises(InputError, match="p must be 1 or 2"):
        debiased_ece([0, 1], [0.2, 0.4], p=3)
