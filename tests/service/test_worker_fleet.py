"""Several API processes of one server, as processes: a shared port and engine, replacement, an orderly end."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import psutil
import pytest
from intaglio.engine.api import GrammarConfig
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.service.config import ServiceConfig
from intaglio.service.extraction.translate import extraction_constraint
from intaglio.service.http import api_process
from intaglio.service.http.listen import listen
from intaglio.service.http.worker_fleet import FleetPlan, WorkerFleet

from tests.support import scripted_engine
from tests.support.answering_engine import Answers
from tests.support.live_processes import commands, has_ended
from tests.support.live_service import PATIENCE_S, until
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SERVE = (
    f"import sys; sys.path.append({str(Path(__file__).parents[2])!r})\n"
    "from tests.support.serve_answering import main; raise SystemExit(main())"
)
SCHEMA = {"type": "integer"}
ANSWER = b"123456"
BODY = {"schema": SCHEMA, "text": "The number is 123456."}


@dataclass
class Fleet:
    """A running server."""

    process: "subprocess.Popen[str]"
    url: str

    def workers(self) -> dict[int, psutil.Process]:
        name, below = api_process.__name__, commands(self.process.pid)
        return {one.pid: one for one in below if any(name in word for word in below[one])}

    def get(self, path: str) -> httpx2.Response:
        """One request over a connection of its own."""
        return httpx2.get(self.url + path, timeout=PATIENCE_S)

    def extract(self, headers: dict[str, str] | None = None) -> httpx2.Response:
        url = f"{self.url}/v1/extract"
        return httpx2.post(url, json=BODY, headers=headers, timeout=PATIENCE_S)

    def is_ready(self) -> bool:
        return self.get("/ready").status_code == 200


@contextmanager
def fleet(
    folder: Path, *, pace_s: float = 0.0, examines: bool = True, **settings: Any
) -> Iterator[Fleet]:
    model = write_checkpoint(folder / "model", LLAMA)
    source = extraction_constraint(SCHEMA, ExtractOptions()).source
    answers = folder / "answers.json"
    answers.write_bytes(msgspec.json.encode(Answers({source: tuple(ANSWER)}, pace_s=pace_s)))
    given = json.dumps({"port": 0, "api_workers": 2, **settings})
    grammar = json.dumps({"grammar_isolation": "server" if examines else "never"})
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", SERVE, str(model), str(answers), given, grammar],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = Fleet(process, process.stdout.readline().strip())
        if found.url:
            until(found.is_ready)
        yield found
    finally:
        process.kill()
        process.wait(PATIENCE_S)
        if process.stdout is not None:
            process.stdout.close()


def test_processes_answer_count_together_are_replaced_and_end_with_a_killed_parent(
    tmp_path: Path,
) -> None:
    with fleet(tmp_path) as server:
        first = server.workers()
        assert len(first) == 2
        for _ in range(12):  # each over a connection of its own: the kernel chooses the process
            assert server.extract().json()["data"] == 123456
        key = {"idempotency-key": "one"}
        repeated = [server.extract(key).json()["id"] for _ in range(8)]
        assert len(set(repeated)) == 1
        answered = 'intaglio_requests_total{outcome="ok",route="/v1/extract"} 20.0'
        for _ in range(8):
            assert answered in server.get("/metrics").text
        os.kill(min(first), signal.SIGKILL)
        until(lambda: len(server.workers()) == 2 and set(server.workers()) != set(first))
        until(server.is_ready)
        assert max(first) in server.workers()
        for _ in range(12):
            assert server.extract().json()["data"] == 123456
        assert answered.replace("20.0", "32.0") in server.get("/metrics").text
        below = psutil.Process(server.process.pid).children(recursive=True)
        assert len(below) >= 3
        server.process.kill()
        server.process.wait(PATIENCE_S)
        until(lambda: all(map(has_ended, below)))


def test_requests_in_flight_are_answered_after_a_signal_and_nothing_is_left_behind(
    tmp_path: Path,
) -> None:
    with fleet(tmp_path, pace_s=0.3, examines=False) as server:
        server.extract()  # the schema is examined
        found: list[httpx2.Response] = []
        clients = [
            threading.Thread(target=lambda: found.append(server.extract())) for _ in range(6)
        ]
        for client in clients:
            client.start()
        until(lambda: "intaglio_requests_in_hand 6.0" in server.get("/metrics").text)
        below = psutil.Process(server.process.pid).children(recursive=True)
        assert len(below) >= 3
        server.process.send_signal(signal.SIGTERM)
        for client in clients:
            client.join(PATIENCE_S)
        assert [response.json()["data"] for response in found] == [123456] * 6
        assert server.process.wait(PATIENCE_S) == 0
        until(lambda: all(map(has_ended, below)))


def test_a_process_that_a_signal_finds_starting_is_told_to_stop(tmp_path: Path) -> None:
    """Otherwise the parent waits for it as for one with requests in flight: here for ever."""
    plan = FleetPlan(
        config=ServiceConfig(port=0, grace_s=3600.0),
        grammar=GrammarConfig(),
        launches=(scripted_engine.launch(),),
        folder=str(write_checkpoint(tmp_path / "model", LLAMA)),
        model="model",
        count=1,
    )
    starts: list[str] = []

    def signal_itself(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and api_process.__name__ in str(arguments[1]) and not starts:
            starts.append(event)
            signal.raise_signal(signal.SIGTERM)

    async def story() -> int:
        sys.addaudithook(signal_itself)
        return await asyncio.wait_for(WorkerFleet(plan).run(lambda _: None), PATIENCE_S)

    assert asyncio.run(story()) == 0
    assert starts == ["subprocess.Popen"]


def test_a_port_in_use_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with fleet(tmp_path, examines=False, port=other.getsockname()[1]) as server:
            assert server.url == ""
            assert server.process.wait(PATIENCE_S) == 1


def test_a_shared_port_is_shared_with_those_that_share_it_only() -> None:
    first = listen("127.0.0.1", 0, shared=True)
    port = first[0].getsockname()[1]
    second = listen("127.0.0.1", port, shared=True)
    for sock in (*first, *second):
        sock.listen()
    with pytest.raises(Exception, match="in use"):
        listen("127.0.0.1", port)
    for sock in (*first, *second):
        sock.close()
