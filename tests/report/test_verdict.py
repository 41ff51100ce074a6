"""Each rule from numbers to sentences, by itself: what it needs, and what it says."""

from dataclasses import replace

import pytest

from bayescal.core.text import Measured
from bayescal.model.reversed import Reversed
from bayescal.report.facts import Limit
from bayescal.report.verdict import (
    Parts,
    Seen,
    band,
    differs,
    is_short,
    level_of,
    spread_of,
    verdict_of,
)

FITS = Seen(
    ratio=Measured(1.01, 0.9, 1.12),
    ratio_below=0.4,
    ratio_above=0.5,
    error=Measured(0.012, 0.0, 0.03),
    slope=Measured(0.98, 0.85, 1.12),
    slope_below=0.55,
    slope_above=0.35,
    slope_right=0.99,
    exact=0.1,
)
EXTREME = replace(
    FITS,
    error=Measured(0.045, 0.026, 0.065),
    slope=Measured(0.75, 0.64, 0.84),
    slope_below=0.999,
    slope_above=0.001,
    slope_right=0.12,
    exact=0.0,
)


def parts(**changed):
    of = {
        "kind": "site",
        "number": 15,
        "off": {"UK4": Measured(1.34, 1.1, 1.6), "PEG": Measured(0.7, 0.5, 0.9)},
        "differ": 0.99,
        "next": (62.0, 143.0),
        "last": None,
        "pooled_error": Measured(0.01, 0.0, 0.02),
    }
    return Parts(**(of | changed))


@pytest.mark.parametrize(
    ("below", "above", "right", "says"),
    [
        (0.6, 0.4, 0.95, "about right"),
        (0.975, 0.025, 0.95, "about right, slightly too extreme"),
        (0.02, 0.98, 0.96, "about right, slightly too moderate"),
        (0.975, 0.025, 0.9, "too extreme"),
        (0.974, 0.026, 0.9, "perhaps too extreme"),
        (0.9, 0.1, 0.94, "perhaps too extreme"),
        (0.899, 0.1, 0.94, "unknown"),
        (0.1, 0.9, 0.5, "perhaps too moderate"),
        (0.01, 0.99, 0.5, "too moderate"),
        (0.5, 0.5, 0.5, "unknown"),
    ],
)
def test_the_spread_is_told_in_this_order(below, above, right, says):
    s = replace(FITS, slope_below=below, slope_above=above, slope_right=right)
    assert spread_of(s) == says


def test_the_level_is_told_if_it_is_sure():
    assert level_of(FITS) == ""
    assert level_of(replace(FITS, ratio_below=0.975)) == "too high"
    assert level_of(replace(FITS, ratio_above=0.98)) == "too low"


@pytest.mark.parametrize(
    ("s", "first"),
    [
        (EXTREME, "Too extreme: slope 0.75 (0.64 to 0.84); off by 4.5 points (2.6 to 6.5)."),
        (FITS, "Spread about right: slope 0.98 (0.85 to 1.12); off by at most 3.0 points."),
        (
            replace(FITS, slope_right=0.5),
            "These data cannot say whether the spread is right: slope 0.98 (0.85 to 1.12); off by "
            "at most 3.0 points.",
        ),
        (
            replace(EXTREME, ratio=Measured(0.81, 0.75, 0.87), ratio_below=1.0),
            "Risks are too high and too extreme: O/E 0.81 (0.75 to 0.87), slope 0.75 (0.64 to "
            "0.84).",
        ),
        (
            replace(EXTREME, ratio=Measured(0.81, 0.75, 0.87), ratio_below=1.0, slope_right=0.96),
            "Risks are too high: O/E 0.81 (0.75 to 0.87); off by 4.5 points (2.6 to 6.5).",
        ),
        (
            replace(FITS, slope=None, no_slope="all scores are equal"),
            "O/E 1.01 (0.90 to 1.12); off by at most 3.0 points.",
        ),
        (
            replace(FITS, parts=parts()),
            "2 of 15 sites are clearly off; at the next expect 62 to 143 events for 100 predicted.",
        ),
        (
            replace(FITS, parts=parts(off={}, differ=0.95)),
            "The 15 sites differ (P 0.95); at the next expect 62 to 143 events for 100 predicted.",
        ),
        (
            replace(FITS, parts=parts(kind="period", last=("May", Measured(1.3, 1.1, 1.5)))),
            "The model has changed (P 0.99); now, in May, O/E is 1.30 (1.10 to 1.50).",
        ),
        (
            replace(FITS, parts=parts(kind="subgroup", next=None, differ=0.2)),
            "2 of 15 subgroups are clearly off; UK4 134 (110 to 160) events for 100 predicted.",
        ),
    ],
)
def test_the_first_line_is_short(s, first):
    told = verdict_of(s)
    assert told.first == first
    assert is_short(told.first)


def test_what_the_first_line_leaves_out_follows():
    more = verdict_of(replace(EXTREME, ratio=Measured(0.81, 0.75, 0.87), ratio_below=1.0)).more
    assert "Off by 4.5 points (2.6 to 6.5)." in more
    assert "O/E 1.01 (0.90 to 1.12)." in verdict_of(FITS).more


def test_without_a_limit_there_is_no_word_of_one():
    assert verdict_of(FITS).limit == ""
    assert verdict_of(FITS).tone == "open"


@pytest.mark.parametrize(
    ("below", "tone", "words"),
    [(0.98, "good", "is within"), (0.01, "bad", "is above"), (0.6, "open", "is open")],
)
def test_the_limit_is_told_if_the_user_chose_one(below, tone, words):
    told = verdict_of(replace(FITS, limit=Limit(0.03), below_limit=below))
    assert words in told.limit
    assert "limit of 3 points" in told.limit
    assert told.tone == tone
    assert told.first == verdict_of(FITS).first


def test_a_limit_that_is_kept_on_average_does_not_hide_sites_that_are_off():
    told = verdict_of(replace(FITS, limit=Limit(0.1), below_limit=0.99, parts=parts()))
    assert told.limit.endswith("2 sites are clearly off.")
    assert told.tone == "open"


def test_no_interval_from_0_stands_beside_one_that_excludes_1_without_a_word():
    s = replace(FITS, ratio=Measured(1.1, 1.02, 1.19))
    told = " ".join([verdict_of(s).first, *verdict_of(s).more])
    assert "O/E 1.10 (1.02 to 1.19 if it is off at all)" in told
    assert "off by at most 3.0 points" in told


def test_alike_parts_do_not_lead():
    alike = replace(FITS, parts=parts(off={}, differ=0.05))
    assert verdict_of(alike).first == (
        "15 sites alike; spread about right: slope 0.98 (0.85 to 1.12); off by at most 3.0 points."
    )
    assert "The 15 sites are alike (P 0.95)." in verdict_of(alike).more
    unknown = verdict_of(replace(FITS, parts=parts(off={}, differ=0.5))).more
    assert any("these data cannot say" in text for text in unknown)


def test_parts_off_on_the_side_of_all_do_not_lead():
    low = {name: Measured(0.8, 0.7, 0.9) for name in "ABC"}
    s = replace(
        FITS,
        ratio=Measured(0.81, 0.75, 0.87),
        ratio_below=1.0,
        exact=0.0,
        parts=parts(off=low, differ=0.1),
    )
    assert verdict_of(s).name == "level"
    assert verdict_of(replace(s, parts=parts(differ=0.1))).name == "parts"


def test_errors_of_parts_are_said_to_cancel_and_all_are_named():
    more = " ".join(verdict_of(replace(FITS, parts=parts())).more)
    assert "UK4 134 (110 to 160); PEG 70 (50 to 90)" in more
    assert "errors of sites cancel" in more


def test_alarms_come_first_and_nothing_else_is_said():
    wrong = Reversed(0.23, 0.18, 0.28)
    told = verdict_of(replace(EXTREME, runs_wrong_way=wrong, parts=parts()))
    assert told.first == "The probabilities run the wrong way (C 0.23, 0.18 to 0.28)."
    assert "No update is offered" in told.alarm
    assert not told.more
    labels = verdict_of(replace(EXTREME, are_labels=True, runs_wrong_way=wrong))
    assert "labels, not probabilities" in labels.first
    assert labels.tone == told.tone == "bad"


def test_draws_that_cannot_be_trusted_are_no_ground_for_a_word():
    told = verdict_of(replace(EXTREME, pareto_k=0.9, limit=Limit(0.1), below_limit=1.0))
    assert told.name == "untrusted"
    assert told.tone == "open"


def test_rare_events_bring_a_share_of_the_average_risk():
    s = replace(EXTREME, mean=0.012, error=Measured(0.004, 0.002, 0.006))
    assert "That is 33 % of the average risk of 1.2 %." in verdict_of(s).more
    assert not any("average risk" in text for text in verdict_of(EXTREME).more)


def test_data_alone_are_told_where_they_say_something_else():
    posterior = Measured(0.75, 0.64, 0.86)
    assert not differs(Measured(0.74, 0.6, 0.9), posterior, 1)
    assert differs(Measured(0.68, 0.5, 0.9), posterior, 1)
    assert differs(Measured(0.76, 0.5, 1.1), posterior, 1)
    s = replace(EXTREME, alone={"calibration_slope": Measured(0.6, 0.5, 0.7)})
    assert "The data alone, without a prior, say slope 0.60 (0.50 to 0.70)." in verdict_of(s).more


def test_the_band_divides_and_multiplies_odds_by_five():
    assert band(0.6) == pytest.approx((0.6 / 0.4 / 5 / (1 + 0.3), 7.5 / 8.5))
    assert band(1.0) == (1.0, 1.0)
