"""What a notebook shows when a result is the last line of a cell."""

from html.parser import HTMLParser

import pytest

import bayescal as bc
from bayescal.core.text import card, interval


class Tags(HTMLParser):
    """The tags that are open, and the text."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def text_of(html):
    tags = Tags()
    tags.feed(html)
    assert not tags.open
    return tags.text


@pytest.fixture(scope="module")
def results():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    options = {"draws": 400, "random_state": 0}
    post = bc.fit(y_true, y_prob, **options)
    comparison = bc.compare(y_true, y_prob, **options)
    return {
        "posterior": post,
        "average": comparison.posterior,
        "comparison": comparison,
        "assessment": bc.assess(y_true, y_prob, **options),
        "gain": bc.recalibration_gain(y_true, y_prob, y_prob**1.2, **options),
        "recommendation": bc.recommend(y_true, y_prob, **options),
        "check": bc.check_consistency(post, n_resamples=50),
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("posterior", ["200 cases", "true calibration error", "slope"]),
        ("average", ["P(exactly calibrated)", "true calibration error"]),
        ("comparison", ["posterior probability", "spline"]),
        ("assessment", ["update", "True calibration error"]),
        ("gain", ["Brier score", "P(improved)"]),
        ("recommendation", ["recommended", "logistic"]),
        ("check", ["ece", "if the model were calibrated"]),
    ],
)
def test_a_result_is_shown_as_a_card(results, name, words):
    shown = text_of(results[name]._repr_html_())
    for word in words:
        assert word in shown
    assert "np.float64" not in shown
    assert "nan" not in shown


def test_the_card_of_an_assessment_has_its_figure(results):
    shown = results["assessment"]._repr_html_()
    assert shown.count("<svg") == 1
    assert "Calibration curve. predicted" in text_of(shown)
    assert "var(" not in shown
    assert 'class="zones"' not in shown
    assert "#0072b2" in shown


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", 'a & "b"'])
def test_text_is_escaped(text):
    shown = card(text, ["<b>"], {text: [text]})
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert text_of(shown).count(text) == 3


def test_the_number_in_the_card_is_that_of_the_summary(results):
    post = results["posterior"]
    shown = text_of(post._repr_html_())
    row = post.summary().loc["tce"]
    assert interval(row["estimate"], row["lower"], row["upper"], 0.95) in shown
