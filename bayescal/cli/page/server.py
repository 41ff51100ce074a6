"""What the page asks for, answered on this computer's loopback address alone."""

from __future__ import annotations

import json
import re
import secrets
import socket
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bayescal.cli.page.guard import Guard
from bayescal.cli.page.tabs import Tab, Tabs, Worker

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["LARGEST_FILE", "WORD", "Server"]

LARGEST_FILE = 256 * 1024**2
LARGEST_OPTIONS = 64 * 1024
STATIC = {
    "": ("page.html", "text/html"),
    "page.css": ("page.css", "text/css"),
    "page.js": ("page.js", "text/javascript"),
}
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Beside the report's own policy, which names its one script: the narrower of the two holds."""


class Server:
    """The server of the page.

    Parameters
    ----------
    port : int
        0 for any that is free.
    start : callable
        Starts a worker of a tab.

    Attributes
    ----------
    address : str
        What the browser opens; its secret part changes with every start.
    """

    def __init__(self, port: int = 0, start: Callable[[], Worker] = Worker) -> None:
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port = int(self._socket.getsockname()[1])
        token = secrets.token_urlsafe(32)
        self.address = f"http://127.0.0.1:{self.port}/{token}/"
        self._tabs = Tabs(start)
        config = uvicorn.Config(
            Guard(_routes(self._tabs), token, self.port),
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            http="h11",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    @property
    def started(self) -> bool:
        """Whether it answers."""
        return self._server.started

    def run(self) -> None:
        """Serve until it is interrupted; then nothing is left of any file."""
        try:
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:
            pass
        finally:
            self._tabs.end()
            self._socket.close()

    def stop(self) -> None:
        """Let `run` return."""
        self._server.should_exit = True


def _routes(tabs: Tabs) -> Starlette:
    async def static(request: Request) -> Response:
        name, kind = STATIC[request.path_params["name"]]
        content = files("bayescal.cli.page").joinpath("static", name).read_bytes()
        return Response(content, media_type=kind)

    async def state(request: Request) -> Response:
        return JSONResponse((await _tab(tabs, request)).shown())

    async def take_file(request: Request) -> Response:
        tab = await _tab(tabs, request)
        content = await _body(request, LARGEST_FILE, "Files of up to 256 MB are read here; for "
                              "larger ones use the command `bayescal assess`.")  # fmt: skip
        name = _plain_name(request.query_params.get("name", ""))
        await run_in_threadpool(tab.open, name, content)
        return JSONResponse(tab.shown())

    async def assess(request: Request) -> Response:
        tab = await _tab(tabs, request)
        content = await _body(request, LARGEST_OPTIONS, "These options are too long.")
        try:
            options = json.loads(content)
            if not isinstance(options, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError):
            raise HTTPException(400, "The options are not a JSON object.") from None
        try:
            await run_in_threadpool(tab.assess, options)
        except ValueError:
            raise HTTPException(409, "There is no file yet: choose one first.") from None
        return JSONResponse(tab.shown())

    async def word(request: Request) -> Response:
        tab = await _tab(tabs, request)
        try:
            await run_in_threadpool(tab.word)
        except ValueError:
            raise HTTPException(409, "There is no report yet.") from None
        return JSONResponse(tab.shown())

    async def document(request: Request) -> Response:
        content = (await _tab(tabs, request)).document
        if content is None:
            raise HTTPException(404, "There is no Word document yet.")
        headers = {"Content-Disposition": 'attachment; filename="report.docx"'}
        return Response(content, media_type=WORD, headers=headers)

    async def stop(request: Request) -> Response:
        tab = await _tab(tabs, request)
        await run_in_threadpool(tab.stop)
        return JSONResponse(tab.shown())

    async def close(request: Request) -> Response:
        await run_in_threadpool(tabs.close, _tab_name(request))
        return Response(status_code=204)

    async def report(request: Request) -> Response:
        result = (await _tab(tabs, request)).result
        if result is None:
            raise HTTPException(404, "There is no report yet.")
        headers = {"Content-Security-Policy": REPORT_POLICY}
        kind = request.path_params["kind"]
        if "save" in request.query_params:
            headers["Content-Disposition"] = f'attachment; filename="report.{kind}"'
        if kind == "json":
            return Response(result.record, media_type="application/json", headers=headers)
        return Response(result.page, media_type="text/html", headers=headers)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return PlainTextResponse(error.detail, error.status_code)

    return Starlette(
        routes=[
            Route("/state", state),
            Route("/file", take_file, methods=["POST"]),
            Route("/assess", assess, methods=["POST"]),
            Route("/word", word, methods=["POST"]),
            Route("/report.docx", document),
            Route("/stop", stop, methods=["POST"]),
            Route("/close", close, methods=["POST"]),
            *(Route(f"/report.{kind}", _with(report, kind)) for kind in ("html", "json")),
            *(Route(f"/{name}", _with(static, name, "name")) for name in STATIC),
        ],
        exception_handlers={HTTPException: refused},
    )


def _with(answer: Any, value: str, name: str = "kind") -> Any:
    """An answer to one fixed path."""

    async def fixed(request: Request) -> Response:
        request.path_params[name] = value
        response: Response = await answer(request)
        return response

    return fixed


def _tab_name(request: Request) -> str:
    name = request.query_params.get("tab", "")
    if not re.fullmatch(r"[0-9a-f]{32}", name):
        raise HTTPException(400, "A tab has a name of 32 hexadecimal digits.")
    return name


async def _tab(tabs: Tabs, request: Request) -> Tab:
    return await run_in_threadpool(tabs.at, _tab_name(request))


async def _body(request: Request, most: int, too_long: str) -> bytes:
    """What was sent, unless it is longer than this; what is announced as longer is not read."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced) > most:
        raise HTTPException(413, too_long)
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > most:
            raise HTTPException(413, too_long)
    return bytes(content)


def _plain_name(name: str) -> str:
    """The last part of a path, without what cannot be shown; it is shown and never opened."""
    last = re.split(r"[/\\]", name)[-1]
    plain = "".join(character for character in last if character.isprintable())
    return plain[-200:] or "predictions.csv"
