"""A real browser without a window, driven through its debugging pipe: no driver is needed."""

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
    """A browser with tabs, each by the name that the browser gave it."""

    def __init__(self, profile, size=(1200, 900)):
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

    def call(self, method, page=None, **params):
        """Ask the browser, and wait for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if page is not None:
            message["sessionId"] = page
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
        page = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(f"{domain}.enable", page)
        self.call("Page.navigate", page, url=address)
        self.wait(page, "document.readyState === 'complete'")
        return page

    def value(self, page, expression):
        """The value of an expression on the page."""
        options = {"returnByValue": True, "awaitPromise": True}
        told = self.call("Runtime.evaluate", page, expression=expression, **options)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, page, expression, seconds=120):
        """Wait until an expression on the page is true."""
        until = time.monotonic() + seconds
        while not self.value(page, expression):
            assert time.monotonic() < until, expression + self.value(
                page, "document.body.innerText"
            )
            time.sleep(0.1)

    def choose_file(self, page, path):
        """Choose a file, as a person does with the button."""
        root = self.call("DOM.getDocument", page)["root"]["nodeId"]
        field = self.call("DOM.querySelector", page, nodeId=root, selector="#file")
        self.call("DOM.setFileInputFiles", page, nodeId=field["nodeId"], files=[str(path)])

    def size(self, page, width, height):
        """Make the window this large."""
        metrics = {"deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", page, width=width, height=height, **metrics)

    def picture(self, page, path, **options):
        """Take a picture of the page."""
        drawn = self.call("Page.captureScreenshot", page, **options)
        Path(path).write_bytes(base64.b64decode(drawn["data"]))

    def end(self):
        """Close the browser."""
        self.process.kill()
        self.process.wait()
        self.out.close()
        self.read.close()
