"""The page of `bayescal app`: who may ask, what may be sent, and that it is the command line."""

from __future__ import annotations

import gzip
import http.client
import io
import json
import shlex
import threading
import time
import zipfile

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from bayescal.cli.app import _run

import bayescal as bc
from bayescal.cli.page import server as served
from bayescal.cli.page import upload as uploads
from bayescal.cli.page.server import LARGEST_FILE, WORD, Server
from bayescal.cli.page.tabs import MOST_TABS, Tabs
from bayescal.cli.page.upload import Upload
from bayescal.cli.page.worker import Result, analysed, assessed, checked, columns_of, word_of
from bayescal.core.errors import InputError
from browser import CHROMIUM, Browser

TAB = "0123456789abcdef" * 2


def table(n=60, seed=1):
    y, p = bc.simulate.sample("clinical-middle-overconfident", n, random_state=seed)
    hospital = np.resize(["north", "south", "west"], n)
    rows = [f"{int(a)},{b:.6f},{c}" for a, b, c in zip(y, p, hospital, strict=True)]
    return "\n".join(["died,risk,hospital", *rows, ""]).encode()


class Silent:
    """In place of a worker: takes what it is sent, and says nothing."""

    def __init__(self):
        self.ended = False
        self.connection = self
        self.sent = []

    def send(self, message):
        self.sent.append(message)

    def recv(self):
        time.sleep(0.2)
        raise EOFError

    def end(self):
        self.ended = True


def serving(server):
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    return thread


@pytest.fixture(scope="module")
def quiet():
    """A server whose workers do nothing."""
    server = Server(start=Silent)
    thread = serving(server)
    yield server
    server.stop()
    thread.join(10)


def ask(server, path, method="GET", body=None, **headers):
    """Status, headers and text of an answer."""
    host = f"127.0.0.1:{server.port}"
    given = {"Host": host} | ({"Origin": f"http://{host}"} if method == "POST" else {})
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    if body is not None:
        given.setdefault("Content-Length", str(len(body)))
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    told = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return told


def root(server):
    return "/" + server.address.split("/", 3)[3]


def test_the_page_is_served_with_its_secret_address_alone(quiet):
    status, headers, text = ask(quiet, root(quiet))
    assert status == 200
    assert "<title>bayescal</title>" in text
    assert "script-src 'self'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
    for path in ("/", "/page.js", "/" + "a" * 43 + "/", root(quiet)[:-2] + "/", "//" + root(quiet)):
        status, _, text = ask(quiet, path)
        assert (status, "whole address" in text) == (403, True), path
    assert quiet.address.startswith("http://127.0.0.1:")
    assert len(root(quiet)) > 40


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": None}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": None}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Sec_Fetch_Site": "same-origin"}, 200),
    ],
)
def test_other_sites_and_other_names_are_refused(quiet, headers, status):
    if "Host" in headers:
        headers = headers | {"Origin": f"http://{headers['Host']}"}
    answer = ask(quiet, f"{root(quiet)}stop?tab={TAB}", "POST", b"", **headers)
    assert answer[0] == (400 if headers.get("Host", "") is None else status)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(quiet, monkeypatch):
    path = f"{root(quiet)}file?tab={TAB}&name=a.csv"
    status, _, text = ask(quiet, path, "POST", b"", Content_Length=str(LARGEST_FILE + 1))
    assert status == 413
    assert "bayescal assess" in text
    monkeypatch.setattr(served, "LARGEST_FILE", 10)
    chunked = b"20\r\n" + b"x" * 32 + b"\r\n0\r\n\r\n"
    options = {"Content_Length": None, "Transfer_Encoding": "chunked"}
    assert ask(quiet, path, "POST", chunked, **options)[0] == 413


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "..\\..\\a.csv", "/etc/<script>.csv", "\x00a\n.csv", "", "x" * 5000],
)
def test_the_name_of_a_file_is_a_word_and_no_path(quiet, name):
    from urllib.parse import quote

    path = f"{root(quiet)}file?tab={TAB}&name={quote(name)}"
    status, _, text = ask(quiet, path, "POST", b"a,b\n")
    shown = json.loads(text)["file"]
    assert status == 200
    assert 0 < len(shown) <= 200
    assert not set("/\\\n\x00") & set(shown)


@pytest.mark.parametrize(
    ("path", "method", "body", "status"),
    [
        ("state?tab=1", "GET", None, 400),
        ("state", "GET", None, 400),
        (f"state?tab={TAB}", "POST", b"", 405),
        (f"file?tab={TAB}", "GET", None, 405),
        (f"assess?tab={'b' * 32}", "POST", b"{}", 409),
        (f"assess?tab={TAB}", "POST", b"[1]", 400),
        (f"assess?tab={TAB}", "POST", b"{", 400),
        (f"assess?tab={TAB}", "POST", b"[" * 60_000, 400),
        (f"assess?tab={TAB}", "POST", b" " * 70_000, 413),
        (f"report.html?tab={'c' * 32}", "GET", None, 404),
        (f"report.docx?tab={'c' * 32}", "GET", None, 404),
        (f"word?tab={'c' * 32}", "POST", b"", 409),
        (f"word?tab={'c' * 32}", "GET", None, 405),
        ("../server.py", "GET", None, 404),
        ("static/page.js", "GET", None, 404),
        ("report.py", "GET", None, 404),
    ],
)
def test_what_is_not_the_pages_own_is_refused_in_words(quiet, path, method, body, status):
    answer = ask(quiet, root(quiet) + path, method, body)
    assert answer[0] == status
    assert "Traceback" not in answer[2]


def test_tabs_are_apart_and_the_oldest_is_forgotten():
    tabs = Tabs(Silent)
    names = [f"{k:032x}" for k in range(MOST_TABS + 1)]
    first = tabs.at(names[0])
    first.open("a.csv", b"a,b\n")
    assert tabs.at(names[1]).shown() == {"phase": "empty"}
    assert tabs.at(names[0]) is first
    for name in names[1:]:
        time.sleep(0.002)
        tabs.at(name).shown()
    assert first._worker.ended
    assert tabs.at(names[0]) is not first
    tabs.end()


def test_stopping_ends_the_process_and_keeps_the_file():
    tab = Tabs(Silent).at(TAB)
    tab.open("a.csv", b"a,b\n")
    before = tab._worker
    tab.stop()
    assert before.ended
    assert tab._worker.sent == [("keep", ("a.csv", b"a,b\n"))]
    assert tab.shown()["phase"] == "stopped"


def test_a_document_is_written_once_for_each_report():
    tab = Tabs(Silent).at(TAB)
    tab.open("a.csv", b"a,b\n")
    with pytest.raises(ValueError, match="no report"):
        tab.word()
    for number in (1, 2):
        tab._take("result", Result(f"page {number}", "{}", {"headline": "off"}))
        assert (tab.document, tab.state["word"]) == (None, False)
        tab.word()
        assert tab.state["doing"] == "Writing the Word document"
        assert tab._worker.sent[-1] == ("word", None)
        tab._take("word", b"PK")
        assert (tab.document, tab.state["word"], tab.state["phase"]) == (b"PK", True, "done")
        sent = len(tab._worker.sent)
        tab.word()
        assert len(tab._worker.sent) == sent


@pytest.mark.slow
def test_the_document_is_that_of_the_last_report():
    docx = pytest.importorskip("docx")
    options = {"outcome": "died", "ignore_column": ["hospital"], "seed": "3"}
    result, last = analysed(Upload("my table.csv", table()), options, lambda _: None)
    told = "\n".join(each.text for each in docx.Document(io.BytesIO(word_of(last))).paragraphs)
    assert result.words["headline"] in told
    with pytest.raises(InputError, match="out of date"):
        word_of(None)


def test_what_becomes_too_large_when_unpacked_is_refused(monkeypatch):
    monkeypatch.setattr(uploads, "LARGEST_UNPACKED", 5_000_000)
    bomb = gzip.compress(b"0" * 6_000_000)
    assert len(bomb) < 10_000
    with pytest.raises(InputError, match=r"a\.csv\.gz is too large"):
        Upload("a.csv.gz", bomb)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", b" " * 6_000_000)
    with pytest.raises(InputError, match=r"a\.xlsx is too large"):
        Upload("a.xlsx", packed.getvalue())
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    monkeypatch.setattr(uploads, "MOST_UPLOADED_CELLS", 1_000_000)
    file = io.BytesIO()
    parquet.write_table(pa.table({"y": np.zeros(1_000_001)}), file)
    with pytest.raises(InputError, match=r"a\.parquet is too large"):
        Upload("a.parquet", file.getvalue())


@pytest.mark.parametrize("name", ["a.csv.gz", "a.xlsx", "a.parquet", "a.csv", "a.exe", "a"])
def test_a_broken_file_is_refused_in_words(name):
    with pytest.raises(InputError, match=r"^(line 1 of )?a"):
        columns_of(Upload(name, b"\xff\x00broken"))


def test_a_file_in_memory_is_not_mistaken_for_one_on_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("other,columns\n1,2\n")
    for name, content in (("a.csv", table()), ("a.csv.gz", gzip.compress(table()))):
        told = columns_of(Upload(name, content))
        assert told["names"] == ["died", "risk", "hospital"]
        assert (told["outcome"], told["prob"]) == ("died", "risk")
        assert told["question"].startswith("column 'hospital' has 3 values in 60 rows.")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv"]


def test_where_columns_are_not_clear_the_page_asks():
    told = columns_of(Upload("a.csv", b"y,b,c\n0,.1,.2\n1,.3,.4\n0,.5,.6\n"))
    assert told["prob"] is None
    assert "--prob" in told["question"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"outcome": 1}, "outcome"),
        ({"scale": "x"}, "scale"),
        ({"close": "nan"}, "close"),
        ({"close": "x"}, "close"),
        ({"seed": "1.5"}, "seed"),
        ({"seed": "-1"}, "seed"),
        ({"thresholds": "0.1"}, "thresholds"),
        ({"ignore_column": "hospital"}, "ignore_column"),
        ({"thresholds": ["x"]}, "threshold"),
        ({"ci_prob": [1]}, "ci_prob"),
    ],
)
def test_options_that_no_page_sends_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        checked(options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"ignore_column": ["hospital"]},
        {"outcome": "died", "site": "hospital", "close": "0.1", "thresholds": ["0.2", "0.3"]},
    ],
)
def test_the_report_is_the_command_lines_to_the_byte(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my table.csv").write_bytes(table())
    told = []
    result = assessed(Upload("my table.csv", table()), options | {"seed": "3"}, told.append)
    assert len(told) == 4
    words = shlex.split(result.words["command"])
    assert words[:3] == ["bayescal", "assess", "my table.csv"]
    assert _run(words[1:]) == 0
    assert (tmp_path / "report.html").read_text("utf-8") == result.page
    assert (tmp_path / "report.json").read_text("utf-8") == result.record
    assert result.words["headline"] in result.page.replace("&gt;", ">").replace("\xa0", " ")


@pytest.mark.slow
def test_a_person_drops_a_file_and_changes_the_limit(tmp_path):
    """In a real browser: the verdict follows the limit, two tabs are apart, nothing complains."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    (tmp_path / "predictions.csv").write_bytes(table(300))
    (tmp_path / "evil.csv").write_bytes(
        b"y,<script>parent.hit=1</script>\n" + table(40).split(b"\n", 1)[1].replace(b",", b";")
    )
    server = Server()
    thread = serving(server)
    browser = Browser(tmp_path / "profile")
    shown = "document.getElementById('headline').textContent"
    done = "document.getElementById('doing').textContent === '' && " + shown
    try:
        one, two = browser.tab(server.address), browser.tab(server.address)
        browser.choose_file(one, tmp_path / "predictions.csv")
        browser.wait(one, "document.getElementById('error').textContent.includes('--site')")
        choose = "Array.from(document.forms[0].elements.ignore_column.options)"
        browser.value(one, f"{choose}.find(o => o.value === 'hospital').selected = true")
        changed = "new Event('input', {bubbles: true})"
        browser.value(one, f"document.forms[0].dispatchEvent({changed})")
        browser.wait(one, done)
        before = browser.value(one, shown)
        field = "document.forms[0].elements.close"
        browser.value(
            one,
            f"{field}.value = '0.4'; {field}.dispatchEvent(new Event('input', {{bubbles: true}}))",
        )
        browser.wait(one, f"{done} !== {json.dumps(before)}")
        assert "within your limit of 40 points" in browser.value(one, shown)
        assert "--close 0.4" in browser.value(one, "document.getElementById('command').value")
        browser.value(one, "document.getElementById('write-word').click()")
        browser.wait(one, "document.getElementById('doing').textContent.includes('Word')")
        browser.wait(one, done)
        document = "fetch(document.getElementById('save-word').href)"
        kind = browser.value(one, f"{document}.then(answer => answer.headers.get('content-type'))")
        assert kind == WORD
        begins = "new TextDecoder().decode(content.slice(0, 2))"
        read = f"{document}.then(answer => answer.arrayBuffer()).then(content => {begins})"
        assert browser.value(one, read) == "PK"
        assert "40 points" in browser.value(one, shown)
        browser.choose_file(two, tmp_path / "evil.csv")
        browser.wait(two, "!document.getElementById('error').hidden")
        assert browser.value(two, "window.hit") is None
        assert "40 points" in browser.value(one, shown)
        for width in (390, 1280):
            browser.size(one, width, 900)
            assert browser.value(one, "document.documentElement.scrollWidth") <= width
        unnamed = (
            "[...document.querySelectorAll('input,select')].filter(f => !f.labels.length).length"
        )
        assert browser.value(one, unnamed) == 0
        assert browser.console == []
    finally:
        browser.end()
        server.stop()
        thread.join(20)
    assert not thread.is_alive()
