"""A posterior with more cases is one fit on all of them."""

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.errors import InputError, OutOfTimeError, WeightWarning


def cases(n=300, seed=0):
    y, s = bc.simulate.sample("clinical-middle-overconfident", n, random_state=seed)
    s[:3], s[-3:] = (0.0, 1.0, 0.0), (1.0, 0.0, 1.0)
    return y, s


def assert_same(first, second):
    xr.testing.assert_identical(
        first.tree["posterior"].to_dataset(), second.tree["posterior"].to_dataset()
    )
    assert first.problem.to_attributes() == second.problem.to_attributes()
    assert first.data == second.data
    assert first.summary().equals(second.summary())


@pytest.mark.parametrize(
    "curve", ["average", "identity", "temperature", "beta", "spline", "pieces"]
)
@pytest.mark.parametrize("prior", ["neutral", "clinical"])
def test_an_update_is_one_fit_on_everything(tmp_path, curve, prior):
    y, s = cases()
    options = {"curve": curve, "prior": prior, "draws": 200, "random_state": 7}
    full = bc.fit(y, s, **options)
    part = bc.fit(y[:100], s[:100], **options)
    assert_same(bc.update(part, y[100:], s[100:]), full)
    part.to_netcdf(tmp_path / "part.nc")
    loaded = bc.load(tmp_path / "part.nc")
    assert_same(bc.update(loaded, bc.CalibrationData(y[100:], s[100:])), full)
    assert_same(bc.update(bc.update(loaded, y[100:150], s[100:150]), y[150:], s[150:]), full)


def test_the_edge_that_was_given_stays_and_the_own_one_is_made_again():
    y, s = cases()
    options = {"draws": 200, "random_state": 7}
    for edge in (None, 0.01):
        part = bc.fit(y[:100], s[:100], edge=edge, **options)
        assert_same(bc.update(part, y[100:], s[100:]), bc.fit(y, s, edge=edge, **options))


def test_a_prior_of_ones_own_and_a_drawn_seed_stay():
    y, s = cases()
    part = bc.fit(
        y[:100], s[:100], curve="beta", prior={"log_slope": bc.priors.Normal(0.1, 0.2)}, draws=200
    )
    updated = bc.update(part, y[100:], s[100:])
    again = bc.fit(
        y, s, curve="beta", prior=part.problem.prior, draws=200, random_state=part.problem.seed
    )
    assert_same(updated, again)


def test_many_cases_on_the_grid_are_updated_alike():
    rng = np.random.default_rng(0)
    s = rng.random(6000)
    y = rng.random(6000) < s
    options = {"draws": 200, "random_state": 7}
    for cut in (1000, 5000):
        part = bc.fit(y[:cut], s[:cut], **options)
        assert_same(bc.update(part, y[cut:], s[cut:]), bc.fit(y, s, **options))


def test_sampling_weights_stay_sampling_weights_and_counts_do_not_mix_with_them(tmp_path):
    y, s = cases()
    w = np.random.default_rng(1).choice([4.0, 20.0], 300)
    options = {"weight_type": "sampling", "draws": 200, "random_state": 7}
    part = bc.fit(y[:100], s[:100], sample_weight=w[:100], **options)
    full = bc.fit(y, s, sample_weight=w, **options)
    assert_same(bc.update(part, y[100:], s[100:], sample_weight=w[100:]), full)
    part.to_netcdf(tmp_path / "part.nc")
    assert_same(
        bc.update(bc.load(tmp_path / "part.nc"), y[100:], s[100:], sample_weight=w[100:]), full
    )
    with pytest.raises(InputError, match="no common scale"):
        bc.update(part, y[100:], s[100:], sample_weight=w[100:], weight_type="counts")
    counts = bc.fit(
        y[:100], s[:100], curve="beta", sample_weight=w[:100], weight_type="counts", draws=200
    )
    with pytest.raises(InputError, match="no common scale"):
        bc.update(counts, y[100:], s[100:], sample_weight=w[100:], weight_type="sampling")
    with pytest.warns(WeightWarning):
        bc.update(counts, y[100:], s[100:], sample_weight=w[100:])


def test_an_average_keeps_its_families_and_their_prior_weights(tmp_path):
    y, s = cases()
    weights = {"logistic": 2.0, "spline": 0.7, "pieces": 0.9}
    options = {"prior_calibrated": 0.3, "prior": "clinical", "draws": 200, "random_state": 7}
    full = bc.compare(y, s, curves=weights, **options).posterior
    bc.fit(y[:100], s[:100], curve=weights, **options).to_netcdf(tmp_path / "part.nc")
    part = bc.load(tmp_path / "part.nc")
    updated = bc.update(part, y[100:], s[100:])
    assert_same(updated, full)
    assert updated.prior_weights == pytest.approx(part.prior_weights)
    assert set(part.prior_weights) == {"identity", "logistic", "spline", "pieces"}


def test_groups_are_refused():
    y, s = cases()
    part = bc.fit(y[:100], s[:100], curve="beta", draws=200)
    with pytest.raises(InputError, match="one table has groups by site and the other has none"):
        bc.update(part, bc.CalibrationData(y, s, site=np.arange(300) % 2))


@pytest.mark.slow
def test_nuts_stays_nuts(monkeypatch):
    import bayescal.inference.curve as nuts

    sample, asked = nuts.sample_nuts, []

    def once(model, **options):
        asked.append(options)
        if len(asked) > 1:
            raise OutOfTimeError("to compile the model of all cases takes seconds")
        return sample(model, **options)

    monkeypatch.setattr(nuts, "sample_nuts", once)
    y, s = cases()
    options = {"curve": "intercept", "engine": "nuts", "draws": 400, "random_state": 7}
    part = bc.fit(y[:100], s[:100], **options)
    with pytest.raises(OutOfTimeError):
        bc.update(part, y[100:], s[100:])
    assert asked[0] == asked[1]
