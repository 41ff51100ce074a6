"""`bayescal app`: a page in the browser, for whoever has a file and does not program.

What it asks for is answered on this computer's loopback address, to its own page alone.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import socketserver
from collections.abc import Callable
from contextlib import suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

from bayescal.cli.page.tabs import Stopped, Tab, Tabs, Worker
from bayescal.core.errors import InputError

__all__ = ["LARGEST_FILE", "WORD", "Server"]

LARGEST_FILE = 256 * 1024**2
LARGEST_CHOICES = 64 * 1024
STATIC = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
}
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PLAIN = "text/plain; charset=utf-8"

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# A report is shown with no script at all, so that the page may look into it: for its height.
REPORT_POLICY = (
    "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
# Of every answer: nothing is kept, shared with another site, or guessed.
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def refusal(
    method: str, path: str, headers: Message, port: int, secret: str
) -> tuple[int, str] | None:
    """Why a request is refused, and the status that says so; None if it may be answered.

    The name that the browser calls the server by must be this computer's (a foreign name that
    leads here is an attack by DNS rebinding), the path must begin with the secret, and a request
    that another site has caused is refused even if it knows the address.
    """
    hosts = headers.get_all("Host", [])
    if len(hosts) != 1 or hosts[0] not in (f"127.0.0.1:{port}", f"localhost:{port}"):
        return 421, "This server answers to this computer's own name only."
    if not hmac.compare_digest(path[: len(secret) + 2].encode(), f"/{secret}/".encode()):
        return 403, "Open the whole address that `bayescal app` has printed."
    origins = headers.get_all("Origin", [])
    if origins != [f"http://{hosts[0]}"] and (origins or method == "POST"):
        return 403, "Another page must not ask this one."
    if headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        return 403, "Another page must not ask this one."
    return None


class Refused(Exception):
    """A request that is not answered, with the status and the reason."""


class _Handler(BaseHTTPRequestHandler):
    """One request; every answer closes its connection, so that nothing can hide behind a body."""

    server: Server
    timeout = 60  # seconds for the next bytes of a request

    def do_GET(self) -> None:
        """The page, its parts, and the last report."""
        report = dict.fromkeys(("report.html", "report.json"), self._report)
        self._answer(dict.fromkeys(STATIC, self._static) | report)

    def do_POST(self) -> None:
        """A file, what is asked of it, and the end of a tab."""
        asked = dict.fromkeys(("look", "answer", "word"), self._asked)
        self._answer({"file": self._file, "stop": self._stop, "close": self._close, **asked})

    def _answer(self, known: dict[str, Callable[[], None]]) -> None:
        server = self.server
        path, _, query = self.requestline.split()[1].partition("?")
        guarded = self.command, path, self.headers, server.port
        try:
            if server.once is not None and refusal(*guarded, server.once) is None:
                server.once = None
                return self._send(303, b"", Location=f"/{server.token}/")
            refused = refusal(*guarded, server.token)
            if refused is not None:
                raise Refused(*refused)
            self.name = path.removeprefix(f"/{server.token}/")
            self.query = {key: values[-1] for key, values in parse_qs(query).items()}
            if self.name not in known:
                raise Refused(404, "There is no such page.")
            known[self.name]()
        except Refused as error:
            self.send_error(*error.args)
        except InputError as error:
            self.send_error(422, str(error))
        except Stopped:
            self.send_error(409, "Stopped.")

    def _static(self) -> None:
        name, kind = STATIC[self.name]
        self._send(200, files("bayescal.cli.page").joinpath("static", name).read_bytes(), kind)

    def _report(self) -> None:
        answer = self._tab.answer
        if answer is None:
            raise Refused(404, "There is no report yet.")
        page = self.name.endswith("html")
        kind = "text/html; charset=utf-8" if page else "application/json"
        more = {"Content-Security-Policy": REPORT_POLICY}
        if "save" in self.query:
            more["Content-Disposition"] = f'attachment; filename="{self.name}"'
        self._send(200, (answer.page if page else answer.record).encode(), kind, **more)

    def _file(self) -> None:
        tab = self._tab
        content = self._body(LARGEST_FILE, "Files of up to 256 MB are read here; read larger ones "
                             "in Python, with bayescal.read.")  # fmt: skip
        self._tell(tab.open(_plain_name(self.query.get("name", "")), content))

    def _asked(self) -> None:
        tab = self._tab
        content = self._body(LARGEST_CHOICES, "What was chosen is too long.")
        try:
            choices = json.loads(content)
            if not isinstance(choices, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError):
            raise Refused(400, "What was chosen is not a JSON object.") from None
        told = tab.ask(self.name, choices)
        if self.name == "word":
            self._send(200, told, WORD)
        else:
            self._tell(told.told if self.name == "answer" else told)

    def _stop(self) -> None:
        self._tab.stop()
        self._send(204, b"")

    def _close(self) -> None:
        self.server.tabs.close(self._tab_name)
        self._send(204, b"")

    @property
    def _tab_name(self) -> str:
        name = self.query.get("tab", "")
        if not re.fullmatch(r"[0-9a-f]{32}", name):
            raise Refused(400, "A tab has a name of 32 hexadecimal digits.")
        return name

    @property
    def _tab(self) -> Tab:
        return self.server.tabs.at(self._tab_name)

    def _body(self, most: int, too_long: str) -> bytes:
        """What was sent, unless it is longer than this; what is announced as longer is not read."""
        lengths = self.headers.get_all("Content-Length", [])
        if len(lengths) != 1 or "Transfer-Encoding" in self.headers:
            raise Refused(411, "Say how long the body is.")
        if not re.fullmatch("[0-9]{1,12}", lengths[0]):
            raise Refused(400, "The length of the body is no number.")
        if int(lengths[0]) > most:
            raise Refused(413, too_long)
        content = self.rfile.read(int(lengths[0]))
        if len(content) != int(lengths[0]):
            raise Refused(400, "The body ends too early.")
        return content

    def _tell(self, told: Any) -> None:
        self._send(200, json.dumps(told).encode(), "application/json")

    def _send(self, status: int, content: bytes, kind: str = PLAIN, **more: str) -> None:
        given = {"Content-Type": kind, "Content-Length": str(len(content)), "Connection": "close"}
        given |= HEADERS | {"Content-Security-Policy": PAGE_POLICY} | more
        self.send_response_only(status)
        for name, value in given.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Say why not, in plain text."""
        text = message or self.responses.get(code, ("Refused.",))[0]
        self.close_connection = True
        with suppress(OSError):
            self._send(code, f"{text}\n".encode(errors="replace"))
            self.connection.settimeout(0.1)
            self.rfile.read1(LARGEST_CHOICES)  # what was not read would break the connection

    def log_message(self, *told: object) -> None:
        """Nothing: the terminal has the address alone."""


class Server(socketserver.ThreadingTCPServer):
    """The server of the page; its address changes with every start. Port 0 is any that is free."""

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # elsewhere it would let others take the port

    def __init__(self, port: int = 0, start: Callable[[], Worker] = Worker) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.tabs = Tabs(start)
        self.port = int(self.server_address[1])
        self.token = secrets.token_urlsafe(32)
        self.once: str | None = None
        self.address = f"http://127.0.0.1:{self.port}/{self.token}/"

    def opening(self) -> str:
        """An address that leads to the page once.

        A browser is started with it, and every user of a computer sees with what a program was
        started.
        """
        self.once = secrets.token_urlsafe(32)
        return f"http://127.0.0.1:{self.port}/{self.once}/"

    def run(self) -> None:
        """Serve until it is interrupted; then nothing is left of any file."""
        self.tabs.prepare()
        try:
            self.serve_forever(0.1)
        except KeyboardInterrupt:
            pass
        finally:
            self.tabs.end()
            self.server_close()

    def handle_error(self, *told: object) -> None:
        """Nothing: who asked has gone, or sent what is no request."""


def _plain_name(name: str) -> str:
    """The last part of a path, without what cannot be shown; it is shown and never opened."""
    last = re.split(r"[/\\]", name)[-1]
    plain = "".join(character for character in last if character.isprintable())
    return plain[-200:] or "predictions.csv"
