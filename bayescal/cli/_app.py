"""`bayescal app`: a page in the browser, for whoever has a file and does not program."""

from __future__ import annotations

__all__ = ["app_command"]


def app_command(port: int = 0, *, no_browser: bool = False) -> None:
    """Open a page in the browser that assesses the file you drop on it. It stays on this computer.

    Nobody else can reach it, and nothing is written to disk.
    """
    import webbrowser

    from bayescal.cli.page.server import Server
    from bayescal.cli.terminal import Terminal

    server = Server(port)
    terminal = Terminal()
    terminal.say("The page is on this computer only. Its address is secret: do not share it.")
    print(server.address, flush=True)
    terminal.say("Press Ctrl-C to stop; then the page forgets all files.")
    if not no_browser:
        webbrowser.open(server.opening())
    server.run()
