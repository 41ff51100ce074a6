"""A real browser without a window, driven through its debugging pipe: no driver is needed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

CHROMIUM = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), None)
START = 'exec "$@" 3<&"$READ" 4>&"$WRITE"'


class Browser:
    """A browser with tabs, each named by the session that the browser gave it."""

    def __init__(self, profile: Path, size=(1200, 900)):
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        flags = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--remote-debugging-pipe", f"--user-data-dir={profile}",
            f"--window-size={size[0]},{size[1]}", "about:blank",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            ["bash", "-c", START, "bash", CHROMIUM, *flags],
            env=os.environ | {"READ": str(theirs_in), "WRITE": str(theirs_out)},
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.out = os.fdopen(ours_out, "wb", buffering=0)
        self.read = os.fdopen(ours_in, "rb")
        self.number = 0
        self.console = []

    def call(self, method, session=None, **params):
        """Ask the browser, and wait for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        self.out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = json.loads(self._message())
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            if answer.get("method") in {"Runtime.exceptionThrown", "Log.entryAdded"}:
                self.console.append(json.dumps(answer["params"]))

    def _message(self):
        parts = bytearray()
        while (byte := self.read.read(1)) != b"\0":
            assert byte, "the browser has ended"
            parts += byte
        return bytes(parts)

    def tab(self, address):
        """Open a page in a tab of its own."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(f"{domain}.enable", session)
        self.call("Page.navigate", session, url=address)
        self.wait(session, "document.readyState === 'complete'")
        return session

    def value(self, session, expression):
        """The value of an expression on the page."""
        options = {"returnByValue": True, "awaitPromise": True}
        told = self.call("Runtime.evaluate", session, expression=expression, **options)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, session, expression, seconds=120):
        """Wait until an expression on the page is true."""
        until = time.monotonic() + seconds
        while not self.value(session, expression):
            assert time.monotonic() < until, expression + self.value(
                session, "document.body.innerText"
            )
            time.sleep(0.1)

    def choose_file(self, session, path):
        """Choose a file, as a person does with the button."""
        root = self.call("DOM.getDocument", session)["root"]["nodeId"]
        field = self.call("DOM.querySelector", session, nodeId=root, selector="#file")
        self.call("DOM.setFileInputFiles", session, nodeId=field["nodeId"], files=[str(path)])

    def size(self, session, width, height):
        """Make the window this large."""
        metrics = {"deviceScaleFactor": 1, "mobile": width < 600}
        self.call(
            "Emulation.setDeviceMetricsOverride", session, width=width, height=height, **metrics
        )

    def picture(self, session, path, **options):
        """Take a picture of the page."""
        drawn = self.call("Page.captureScreenshot", session, **options)
        Path(path).write_bytes(base64.b64decode(drawn["data"]))

    def end(self):
        """Close the browser."""
        self.process.kill()
        self.process.wait()
        self.out.close()
        self.read.close()
