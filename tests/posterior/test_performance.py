"""Performance by the curve: what scores and outcomes give on average, and what they will give."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError

DRAWS = 400


@pytest.fixture(scope="module")
def cases():
    return bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)


@pytest.fixture(scope="module")
def post(cases):
    return bc.fit(*cases, curve="logistic", draws=DRAWS, random_state=1)


@pytest.fixture(scope="module")
def new(cases):
    return np.append(expit(logit(cases[1][:90]) + 0.5), [0.3, 0.3, 0.7, 0.7])


@pytest.fixture(scope="module")
def curves(post, new):
    return post.curve(new).to_numpy().reshape(DRAWS, -1)


@pytest.fixture(scope="module")
def measured(post, new):
    drawn = post.on(new).performance([0.3, 0.6], "sample")
    return {name: values.to_numpy().reshape(DRAWS, -1).squeeze() for name, values in drawn.items()}


def test_scores_are_means_over_outcomes(measured, curves, new):
    np.testing.assert_allclose(measured["events"], curves.mean(axis=1))
    brier = (curves * (1 - new) ** 2 + (1 - curves) * new**2).mean(axis=1)
    np.testing.assert_allclose(measured["brier"], brier)
    log = -(curves * np.log(new) + (1 - curves) * np.log(1 - new)).mean(axis=1)
    np.testing.assert_allclose(measured["log_score"], log)


def test_c_statistic_is_the_sum_over_pairs(measured, curves, new):
    higher = (new[:, None] > new) + 0.5 * (new[:, None] == new)
    pairs = np.einsum("di,ij,dj->d", curves, higher, 1 - curves)
    expected = pairs / (curves.sum(axis=1) * (1 - curves).sum(axis=1))
    np.testing.assert_allclose(measured["c_statistic"], expected)


def test_measures_at_a_threshold(measured, curves, new):
    for column, t in enumerate((0.3, 0.6)):
        reach = new >= t
        events, others = curves.sum(axis=1), (1 - curves).sum(axis=1)
        detected, spared = curves[:, reach].sum(axis=1), (1 - curves[:, ~reach]).sum(axis=1)
        expected = {
            "treated": np.full(DRAWS, reach.mean()),
            "accuracy": (detected + spared) / new.size,
            "sensitivity": detected / events,
            "specificity": spared / others,
            "ppv": detected / reach.sum(),
            "npv": spared / (~reach).sum(),
        }
        expected["net_benefit"] = (detected - (reach.sum() - detected) * t / (1 - t)) / new.size
        for name, values in expected.items():
            np.testing.assert_allclose(measured[name][:, column], values, err_msg=name)


def test_merged_rows_and_a_beta_density_agree_with_single_cases(post, cases):
    many = np.random.default_rng(1).beta(2, 3, 3000)
    g = post.curve(many).to_numpy().reshape(DRAWS, -1)
    drawn = post.on(many).performance([0.4], "sample")
    brier = (g * (1 - many) ** 2 + (1 - g) * many**2).mean(axis=1)
    np.testing.assert_allclose(drawn["brier"].to_numpy().ravel(), brier, atol=1e-4)
    order = np.argsort(many)
    events, below = g[:, order], np.cumsum(1 - g[:, order], axis=1)
    below -= (1 - g[:, order]) / 2
    c = (events * below).sum(axis=1) / (g.sum(axis=1) * (1 - g).sum(axis=1))
    np.testing.assert_allclose(drawn["c_statistic"].to_numpy().ravel(), c, atol=5e-4)
    density = post.on(many).performance([0.4], "beta")
    for name in ("brier", "c_statistic", "accuracy", "ppv", "npv"):
        assert float(density[name].mean()) == pytest.approx(float(drawn[name].mean()), abs=0.01)


def test_realised_outcomes_have_the_mean_of_the_expected_and_more_spread(post, new):
    seen = post.on(new)
    expected = seen.performance([0.4], "sample")
    realised = seen.performance([0.4], realised=True)
    for name in ("events", "brier", "accuracy", "net_benefit"):
        one, other = expected[name], realised[name]
        noise = float(other.std()) / np.sqrt(DRAWS)
        assert abs(float(one.mean() - other.mean())) < 4 * noise
        assert float(other.std()) > 1.1 * float(one.std())
    assert np.array_equal(np.unique(np.rint(realised["events"] * new.size) % 1), [0])


def test_what_no_score_reaches_has_no_predictive_value(post, new):
    drawn = post.on(new).performance([1e-4, 0.9999])
    assert drawn["npv"].isel(threshold=0).isnull().all()
    assert drawn["ppv"].isel(threshold=1).isnull().all()
    table = post.on(new).performance_summary([1e-4, 0.9999])
    assert "npv@0.0001" not in table.index
    assert "ppv@0.9999" not in table.index
    assert table.loc["sensitivity@0.0001", "lower"] == pytest.approx(1)


def test_summary_reads_the_draws(post, new):
    seen = post.on(new)
    table, drawn = seen.performance_summary([0.3], 0.8), seen.performance([0.3])
    for row, name in (("brier", "brier"), ("accuracy@0.3", "accuracy")):
        ends = np.quantile(drawn[name], [0.1, 0.9])
        assert np.allclose(table.loc[row, ["lower", "upper"]].astype(float), ends)
        assert table.loc[row, "mean"] == pytest.approx(float(drawn[name].mean()))
    assert table.attrs["outside"] == seen.outside
    assert post.performance_summary([0.3], 0.8, population=new).equals(table)


def test_imputations_are_mixed(cases, new):
    y, s = cases
    options = {"curve": "logistic", "draws": DRAWS, "random_state": 1}
    alike = bc.fit(y, imputation=[s, s], **options).on(new).performance_summary([0.3])
    one = bc.fit(y, s, **options).on(new).performance_summary([0.3])
    numbers = ["mean", "lower", "upper"]
    assert np.allclose(alike[numbers].astype(float), one[numbers].astype(float), atol=0.01)


def test_shift_to_change_is_where_the_decisions_are_worth_the_same(post, new):
    seen = post.on(new)
    table = seen.shift_to_change([0.4])
    g = post.curve(new).to_numpy().reshape(DRAWS, -1)

    def worth(shift):
        risk = expit(logit(g) + shift).mean(axis=0)
        benefit = risk - (1 - risk) * 0.4 / 0.6
        return {
            "treat none": 0.0,
            "model": benefit[new >= 0.4].sum() / new.size,
            "treat all": benefit.mean(),
        }

    lower, upper, best = (table.loc[0.4, name] for name in ("lower", "upper", "best"))
    now = worth(0)
    assert best == max(now, key=now.get)
    assert lower < 0 < upper
    for shift in (lower, upper):
        if np.isfinite(shift):
            before, after = worth(shift - 0.01), worth(shift + 0.01)
            assert max(before, key=before.get) != max(after, key=after.get)
    assert table.loc[0.4, "odds_ratio"] == pytest.approx(np.exp(table.loc[0.4, "nearest"]))


@pytest.mark.parametrize(
    ("scores", "threshold", "best"),
    [([0.6, 0.7], 0.1, "treat all"), ([0.05, 0.1], 0.9, "treat none")],
)
def test_where_every_patient_is_on_one_side_of_the_threshold(post, scores, threshold, best):
    row = post.on(scores).shift_to_change([threshold]).loc[threshold]
    assert row["best"] == best
    assert np.isinf([row["lower"], row["upper"]]).sum() == 1


def test_bad_arguments_are_refused(post, new):
    with pytest.raises(InputError, match="thresholds"):
        post.performance([1.2])
    with pytest.raises(InputError, match="thresholds"):
        post.shift_to_change([])
    with pytest.raises(InputError, match="realised"):
        post.performance(population="beta", realised=True)
    weighted = post.on(new, np.linspace(0.5, 1.5, new.size))
    with pytest.raises(InputError, match="realised"):
        weighted.performance(realised=True)
