"""The service as a process: it stops in order, leaves nothing behind, and no engine outlives it."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx2
import psutil
import pytest

from tests.support import scripted_engine, serve_scripted
from tests.support.live_processes import commands, has_ended
from tests.support.live_service import PATIENCE_S, until
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

ENDLESS = {"schema": {}, "text": "<<hold>>"}

FROZEN = """
import gc, os, signal, sys, threading, urllib.request
from functools import partial
from pathlib import Path
sys.path.append(sys.argv[2])
from intaglio.engine.api import Engines, GrammarConfig
from intaglio.service.config import ServiceConfig
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.http.app import Application
from intaglio.service.http.server import serve_application
from intaglio.service.routing.router import EngineRouter
from tests.support.live_service import until
from tests.support.scripted_engine import launch

def is_ready(url):
    try:
        return urllib.request.urlopen(url + "/ready").status == 200
    except OSError:
        return False

def watch(url):
    until(lambda: is_ready(url))
    print(gc.get_freeze_count(), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

folder, config = Path(sys.argv[1]), ServiceConfig(port=0)
router, load = EngineRouter(Engines.owned([launch()])), partial(TextModel.load, folder)
make = partial(Application, router, load, folder.name, config,
               grammar=GrammarConfig(grammar_isolation="never"))
sys.exit(serve_application(
    make, lambda where: threading.Thread(target=watch, args=(where.url,), daemon=True).start()))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@dataclass
class Process:
    """A running server, its engine and the folder of their sockets; `below` is every process it has started."""

    popen: subprocess.Popen[str]
    http: httpx2.Client
    below: list[psutil.Process]
    engine: psutil.Process
    sockets: Path

    def end(self) -> int:
        """Wait for the end; the exit status. Nothing may be left."""
        status = self.popen.wait(PATIENCE_S)
        until(lambda: not any(process.is_running() for process in self.below))
        until(lambda: not self.sockets.exists())
        return status

    @property
    def port(self) -> int:
        port = self.http.base_url.port
        assert port is not None
        return port

    def extract(self, body: Any) -> httpx2.Response:
        return self.http.post("/v1/extract", json=body)

    def busy(self, count: int) -> None:
        """Wait until so many extractions are in hand."""
        line = f"intaglio_requests_in_hand {float(count)}"
        until(lambda: line in self.http.get("/metrics").text)

    def stop(self) -> None:
        """Send SIGTERM, and wait until it takes effect."""
        self.popen.send_signal(signal.SIGTERM)
        until(lambda: self.http.get("/ready").status_code == 503)


@contextmanager
def server(folder: Path, *, examines: bool = True, **settings: Any) -> Iterator[Process]:
    popen = start(folder, {}, examines=examines, port=0, **settings)
    try:
        assert popen.stdout is not None
        url = popen.stdout.readline().strip()
        with httpx2.Client(base_url=url, timeout=PATIENCE_S) as http:
            until(lambda: http.get("/ready").status_code == 200)
            below = commands(popen.pid, recursive=True)
            (engine,) = [one for one in below if scripted_engine.is_run_by(below[one])]
            yield Process(popen, http, list(below), engine, Path(below[engine][-2]))
    finally:
        popen.kill()
        popen.wait()
        assert popen.stdout is not None
        popen.stdout.close()


def start(
    folder: Path,
    script: dict[str, Any],
    errors: IO[str] | None = None,
    *,
    examines: bool = True,
    **settings: Any,
) -> "subprocess.Popen[str]":
    """A server. Without the process that examines schemas it starts in two thirds of the time."""
    source = serve_scripted.__file__
    assert source is not None
    grammar = {"grammar_isolation": "server" if examines else "never", "grammar_deadline_s": 60.0}
    given = (json.dumps(each) for each in (script, settings, grammar))
    return subprocess.Popen(
        [sys.executable, "-P", source, str(folder), *given],
        stdout=subprocess.PIPE,
        stderr=errors or subprocess.DEVNULL,
        text=True,
    )


def test_after_sigterm_requests_in_hand_finish_and_others_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    """Among those in hand is one whose body is still on its way."""
    body = json.dumps({"schema": {}, "text": "<<echo 1>>"}).encode()
    head = "POST /v1/extract HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\nConnection: close\r\n\r\n"
    gate = tmp_path / "gate"
    held = {"schema": {}, "text": f"<<hold {gate}>>"}
    with server(folder, examines=False, grace_s=600.0) as process, ThreadPoolExecutor(8) as pool:
        inside = [pool.submit(process.extract, held) for _ in range(8)]
        with socket.create_connection(("127.0.0.1", process.port)) as client:
            client.sendall(head.format(len(body)).encode() + body[:10])
            process.busy(9)
            process.stop()
            assert process.http.get("/ready").json() == {"status": "stopping"}
            late = process.extract(held)
            assert late.status_code == 503
            assert late.json()["error"]["code"] == "not_ready"
            client.sendall(body[10:])
            received = client.makefile("rb").read()
        assert received.startswith(b"HTTP/1.1 200"), received
        gate.touch()
        assert [answer.result().status_code for answer in inside] == [200] * 8
        assert process.end() == 0


def test_requests_that_outlast_the_grace_end_with_a_document(folder: Path) -> None:
    """Those whose answer never ends, and one whose body never comes."""
    head = b"POST /v1/extract HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n"
    with server(folder, examines=False, grace_s=0.3) as process, ThreadPoolExecutor(4) as pool:
        inside = [pool.submit(process.extract, ENDLESS) for _ in range(4)]
        with socket.create_connection(("127.0.0.1", process.port)) as client:
            client.sendall(head + b'{"schema"')
            process.busy(5)
            process.popen.send_signal(signal.SIGTERM)
            received = client.makefile("rb").read()
        assert received.startswith(b"HTTP/1.1 503"), received
        assert b'"code":"not_ready"' in received
        for answer in inside:
            assert answer.result().status_code == 503
            assert answer.result().json()["error"]["retryable"] is True
        assert process.end() == 0


def test_a_second_signal_does_not_wait(folder: Path) -> None:
    with server(folder, examines=False, grace_s=3600.0) as process, ThreadPoolExecutor(1) as pool:
        inside = pool.submit(process.extract, ENDLESS)
        process.busy(1)
        process.stop()
        process.popen.send_signal(signal.SIGTERM)
        assert process.end() == 0
        assert inside.result().status_code == 503


def test_an_idle_server_leaves_at_once_by_ctrl_c(folder: Path) -> None:
    with server(folder, examines=False) as process:
        process.popen.send_signal(signal.SIGINT)
        assert process.end() == 130


@pytest.mark.parametrize("ready", [False, True])
def test_a_server_that_has_just_begun_leaves_without_a_traceback(
    folder: Path, tmp_path: Path, ready: bool
) -> None:
    with (tmp_path / "errors").open("w+") as errors:
        popen = start(folder, {}, errors, port=0)
        try:
            assert popen.stdout is not None
            url = popen.stdout.readline().strip()
            # Ready, it goes on to make the grammars it will need.
            if ready:
                until(lambda: httpx2.get(f"{url}/ready").status_code == 200)
            popen.send_signal(signal.SIGTERM)
            assert popen.wait(PATIENCE_S) == 0
            popen.stdout.close()
        finally:
            popen.kill()
        errors.seek(0)
        assert "Traceback" not in errors.read()


def test_only_one_tcp_socket_listens_and_an_idle_server_leaves_at_once(folder: Path) -> None:
    """What others can reach is the HTTP port; the engine listens on none."""
    with server(folder) as process:
        own = psutil.Process(process.popen.pid).net_connections("tcp")
        listening = [c.laddr.port for c in own if c.status == psutil.CONN_LISTEN]
        assert listening == [process.port]
        assert not any(each.net_connections("tcp") for each in process.below)
        process.popen.send_signal(signal.SIGTERM)
        assert process.end() == 0


def test_kill_9_of_the_server_leaves_no_engine_and_no_sockets(folder: Path) -> None:
    with server(folder) as process, ThreadPoolExecutor(1) as pool:
        inside = pool.submit(process.extract, ENDLESS)
        process.busy(1)
        os.kill(process.popen.pid, signal.SIGKILL)
        assert process.end() == -signal.SIGKILL
        assert isinstance(inside.exception(), httpx2.HTTPError)


def test_hostile_schemas_send_it_nowhere_and_large_bodies_fill_nothing(folder: Path) -> None:
    """The process ends with status 66 if it looks up or connects to a host."""
    abroad = ("http://127.0.0.1:9/a.json", "https://example.invalid/b", "file:///etc/passwd")
    with server(folder, max_body_bytes=64 * 1024) as process:
        for place in abroad:
            for schema in ({"$ref": place}, {"$schema": place}, {"$id": place, "$ref": "c.json"}):
                process.extract({"schema": schema, "text": "<<echo 1>>"})
        memory = psutil.Process(process.popen.pid).memory_info
        before = memory().rss
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", process.port), timeout=10) as connection:
                head = b"POST /v1/extract HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
                with contextlib.suppress(ConnectionError, TimeoutError):
                    connection.sendall(head)
                    for _ in range(64):
                        connection.sendall(chunk)
        assert memory().rss - before < 16 * 2**20
        assert process.http.get("/ready").status_code == 200
        process.popen.send_signal(signal.SIGTERM)
        assert process.end() == 0


def test_a_model_that_cannot_be_used_ends_the_server_with_its_own_status(folder: Path) -> None:
    popen = start(folder, {"unusable": "no weights"}, examines=False, port=0)
    assert popen.wait(PATIENCE_S) == 4
    assert popen.stdout is not None
    popen.stdout.close()


def test_a_taken_port_ends_the_server_and_its_engine(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        popen = start(folder, {}, port=taken.getsockname()[1])
        children: set[psutil.Process] = set()
        while popen.poll() is None:
            children |= commands(popen.pid).keys()
            time.sleep(0.02)
        assert popen.returncode == 4
        until(lambda: all(map(has_ended, children)))
        assert popen.stdout is not None
        popen.stdout.close()


def test_sighup_replaces_the_engine_and_ends_no_request(folder: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with server(folder, examines=False, grace_s=600.0) as process, ThreadPoolExecutor(4) as pool:
        inside = [pool.submit(process.extract, {"schema": {}, "text": f"<<hold {gate}>>"})]
        process.busy(1)
        process.popen.send_signal(signal.SIGHUP)
        until(lambda: process.http.get("/ready").status_code == 503)
        waiting = pool.submit(process.extract, {"schema": {}, "text": "<<echo 2>>"})
        gate.touch()
        assert inside[0].result().json()["data"] == 1
        assert waiting.result().json()["data"] == 2
        until(lambda: not process.engine.is_running())
        process.popen.send_signal(signal.SIGTERM)
        assert process.end() == 0


def test_what_a_server_has_loaded_is_left_out_of_later_collections(folder: Path) -> None:
    command = [sys.executable, "-P", "-c", FROZEN, str(folder), str(Path(__file__).parents[2])]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert ended.returncode == 0, ended.stderr
    # A collection that starts from nothing passes over some hundred thousand objects.
    assert int(ended.stdout.split()[0]) > 50_000
