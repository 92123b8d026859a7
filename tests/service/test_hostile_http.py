"""Malicious schemas, sent to a running service: a clean refusal for each, and no effect on other clients."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import httpx2
import psutil
import pytest
from intaglio.engine.api import GrammarConfig

from tests.support.live_service import PATIENCE_S, Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PLAIN = {"type": "object", "properties": {"n": {"type": "integer"}}}
ECHO = '<<echo {"n":1}>>'
CPU_S = 60.0  # counted work refuses long before
MOST_S = 4.0


def required(count: int) -> dict[str, Any]:
    """So many members that must come, each of a language of its own."""
    names = [f"p{number}" for number in range(count)]
    each = {
        name: {"type": "string", "pattern": f"^[a-f]{{{i % 90}}}x+{i}$"}
        for i, name in enumerate(names)
    }
    return {"properties": each, "required": names}


def nested(keyword: str, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {keyword: [schema, {"minLength": 1}]}
    return schema


# A schema, and the codes that are right for it.
HOSTILE: dict[str, tuple[Any, set[str]]] = {
    "many required": (required(3000), {"schema_too_large"}),
    "exponential pattern": (
        {"type": "string", "pattern": "(a|b)*a(a|b){20}"},
        {"schema_too_large"},
    ),
    "nested counts": (
        {"type": "string", "pattern": "((a{1,99}){1,99}){1,99}"},
        {"schema_too_large"},
    ),
    "long string": ({"type": "string", "minLength": 2**31}, {"schema_too_large"}),
    "many branches": (
        {"anyOf": [{"properties": {f"a{i}": {"const": i}, f"b{i}": {}}} for i in range(3000)]},
        {"schema_too_large"},
    ),
    "no base": (
        {
            "$ref": "#/$defs/a",
            "$defs": {
                "a": {
                    "required": ["a"],
                    "type": "object",
                    "properties": {"a": {"$ref": "#/$defs/a"}},
                }
            },
        },
        {"unsatisfiable_schema"},
    ),
    "itself": ({"$ref": "#"}, {"unsatisfiable_schema", "invalid_schema", "unsupported_schema"}),
    "far number": (
        {"type": "number", "multipleOf": 1e-300},
        {"schema_too_large", "unsupported_schema", ""},
    ),
    "back reference": ({"type": "string", "pattern": r"(a)\1"}, {"unsupported_schema"}),
    "abroad": ({"$ref": "http://127.0.0.1:9/x"}, {"invalid_schema", "unsupported_schema"}),
    "nested oneOf": (nested("oneOf", 14), {"", "schema_too_large", "unsatisfiable_schema"}),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    store = tmp_path_factory.mktemp("store") / "own" / "g.sqlite"
    # The bound that is tried here is that of the processor: a machine that stops for a while changes nothing.
    grammar = GrammarConfig(
        grammar_cpu_s=CPU_S, grammar_deadline_s=PATIENCE_S, grammar_store=str(store)
    )
    with live(launch(), folder, grammar=grammar) as running:
        assert running.extract(PLAIN, ECHO).status_code == 200
        yield running


def pids(service: Live) -> tuple[int, int]:
    info = service.app.service.backend.info
    assert info is not None
    return os.getpid(), info.pid


@pytest.mark.parametrize("name", HOSTILE)
def test_each_is_refused_by_its_code(service: Live, name: str) -> None:
    schema, codes = HOSTILE[name]
    before = pids(service)
    response = service.extract(schema, "<<echo 1>>")
    body = response.json()
    code = body.get("error", {}).get("code", "")
    assert code in codes | ({"invalid_output"} if "" in codes else set()), body
    if code == "schema_too_large":
        assert response.status_code == 400
        assert body["error"]["hint"] or body["error"]["details"]
        assert body["error"]["details"][0]["pointer"].startswith("/schema")
    assert pids(service) == before
    assert service.http.get("/ready").status_code == 200


def test_explaining_is_no_way_around(service: Live) -> None:
    begun = psutil.Process().cpu_times()
    for name in ("many branches", "exponential pattern"):
        response = service.http.post("/v1/schemas/explain", json={"schema": HOSTILE[name][0]})
        assert response.status_code in (200, 400)
        if response.status_code == 400:
            assert response.json()["error"]["code"] == "schema_too_large"
        else:
            assert response.json()["code"] == "schema_too_large"
    used = psutil.Process().cpu_times()
    assert used.user + used.system - begun.user - begun.system < MOST_S


def test_others_are_served_while_strangers_send_nothing_else(service: Live) -> None:
    stop = threading.Event()
    before, answers = pids(service), []

    def hostile(number: int) -> None:
        with httpx2.Client(base_url=service.url, timeout=PATIENCE_S) as http:
            while not stop.is_set():
                title = f"{number} {time.monotonic()}"
                schema = {"title": title, **HOSTILE["exponential pattern"][0]}
                answers.append(http.post("/v1/extract", json={"schema": schema, "text": "x"}))

    with ThreadPoolExecutor(6) as pool:
        running = [pool.submit(hostile, number) for number in range(6)]
        until(lambda: len(answers) >= 2)
        for _ in range(20):
            assert service.extract(PLAIN, ECHO).status_code == 200, (
                "it is known, so it waits for nobody"
            )
        stop.set()
        for each in running:
            each.result(PATIENCE_S)
    codes = {answer.json()["error"]["code"] for answer in answers}
    assert codes <= {"schema_too_large", "overloaded"}
    assert "schema_too_large" in codes
    assert pids(service) == before
    until(lambda: service.extract({"title": "new", **PLAIN}, ECHO).status_code == 200)


@contextmanager
def stopped(word: str) -> Iterator[None]:
    """Processes of this test with `word` in their command line do nothing meanwhile."""
    held = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if word in " ".join(process.cmdline()):
                held.append(process)
    assert held
    for process in held:
        process.suspend()
    try:
        yield
    finally:
        for process in held:
            process.resume()


def test_whoever_hangs_up_while_a_schema_is_examined_is_forgotten(service: Live) -> None:
    body = json.dumps({"schema": {"title": "examined for ever", **PLAIN}, "text": ECHO})
    head = f"content-length: {len(body)}\r\nx-request-id: hung-up"
    with stopped("grammar.intake.worker"):
        with socket.create_connection(service.address) as connection:
            connection.sendall(
                f"POST /v1/extract HTTP/1.1\r\nhost: x\r\n{head}\r\n\r\n{body}".encode()
            )
            until(lambda: service.app.service.gate.in_flight == 1)
        until(lambda: service.app.service.gate.in_flight == 0)
    until(lambda: service.outcome("hung-up") == "cancelled")
    assert service.settled().clean


def test_many_unique_schemas_take_no_lasting_memory(service: Live) -> None:
    def send(number: int) -> int:
        schema = {"type": "object", "properties": {f"n{number}": {"type": "integer"}}}
        return service.extract(schema, "<<echo {}>>").status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(send, range(60))) == {200}
        before = psutil.Process().memory_info().rss
        assert set(pool.map(send, range(60, 300))) == {200}
    assert psutil.Process().memory_info().rss - before < 32 << 20


def test_what_was_found_out_outlives_the_server(service: Live) -> None:
    gate = service.app.service.schema_gate
    assert gate is not None
    assert gate._store is not None
    rows = gate._store.most_used(1000)
    assert any(json.loads(row.source).get("properties", {}).get("n") for row in rows)
    assert gate._store.held_bytes > 0
