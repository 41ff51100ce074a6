"""An assessment in sentences for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import cases_and_events_of, follow_up_words
from bayescal.assessment.imputed import imputations_sentence
from bayescal.assessment.performance import mean_score
from bayescal.assessment.text.references import REFERENCES, cited
from bayescal.assessment.verdict.words import (
    headline,
    lost_at_thresholds,
    ranges,
    settling,
    to_do,
    whom,
)
from bayescal.assessment.words import (
    counted,
    exactness,
    first_words,
    in_the_data,
    kind_of,
    whose_words,
    with_interval,
)
from bayescal.core.text import capitalised, percent
from bayescal.model.likelihood.times.law import TimeToEvent
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["describe", "methods", "performance", "performance_source", "sample", "short_method"]


def describe(f: Findings) -> str:
    """Methods and results, in the order of a paper, and the publications they cite."""
    text = f.worded(f"{methods(f)}\n\n{results(f)}")
    listed = [f"{REFERENCES[key].text} doi:{REFERENCES[key].doi}" for key in cited(text)]
    return "\n".join([text, "", "References", *listed])


def short_method(f: Findings) -> str:
    """What was done, in a few sentences."""
    families = [
        name for name, weight in f.comparison.prior_prob.items() if weight and name != "identity"
    ]
    how = (
        f"The calibration curve was estimated as the average of several families of curves "
        f"({', '.join(families)}), each weighted by its evidence, under the {f.prior.name} prior. "
        if f.several is None
        else f"The results are of one fit with a logistic curve for each of {counted(f.several)}, "
        f"under the {f.prior.name} prior. "
    )
    own = "" if f.performance_is_of_curve else _BOOTSTRAPPED
    return (
        f"{how}{_clusters_in_words(f)}"
        f"Intervals are {percent(f.ci_prob)} credible intervals{own}. Updates were "
        "compared by what they gain in the draws of the curve, lowered in one of four by their "
        "optimism. "
        f"Computed with bayescal {f.versions['bayescal']}, seed {f.seed}."
    )


def methods(f: Findings) -> str:
    """What was done, with citations."""
    others = [
        each.definition
        for name, each in FUNCTIONALS.items()
        if each.definition and name != "tce" and (name in f.table.index or not each.of_times)
    ]
    scores = "scores" if f.posterior.design is None else "clusters"
    return (
        f"{_likelihood_in_words(f)} {_curves_in_words(f)}"
        f"{imputations_sentence(f.posterior)}"
        f"The {f.prior.name} prior was used for the coordinates of the curves. "
        f"{_clusters_in_words(f)}"
        f"{FUNCTIONALS['tce'].definition}, over a population of cases like these: the Bayesian "
        f"bootstrap of the {scores} (Rubin, 1981). {_interval_in_words(f)} A model with an error "
        f"below {f.close:g} was regarded as close enough to calibrated. It was said to be off if "
        "the interval of the error started above 0 and perfect calibration was outside the joint "
        f"{percent(f.ci_prob)} region of calibration-in-the-large and slope, or predictions over a "
        f"range were too high, or too low, with a probability of {(1 + f.ci_prob) / 2:g}. "
        f"{''.join(f'{text}. ' for text in others)}{_estimators_in_words(f)}"
        f"{_updates_in_words()}Computed with bayescal {f.versions['bayescal']}, seed {f.seed}."
    )


def _likelihood_in_words(f: Findings) -> str:
    """What the curve is of, and the likelihood of the outcomes."""
    problem = f.posterior.problem
    law, followed = problem.likelihood, problem.data.follow_up
    if not isinstance(law, TimeToEvent) or followed is None:
        return (
            "Calibration was assessed by the posterior of the calibration curve, with a binomial "
            "likelihood (Dong et al., 2025)."
        )
    told = [
        f"Calibration of the risks by {followed.horizon:g} was assessed by the posterior of the "
        "calibration curve. The likelihood is of times to an event: an event by the horizon has "
        "the probability of the curve, and when it comes, given that, follows a distribution over "
        f"{law.size} intervals whose log-odds are linear in those of the score, so that hazards "
        "need not be proportional."
    ]
    if followed.censored:
        told.append(
            "Cases that left before count up to the time at which they left. Leaving may depend on "
            "the score; given the score it was taken to say nothing of the event."
        )
    if law.competes:
        told.append("Competing events have a distribution of their own, and rule out the event.")
    if followed.is_delayed:
        told.append("Cases that came under observation late count from then on.")
    return " ".join(told)


def _estimators_in_words(f: Findings) -> str:
    """How estimators were compared; nothing where there are none."""
    if not f.has_estimators:
        return ""
    return (
        "Estimators were compared with their distribution under perfect calibration, by "
        "consistency resampling (Broecker and Smith, 2007). "
    )


def _updates_in_words() -> str:
    """How updates were compared."""
    return (
        "Updates of the model were compared by what they gain in each draw of the curve, lowered "
        "in one draw of four by their optimism, from leave-one-out (Vehtari, Gelman and Gabry, "
        "2017). "
    )


_BOOTSTRAPPED = "; those of the C-statistic and of the Brier scores are bootstrap intervals"


def _curves_in_words(f: Findings) -> str:
    """Which curves were fitted: families of one, or one family of several."""
    if f.several is not None:
        each, average = whose_words(f.several)
        return (
            f"One fit had a logistic curve for each of {counted(f.several)}, and drew them towards "
            "each other as far as the data say that they are alike. Results are of the patients of "
            f"these {counted(f.several)}, whose curve is the mixture of theirs; the other "
            "populations are named. "
            f"{_own_in_words(f)}That {each} is exactly calibrated, and that {average} is, had "
            "prior probabilities of their own. "
        )
    own = _own_in_words(f) if f.has_own_curves else ""
    weights = f.comparison.prior_prob
    families = ", ".join(f"{name} ({weight:.2g})" for name, weight in weights.items() if weight)
    return (
        "Families of curves were weighted by their "
        f"evidence (Hoeting et al., 1999), with prior probabilities {families}; identity is exact "
        "calibration, whose probability is reported and which is not part of the averaged curve. "
        f"{own}"
    )


def _own_in_words(f: Findings) -> str:
    """Against which curves patients are off, where they have one of their own."""
    kind = kind_of(f)
    return (
        "The error that is compared with the limit is the mean distance of risks from the curve of "
        f"each patient's own {kind}; a {kind} was said to be clearly off if its interval of "
        "observed / expected events excluded 1. "
    )


def _clusters_in_words(f: Findings) -> str:
    if f.posterior.design is None:
        return ""
    how = (
        "since the outcomes are separated by the scores or of one class, each cluster counts as "
        "one case:"
        if f.posterior.design.separated
        else "the curvature of the likelihood was adjusted for clusters (Ribatet, Cooley and "
        "Davison, 2012),"
    )
    return f"Cases of one cluster were not taken as independent: {how} {f.posterior.design}. "


def _interval_in_words(f: Findings) -> str:
    return (
        f"{percent(f.ci_prob)} credible intervals are equal-tailed. All measures are functions of "
        "the same draws. In those in which the model is exactly calibrated an error is 0; other "
        f"measures are given that it is not. Estimates are posterior means.{_one_sided_in_words(f)}"
        f"{_pseudo_in_words(f)}{_performance_in_words(f)}"
    )


def _one_sided_in_words(f: Findings) -> str:
    """That the upper end alone is given of an error whose interval starts at 0."""
    if f.error["lower"] > 0:
        return ""
    return (
        " Since the interval of the error starts at 0, its upper end is given, below which the "
        f"error is with a probability of {(1 + f.ci_prob) / 2:g}."
    )


def _pseudo_in_words(f: Findings) -> str:
    """What sampling weights make of the intervals."""
    if not f.posterior.data.is_pseudo:
        return ""
    return (
        " The weights were rescaled to their effective sample size, so that the intervals are of "
        "a pseudo-posterior."
    )


def _performance_in_words(f: Findings) -> str:
    """Which intervals the C-statistic and the Brier scores have."""
    if f.performance_is_of_curve:
        at = " at the horizon" if f.posterior.problem.of_times else ""
        return (
            f" The C-statistic and the Brier score{at} are read off the draws of the "
            "curve, with credible intervals, too."
        )
    drawn = "cases" if f.posterior.problem.clusters is None else "clusters"
    return (
        f" The C-statistic and the Brier scores have {percent(f.ci_prob)} percentile intervals of "
        f"the bootstrap of the {drawn}."
    )


def results(f: Findings) -> str:
    """The results, with the numbers that TRIPOD+AI asks for."""
    parts = [
        sample(f),
        *follow_up_words(f.posterior.data),
        *first_words(f),
        *performance(f),
        whom(f),
        lost_at_thresholds(f),
    ]
    parts += [to_do(f), settling(f)]
    return " ".join(part for part in parts if part)


def sample(f: Findings) -> str:
    """Cases, events and the mean prediction, in a sentence."""
    data = f.posterior.data
    return (
        f"Among {cases_and_events_of(data, ' with ')}, the mean "
        f"predicted probability was {mean_score(data):#.3g}."
    )


def performance(f: Findings) -> list[str]:
    """The measures of calibration, discrimination and overall performance, in sentences."""
    data, table = f.posterior.data, f.table
    told = [
        each.result.format(with_interval(row, in_the_data(data, name, row), each.apart))
        for name, each in FUNCTIONALS.items()
        if each.result and name in table.index
        for row in [table.loc[name]]
    ]
    sentences = [
        headline(f),
        *([ranges(f)] if ranges(f) else []),
        exactness(f),
        f"{capitalised('; '.join(told))}.",
        *_undefined(table.attrs["undefined"]),
    ]
    c_statistic = f.performance.loc["c_statistic"]
    if c_statistic["estimate"] == c_statistic["estimate"]:
        sentences.append(
            f"The C-statistic was {with_interval(c_statistic)} and the Brier score "
            f"{with_interval(f.performance.loc['brier_score'])}, {performance_source(f)}."
        )
    return sentences


def performance_source(f: Findings) -> str:
    """Where C-statistic and Brier score come from."""
    if f.several is not None and f.performance_is_of_curve:
        return "both read off the curve, with its intervals"
    if f.posterior.problem.of_times:
        return "both at the horizon and read off the calibration curve, with its intervals"
    return "with bootstrap intervals"


def _undefined(reasons: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each reason why measures are not defined."""
    for why in dict.fromkeys(reasons.values()):
        names = [FUNCTIONALS[name].words for name in reasons if reasons[name] == why]
        were = "were" if len(names) > 1 else "was"
        yield f"{capitalised(' and '.join(names))} {were} {NOT_DEFINED}: {why}."
