"""The figure of a plan."""

import pytest

import bayescal as bc
from bayescal.errors import InputError

SCORES = bc.simulate.scores(prevalence=0.2, c_statistic=0.75)
OPTIONS = {"truth": "clinical", "scores": SCORES, "n_simulations": 50, "random_state": 1}


def test_it_shows_widths_beside_the_closed_form_and_assurance():
    result = bc.plan(of="calibration_slope", width=0.4, analysis="wald", **OPTIONS)
    left, right = bc.plots.plan(result)
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert labels == ["Riley's closed form", "Mean width", "Width kept to by 80 % of studies"]
    drawn = {line.get_label(): line for line in left.get_lines()}
    assert list(drawn["Mean width"].get_ydata()) == list(result.table["width"])
    assert any(list(line.get_xdata()) == [result.n] * 2 for line in right.get_lines())


def test_the_table_alone_is_enough_and_a_mean_width_has_one_panel():
    result = bc.plan(of="c_statistic", width=0.1, assurance=None, **OPTIONS)
    assert len(bc.plots.plan(result.table)) == 1


def test_anything_else_is_refused():
    with pytest.raises(InputError, match="result must be what"):
        bc.plots.plan({"n": 3})
