"""Terms as a user names them, and fits of them."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.problem import MultilevelProblem, prepare_terms
from bayescal.multilevel.term import as_vary

N = 240
OPTIONS = {"curve": "logistic", "draws": 400, "random_state": 1, "prior": "neutral"}
FACTORS = {
    "site": np.resize(["A", "B", "C"], N),
    "sex": np.resize(["F", "M"], N),
    "age": np.repeat(["<60", "60+"], N // 2),
}
MONTH = np.repeat(["2024-01", "2024-02", "2024-04"], N // 3)


def cases():
    rng = np.random.default_rng(2)
    x = rng.normal(-0.5, 1, N)
    return (rng.random(N) < expit(x + 0.4 * (FACTORS["sex"] == "F"))).astype(int), expit(x)


def crossed(*names):
    """The table of some factors, or of the site and factors."""
    site = {"site": FACTORS["site"]} if "site" in names else {}
    factors = {name: FACTORS[name] for name in names if name != "site"}
    return bc.CalibrationData(*cases(), subgroup=factors, **site)


def test_terms_are_named():
    assert repr(bc.by("sex", "age")) == "by('sex', 'age')"
    assert repr(bc.walk()) == "walk('period')"
    assert bc.by("sex", "age").name == "sex x age"
    assert as_vary("site") == as_vary([bc.by("site")]) == (bc.by("site"),)
    assert as_vary(["site", bc.walk("month")]) == (bc.by("site"), bc.walk("month"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bc.by("sex", 3), "name must be the name of a factor"),
        (lambda: bc.by("sex", "sex"), "name has 'sex' twice"),
        (lambda: bc.walk(""), "name must be the name"),
        (lambda: as_vary([]), "vary must name what curves vary by"),
        (lambda: as_vary(3), "vary must name what curves vary by"),
        (lambda: as_vary(["site", 3]), r"vary\[1\] must be the name"),
    ],
)
def test_names_that_are_none(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_one_factor_is_fitted_as_sites_are_and_keeps_its_name():
    data = bc.CalibrationData(*cases(), subgroup={"sex": FACTORS["sex"]})
    post, sites = (
        bc.fit(data, vary=bc.by("sex"), **OPTIONS),
        bc.fit(*cases(), site=FACTORS["sex"], **OPTIONS),
    )
    assert post.levels == {"sex": ("F", "M")}
    assert post.at(sex="F")._title == "sex F"
    np.testing.assert_array_equal(post.at(sex="F").tce(), sites.at(site="F").tce())
    assert post.functional("tce").dims == ("chain", "draw", "subgroup")
    assert post.new("sex")._title == "A new level of sex"


def test_factors_are_a_term_each_and_their_interaction():
    data = crossed("sex", "age")
    terms = ["sex", bc.by("age"), bc.by("sex", "age")]
    post = bc.fit(data, vary=terms, **OPTIONS)
    sugar = bc.fit(*cases(), subgroup={name: FACTORS[name] for name in ("sex", "age")}, **OPTIONS)
    assert post.problem.kind == "subgroups"
    assert post.heterogeneity.equals(sugar.heterogeneity)
    np.testing.assert_array_equal(post.functional("tce"), sugar.functional("tce"))


def test_without_an_interaction_differences_are_the_same_in_every_cell():
    data = crossed("sex", "age")
    post = bc.fit(data, vary=["sex", "age"], **OPTIONS)
    assert post.heterogeneity.index.get_level_values("term").unique().tolist() == ["sex", "age"]
    of = {(sex, age): post.at(sex=sex, age=age) for sex in "FM" for age in ("<60", "60+")}
    shift = {cell: view.coordinates["shift"] for cell, view in of.items()}
    young, old = (shift["F", age] - shift["M", age] for age in ("<60", "60+"))
    np.testing.assert_allclose(young, old, atol=1e-12)
    assert np.abs(young).max() > 0.1


def test_an_interaction_of_some_factors_has_their_combinations():
    data = crossed("site", "sex", "age")
    problem = prepare_terms(data, ["site", bc.by("sex", "age")], prior="neutral", curve="logistic")
    of_site, of_both = problem.terms
    assert of_site.levels == ("A", "B", "C")
    assert len(of_both.levels) == 4
    assert of_both.prior == of_site.prior.scaled(0.5)
    assert [of_site.levels[k] for k in of_site.of_group] == [cell[0] for cell in problem.cells]
    pairs = [of_both.levels[k] for k in of_both.of_group]
    assert pairs == [f'["{sex}", "{age}"]' for _, sex, age in problem.cells]
    again = MultilevelProblem.from_attributes(problem.to_attributes(), data)
    assert (again.terms, again.axes) == (problem.terms, problem.axes)
    post = bc.fit(data, vary=["site", bc.by("sex", "age")], **OPTIONS)
    assert post.new("site").curve([0.3]).std() > post.average().curve([0.3]).std()


@pytest.mark.parametrize(
    ("vary", "options", "message"),
    [
        (["sex", bc.walk()], {}, "vary must be one of 'age', 'sex'"),
        (bc.walk("age"), {}, "age holds"),
        (["sex", bc.by("sex")], {}, r"by\('sex'\) twice"),
        (["sex", "ward"], {}, "vary must be one of 'age', 'sex'"),
        (["sex", "age"], {"known": {"site": ["K"]}}, "known was given with several subgroups"),
    ],
)
def test_what_no_engine_can_do_is_refused_by_the_term(vary, options, message):
    data = crossed("sex", "age")
    with pytest.raises(InputError, match=message):
        bc.fit(data, vary=vary, **OPTIONS, **options)


def test_the_door_takes_terms_and_forgets_other_roles():
    y, s = cases()
    data = bc.CalibrationData(y, s, site=FACTORS["site"], period=MONTH)
    site, period = bc.fit(data, vary="site", **OPTIONS), bc.fit(data, vary=bc.walk(), **OPTIONS)
    np.testing.assert_array_equal(site.tce(), bc.fit(y, s, site=FACTORS["site"], **OPTIONS).tce())
    np.testing.assert_array_equal(period.tce(), bc.fit(y, s, period=MONTH, **OPTIONS).tce())
    both = bc.fit(data.without("period"), vary=site.vary, **OPTIONS)
    np.testing.assert_array_equal(both.tce(), site.tce())
    with pytest.raises(InputError, match="vary='site'"):
        bc.fit(data, **OPTIONS)
    with pytest.raises(InputError, match="vary must be one of 'period', 'site'"):
        bc.fit(data, vary="ward", **OPTIONS)
    with pytest.raises(InputError, match="no site, period or subgroup"):
        bc.fit(y, s, vary="site", **OPTIONS)


def test_a_posterior_of_one_term_of_several_roles_gives_its_data_back():
    data = crossed("site", "sex")
    post = bc.fit(data, vary=["site", "sex"], **OPTIONS)
    assert post.at(site="A", sex="F")._title == "A, sex F"
    again = bc.fit(post.data, vary=post.vary, **OPTIONS)
    np.testing.assert_array_equal(again.functional("tce"), post.functional("tce"))
    assert post.new("site").curve([0.3]).std() > post.average().curve([0.3]).std()


def test_a_walk_by_another_name_has_a_last_level_and_a_next_one():
    y, s = cases()
    by_factor = bc.fit(
        y, s, subgroup={"month": MONTH, "sex": FACTORS["sex"]}, vary=bc.walk("month"), **OPTIONS
    )
    by_period = bc.fit(y, s, period=MONTH, **OPTIONS)
    assert by_factor.now()._title == f"month {by_factor.labels[-1]}"
    assert repr(by_factor) == repr(by_period)
    below = [post.now().prob_below(0.05) for post in (by_factor, by_period)]
    assert below[0] == pytest.approx(below[1], abs=0.05)
    assert len(by_factor.gain_of_updating()) == 4
    assert "month" in by_factor.new()._title
    with pytest.raises(InputError, match=r"Use at\(month=...\) for another"):
        by_factor.now(month=by_factor.labels[0])


def test_an_interaction_alone_has_a_curve_for_each_cell():
    post = bc.fit(crossed("sex", "age"), vary=bc.by("sex", "age"), **OPTIONS)
    assert post.problem.kind == "subgroups"
    assert not post.problem.terms[0].correlated
    assert len(post.prob_unlike()) == len(post.problem.cells)
    assert "cells" in repr(post)
    assert post._repr_html_()
    assert {"sex", "age"} <= set(post.table().index.get_level_values("factor"))
