"""A record that is read back is held against its schema, and refused with the place of a fault."""

import copy
import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import bayescal as bc
from bayescal.report.record import CHECKS, DEEPEST_LEVEL, first_fault, parsed, schema

Place = tuple[str | int, ...]


OPTIONS = {
    "site": np.arange(300) % 3,
    "thresholds": (0.1,),
    "limit": 0.03,
    "estimators": ("ece",),
    "draws": 400,
    "random_state": 1,
}


@pytest.fixture(scope="module")
def record():
    """With three sites, thresholds and a limit."""
    y, s = bc.simulate.sample("clinical-low-shifted", 300, random_state=1)
    a = bc.assess(y, s, **OPTIONS)
    return dict(json.loads(json.dumps(a.to_dict())))


def test_missing_outcomes_are_in_the_record(tmp_path):
    y, s = bc.simulate.sample("calibrated", 300, random_state=1)
    known = np.where(np.arange(300) % 10 > 0, y, np.nan)
    a = bc.assess(known, s, limit=0.03, draws=400, random_state=1)
    told = read(tmp_path, json.dumps(a.to_dict()))["missing_outcomes"]
    assert sum(fifth["cases"] for fifth in told["missing"]) == 300
    assert sum(fifth["known"] for fifth in told["missing"]) == 270
    at_random = {row["functional"]: row for row in told["sensitivity"] if row["delta"] == 0}
    everyone = bc.fit_known(known, s, draws=400, random_state=1).posterior
    assert np.isclose(at_random["tce"]["mean"], everyone.tce().mean(), rtol=0.2)
    assert told["delta_to_change"]["lower"] < 0 < told["delta_to_change"]["upper"]


def read(tmp_path, text):
    file = tmp_path / "record.json"
    file.write_text(text)
    return bc.read_report(file)


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def changed(record, path, value):
    """A copy with another value there; without any for a removal."""
    made = copy.deepcopy(record)
    *way, last = path
    inner = made
    for key in way:
        inner = inner[key]
    if value is REMOVED:
        del inner[last]
    elif value is ADDED:
        inner[last] = {"more": 1} | (inner[last] if isinstance(inner[last], dict) else {})
    else:
        inner[last] = value
    return made


REMOVED, ADDED = object(), object()
VALUES = (
    REMOVED, ADDED, None, True, 0, 1, -5, 2, 0.5, 1.0, 1e25, -0.0, "", "on", "0" * 64, [], {}, [1],
    {"x": None}, ["x"], [{}], "close enough",
)  # fmt: skip


@pytest.mark.slow
def test_it_agrees_with_jsonschema_on_records_that_were_changed(record):
    judge, rng = Draft202012Validator(schema()), np.random.default_rng(0)
    assert first_fault(record, schema()) == ""
    assert judge.is_valid(record)
    everywhere = [path for path in places(record) if path]
    agreed = {True: 0, False: 0}
    for path in rng.permutation(np.array(everywhere, dtype=object))[:150]:
        other = changed(record, tuple(path), VALUES[rng.integers(len(VALUES))])
        valid = judge.is_valid(other)
        assert (first_fault(other, schema()) == "") is valid, path
        agreed[valid] += 1
    assert min(agreed.values()) > 10


@pytest.mark.parametrize("kind", [{"type": "integer", "minimum": 2}, {"const": 1}, {"enum": ["a"]}])
@pytest.mark.parametrize("value", [2, 2.0, 2.5, 1, 1.0, True, False, "a", None, 1e25, [2], {}])
def test_it_agrees_with_jsonschema_on_single_values(kind, value):
    assert (first_fault(value, kind) == "") is Draft202012Validator(kind).is_valid(value)


def test_it_knows_every_keyword_of_the_schema():
    def keywords(rules):
        yield from rules
        inner = [*rules.get("properties", {}).values(), *rules.get("$defs", {}).values()]
        inner += [rules[name] for name in ("items", "additionalProperties") if name in rules]
        for each in inner:
            if isinstance(each, dict):
                yield from keywords(each)

    words = {"$schema", "$defs", "$ref", "title", "description", "properties", "items"}
    words |= {"required", "additionalProperties"}
    assert set(keywords(schema())) <= words | set(CHECKS)


DIGITS = "9" * 10_000


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        (("cases",), "-5", "cases is -5, and must be at least 0"),
        (("cases",), "1e999", "cases is not a finite number"),
        (("cases",), DIGITS, "cases is not a finite number"),
        (("functionals", "tce", "mean"), "NaN", "functionals.tce.mean is not a finite number"),
        (("settings", "seed"), '"x"', 'settings.seed is "x", and must be of type number'),
        (("rule",), '"up"', r'rule is "up", and must be \'labels\''),
        (("sha256",), '"0"', "sha256 is .*, and must be like"),
        (("limit", "value"), "1", "limit.value is 1, and must be below 1"),
        (("limit", "value"), "0", "limit.value is 0, and must be above 0"),
        (("mean_score",), "1.5", "mean_score is 1.5, and must be at most 1"),
        (("mean_score",), "true", "mean_score is true, and must be of type number"),
        (("schema",), "true", "schema is true, and must be 3"),
        (("notes",), "{}", "notes is an object, and must be of type array"),
        (("functionals", "tce"), '{"label": "x"}', "functionals.tce lacks ideal"),
        (("diagnostics",), '{"x": [1, [Infinity]]}', r"diagnostics.x\[1\]\[0\] is not a finite"),
        (("diagnostics",), '{"a":' * 900 + "1" + "}" * 900, "diagnostics.a.a.a.a.a… is more than"),
    ],
)
def test_a_fault_is_named_with_its_place(record, tmp_path, path, text, fault):
    written = json.dumps(changed(record, path, "@@")).replace('"@@"', text)
    with pytest.raises(
        bc.errors.InputError, match=f"record.json is damaged or was edited: {fault}"
    ):
        read(tmp_path, written)


def test_names_that_no_record_has_are_refused(record, tmp_path):
    with pytest.raises(bc.errors.InputError, match="the record holds more, which is not known"):
        read(tmp_path, json.dumps(record | {"more": 1}))
    with pytest.raises(bc.errors.InputError, match="the record lacks notes"):
        read(tmp_path, json.dumps({key: record[key] for key in record if key != "notes"}))


@pytest.mark.parametrize("page", ["{}", '<script id="bayescal-record">{}</script>'])
def test_what_is_nested_too_deeply_is_refused(tmp_path, page):
    with pytest.raises(bc.errors.InputError, match=r"record\.json is nested too deeply"):
        read(tmp_path, page.replace("{}", '{"headline": ' + "[" * 200_000))


def test_levels_are_counted():
    value = 1
    for _ in range(DEEPEST_LEVEL):
        value = [value]
    assert first_fault(value, {}) == ""
    assert first_fault([value], {}).endswith(f"is more than {DEEPEST_LEVEL} levels deep")


def test_a_seed_of_many_digits_is_kept():
    assert parsed(str(2**128)) == 2**128


def test_a_link_to_itself_is_no_report(tmp_path):
    link = tmp_path / "loop.html"
    link.symlink_to(link)
    with pytest.raises(bc.errors.InputError, match="is not a file"):
        bc.read_report(link)


def test_a_record_of_a_former_version_is_named(record, tmp_path):
    with pytest.raises(bc.errors.InputError, match="is of version 2 of the format"):
        read(tmp_path, json.dumps(record | {"schema": 2}))
