"""`bayescal simulate`: cases whose true calibration is known, to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["simulate"]


def simulate(
    truth: Annotated[
        str | None, typer.Argument(help="Name of a population. Without it, all names are listed.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="CSV file for the cases: columns outcome and score.", dir_okay=False),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of cases.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
) -> None:
    """Simulate predictions and outcomes whose true calibration error is known."""
    from bayescal._base.errors import InputError
    from bayescal._base.text import count
    from bayescal.cli._terminal import output as terminal
    from bayescal.cli._terminal import say
    from bayescal.cli._write import write_table
    from bayescal.validation.simulate import names
    from bayescal.validation.simulate import truth as truth_of

    console = terminal()
    if truth is None:
        if output is not None:
            raise InputError(f"TRUTH is missing: what to simulate into {output}? For example D5.")
        from rich.table import Table

        table = Table("Truth", box=None, pad_edge=False)
        for title in ("TCE", "Prevalence"):
            table.add_column(title, justify="right")
        for name in names():
            known = truth_of(name)
            table.add_row(name, f"{known.tce():.3f}", f"{known.prevalence():.3f}")
        console.print(table)
        return
    if output is None:
        raise InputError("--output is missing: name the CSV file for the cases.")
    import pandas as pd

    known = truth_of(truth)
    outcomes, scores = known.sample(n, random_state=seed)
    write_table(output, pd.DataFrame({"outcome": outcomes, "score": scores}))
    events, error, prevalence = int(outcomes.sum()), known.tce(), known.prevalence()
    say(
        console,
        f"Wrote {output} with {count(n, 'case')} of {truth}, {count(events, 'event')}. "
        f"The true calibration error is {error:.4f}, the prevalence {prevalence:.3f}.",
    )
    say(console, f"Seed {seed} repeats these cases.", "dim")
