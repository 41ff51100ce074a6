"""Who may ask: this computer's own page, with its secret address, and nobody else."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["PAGE_POLICY", "Guard"]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of every answer: nothing is kept, shared with another site, or guessed."""


class Guard:
    """Lets through what the page itself asks for, below the secret part of its address.

    The name that the browser calls the server by must be this computer's (a foreign name that
    leads here is an attack by DNS rebinding), and a request that another site has caused is
    refused even if it knows the address.

    Parameters
    ----------
    app : ASGI application
        What is guarded; it sees paths without the token.
    token : str
        The secret part of the address.
    port : int
        That the server listens on.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not served.")
        refusal = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        answer: ASGIApp = self.app
        if refusal is not None:
            answer = PlainTextResponse(refusal[1] + "\n", refusal[0])
        else:
            scope = {**scope, "path": scope["path"].removeprefix(f"/{self.token}")}

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Content-Security-Policy", PAGE_POLICY)
            await send(message)

        await answer(scope, receive, send_guarded)

    def _refusal(self, method: str, path: str, headers: Headers) -> tuple[int, str] | None:
        """Why a request is refused, and the status that says so."""
        host = headers.get("host", "")
        if headers.getlist("host") != [host] or host not in self.hosts:
            return 421, "This server answers to this computer's own name only."
        begins = path[: len(self.token) + 2].encode()
        if not hmac.compare_digest(begins, f"/{self.token}/".encode()):
            return 403, "Open the whole address that `bayescal app` has printed."
        origin = headers.get("origin")
        if origin != f"http://{host}" and (origin is not None or method == "POST"):
            return 403, "Another page must not ask this one."
        if headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
            return 403, "Another page must not ask this one."
        return None
