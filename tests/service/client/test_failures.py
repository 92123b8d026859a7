"""What the clients do when a call does not end in a result: which error, whether again, how long after."""

import asyncio
import copy
import datetime
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import format_datetime
from typing import Any

import pytest
from intaglio.schemas.problem import Code, Detail
from intaglio.service.client import (
    APIStatusError,
    AsyncClient,
    BadRequest,
    BudgetTooSmall,
    Client,
    ConnectionFailed,
    DeadlineExceeded,
    IntaglioError,
    NoResult,
    NotFound,
    NotReady,
    Overloaded,
    ResultMismatch,
    SchemaRefused,
    ServerFault,
    TimedOut,
    TooLong,
    Unauthorized,
    errors,
)
from intaglio.service.client.errors import ErrorAnswer
from intaglio.service.client.retry import Retries

from tests.service.client.conftest import Connect
from tests.support.stub_service import Answer, StubService, result


def problem(code: str, status: int = 400, *, retryable: bool = False, **more: Any) -> Answer:
    error = {"message": "it went wrong", "type": "x", "code": code, "retryable": retryable, **more}
    return Answer({"error": error}, status)


def refused_port() -> int:
    """A port on which no process listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        (Code.INVALID_REQUEST, 400, BadRequest),
        (Code.INVALID_SCHEMA, 400, SchemaRefused),
        (Code.UNSUPPORTED_SCHEMA, 400, SchemaRefused),
        (Code.UNSATISFIABLE_SCHEMA, 422, SchemaRefused),
        (Code.SCHEMA_TOO_LARGE, 400, SchemaRefused),
        (Code.BUDGET_TOO_SMALL, 400, BudgetTooSmall),
        (Code.UNKNOWN_SCHEMA, 404, NotFound),
        (Code.UNKNOWN_MODEL, 404, NotFound),
        (Code.CONTEXT_LENGTH_EXCEEDED, 400, TooLong),
        (Code.BODY_TOO_LARGE, 413, TooLong),
        (Code.DEADLINE_EXCEEDED, 408, DeadlineExceeded),
        (Code.INVALID_OUTPUT, 500, NoResult),
        (Code.OVERLOADED, 429, Overloaded),
        (Code.NOT_READY, 503, NotReady),
        (Code.INTERNAL, 500, ServerFault),
        ("some_code_of_tomorrow", 401, Unauthorized),
        ("some_code_of_tomorrow", 409, BadRequest),
        ("some_code_of_tomorrow", 507, ServerFault),
    ],
)
def test_every_code_has_its_error(
    connect: Connect, stub: StubService, code: str, status: int, kind: type[APIStatusError]
) -> None:
    stub.will_answer(problem(code, status))
    with pytest.raises(IntaglioError) as caught:
        connect().extract("invoice", "text")
    assert type(caught.value) is kind
    assert isinstance(caught.value, APIStatusError)
    assert (caught.value.code, caught.value.status) == (code, status)
    assert len(stub.asked) == 1


def test_an_error_says_where_why_and_what_to_do(connect: Connect, stub: StubService) -> None:
    detail = {
        "pointer": "/schema/properties/tags/uniqueItems",
        "keyword": "uniqueItems",
        "reason": "uniqueItems cannot be enforced",
        "hint": "remove it and check the list afterwards",
        "severity": "a field of tomorrow",
    }
    stub.will_answer(
        problem(
            "unsupported_schema",
            details=[detail],
            hint="see the catalogue",
            param="schema",
            request_id="r-7",
        )
    )
    with pytest.raises(SchemaRefused) as caught:
        connect().extract({"uniqueItems": True}, "text")
    error = caught.value
    assert str(error) == (
        "it went wrong (HTTP 400, unsupported_schema)\n"
        "  /schema/properties/tags/uniqueItems: uniqueItems cannot be enforced\n"
        "    hint: remove it and check the list afterwards\n"
        "  hint: see the catalogue\n"
        "  request id: r-7"
    )
    assert error.details[0].keyword == "uniqueItems"
    assert (error.param, error.request_id, error.retryable) == ("schema", "r-7", False)


def test_a_proxys_page_is_quoted(connect: Connect, stub: StubService) -> None:
    stub.will_answer(Answer("<h1>Bad gateway</h1>", 502))
    with pytest.raises(ServerFault, match="<h1>Bad gateway</h1>") as caught:
        connect().extract("invoice", "text")
    assert caught.value.retryable
    assert len(stub.asked) == 3


@pytest.mark.parametrize(
    "answer",
    [
        problem("overloaded", 429, retryable=True),
        problem("not_ready", 503, retryable=True),
        problem("internal_error", 500, retryable=True),
        Answer("", 504),
        Answer("", 408),
    ],
)
def test_what_may_pass_is_tried_again(connect: Connect, stub: StubService, answer: Answer) -> None:
    stub.will_answer(answer, answer, Answer(result(1)))
    assert connect().extract("invoice", "text").data == 1
    assert len(stub.asked) == 3
    assert stub.asked[0].body == stub.asked[2].body


def test_the_last_error_is_raised_when_tries_run_out(connect: Connect, stub: StubService) -> None:
    stub.will_answer(problem("overloaded", 429, retryable=True))
    with pytest.raises(Overloaded) as caught:
        connect(max_retries=1).extract("invoice", "text")
    assert caught.value.request_id == "req-2"
    with pytest.raises(Overloaded):
        connect().extract("invoice", "text", max_retries=0)
    assert len(stub.asked) == 3


def test_a_fault_that_will_not_pass_is_not_repeated(connect: Connect, stub: StubService) -> None:
    stub.will_answer(problem("internal_error", 500, retryable=False))
    with pytest.raises(ServerFault):
        connect().extract("invoice", "text")
    assert len(stub.asked) == 1


@pytest.mark.parametrize(("code", "status"), [("deadline_exceeded", 504), ("incomplete", 422)])
def test_what_more_tries_cannot_mend_is_not_repeated(
    connect: Connect, stub: StubService, code: str, status: int
) -> None:
    stub.will_answer(problem(code, status, retryable=True, param="options.deadline_s"))
    with pytest.raises(APIStatusError, match=r"at: options\.deadline_s") as caught:
        connect().extract("invoice", "text")
    assert caught.value.retryable
    assert len(stub.asked) == 1


def test_retry_after_is_honoured(connect: Connect, stub: StubService) -> None:
    wait = problem("overloaded", 429, retryable=True)
    wait.headers = {"retry-after": "0.3"}
    stub.will_answer(wait, Answer(result(1)))
    start = time.monotonic()
    assert connect().extract("invoice", "text").data == 1
    assert time.monotonic() - start >= 0.3


def test_a_long_retry_after_is_the_callers_to_wait(connect: Connect, stub: StubService) -> None:
    wait = problem("overloaded", 429, retryable=True)
    when = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
    wait.headers = {"retry-after": format_datetime(when, usegmt=True)}
    stub.will_answer(wait)
    with pytest.raises(Overloaded) as caught:
        connect().extract("invoice", "text")
    assert caught.value.retry_after is not None
    assert 3500 < caught.value.retry_after <= 3600
    assert len(stub.asked) == 1


def test_pauses_double_are_jittered_and_end() -> None:
    retries = Retries(limit=6)
    error = ConnectionFailed("no")
    for tries, full in enumerate([0.5, 1.0, 2.0, 4.0, 8.0, 8.0], start=1):
        pauses = {retries.pause(tries, error) for _ in range(20)}
        assert len(pauses) > 1
        assert all(pause is not None and full / 2 <= pause <= full for pause in pauses)
    assert retries.pause(7, error) is None
    assert retries.pause(1, IntaglioError("not retryable")) is None


def test_nobody_there_is_said_with_the_address(connect: Connect, stub: StubService) -> None:
    port = refused_port()
    with pytest.raises(ConnectionFailed, match=f"cannot connect to http://127.0.0.1:{port}") as err:
        connect(f"http://127.0.0.1:{port}").extract("invoice", "text")
    assert "intaglio serve" in str(err.value)
    assert not isinstance(err.value, TimedOut)


def test_a_late_answer_times_out_once(connect: Connect, stub: StubService) -> None:
    stub.will_answer(Answer(result(1), after_s=600))
    with pytest.raises(TimedOut, match="in time"):
        connect().extract("invoice", "text", timeout=3.0)
    assert stub.caller_left.wait(60)
    assert len(stub.asked) == 1


def test_ready_and_waiting_for_it(connect: Connect, stub: StubService) -> None:
    loading = problem("not_ready", 503, retryable=True)
    stub.will_answer(loading, loading, Answer({"status": "ok"}))
    client = connect()
    assert client.ready() is False
    client.wait_until_ready(timeout=60)
    assert [asked.path for asked in stub.asked] == ["/ready"] * 3
    stub.will_answer(loading)
    with pytest.raises(TimedOut, match="not ready within"):
        client.wait_until_ready(timeout=0.3)
    with pytest.raises(TimedOut, match="cannot connect"):
        connect(f"http://127.0.0.1:{refused_port()}").wait_until_ready(timeout=0.3)


def test_cancelling_a_call_reaches_the_service(stub: StubService) -> None:
    stub.will_answer(Answer(result(1), after_s=600))

    async def main() -> None:
        async with AsyncClient(stub.base_url) as client:
            task = asyncio.create_task(client.extract("invoice", "text"))
            assert await asyncio.to_thread(stub.busy.wait, 60)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert stub.caller_left.wait(60)
    assert len(stub.asked) == 1


def test_closing_the_client_ends_its_calls(stub: StubService) -> None:
    stub.will_answer(Answer(result(1), after_s=600))

    async def main() -> None:
        client = AsyncClient(stub.base_url)
        task = asyncio.create_task(client.extract("invoice", "text"))
        assert await asyncio.to_thread(stub.busy.wait, 60)
        await client.close()
        with pytest.raises(ConnectionFailed):
            await task

    asyncio.run(main())
    assert stub.caller_left.wait(60)
    assert len(stub.asked) == 1


def test_many_calls_at_once_share_a_client(stub: StubService) -> None:
    stub.will_answer(Answer(result(1), after_s=0.1))

    async def main() -> list[Any]:
        async with AsyncClient(stub.base_url) as client:
            calls = (client.extract("invoice", f"text {n}") for n in range(150))
            return [answer.data for answer in await asyncio.gather(*calls)]

    assert asyncio.run(main()) == [1] * 150
    assert {asked.body["text"] for asked in stub.asked} == {f"text {n}" for n in range(150)}


def test_the_address_comes_from_arguments_then_environment(
    stub: StubService, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.will_answer(Answer({"status": "ok"}))
    monkeypatch.delenv("INTAGLIO_BASE_URL", raising=False)
    with Client() as client:
        assert client.base_url == "http://localhost:8000"
    monkeypatch.setenv("INTAGLIO_BASE_URL", stub.base_url + "/")
    monkeypatch.setenv("INTAGLIO_API_KEY", "from-env")
    with Client() as client:
        client.health()
    with Client(api_key="given") as client:
        client.health()
    keys = [asked.headers["authorization"] for asked in stub.asked]
    assert keys == ["Bearer from-env", "Bearer given"]
    assert stub.asked[0].headers["user-agent"].startswith("intaglio-python/")


@pytest.mark.parametrize("ending", ["/v1", "/v1/", "/"])
def test_a_base_url_may_end_as_those_of_other_services_do(ending: str) -> None:
    with Client(f"http://gateway.example/intaglio{ending}") as client:
        assert client.base_url == "http://gateway.example/intaglio"


def test_a_base_url_without_a_scheme_is_refused() -> None:
    with pytest.raises(ValueError, match="must start with http"):
        Client("localhost:8000")


def test_a_key_from_a_file_may_end_with_a_line_break(stub: StubService) -> None:
    stub.will_answer(Answer(result({"n": 1})))
    with Client(stub.base_url, api_key=" sk-1\n") as client:
        client.extract({"type": "object"}, "x")
    assert stub.asked[-1].headers["authorization"] == "Bearer sk-1"


@pytest.mark.parametrize("key", ["sk\nsecret", "secr\u00e9t", "sk\x00secret"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ValueError, match="api_key has") as refused:
        Client("http://localhost:1", api_key=key)
    assert "sec" not in str(refused.value)


@pytest.mark.parametrize(
    ("timeout", "error"),
    [
        (0, ValueError),
        (-1.0, ValueError),
        (float("nan"), ValueError),
        ("5", TypeError),
        (True, TypeError),
    ],
)
def test_a_timeout_that_is_no_time_is_refused_at_once(
    stub: StubService, timeout: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="timeout must be"):
        Client(stub.base_url, timeout=timeout)
    with Client(stub.base_url) as client, pytest.raises(error, match="timeout must be"):
        client.extract({"type": "object"}, "x", timeout=timeout)
    assert not stub.asked


def test_a_mapping_and_an_empty_share_are_no_way_to_many_texts(stub: StubService) -> None:
    with Client(stub.base_url) as client:
        with pytest.raises(TypeError, match="not dict"):
            client.extract_many({"type": "object"}, {"a": "text of a"})
        with pytest.raises(ValueError, match="at_once must be at least 1"):
            client.extract_many({"type": "object"}, ["x"], at_once=0)
    assert not stub.asked


def errors_of_all_kinds() -> Iterator[IntaglioError]:
    detail = Detail(pointer="/schema/not", keyword="not", reason="no", hint="yes")
    answer = ErrorAnswer(400, "it went wrong", code="c", param="p", details=(detail,))
    for kind in list(vars(errors).values()):
        if isinstance(kind, type) and issubclass(kind, IntaglioError):
            if issubclass(kind, APIStatusError):
                yield kind(answer)
            elif kind is ResultMismatch:
                yield ResultMismatch("not even", {"n": 3}, "req-1")
            else:
                yield kind("it went wrong", hint="h")


@pytest.mark.parametrize(
    "error", list(errors_of_all_kinds()), ids=lambda error: type(error).__name__
)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_error_comes_out_of_another_process_as_it_was(
    error: IntaglioError, protocol: int
) -> None:
    error.retry_after = 1.5
    back = pickle.loads(pickle.dumps(error, protocol))
    for one in (back, copy.copy(error), copy.deepcopy(error)):
        assert type(one) is type(error)
        assert (str(one), vars(one), one.args) == (str(error), vars(error), error.args)


def test_a_client_says_why_it_cannot_go_to_another_process(stub: StubService) -> None:
    with Client(stub.base_url) as client, pytest.raises(TypeError, match="one in each process"):
        pickle.dumps(client)
    with pytest.raises(TypeError, match="one in each process"):
        pickle.dumps(AsyncClient(stub.base_url))


def test_one_asynchronous_client_serves_several_runs_of_asyncio(stub: StubService) -> None:
    stub.will_answer(Answer(result(1)))
    client = AsyncClient(stub.base_url)

    async def ask() -> Any:
        found = await asyncio.gather(*(client.extract("invoice", "text") for _ in range(5)))
        return [each.data for each in found]

    for _ in range(4):
        assert asyncio.run(ask()) == [1] * 5
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(asyncio.run, ask()) for _ in range(6)]
    assert [run.result() for run in runs] == [[1] * 5] * 6
    asyncio.run(client.close())
    with pytest.raises(RuntimeError, match="the client is closed"):
        asyncio.run(ask())


_UNCLOSED = """
import asyncio, sys
from intaglio import AsyncClient, Client

async def ask(client):
    return (await client.extract("invoice", "text")).data

async def forget():
    for _ in range(3):
        await ask(AsyncClient(sys.argv[1]))

print(asyncio.run(ask(AsyncClient(sys.argv[1]))))
kept = AsyncClient(sys.argv[1])
print(asyncio.run(ask(kept)), asyncio.run(ask(kept)))
asyncio.run(forget())
print(Client(sys.argv[1]).extract("invoice", "text").data)
last = Client(sys.argv[1])
print(last.extract("invoice", "text").data)
"""


def test_a_program_that_closes_no_client_leaves_no_socket_open(stub: StubService) -> None:
    stub.will_answer(Answer(result(1)))
    done = subprocess.run(
        [sys.executable, "-P", "-W", "always::ResourceWarning", "-c", _UNCLOSED, stub.base_url],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == ["1"] * 5
    assert "ResourceWarning" not in done.stderr, done.stderr
    assert done.stderr == ""


def test_a_closed_client_says_so(connect: Connect, stub: StubService) -> None:
    client = connect()
    client.close()
    with pytest.raises(RuntimeError, match="the client is closed"):
        client.extract("invoice", "text")
    assert stub.asked == []
