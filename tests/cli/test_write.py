"""Tables are written as they are."""

import csv

import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescal.cli.files import write_table

FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=4))
def test_text_is_written_so_that_it_reads_the_same(tmp_path, rows):
    path = tmp_path / "table.csv"
    write_table(path, pd.DataFrame(rows, columns=["a", "b"]).assign(p=0.5))
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["a", "b", "p"], *([*row, "0.5"] for row in rows)]
