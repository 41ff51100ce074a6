"""Tabs of the browser: each with its own file, its own worker and its own results."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from bayescal.cli.page.worker import Result, work

__all__ = ["MOST_TABS", "Tab", "Tabs", "Worker"]

MOST_TABS = 8


class Worker:
    """A process that reads and assesses, which can be ended at any moment."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # forking beside threads may hang
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def end(self) -> None:
        """End the process now."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class Tab:
    """What one tab of the browser works on.

    Parameters
    ----------
    worker : Worker
        That does it.
    start : callable
        Starts another, when this one was ended.

    Attributes
    ----------
    state : dict
        What the page shows: phase, what is being done, columns, error, the last result's words.
    result : Result or None
        The last one.
    document : bytes or None
        The last result as a Word document, once it was asked for.
    """

    def __init__(self, worker: Worker, start: Callable[[], Worker] = Worker) -> None:
        self._worker = worker
        self._start = start
        self._lock = threading.Lock()
        self._file: tuple[str, bytes] | None = None
        self._task = 0
        self._began = 0.0
        self.state: dict[str, Any] = {"phase": "empty"}
        self.result: Result | None = None
        self.document: bytes | None = None
        self.last_asked = time.monotonic()

    def open(self, name: str, content: bytes) -> None:
        """Take a file in place of the former one, and find out about its columns."""
        self._file, self.result, self.document = (name, content), None, None
        self.stop()
        self.state = {"phase": "reading", "file": name, "doing": "Reading the file"}
        self._ask("open", (name, content))

    def assess(self, options: dict[str, Any]) -> None:
        """Assess the file with these options, in place of what is being done."""
        if self._file is None:
            raise ValueError("there is no file yet")
        if self.state["phase"] in {"reading", "working"}:
            self.stop()
        self.state |= {"phase": "working", "doing": "Reading the file", "error": None}
        self._ask("assess", options)

    def word(self) -> None:
        """Write the last result as a Word document; the state says when it is there."""
        if self.result is None or self.state["phase"] == "working":
            raise ValueError("there is no report yet")
        if self.document is None:
            self.state |= {"phase": "working", "doing": "Writing the Word document", "error": None}
            self._ask("word", None)

    def stop(self) -> None:
        """End what is being done; a new worker is ready for the same file."""
        with self._lock:
            self._task += 1
            busy = self.state["phase"] in {"reading", "working"}
        if busy:
            self._worker.end()
            self._worker = self._start()
            if self._file is not None:
                self._worker.connection.send(("keep", self._file))
            self.state |= {"phase": "stopped", "doing": None}

    def end(self) -> None:
        """Forget everything."""
        self._task += 1
        self._worker.end()
        self._file = self.result = self.document = None

    def shown(self) -> dict[str, Any]:
        """The state, with the seconds that the present work has taken."""
        self.last_asked = time.monotonic()
        state = dict(self.state)
        if state["phase"] in {"reading", "working"}:
            state["seconds"] = round(time.monotonic() - self._began, 1)
        return state

    def _ask(self, what: str, of: Any) -> None:
        with self._lock:
            self._task += 1
            task, worker = self._task, self._worker
        self._began = time.monotonic()
        threading.Thread(target=self._follow, args=(task, worker, what, of), daemon=True).start()

    def _follow(self, task: int, worker: Worker, what: str, of: Any) -> None:
        """Send work to the worker and take what it says, until it is done or nobody waits."""
        try:
            worker.connection.send((what, of))
            while True:
                kind, told = worker.connection.recv()
                with self._lock:
                    if task != self._task:
                        return
                    self._take(kind, told)
                if kind != "doing":
                    return
        except (EOFError, OSError, BrokenPipeError):
            with self._lock:
                if task == self._task:
                    self._worker = self._start()
                    self._worker.connection.send(("keep", self._file))
                    self._take("error", "The analysis ended unexpectedly; perhaps memory ran out.")

    def _take(self, kind: str, told: Any) -> None:
        if kind == "doing":
            self.state["doing"] = told
        elif kind == "columns":
            self.state |= {"phase": "ready", "doing": None, "columns": told}
        elif kind == "result":
            self.result, self.document = told, None
            self.state |= {"phase": "done", "doing": None, "result": told.words, "word": False}
        elif kind == "word":
            self.document = told
            self.state |= {"phase": "done", "doing": None, "word": True}
        else:
            self.state |= {"phase": "failed", "doing": None, "error": told}


class Tabs:
    """All tabs, by the name that each gave itself; a worker is kept ready for the next.

    Parameters
    ----------
    start : callable
        Starts a worker.
    """

    def __init__(self, start: Callable[[], Worker] = Worker) -> None:
        self._start = start
        self._tabs: dict[str, Tab] = {}
        self._spare: Worker | None = start()
        self._lock = threading.Lock()

    def at(self, name: str) -> Tab:
        """The tab of this name, which is made if there is none.

        The tab that was silent for longest is forgotten when there are too many.
        """
        with self._lock:
            tab = self._tabs.get(name)
            if tab is None:
                if len(self._tabs) >= MOST_TABS:
                    oldest = min(self._tabs, key=lambda key: self._tabs[key].last_asked)
                    self._tabs.pop(oldest).end()
                worker, self._spare = self._spare or self._start(), None
                tab = self._tabs[name] = Tab(worker, self._start)
                self._spare = self._start()
            return tab

    def close(self, name: str) -> None:
        """Forget a tab."""
        with self._lock:
            tab = self._tabs.pop(name, None)
        if tab is not None:
            tab.end()

    def end(self) -> None:
        """Forget all tabs, and end all workers."""
        with self._lock:
            for tab in self._tabs.values():
                tab.end()
            self._tabs.clear()
            if self._spare is not None:
                self._spare.end()
                self._spare = None
