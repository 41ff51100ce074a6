"""An assessment at several horizons on the terminal, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescal.cli._notes import as_typed
from bayescal.cli._progress import working
from bayescal.cli._terminal import is_narrow, note, output, say, wrote
from bayescal.cli._write import save_figure, source_lines, write_record
from bayescal.cli.reading import Reading, Times, checked, labels_of, read_from
from bayescal.core.text import shortened

if TYPE_CHECKING:
    from bayescal.assessment.horizons import HorizonAssessment

__all__ = ["assess_horizons"]


def assess_horizons(
    reading: Reading,
    times: Times,
    options: dict[str, Any],
    *,
    plot: Path | None,
    json: Path | None,
    html: Path | None,
    word: Path | None,
) -> None:
    """Assess the risks of a file by several horizons, show what came out, and write the files.

    Parameters
    ----------
    options : dict
        Of `bayescal.assess`.
    """
    import pandas as pd

    from bayescal.assessment import assess

    read = read_from(reading, times)
    of_cases = {"sample_weight": read.weight, "weight_type": reading["weight_type"]}
    of_cases |= {"cluster": labels_of(read, "cluster"), "stratum": labels_of(read, "stratum")}
    with checked(read), working("Fitting the families of curves at each horizon"):
        risks = pd.DataFrame({name: read.probs[name] for name in times.probs})
        several: Any = assess(read.outcome, risks, horizon=times.horizons, **options, **of_cases)
        a: HorizonAssessment[Any] = several
    console = output(json)
    told = ", ".join(
        f"{shortened(name)} by {at:g}" for name, at in zip(times.probs, times.horizons, strict=True)
    )
    say(console, f"Calibration of the risks of {shortened(times.event)}: {told}", "bold")
    if read.dropped:
        say(console, f"{read.dropped} of {read.rows} rows left out: a value is missing.")
    notes = [as_typed(text) for text in a.notes]
    for text in notes:
        note(console, text)
    _show(a, console)
    source = {
        "file": str(reading.file),
        "rows_read": read.rows,
        "rows_dropped": read.dropped,
        "time": times.time,
        "event": times.event,
        "scores": ", ".join(times.probs),
        "horizons": ", ".join(f"{at:g}" for at in times.horizons),
    }
    if plot is not None:
        _draw(plot, a)
    if json is not None:
        write_record(json, a.to_dict() | {"notes": notes, "source": source})
    with working("Writing the report"):
        if html is not None:
            a.to_html(html, source=source_lines(source))
        if word is not None:
            a.to_word(word, source=source_lines(source))
    for path in (plot, json, html, word):
        wrote(console, path)


def _show(a: HorizonAssessment[Any], console: Any) -> None:
    from bayescal.cli._table import drawn

    for text in a.verdicts():
        say(console, text, "bold")
    console.print(drawn(a.tables["horizons"], narrow=is_narrow(console)))
    say(console, as_typed(a.limit()))
    seed = a.at(a.horizons[0]).seed
    say(console, f"Seed {seed} repeats these numbers. --horizon with one time has more.", "dim")


def _draw(path: Path, a: HorizonAssessment[Any]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.4, 7.6), layout="constrained")
    a.plot(figure.subplots(), ci_probs=(a.at(a.horizons[0]).ci_prob,))
    save_figure(path, figure)
