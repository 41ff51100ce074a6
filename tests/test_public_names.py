"""What a user finds by typing: names in `dir()`, and a hint where a name is somewhere else."""

import pytest

import bayescal as bc

MODULES = ("priors", "simulate", "functionals", "curves", "plots", "errors", "estimators", "scores")


@pytest.mark.parametrize("name", MODULES)
def test_dir_offers_public_names_alone(name):
    module = getattr(bc, name)
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ece", "Use bayescal.estimators.ece."),
        ("brier_score", "Use bayescal.scores.brier_score."),
        (
            "observed_expected",
            "Use bayescal.estimators.observed_expected or bayescal.functionals.observed_expected.",
        ),
        ("nothing_of_the_kind", "nothing_of_the_kind."),
    ],
)
def test_a_name_of_a_module_is_hinted_at(name, told):
    with pytest.raises(AttributeError) as caught:
        getattr(bc, name)
    assert str(caught.value).endswith(f" {told}")


def test_a_private_name_is_only_missing():
    assert not hasattr(bc, "_nothing")
