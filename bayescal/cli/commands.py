"""The six commands: which function of the library each calls, and with which options."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescal.cli.options import FIT, OF_COLUMNS, OF_READING, PLANNED, Command, Parsed, as_typed
from bayescal.cli.reading import introduction, read_from, request_of
from bayescal.cli.terminal import BOLD, DIM, Terminal, working
from bayescal.core.errors import InputError, as_level
from bayescal.core.page import Page, Section
from bayescal.core.text import shortened

if TYPE_CHECKING:
    from bayescal.cli.output import RunningTable
    from bayescal.core.arrays import Floats
    from bayescal.data.columns import Request
    from bayescal.data.reading import Cases


@dataclass(frozen=True)
class Answer:
    """A result that has a page, and what was read for it.

    `finish` writes what is no page, once all else is written, and says which files these are.
    """

    result: Any
    title: str
    source: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    finish: Callable[[], Iterable[Path]] = tuple
    of_page: Mapping[str, Any] = field(default_factory=dict)

    def page(self) -> Page:
        """The page of the result, with where the data came from."""
        page: Page = self.result.page(**self.of_page)
        lines = [
            f"{name.replace('_', ' ').capitalize()}: {value}."
            for name, value in self.source.items()
            if value
        ]
        source = Section("Data", (" ".join(lines),), appendix=True)
        notes = tuple(map(as_typed, (*page.notes, *self.notes)))
        return replace(
            page,
            title=self.title,
            sections=(*page.sections, source),
            notes=notes,
            record={**page.record, "notes": notes, "source": dict(self.source)},
        )


DEMO_FILE = Path(__file__).with_name("demo.csv")
# So that equal files give equal answers.
DEFAULT_SEED = 0
FILES = ("html", "word", "json", "plot")
READING = ("outcome", "prob", "positive", "sample-weight", "weight-type", "scale", "drop-missing",
           "encoding", "sheet")  # fmt: skip
PILOT_ARGUMENT = "pilot"


def assess(given: Parsed, terminal: Terminal) -> Answer:
    """Assess a model, or several, or answer for single cases or new ones."""
    if len(given["prob"]) > 1:
        _refuse(given, "one --prob", *(name for name in ASSESS if name not in COMPARE))
        return compare(given, terminal)
    how, thresholds = _how(given, None), _thresholds(given)
    limit = None if given["limit"] is None else as_level(given["limit"], "limit")
    if given["force"] and given["update"] is None:
        raise InputError("--force goes with --update, the file of a running table.")
    if given["at"] is not None and not given["case"]:
        raise InputError("--at goes with --case: it is where the case is.")
    request = _request(given, ASSESS, several_horizons=True)
    if given["case"] or given["new"] is not None:
        _refuse(given, "an assessment, without --case and --new", "limit", "update")
        how = {**_how(given), "thresholds": thresholds, "edge": given["edge"]}
        return _ahead(given, terminal, request, how)
    options = {"limit": limit, "thresholds": thresholds, "edge": given["edge"], **how}
    if isinstance(request.horizon, tuple):
        _refuse(given, "one horizon", "update")
        return _of_horizons(request, options, terminal)
    running = None
    if given["update"] is not None:
        from bayescal.cli.output import RunningTable

        running = RunningTable.open(given["update"])
    predictions = read_from(replace(request, needs_outcomes=running is not None))
    if not predictions.data.has_outcomes:
        raise InputError(f"every outcome is missing in {given.file}. One at least must be known.")
    return _of_table(predictions, running, given, options, terminal)


def _of_table(
    predictions: Cases,
    running: RunningTable | None,
    given: Parsed,
    options: dict[str, Any],
    terminal: Terminal,
) -> Answer:
    """Assess cases, with those of a running table."""
    from bayescal.report import assess as assessed

    data, source = predictions.data, predictions.told
    if running is not None:
        running = running.with_cases(predictions, force=given["force"])
        data, source = running.cases, source | running.source
    _introduce(predictions, terminal)
    if running is not None:
        terminal.say(running.introduce())
    with working("Fitting the families of curves"):
        result = assessed(data, **options)
    answer = Answer(result, predictions.title, source)
    return answer if running is None else replace(answer, finish=running.write)


def _of_horizons(request: Request, options: dict[str, Any], terminal: Terminal) -> Answer:
    """Assess the risks by several horizons."""
    read, horizons, columns = read_from(request), request.horizon, request.columns
    import pandas as pd

    from bayescal.report import assess as assessed

    told = ", ".join(
        f"{shortened(name)} by {at:g}" for name, at in zip(read.probs, horizons, strict=True)
    )
    title = f"{told}, outcome {shortened(str(columns.event))}"
    _introduce_cases(read, title, terminal)
    roles = {"sample_weight": read.weight, "weight_type": request.weight_type}
    roles |= {"cluster": read.labels("cluster"), "stratum": read.labels("stratum")}
    risks = pd.DataFrame(read.probs)
    with read.worded(), working("Fitting the families of curves at each horizon"):
        result: Any = assessed(read.outcome, risks, horizon=horizons, **options, **roles)
    source = {"file": str(request.path), "rows_read": read.rows, "rows_dropped": read.dropped}
    source |= {"time": columns.time, "event": columns.event, "scores": ", ".join(read.probs)}
    return Answer(result, title, source)


def _ahead(given: Parsed, terminal: Terminal, request: Request, how: dict[str, Any]) -> Answer:
    """What to expect of cases whose outcomes are not known: of single ones, or of a file."""
    from bayescal.data.reading import read_scores

    scores, new, named = given["case"], given["new"], request.columns
    if scores and new is not None:
        raise InputError("--case and --new are both of cases without outcomes. Take one.")
    if sum(map(bool, (named.site, named.period))) + len(named.subgroup) > 1:
        raise InputError(
            "a case is of one hospital, period or subgroup here. Of --site, --period and "
            "--subgroup give one, or none."
        )
    if given["at"] is not None and named.site is None and not named.subgroup:
        raise InputError("--at goes with --site or --subgroup, whose level it is.")
    if new is not None and named.subgroup:
        raise InputError(
            "--new is of cases of another hospital (--site), of the next period (--period), or "
            "like all of these. Leave --subgroup out."
        )
    of_cases: Any = _as_probabilities(scores, request.as_written) if scores else None
    predictions = read_from(request)
    if new is not None:
        of_cases = read_scores(request, new, str(predictions.columns.prob))
        of_cases = of_cases[of_cases == of_cases]
    from bayescal.fitting.ahead import expect, predict

    _introduce(predictions, terminal)
    with working("Fitting the curve"):
        if new is None:
            result: Any = predict(predictions.data, of_cases, at=given["at"], **how)
        else:
            result = expect(predictions.data, of_cases, **how)
    source = predictions.told | ({} if new is None else {"new": str(new)})
    return Answer(result, predictions.title, source)


def _as_probabilities(scores: list[float], scale: Any) -> Floats:
    """Scores that were typed on the scale of a file, as probabilities."""
    import numpy as np

    from bayescal.data.cases import OVERSHOOT

    rounding = OVERSHOOT * (scale.highest - scale.lowest)
    for score in scores:
        if not scale.lowest - rounding <= score <= scale.highest + rounding:
            other = " Percentages are read with --scale percent, in the file and here."
            raise InputError(
                f"--case {score:g} is outside [{scale.lowest:g}, {scale.highest:g}]; scores are "
                f"{scale.name}.{other * (scale.name == 'probabilities')}"
            )
    typed = np.clip(np.asarray(scores, float), scale.lowest, scale.highest)
    probabilities: Floats = scale.to_probability(typed)
    return probabilities


def compare(given: Parsed, terminal: Terminal) -> Answer:
    """Compare models on the same cases; of one model, families of curves."""
    how, names = _how(given), given["prob"]
    thresholds = _thresholds(given)
    of_models = ("threshold", "site")
    several = len(names) > 1
    request = _request(given, [each for each in COMPARE if several or each not in of_models])
    if not several:
        _refuse(given, "the second --prob of a comparison of models", *of_models)
        predictions = read_from(request)
        from bayescal.fitting import compare as compared

        _introduce(predictions, terminal)
        with working("Fitting the families of curves"):
            families = compared(predictions.data, **_fit(how))
        return Answer(families, predictions.title, predictions.told)
    if len({*names}) < len(names):
        raise InputError("--prob names the same column twice. Name each model once.")
    _refuse(given, "one --prob", "imputation")
    read = read_from(replace(request, others=dict.fromkeys(names, "prob")))
    mark = None
    if len(names) == 2 and request.horizon is None:
        from bayescal.cli.output import find_mark

        mark = find_mark(request.path, read, names[1])
    is_map = mark is not None or (len(names) == 2 and _is_map(*read.probs.values()))
    if not is_map:
        _refuse(given, "a second --prob that is a map of the first", "weight-type", "in-sample")
    title = f"{' and '.join(map(shortened, names))} in {shortened(request.path.name)}"
    _introduce_cases(read, title, terminal)
    roles: dict[str, Any] = {"site": read.labels("site")}
    roles |= {"cluster": read.labels("cluster"), "sample_weight": read.weight}
    if request.horizon is None:
        roles["pos_label"] = request.pos_label
    else:
        roles["horizon"] = request.horizon
    source: dict[str, Any] = {"file": str(request.path), "models": ", ".join(names)}
    source |= {"rows_read": read.rows, "rows_dropped": read.dropped}
    source |= {k: v for k, v in read.columns.told.items() if k != "prob"} | request.told
    if is_map:
        roles["weight_type"] = request.weight_type
        told: tuple[str, ...] = ()
        if mark is not None and mark.is_own:
            told = (f"{mark.path.name} says that the map was fitted to these cases.",)
        roles |= {"thresholds": thresholds, "in_sample": bool(told or given.get("in_sample"))}
        return Answer(_gain(read, roles | _fit(how)), title, source, told)
    from bayescal.fitting import compare_models

    called = {f"models[{shortened(name)!r}]": name for name in names}
    models = {name: read.probs[name] for name in names}
    with working("Fitting each model"), read.worded(**called):
        result = compare_models(read.outcome, models, **roles, **_fit(how))
    return Answer(result, title, source, of_page={"thresholds": thresholds})


def _is_map(before: Floats, after: Floats) -> bool:
    """Whether predictions rise, or fall, throughout with those before: a recalibration of them."""
    import numpy as np

    order = np.argsort(before, kind="stable")
    steps, equal = np.diff(after[order]), np.diff(before[order]) == 0
    return bool(((steps >= 0).all() or (steps <= 0).all()) and not steps[equal].any())


def _gain(read: Cases, options: dict[str, Any]) -> Any:
    """What a map of the first predictions to the second gains."""
    import warnings

    from bayescal.gain import recalibration_gain

    (of_before, before), (of_after, after) = read.probs.items()
    with working("Computing the gain"), read.worded(before=of_before, after=of_after):
        warnings.filterwarnings("ignore", "after was fitted to these patients")
        return recalibration_gain(read.outcome, before, after, **options)


def recalibrate(given: Parsed, terminal: Terminal) -> Answer:
    """Fit a map, write what it makes of scores, and say what an update gains."""
    how, thresholds, method = _how(given), _thresholds(given), given["method"] or "bayesian"
    output, folds = given["output"], given["folds"]
    if given["new"] is not None and output is None:
        raise InputError("--new goes with --output: name the file to write its new scores to.")
    if given["method"] is not None and output is None and folds is None:
        raise InputError("--method goes with --output or --folds: the map is fitted for these.")
    predictions = read_from(_request(given, RECALIBRATE))
    recalibrator, made = None, None
    if output is not None or folds is not None:
        from bayescal.cli.output import Recalibrated, recalibrator_of

        recalibrator = recalibrator_of(method, how["prior"], how["random_state"])
    if output is not None:
        made = Recalibrated.of(predictions, given["new"], output, recalibrator)
    if folds is not None:
        _check_folds(predictions, folds)
    _introduce(predictions, terminal)
    if folds is None:
        from bayescal.gain import recommend

        with working("Comparing updates"):
            result: Any = recommend(predictions.data, thresholds=thresholds, **how)
    else:
        result = _cross_fitted(predictions, folds, recalibrator, how, thresholds)
    answer = Answer(result, predictions.title, predictions.told)
    if made is None:
        return answer
    with working("Fitting"):
        made.recalibrator.fit(predictions.data)
    with working("Recalibrating") as progress:
        made.compute(how["ci_prob"], progress)
    notes = tuple(made.notes(method, is_own=given["new"] is None))
    return replace(answer, notes=notes, finish=made.writer(predictions, method))


def _cross_fitted(
    predictions: Cases, folds: int, recalibrator: Any, how: dict[str, Any], thresholds: Any
) -> Any:
    """What fitting a map gains, by maps that were fitted to other cases."""
    from bayescal.data.cases import as_outcomes
    from bayescal.gain import cross_fit, recalibration_gain

    read = predictions
    outcome = as_outcomes(read.outcome, pos_label=predictions.request.pos_label)
    seed, weight = how["random_state"], read.weight
    with working("Fitting on all folds but one") as progress:
        after = cross_fit(
            outcome,
            read.prob,
            recalibrator,
            n_folds=folds,
            sample_weight=weight,
            random_state=seed,
            progress=progress,
        )
    weight_type = predictions.request.weight_type
    with working("Computing the gain"):
        return recalibration_gain(
            outcome,
            read.prob,
            after,
            thresholds=thresholds,
            sample_weight=weight,
            weight_type=weight_type,
            **_fit(how),
        )


def _check_folds(predictions: Cases, folds: int) -> None:
    """Refuse more folds than there are events, or cases without one."""
    from bayescal.core.errors import as_count
    from bayescal.core.text import count
    from bayescal.data.cases import as_outcomes

    as_count(folds, "folds", 2)
    read = predictions
    outcome = as_outcomes(read.outcome, pos_label=predictions.request.pos_label)
    events = int(outcome.sum())
    others = outcome.size - events
    fewest = min(events, others)
    if folds <= fewest:
        return
    cure = f"Give --folds at most {fewest}."
    if fewest < 2:
        cure = (
            "No number of folds works: the map is fitted to all folds but one, and needs events "
            "and cases without one there. Collect more cases."
        )
    raise InputError(
        f"--folds {folds}: column {read.columns.outcome!r} has {count(events, 'event')} and "
        f"{count(others, 'case')} without one, and every fold needs one of each. {cure}"
    )


def plan(given: Parsed, terminal: Terminal) -> Answer:
    """Say how many patients a validation study needs."""
    level = 0.95 if given["ci_prob"] is None else as_level(given["ci_prob"])
    setting = {"prevalence": given["prevalence"], "c_statistic": given["c_statistic"]}
    truth: Any = given["truth"] or "clinical"
    scores: Any
    if given.file is not None:
        _refuse(given, "no pilot: leave them out, or the pilot", *setting)
        predictions = read_from(_request(given, PLAN))
        _introduce(predictions, terminal)
        scores, source = predictions.data, predictions.told
        if truth == PILOT_ARGUMENT:
            from bayescal.fitting import fit

            truth = fit(predictions.data, curve="beta", random_state=given["seed"] or DEFAULT_SEED)
    elif None in setting.values():
        raise InputError("--prevalence and --c-statistic are missing; or name the file of a pilot.")
    elif truth == PILOT_ARGUMENT:
        raise InputError("--truth pilot needs the file of a pilot.")
    else:
        from bayescal.validation.simulate import scores as law

        scores, source = law(**setting), setting
    from bayescal.planning import plan as planned

    named = ("of", "width", "conclude", "limit", "assurance", "analysis", "icc", "cluster_size")
    options = {name: given[name] for name in named if given[name] is not None}
    if given["simulations"] is not None:
        options["n_simulations"] = given["simulations"]
    with working("Simulating studies") as progress:
        result = planned(
            truth=truth,
            scores=scores,
            ci_prob=level,
            random_state=given["seed"] or DEFAULT_SEED,
            progress=progress,
            **options,
        )
    return Answer(result, "Plan of a validation study", source)


def demo(given: Parsed, terminal: Terminal) -> Answer:
    """Assess boosted trees on real patients; the data are part of the package."""
    from bayescal.data.table import CalibrationData
    from bayescal.report import assess as assessed

    with DEMO_FILE.open(newline="", encoding="utf-8") as file:
        patients = list(csv.DictReader(file))
    malignant = [int(patient["malignant"]) for patient in patients]
    data = CalibrationData(malignant, [float(patient["risk"]) for patient in patients])
    terminal.say(
        "Is this breast tumour malignant? Boosted trees (200 of them, too many) learned from 419 "
        "patients of the Wisconsin data that come with scikit-learn. Their risks for the other "
        f"{len(patients)} patients are assessed here. Your own: bayescal predictions.csv",
        DIM,
    )
    terminal.say("")
    with working("Fitting the families of curves"):
        result = assessed(data, random_state=DEFAULT_SEED)
    source = {"data": "scikit-learn breast cancer", "event": "malignant"}
    return Answer(result, "Calibration of boosted trees: is this tumour malignant?", source)


def app(given: Parsed, terminal: Terminal) -> None:
    """Open a page in the browser that assesses the file you drop on it.

    Nobody else can reach it, and nothing is written to disk.
    """
    import webbrowser

    from bayescal.cli.page.server import Server

    server = Server(given["port"] or 0)
    terminal.say("The page is on this computer only. Its address is secret: do not share it.")
    print(server.address, flush=True)
    terminal.say("Press Ctrl-C to stop; then the page forgets all files.")
    if not given["no_browser"]:
        webbrowser.open(server.opening())
    server.run()


# What commands share


def _how(given: Parsed, seed: int | None = DEFAULT_SEED) -> dict[str, Any]:
    """Options of the fit, checked before the file is read."""
    from bayescal.model.priors import as_prior

    level = 0.95 if given.get("ci_prob") is None else as_level(given["ci_prob"])
    prior = as_prior(given["prior"] or "neutral")
    edge = given.get("edge")
    if edge is not None and not 0 < edge < 0.5:
        raise InputError(f"edge must lie strictly between 0 and 0.5, got {edge!r}.")
    chosen = seed if given["seed"] is None else given["seed"]
    return {"prior": prior, "ci_prob": level, "random_state": chosen}


def _fit(how: dict[str, Any]) -> dict[str, Any]:
    """Options of a fit, whose intervals are asked for later."""
    return {name: value for name, value in how.items() if name != "ci_prob"}


def _thresholds(given: Parsed) -> tuple[float, ...]:
    return tuple(as_level(risk, "threshold") for risk in given["threshold"])


def _refuse(given: Parsed, goes_with: str, *names: str) -> None:
    """Say no to options that would have no effect."""
    for name in names:
        if given.get(name.replace("-", "_")) not in (None, [], False):
            raise InputError(f"--{name.replace('_', '-')} goes with {goes_with}.")


def _request(given: Parsed, options: Iterable[str], *, several_horizons: bool = False) -> Request:
    """What was typed of the file; of several models the first."""
    takes = tuple(name.replace("-", "_") for name in options)
    typed = {name: given[name] for name in takes if name in given}
    typed["prob"] = given["prob"][:1]
    return request_of(given.file, typed, takes, several_horizons=several_horizons)


def _introduce(predictions: Cases, terminal: Terminal) -> None:
    """Say what is read as what, before anything is computed."""
    terminal.say(predictions.title, BOLD)
    for line in introduction(predictions):
        terminal.say(line, DIM)
    for text in predictions.remarks:
        terminal.note(text)


def _introduce_cases(cases: Cases, title: str, terminal: Terminal) -> None:
    """The same of cases with several predictions."""
    terminal.say(title, BOLD)
    if cases.dropped:
        terminal.say(f"{cases.dropped} of {cases.rows} rows left out: a value is missing.", DIM)
    for text in cases.remarks:
        terminal.note(text)


ASSESS = (
    *OF_COLUMNS, *OF_READING, "limit", "threshold", "case", "at", "new",
    *FILES, "update", "force", *FIT,
)  # fmt: skip
COMPARE = (
    *READING, "site", "cluster", "imputation", "time", "event", "entry", "horizon", "censored",
    "ignore-column", "independent", "threshold", "in-sample", *FILES, "prior", "seed",
)  # fmt: skip
RECALIBRATE = (
    *READING,
    "threshold",
    "new",
    "method",
    "folds",
    "output",
    *FILES,
    "prior",
    "ci-prob",
    "seed",
)
PLAN = ("outcome", "prob", "positive", *PLANNED, "limit", *FILES, "ci-prob", "seed")
COMMANDS = {
    command.name: command
    for command in (
        Command("assess", "how well calibrated are the predictions of a file?", ASSESS, assess),
        Command("compare", "models on the same cases, or families of curves", COMPARE, compare),
        Command("recalibrate", "fit a map, apply it, say what it gains", RECALIBRATE, recalibrate),
        Command("plan", "how many patients a validation study needs", PLAN, plan, "[PILOT]"),
        Command("app", "a page in the browser, without typing", ("port", "no-browser"), app, ""),
        Command("demo", "the answer for real patients, without a file", FILES, demo, ""),
    )
}
