"""The caution beside E90 and Emax: by the scores alone, on its line, and seldom needed."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.model.problem import prepare
from bayescal.posterior.words import cautions_at_ends


def told(s, **options):
    y = np.arange(len(s)) % 2
    return cautions_at_ends([prepare(y, s, random_state=0, **options)])


def test_it_depends_on_how_many_scores_are_near_the_ends():
    inside = np.linspace(0.1, 0.9, 480)
    assert told(inside) == {}
    assert told(np.r_[inside, np.full(19, 1e-4)]) == {}
    many = told(np.r_[inside, np.full(20, 1 - 1e-4)])
    why = "4 % of scores are near 0 or 1: its interval may be too narrow"
    assert many == {"e90": why, "emax": why}
    assert told(np.r_[np.tile(inside, 3), np.full(20, 1e-4)]) == {}, "1 % of the scores"


@pytest.mark.parametrize("n", [300, 3000])
def test_it_is_rare_on_ordinary_scores(n):
    names = [name for name in bc.simulate.names() if name.startswith("c")]
    shown = [bool(told(bc.simulate.sample(name, n, random_state=1)[1])) for name in names]
    assert np.mean(shown) <= 0.1


@pytest.mark.slow
def test_it_stands_beside_the_number_in_terminal_and_page(tmp_path):
    rng = np.random.default_rng(1)
    s = rng.beta(0.2, 0.3, 400)
    y = (rng.random(400) < 0.03 + 0.92 * s).astype(int)
    a = bc.assess(y, s, draws=400, random_state=1)
    rows = {row.name: row for row in a.tables["measures"].rows}
    assert "near 0 or 1: its interval may be too narrow" in rows["emax"].caution
    assert "near 0 or 1: its interval may be too narrow" in rows["e90"].caution
    assert "near 0 or 1" not in rows["tce"].caution
    a.to_html(tmp_path / "report.html")
    assert "near 0 or 1: its interval may be too narrow" in (tmp_path / "report.html").read_text()
