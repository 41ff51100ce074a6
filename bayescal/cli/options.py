"""Options of the command line: each is declared once, read by its kind, and shown on the help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bayescal.core.errors import InputError
from bayescal.core.text import shortened


def _file(typed: str) -> Path:
    path = Path(typed)
    if path == Path():  # of no name, and of "."
        raise ValueError("names no file. Type the name of one behind it.")
    return path


def _number(typed: str) -> float:
    try:
        return float(typed)
    except ValueError:
        raise ValueError(f"takes a number, got {shortened(repr(typed))}.") from None


def _count(typed: str) -> int:
    try:
        number = int(typed)
    except ValueError:
        number = -1
    if number < 0:
        raise ValueError(f"takes a whole number from 0, got {shortened(repr(typed))}.")
    return number


class Option(NamedTuple):
    """An option: what stands behind it in the help (nothing of a flag), and how it is read."""

    value: str
    help: str
    read: Callable[[str], Any] = str
    repeats: bool = False


OF_COLUMNS = {
    "outcome": Option("COLUMN", "0/1, or labels; found by itself if one column fits"),
    "prob": Option("COLUMN", "predicted probability; likewise. Of models: several", str, True),
    "positive": Option("VALUE", "of --outcome (or --event) that is the event"),
    "site": Option("COLUMN", "hospital of each case, or another group", str, True),
    "period": Option("COLUMN", "when each case was, such as its month", str, True),
    "subgroup": Option("COLUMN", "such as sex; several are given one by one", str, True),
    "cluster": Option("COLUMN", "such as the patient, where one has several rows", str, True),
    "time": Option("COLUMN", "follow-up of each case, in place of --outcome"),
    "event": Option("COLUMN", "with --time: 1 event, 0 left, 2 a competing event"),
    "horizon": Option("TIME", "by when the event came; 1,3,5 beside --prob a,b,c"),
}  # fmt: skip
OF_READING = {
    "sample-weight": Option("COLUMN", "weights of the cases", str, True),
    "weight-type": Option("TYPE", "counts of cases, or sampling weights"),
    "scale": Option("SCALE", "percent, logit (log-odds), or survival (with --time)"),
    "drop-missing": Option("", "leave out rows with a missing value"),
    "encoding": Option("NAME", "of a text file, such as latin-1; by default UTF-8"),
    "sheet": Option("NAME", "of an Excel workbook"),
    "ignore-column": Option("COLUMN", "hospitals, dates or ids that do not matter", str, True),
    "independent": Option("", "cases are independent, though ids repeat"),
    "every": Option("UNIT", "with dates as --period: week, month, quarter or year"),
    "imputation": Option("COLUMN", "the imputation that a row is of", str, True),
    "stratum": Option("COLUMN", "the stratum that a cluster was drawn from", str, True),
    "entry": Option("COLUMN", "with --time: when a case came under observation", str, True),
    "censored": Option("VALUE", "of --event, of a case that left, if it is not 0"),
}
QUESTION = {
    "limit": Option("ERROR", "largest error that you tolerate, such as 0.03", _number),
    "threshold": Option("RISK", "from which you act; several are given one by one", _number, True),
    "case": Option("SCORE", "give the actual risk of a case with this score", _number, True),
    "at": Option("LABEL", "with --case: the hospital or subgroup that it is of"),
    "new": Option("FILE", "scores without outcomes: what to expect of them", _file),
    "method": Option("MAP", "bayesian, intercept, logistic, beta, isotonic, ..."),
    "folds": Option("NUMBER", "cross-fit the map: what does fitting it gain?", _count),
    "in-sample": Option("", "the second --prob was fitted to these very cases"),
}
OUTPUT = {
    "html": Option("FILE", "the answer as a web page", _file),
    "word": Option("FILE", "the answer as a Word document", _file),
    "json": Option("FILE", "all numbers; to stdout if it is -", _file),
    "plot": Option("FILE", "the first figure, as .png, .svg or .pdf", _file),
    "output": Option("FILE", "the file with recalibrated scores (.csv)", _file),
    "update": Option("FILE", "a running table: add these cases, and assess all", _file),
    "force": Option("", "with --update: add cases that seem to be there"),
}  # fmt: skip
FIT = {
    "prior": Option("NAME", "of the curve: neutral or clinical"),
    "ci-prob": Option("P", "probability of the intervals, by default 0.95", _number),
    "edge": Option("P", "least distance of a score from 0 and 1", _number),
    "seed": Option("NUMBER", "repeats the numbers that are random", _count),
}
PLANNED = {
    "width": Option("WIDTH", "widest interval that is allowed, such as 0.1", _number),
    "of": Option("MEASURE", "what the interval is of: tce, observed_expected, ..."),
    "conclude": Option("WHAT", "instead: 'close enough', miscalibrated, update"),
    "assurance": Option("P", "that a study reaches the goal, by default 0.8", _number),
    "prevalence": Option("SHARE", "of events, where there is no pilot", _number),
    "c-statistic": Option("C", "with --prevalence", _number),
    "truth": Option("NAME", "calibration assumed: clinical, neutral, pilot, ..."),
    "analysis": Option("NAME", "average (default), curve, or wald"),
    "icc": Option("ICC", "correlation of two cases of a cluster", _number),
    "cluster-size": Option("NUMBER", "cases of a cluster, with --icc", _number),
    "simulations": Option("NUMBER", "of studies at each size, by default 400", _count),
}
OF_PAGE = {
    "port": Option("NUMBER", "of the page; by default one that is free", _count),
    "no-browser": Option("", "print the address, and do not open it"),
}
GROUPS = {
    "File and columns": {**OF_COLUMNS, **OF_READING},
    "Question": {**QUESTION, **PLANNED},
    "Output": OUTPUT,
    "More": {**FIT, **OF_PAGE},
}
OPTIONS: dict[str, Option] = {
    name: option for group in GROUPS.values() for name, option in group.items()
}
# Options that only --help-all shows.
BEHIND = {*OF_READING, *FIT, "at", "assurance", "analysis", "simulations", "in-sample"}
# Options whose argument has another name in Python.
PYTHON_NAMES = {
    "folds": "n_folds",
    "outcome": "y_true",
    "positive": "pos_label",
    "prob": "y_prob",
    "seed": "random_state",
    "simulations": "n_simulations",
    "threshold": "thresholds",
}
# An argument of Python in a sentence, such as `edge=` or `prior='clinical'`, but not in a call.
ARGUMENT = re.compile(r"""(?<![\w'"(])(\w+)=(?:'(\w+)')?(?=[\s,;:]|\.(?!\.)|$)""")
SURVIVAL = "If they are, pass 1 - y_prob."
SURVIVAL_TYPED = "Read them with --scale survival if they are, and without it if they are risks."
HELP = ("-h", "--help", "--help-all")


@dataclass(frozen=True)
class Command:
    """A command; its `file` is empty if it has none, in brackets if it may be left out."""

    name: str
    purpose: str
    options: tuple[str, ...]
    work: Callable[..., Any]
    file: str = "FILE"


class Parsed(dict[str, Any]):
    """What was typed, by option with underscores; None, or an empty list, of what was not."""

    @property
    def file(self) -> Path | None:
        """The argument of the command."""
        path: Path | None = self["file"]
        return path


def parsed(command: Command, words: Sequence[str]) -> Parsed:
    """Read the words behind a command."""
    given = Parsed(file=None)
    for name in command.options:
        option = OPTIONS[name]
        given[_key(name)] = [] if option.repeats else None if option.value else False
    rest = iter(words)
    for word in rest:
        typed, is_set, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            if given.file is not None or not command.file:
                raise InputError(
                    f"{shortened(repr(word))} is one argument too many.{_see(command)}"
                )
            given["file"] = _read(OPTIONS["new"], word, f"the argument {shortened(repr(word))}")
            continue
        name = _named(typed.removeprefix("--").replace("_", "-"))
        if name not in command.options or not typed.startswith("--"):
            if typed == f"--{name}" and name in OPTIONS:
                raise InputError(
                    f"{typed} is an option of other commands, not of {command.name}.{_see(command)}"
                )
            raise InputError(f"there is no option {shortened(typed)}.{_meant(name, command)}")
        option = OPTIONS[name]
        if not option.value:
            if is_set:
                raise InputError(f"--{name} takes no value, got {shortened(repr(value))}.")
            given[_key(name)] = True
            continue
        if not is_set:
            following = next(rest, None)
            if following is None or _is_option(following, command):
                raise InputError(
                    f"--{name} needs a value behind it: {option.value}.{_see(command)}"
                )
            value = following
        read = _read(option, value, f"--{name}")
        if option.repeats:
            given[_key(name)].append(read)
        elif given[_key(name)] is not None:
            raise InputError(f"--{name} was given twice. Give it once.")
        else:
            given[_key(name)] = read
    if given.file is None and command.file and not command.file.startswith("["):
        raise InputError(f"{command.file} is missing.{_see(command)}")
    return given


def _key(name: str) -> str:
    return name.replace("-", "_")


def _read(option: Option, typed: str, called: str) -> Any:
    try:
        return option.read(typed)
    except ValueError as error:
        raise InputError(f"{called} {error}") from None


def _named(typed: str) -> str:
    """An option by its name, or by that of Python's argument."""
    others = {python.replace("_", "-"): name for name, python in PYTHON_NAMES.items()}
    return others.get(typed, typed) if typed not in OPTIONS else typed


def _is_option(word: str, command: Command) -> bool:
    name = _named(word.partition("=")[0].removeprefix("--"))
    return word in HELP or (word.startswith("--") and name in command.options)


def _see(command: Command) -> str:
    return f" See 'bayescal {command.name} --help'."


def _meant(name: str, command: Command) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, command.options, 1)
    return f" Did you mean --{near[0]}?" if near else _see(command)


def as_typed(text: str) -> str:
    """A sentence with its arguments of Python as the options that are typed."""

    def option(match: re.Match[str]) -> str:
        name = _named(match[1].replace("_", "-"))
        return f"--{name} {match[2] or ''}".rstrip() if name in OPTIONS else match[0]

    return ARGUMENT.sub(option, text.replace(SURVIVAL, SURVIVAL_TYPED))


def in_options(message: str, command: Command, given: Mapping[str, Any]) -> str:
    """An error in which arguments of Python are the options that were typed."""
    message = as_typed(message)
    argument, _, rest = message.partition(" ")
    name = _named(argument.replace("_", "-"))
    if not argument.isidentifier() or name not in command.options:
        return message
    typed = given.get(_key(name))
    column = typed[-1] if isinstance(typed, list) and typed else typed
    if rest.startswith("holds ") and isinstance(column, str):
        return f"column {shortened(repr(column))} {rest}"
    return f"--{name} {rest}"


def help_of(command: Command, *, full: bool = False) -> str:
    """The help of a command: one screen, or with all options."""
    lines = [f"bayescal {command.name} {command.file}".rstrip() + f": {command.purpose}"]
    lines += _options_of(command.options, full=full)
    hidden = [name for name in command.options if name in BEHIND]
    if hidden and not full:
        lines += ["", f"bayescal {command.name} --help-all shows {len(hidden)} more options."]
    return "\n".join(lines)


def overview(commands: Iterable[Command]) -> str:
    """The help of the command line: one screen."""
    listed = list(commands)
    first = listed[0]
    lines = ["How far can predicted probabilities be trusted? With Bayesian intervals.", ""]
    for command in listed:
        name = command.file if command is first else f"{command.name} {command.file}".rstrip()
        lines.append(f"  bayescal {name:18s} {command.purpose}")
    lines += _options_of(first.options, full=False)
    lines += ["", "More options: bayescal --help-all. Of a command: bayescal COMMAND --help."]
    return "\n".join(lines)


def _options_of(names: Sequence[str], *, full: bool) -> list[str]:
    lines = []
    for title, group in GROUPS.items():
        rows = [(name, group[name]) for name in names if name in group]
        rows = [(name, option) for name, option in rows if full or name not in BEHIND]
        lines += ["", title] if rows else []
        for name, option in rows:
            lines.append(f"  {f'--{name} {option.value}'.rstrip():24s} {option.help}")
    return lines
