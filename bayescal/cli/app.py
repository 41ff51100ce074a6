"""The command: its subcommands, and what becomes of an error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bayescal.cli._app import app_command
from bayescal.cli._assess import assess
from bayescal.cli._compare import compare
from bayescal.cli._demo import demo
from bayescal.cli._drift import drift
from bayescal.cli._gain import gain
from bayescal.cli._missing import missing
from bayescal.cli._models import compare_models
from bayescal.cli._monitor import monitor
from bayescal.cli._notes import in_options
from bayescal.cli._options import PYTHON_NAMES
from bayescal.cli._plan import plan
from bayescal.cli._predict import predict
from bayescal.cli._recalibrate import recalibrate
from bayescal.cli._recommend import recommend
from bayescal.cli._terminal import complain
from bayescal.core.errors import InputError

__all__ = ["main"]

INTERRUPTED = 130


class Command(TyperCommand):
    """A subcommand, whose errors name its options.

    Its `--help` is shown by its names alone, as other flags are. Options can be given by the names
    of Python's arguments as well, such as `--random-state`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            python = PYTHON_NAMES.get(parameter.name or "")
            if python is not None and parameter.param_type_name == "option":
                parameter.opts.append(f"--{python.replace('_', '-')}")

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        for each in self.params:
            if each.param_type_name == "option" and _is_nameless(each, ctx.params.get(each.name)):
                raise InputError(f"{each.opts[0]} names no file. Type the name of one behind it.")
        try:
            return super().invoke(ctx)
        except InputError as error:
            typed = {}
            for each in self.params:
                given = ctx.params.get(each.name)
                first = given[0] if isinstance(given, (list, tuple)) and given else given
                typed[f"--{(each.name or '').replace('_', '-')}"] = first
            raise InputError(in_options(str(error), typed)) from error

    def get_help_option(self, ctx: Any) -> Any:
        """The option, without the type of its value."""
        return _without_type(super().get_help_option(ctx))


class Group(TyperGroup):
    """All subcommands; likewise."""

    def get_help_option(self, ctx: Any) -> Any:
        """The option, without the type of its value."""
        return _without_type(super().get_help_option(ctx))


def _is_nameless(option: Any, value: Any) -> bool:
    """Whether an option for a file got no name; older versions of Typer pass names as text."""
    kind = getattr(getattr(option, "type", None), "name", None)
    return (Path(value) if kind == "path" and isinstance(value, str) else value) == Path()


def _without_type(option: Any) -> Any:
    if option is not None:
        option.metavar = " "
    return option


app = typer.Typer(
    cls=Group,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    demo, assess, missing, drift, monitor, predict, compare, compare_models, recommend, gain,
    recalibrate, plan,
)  # fmt: skip
for subcommand in COMMANDS:
    app.command(cls=Command)(subcommand)
app.command("app", cls=Command)(app_command)


@app.callback(invoke_without_command=True)
def bayescal(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", metavar=" ", help="Print the version and exit.")
    ] = False,
) -> None:
    """Assess how well predicted probabilities are calibrated, with Bayesian intervals."""
    if show_version:
        from importlib.metadata import version

        print(f"bayescal {version('bayescal')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Examples
    --------
    >>> from bayescal.cli import main
    >>> main(["assess", "predictions.csv"])  # doctest: +SKIP
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name the terminal cannot show
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    command = typer.main.get_command(app)
    try:
        code = command.main(arguments, prog_name="bayescal", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except InputError as error:
        return complain(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return complain(f"{where}{error.strerror or error}.")
    except Exception as error:
        if not hasattr(error, "format_message"):  # every usage error of typer has it
            raise
        context = getattr(error, "ctx", None)
        path = "bayescal" if context is None else context.command_path
        fault = error.format_message().rstrip(". ")
        end = "" if fault.endswith("?") else "."
        return complain(f"{fault}{end} See '{path} --help'.")
    return code if isinstance(code, int) else 0
