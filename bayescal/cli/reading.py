"""What was typed of a file: which column holds what; and what is said of it when it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bayescal.cli.terminal import as_command, working
from bayescal.core.errors import InputError
from bayescal.core.text import count, shortened
from bayescal.data.columns import OF_TABLE, ROLES, Columns, Door, Request

if TYPE_CHECKING:
    from bayescal.data.reading import Cases

__all__ = ["COMMAND_LINE", "introduction", "read_from", "request_of"]

# Options that may be given several times.
REPEATED = ("subgroup", "ignore_column")
OPTIONS = (
    *("positive", "weight_type", "horizon", "censored", "every", "scale", "drop_missing"),
    *("ignore_column", "independent", "encoding", "sheet"),
)
# Options that are spelt differently from the argument in Python.
TYPED = {"pos_label": "positive", "cause": "positive", "ignore": "ignore-column"}
OF_WORDS = {"outcome": "outcome", "prob": "score"}


def _typed(name: str, value: Any = None) -> str:
    """An option as it is typed, perhaps with its value."""
    option = f"--{TYPED.get(name, name).replace('_', '-')}"
    return option if value is None or value is True else f"{option} {as_command([str(value)])}"


COMMAND_LINE = Door(_typed, "bayescal compare", "an empty cell")


def request_of(
    file: Any,
    typed: Mapping[str, Any] | None = None,
    takes: tuple[str, ...] = (*ROLES, "independent"),
    *,
    several_horizons: bool = False,
) -> Request:
    """What was typed of a file, by option; `takes` has those of the command.

    The file is not opened yet.
    """
    told: dict[str, Any] = dict.fromkeys([*ROLES, *OF_TABLE, *OPTIONS]) | dict(typed or {})
    for name, given in told.items():
        if isinstance(given, (list, tuple)) and name not in REPEATED:
            if len(given) > 1 and name in ROLES:
                several = " Name several subgroups with --subgroup." * (name == "site")
                raise InputError(f"{_typed(name)} is one column, and was given twice.{several}")
            told[name] = given[0] if given else None
    if told["cluster"] is not None and told["independent"]:
        raise InputError("--cluster and --independent contradict each other. Leave one out.")
    horizons = _horizons(told, several_horizons=several_horizons)
    probs = _columns_of(told["prob"], horizons) if len(horizons) > 1 else (told["prob"],)
    named = {name: told[name] for name in (*ROLES, *OF_TABLE)} | {"prob": probs[0]}
    as_typed = ("weight_type", "censored", "every", "encoding", "sheet")
    return Request(
        file,
        Columns.given(**named),
        others=dict.fromkeys(probs, "prob") if len(probs) > 1 else {},
        horizon=horizons if len(horizons) > 1 else (*horizons, None)[0],
        scale=told["scale"] or "probability",
        drop_missing=bool(told["drop_missing"]),
        needs_outcomes=True,
        ignore=tuple(told["ignore_column"] or ()),
        independent=bool(told["independent"]) or "independent" not in takes,
        asks=tuple(name for name in ROLES if name in takes),
        door=COMMAND_LINE,
        **{"cause" if told["time"] is not None else "pos_label": told["positive"]},
        **{name: told[name] for name in as_typed},
    )


def _horizons(told: Mapping[str, Any], *, several_horizons: bool) -> tuple[float, ...]:
    """The horizons as they were typed, such as 5 or 1,3,5."""
    typed = told["horizon"]
    try:
        horizons = tuple(map(float, typed.split(","))) if typed else ()
    except ValueError:
        raise InputError(
            f"--horizon {typed} is no number. Type one time, such as --horizon 5, or several with "
            "commas between, such as --horizon 1,3,5."
        ) from None
    if len(horizons) < 2:
        return horizons
    if not several_horizons:
        raise InputError(
            f"--horizon names {len(horizons)} horizons, and an assessment alone takes several. "
            "Name one."
        )
    for name, role in ROLES.items():
        if role.groups and told[name]:
            raise InputError(
                f"{_typed(name)} does not go with several horizons. Name one, such as "
                f"--horizon {horizons[0]:g}."
            )
    return horizons


def _columns_of(typed: str | None, horizons: tuple[float, ...]) -> tuple[str, ...]:
    """The columns of the risks by several horizons."""
    size = len(horizons)
    example = ",".join(f"r{at:g}" for at in horizons)
    if typed is None:
        raise InputError(
            f"--prob is missing: with {size} horizons it names a column of risks for each, in "
            f"their order, such as --prob {example}."
        )
    names = tuple(part.strip() for part in typed.split(","))
    if len(names) != size:
        told = ", ".join(f"{at:g}" for at in horizons)
        raise InputError(
            f"--prob names {count(len(names), 'column')} and --horizon {size} times ({told}). "
            f"Name a column for each time, in their order, such as --prob {example}."
        )
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--prob names the column {name!r} twice. Name one for each time.")
    return names


def read_from(request: Request) -> Cases:
    """The cases of a file."""
    from bayescal.data.reading import read_cases

    with working(f"Reading {request.path}"):
        return read_cases(request)


def introduction(cases: Cases) -> Iterator[str]:
    """Why these columns were taken, how they were read, and what was left out."""
    columns, scale, data = cases.columns, cases.request.as_written, cases.data
    if cases.reasons:
        told = "; ".join(
            f"{shortened(getattr(columns, role))} as the {OF_WORDS[role]} ({reason})"
            for role, reason in cases.reasons.items()
        )
        yield f"Taken without being named: {told}."
    if cases.dropped:
        yield f"{cases.dropped} of {cases.rows} rows left out: a value is missing."
    if scale.name != "probabilities":
        yield (
            f"Scores are read as {scale.name}; as probabilities they run from "
            f"{data.score.min():.3g} to {data.score.max():.3g}."
        )
    m = len(data.imputations)
    if columns.sample_weight is not None:
        of = f"counts, {count(data.n, 'case')} in all"
        if data.weight_type == "sampling":
            of = f"sampling weights of {count(len(cases.at) // max(1, m), 'case')}, worth "
            of += f"{data.sampling_size:,.1f} (Kish's effective size)"
        yield f"The weights are {of}."
    if m:
        of = shortened(str(columns.imputation))
        yield f"{m} imputations of {count(round(data.n), 'case')} (column {of})."
    if cases.original:
        yield (
            f"{count(cases.original, 'row')} of imputation 0 left out: values are missing there, "
            "as in the data before imputation."
        )
