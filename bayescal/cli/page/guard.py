"""Who may ask: this computer's own page, with its secret address, and nobody else."""

from __future__ import annotations

import hmac
from email.message import Message

__all__ = ["HEADERS", "PAGE_POLICY", "REPORT_POLICY", "refusal"]

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
    leads here is an attack by DNS rebinding), and a request that another site has caused is
    refused even if it knows the address.

    Parameters
    ----------
    port : int
        That the server listens on.
    secret : str
        With which the path must begin.
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
