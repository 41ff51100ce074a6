"""The page of `bayescal app`: who may ask, what may be sent, and that Python says the same."""

import builtins
import gzip
import http.client
import io
import json
import re
import socket
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import suppress
from importlib.resources import files
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli.page import server as served
from bayescal.cli.page.server import LARGEST_FILE, WORD, Server
from bayescal.cli.page.tabs import Stopped, Tab
from bayescal.cli.page.worker import FIELDS, Desk, columns_of
from bayescal.core.errors import InputError
from bayescal.data import files as uploads
from bayescal.data.files import Upload, open_table
from browser import CHROMIUM, Browser

TAB = "0123456789abcdef" * 2
STATIC = files("bayescal.cli.page").joinpath("static")


def table(n=60, seed=1):
    y, p = bc.simulate.sample("clinical-middle-overconfident", n, random_state=seed)
    hospital = np.resize(["north", "south", "west"], n)
    rows = [f"{int(a)},{b:.6f},{c}" for a, b, c in zip(y, p, hospital, strict=True)]
    return "\n".join(["died,risk,hospital", *rows, ""]).encode()


class Silent:
    """In place of a worker: takes what it is sent, and says one thing for each."""

    def __init__(self):
        self.ended = False
        self.connection = self
        self.sent = []

    def send(self, message):
        if self.ended:
            raise BrokenPipeError
        self.sent.append(message)

    def recv(self):
        if self.sent[-1][0] == "answer":
            while not self.ended:
                time.sleep(0.01)
            raise EOFError
        return "told", {"asked": self.sent[-1][0]}

    def end(self):
        self.ended = True


def serving(server):
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    return thread


@pytest.fixture(scope="module")
def quiet():
    """A server whose workers do nothing."""
    server = Server(start=Silent)
    thread = serving(server)
    yield server
    server.shutdown()
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
        for each in value if isinstance(value, tuple) else (value,):
            if each is not None:
                connection.putheader(name, each)
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
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    assert "Server" not in headers
    for path in ("/", "/page.js", "/" + "a" * 43 + "/", root(quiet)[:-2] + "/", "//" + root(quiet)):
        status, headers, text = ask(quiet, path)
        assert (status, "whole address" in text) == (403, True), path
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert quiet.address.startswith("http://127.0.0.1:")
    assert len(root(quiet)) > 40


def test_the_address_that_a_browser_is_started_with_leads_to_the_page_once(quiet):
    once = quiet.opening()
    assert root(quiet) not in once
    path = "/" + once.split("/", 3)[3]
    assert ask(quiet, path, Host="evil.example")[0] == 421
    assert ask(quiet, path, Sec_Fetch_Site="cross-site")[0] == 403
    status, headers, _ = ask(quiet, path, Sec_Fetch_Site="none")
    assert (status, headers["Location"]) == (303, root(quiet))
    assert ask(quiet, path)[0] == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": None}, 421),
        ({"Host": ("127.0.0.1:1", "evil.example")}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": None}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Sec_Fetch_Site": "same-origin"}, 204),
    ],
)
def test_other_sites_and_other_names_are_refused(quiet, headers, status):
    answer = ask(quiet, f"{root(quiet)}stop?tab={TAB}", "POST", b"", **headers)
    assert answer[0] == status


def test_a_file_that_is_too_large_is_refused_before_it_is_read(quiet):
    path = f"{root(quiet)}file?tab={TAB}&name=a.csv"
    status, _, text = ask(quiet, path, "POST", b"", Content_Length=str(LARGEST_FILE + 1))
    assert status == 413
    assert "bayescal.read" in text
    chunked = b"20\r\n" + b"x" * 32 + b"\r\n0\r\n\r\n"
    options = {"Content_Length": None, "Transfer_Encoding": "chunked"}
    assert ask(quiet, path, "POST", chunked, **options)[0] == 411
    both = {"Content_Length": "44", "Transfer_Encoding": "chunked"}
    assert ask(quiet, path, "POST", chunked, **both)[0] == 411
    assert ask(quiet, path, "POST", b"ab", Content_Length=("2", "1"))[0] == 411
    assert ask(quiet, path, "POST", b"ab", Content_Length="-2")[0] == 400


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "..\\..\\a.csv", "/etc/<script>.csv", "\x00a\n.csv", "", "x" * 5000],
)
def test_the_name_of_a_file_is_a_word_and_no_path(quiet, name):
    path = f"{root(quiet)}file?tab={TAB}&name={quote(name)}"
    assert ask(quiet, path, "POST", b"a,b\n")[0] == 200
    shown = quiet.tabs.at(TAB)._file[0]
    assert 0 < len(shown) <= 200
    assert not set("/\\\n\x00") & set(shown)


@pytest.mark.parametrize(
    ("path", "method", "body", "status"),
    [
        ("report.html?tab=1", "GET", None, 400),
        ("report.html", "GET", None, 400),
        (f"look?tab={TAB}", "GET", None, 404),
        (f"file?tab={TAB}", "GET", None, 404),
        (f"look?tab={TAB}", "POST", b"[1]", 400),
        (f"look?tab={TAB}", "POST", b"{", 400),
        (f"look?tab={TAB}", "POST", b"[" * 60_000, 400),
        (f"look?tab={TAB}", "POST", b" " * 70_000, 413),
        (f"open?tab={TAB}", "POST", b"{}", 404),
        (f"report.html?tab={'c' * 32}", "GET", None, 404),
        (f"page.html?tab={TAB}", "GET", None, 404),
        (f"look?tab={TAB}", "PUT", b"{}", 501),
        (f"look?tab={TAB}", "OPTIONS", None, 501),
        ("../server.py", "GET", None, 404),
        ("static/page.js", "GET", None, 404),
        ("report.py", "GET", None, 404),
    ],
)
def test_what_is_not_the_pages_own_is_refused_in_words(quiet, path, method, body, status):
    answer = ask(quiet, root(quiet) + path, method, body)
    assert answer[0] == status
    assert "Traceback" not in answer[2]
    assert "Server" not in answer[1]


@pytest.mark.parametrize(
    "request_of",
    [
        "GET /TOKEN/\r\n\r\n",
        "GET /TOKEN/ HTTP/1.0\r\n\r\n",
        "GET //TOKEN/ HTTP/1.1\r\nHOST\r\n\r\n",
        "GET /./TOKEN/ HTTP/1.1\r\nHOST\r\n\r\n",
        "GET http://127.0.0.1:PORT/TOKEN/ HTTP/1.1\r\nHOST\r\n\r\n",
        "GET /TOKENx/ HTTP/1.1\r\nHOST\r\n\r\nGET /TOKEN/ HTTP/1.1\r\nHOST\r\n\r\n",
        "GET /TOKEN/ HTTP/1.1\r\nHost: 127.0.0.1:PORT.evil\r\n\r\n",
        "GET /TOKEN/ HTTP/1.1\r\nHost: 0.0.0.0:PORT\r\n\r\n",
        "GET /TOKEN/%2e%2e/server.py HTTP/1.1\r\nHOST\r\n\r\n",
        "GET /TOKEN/ HTTP/2.0\r\nHOST\r\n\r\n",
        "GET /TOKEN/ HTTP/1.1 x\r\nHOST\r\n\r\n",
        "HEAD /TOKEN/ HTTP/1.1\r\nHOST\r\n\r\n",
        "TRACE /TOKEN/ HTTP/1.1\r\nHOST\r\n\r\n",
        "CONNECT evil:80 HTTP/1.1\r\nHOST\r\n\r\n",
        "GET /" + "a" * 70_000 + " HTTP/1.1\r\nHOST\r\n\r\n",
        "GET /TOKEN/ HTTP/1.1\r\nHOST\r\n" + "X: y\r\n" * 200 + "\r\n",
        "GET /TOKEN/\0 HTTP/1.1\r\nHOST\r\n\r\n",
        "POST /TOKEN/look?tab=TAB HTTP/1.1\r\nHOST\r\nContent-Length: 2\r\n\r\n{}",
        "POST /TOKEN/look?tab=TAB HTTP/1.1\r\nHOST\r\nORIGIN\r\nOrigin: http://evil\r\n"
        "Content-Length: 2\r\n\r\n{}",
        "POST /TOKEN/look?tab=TAB HTTP/1.1\r\nHOST\r\nORIGIN\r\nContent-Length: +2\r\n\r\n{}",
        "POST /TOKEN/look?tab=TAB HTTP/1.1\r\nHOST\r\nORIGIN\r\n\r\n{}",
        "POST /TOKEN/__class__?tab=TAB HTTP/1.1\r\nHOST\r\nORIGIN\r\nContent-Length: 2\r\n\r\n{}",
        "POST /TOKEN/stop?tab=x HTTP/1.1\r\nHOST\r\nORIGIN\r\nContent-Length: 90\r\n\r\n"
        "GET /TOKEN/ HTTP/1.1\r\nHOST\r\n\r\n",
    ],
)
def test_what_no_browser_sends_is_refused(quiet, request_of):
    """Request lines, names and bodies that a hostile program may send, as they are on the wire."""
    host = f"127.0.0.1:{quiet.port}"
    for name, value in (
        ("HOST", f"Host: {host}"), ("ORIGIN", f"Origin: http://{host}"), ("TOKEN", quiet.token),
        ("PORT", str(quiet.port)), ("TAB", TAB),
    ):  # fmt: skip
        request_of = request_of.replace(name, value)
    told = b""
    with socket.create_connection(("127.0.0.1", quiet.port), timeout=5) as connection:
        connection.sendall(request_of.encode())
        with suppress(ConnectionError):
            while part := connection.recv(65536):
                told += part
    assert told.count(b"HTTP/1.0 ") <= 1
    assert not re.search(rb"HTTP/1.0 [123]", told)
    assert b"<title>" not in told
    assert b"Traceback" not in told


def test_stopping_ends_the_process_and_keeps_the_file():
    tab = Tab(Silent)
    tab.open("a.csv", b"a,b\n")
    before, stopped = tab._worker, []

    def waits():
        try:
            tab.ask("answer", {})
        except Stopped:
            stopped.append(True)

    thread = threading.Thread(target=waits)
    thread.start()
    while before.sent[-1][0] != "answer":
        time.sleep(0.01)
    tab.stop()
    thread.join(10)
    assert stopped
    assert before.ended
    assert tab.ask("look", {"sheet": "x"}) == {"asked": "look"}
    assert [each[0] for each in tab._worker.sent] == ["open", "look"]
    assert tab._worker.sent[0][1] == ("a.csv", b"a,b\n", None)


def test_what_is_asked_again_is_not_done_again():
    tab = Tab(Silent)
    tab.open("a.csv", b"a,b\n")
    assert tab.ask("look", {}) == tab.ask("look", {}) == {"asked": "open"}
    assert [each[0] for each in tab._worker.sent] == ["open"]


def test_what_becomes_too_large_when_unpacked_is_refused(monkeypatch):
    monkeypatch.setattr(uploads, "LARGEST_UNPACKED", 5_000_000)
    bomb = gzip.compress(b"0" * 6_000_000)
    assert len(bomb) < 10_000
    with pytest.raises(InputError, match=r"a\.csv\.gz is too large"):
        open_table(Upload("a.csv.gz", bomb))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", b" " * 6_000_000)
    with pytest.raises(InputError, match=r"a\.xlsx is too large"):
        open_table(Upload("a.xlsx", packed.getvalue()))
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    file = io.BytesIO()
    parquet.write_table(pa.table({"y": np.zeros(1_000_001)}), file)
    with pytest.raises(InputError, match=r"a\.parquet is too large"):
        open_table(Upload("a.parquet", file.getvalue()))


@pytest.mark.parametrize("name", ["a.csv.gz", "a.xlsx", "a.parquet", "a.sav", "a.csv", "a.exe"])
def test_a_broken_file_is_refused_in_words(name):
    with pytest.raises(InputError, match=r"^(line 1 of )?a"):
        columns_of(Upload(name, b"\xff\x00broken"))


def test_nothing_is_written_and_no_file_of_that_name_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "a.csv").write_text("other,columns\n1,2\n")
    opened = builtins.open

    def reads(file, mode="r", *args, **kwargs):
        assert not set("wax+") & set(mode), file
        return opened(file, mode, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", reads)
    for name, content in (("a.csv", table()), ("a.csv.gz", gzip.compress(table()))):
        desk = Desk()
        told = desk.open(name, content)
        assert told["names"] == ["died", "risk", "hospital"]
        assert "risk" in desk.answer({"columns": {"hospital": ""}}).page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv"]


def guesses(content, **choices):
    told = columns_of(Upload("a.csv", content.encode()), choices)
    return {each["name"]: each["role"] for each in told["columns"]}, told


def test_guesses_stand_above_the_columns_with_their_reasons():
    rows = [f"{'yes' if k % 3 else 'no'},{k},{'ab'[k % 2]},{k // 2}" for k in range(60)]
    content = "\n".join(["died,risk %,hospital,patient_id", *rows])
    roles, told = guesses(content)
    assert roles == {
        "died": "outcome", "risk %": "percent", "hospital": "site", "patient_id": "cluster",
    }  # fmt: skip
    assert told["questions"] == []
    assert (told["positive"], told["events"]) == ("yes", ["no", "yes"])
    assert [len(each["cells"]) for each in told["columns"]] == [10] * 4
    assert told["columns"][2]["reason"] == "its name; 2 values in 60 rows"
    assert told["columns"][1]["reason"] == "its name; numbers up to 59"
    roles, told = guesses(content, columns={"hospital": "subgroup", "patient_id": ""})
    assert (roles["hospital"], roles["patient_id"], told["questions"]) == ("subgroup", "", [])


def test_all_that_is_open_is_asked_at_once_in_words_of_the_page():
    rows = [
        f"{k % 2},{k // 2 % 2},{k % 9 / 10},{k % 7 / 10},{'x' if k % 5 else ''}" for k in range(40)
    ]
    _, told = guesses("\n".join(["a,b,old risk,new risk,sex", *rows]), columns={"sex": "subgroup"})
    assert len(told["questions"]) == 3
    assert "“Outcome”" in told["questions"][0]
    assert "“Prediction, 0 to 1”" in told["questions"][1]
    _, told = guesses(
        "\n".join(["a,b,old risk,new risk,sex", *rows]),
        columns={"sex": "subgroup", "new risk": "prob"},
    )
    assert len(told["questions"]) == 2
    assert "8 in 'sex'" in told["questions"][1]
    assert "=" not in " ".join(told["questions"])


def test_what_times_need_is_asked_at_once():
    rows = "\n".join(["years,status,risk", *(f"{1 + k % 7},{k % 2},0.{k % 9}5" for k in range(40))])
    roles, told = guesses(rows, columns={"years": "time"})
    assert roles["years"] == "time"
    assert [FIELDS["horizon"] in text for text in told["questions"]] == [False, True]
    timed = {"columns": {"years": "time", "status": "event"}, "horizon": "5"}
    assert guesses(rows, **timed)[1]["questions"] == []


def test_two_columns_of_one_name_are_shown():
    told = columns_of(Upload("a.csv", b"died,x,x,risk\n1,2,3,.4\n0,5,6,.7\n"))
    assert [each["cells"][0] for each in told["columns"]] == ["1", "2", "3", "0.4"]


def test_no_option_of_a_command_is_named():
    source = "".join(STATIC.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("html", "js"))
    shown = [source, json.dumps(columns_of(Upload("a.csv", table())))]
    for content in (b"y,b,c\n0,.1,.2\n1,.3,.4\n0,.5,.6\n", b"died,risk\n2,.3\n1,.2\n"):
        shown += columns_of(Upload("a.csv", content))["questions"]
    for content in (b"died,risk\n1,30\n0,20\n", b"died,risk\n1,.3\n0,\n", b"a\n1\n"):
        with pytest.raises(InputError) as refused:
            Desk(Upload("a.csv", content)).answer({})
        shown.append(str(refused.value))
    assert not re.search(r"--[a-z]", " ".join(shown))


def test_the_page_calls_its_fields_as_errors_do():
    source = STATIC.joinpath("page.html").read_text("utf-8")
    for name, words in FIELDS.items():
        assert re.search(
            rf"<label[^>]*>(?:<[^>]*name=\"{name}\"[^>]*>)? ?<span>{words}</span>", source
        )
        assert f'name="{name}"' in source


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"columns": 1}, "columns"),
        ({"columns": {"died": "x"}}, "no role 'x'"),
        ({"columns": {"died": ["x"]}}, "no role"),
        ({"columns": {"died": "outcome", "risk": "outcome"}}, "two columns"),
        ({"limit": "nan"}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"limit": [1]}, "limit"),
        ({"limit": 3}, "limit"),
        ({"thresholds": "x"}, "thresholds"),
        ({"thresholds": "2"}, "thresholds"),
        ({"thresholds": [1]}, "thresholds"),
        ({"sheet": 1}, "Sheet of the workbook"),
        ({"every": "x"}, "Dates are taken by"),
    ],
)
def test_what_no_page_says_is_refused(choices, words):
    with pytest.raises(InputError, match=words):
        Desk(Upload("a.csv", table())).answer(choices)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["my table.csv", "-o.csv"])
def test_the_line_of_python_gives_the_same_numbers(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(table())
    desk = Desk()
    desk.open(name, table())
    for limit, moved in ((0.05, False), (0.1, True), (0.05, False)):
        choices = {"limit": limit, "thresholds": "0.2, 0.3"}
        answer = desk.answer(choices)
        record = json.loads(answer.record)
        assert (record["limit"]["value"], record["limit"]["moved"]) == (limit, moved)
    shown = re.sub(r"<style>.*?</style>|var\([^)]*\)", "", answer.page, flags=re.DOTALL)
    assert not re.search(r"(?<![\w-])--[a-z]", shown)  # an option of a command
    again = eval(answer.told["python"], {"bc": bc})
    for key in record.keys() - {"title", "source", "notes"}:
        assert again.to_dict()[key] == record[key], key
    docx = pytest.importorskip("docx")
    written = docx.Document(io.BytesIO(desk.word(choices)))
    assert answer.told["headline"] in [each.text for each in written.paragraphs]


ALONE = """
import importlib.abc, sys, threading

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"pymc", "pytensor", "sklearn", "h5py"}:
            raise ModuleNotFoundError(f"{name} is blocked", name=name)

def refused(*args, **kwargs):
    raise RuntimeError("can't start new thread")

sys.meta_path.insert(0, Blocked())
threading.Thread.start = refused
from bayescal.cli.page.worker import Desk
desk = Desk()
told = desk.open("a.csv", sys.stdin.buffer.read())
assert not told["questions"], told
answer = desk.answer({"limit": .05})
assert answer.told["headline"] in answer.page.replace("\\xa0", " ").replace("&gt;", ">")
assert desk.word({"limit": .05})[:2] == b"PK"
"""


@pytest.mark.slow
def test_one_process_with_one_thread_is_enough():
    """Without what cannot be had where the page has no server."""
    pytest.importorskip("docx")
    ran = subprocess.run(
        [sys.executable, "-c", ALONE], input=table(90), capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()


@pytest.mark.slow
def test_a_person_drops_a_file_and_moves_the_limit(tmp_path):
    """In a real browser: demo first, guesses are corrected, tabs are apart, nothing complains."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    y, p = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    named = pd.DataFrame({"died": np.where(y > 0, "yes", "no"), "risk": p.round(5)})
    named["hospital"] = np.resize(["north", "south"], 300)
    named.to_csv(tmp_path / "predictions.csv", index=False)
    (tmp_path / "evil.csv").write_bytes(
        b"y,<script>parent.hit=1</script>\n" + table(40).split(b"\n", 1)[1].replace(b",", b";")
    )
    server = Server()
    thread = serving(server)
    browser = Browser(tmp_path / "profile")
    spoken = "document.getElementById('spoken').textContent"
    done = "document.getElementById('stop').hidden && !document.querySelector('#result.old') && "
    try:
        one, two = browser.tab(server.opening()), browser.tab(server.address)
        browser.wait(one, done + spoken)
        demo = browser.value(one, spoken)
        browser.choose_file(one, tmp_path / "predictions.csv")
        browser.wait(one, f"{done} {spoken} !== {json.dumps(demo)}")
        assert browser.value(one, "document.getElementById('event').value") == "yes"
        roles = "Array.from(document.querySelectorAll('th select[id^=role]'), s => s.value).join()"
        assert browser.value(one, roles) == "outcome,prob,site"
        change = "dispatchEvent(new Event('change', {bubbles: true}))"
        browser.value(one, "document.getElementById('role-2').focus()")
        browser.value(one, f"document.activeElement.value = ''; document.activeElement.{change}")
        browser.wait(one, "!document.querySelector('th small + select, th:nth-child(3) small')")
        before = browser.value(one, spoken)
        browser.wait(one, f"{done} {spoken} !== {json.dumps(before)}")
        assert browser.value(one, "document.activeElement.id") == "role-2"
        limit = "document.getElementById('limit')"
        move = f"{limit}.value = 8; {limit}.dispatchEvent(new Event('input', {{bubbles: true}}))"
        browser.value(one, move)
        browser.wait(one, f"{done} document.getElementById('python').value.includes('0.05')")
        line = browser.value(one, "document.getElementById('python').value")
        assert "'predictions.csv', outcome='died'" in line
        assert "=0.05" in line
        record = "fetch(document.getElementById('save-json').href).then(answer => answer.json())"
        assert browser.value(one, f"{record}.then(record => record.limit.moved)")
        assert "--" + "close" not in browser.value(one, "document.body.innerText")
        asked = "fetch(`word?tab=${tab}`, {method: 'POST', body: '{}'})"
        kind = browser.value(one, f"{asked}.then(answer => answer.headers.get('content-type'))")
        assert kind == WORD
        browser.choose_file(two, tmp_path / "evil.csv")
        browser.wait(two, "!document.getElementById('questions').hidden")
        assert browser.value(two, "window.hit") is None
        for width in (390, 1280):
            browser.size(one, width, 900)
            assert browser.value(one, "document.documentElement.scrollWidth") <= width
        unnamed = (
            "[...document.querySelectorAll('input,select,textarea')]"
            ".filter(f => !f.labels.length && !f.ariaLabel).length"
        )
        assert browser.value(one, unnamed) == 0
        assert [each for each in browser.console if "422" not in each] == []
    finally:
        browser.end()
        server.shutdown()
        thread.join(20)
    assert not thread.is_alive()
    assert served.STATIC[""][0] == "page.html"
