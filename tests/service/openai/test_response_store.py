"""The responses that a server keeps: found, continued, bounded, apart for each tenant."""

from pathlib import Path
from typing import Any

import pytest
from intaglio.schemas.openai.responses_items import InputMessage
from intaglio.service.errors import ResponsesUnavailable, UnknownResponse
from intaglio.service.openai.response_store import ResponseStore

ITEMS = [InputMessage(role="user", content="Ünï")]


def response(name: str, text: str = "hello") -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    message = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant"}
    return {"id": name, "output": [{**message, "content": [part]}]}


def test_a_response_is_found_with_the_items_before_it(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path)
    store.keep("a", ITEMS, response("r"))
    found = ResponseStore(tmp_path).get("a", "r")
    assert found.response == response("r")
    assert found.items == [{"type": "message", "role": "user", "content": "Ünï"}]
    first, second = store.items("a", "r")
    assert first == ITEMS[0]
    assert isinstance(second, InputMessage)
    assert second.role == "assistant"


def test_tenants_do_not_see_each_other(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path)
    store.keep("a", ITEMS, response("r"))
    for call in (store.get, store.items, store.delete):
        with pytest.raises(UnknownResponse):
            call("b", "r")
    store.delete("a", "r")
    for call, param in ((store.get, "id"), (store.items, "previous_response_id")):
        with pytest.raises(UnknownResponse) as caught:
            call("a", "r")
        assert caught.value.param == param


def test_the_oldest_give_way(tmp_path: Path) -> None:
    ticks = iter(range(100))
    store = ResponseStore(tmp_path, most=3, clock=lambda: float(next(ticks)))
    store.keep("b", ITEMS, response("other"))
    for number in range(5):
        store.keep("a", ITEMS, response(f"r{number}"))
    for gone in ("r0", "r1"):
        with pytest.raises(UnknownResponse):
            store.get("a", gone)
    for kept in ("r2", "r3", "r4"):
        assert store.get("a", kept).response["id"] == kept
    assert store.get("b", "other")


def test_a_response_that_is_too_long_is_not_kept(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path, most_bytes=1000)
    store.keep("a", ITEMS, response("long", "x" * 1000))
    store.keep("a", ITEMS, response("short"))
    assert store.get("a", "short")
    with pytest.raises(UnknownResponse):
        store.get("a", "long")


def test_a_broken_file_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "responses.db").write_bytes(b"not a database, certainly " * 100)
    with pytest.raises(ResponsesUnavailable):
        ResponseStore(tmp_path)
