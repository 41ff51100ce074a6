"""`bayescal app`: a page in the browser, for whoever has a file and does not program."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["app_command"]


def app_command(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page; 0 for any that is free.")
    ] = 0,
    no_browser: Annotated[
        bool,
        typer.Option("--no-browser", metavar=" ", help="Print the address; do not open it."),
    ] = False,
) -> None:
    """Open a page in the browser that assesses the file you drop on it. It stays on this computer.

    Nobody else can reach it, and nothing is written to disk.
    """
    import webbrowser

    from bayescal.cli._terminal import output, say
    from bayescal.cli.page.server import Server

    server = Server(port)
    console = output()
    say(console, "The page is on this computer only. Its address is secret: do not share it.")
    print(server.address, flush=True)
    say(console, "Press Ctrl-C to stop; then the page forgets all files.", "dim")
    if not no_browser:
        webbrowser.open(server.opening())
    server.run()
