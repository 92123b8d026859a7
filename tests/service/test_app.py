"""The service over a scripted engine: routes, errors, bounds and ends of connections."""

import asyncio
import contextlib
import gzip
import json
import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from intaglio.engine.api import Watch
from intaglio.schemas.extraction.results import ExtractResult
from intaglio.schemas.problem import Code, ProblemDocument
from intaglio.schemas.server_info import ModelList

from tests.support.live_service import PATIENCE_S, Live, live, until
from tests.support.scripted_engine import BLOCKS, Script, launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
ADA = '{"name":"Ada","age":36}'
BODY_LIMIT = 64 * 1024


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Live]:
    # An engine's end is noticed by itself: its silence is borne for longer than a test may take.
    watch = Watch(backoff_s=0.05, silence_s=600.0)
    with live(launch(), folder, watch=watch, max_body_bytes=BODY_LIMIT) as running:
        yield running


@pytest.fixture(scope="module")
def impatient(folder: Path) -> Iterator[Live]:
    with live(launch(), folder, body_timeout_s=1.0, header_timeout_s=3.0) as running:
        yield running


@pytest.fixture(autouse=True)
def ready(service: Live) -> None:
    until(lambda: service.http.get("/ready").status_code == 200)


def problem(response: httpx2.Response, status: int, code: Code) -> Any:
    """The error in a response, which has the form and the status it should."""
    assert response.status_code == status, response.text
    found = ProblemDocument.model_validate_json(response.content, strict=False).error
    assert found.code is code
    assert found.request_id == response.headers["x-request-id"]
    assert response.headers["content-type"] == "application/json"
    return found


def test_an_extraction(service: Live) -> None:
    response = service.extract(PERSON, f"<<echo {ADA}>>")
    assert response.status_code == 200
    result = ExtractResult.model_validate_json(response.content)
    assert result.data == {"name": "Ada", "age": 36}
    assert result.model == "scripted"
    assert result.usage.output_tokens == len(ADA)
    assert result.usage.total_tokens == result.usage.prompt_tokens + len(ADA)
    assert result.timings.total_ms > 0
    assert service.settled().clean


def test_a_schema_by_name_is_that_of_the_catalogue(service: Live) -> None:
    found = problem(service.extract("invoice", "<<echo {}>>"), 500, Code.INVALID_OUTPUT)
    assert found.details == ()
    found = problem(service.extract("invoicee", "text"), 404, Code.UNKNOWN_SCHEMA)
    assert "invoice" in found.hint
    assert found.details[0].pointer == "/schema"


def test_routes_that_only_tell(service: Live) -> None:
    for path in ("/health", "/healthz", "/ready", "/readyz"):
        assert service.http.get(path).json() == {"status": "ok"}
    card = ModelList.model_validate_json(service.http.get("/v1/models").content).data[0]
    assert (card.id, card.context_length) == ("scripted", 4096)
    assert service.http.get("/version").json()["model"] == "scripted"
    head = service.http.head("/health")
    assert (head.status_code, head.content) == (200, b"")


def test_no_route_and_no_method_are_error_documents(service: Live) -> None:
    assert "/v1/extract" in problem(service.http.get("/nope"), 404, Code.NOT_FOUND).hint
    problem(service.http.get("/v1/extract/"), 404, Code.NOT_FOUND)
    response = service.http.delete("/v1/extract")
    problem(response, 405, Code.METHOD_NOT_ALLOWED)
    assert response.headers["allow"] == "POST"
    problem(service.http.post("/health"), 405, Code.METHOD_NOT_ALLOWED)


def test_a_sane_request_id_comes_back_and_any_other_is_replaced(service: Live) -> None:
    answer = service.http.get("/health", headers={"x-request-id": "mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"
    for bad in ("a b", "x" * 129, "é"):
        answer = service.http.get("/health", headers={b"x-request-id": bad.encode("latin-1")})
        assert answer.headers["x-request-id"].startswith("req_")
    assert len(answer.headers.get_list("x-request-id")) == 1


def nested(depth: int) -> str:
    return '{"schema":' + "[" * depth + "]" * depth + ',"text":"x"}'


MALFORMED: list[tuple[bytes, str, str | None]] = [
    (b"", "the body is empty", None),
    (b" \n", "the body is empty", None),
    (b'\xef\xbb\xbf{"schema":{},"text":"x"}', "a byte order mark", None),
    (b"{", "line 1", None),
    (b'{"schema":{},"text":"x"} x', "line 1", None),
    (b'{"text":"a","text":"b","schema":{}}', "twice", "/text"),
    (b'{"schema":{"type":"object","type":"array"},"text":"a"}', "twice", "/schema/type"),
    (b'{"schema":{},"text":"\xff"}', "UTF-8", None),
    (b'{"schema":{},"text":"\\ud800"}', "surrogate", "/text"),
    (b'{"schema":{"const":NaN},"text":"x"}', "NaN", "/schema/const"),
    (b'{"schema":{"enum":[1,1e999]},"text":"x"}', "out of range", "/schema/enum/1"),
    (b'{"schema":{"const":' + b"9" * 5000 + b'},"text":"x"}', "digits", "/schema/const"),
    (nested(200).encode(), "nested", None),
    (nested(20_000).encode(), "nested", None),
]


@pytest.mark.parametrize(("body", "words", "place"), MALFORMED, ids=range(len(MALFORMED)))
def test_a_body_that_is_not_strict_json(
    service: Live, body: bytes, words: str, place: str | None
) -> None:
    found = problem(service.http.post("/v1/extract", content=body), 400, Code.INVALID_JSON)
    assert words in found.message
    assert [each.pointer for each in found.details] == ([] if place is None else [place])
    assert all(each.hint and each.hint == found.hint for each in found.details)


WRONG: list[tuple[Any, str, Code]] = [
    ([], "", Code.INVALID_REQUEST),
    ({"schema": {}}, "/text", Code.INVALID_REQUEST),
    ({"text": "x"}, "/schema", Code.INVALID_REQUEST),
    ({"schema": 3, "text": "x"}, "/schema", Code.INVALID_REQUEST),
    ({"schema": " ", "text": "x"}, "", Code.INVALID_REQUEST),
    ({"schema": {}, "text": ""}, "/text", Code.INVALID_REQUEST),
    ({"schema": {}, "text": 5}, "/text", Code.INVALID_REQUEST),
    (
        {"schema": {}, "text": "x", "options": {"max_tokens": "5"}},
        "/options/max_tokens",
        Code.INVALID_REQUEST,
    ),
    (
        {"schema": {}, "text": "x", "options": {"temperature": -1}},
        "/options/temperature",
        Code.INVALID_REQUEST,
    ),
    (
        {"schema": {}, "text": "x", "options": {"seed": True}},
        "/options/seed",
        Code.INVALID_REQUEST,
    ),
    ({"schema": {}, "text": "x", "schema_": {}}, "/schema_", Code.UNKNOWN_FIELD),
    ({"schema": {}, "text": "x", "options": {"a/b~": 1}}, "/options/a~1b~0", Code.UNKNOWN_FIELD),
]


@pytest.mark.parametrize(("body", "pointer", "code"), WRONG, ids=range(len(WRONG)))
def test_a_body_of_another_shape_is_told_where(
    service: Live, body: Any, pointer: str, code: Code
) -> None:
    found = problem(service.http.post("/v1/extract", json=body), 400, code)
    assert found.details[0].pointer == pointer
    assert found.details[0].reason


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "GZIP, gzip"])
@pytest.mark.parametrize("path", ["/v1/extract", "/v1/chat/completions", "/v1/schemas/explain"])
def test_a_compressed_body_is_told_from_bad_text(service: Live, coding: str, path: str) -> None:
    body = gzip.compress(b'{"schema": {}, "text": "x"}')
    answer = service.http.post(path, content=body, headers={"content-encoding": coding})
    assert answer.status_code == 400
    told = answer.json()["error"]
    assert told["message"].startswith(f"the body is compressed ({coding.lower()})")
    assert told["param"] == "Content-Encoding"


@pytest.mark.parametrize(
    ("path", "change", "reason"),
    [
        ("chat/completions", {"stop": ""}, "at least 1 character"),
        ("chat/completions", {"stop": 5}, "must be a string or a JSON array"),
        ("completions", {"prompt": 5}, "must be a string or a JSON array"),
        ("completions", {"prompt": {"a": 1}}, "must be a string or a JSON array"),
        ("completions", {"prompt": ["a", 1]}, "must be"),
        ("extract", {"texts": [], "text": None}, "should have at least 1 item, not 0"),
    ],
)
def test_a_value_of_no_possible_type_is_told_all_of_them(
    service: Live, path: str, change: dict[str, Any], reason: str
) -> None:
    usual: dict[str, dict[str, Any]] = {
        "chat/completions": {"messages": [{"role": "user", "content": "x"}]},
        "completions": {"prompt": "x"},
        "extract": {"schema": {}, "text": "x"},
    }
    body = {name: value for name, value in (usual[path] | change).items() if value is not None}
    answer = service.http.post(f"/v1/{path}", json=body)
    assert answer.status_code == 400
    assert reason in answer.json()["error"]["details"][0]["reason"]


def test_another_model_is_not_this_one(service: Live) -> None:
    found = problem(service.extract({}, "x", model="gpt"), 404, Code.UNKNOWN_MODEL)
    assert found.details[0].pointer == "/model"
    assert "scripted" in found.hint


def test_a_text_that_is_too_long_is_refused_with_figures(service: Live) -> None:
    found = problem(service.extract({}, "x" * 5000), 400, Code.CONTEXT_LENGTH_EXCEEDED)
    assert "5" in found.message
    assert "4096" in found.message
    options = {"max_tokens": 100_000}
    found = problem(service.extract({}, "x", options=options), 400, Code.CONTEXT_LENGTH_EXCEEDED)
    assert found.param == "options.max_tokens"


def test_an_answer_that_is_cut_short_is_an_error_and_none_of_it_is_told(service: Live) -> None:
    response = service.extract(PERSON, f"<<echo {ADA}>>", options={"max_tokens": 10})
    found = problem(response, 422, Code.INCOMPLETE)
    assert found.retryable
    assert "max_tokens" in found.hint
    assert "Ada" not in response.text


@pytest.mark.parametrize(
    "said",
    [
        "not json",
        '{"name":"Ada"}',
        '{"name":"Ada","age":36,"age":37}',
        '{"name":"Ada","age":NaN}',
        "",
    ],
)
def test_an_output_that_fails_the_last_check_does_not_leave(service: Live, said: str) -> None:
    response = service.extract(PERSON, f"<<echo {said}>>")
    problem(response, 500, Code.INVALID_OUTPUT)
    assert "Ada" not in response.text


def test_formats_and_ecma_patterns_are_checked_at_the_end(service: Live) -> None:
    dated = {"type": "string", "format": "date"}
    assert service.extract(dated, '<<echo "2026-02-28">>').status_code == 200
    problem(service.extract(dated, '<<echo "2026-02-30">>'), 500, Code.INVALID_OUTPUT)
    digits = {"type": "string", "pattern": r"^\d+$"}
    assert service.extract(digits, '<<echo "12">>').status_code == 200
    problem(service.extract(digits, '<<echo "١٢">>'), 500, Code.INVALID_OUTPUT)
    problem(service.extract(digits, '<<echo "12\\n">>'), 500, Code.INVALID_OUTPUT)


ENDS: list[tuple[str, int, Code]] = [
    ("late", 504, Code.DEADLINE_EXCEEDED),
    ("fail queue_full", 429, Code.OVERLOADED),
    ("fail budget_too_small", 400, Code.BUDGET_TOO_SMALL),
    ("fail unsupported_constraint", 400, Code.UNSUPPORTED_SCHEMA),
    ("fail unsatisfiable_constraint", 422, Code.UNSATISFIABLE_SCHEMA),
    ("fail constraint_too_large", 400, Code.SCHEMA_TOO_LARGE),
    ("fail internal_error", 500, Code.INTERNAL),
    ("fail something_new", 500, Code.INTERNAL),
]


@pytest.mark.parametrize(("order", "status", "code"), ENDS)
def test_how_the_engine_ends_a_request_is_what_the_user_is_told(
    service: Live, order: str, status: int, code: Code
) -> None:
    response = service.extract({}, f"<<{order}>>", options={"deadline_s": 60.0})
    problem(response, status, code)
    assert (response.headers.get("retry-after") is not None) == (status in (429, 503))


def test_a_client_that_hangs_up_frees_its_blocks(service: Live) -> None:
    body = json.dumps({"schema": {}, "text": "<<hold>>"}).encode()
    connections = [_send(service, body) for _ in range(8)]
    until(lambda: service.blocks().used == 8)
    for connection in connections:
        connection.close()
    until(lambda: service.blocks().used == 0)
    assert service.settled().clean
    assert service.blocks().free == BLOCKS


def test_a_client_that_hangs_up_in_the_middle_of_its_body(service: Live) -> None:
    connection = _send(service, b'{"schema"', declared=100, more="x-request-id: hung-up\r\n")
    connection.close()
    until(lambda: service.outcome("hung-up") == "cancelled")


def test_ready_tells_why_not(folder: Path, tmp_path: Path) -> None:
    loading = tmp_path / "loading"
    loading.touch()
    script = Script(load_while=str(loading))
    no_other = Watch(backoff_s=600.0, backoff_limit_s=600.0)
    with live(launch(script), folder, watch=no_other, wait=False) as service:
        assert service.http.get("/health").status_code == 200
        response = service.http.get("/ready")
        assert (response.status_code, response.json()) == (503, {"status": "loading model"})
        problem(service.extract({}, "x"), 503, Code.NOT_READY)
        problem(service.http.get("/v1/models"), 503, Code.NOT_READY)
        loading.unlink()
        until(lambda: service.http.get("/ready").status_code == 200)
        assert service.app.service.backend.info is not None
        os.kill(service.app.service.backend.info.pid, signal.SIGKILL)
        until(lambda: service.http.get("/ready").status_code == 503)
        assert service.http.get("/ready").json() == {"status": "engine down"}
        assert service.http.get("/health").json() == {"status": "ok"}


def test_more_requests_than_are_bearable_are_turned_away(folder: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with (
        live(launch(), folder, max_requests=2) as service,
        ThreadPoolExecutor(2) as pool,
    ):
        held = [pool.submit(service.extract, {}, f"<<hold {gate}>>") for _ in range(2)]
        until(lambda: service.blocks().open_requests == 2)
        response = service.extract({}, "<<echo 1>>")
        assert problem(response, 429, Code.OVERLOADED).retryable
        assert response.headers["retry-after"] == "1"
        gate.touch()
        assert [future.result().status_code for future in held] == [200, 200]
        assert service.extract({}, "<<echo 1>>").status_code == 200


def _send(service: Live, body: bytes, declared: int | None = None, more: str = "") -> socket.socket:
    connection = socket.create_connection(service.address, timeout=PATIENCE_S)
    length = len(body) if declared is None else declared
    connection.sendall(
        f"POST /v1/extract HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n{more}\r\n".encode()
    )
    connection.sendall(body)
    return connection


def _answer(connection: socket.socket) -> tuple[int, bytes]:
    """Status and everything up to the end of the connection."""
    data = b""
    # The connection is reset after the answer, if the server has not read all that was sent.
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            data += part
    return int(data.split(b" ", 2)[1]), data


def test_a_body_over_the_limit_is_refused_unread(service: Live) -> None:
    with _send(service, b"x" * 1024, declared=2 * BODY_LIMIT) as connection:
        status, data = _answer(connection)
    assert status == 413
    assert b'"body_too_large"' in data


def test_a_body_that_hides_its_size_is_read_to_the_limit_only(service: Live) -> None:
    connection = socket.create_connection(service.address, timeout=PATIENCE_S)
    connection.sendall(
        b"POST /v1/extract HTTP/1.1\r\nhost: x\r\n"
        b"x-request-id: endless\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    sent = 0
    try:
        while sent < 64 * BODY_LIMIT:
            connection.sendall(b"2000\r\n" + b"x" * 0x2000 + b"\r\n")
            sent += 0x2000
    except (ConnectionError, TimeoutError):
        pass
    assert sent < 64 * BODY_LIMIT, "all of it was taken"
    connection.close()
    until(lambda: service.outcome("endless") == "body_too_large")


def test_an_ordinary_client_reads_the_refusal_of_a_large_body(service: Live) -> None:
    response = service.http.post("/v1/extract", content=b"x" * (2 * BODY_LIMIT))
    problem(response, 413, Code.BODY_TOO_LARGE)


def test_a_body_that_dawdles_is_given_up(impatient: Live) -> None:
    with _send(impatient, b'{"sch', declared=100) as connection:
        status, data = _answer(connection)
    assert status == 408
    assert b"did not arrive within 1 s" in data


def test_headers_that_dawdle_are_given_up(impatient: Live) -> None:
    with socket.create_connection(impatient.address, timeout=PATIENCE_S) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost")
        assert connection.recv(100) == b""


def test_headers_that_dawdle_on_a_connection_that_was_used_before(impatient: Live) -> None:
    with socket.create_connection(impatient.address, timeout=PATIENCE_S) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
        answered = b""
        while not answered.endswith(b'{"status":"ok"}'):
            part = connection.recv(1000)
            assert part, "closed before it was answered"
            answered += part
        connection.sendall(b"GET /health HTTP/1.1\r\nhost")
        assert connection.recv(100) == b""


def test_headers_over_the_limit_are_refused(service: Live) -> None:
    with socket.create_connection(service.address, timeout=PATIENCE_S) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nx: " + b"y" * 20_000)
        status, _ = _answer(connection)
    assert status == 400


def test_headers_over_the_limit_are_refused_also_if_they_come_at_once(service: Live) -> None:
    head, body = b"POST /v1/extract HTTP/1.1\r\nhost: x\r\ncontent-length: 20000\r\n", b"z" * 20_000
    for long, expected in ((b"x: " + b"y" * 16_500, b"headers are too long"), (b"x: y", b"JSON")):
        with socket.create_connection(service.address, timeout=PATIENCE_S) as connection:
            connection.sendall(head + long + b"\r\n\r\n" + body)
            status, data = _answer(connection)
        assert status == 400
        assert expected in data, data


def test_what_is_not_http_gets_the_usual_document(service: Live) -> None:
    with socket.create_connection(service.address, timeout=PATIENCE_S) as connection:
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        status, data = _answer(connection)
    assert status == 400
    assert ProblemDocument.model_validate_json(data.partition(b"\r\n\r\n")[2])


def test_metrics_count_what_happened(service: Live) -> None:
    service.extract(PERSON, f"<<echo {ADA}>>")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: service.extract({}, "<<slow 123>>"), range(8)))
    until(lambda: _metric(service, "intaglio_batch_sequences_max") > 1)
    answered = 'intaglio_requests_total{outcome="ok",route="/v1/extract"}'
    until(lambda: _metric(service, answered) >= 9)  # counted when the last byte is out
    first_tokens = 'intaglio_time_to_first_token_seconds_count{route="/v1/extract"}'
    assert _metric(service, first_tokens) >= 9
    assert _metric(service, "intaglio_engine_up") == 1
    # The engine tells how it stands four times a second.
    until(lambda: _metric(service, "intaglio_kv_cache_usage_ratio") == 0)


def test_the_state_of_the_engine_tells_what_it_did(service: Live) -> None:
    service.extract(PERSON, f"<<echo {ADA}>>")

    def engine() -> dict[str, Any]:
        state: dict[str, Any] = service.http.get("/v1/engine/state").json()
        return dict(state["engines"][0])

    until(lambda: engine()["finished"].get("stop", 0) >= 1)
    told = engine()
    assert told["state"] == "ready"
    assert told["lives"]["deaths"] == service.app.service.backend.lives.deaths
    assert told["facts"]["model"] == "scripted"
    until(lambda: engine()["memory"]["used_share"] == 0)


def _metric(service: Live, name: str) -> float:
    for line in service.http.get("/metrics").text.splitlines():
        if line.startswith(name + " "):
            return float(line.rpartition(" ")[2])
    raise AssertionError(f"there is no {name}")


def test_the_log_has_each_request_and_no_text_of_users(service: Live) -> None:
    secret = "tangerine-4711"
    service.extract({"title": secret}, f"{secret} <<echo not-json>>")
    last = service.extract({"title": secret, "const": 2}, f"{secret} <<echo 1>>")

    def line() -> dict[str, Any] | None:
        found = [json.loads(text) for text in service.log.getvalue().splitlines()]
        mine = [x for x in found if x.get("request_id") == last.headers["x-request-id"]]
        return next((x for x in mine if x["event"] == "request"), None)

    until(lambda: line() is not None)
    fields = line()
    assert fields is not None
    assert (fields["route"], fields["status"]) == ("/v1/extract", 500)
    assert {"ms", "prompt_tokens", "output_tokens", "outcome"} <= fields.keys()
    assert secret not in service.log.getvalue()


def test_many_at_once_and_a_fifth_hang_up(service: Live) -> None:
    async def one(client: httpx2.AsyncClient, number: int) -> int | None:
        stays = number % 5 > 0
        text = f"<<slow {number}{'0' * 20}>>" if stays else "<<hold>>"
        body = {"schema": {"type": "integer"}, "text": text}
        call = client.post("/v1/extract", json=body)
        if stays:
            response = await call
            assert response.status_code == 200
            assert response.json()["data"] == int(f"{number}{'0' * 20}")
            return number
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call, 0.2 + number / 200)
        return None

    async def all_of_them() -> list[int | None]:
        async with httpx2.AsyncClient(base_url=service.url, timeout=PATIENCE_S) as client:
            return list(await asyncio.gather(*(one(client, n) for n in range(64))))

    answers = asyncio.run(all_of_them())
    assert sum(answer is not None for answer in answers) == 51
    assert service.settled().clean
