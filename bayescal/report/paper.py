"""An assessment in sentences for a paper: methods, results, and the items of TRIPOD+AI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from bayescal.core.table import in_markdown
from bayescal.core.text import (
    Measured,
    capitalised,
    cases_and_events,
    chance,
    count,
    in_natural_order,
    percent,
    shortened,
)
from bayescal.model.curves import CURVES
from bayescal.model.law import TimeToEvent
from bayescal.posterior.functionals import FUNCTIONALS, NOT_DEFINED, main_functionals
from bayescal.report.facts import Facts
from bayescal.report.followed import cases_and_events_of, follow_up_words
from bayescal.report.groups import LEAST_SITES
from bayescal.report.notes import imputations_words, notes_on_data
from bayescal.report.performance import mean_score
from bayescal.report.tables import Tables
from bayescal.report.verdict import Verdict

if TYPE_CHECKING:
    from bayescal.planning.result import Plan


class Reference(NamedTuple):
    """A publication: authors, year, title and journal, and its DOI."""

    text: str
    doi: str


# Publications by their citation, such as "Rubin, 1981".
REFERENCES: dict[str, Reference] = {
    "Dong et al., 2025": Reference(
        "Dong J, Jiang Z, Pan D, Yu H (2025). Combining priors with experience: confidence "
        "calibration based on binomial process modeling. AAAI Conference on Artificial "
        "Intelligence; arXiv:2412.10658.",
        "10.48550/arXiv.2412.10658",
    ),
    "Hoeting et al., 1999": Reference(
        "Hoeting JA, Madigan D, Raftery AE, Volinsky CT (1999). Bayesian model averaging: a "
        "tutorial. Statistical Science 14, 382-417.",
        "10.1214/ss/1009212519",
    ),
    "Rubin, 1981": Reference(
        "Rubin DB (1981). The Bayesian bootstrap. The Annals of Statistics 9, 130-134.",
        "10.1214/aos/1176345338",
    ),
    "Rubin, 1987": Reference(
        "Rubin DB (1987). Multiple Imputation for Nonresponse in Surveys. Wiley, New York.",
        "10.1002/9780470316696",
    ),
    "Zhou and Reiter, 2010": Reference(
        "Zhou X, Reiter JP (2010). A note on Bayesian inference after multiple imputation. The "
        "American Statistician 64, 159-163.",
        "10.1198/tast.2010.09109",
    ),
    "Ribatet, Cooley and Davison, 2012": Reference(
        "Ribatet M, Cooley D, Davison AC (2012). Bayesian inference from composite likelihoods, "
        "with an application to spatial extremes. Statistica Sinica 22, 813-845.",
        "10.5705/ss.2009.248",
    ),
    "Broecker and Smith, 2007": Reference(
        "Broecker J, Smith LA (2007). Increasing the reliability of reliability diagrams. Weather "
        "and Forecasting 22, 651-661.",
        "10.1175/WAF993.1",
    ),
    "Vehtari, Gelman and Gabry, 2017": Reference(
        "Vehtari A, Gelman A, Gabry J (2017). Practical Bayesian model evaluation using "
        "leave-one-out cross-validation and WAIC. Statistics and Computing 27, 1413-1432.",
        "10.1007/s11222-016-9696-4",
    ),
    "Cox, 1958": Reference(
        "Cox DR (1958). Two further applications of a model for binary regression. Biometrika 45, "
        "562-565.",
        "10.1093/biomet/45.3-4.562",
    ),
    "Austin and Steyerberg, 2019": Reference(
        "Austin PC, Steyerberg EW (2019). The Integrated Calibration Index (ICI) and related "
        "metrics for quantifying the calibration of logistic regression models. Statistics in "
        "Medicine 38, 4051-4065.",
        "10.1002/sim.8281",
    ),
    "Collins, Ogundimu and Altman, 2016": Reference(
        "Collins GS, Ogundimu EO, Altman DG (2016). Sample size considerations for the external "
        "validation of a multivariable prognostic model: a resampling study. Statistics in "
        "Medicine 35, 214-226.",
        "10.1002/sim.6787",
    ),
    "Van Calster et al., 2019": Reference(
        "Van Calster B, McLernon DJ, van Smeden M, Wynants L, Steyerberg EW (2019). Calibration: "
        "the Achilles heel of predictive analytics. BMC Medicine 17, 230.",
        "10.1186/s12916-019-1466-7",
    ),
    "Van Calster et al., 2025": Reference(
        "Van Calster B, Collins GS, Vickers AJ, Wynants L, Kerr KF, Barreñada L, et al. (2025). "
        "Evaluation of performance measures in predictive artificial intelligence models to "
        "support medical decisions: overview and guidance. The Lancet Digital Health 7, 100916.",
        "10.1016/j.landig.2025.100916",
    ),
    "Collins et al., 2024": Reference(
        "Collins GS, Moons KGM, Dhiman P, et al. (2024). TRIPOD+AI statement: updated guidance for "
        "reporting clinical prediction models that use regression or machine learning methods. BMJ "
        "385, e078378.",
        "10.1136/bmj-2023-078378",
    ),
    "Vickers and Elkin, 2006": Reference(
        "Vickers AJ, Elkin EB (2006). Decision curve analysis: a novel method for evaluating "
        "prediction models. Medical Decision Making 26, 565-574.",
        "10.1177/0272989X06295361",
    ),
    "Kass and Raftery, 1995": Reference(
        "Kass RE, Raftery AE (1995). Bayes factors. Journal of the American Statistical "
        "Association 90, 773-795.",
        "10.1080/01621459.1995.10476572",
    ),
}

_CITATION = re.compile("|".join(re.escape(words) for words in REFERENCES))


def cited(text: str) -> list[str]:
    """The references that a text cites, as keys of `REFERENCES`, in the order in which it does."""
    return list(dict.fromkeys(_CITATION.findall(text)))


MOST_GROUPS_LISTED = 20


def describe(f: Facts, verdict: Verdict, to_do: str) -> str:
    """Methods and results, in the order of a paper, and the publications they cite."""
    text = f"{methods(f)}\n\n{' '.join(results(f, verdict, to_do))}"
    listed = [f"{REFERENCES[key].text} doi:{REFERENCES[key].doi}" for key in cited(text)]
    return "\n".join([text, "", "References", *listed])


def short_method(f: Facts) -> str:
    """What was done, in a few sentences."""
    if f.several is None:
        names = (name for name, prior in f.comparison.prior_prob.items() if prior)
        how = (
            "The calibration curve is the average of several families of curves "
            f"({', '.join(name for name in names if name != 'identity')}), each weighted by its "
            "evidence"
        )
    else:
        how = f"The results are of one fit with a logistic curve for each {f.own}"
    return (
        f"{how}, under the {f.prior.name} prior. {_clusters(f)}"
        f"Intervals are {percent(f.ci_prob)} credible intervals{_bootstrapped(f)}. Computed with "
        f"bayescal {f.versions['bayescal']}, seed {f.seed}."
    )


def methods(f: Facts) -> str:
    """What was done, with citations."""
    others = [
        f"{each.definition}. "
        for name, each in FUNCTIONALS.items()
        if each.definition and name != "tce" and (name in f.table.index or not each.of_times)
    ]
    scores = "scores" if f.posterior.design is None else "clusters"
    panel = (
        "Estimators were compared with their distribution under perfect calibration, by "
        "consistency resampling (Broecker and Smith, 2007). "
        if f.has_estimators
        else ""
    )
    return (
        f"{_likelihood(f)} {_curves(f)}{imputations_words(f.posterior)}"
        f"The {f.prior.name} prior was used for the coordinates of the curves. {_clusters(f)}"
        f"{FUNCTIONALS['tce'].definition}, over a population of cases like these: the Bayesian "
        f"bootstrap of the {scores} (Rubin, 1981). {percent(f.ci_prob)} credible intervals are "
        "equal-tailed, and all measures are functions of the same draws. In those in which the "
        "model is exactly calibrated an error is 0; other measures are given that it is not. "
        f"Estimates are posterior means{_bootstrapped(f)}.{_pseudo(f)} The spread of the risks was "
        "said to be about right if the slope was between 0.8 and 1.25 with probability 0.95, and "
        f"too extreme if it was below 1 with probability {(1 + f.ci_prob) / 2:g}. {_limit(f)}"
        f"{''.join(others)}{panel}"
        "Updates of the model were compared by what they gain in each draw of the curve, lowered "
        "in one draw of four by their optimism, from leave-one-out (Vehtari, Gelman and Gabry, "
        f"2017). Computed with bayescal {f.versions['bayescal']}, seed {f.seed}."
    )


def _limit(f: Facts) -> str:
    if f.limit is None:
        return ""
    when = "after" if f.limit.moved else "before"
    return (
        f"An error below {f.limit.value:g} was regarded as small enough; this limit was set {when} "
        "the result was seen. "
    )


def _likelihood(f: Facts) -> str:
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


def _curves(f: Facts) -> str:
    """Which curves were fitted: families of one, or one family of several."""
    own = ""
    if f.has_own_curves:
        own = (
            "The error is the mean distance of risks from the curve of each patient's own "
            f"{f.own}; a {f.kind} was said to be clearly off if its interval of observed / "
            "expected events excluded 1. "
        )
    if f.several is not None:
        return (
            f"One fit had a logistic curve for each {f.own}, and drew them towards each other as "
            f"far as the data say that they are alike. {own}That every {f.kind}, and that their "
            "average, is exactly calibrated had prior probabilities of their own. "
        )
    weights = f.comparison.prior_prob
    families = ", ".join(f"{name} ({weight:.2g})" for name, weight in weights.items() if weight)
    return (
        "Families of curves were weighted by their evidence (Hoeting et al., 1999), with prior "
        f"probabilities {families}; identity is exact calibration, whose probability is reported "
        f"and which is not part of the averaged curve. {own}"
    )


def _clusters(f: Facts) -> str:
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


def _pseudo(f: Facts) -> str:
    if not f.posterior.data.is_pseudo:
        return ""
    return (
        " The weights were rescaled to their effective sample size, so that the intervals are of a "
        "pseudo-posterior."
    )


def _bootstrapped(f: Facts) -> str:
    """Where the intervals of the C-statistic and of the Brier scores come from."""
    if f.performance_is_of_curve:
        return "; the C-statistic and the Brier score are read off the curve"
    drawn = "cases" if f.posterior.problem.clusters is None else "clusters"
    return (
        f"; those of the C-statistic and of the Brier scores are bootstrap intervals over {drawn}"
    )


def results(f: Facts, verdict: Verdict, to_do: str) -> list[str]:
    """The results, with the numbers that TRIPOD+AI asks for."""
    equation = [] if f.equation is None else [f"The equation of the update: {f.equation}."]
    told = [sample(f), *follow_up_words(f.posterior.data), *performance(f, verdict)]
    return [*told, to_do, *equation]


def sample(f: Facts) -> str:
    """Cases, events and the mean prediction, in a sentence."""
    data = f.posterior.data
    return (
        f"Among {cases_and_events_of(data, ' with ')}, the mean predicted probability was "
        f"{mean_score(data):#.3g}."
    )


def performance(f: Facts, verdict: Verdict) -> list[str]:
    """The verdict, and the measures of calibration and of the predictions overall, in sentences."""
    table, of = f.table, f.performance
    told = [
        each.result.format(Measured.of(table.loc[name]).told(each.apart))
        for name, each in FUNCTIONALS.items()
        if each.result and name in table.index
    ]
    sentences = [verdict.first, verdict.limit, *verdict.more, f"{capitalised('; '.join(told))}."]
    sentences += _undefined(table.attrs["undefined"])
    if of["estimate"]["c_statistic"] == of["estimate"]["c_statistic"]:
        c, brier = (Measured.of(of.loc[name]).told() for name in ("c_statistic", "brier_score"))
        sentences.append(f"The C-statistic was {c} and the Brier score {brier}.")
    if f.prob_calibrated == f.prob_calibrated:
        exact, before = chance(f.prob_calibrated), f.prior_calibrated
        sentences.append(f"Exact calibration has probability {exact}, from a prior of {before:g}.")
    return [text for text in sentences if text]


def _undefined(reasons: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each reason why measures are not defined."""
    for why in dict.fromkeys(reasons.values()):
        names = [FUNCTIONALS[name].words for name in reasons if reasons[name] == why]
        were = "were" if len(names) > 1 else "was"
        yield f"{capitalised(' and '.join(names))} {were} {NOT_DEFINED}: {why}."


# TRIPOD+AI


class TripodItem(NamedTuple):
    """An item of the checklist; the text is plain, with names from the data as they are."""

    number: str
    topic: str
    text: str


def tripod(items: list[TripodItem]) -> str:
    """The items as a table in Markdown, and the publications they cite."""
    rows = [f"| {item.number} | {item.topic} | {in_markdown(item.text)} |" for item in items]
    intro = (
        "Items of the TRIPOD+AI checklist on calibration, filled in with this analysis (Collins et "
        "al., 2024). All other items are for the authors to answer."
    )
    keys = cited(" ".join([intro, *(item.text for item in items)]))
    listed = [f"- {REFERENCES[key].text} doi:{REFERENCES[key].doi}" for key in keys]
    table = ["| Item | Topic | This analysis |", "|---|---|---|", *rows]
    return "\n".join([intro, "", *table, "", "References", "", *listed])


def tripod_items(
    f: Facts,
    verdict: Verdict,
    to_do: str,
    plan: Plan | None = None,
    source: Mapping[str, object] | None = None,
) -> list[TripodItem]:
    """The items on calibration, in the order of the checklist."""
    told = source or {}
    parts = (
        ("10", "Methods: sample size", _sample_size(f, plan)),
        ("11", "Methods: missing data", _missing(f, told)),
        ("12d", "Methods: heterogeneity between clusters", _heterogeneity_methods(f)),
        ("12e", "Methods: measures and plots of performance", _measures(f)),
        ("12f", "Methods: updating of the model", _updating_methods(f)),
        ("12g", "Methods: how predictions were calculated", _predictions(f)),
        ("14", "Methods: fairness", _fairness(f)),
        ("20a", "Results: flow of participants", _flow(f, told)),
        ("21", "Results: participants and events", _participants(f)),
        ("23a", "Results: performance, with intervals", _performance(f, verdict)),
        ("23b", "Results: heterogeneity between clusters", _heterogeneity(f)),
        ("24", "Results: updating of the model", _updating(f, to_do)),
    )
    return [TripodItem(number, topic, " ".join(text)) for number, topic, text in parts]


def _sample_size(f: Facts, plan: Plan | None) -> list[str]:
    has = cases_and_events_of(f.posterior.data, " with ")
    if plan is not None:
        fewer = " That is fewer than planned." if f.posterior.data.n < plan.n else ""
        return [plan.protocol(), f"The analysis has {has}.{fewer}"]
    return [
        "How the size was chosen is to be stated by the authors.",
        f"The analysis has {has}.",
    ]


def _missing(f: Facts, source: Mapping[str, object]) -> list[str]:
    dropped = _number(source, "Rows dropped")
    left_out = f"{count(dropped, 'row')} with a missing value left out." if dropped else ""
    imputed = imputations_words(f.posterior).strip()
    if imputed:
        return [text for text in (imputed, left_out) if text]
    return [
        left_out or "No case that was analysed had a missing value.",
        "Nothing was imputed in this analysis.",
    ]


def _number(source: Mapping[str, object], name: str) -> float:
    """A number of rows that a source tells; 0 where it tells none."""
    told = source.get(name)
    return float(told) if isinstance(told, int | float) else 0.0


def _fairness(f: Facts) -> list[str]:
    if not f.subgroups:
        return ["Not examined: no subgroups by several factors were given."]
    names = ", ".join(
        dict.fromkeys(shortened(name) for each in f.subgroups for name in each.levels)
    )
    cells = ", and in the combinations that occur," * (len(f.subgroups[-1].levels) > 1)
    return [
        f"Calibration was assessed in the levels of {names}{cells} "
        "by one hierarchical model of logistic curves, which draws subgroups towards each other. "
        "Which differences matter is to be stated by the authors."
    ]


def _flow(f: Facts, source: Mapping[str, object]) -> list[str]:
    data = f.posterior.data
    text = ["Who was eligible and who was excluded before is to be stated by the authors."]
    read, dropped = _number(source, "Rows read"), _number(source, "Rows dropped")
    if read:
        why = ", because a value was missing" if dropped else ""
        text.append(f"The file had {count(read, 'row')}; {count(dropped)} left out{why}.")
    has = cases_and_events_of(data, " with ")
    if data.follow_up is None and not data.is_pseudo:
        has = f"{count(data.n, 'case')}: {count(data.events)} with the event and "
        has += f"{count(data.n - data.events)} without it"
    return [*text, f"The analysis has {has}.", *follow_up_words(data)]


def _heterogeneity_methods(f: Facts) -> list[str]:
    groups = f.data.groups
    if not groups:
        return ["No groups were given, so heterogeneity was not examined."]
    if len(groups) == 1:
        one = shortened(groups[0])
        return [f"All cases are of one {f.kind}, {one}, so heterogeneity was not examined."]
    each = f"Calibration was assessed in each of {count(len(groups), f.kind)}"
    if f.several is None:
        return [
            f"{each} by itself.",
            f"With fewer than {LEAST_SITES} groups their spread was not estimated.",
        ]
    return [
        f"{each} by one hierarchical model of logistic curves, which draws their curves towards "
        "each other and estimates how much they differ."
    ]


def _measures(f: Facts) -> list[str]:
    text = [
        methods(f),
        "Rationale: the curve shows miscalibration at every risk, the true calibration error its "
        "mean size, O/E and calibration-in-the-large whether risks are too high or too low on "
        "average, and the slope whether they are too extreme. Plots: the posterior mean of the "
        "curve with pointwise bands, and the risks by outcome.",
    ]
    if not f.thresholds:
        return [*text, "Clinical utility was not measured, since no threshold was given."]
    risks = ", ".join(f"{threshold:g}" for threshold in f.thresholds)
    return [
        *text,
        "Clinical utility was measured by net benefit (Vickers and Elkin, 2006) from risks of "
        f"{risks} on, and plotted as a decision curve.",
    ]


def _updating_methods(f: Facts) -> list[str]:
    advice = f.recommendation
    options = "; ".join(
        CURVES[str(name)].update for name in advice.table.index if name != "identity"
    )
    decides = "net benefit" if advice.thresholds else "Brier score"
    text = [
        f"These updates were compared with no update by the expected {decides} of each, in the "
        f"draws of the calibration curve: {options}. {advice.rule} With few events or non-events "
        "nothing is recommended."
    ]
    if f.data.groups:
        text.append("No update for particular groups was considered.")
    return text


def _predictions(f: Facts) -> list[str]:
    return [
        "To be stated by the authors: this analysis begins with the predictions of the model.",
        *(capitalised(note) for note in notes_on_data(f.posterior)),
    ]


def _participants(f: Facts) -> list[str]:
    if not f.data.groups:
        return [sample(f)]
    sizes = {
        str(name): cases_and_events(row["cases"], row["events"], row["cases"])
        for name, row in f.by_group.iterrows()
    }
    return [sample(f), _listed(f, sizes)]


def _performance(f: Facts, verdict: Verdict) -> list[str]:
    text = performance(f, verdict)
    if f.thresholds:
        text += [
            f"Per 1000 patients, net benefit of treating from a risk of {threshold} on was "
            f"{cells['model']} by the model and {cells['treat_all']} treating everyone; the model "
            f"was best with probability {cells['prob_best']}."
            for threshold, cells in Tables(f)["benefit"].texts().items()
        ]
    if "levels" in Tables(f):
        clauses = [
            f"{shortened(name)}: O/E {cells['observed_expected']}"
            for name, cells in Tables(f)["levels"].texts().items()
        ]
        more = len(clauses) - MOST_GROUPS_LISTED
        rest = f"; and {more} more" if more > 0 else ""
        text.append(f"By subgroup: {'; '.join(clauses[:MOST_GROUPS_LISTED])}{rest}.")
    return text


def _heterogeneity(f: Facts) -> list[str]:
    if len(f.data.groups) < 2:
        return ["Not examined."]
    tables = Tables(f)
    each = {
        group: ", ".join(
            f"{FUNCTIONALS[name].short} {cells[name]}"
            for name in main_functionals()
            if cells[name] != NOT_DEFINED
        )
        for group, cells in tables["groups"].texts().items()
    }
    how = f"each {f.kind} by itself" if f.several is None else f"of one fit of all {f.kind}s"
    told = [f"Estimates with {percent(f.ci_prob)} credible intervals, {how}.", _listed(f, each)]
    if f.sites is None:
        return told
    spread = {name: cells["spread"] for name, cells in tables["spread"].texts().items()}
    rows = {
        name: cells["observed_expected"] for name, cells in tables["populations"].texts().items()
    }
    of_next = f" and of the next one {rows['next']}" if "next" in rows else ""
    return [
        *told,
        f"O/E of the average {f.kind} is {rows['average']}{of_next}. Between {f.kind}s the "
        f"standard deviation of the shift is {spread['shift']} in log-odds, and that of the log "
        f"slope {spread['log_slope']}.",
    ]


def _updating(f: Facts, to_do: str) -> list[str]:
    if f.recommendation.choice in (None, "identity"):
        return [to_do]
    return [
        to_do,
        "The performance of the updated model was not measured on other data.",
        "The equation of the update is to be stated by the authors if it is used."
        if f.equation is None
        else f"The equation of the update: {f.equation}.",
    ]


def _listed(f: Facts, of_groups: dict[str, str]) -> str:
    """A clause for each group, and how many are left out."""
    names = in_natural_order(f.data.groups)
    clauses = [f"{shortened(name)}: {of_groups[name]}" for name in names[:MOST_GROUPS_LISTED]]
    left = len(names) - MOST_GROUPS_LISTED
    return f"{'; '.join(clauses)}{f'; and {left} more' if left > 0 else ''}."
