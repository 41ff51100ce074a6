"""A record from outside, parsed and checked against its JSON schema.

Of JSON Schema this is what our schema uses.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bayescal.core.text import shortened

# Of a whole number; more digits than a double can count are read as a double, as infinity.
MOST_DIGITS = 300
# Of values inside values.
DEEPEST_LEVEL = 50
# Names of a path that are shown.
MOST_NAMES = 6

Rules = Mapping[str, Any]
Path = tuple[str | int, ...]


def parsed(text: str) -> Any:
    """The value that a text in JSON stands for."""
    return json.loads(
        text, parse_int=lambda digits: (int if len(digits) <= MOST_DIGITS else float)(digits)
    )


def first_fault(record: Any, schema: Rules) -> str:
    """What of a parsed record contradicts a schema, and where; empty if nothing does.

    Numbers must be finite, and values nested at most 50 levels deep.
    """
    return next(_faults(record, schema, schema.get("$defs", {}), ()), "")


def _faults(value: Any, rules: Rules, named: Rules, path: Path) -> Iterator[str]:
    """Faults of a value, then those of the values in it."""
    while "$ref" in rules:
        rules = named[rules["$ref"].rpartition("/")[2]]
    at, known = _shown_path(path), rules.get("properties", {})
    other = rules.get("additionalProperties", True)
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{at} is not a finite number"
    if len(path) > DEEPEST_LEVEL:
        yield f"{at} is more than {DEEPEST_LEVEL} levels deep"
    for keyword, (keeps, words, show) in CHECKS.items():
        if keyword in rules and not keeps(value, rules[keyword]):
            rule = rules[keyword] if isinstance(rules[keyword], list) else [rules[keyword]]
            yield f"{at} is {_shown(value)}, and must be {words}{' or '.join(map(show, rule))}"
    if isinstance(value, dict):
        missing = [name for name in rules.get("required", ()) if name not in value]
        yield from (f"{at} lacks {name}" for name in missing)
        unknown = [name for name in value if other is False and name not in known]
        yield from (f"{at} holds {shortened(name)}, which is not known" for name in unknown)
        for name, item in value.items():
            more = known.get(name, other if isinstance(other, dict) else {})
            yield from _faults(item, more, named, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(item, rules.get("items", {}), named, (*path, index))


def _equal(value: Any, other: Any) -> bool:
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_of_type(value: Any, names: str | list[str]) -> bool:
    for name in [names] if isinstance(names, str) else names:
        is_integer = name != "integer" or (_is_number(value) and value % 1 == 0)
        is_bool = isinstance(value, bool)
        if isinstance(value, TYPES[name]) and is_integer and is_bool == (name == "boolean"):
            return True
    return False


def _limit(keeps: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda value, limit: not _is_number(value) or keeps(value, limit)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return shortened(json.dumps(value))


def _shown_path(path: Path) -> str:
    """The names on the way to a value: `stretches[0].state`."""
    names = [f"[{part}]" if isinstance(part, int) else f".{shortened(part)}" for part in path]
    shown = "".join(names[:MOST_NAMES]).removeprefix(".") + "…" * (len(names) > MOST_NAMES)
    return shown or "the record"


TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": int | float,
    "integer": int | float,
}

# Whether a value keeps what a keyword asks of it by itself, and how that is said.
CHECKS: dict[str, tuple[Callable[[Any, Any], bool], str, Callable[[Any], str]]] = {
    "type": (_is_of_type, "of type ", str),
    "const": (_equal, "", repr),
    "enum": (lambda value, known: any(_equal(value, one) for one in known), "", repr),
    "pattern": (
        lambda value, like: not isinstance(value, str) or bool(re.search(like, value)),
        "like ",
        str,
    ),
    "minimum": (_limit(operator.ge), "at least ", str),
    "maximum": (_limit(operator.le), "at most ", str),
    "exclusiveMinimum": (_limit(operator.gt), "above ", str),
    "exclusiveMaximum": (_limit(operator.lt), "below ", str),
}
