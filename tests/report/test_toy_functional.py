"""A functional that is added by the recipe, one function and its line, is shown everywhere."""

import json
import re

import jsonschema
import numpy as np
import pytest

import bayescal as bc
from bayescal.posterior.functionals import FUNCTIONALS, Functional
from bayescal.report.record import schema
from bayescal.report.render import html


def share_too_high(draws):
    """Share of the population whose predictions are above the curve."""
    return draws.mean((draws.error < 0).astype(float))


def root_mean_square(draws):
    """Root of the mean squared error, which is the true calibration error of order two."""
    return np.sqrt(draws.mean(draws.distance**2))


TOYS = {
    "share_too_high": Functional(
        share_too_high,
        "share of predictions above the curve (SPA)",
        "SPA",
        "as many are too high",
        unit="ratio",
        section="direction",
        ideal=0.5,
        is_main=True,
        definition="The share above is toyed with",
        result="the toy share was {}",
    ),
    "root_mean_square": Functional(
        root_mean_square,
        "root mean square error (RMS)",
        "RMS",
        is_distance=True,
        is_of_ends=True,
    ),
}


@pytest.fixture(scope="module")
def a():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    with pytest.MonkeyPatch.context() as patch:
        for name, toy in TOYS.items():
            patch.setitem(FUNCTIONALS, name, toy)
        yield bc.assess(
            y,
            s,
            site=np.resize(["north", "south"], 200),
            estimators=("ece",),
            draws=400,
            random_state=1,
        )


@pytest.fixture(scope="module")
def page(a):
    return html(a.page())


@pytest.mark.slow
@pytest.mark.parametrize("name", TOYS)
def test_summary_page_and_record_have_it(a, page, name):
    toy, row = TOYS[name], a.summary().loc[name]
    cells = a.tables["measures"].texts()[name]
    for shown in (cells["estimate"], cells["interval"]):
        assert f">{shown}</td>" in page
    assert float(cells["estimate"]) == pytest.approx(row["estimate"], abs=0.006)
    assert f">{toy.title}" in page
    frame = a.tables["measures"].to_frame()
    assert frame.loc[name, ["lower", "upper"]].tolist() == row[["lower", "upper"]].tolist()
    assert frame.loc[name, "unit"] == toy.unit
    record = json.loads(json.dumps(a.to_dict()))
    jsonschema.validate(record, schema())
    told = record["functionals"][name]
    assert (told["label"], told["short"], told["ideal"]) == (toy.label, toy.short, toy.ideal)
    assert told["upper"] == row["upper"]


@pytest.mark.parametrize("name", TOYS)
def test_figures_have_it(a, name):
    toy, unit = TOYS[name], {"ratio": 1, "probability": 0}[TOYS[name].unit]
    panels = bc.plots.forest(a.posterior)
    shown = [[tick.get_text() for tick in panel.get_yticklabels()] for panel in panels]
    assert [toy.short in texts for texts in shown] == [k == unit for k in range(3)]
    ax = bc.plots.functional(a.posterior, name)
    assert ax.get_xlabel() == toy.title
    assert ax.get_title(loc="left").startswith(toy.short)


def test_its_words_are_in_paper_groups_and_verdict(a, page):
    text = a.describe()
    assert "The share above is toyed with. " in text
    numbers = re.search(r"the toy share was (\S+) \((\S+) to (\S+)\)", text)
    row = a.facts.table.loc["share_too_high", ["estimate", "lower", "upper"]]
    assert [float(number) for number in numbers.groups()] == pytest.approx(row.tolist(), abs=0.06)
    assert set(a.facts.by_group) > {
        f"share_too_high_{end}" for end in ("estimate", "lower", "upper")
    }
    cells = a.tables["groups"].texts()["north"]
    assert f">{cells['share_too_high']}</td>" in page
    assert f"SPA {cells['share_too_high']}" in a.tripod().replace("\\", "")


def test_a_distance_has_the_draws_of_the_mixture(a):
    post = a.posterior
    draws = post.functional("root_mean_square").to_numpy()
    np.testing.assert_allclose(draws, post.tce(p=2).to_numpy(), atol=1e-12)
    interval = post.interval("root_mean_square")
    assert interval == pytest.approx(np.quantile(draws, [0.025, 0.975]))
    plain = Functional(root_mean_square, "the same of the curve alone", "curve")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FUNCTIONALS, "of_curve", plain)
        of_curve, exact = post.functional("of_curve").to_numpy(), post.exact.to_numpy()
    np.testing.assert_array_equal(draws, np.where(exact, 0, of_curve))
    assert of_curve.all()
