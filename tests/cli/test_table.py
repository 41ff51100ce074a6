"""Tables on the terminal."""

from io import StringIO

import numpy as np
from rich.console import Console

import bayescal as bc
from bayescal.cli._table import drawn, summary_table


def test_a_caution_stands_on_the_line_of_its_number():
    s = np.random.default_rng(1).beta(0.2, 0.3, 300)
    y = (np.random.default_rng(2).random(300) < s).astype(int)
    printed = StringIO()
    Console(width=240, file=printed).print(
        drawn(summary_table(bc.fit(y, s, draws=400, random_state=1).summary()))
    )
    lines = [line for line in printed.getvalue().splitlines() if "may be too narrow" in line]
    assert ["E90" in line or "Emax" in line for line in lines] == [True, True]
