"""The page of `bayescal app`, as it is used and abused."""

import io

import numpy as np
import pandas as pd
import pytest

from bayescal.cli.page import server as served
from bayescal.cli.page import worker as works
from bayescal.cli.page.tabs import MOST_TABS, Tabs
from bayescal.data import files as uploads
from bayescal.data.files import Upload, open_table
from bayescal.errors import InputError

CASES = "died,risk\n" + "".join(f"{k % 2},{0.3 + 0.01 * (k % 40)}\n" for k in range(80))


class Silent:
    """In place of a worker: takes what it is sent, and says nothing."""

    def __init__(self):
        self.ended = False
        self.connection = self

    def send(self, message):
        pass

    def end(self):
        self.ended = True


def test_the_secret_is_not_in_the_list_of_processes(monkeypatch):
    """Every user of a computer sees the words with which a process was started."""
    from bayescal.cli.commands import app
    from bayescal.cli.terminal import Terminal

    made = []

    class Server(served.Server):
        def __init__(self, port):
            super().__init__(port, Silent)
            made.append(self)

        def run(self):
            self.server_close()

    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(served, "Server", Server)
    app({"port": 0, "no_browser": False}, Terminal())
    assert opened
    assert made[0].token not in opened[0]


def test_a_ninth_tab_does_not_end_the_first_in_silence():
    tabs = Tabs(Silent)
    first = tabs.at("tab 0")
    try:
        for k in range(1, MOST_TABS + 1):
            tabs.at(f"tab {k}")
    except InputError:
        pass
    assert tabs.at("tab 0") is first


class Asked:
    """The worker's end of a pipe: what it is asked, and what it says."""

    def __init__(self, *asked):
        self.asked = list(asked)
        self.sent = []

    def recv(self):
        if not self.asked:
            raise EOFError
        return self.asked.pop(0)

    def send(self, message):
        self.sent.append(message)


def test_a_worker_that_ran_out_of_memory_ends(monkeypatch):
    """What an allocator took it does not give back; a new process starts small."""

    def too_much(*_):
        raise MemoryError

    monkeypatch.setattr(works, "columns_of", too_much)
    pipe = Asked(("open", ("cases.csv", CASES.encode())), ("open", ("cases.csv", CASES.encode())))
    works.work(pipe)
    assert len(pipe.sent) == 1
    assert pipe.asked


def test_a_packed_file_of_spss_is_measured_as_others_are(monkeypatch, tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / "cases.zsav"
    frame = pd.DataFrame({"died": np.zeros(20_000), "risk": np.full(20_000, 0.5)})
    pyreadstat.write_sav(frame, str(path), compress=True)
    monkeypatch.setattr(uploads, "LARGEST_UNPACKED", 50_000)
    content = io.BytesIO(path.read_bytes()).getvalue()
    try:
        open_table(Upload("cases.zsav", content))
    except InputError as refused:
        assert "too large" in str(refused)  # noqa: PT017
    else:
        raise AssertionError(f"{len(content)} bytes that unpack to 320 000 were taken")
