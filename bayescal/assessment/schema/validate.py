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

__all__ = ["first_fault", "parsed"]

MOST_DIGITS = 300
"""Of a whole number; more digits than a double can count are read as a double, as infinity."""
DEEPEST_LEVEL = 50
"""Of values inside values."""
MOST_NAMES = 6
"""Names of a path that are shown."""

Rules = Mapping[str, Any]
Path = tuple[str | int, ...]
Check = Callable[[Any, Rules], str]


def parsed(text: str) -> Any:
    """The value that a text in JSON stands for."""
    return json.loads(text, parse_int=_as_number)


def first_fault(record: Any, schema: Rules) -> str:
    """What of a parsed record contradicts a schema, and where; empty if nothing does.

    Numbers must be finite, and values nested at most 50 levels deep.
    """
    waiting: list[tuple[Path, Any, Rules]] = [((), record, schema)]
    while waiting:
        path, value, rules = waiting.pop()
        while "$ref" in rules:
            rules = schema["$defs"][rules["$ref"].rpartition("/")[2]]
        fault = _not_of_json(path, value)
        for keyword, check in CHECKS.items():
            if not fault and keyword in rules:
                fault = check(value, rules)
        if fault:
            return f"{_shown_path(path)} {fault}"
        waiting.extend(reversed([*_parts(path, value, rules)]))
    return ""


def _parts(path: Path, value: Any, rules: Rules) -> Iterator[tuple[Path, Any, Rules]]:
    """The values in a value, each with its place and its rules."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index), item, rules.get("items", {})
    elif isinstance(value, dict):
        known, other = rules.get("properties", {}), rules.get("additionalProperties", True)
        for name, item in value.items():
            more = other if isinstance(other, dict) else {}
            yield (*path, name), item, known.get(name, more)


def _as_number(digits: str) -> int | float:
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def _not_of_json(path: Path, value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "is not a finite number"
    return f"is more than {DEEPEST_LEVEL} levels deep" if len(path) > DEEPEST_LEVEL else ""


def _type(value: Any, rules: Rules) -> str:
    names = rules["type"] if isinstance(rules["type"], list) else [rules["type"]]
    if any(TYPES[name](value) for name in names):
        return ""
    return f"is {_shown(value)}, and must be of type {' or '.join(names)}"


def _const(value: Any, rules: Rules) -> str:
    return "" if _equal(value, rules["const"]) else _must(value, repr(rules["const"]))


def _enum(value: Any, rules: Rules) -> str:
    if any(_equal(value, one) for one in rules["enum"]):
        return ""
    return _must(value, " or ".join(map(repr, rules["enum"])))


def _pattern(value: Any, rules: Rules) -> str:
    if not isinstance(value, str) or re.search(rules["pattern"], value):
        return ""
    return _must(value, f"like {rules['pattern']}")


def _limit(keyword: str, keeps: Callable[[Any, Any], bool], words: str) -> Check:
    def check(value: Any, rules: Rules) -> str:
        if not _is_number(value) or keeps(value, rules[keyword]):
            return ""
        return _must(value, f"{words} {rules[keyword]}")

    return check


def _required(value: Any, rules: Rules) -> str:
    missing = [name for name in rules["required"] if isinstance(value, dict) and name not in value]
    return f"lacks {missing[0]}" if missing else ""


def _additional(value: Any, rules: Rules) -> str:
    if rules["additionalProperties"] is not False or not isinstance(value, dict):
        return ""
    more = [name for name in value if name not in rules.get("properties", {})]
    return f"holds {shortened(more[0])}, which is not known" if more else ""


def _must(value: Any, what: str) -> str:
    return f"is {_shown(value)}, and must be {what}"


def _equal(value: Any, other: Any) -> bool:
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return _is_number(value) and value % 1 == 0


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return shortened(json.dumps(value))


def _shown_path(path: Path) -> str:
    """The names on the way to a value: `stretches[0].state`."""
    if not path:
        return "the record"
    names = [f"[{part}]" if isinstance(part, int) else f".{shortened(part)}" for part in path]
    return "".join(names[:MOST_NAMES]).removeprefix(".") + "…" * (len(names) > MOST_NAMES)


TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": _is_integer,
}

CHECKS: dict[str, Check] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "pattern": _pattern,
    "minimum": _limit("minimum", operator.ge, "at least"),
    "maximum": _limit("maximum", operator.le, "at most"),
    "exclusiveMinimum": _limit("exclusiveMinimum", operator.gt, "above"),
    "exclusiveMaximum": _limit("exclusiveMaximum", operator.lt, "below"),
    "required": _required,
    "additionalProperties": _additional,
}
"""What each keyword asks of a value by itself."""
