"""Tabs of the browser: each with its own file, its own process and its own answer."""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from multiprocessing.connection import Connection
from typing import Any

from bayescal.cli.page.worker import Answer, work
from bayescal.core.errors import InputError

__all__ = ["MOST_TABS", "Stopped", "Tab", "Tabs", "Worker"]

MOST_TABS = 8
DEMO = "demo.csv"


class Stopped(Exception):
    """What was asked is not wanted any more."""


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
        """End the process now; whoever waits for it gets an `EOFError`."""
        self.process.kill()
        self.process.join()


class Tab:
    """What one tab of the browser works on, at first the demo, and the last answer."""

    def __init__(self, start: Callable[[], Worker] = Worker) -> None:
        self._start = start
        self._worker = start()
        self._turn = threading.Lock()
        self._holds = self._ended = False
        self._told: dict[str, tuple[str, Any]] = {}
        self._first: tuple[Any] | None = None  # limit of the first answer, that is not forgotten
        self._file = DEMO, files("bayescal.cli").joinpath(DEMO).read_bytes()

    @property
    def answer(self) -> Answer | None:
        """The last one."""
        answer: Answer | None = self._told.get("answer", ("", None))[1]
        return answer

    def prepare(self) -> None:
        """Assess the demo, before anybody asks."""
        with suppress(InputError, Stopped):  # the page asks again, and is told
            self.ask("look", {})
            self.ask("answer", {})

    def open(self, name: str, content: bytes) -> Any:
        """Take a file in place of the former one, and say what its columns may be."""
        self.stop()
        with self._turn:
            self._file, self._holds, self._first = (name, content), False, None
            self._told.clear()
        return self.ask("look", {})

    def ask(self, what: str, choices: dict[str, Any]) -> Any:
        """What the worker tells of the file, of which this was said; one thing after the other.

        The last thing of each kind is kept: that of the demo is asked for when a page is opened.
        """
        key = json.dumps(choices, sort_keys=True)
        with self._turn:
            if self._ended:
                self._renew()
            try:
                if not self._holds:
                    self._hold(choices)
                if self._told.get(what, ("",))[0] != key:
                    self._told[what] = key, self._asked(what, choices)
            except (EOFError, OSError):
                if self._ended:
                    raise Stopped from None
                self._renew()
                raise InputError(
                    "the analysis ended unexpectedly; perhaps memory ran out."
                ) from None
            told = self._told[what][1]
            if what == "answer":
                self._first = self._first or (choices.get("limit"),)
            return told

    def stop(self) -> None:
        """End what is being done."""
        if self._turn.locked():
            self._ended = True
            self._worker.end()

    def end(self) -> None:
        """Forget everything."""
        self._ended = True
        self._worker.end()
        self._file = "", b""
        self._told.clear()

    def _hold(self, choices: dict[str, Any]) -> None:
        """Give the file to a new worker."""
        self._holds = True
        try:
            self._told["look"] = "{}", self._asked("open", (*self._file, self._first))
        except InputError:
            if not choices or not self._holds:
                raise  # else it may be read with what was said of it

    def _asked(self, what: str, of: Any) -> Any:
        self._worker.connection.send((what, of))
        kind, told = self._worker.connection.recv()
        if kind == "ends":
            self._renew()
        if kind != "told":
            raise InputError(told)
        return told

    def _renew(self) -> None:
        self._worker.end()
        self._worker = self._start()
        self._holds = self._ended = False


class Tabs:
    """All tabs, by the name that each gave itself; one is kept ready for the next."""

    def __init__(self, start: Callable[[], Worker] = Worker) -> None:
        self._start = start
        self._tabs: dict[str, Tab] = {}
        self._spare = Tab(start)
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Assess the demo for the next tab."""
        threading.Thread(target=self._spare.prepare, daemon=True).start()

    def at(self, name: str) -> Tab:
        """The tab of this name, which is made if there is none, unless there are too many."""
        with self._lock:
            if name not in self._tabs:
                if len(self._tabs) >= MOST_TABS:
                    raise InputError(
                        f"{MOST_TABS} pages are open, which is the most. Close one, and load this "
                        "one again."
                    )
                self._tabs[name], self._spare = self._spare, Tab(self._start)
            return self._tabs[name]

    def close(self, name: str) -> None:
        """Forget a tab."""
        with self._lock:
            tab = self._tabs.pop(name, None)
        if tab is not None:
            tab.end()

    def end(self) -> None:
        """Forget all tabs, and end all workers."""
        with self._lock:
            for tab in (*self._tabs.values(), self._spare):
                tab.end()
            self._tabs.clear()
