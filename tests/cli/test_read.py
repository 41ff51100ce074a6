"""Tables are read as what they are."""

from __future__ import annotations

import csv

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescal.cli._read import open_source

FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=4))
def test_verbatim_fields_are_what_was_written(tmp_path, rows) -> None:
    path = tmp_path / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    read = open_source(path).load(verbatim=True)
    assert list(read.itertuples(index=False, name=None)) == rows
