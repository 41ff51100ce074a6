"""Every view of every posterior of several curves answers every question, and is read back."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from free import given_free

N = 360
SITE = np.resize(["A", "B", "C"], N)
SEX = np.resize(["F", "M"], N)
MONTH = np.repeat(["2024-01", "2024-02", "2024-03"], N // 3)
KNOWN = {"site": ["K"], "observed_expected": [1.2], "lower": [0.9], "upper": [1.6]}


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(3)
    x = rng.normal(-0.5, 1, N)
    return (rng.random(N) < expit(x + 0.3 * (SITE == "A"))).astype(int), expit(x)


@pytest.fixture(scope="module")
def posteriors(cases):
    options = {"curve": "logistic", "draws": 400, "random_state": 1}
    return {
        "sites": bc.fit(*cases, site=SITE, **options),
        "known": bc.fit(*cases, site=SITE, known=KNOWN, **options),
        "factors": bc.fit(*cases, subgroup={"ward": SITE, "sex": SEX}, **options),
        "periods": bc.fit(*cases, period=MONTH, **options),
    }


VIEWS = {
    "a site": ("sites", lambda post: post.at(site="B")),
    "all sites": ("sites", lambda post: post.at()),
    "the average site": ("sites", lambda post: post.average()),
    "a new site": ("sites", lambda post: post.new("site")),
    "a new site with scores": ("sites", lambda post: post.new(scores=[0.2, 0.3, 0.6])),
    "a known site": ("known", lambda post: post.at(site="K")),
    "a cell": ("factors", lambda post: post.at(ward="A", sex="F")),
    "a level": ("factors", lambda post: post.at({"sex": "M"})),
    "the average cell": ("factors", lambda post: post.average()),
    "a new ward": ("factors", lambda post: post.new("ward")),
    "a period": ("periods", lambda post: post.at(period="2024-02")),
    "all periods": ("periods", lambda post: post.at()),
    "now": ("periods", lambda post: post.now()),
    "the next period": ("periods", lambda post: post.new()),
    "one curve for all periods": ("periods", lambda post: post.average()),
}
QUESTIONS = {
    "curve": lambda view: view.curve([0.2, 0.5]).to_numpy(),
    "predict": lambda view: view.predict([0.3]).to_numpy(),
    "tce": lambda view: view.tce().to_numpy(),
    "ratio in the sample": lambda view: view.functional("observed_expected", "sample").to_numpy(),
    "prior": lambda view: view.functional("tce", group="prior").to_numpy(),
    "estimate": lambda view: view.estimate("tce"),
    "interval": lambda view: view.interval("observed_expected"),
    "below and above": lambda view: (view.prob_below(0.05), 1 - view.prob_below(0.05)),
    "summary": lambda view: view.summary().to_numpy(),
    "net benefit": lambda view: view.net_benefit([0.3])["model"].to_numpy(),
    "value of information": lambda view: view.value_of_information([0.3])["evpi"].to_numpy(),
    "off the diagonal": lambda view: view.off_diagonal(0.8).to_numpy(),
    "diagnostics": lambda view: [str(each) for each in view.diagnostics.values()],
    "coordinates": lambda view: np.column_stack(list(view.coordinates.values())),
    "printed": lambda view: [repr(view), view._repr_html_()],
    "data": lambda view: [view.data.score, view.data.trials],
}


@pytest.fixture(scope="module")
def read_back(posteriors, tmp_path_factory):
    """Each view, and what is read of the file that it wrote."""
    folder, made = tmp_path_factory.mktemp("views"), {}
    for number, (title, (kind, view_of)) in enumerate(VIEWS.items()):
        view, path = view_of(posteriors[kind]), folder / f"{number}.nc"
        view.to_netcdf(path)
        made[title] = view, bc.load(path)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("title", VIEWS)
def test_every_view_answers_every_question_before_and_after_it_is_saved(read_back, title, question):
    answers = [QUESTIONS[question](view) for view in read_back[title]]
    for one, again in zip(*map(np.atleast_1d, answers), strict=True):
        np.testing.assert_array_equal(one, again)
    assert np.size(answers[0]) > 0


@pytest.mark.parametrize("title", VIEWS)
def test_every_view_is_drawn_and_its_tree_is_that_of_one_curve(read_back, title):
    view, again = read_back[title]
    assert type(view) is type(again)
    assert (view._title, view._one_of.is_new) == (again._title, again._one_of.is_new)
    bc.plots.reliability(view).figure.canvas.draw()
    posterior = view.tree["posterior"].to_dataset()
    assert posterior.sizes["chain"] * posterior.sizes["draw"] == view.draws
    drawn = posterior["shift"].to_numpy().reshape(view.draws, -1)
    np.testing.assert_array_equal(drawn[:, 0], next(iter(view.coordinates.values())))
    assert ("observed_data" in view.tree.children) == view.has_outcomes


def test_only_the_last_curves_are_kept_and_all_answer(cases, monkeypatch):
    """Also where one curve alone has more draws than are kept."""
    monkeypatch.setattr("bayescal.multilevel.posterior.MOST_KEPT", 100)
    post = bc.fit(*cases, site=SITE, curve="logistic", draws=400, random_state=1)
    first = post.at(site="A")
    assert post.at(site="A") is first
    assert post.at(site="B").draws == 400
    again = post.at(site="A")
    assert again is not first
    np.testing.assert_array_equal(again.values_of("tce"), first.values_of("tce"))


@pytest.mark.parametrize("title", VIEWS)
def test_the_data_of_a_view_can_be_given_back_or_are_refused(read_back, title):
    view, _ = read_back[title]
    if view.has_outcomes:
        again = bc.fit(view.data, curve="logistic", draws=400, random_state=1)
        assert again.data == view.data
    else:
        with pytest.raises(InputError, match="outcomes"):
            bc.fit(view.data, curve="logistic", draws=400)


@pytest.mark.parametrize("kind", ["sites", "known", "factors", "periods"])
def test_questions_of_all_curves_are_those_of_each(posteriors, kind):
    post = posteriors[kind]
    axis = next(iter(post.levels))
    labels = list(post.levels[axis])
    ratio = post.functional("observed_expected", by=axis)
    dim = "subgroup" if kind == "factors" else axis
    assert ratio.dims == ("chain", "draw", dim)
    each = [post.at({axis: label}) for label in labels]
    for k, view in enumerate(each):
        np.testing.assert_array_equal(ratio[..., k], view.functional("observed_expected"))
    values = ratio.to_numpy().reshape(-1, len(labels))
    assert post.prob_any_above(0.1, "observed_expected", by=axis) == np.mean(
        (np.abs(values - 1) > 0.1).any(axis=1)
    )
    differs = np.mean(np.ptp(values, axis=1) > 0.1)
    assert post.prob_differs(axis, delta=0.1) == differs
    two = np.mean(np.abs(values[:, 0] - values[:, 1]) > 0.05)
    assert post.prob_differs(axis, labels[0], labels[1]) == two
    assert post.differences(axis).loc[(labels[0], labels[1]), "prob_differs"] == two
    assert post.prob_worst(axis).sum() == pytest.approx(1)
    table = post.summary(by=axis, names=["tce"])
    named = ["factor", "level"] if kind == "factors" else [axis]
    assert table.index.names == [*named, "functional"]
    assert table["estimate"].tolist() == [view.estimate("tce") for view in each]
    assert post.curve([0.2], by=axis).sizes == {
        "chain": 4,
        "draw": 100,
        dim: len(labels),
        "score": 1,
    }
    assert post.predict([0.2, 0.3], by=axis).sizes["obs"] == 2
    assert post.net_benefit([0.3], by=axis)["model"].sizes[dim] == len(labels)
    assert (post.heterogeneity[["lower", "mean", "upper"]].diff(axis=1).iloc[:, 1:] >= 0).all(
        axis=None
    )
    again = type(post)(post.tree)
    pd.testing.assert_frame_equal(again.heterogeneity, post.heterogeneity)


def test_what_is_compared_can_be_chosen(posteriors):
    post = posteriors["factors"]
    assert [part.level for part in post.parts("sex")] == ["F", "M"]
    assert len(post.parts(["ward", "sex"])) == len(post.parts(["sex", "ward"])) == 6
    assert len(post.parts()) == 5
    assert post.parts(["sex", "ward"])[0].levels == {"sex": "F", "ward": "A"}
    assert post.functional("tce").sizes["subgroup"] == 5
    assert post.prob_worst(["sex", "ward"]).index.name == "sex x ward"
    for by, message in (
        ("age", "by must be one of"),
        ([], "by is empty"),
        (None, "Say which of them"),
    ):
        with pytest.raises(InputError, match=message):
            post.prob_differs(by) if by is None else post.parts(by)


def test_a_new_level_of_a_factor_is_less_certain_than_the_average(posteriors):
    post = given_free(posteriors["factors"])
    new, average = (view.curve([0.3]).to_numpy() for view in (post.new("ward"), post.average()))
    assert new.std() > 1.3 * average.std()
    scales = post._drawn.scales[[0, 2]]  # of the site, and of its interaction
    moved = np.column_stack(list(post.new("ward").coordinates.values())) - post._drawn.average
    standard = moved / np.sqrt((scales**2).sum(axis=0))
    np.testing.assert_allclose(standard.std(axis=0), 1, atol=0.12)
    np.testing.assert_allclose(standard.mean(axis=0), 0, atol=0.15)


def test_the_spread_of_periods_is_none_where_nothing_changed(posteriors):
    post = given_free(posteriors["periods"])
    scales = post._drawn.groups[:, :, 0].std(axis=0)
    np.testing.assert_allclose(scales[post._drawn.explanation == 0], 0, atol=1e-12)
    assert post.heterogeneity.loc["shift", "mean"] == pytest.approx(scales.mean())


COMBINED = {
    "a site": ({"site": SITE}, lambda post: post.at(site="B")),
    "all sites": ({"site": SITE}, lambda post: post.at()),
    "a level": ({"subgroup": {"ward": SITE, "sex": SEX}}, lambda post: post.at(sex="F")),
    "now": ({"period": MONTH}, lambda post: post.now()),
}


@pytest.mark.slow
@pytest.mark.parametrize("title", COMBINED)
def test_views_of_several_imputations_are_combined(cases, title, tmp_path):
    y, s = cases
    how, view_of = COMBINED[title]
    options = {"curve": "logistic", "draws": 400, "random_state": 1} | how
    noise = np.random.default_rng(5).normal(0, 0.3, (2, N))
    views = [view_of(bc.fit(y, expit(logit(s) + each), **options)) for each in noise]
    post = bc.combine_imputations(views)
    assert post.draws == 800
    each = [view.functional("observed_expected", "sample").mean() for view in views]
    drawn = post.functional("observed_expected", "sample")
    assert float(drawn.mean()) == pytest.approx(float(np.mean(each)), abs=1e-9)
    post.to_netcdf(tmp_path / "combined.nc")
    again = bc.load(tmp_path / "combined.nc")
    assert type(again) is type(post)
    np.testing.assert_array_equal(again.tce(), post.tce())
    assert again.imputations[0]._title == views[0]._title
    assert again.summary().equals(post.summary())


def test_views_of_different_curves_are_not_combined(posteriors):
    post = posteriors["sites"]
    with pytest.raises(InputError, match=r"posts\[0\] has the curve 'A' and posts\[1\] has .* 'B'"):
        bc.combine_imputations([post.at(site="A"), post.at(site="B")])


def test_views_of_what_was_not_seen_are_not_combined(posteriors):
    post = posteriors["sites"]
    views = {"a new site": post.new("site"), "the average of 3 sites": post.average()}
    for title, view in views.items():
        with pytest.raises(InputError, match=rf"posts\[0\] is {title}, .* Combine sites"):
            bc.combine_imputations([view, view])


def test_now_is_the_last_period(posteriors):
    post = posteriors["periods"]
    assert post.now() is post.at(period=post.labels[-1])
    with pytest.raises(InputError, match=r"now.. is the last period, .* and period='2024-01' was"):
        post.now(period="2024-01")
    with pytest.raises(InputError, match=r"now.. is the last .* of site alone"):
        posteriors["sites"].now()
