"""How much of an answer is the prior's."""

import pytest

import bayescal as bc
from bayescal.errors import InputError

Y, P = bc.simulate.sample("clinical-middle-overconfident", 3000, random_state=1)


def test_the_prior_matters_less_with_more_cases_and_more_where_it_is_narrow():
    wide = bc.prior_sensitivity(bc.fit(Y, P, curve="logistic", random_state=1))
    few = bc.prior_sensitivity(bc.fit(Y[:40], P[:40], curve="logistic", random_state=1))
    narrow = {"log_slope": bc.priors.Normal(0, 0.02), "shift": bc.priors.Normal(0, 0.02)}
    options = {"curve": "logistic", "prior": narrow, "random_state": 1}
    told = bc.prior_sensitivity(bc.fit(Y[:40], P[:40], **options))
    assert (wide["verdict"] == "the prior matters little").all()
    assert (few["prior"] >= wide["prior"]).all()
    assert (told["verdict"] == "the prior decides").all()
    assert (wide["posterior_width"] < few["posterior_width"]).all()


def test_it_is_the_sensitivity_of_arviz_on_the_tree():
    import arviz_stats

    post = bc.fit(Y[:200], P[:200], curve="logistic", random_state=1)
    tree = post.tree.copy()
    tree["posterior"]["slope"] = post.functional("calibration_slope", population="sample")
    theirs = float(arviz_stats.psense(tree, var_names=["slope"], group="prior")["slope"])
    ours = bc.prior_sensitivity(post, ["calibration_slope"])["prior"].item()
    assert ours == pytest.approx(theirs, rel=1e-6)


def test_what_has_no_prior_density_is_refused():
    with pytest.raises(InputError, match="post"):
        bc.prior_sensitivity(bc.compare(Y[:200], P[:200], draws=400, random_state=1).posterior)
    with pytest.raises(InputError, match="post"):
        bc.prior_sensitivity(bc.fit(Y[:200], P[:200], curve="pieces", draws=400, random_state=1))
    with pytest.raises(InputError, match="post"):
        bc.prior_sensitivity(bc.fit(Y[:200], P[:200], curve="identity", random_state=1))
    with pytest.raises(InputError, match="names"):
        bc.prior_sensitivity(bc.fit(Y[:200], P[:200], curve="beta", random_state=1), ["ece"])


def test_a_view_on_a_site_is_refused():
    post = bc.fit(Y[:300], P[:300], site=[0, 1, 2] * 100, curve="logistic", random_state=1)
    for view in (post.at(site="1"), post.average(), post.new()):
        with pytest.raises(InputError, match="Fit its cases by themselves"):
            bc.prior_sensitivity(view)
