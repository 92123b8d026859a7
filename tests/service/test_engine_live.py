"""The service over the real engine, with a small random model: every answer valid, nothing leaked."""

import asyncio
import json
import os
import random
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx2
import jsonschema
import pytest
from intaglio.engine.api import EngineConfig, Launch, Watch
from intaglio.schemas.extraction.results import ExtractResult
from intaglio.schemas.problem import ProblemDocument

from tests.support.live_service import EXAMINING, PATIENCE_S, Live, live, until
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

TICKET = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 12},
        "kind": {"enum": ["bug", "wish", "question"]},
        "votes": {"type": "integer", "minimum": 0, "maximum": 99},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 4}, "maxItems": 3},
        "open": {"type": ["boolean", "null"]},
    },
    "required": ["title", "kind", "votes", "tags", "open"],
    "additionalProperties": False,
}


# Takes the engine so long that it is at work on it for as long as a test needs.
LONG = {"type": "string", "minLength": 400}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    config = {**LLAMA, "max_position_embeddings": 2048}
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", config)
    engine = EngineConfig.load(
        {"model": str(folder), "num_blocks": 512, "grammar_warm": 0}, environ={}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # two cores, shared with other tests
        # An engine's end is noticed by itself: its silence is borne for longer than a test may take.
        watch = Watch(backoff_s=0.05, silence_s=600.0)
        with live(Launch.of(engine), folder, watch=watch, grammar=EXAMINING) as running:
            yield running


def test_an_extraction_meets_its_schema(service: Live) -> None:
    result = ExtractResult.model_validate_json(service.extract(TICKET, "Printer on fire").content)
    jsonschema.validate(result.data, TICKET)
    assert result.usage.forced_tokens > 0
    again = ExtractResult.model_validate_json(service.extract(TICKET, "Printer on fire").content)
    assert again.data == result.data


def test_white_space_is_that_of_the_answer_and_never_of_what_the_model_writes(
    service: Live,
) -> None:
    compact = service.extract(TICKET, "Printer on fire")
    assert b'", "' not in compact.content.split(b'"usage"')[0]
    usage = compact.json()["usage"]
    for layout, mark in (("spaced", b'"data": {"title": '), ("pretty", b'\n    "title": ')):
        answer = service.extract(TICKET, "Printer on fire", options={"whitespace": layout})
        assert answer.json()["data"] == compact.json()["data"]
        # How many drafts were accepted is not a matter of the answer.
        assert answer.json()["usage"] | {"accepted_tokens": 0} == usage | {"accepted_tokens": 0}
        assert mark in answer.content


REFUSED: list[tuple[Any, str, int]] = [
    (
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}},
        "/schema/properties/a/$ref",
        400,
    ),
    ({"type": "strin"}, "/schema/type", 400),
    ({"properties": {"a": {"pattern": r"(a)\1"}}}, "/schema/properties/a/pattern", 400),
    (False, "", 422),
]


@pytest.mark.parametrize(("schema", "pointer", "status"), REFUSED)
def test_a_schema_that_cannot_be_kept_is_refused_by_name(
    service: Live, schema: Any, pointer: str, status: int
) -> None:
    response = service.extract(schema, "x")
    assert response.status_code == status
    problem = ProblemDocument.model_validate_json(response.content, strict=False).error
    assert problem.message
    if pointer:
        assert [d.pointer for d in problem.details] == [pointer]
        assert problem.details[0].reason


def test_a_budget_that_is_too_small_is_refused_with_the_least(service: Live) -> None:
    response = service.extract(TICKET, "x", options={"max_tokens": 5})
    assert response.status_code == 400
    found = response.json()["error"]
    assert found["code"] == "budget_too_small"
    assert [detail["pointer"] for detail in found["details"]] == ["/options/max_tokens"]
    assert found["details"][0]["hint"] == found["hint"]


def test_a_deadline_ends_an_extraction(service: Live) -> None:
    response = service.extract(LONG, "x", options={"deadline_s": 0.05})
    assert response.status_code == 504
    assert service.settled().clean


def test_64_at_once_while_a_fifth_hang_up(service: Live) -> None:
    """All others are valid, batches were shared, and no block is lost, however far those were who left."""

    async def one(client: httpx2.AsyncClient, number: int) -> Any:
        leaves = number % 5 == 0
        body = {"schema": LONG if leaves else TICKET, "text": f"Ticket {number}: it broke again"}
        call = client.post("/v1/extract", json=body)
        if leaves:
            with suppress(TimeoutError):
                await asyncio.wait_for(call, 0.05 + number / 200)
            return None
        return (await call).raise_for_status().json()["data"]

    async def everybody() -> list[Any]:
        async with httpx2.AsyncClient(base_url=service.url, timeout=PATIENCE_S) as client:
            return list(await asyncio.gather(*(one(client, n) for n in range(64))))

    answers = asyncio.run(everybody())
    for number, data in enumerate(answers):
        if number % 5:
            jsonschema.validate(data, TICKET)
    report = service.settled()
    assert report.clean, report
    until(lambda: metric(service, "intaglio_num_requests_running") == 0)
    until(lambda: metric(service, "intaglio_batch_sequences_max") > 1)
    until(lambda: metric(service, "intaglio_grammar_cache_hits_total") > 30)
    until(lambda: metric(service, "intaglio_kv_cache_usage_ratio") == 0)


def test_hanging_up_reaches_the_engine(service: Live) -> None:
    aborted = 'intaglio_engine_requests_total{finish="abort"}'
    before = metric(service, aborted)
    body = json.dumps({"schema": LONG, "text": "Ticket"})
    head = f"POST /v1/extract HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    with socket.create_connection(service.address) as connection:
        connection.sendall((head + body).encode())
        until(lambda: service.blocks().open_requests == 1)
    until(lambda: metric(service, aborted) > before)
    assert service.settled().clean


def metric(service: Live, name: str) -> float:
    for line in service.http.get("/metrics").text.splitlines():
        if line.startswith(name + " "):
            return float(line.rpartition(" ")[2])
    raise AssertionError(f"there is no {name}")


def test_memory_of_processes_and_of_grammars_is_told(service: Live) -> None:
    service.extract(TICKET, "Printer on fire")
    until(lambda: metric(service, 'intaglio_grammar_bytes{part="grammars"}') > 0)
    until(lambda: metric(service, 'intaglio_grammar_bytes{part="automata"}') > 0)
    for process in ("process", "intaglio_engine_process"):
        assert metric(service, f"{process}_resident_memory_bytes") > 10 << 20


def test_kill_9_of_the_engine_under_load(service: Live) -> None:
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(service.extract, LONG, f"text {n}") for n in range(8)]
        until(lambda: service.blocks().open_requests == 8)
        info = service.app.service.backend.info
        assert info is not None
        os.kill(info.pid, signal.SIGKILL)
        until(lambda: service.http.get("/ready").status_code == 503)
        answers = [future.result() for future in futures]
    assert service.app.service.backend.lives.deaths == 1
    assert {answer.status_code for answer in answers} == {200}
    for answer in answers:
        jsonschema.validate(answer.json()["data"], LONG)
    jsonschema.validate(service.extract(TICKET, "again").json()["data"], TICKET)
    assert service.settled().clean


SEEDS: list[bytes] = [
    json.dumps(body).encode()
    for body in (
        {"schema": {"enum": [1, 2]}, "text": "one", "options": {"max_tokens": 20, "seed": 1}},
        {"schema": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}},
                    "required": ["a"], "additionalProperties": False}, "text": "Ünï\u2028 \ud83d\ude00"},
        {"schema": "contact", "text": "x", "options": {"max_tokens": 3, "deadline_s": 0.2}},
        {"schema": {"$defs": {"a": {"const": None}}, "$ref": "#/$defs/a"}, "text": "y", "model": "tiny"},
    )
]  # fmt: skip

SPLICES = [
    b"null", b"true", b"-1", b"1e999", b"NaN", b'""', b"{}", b"[]", b'"\\ud800"', b'"$ref"', b'"#"',
    b'"type"', b'"not"', b'"pattern":"(a+)+$"', b"\xff", b"\x00", b"\\", b'"', b"}", b",", b":",
    b"9" * 400, b"[" * 300, b'{"a":' * 300, b'"x":1,"x":2', b'"enum":[]', b'"minLength":1e9',
]  # fmt: skip


def mutated(random: random.Random) -> bytes:
    body = bytearray(random.choice(SEEDS))
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(body) + 1)
        end = min(len(body), at + random.choice((0, 0, 1, 2, 5, 20)))
        match random.randrange(4):
            case 0:
                body[at:end] = random.choice(SPLICES)
            case 1:
                body[at:end] = b""
            case 2:
                body[at:at] = body[random.randrange(len(body) + 1) :][: random.randint(1, 40)]
            case _:
                body[at:end] = random.randbytes(random.randint(1, 3))
    return bytes(body)


def test_mutated_bodies_never_break_the_service(service: Live) -> None:
    """A hundred mutations: a result, or an error document with a status below 500. `tests.fuzz` sends more kinds."""
    source = random.Random(20261121)
    info = service.app.service.backend.info
    for number in range(100):
        body = mutated(source)
        response = service.http.post("/v1/extract", content=body)
        if response.status_code == 200:
            ExtractResult.model_validate_json(response.content)
            continue
        ProblemDocument.model_validate_json(response.content, strict=False)
        assert response.status_code in (400, 404, 413, 422, 504), (number, body, response.text)
    assert service.app.service.backend.info == info, "the engine was restarted"
    assert service.settled().clean
