"""No number is worse than in the version whose scores are stored, and intervals hold the truth."""

import pytest

from truth_scores import COVERED, WORSE, changes, scored, stored
from truth_sets import THEMES


# a data set whose draws are not reliable counts as any other
@pytest.mark.filterwarnings("ignore::bayescal.errors.DiagnosticWarning")
@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
def test_scores_are_no_worse_and_intervals_hold_the_truth(theme, record_property):
    new = scored(theme, min(THEMES[theme].sets, 100))  # --compare, below, scores all
    compared = changes(theme, stored()[theme], new)
    for change in compared:
        if change.relative < -WORSE:  # printed at the end of the run
            record_property("better", change.in_words)
    wrong = [change.in_words for change in compared if change.relative > WORSE]
    least, most = COVERED[theme]
    wrong += [
        f"{theme}: {name} covered {share:.3f}, not {least} to {most}"
        for name, share in new.coverage.items()
        if not least <= share <= most
    ]
    assert not wrong, "\n".join([*wrong, "all: python tests/truths --compare"])


def test_every_quantity_is_stored():
    assert stored().keys() == THEMES.keys()
    for theme, scores in stored().items():
        each = {**scores.intervals, **scores.stated}
        assert {len(values) for values in each.values()} == {THEMES[theme].sets}
