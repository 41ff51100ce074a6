"""The posterior of several imputations answers as one fit does, and says what missing data cost."""

import arviz_stats
import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError

M, N = 3, 240
THRESHOLDS = [0.2, 0.5]


@pytest.fixture(scope="module")
def cases():
    y, s = bc.simulate.sample("clinical-middle-overconfident", N, random_state=3)
    noise = np.random.default_rng(3).normal(0, 0.4, (M, N)) * (np.arange(N) % 4 == 0)
    return y, expit(logit(s) + noise)


@pytest.fixture(scope="module", params=["fit", "compare"])
def analyse(request):
    def fitted(y, *scores, **options):
        if request.param == "fit":
            return bc.fit(y, *scores, random_state=2, draws=800, **{"curve": "beta"} | options)
        return bc.compare(y, *scores, random_state=2, draws=800, **options).posterior

    return fitted


@pytest.fixture(scope="module")
def post(cases, analyse):
    y, scores = cases
    return analyse(y, imputation=scores)


def test_equal_imputations_are_one_fit(cases, analyse):
    y, scores = cases
    one, three = analyse(y, scores[0]), analyse(y, imputation=[scores[0]] * 3)
    shown = one.summary()
    np.testing.assert_allclose(three.summary(), shown, atol=0.01)
    assert three.summary()["estimate"].to_numpy() == pytest.approx(shown["estimate"], abs=1e-9)
    assert three.prob_below(0.05) == pytest.approx(one.prob_below(0.05))
    assert 1 - three.prob_below(0.05) == pytest.approx(1 - one.prob_below(0.05))
    assert three.missing_information["missing_information"].max() < 1e-9
    at = np.array([0.1, 0.6])
    assert three.curve(at).mean(["chain", "draw"]).to_numpy() == pytest.approx(
        one.curve(at).mean(["chain", "draw"]).to_numpy()
    )
    benefits = (each.net_benefit(THRESHOLDS)["prob_best"] for each in (three, one))
    np.testing.assert_allclose(*benefits)
    assert (three.data.n, three.data.events) == pytest.approx((one.data.n, one.data.events))


def test_the_order_of_imputations_is_irrelevant(cases, analyse, post):
    y, scores = cases
    turned = analyse(y, imputation=scores[::-1])
    np.testing.assert_allclose(turned.summary(), post.summary(), atol=1e-9)
    np.testing.assert_allclose(turned.missing_information, post.missing_information, atol=1e-9)


def test_the_same_as_combining_by_hand(cases, analyse, post):
    y, scores = cases
    posts = [analyse(y, score) for score in scores]
    assert bc.combine_imputations(posts).summary().equals(post.summary())


def test_every_draw_is_of_one_imputation(post):
    """The draws of one imputation have the spread that they have by themselves."""
    mixed = post.functional("calibration_slope").to_numpy().ravel()
    for number, one in enumerate(post.imputations):
        own = one.functional("calibration_slope").to_numpy().ravel()
        assert mixed[number::M].std() == pytest.approx(own.std())
        assert mixed[number::M] - mixed[number::M].mean() == pytest.approx(own - own.mean())


def test_everything_that_a_posterior_answers(post):
    at = np.array([0.05, 0.3, 0.9])
    assert post.curve(at).dims == ("chain", "draw", "score")
    assert post.predict(at).sizes == {"chain": 4, "draw": post.draws // 4, "obs": 3}
    assert ((post.predict(at) > 0) & (post.predict(at) < 1)).all()
    assert post.tce(population="sample").size == post.draws
    assert post.tce(population="beta").size == post.draws
    assert post.functional("tce", group="prior").size == post.draws
    assert post.diagnostics["verdict"] == "ok"
    assert set(np.unique(post.off_diagonal())) <= {-1, 0, 1}
    assert post.net_benefit(THRESHOLDS)["prob_best"].dims == ("threshold",)
    assert f"{M} imputations of {N} cases" in repr(post)
    assert "missing information" in post._repr_html_()
    assert post.summary().attrs["imputations"] == M


def test_the_tree_is_arviz_s(post):
    tree = post.tree
    assert {f"imputation_{k}" for k in range(1, M + 1)} < set(tree.children)
    draws = tree["posterior"].to_dataset()
    assert draws.sizes["draw"] == post.draws // 4
    assert set(np.unique(draws["imputation"])) == {1, 2, 3}
    assert {*tree["prior"].data_vars} == {*draws.data_vars} - {"exact"}
    assert np.isfinite(arviz_stats.ess(draws)["log_slope"])


@pytest.mark.slow
def test_it_is_stored_as_one_tree(post, tmp_path):
    post.to_netcdf(tmp_path / "imputed.nc")
    again = bc.load(tmp_path / "imputed.nc")
    assert isinstance(again, bc.CalibrationPosterior)
    assert again.summary().equals(post.summary())
    assert again.missing_information.equals(post.missing_information)
    assert again.prob_calibrated == post.prob_calibrated


def test_it_cannot_be_updated_or_checked_as_one_table(post, cases):
    y, scores = cases
    with pytest.raises(InputError, match=r"post is of 3 imputations and the new cases have none"):
        bc.update(post, y, scores[0])
    with pytest.raises(InputError, match=r"post is of several imputations.*each"):
        bc.check_consistency(post)


def test_posteriors_that_are_not_of_the_same_cases_are_refused(cases):
    y, scores = cases
    options = {"draws": 400, "random_state": 1}
    first = bc.fit(y, scores[0], curve="beta", **options)
    others = {
        "cases": bc.fit(y[:-1], scores[0][:-1], curve="beta", **options),
        "family": bc.fit(y, scores[0], curve="logistic", **options),
        "prior": bc.fit(y, scores[0], curve="beta", prior="clinical", **options),
        "draws": bc.fit(y, scores[0], curve="beta", draws=800, random_state=1),
    }
    for word, other in others.items():
        with pytest.raises(InputError, match=rf"posts\[0\].*{word}.*posts\[1\]"):
            bc.combine_imputations([first, other])
    with pytest.raises(InputError, match="posts must hold at least two"):
        bc.combine_imputations([first])
    with pytest.raises(InputError, match=r"posts\[1\].*combined again"):
        bc.combine_imputations([first, bc.combine_imputations([first, first])])


def test_one_imputation_is_chosen_by_its_number(post, cases):
    assert post.sel(imputation=2) is post.imputations[1]
    for wrong in (0, M + 1, True):
        with pytest.raises(InputError, match=r"numbered from 1 to 3"):
            post.sel(imputation=wrong)
    with pytest.raises(InputError, match="none was imputed"):
        post.imputations[0].sel(imputation=1)


def test_a_tree_that_lacks_an_imputation_is_refused(cases):
    y, scores = cases
    tree = bc.fit(y, curve="beta", imputation=scores, draws=400, random_state=1).tree.copy()
    del tree["imputation_2"]
    with pytest.raises(InputError, match="imputation_2"):
        bc.CalibrationPosterior(tree)


@pytest.mark.parametrize("curve", ["logistic", "beta"])
@pytest.mark.parametrize("prior", ["neutral", "clinical"])
def test_coordinates_are_those_of_the_curves(curve, prior):
    """Also where the shifts of the imputations act at different centres."""
    y, s = bc.simulate.sample("clinical-middle-overconfident", N, random_state=3)
    scores = expit(logit(s) + np.array([[-0.4], [0.0], [0.5]]))
    options = {"curve": curve, "prior": prior, "random_state": 2, "draws": 400}
    post = bc.fit(y, imputation=scores, **options)
    centre = post.problem.frame.centre
    each = np.stack([one.curve([centre]).to_numpy().ravel() for one in post.imputations])
    shifts = logit(each) - logit(centre)
    apart = shifts.mean(axis=1) - shifts.mean()
    widened = shifts + (np.sqrt(4 / 2) - 1) * apart[:, None]
    np.testing.assert_allclose(post.coordinates["shift"], widened.T.ravel(), rtol=1e-9)
    assert list(post.coordinates) == list(post.imputations[0].coordinates)


@pytest.mark.slow
def test_a_prior_and_its_sensitivity_are_read_off_as_of_one_fit(cases):
    y, scores = cases
    options = {"curve": "logistic", "prior": "clinical", "random_state": 2, "draws": 2000}
    one, same = bc.fit(y, scores[0], **options), bc.fit(y, imputation=[scores[0]] * M, **options)
    first, second = (bc.priors.from_posterior(post) for post in (one, same))
    for name in ("shift", "log_slope"):
        assert getattr(second, name).mu == pytest.approx(getattr(first, name).mu, abs=1e-6)
        assert getattr(second, name).sigma == pytest.approx(getattr(first, name).sigma, rel=1e-5)
    several = bc.fit(y, imputation=scores, **options)
    within = [bc.priors.from_posterior(one).log_slope.sigma for one in several.imputations]
    assert bc.priors.from_posterior(several).log_slope.sigma > np.mean(within)
    columns = ["prior", "likelihood"]
    alone, of_same = (bc.prior_sensitivity(post)[columns] for post in (one, same))
    np.testing.assert_allclose(of_same, alone, atol=2e-3)
    assert (bc.prior_sensitivity(several)[columns] > 0).all(axis=None)
    average = bc.compare(y, imputation=scores, draws=400, random_state=2).posterior
    for read in (bc.priors.from_posterior, bc.prior_sensitivity):
        with pytest.raises(InputError, match="post is of the family"):
            read(average)


FEW_EVENTS = np.array([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
FEW_SCORES = np.linspace(0.02, 0.3, 12)


def of_scores_times(factor, **options):
    return bc.fit(
        FEW_EVENTS,
        imputation=[FEW_SCORES, factor * FEW_SCORES],
        curve="logistic",
        draws=200,
        random_state=1,
        **options,
    )


@pytest.mark.parametrize("factor", [0.95, 0.3])
def test_measures_of_performance_stay_in_their_range(factor):
    told = of_scores_times(factor).performance([0.1, 0.3])
    for name, values in told.items():
        known = values.values[~np.isnan(values.values)]
        assert known.size
        if name not in ("log_score", "net_benefit"):
            assert (known >= 0).all(), name
            assert (known <= 1).all(), name


def test_draws_that_do_not_define_a_measure_leave_the_others_as_they_are():
    table = of_scores_times(0.95).performance_summary([0.3], realised=True)
    assert np.isfinite(table[["mean", "lower", "upper"]]).all().all()
    assert "ppv@0.3" in table.index
