"""The figure of the value of information draws what the dataset holds."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayescal as bc

AT = np.array([0.4, 0.1, 0.2, 0.2])


@pytest.fixture(scope="module")
def post():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 120, random_state=1)
    return bc.fit(y_true, y_prob, curve="beta", draws=400, random_state=1)


@pytest.mark.parametrize("method", ["curve", "cells"])
@pytest.mark.parametrize("n_more", [None, 50, [500, 50]])
def test_lines_are_the_values(post, method, n_more):
    worth = post.value_of_information(AT, n_more, method)
    ax = Figure(layout="constrained").subplots()
    assert bc.plots.value_of_information(worth, ax) is ax
    ax.figure.canvas.draw()
    lines = {line.get_label(): line for line in ax.get_lines()}
    ascending = worth.drop_duplicates("threshold").sortby("threshold")
    expected = {"EVPI": ascending["evpi"]}
    if method == "curve":
        expected["EVPI of recalibrating"] = ascending["evpi_of_recalibrating"]
    sizes = [] if n_more is None else np.atleast_1d(n_more).tolist()
    for size in sizes:
        own = ascending.sel(n_more=size) if np.ndim(n_more) else ascending
        expected[f"EVSI, n = {size}"] = own["evsi"]
        if method == "curve":
            expected[f"EVSI of recalibrating, n = {size}"] = own["evsi_of_recalibrating"]
    assert set(lines) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(lines[name].get_ydata(), 1000 * values)
        np.testing.assert_array_equal(lines[name].get_xdata(), [0.1, 0.2, 0.4])


def test_the_strip_is_the_probability_of_each_strategy(post):
    for at in (AT, [0.2]):
        ax = bc.plots.value_of_information(post.value_of_information(at))
        (strip,) = ax.child_axes
        handles, labels = strip.get_legend_handles_labels()
        assert labels == ["Treat no one", "Treat everyone", "Model", "Updated model"]
        assert len(handles) == 4
        assert ax.get_legend() is not None
    assert (
        bc.plots.value_of_information(post.value_of_information(AT), legend=False).legend_ is None
    )


def test_other_datasets_are_refused(post):
    with pytest.raises(ValueError, match="dataset has no evpi"):
        bc.plots.value_of_information(post.net_benefit([0.2]))
    worth = post.value_of_information([0.2])
    with pytest.raises(ValueError, match="dataset is of several sites"):
        bc.plots.value_of_information(worth.expand_dims(site=["north", "south"]))
    with pytest.raises(ValueError, match="dataset has no thresholds"):
        bc.plots.value_of_information(worth.isel(threshold=[]))
    with pytest.raises(ValueError, match="dataset"):
        bc.plots.value_of_information(worth["evpi"])
