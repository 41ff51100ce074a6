"""Posteriors of functionals, forests, comparisons, priors: what they draw is what was computed."""

from itertools import pairwise

import arviz_stats
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.errors import InputError
from bayescal.plots.text import label
from bayescal.posterior.functionals import FUNCTIONALS
from drawn import labelled


@pytest.fixture(scope="module")
def cmp():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 60, random_state=2)
    return bc.compare(y_true, y_prob, random_state=2)


@pytest.fixture(scope="module")
def average(cmp):
    return cmp.posterior


@pytest.fixture(scope="module")
def post(cmp):
    return bc.fit(cmp.data, curve="beta", random_state=2)


# The posterior of a functional


def test_tce_draws_interval_and_estimate(average, ax):
    assert bc.plots.functional(average, ax=ax, close=0.02) is ax
    values = average.tce().to_numpy().ravel()
    bar = labelled(ax, "95 % credible interval")
    assert tuple(bar.get_xdata()) == pytest.approx(average.interval("tce"))
    assert labelled(ax, "Estimate").get_xdata()[0] == pytest.approx(average.estimate("tce"))
    assert "Exactly calibrated" not in [item.get_label() for item in ax.collections]
    first, second = ax.get_title("left").split("\n")
    assert first.startswith(f"TCE {average.estimate('tce'):.2f} (95 % CrI 0.00 to ")
    inside = (values <= 0.02).mean()
    assert second == f"P(TCE below 0.02) {inside:.2f}"
    assert f"No error: {(values == 0).mean():.2f} of the draws" in ax.get_legend_handles_labels()[1]
    assert "P(exactly calibrated)" in bc.plots.functional(average, "signed_error").get_title("left")


def test_one_family_has_no_stem(post, ax):
    bc.plots.functional(post, ax=ax, p=2, ci_prob=0.9)
    assert "Exactly calibrated" not in [item.get_label() for item in ax.collections]
    lower, upper = np.quantile(post.tce(2), [0.05, 0.95])
    estimate = post.estimate("tce", 0.9, p=2)
    assert ax.get_title("left").startswith(f"TCE (p = 2) {estimate:.2f} (90 % CrI {lower:.2f} to ")
    assert tuple(labelled(ax, "90 % credible interval").get_xdata()) == pytest.approx(
        (lower, upper)
    )


@pytest.mark.parametrize("name", FUNCTIONALS)
def test_every_functional_can_be_drawn(average, name):
    figure = Figure(layout="constrained")
    ax = bc.plots.functional(average, name, figure.subplots(), close=0.1)
    figure.canvas.draw()
    region = ax.patches[0]
    low = 0.0 if FUNCTIONALS[name].is_distance else FUNCTIONALS[name].ideal - 0.1
    assert region.get_x() == pytest.approx(low)
    assert region.get_x() + region.get_width() == pytest.approx(FUNCTIONALS[name].ideal + 0.1)


def test_a_region_far_from_the_draws_is_in_the_picture(post, ax):
    bc.plots.functional(post, "observed_expected", ax, close=(-1e3, 1e3))
    left, right = ax.get_xlim()
    assert left < -1e3 < 1e3 <= right


def test_perfect_calibration_is_a_stem_alone(cmp, ax):
    bc.plots.functional(bc.fit(cmp.data, curve="identity", random_state=0), ax=ax)
    (stem,) = [item for item in ax.collections if item.get_label() == "Exactly calibrated"]
    assert stem.get_segments()[0].tolist() == [[0, 0], [0, 1]]


def test_draws_without_error_are_a_stem_with_their_share(ax):
    cases = bc.simulate.sample("clinical-middle-calibrated", 2000, random_state=2)
    average = bc.compare(*cases, draws=400, random_state=1).posterior
    bc.plots.functional(average, ax=ax)
    draws = average.tce().to_numpy()
    (stem,) = [item for item in ax.collections if item.get_label().startswith("No error")]
    told = float(stem.get_label().split()[2])
    assert told == pytest.approx(np.mean(draws == 0), abs=0.0051)
    assert 0.05 < told < 0.6


def test_titles_change_with_the_data():
    errors, families, curves = [], [], []
    for truth in ("clinical-middle-calibrated", "clinical-middle-overconfident"):
        y_true, y_prob = bc.simulate.sample(truth, 2000, random_state=2)
        actual = bc.compare(y_true, np.round(y_prob, 2), draws=2000, random_state=2)
        errors.append(bc.plots.functional(actual.posterior, close=0.04).get_title("left"))
        family, curve = bc.plots.comparison(actual)
        families.append(family.get_title("left"))
        curves.append(curve.get_title("left"))
    assert "P(TCE below 0.04) > 0.99" in errors[0]
    assert "P(TCE below 0.04) 0." in errors[1]
    assert families[1] == "Exactly calibrated: < 0.01,\nfrom a prior of 0.05"
    assert families[0] != families[1]
    assert curves[0] == "No curve clearly predicts\nbetter than identity"
    assert "predicts best:\n+" in curves[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"close": -1}, "close must be a positive number"),
        ({"close": (0.2, 0.1)}, "close must be"),
        ({"close": np.nan}, "close must be"),
        ({"close": np.inf}, "close must be"),
        ({"close": (0, np.inf)}, "close must be"),
        ({"ci_prob": 95}, "ci_prob must lie strictly between"),
        ({"name": "brier"}, "name must be one of"),
        ({"population": "all"}, "population must be one of"),
    ],
)
def test_bad_options_are_refused_before_anything_is_drawn(post, ax, options, message):
    with pytest.raises(InputError, match=message):
        bc.plots.functional(post, ax=ax, **options)
    assert not ax.has_data()


@pytest.mark.parametrize("name", ["$\\frac$", "_hidden", "<b>", "a" * 10_000, "two\nlines", ""])
def test_names_of_users_are_shown_as_text(post, name):
    figure = Figure(layout="constrained")
    above, below = figure.subplots(2, 1)
    bc.plots.reliability({name: post}, above)
    bc.plots.forest(post, below, names=["tce"], estimators={name: 0.1})
    figure.canvas.draw()
    assert above.get_legend().get_texts()[1].get_text().startswith(label(name))
    assert len(label(name)) <= 40


# Forest


def rows(panel):
    labels = [label.get_text() for label in panel.get_yticklabels()]
    return dict(zip(labels, [text.get_text() for text in panel.texts], strict=True))


def test_forest_has_a_panel_a_scale_and_the_summary_in_it(average):
    panels = bc.plots.forest(average)
    assert [panel.get_xlabel() for panel in panels] == [
        "Error (difference in probability)", "Ratio", "Log-odds",
    ]  # fmt: skip
    assert [list(rows(panel)) for panel in panels] == [
        ["TCE", "E50", "E90", "Emax", "Mean signed error"],
        ["O/E", "Slope"],
        ["Calibration-in-the-large", "Intercept, with slope"],
    ]
    row = average.summary().loc["observed_expected"]
    first = panels[1].get_lines()[1:3]
    np.testing.assert_allclose(first[0].get_xdata(), row[["lower", "upper"]].to_numpy(float))
    assert first[1].get_xdata()[0] == pytest.approx(row["estimate"])
    shown = f"{row.estimate:.2f} ({row.lower:.2f} to {row.upper:.2f})"
    assert rows(panels[1])["O/E"] == shown
    assert panels[1].get_lines()[0].get_xdata()[0] == 1


def test_forest_of_a_summary_is_that_of_its_posterior(post):
    direct, table = bc.plots.forest(post, ci_prob=0.8), bc.plots.forest(post.summary(0.8))
    assert [rows(panel) for panel in direct] == [rows(panel) for panel in table]
    assert "80 % credible interval" in table[0].figure.get_suptitle()


def test_estimators_stand_beneath_on_their_own_scale(post):
    given = {"ece": (0.1, 0.05, 0.2), "calibration_slope": 0.7, "Mine": (0.2, 0.1, 0.3)}
    panels = bc.plots.forest(post, estimators=given, names=["tce", "observed_expected"])
    assert list(rows(panels[0])) == ["TCE", "Expected calibration error", "Mine"]
    assert rows(panels[1])["Calibration slope"] == "0.700"
    table = pd.DataFrame([given["ece"]], ["ece"], ["estimate", "lower", "upper"])
    (bare,) = bc.plots.forest(post, estimators=table[["estimate"]], names=["tce"])
    assert bare.texts[-1].get_text() == f"{table['estimate'].iloc[-1]:.3f}"
    (panel,) = bc.plots.forest(post, estimators=table, names=["tce"])
    assert rows(panel)["Expected calibration error"] == "0.10 (0.05 to 0.20)"


def test_forest_draws_on_the_axes_it_is_given(post, ax):
    before = plt.get_fignums()
    assert bc.plots.forest(post, ax, names=["tce"]) == [ax]
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["brier"]}, "names must be one of"),
        ({"estimators": {"ece": (1, 2)}}, r"estimators\['ece'\] holds 2 numbers"),
        ({"axes": [1, 2]}, "axes holds 2, but there are 3 scales"),
        ({"post": [1]}, "post must be a CalibrationPosterior or its summary"),
    ],
)
def test_forest_says_what_is_wrong(post, change, message):
    with pytest.raises(InputError, match=message):
        bc.plots.forest(**({"post": post} | change))


# Comparison


def test_comparison_draws_its_table(cmp):
    left, right = bc.plots.comparison(cmp)
    table = cmp.table
    posterior, prior = left.containers
    np.testing.assert_allclose([bar.get_width() for bar in posterior], table["posterior_prob"])
    np.testing.assert_allclose([bar.get_width() for bar in prior], table["prior"])
    np.testing.assert_allclose(right.get_lines()[1].get_xdata(), table["elpd_diff"])
    ends = np.array([segment[:, 0] for segment in right.collections[0].get_segments()])
    np.testing.assert_allclose(np.diff(ends)[:, 0], 4 * table["elpd_diff_error"], atol=1e-12)
    title = left.get_title("left")
    assert title == f"Exactly calibrated: {cmp.prob_calibrated:.2f},\nfrom a prior of 0.05"
    assert right.get_title("left") == "No curve clearly predicts\nbetter than identity"


@pytest.mark.slow
def test_elpd_difference_is_that_of_arviz():
    """Under identity each patient's density is known; the draws of logistic differ by chance."""
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=5)
    actual = bc.compare(y_true, y_prob, random_state=3)
    tree = bc.fit(y_true, y_prob, curve="logistic", random_state=4).to_datatree()
    score = tree["constant_data"]["score"].to_numpy()
    outcome = tree["observed_data"]["y"].to_numpy()
    logistic = arviz_stats.loo(tree, pointwise=True).elpd_i.to_numpy()
    difference = logistic - np.log(np.where(outcome == 1, score, 1 - score))
    row = actual.table.loc["logistic"]
    assert row["elpd_diff"] == pytest.approx(difference.sum(), abs=0.05)
    assert row["elpd_diff_error"] == pytest.approx(
        np.sqrt(difference.size) * difference.std(), rel=0.01
    )
    assert row["elpd_diff"] == pytest.approx(
        row["elpd_loo"] - actual.table.loc["identity", "elpd_loo"]
    )
    assert actual.table.loc["identity", ["elpd_diff", "elpd_diff_error"]].tolist() == [0, 0]


def test_comparison_takes_a_comparison_and_two_axes(cmp, post, ax):
    with pytest.raises(InputError, match="cmp must be a CurveComparison"):
        bc.plots.comparison(post)
    with pytest.raises(InputError, match="axes holds 1, but there are 2 panels"):
        bc.plots.comparison(cmp, ax)
    pair = Figure().subplots(1, 2)
    assert bc.plots.comparison(cmp, pair) == list(pair)


# Prior and posterior


def test_prior_functional_is_computed_from_the_prior_draws(post):
    prior = post.tree["prior"].to_dataset()
    u = np.stack(
        [prior[name].to_numpy().ravel() for name in post.problem.curve.coordinates], axis=1
    )
    score = post.data.score
    curve = post.problem.curve.probability(u, score, post.problem.frame)
    expected = np.abs(curve - score) @ (post.data.trials / post.data.n)
    actual = post.functional("tce", "sample", group="prior")
    np.testing.assert_allclose(actual.to_numpy().ravel(), expected, rtol=1e-12)
    assert float(actual.mean()) > 1.3 * float(post.tce(population="sample").mean())
    with pytest.raises(InputError, match="group must be one of"):
        post.functional("tce", group="likelihood")


def test_the_prior_of_an_average_is_a_draw_of_each_family_by_its_weight(cmp, average):
    prior = average.tree["prior"].to_dataset()
    used = [name for name in cmp.prior_prob if cmp.prior_prob[name] > 0 and name != "identity"]
    family = prior["family"].to_numpy().ravel()
    for index, name in enumerate(used):
        share = (family == index).mean()
        assert share == pytest.approx(cmp.prior_prob[name] / 0.95, abs=0.03)
    asymmetry = prior["asymmetry"].to_numpy().ravel()
    at = {name: family == index for index, name in enumerate(used)}
    assert not asymmetry[at["lapse"]].any()
    middle = np.quantile(np.abs(asymmetry[at["beta"]]), 0.5)
    assert middle == pytest.approx(0.35 * 0.7649, rel=0.15)  # of Student-t, 3 degrees of freedom
    rough = prior["deviation"].sel(deviation_dim_0=3).to_numpy().ravel()
    assert rough[at["spline"]].all()
    assert not rough[~at["spline"]].any()
    assert average.functional("tce", group="prior").to_numpy().all()


def test_the_prior_of_temperature_in_an_average_is_a_line_through_one_half(cmp):
    actual = bc.compare(
        cmp.data, curves=("temperature",), prior="clinical", draws=1000, random_state=0
    )
    u = actual.posterior.tree["prior"].to_dataset()
    frame = actual.problem.frame
    line = (np.exp(u["log_slope"]) - 1) * np.log(frame.centre / (1 - frame.centre))
    np.testing.assert_allclose(u["shift"], line, atol=1e-12)
    assert frame.centre != 0.5


@pytest.mark.parametrize("which", ["post", "average"])
def test_prior_and_posterior_are_drawn_side_by_side(which, request):
    fitted = request.getfixturevalue(which)
    panels = bc.plots.prior_posterior(fitted)
    rates = ["Floor", "One minus ceiling"] if which == "average" else []
    assert [panel.get_title("left").split("\n")[0] for panel in panels] == [
        "Shift", "Log slope", "Asymmetry", *rates, "TCE",
    ]  # fmt: skip
    for panel, name in zip(panels, ("shift", "log_slope", "asymmetry"), strict=False):
        for group, title in (("prior", "Prior"), ("posterior", "Posterior")):
            values = fitted.tree[group].to_dataset()[name].to_numpy().ravel()
            (drawn,) = [item for item in panel.patches if item.get_label() == title]
            heights, edges, _ = drawn.get_data()
            centre = np.sum(heights * (edges[1:] + edges[:-1]) / 2) / heights.sum()
            varies = values[values != 0]
            assert centre == pytest.approx(varies.mean(), abs=0.1 * varies.std())
    assert "95 % CrI" in panels[0].get_title("left")


def test_prior_posterior_takes_names(post, average, ax):
    assert bc.plots.prior_posterior(average, ax, coordinates="observed_expected") == [ax]
    assert ax.get_xlabel() == "Observed / expected events (O/E)"
    assert len(bc.plots.prior_posterior(post, coordinates=["curve_alpha", "curve_beta"])) == 2
    with pytest.raises(InputError, match="coordinates must be one of"):
        bc.plots.prior_posterior(post, coordinates=["family"])
    with pytest.raises(InputError, match="axes holds 1, but there are 4 quantities"):
        bc.plots.prior_posterior(post, ax)
    alone = bc.fit(post.data, curve="identity", random_state=0)
    assert len(bc.plots.prior_posterior(alone)) == 1


def test_prior_and_posterior_of_several_curves_together_and_of_scores_alone_are_those_of_tce(post):
    site = np.resize(["A", "B"], int(post.data.n))
    sites = bc.fit(
        *post.data.to_arrays()[:2], site=site, curve="logistic", draws=200, random_state=0
    )
    assert len(bc.plots.prior_posterior(sites.at(site="A"))) == 3
    for view in (sites.at(), sites.own(), sites.new()):
        (panel,) = bc.plots.prior_posterior(view)
        assert panel.get_title("left").startswith("TCE")
        with pytest.raises(InputError, match="coordinates must be one of"):
            bc.plots.prior_posterior(view, coordinates="shift_1")


@pytest.fixture(scope="module")
def sites():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 150, random_state=2)
    names = np.resize(["North Hospital, ward 1", "North Hospital, ward 2", "S"], 150)
    return bc.fit(y_true, y_prob, site=names, curve="logistic", draws=400, random_state=1)


def test_a_forest_of_sites_is_sorted_and_ends_with_the_next_one(sites):
    (ax,) = bc.plots.forest(sites)
    names = [text.get_text() for text in ax.get_yticklabels()]
    estimates = {name: sites.at(site=name).estimate("observed_expected") for name in sites.labels}
    assert names == [*sorted(estimates, key=estimates.get), "Average site", "Next site"]
    drawn = {line.get_marker(): line for line in ax.get_lines() if line.get_marker() in "oD"}
    lower, upper = sites.new().interval("observed_expected")
    filled = drawn["D"].get_markerfacecolor() != "white"
    assert filled == (not lower <= 1 <= upper)
    bars = [tuple(line.get_xdata()) for line in ax.get_lines() if line.get_linewidth() == 2]
    assert bars[-1] == pytest.approx((lower, upper))
    assert ax.get_xscale() == "log"
    header, *numbers = [text.get_text() for text in ax.texts][::-1]
    assert header == "O/E (95 % CrI)"
    assert len(numbers) == len(names)
    plt.close("all")


def test_sites_whose_names_are_shown_alike_are_sorted_by_their_own_estimates():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=2)
    names = np.array([100 * "x" + end for end in "abcdef"])[np.argsort(np.argsort(s - y)) // 50]
    post = bc.fit(y, s, site=names, curve="intercept", draws=400, random_state=1)
    (ax,) = bc.plots.forest(post)
    middle = [line.get_xdata()[0] for line in ax.get_lines() if line.get_marker() == "o"]
    each = sorted(post.at(site=name).estimate("observed_expected") for name in post.labels)
    assert middle[: len(each)] == pytest.approx(each)
    plt.close("all")


def test_one_measure_sorts_the_sites_in_every_panel(sites):
    panels = bc.plots.forest(sites, names=["calibration_slope", "tce"])
    one, other = ([text.get_text() for text in ax.get_yticklabels()] for ax in panels)
    assert one == other
    assert bc.plots.forest(sites.average())
    plt.close("all")


def _is_title(text, ax):
    return getattr(text, "get_text", str)() == ax.get_title("left")


def test_titles_of_sites_do_not_run_into_each_other(sites):
    panels = bc.plots.site_curves(sites)
    figure = panels[0].figure
    figure.draw_without_rendering()
    titles = [next(text for text in ax.get_children() if _is_title(text, ax)) for ax in panels]
    ends = [title.get_window_extent() for title in titles]
    assert all(one.x1 < other.x0 for one, other in pairwise(ends))
    assert panels[0].get_title("left") == "North Hospital, ward 1\n(50 cases)"
    assert panels[2].get_title("left") == "S (50 cases)"
    plt.close(figure)


def test_an_end_is_not_rounded_onto_the_ideal_that_it_excludes(sites, monkeypatch):
    summary = type(sites.average())
    monkeypatch.setattr(summary, "interval", lambda *args, **options: (0.8, 0.998))
    monkeypatch.setattr(summary, "estimate", lambda *args, **options: 0.9)
    title = bc.plots.functional(sites.average(), "observed_expected").get_title("left")
    assert "0.900 (95 % CrI 0.800 to 0.998)" in title
    shown = sites._repr_html_()
    assert ">0.800 to 0.998<" in shown
    plt.close("all")
