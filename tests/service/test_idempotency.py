"""Requests that are sent again with their key: over HTTP, and the store under several processes."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from intaglio.engine.api import Watch
from intaglio.schemas.problem import Code
from intaglio.service.errors import IdempotencyKeyReused, ServiceNotReady
from intaglio.service.idempotency.answer_store import (
    KEPT_S,
    LEASE_S,
    MAX_ANSWER_BYTES,
    MAX_BYTES,
    AnswerStore,
    Claimed,
    KeptAnswer,
    KeyName,
)

from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

NUMBER: dict[str, Any] = {"type": "integer"}
JSON = "application/json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Live]:
    with live(launch(), folder, watch=Watch(backoff_s=0.05, silence_s=600.0)) as running:
        yield running


def send(service: Live, key: str, text: str, **more: Any) -> httpx2.Response:
    body = {"schema": NUMBER, "text": text, **more}
    return service.http.post("/v1/extract", json=body, headers={"idempotency-key": key})


def test_a_repeated_request_gets_the_first_answer(service: Live) -> None:
    first = send(service, "k1", "<<echo 41>>")
    again = send(service, "k1", "<<echo 41>>")
    assert first.status_code == again.status_code == 200
    assert again.content == first.content  # its id and times, too
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["content-type"] == first.headers["content-type"]
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert send(service, "k1-other", "<<echo 41>>").content != first.content


def test_a_key_belongs_to_one_request(service: Live) -> None:
    send(service, "k2", "<<echo 1>>")
    refused = send(service, "k2", "<<echo 2>>")
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == Code.IDEMPOTENCY_KEY_REUSED
    for bad in ("", "a b", "x" * 256):
        assert send(service, bad, "<<echo 1>>").status_code == 400


def test_a_request_that_failed_runs_again(service: Live) -> None:
    assert send(service, "k3", "<<echo x>>").status_code == 500
    assert send(service, "k3", "<<echo x>>").status_code == 500
    assert send(service, "k3", "<<echo 5>>").status_code == 200  # the key was freed


def test_a_request_in_flight_is_waited_for(service: Live, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    text = f"<<hold {gate}>>"
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(send, service, "k4", text) for _ in range(4)]
        until(lambda: service.blocks().open_requests == 1)
        gate.touch()
        bodies = {answer.result().content for answer in answers}
    assert len(bodies) == 1  # one id: there was one run
    assert b'"data":1' in bodies.pop()


def test_a_stream_is_repeated_as_it_was(service: Live) -> None:
    first = send(service, "k5", "<<echo 77>>", stream=True)
    again = send(service, "k5", "<<echo 77>>", stream=True)
    assert b"event: usage" in first.content
    assert again.content == first.content
    assert again.headers["content-type"].startswith("text/event-stream")
    broken = send(service, "k6", "<<echo x>>", stream=True)
    assert broken.status_code == 500
    assert send(service, "k6", "<<echo x>>", stream=True).status_code == 500


def test_a_client_that_leaves_frees_its_key(service: Live) -> None:
    body = {"schema": NUMBER, "text": "<<hold>>", "stream": True}
    left = threading.Event()

    def leave() -> None:
        with httpx2.Client(base_url=service.url, timeout=1.0) as http:
            headers = {"idempotency-key": "k7"}
            with pytest.raises(httpx2.ReadTimeout):
                http.post("/v1/extract", json=body, headers=headers)
        left.set()

    leave()
    assert left.is_set()
    assert service.settled().clean
    assert send(service, "k7", "<<echo 9>>").status_code == 200


def name(key: str, digest: bytes = b"d", tenant: str = "t") -> KeyName:
    return KeyName(tenant, key, digest)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_answers_are_forgotten_in_time_and_outlive_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    store = AnswerStore(tmp_path / "a.db", clock)
    claimed = store.claim(name("a"))
    assert isinstance(claimed, Claimed)
    store.keep(name("a"), claimed, KeptAnswer(JSON, b"1"))
    store.close()
    other = AnswerStore(tmp_path / "a.db", clock)
    assert other.claim(name("a")) == KeptAnswer(JSON, b"1")
    assert isinstance(other.claim(name("a", tenant="u")), Claimed)
    with pytest.raises(IdempotencyKeyReused):
        other.claim(name("a", b"e"))
    clock.now = KEPT_S + 1
    assert isinstance(other.claim(name("a", b"e")), Claimed)


def test_a_claim_is_held_as_long_as_it_is_renewed(tmp_path: Path) -> None:
    clock = Clock()
    mine, other = AnswerStore(tmp_path / "a.db", clock), AnswerStore(tmp_path / "a.db", clock)
    claimed = mine.claim(name("a"))
    assert isinstance(claimed, Claimed)
    for _ in range(5):
        clock.now += LEASE_S - 1
        assert other.claim(name("a")) is None
        mine.renew(name("a"), claimed)
    clock.now += LEASE_S + 1  # its process is dead
    taken = other.claim(name("a"))
    assert isinstance(taken, Claimed)
    # The first one comes back too late to keep or free anything.
    mine.keep(name("a"), claimed, KeptAnswer(JSON, b"late"))
    mine.release(name("a"), claimed)
    assert mine.claim(name("a")) is None
    other.release(name("a"), taken)
    assert isinstance(mine.claim(name("a")), Claimed)


def test_one_of_many_gets_a_key(tmp_path: Path) -> None:
    stores = [AnswerStore(tmp_path / "a.db") for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: stores[n % 4].claim(name("a")), range(40)))
    assert sum(isinstance(claimed, Claimed) for claimed in found) == 1
    assert found.count(None) == 39


def test_kept_answers_are_bounded() -> None:
    clock = Clock()
    store, size = AnswerStore(None, clock), MAX_ANSWER_BYTES
    for number in range(2 * MAX_BYTES // size):
        clock.now += 1
        claimed = store.claim(name(str(number)))
        assert isinstance(claimed, Claimed)
        store.keep(name(str(number)), claimed, KeptAnswer(JSON, bytes(size)))
    most = MAX_BYTES // size
    found = [isinstance(store.claim(name(str(n))), KeptAnswer) for n in range(2 * most)]
    assert found == [False] * most + [True] * most
    huge = store.claim(name("huge"))
    assert isinstance(huge, Claimed)
    store.keep(name("huge"), huge, KeptAnswer(JSON, bytes(size + 1)))
    assert isinstance(store.claim(name("huge")), Claimed)


def test_a_file_that_cannot_be_used_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(ServiceNotReady, match="kept answers"):
        AnswerStore(tmp_path)
