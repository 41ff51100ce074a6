"""An assessment at several horizons: one table, one figure, and the reports."""

import json
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.errors import InputError

HORIZONS = (1, 3, 5)
FAST = {"draws": 400, "random_state": 1}


def study(n=250, factors=(1.0, 1.1, 2.5)):
    """Times, and risks by each horizon from hazards that are so many times too high."""
    rng = np.random.default_rng(3)
    hazard = 0.1 * np.exp(rng.normal(0, 0.8, n))
    event, left = rng.exponential(1 / hazard), np.minimum(rng.exponential(8, n), 7)
    risks = -np.expm1(-hazard[:, None] * np.array(factors) * HORIZONS)
    return bc.Survival(np.minimum(event, left), event <= left), risks


@pytest.fixture(scope="module")
def assessed():
    return bc.assess(*study(), horizon=HORIZONS, **FAST)


@pytest.mark.slow
def test_each_row_is_the_assessment_at_that_horizon_alone(assessed):
    outcome, risks = study()
    alone = bc.assess(outcome, risks[:, 1], horizon=3, **FAST)
    row = assessed.by_horizon.loc[3]
    for name in ("tce", "observed_expected", "calibration_slope"):
        for end in ("estimate", "lower", "upper"):
            assert row[f"{name}_{end}"] == alone.facts.table.loc[name, end]
    assert row["prob_calibrated"] == alone.facts.prob_calibrated
    assert row["predicted"] == pytest.approx(risks[:, 1].mean())
    assert row["observed"] == pytest.approx(row["observed_expected_estimate"] * row["predicted"])
    assert row["censored"] == pytest.approx(np.mean((outcome.time < 3) & ~outcome.event))
    assert str(assessed.at(3)) == str(alone)


def test_the_first_words_are_of_each_horizon(assessed):
    first = assessed.page().answer[0]
    assert first.startswith("By 5: risks are too high: O/E ")
    assert len(first.split()) <= 20
    assert assessed.headline().startswith(first)
    assert "By 1: these data cannot say" in assessed.headline()


def test_text_and_card_have_a_row_for_each_horizon(assessed):
    text = str(assessed)
    assert max(map(len, text.splitlines())) <= 80
    for at in HORIZONS:
        assert f"\n{at}  " in text
        assert "<td" in assessed._repr_html_()
    assert repr(assessed).startswith("HorizonAssessment(250 cases, horizons 1, 3, 5: By 5:")
    assert "At the horizon 5:" in assessed.describe()


@pytest.mark.slow
def test_the_record_is_plain_numbers(assessed):
    record = json.loads(json.dumps(assessed.to_dict(), allow_nan=False))
    assert record["horizons"] == [1, 3, 5]
    assert [row["horizon"] for row in record["by_horizon"]] == [1, 3, 5]
    assert record["assessments"]["3"]["error"]["estimate"] > 0


@pytest.mark.slow
def test_page_and_document_have_the_table_and_one_figure(assessed, tmp_path):
    page = tmp_path / "report.html"
    assessed.to_html(page, title="Three horizons")
    text = page.read_text("utf-8")
    assert "<h1>Three horizons</h1>" in text
    assert text.count("<svg") == 1
    assert "By 5: risks are too high" in text
    assert "What was seen by 1, by fifth" in text
    document = tmp_path / "report.docx"
    assessed.to_word(document)
    with ZipFile(document) as parts:
        words = parts.read("word/document.xml").decode()
        pictures = [name for name in parts.namelist() if name.startswith("word/media/")]
    assert "By 5: risks are too high" in words
    assert len(pictures) == 1


def test_the_figure_has_a_curve_for_each(assessed):
    labels = [text.get_text() for text in assessed.plot().get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels][:4] == ["Ideal", "by 1", "by 3", "by 5"]


def test_notes_say_how_whole_curves_were_read_and_common_ones_stand_once():
    outcome, _ = study(120)
    rate = 0.1 * np.exp(np.linspace(-1, 1, 120))
    times = np.array([1.0, 2.0, 4.0, 6.0])
    survival = pd.DataFrame(np.exp(-rate[:, None] * times), columns=times)
    several = bc.assess(outcome, survival, horizon=[2, 3], **FAST)
    assert several.notes[0].startswith("Risks by 2, 3 were read off predicted curves (probabilit")
    assert len(several.notes) == len(set(several.notes))
    assert any(note.startswith("By 3: ") for note in several.notes)


def test_families_are_compared_at_each_horizon():
    outcome, risks = study(120)
    options = {"curves": ["logistic"], **FAST}
    several = bc.compare(outcome, risks[:, 1:], horizon=[3, 5], **options)
    alone = bc.compare(outcome, risks[:, 1], horizon=3, **options)
    assert several.table.loc[3].equals(alone.table)
    assert several.prob_calibrated[3] == alone.prob_calibrated == several.at(3).prob_calibrated
    assert repr(several) == "Several(120 cases, horizon 3, 5)"


@pytest.mark.parametrize("door", [bc.assess, bc.compare])
def test_what_several_horizons_do_not_go_with_is_refused(door):
    outcome, risks = study(40)
    imputed = np.stack([risks[:, 0]] * 2)
    with pytest.raises(InputError, match="imputation was given beside several horizons"):
        door(outcome, risks, horizon=HORIZONS, imputation=imputed)
    with pytest.raises(InputError, match="y_true is no Survival"):
        door(outcome.event, risks, horizon=HORIZONS)
