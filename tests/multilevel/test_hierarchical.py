"""What a hierarchical posterior answers, for all sites and through its views."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError

LABELS = ("north", "south", "west")


@pytest.fixture(scope="module")
def post():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 900, random_state=1)
    return bc.fit(y, s, site=np.resize(LABELS, y.size), curve="logistic", random_state=1)


def test_probabilities_of_sites(post):
    assert post.prob_worst().sum() == pytest.approx(1)
    single = (post.tce() > 0.05).mean(("chain", "draw"))
    joint = post.prob_any_above(0.05)
    assert float(single.max()) <= joint <= min(1.0, float(single.sum()))
    near, far, any_at_all = (post.table(delta=each)["prob_differs"] for each in (0.01, 0.2, 0))
    assert (near >= far).all()
    assert (far < 0.05).all()
    assert (any_at_all == 1).all()


def test_names_that_are_unknown_are_refused(post):
    with pytest.raises(InputError, match="'north', 'south', 'west'"):
        post.at(site="east")
    with pytest.raises(InputError, match="name"):
        post.functional("nosuch")
    with pytest.raises(InputError, match="not that of several curves"):
        bc.MultilevelPosterior(post.average().tree)
    with pytest.raises(InputError, match=r"outside|between"):
        post.new(scores=[0.2, 1.2])


def test_labels_are_untrusted_text(post):
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    hostile = bc.fit(y, s, site=np.resize(["<script>", "b"], 60), random_state=1)
    assert "<script>" in hostile.labels
    assert "<script>" not in hostile._repr_html_()
    assert "MultilevelPosterior" in post._repr_html_()


def test_a_site_that_has_not_been_seen_has_no_outcomes(post):
    assert post.at(site="north").has_outcomes
    assert post.average().has_outcomes
    for new in (post.new(), post.new(scores=[0.2, 0.3, 0.3, 0.6])):
        assert not new.has_outcomes
        with pytest.raises(InputError, match="check_consistency needs outcomes"):
            bc.check_consistency(new)
        with pytest.raises(InputError, match="n_bins needs outcomes"):
            bc.plots.reliability(new, n_bins=4)
        with pytest.raises(InputError, match="overlay needs outcomes"):
            bc.plots.reliability(new, overlay="isotonic")


def test_a_figure_without_outcomes_shows_no_made_up_ones(post):
    new = post.new(scores=[0.2, 0.3, 0.3, 0.6])
    ax = bc.plots.reliability(new)
    assert ax.get_title(loc="left").endswith("\n4 scores, without outcomes")
    assert not ax.containers  # error bars of observed proportions
    assert [text.get_text() for text in ax.texts if text.get_text()] == ["4 scores"]
    heights = [steps.get_data().values for steps in ax.patches]
    assert min(each[np.isfinite(each)].min() for each in heights) > 0
    both = bc.plots.reliability({"north": post.at(site="north"), "new": new})
    assert {"north", "new"} <= {text.get_text() for text in both.texts}
