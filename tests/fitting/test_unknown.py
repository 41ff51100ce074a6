"""Missing outcomes are left out of the likelihood, not of the population."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError

OPTIONS = {"draws": 400, "random_state": 1}


@pytest.fixture(scope="module")
def cases():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    known = np.random.default_rng(1).random(400) < np.where(s > np.median(s), 0.9, 0.3)
    return np.where(known, y, np.nan), s, known


@pytest.fixture(scope="module")
def result(cases):
    return bc.fit_known(cases[0], cases[1], **OPTIONS)


def test_it_is_the_fit_of_the_known_on_the_scores_of_all(cases, result):
    y, s, known = cases
    post = bc.fit(y[known], s[known], **OPTIONS)
    assert np.array_equal(result.known.values_of("tce"), post.values_of("tce"))
    seen = post.on(s)
    assert np.array_equal(result.posterior.values_of("tce"), seen.values_of("tce"))
    of_known, of_all = (each.values_of("observed_expected").mean() for each in (post, seen))
    assert abs(of_known - of_all) > 0.005


def test_missing_outcomes_are_counted_by_fifth_of_the_score(cases, result):
    _, s, known = cases
    table = result.missing
    assert list(table.index) == [1, 2, 3, 4, 5]
    assert (table["cases"] == 80).all()
    lowest = s <= np.quantile(s, 0.2)
    assert table.loc[1, "known"] == known[lowest].sum()
    assert table["missing"].sum() == (~known).sum()
    assert table.loc[1, "share_missing"] > 0.5 > table.loc[5, "share_missing"]
    told = f"400 cases, of whom {known.sum()} have a known outcome"
    assert told in repr(result)
    assert f"{100 * table.loc[1, 'share_missing']:.0f} %" in repr(result)


@pytest.mark.parametrize(
    "missing", [None, np.nan, pd.NA, float("nan")], ids=["None", "nan", "NA", "float"]
)
def test_any_sign_of_a_missing_outcome_is_read(cases, result, missing):
    y, s, known = cases
    outcomes = [int(value) if there else missing for value, there in zip(y, known, strict=True)]
    other = bc.fit_known(outcomes, s, **OPTIONS)
    assert np.array_equal(other.posterior.values_of("tce"), result.posterior.values_of("tce"))
    series = pd.Series(outcomes, dtype="Int64" if missing is pd.NA else object)
    again = bc.fit_known(series, pd.Series(s), **OPTIONS)
    assert np.array_equal(again.posterior.values_of("tce"), result.posterior.values_of("tce"))


def test_labels_weights_and_clusters_are_those_of_the_known(cases, result):
    y, s, known = cases
    labels = np.where(known, np.where(y == 1, "dead", "alive"), None)
    named = bc.fit_known(labels, s, pos_label="dead", **OPTIONS)
    assert np.array_equal(named.known.values_of("tce"), result.known.values_of("tce"))
    twice = bc.fit_known(y, s, sample_weight=np.full(400, 2), weight_type="counts", **OPTIONS)
    assert twice.known.data.n == 2 * known.sum()
    assert twice.missing["cases"].sum() == 800
    clustered = bc.fit_known(y, s, cluster=np.arange(400) // 4, **OPTIONS)
    assert clustered.known.design is not None
    assert clustered.known.data.n == known.sum()


def test_at_delta_zero_outcomes_are_missing_at_random(result):
    table = result.sensitivity([0.0])
    summary = result.posterior.summary(names=["tce", "observed_expected", "calibration_slope"])
    for name in summary.index:
        assert np.allclose(table.loc[(0.0, name)], summary.loc[name], rtol=1e-9)


def test_sensitivity_moves_the_risk_of_the_missing_alone(cases):
    y, s, known = cases
    few = slice(0, 100)  # few enough scores to have a row each
    result = bc.fit_known(y[few], s[few], curve="logistic", **OPTIONS)
    g = result.posterior.curve(s[few]).to_numpy().reshape(400, -1)
    moved = np.where(known[few], g, expit(logit(g) + 0.8))
    expected = (moved.mean(axis=1) / s[few].mean()).mean()
    table = result.sensitivity([-0.8, 0.0, 0.8], names=["observed_expected"])
    means = table.xs("observed_expected", level="functional")["mean"]
    assert means[0.8] == pytest.approx(expected, rel=0.02)  # the population is drawn
    assert means[-0.8] < means[0.0] - 0.02 < means[0.8] - 0.04


def test_complete_outcomes_change_nothing():
    y, s = bc.simulate.sample("calibrated", 120, random_state=1)
    result = bc.fit_known(y, s, curve="logistic", **OPTIONS)
    plain = bc.fit(y, s, curve="logistic", **OPTIONS)
    assert np.array_equal(result.posterior.values_of("tce"), plain.values_of("tce"))
    assert result.sensitivity([0.0, 2.0], names=["tce"])["mean"].nunique() == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"y_true": [None, np.nan]}, "this table has no outcomes"),
        ({"y_prob": [0.2]}, "y_true"),
        ({"y_prob": [0.2, None]}, "y_prob"),
        ({"y_prob": [[0.2, 0.3], [0.4, 0.5]]}, "y_prob"),
        ({"sample_weight": [1, 2, 3]}, "sample_weight"),
        ({"y_true": [0, 3]}, "neither 0 nor 1"),
    ],
)
def test_bad_input_is_refused(change, told):
    given = {"y_true": [0, None], "y_prob": [0.2, 0.4]} | change
    with pytest.raises(InputError, match=told):
        bc.fit_known(given.pop("y_true"), given.pop("y_prob"), **given)


def test_fit_names_the_way_on():
    with pytest.raises(InputError, match="this table has no outcomes"):
        bc.fit([np.nan, np.nan, np.nan], [0.1, 0.2, 0.3])


def test_verdicts_are_those_of_the_error_by_delta(result):
    table = result.verdicts(0.06, [-1, 0, 1])
    by_delta = result.sensitivity([-1, 0, 1], names=["tce"])
    for delta in (-1.0, 0.0, 1.0):
        row = by_delta.loc[(delta, "tce")]
        assert table.loc[delta, "estimate"] == pytest.approx(row["estimate"])
        assert table.loc[delta, "upper"] == pytest.approx(row["upper"])
    below = result.posterior.prob_below(0.06)
    assert table.loc[0.0, "prob_close"] == pytest.approx(below)
    assert table.loc[0.0, "verdict"] == "cannot tell"


def test_the_verdict_changes_at_the_ends_and_not_between(result):
    change = result.delta_to_change(0.06)
    assert change["verdict"] == "cannot tell"
    assert np.isfinite(change["upper"])
    just = result.verdicts(0.06, [change["upper"] - 0.02, change["upper"]])["verdict"]
    assert just.tolist() == ["cannot tell", "miscalibrated"]
    nearer = min(change["lower"], change["upper"], key=abs)
    assert change["odds_ratio"] == pytest.approx(np.exp(nearer))


def test_where_no_difference_changes_it_the_ends_are_infinite(result):
    change = result.delta_to_change(0.9)
    assert (change["lower"], change["upper"]) == (-np.inf, np.inf)
    assert change["verdict"] == "close enough"


def test_the_figure_draws_the_verdicts(result):
    ax = bc.plots.missing_outcomes(result, 0.06, Figure().subplots(), deltas=[-1, 0, 1])
    table = result.verdicts(0.06, [-1, 0, 1])
    line = ax.get_lines()[2]
    assert line.get_ydata().tolist() == pytest.approx(table["estimate"].tolist())
    filled, hollow = ax.get_lines()[3:5]
    same = (table["verdict"] == table.loc[0.0, "verdict"]).to_numpy()
    assert filled.get_xdata().tolist() == table.index[same].tolist()
    assert hollow.get_xdata().tolist() == table.index[~same].tolist()
    with pytest.raises(InputError, match="result must be a KnownFit"):
        bc.plots.missing_outcomes(result.posterior, 0.06)


GROUPS = {
    "site": np.array(["A", "B"])[np.arange(400) // 200],
    "period": np.arange(400) // 200,
    "subgroup": {"sex": np.resize(["F", "M"], 400), "age": np.resize(["<80", "80+", "80+"], 400)},
}


@pytest.mark.parametrize("role", GROUPS)
def test_sites_periods_and_subgroups_have_a_delta_each(cases, role):
    y, s, known = cases
    how = {role: GROUPS[role], "curve": "logistic"} | OPTIONS
    result, several = bc.fit_known(y, s, **how), bc.fit(y, s, **how)
    assert result.missing["cases"].sum() == 400
    assert np.array_equal(result.posterior.values_of("tce"), several.at().on(s).values_of("tce"))
    levels = several.parts()[0].levels
    one, view = result.at(levels), several.at(levels)
    here = np.ones(400, bool)
    for name, level in levels.items():
        column = GROUPS[role][name] if role == "subgroup" else GROUPS[role]
        here &= np.asarray(column).astype(str) == level
    assert np.array_equal(one.posterior.values_of("tce"), view.on(s[here]).values_of("tce"))
    assert one.missing["missing"].sum() == (here & ~known).sum()
    moved = one.sensitivity([-1.0, 0.0, 1.0], names=["observed_expected"])["mean"]
    assert moved.is_monotonic_increasing


def test_a_site_without_a_known_outcome_counts_among_all(cases):
    y, s, _ = cases
    nobody = np.where(GROUPS["site"] == "B", np.nan, y)
    site = np.where(np.arange(400) % 2, GROUPS["site"], "C")
    result = bc.fit_known(nobody, s, site=site, curve="logistic", **OPTIONS)
    assert result.several.levels == {"site": ("A", "C")}
    assert result.missing["cases"].sum() == 400


def test_of_times_those_who_left_early_are_not_known():
    rng = np.random.default_rng(1)
    s = rng.beta(1.5, 3, 300)
    time = rng.exponential(1 / -np.log1p(-s))
    left = rng.exponential(2.0, 300)
    seen = bc.Survival(np.minimum(time, left), (time <= left).astype(int))
    how = {"horizon": 1.0, "curve": "logistic"} | OPTIONS
    result, plain = bc.fit_known(seen, s, **how), bc.fit(seen, s, **how)
    assert np.array_equal(result.posterior.values_of("tce"), plain.values_of("tce"))
    assert result.missing["missing"].sum() == ((left < 1) & (left < time)).sum()
    ratio = result.sensitivity([-0.7, 0.0, 0.7], names=["observed_expected"])["mean"]
    assert ratio.is_monotonic_increasing
    assert ratio.iloc[1] == pytest.approx(plain.values_of("observed_expected").mean(), rel=1e-9)
    by_site = bc.fit_known(seen, s, site=np.resize(["A", "B"], 300), **how)
    assert 0.1 < by_site.at(site="A").missing["missing"].sum() / 150 < 0.6


def test_one_curve_has_no_levels(result):
    with pytest.raises(InputError, match="the fit is of one curve"):
        result.at(site="A")
