"""The other routes of OpenAI's interface, its errors, and the connections of its streams."""

import json
import socket
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.support.live_service import PATIENCE_S, Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


def chat(order: str, **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": f"<<{order}>>"}], **fields}


def test_models_are_listed_and_found_by_name(client: openai.OpenAI) -> None:
    (listed,) = client.models.list().data
    assert listed.id == "scripted"
    assert client.models.retrieve("scripted") == listed
    for name in ("gpt-5", "org/name", "scripted/x"):
        with pytest.raises(openai.NotFoundError) as missing:
            client.models.retrieve(name)
        assert missing.value.code == "model_not_found"


def test_embeddings_are_refused_clearly(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="has no embeddings"):
        client.embeddings.create(model="scripted", input="a")


def test_tokens_of_a_text_come_back_as_the_text(served: Live) -> None:
    given = {"prompt": "aé<|end|>", "return_token_strs": True, "add_special_tokens": True}
    found = served.http.post("/tokenize", json=given).json()
    assert found["tokens"] == list("aé<|end|>".encode())
    assert found["count"] == len(found["tokens"]) == len(found["token_strs"])
    assert found["max_model_len"] == 4096
    back = served.http.post("/detokenize", json={"tokens": found["tokens"]}).json()
    assert back == {"prompt": "aé<|end|>"}


def test_tokens_of_messages_are_those_of_the_prompt(served: Live) -> None:
    messages = chat("echo a")["messages"]
    found = served.http.post("/tokenize", json={"messages": messages}).json()
    usage = served.http.post("/v1/chat/completions", json=chat("echo a")).json()["usage"]
    assert found["count"] == usage["prompt_tokens"]
    without = {"messages": messages, "add_generation_prompt": False}
    assert served.http.post("/tokenize", json=without).json()["count"] < found["count"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/tokenize", {}),
        ("/tokenize", {"prompt": "a", "messages": [{"role": "user", "content": "a"}]}),
        ("/tokenize", {"prompt": 5}),
        ("/detokenize", {"tokens": [300]}),
        ("/detokenize", {"tokens": [-1]}),
        ("/detokenize", {"tokens": ["a"]}),
        ("/v1/chat/completions", {"messages": []}),
        ("/v1/chat/completions", {"messages": [{"role": "king", "content": "a"}]}),
        ("/v1/chat/completions", {"messages": [{"role": "user"}]}),
        ("/v1/chat/completions", []),
        ("/v1/completions", {}),
    ],
)
def test_rubbish_is_a_400_of_openais_shape(served: Live, path: str, body: Any) -> None:
    response = served.http.post(path, json=body)
    assert response.status_code == 400, response.text
    assert {"message", "type", "param", "code"} <= response.json()["error"].keys()


def test_a_body_that_is_no_json_has_openais_shape(served: Live) -> None:
    for content in (b"", b"{", b'{"messages": [], "messages": []}', b"\xff"):
        response = served.http.post("/v1/chat/completions", content=content)
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "invalid_json"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    limits = {"max_requests": 2, "write_timeout_s": 1.0}
    with live(launch(), folder, api_keys=("right",), **limits) as running:  # type: ignore[arg-type]
        yield running


def test_a_wrong_key_is_a_401_that_openais_client_knows(guarded: Live) -> None:
    def client_of(key: str) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{guarded.url}/v1", api_key=key, max_retries=0)

    with client_of("wrong") as client, pytest.raises(openai.AuthenticationError) as refused:
        client.models.retrieve("scripted")
    assert refused.value.code == "invalid_api_key"
    with client_of("right") as client:
        assert client.models.list().data[0].id == "scripted"


def test_a_full_server_is_a_429_with_retry_after(guarded: Live, tmp_path: Path) -> None:
    headers = {"authorization": "Bearer right"}
    gate = tmp_path / "gate"
    sockets = [open_stream(guarded, f"hold {gate}", key="right") for _ in range(2)]
    until(lambda: guarded.app.service.gate.in_flight == 2)
    response = guarded.http.post("/v1/chat/completions", json=chat("echo a"), headers=headers)
    assert response.status_code == 429
    assert int(response.headers["retry-after"]) >= 1
    assert response.json()["error"]["code"] == "rate_limit_exceeded"
    gate.touch()
    for connection in sockets:
        assert rest_of(connection).rstrip(b"\r\n0").endswith(b"data: [DONE]")
    until(lambda: guarded.app.service.gate.in_flight == 0)


def open_stream(served: Live, order: str, key: str = "", **fields: Any) -> socket.socket:
    """A raw connection with a streamed chat under way."""
    body = json.dumps(chat(order, stream=True, **fields)).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(PATIENCE_S)
    connection.connect(served.address)
    connection.sendall(head.encode() + body)
    return connection


def rest_of(connection: socket.socket) -> bytes:
    """Everything until the server closes the connection."""
    found = b""
    with connection:
        while piece := connection.recv(65536):
            found += piece
    return found


def test_a_client_that_leaves_a_stream_aborts_its_request(served: Live) -> None:
    connection = open_stream(served, "hold")
    until(lambda: served.blocks().open_requests == 1)
    connection.close()
    report = served.settled()
    assert report.clean
    until(lambda: served.app.service.gate.in_flight == 0)


def test_a_client_that_leaves_in_the_middle_aborts_every_choice(served: Live) -> None:
    connection = open_stream(served, f"slow {'x' * 2000}", n=5)
    assert connection.recv(4096).startswith(b"HTTP/1.1 200")
    until(lambda: served.blocks().open_requests == 5)
    connection.close()
    assert served.settled().clean
    until(lambda: served.app.service.gate.in_flight == 0)


def test_a_client_that_reads_nothing_is_disconnected(guarded: Live) -> None:
    # Its buffers are full long before the end: some 200 bytes a token.
    connection = open_stream(guarded, f"echo {'x' * 3900}", key="right", n=100)
    until(lambda: guarded.app.service.gate.in_flight == 1)
    until(lambda: guarded.app.service.gate.in_flight == 0)
    assert guarded.settled().clean
    connection.close()


def test_an_error_in_a_stream_has_the_id_of_its_request(served: Live) -> None:
    schema = {"json_schema": {"type": "integer"}, "stream": True}
    response = served.http.post("/v1/chat/completions", json=chat("echo x", **schema))
    last = json.loads(response.text.split("\n\n")[-2].removeprefix("data: "))
    assert last["error"]["request_id"] == response.headers["x-request-id"]


def test_a_defect_is_not_to_be_repeated(served: Live) -> None:
    body = chat("echo x", json_schema={"type": "integer"})
    response = served.http.post("/v1/chat/completions", json=body)
    assert response.status_code == 500
    assert response.headers["x-should-retry"] == "false"


def test_events_are_delimited_as_the_standard_says(served: Live) -> None:
    raw = rest_of(open_stream(served, "echo a\\nb"))
    head, _, body = raw.partition(b"\r\n\r\n")
    assert b"content-type: text/event-stream; charset=utf-8" in head.lower()
    assert b"cache-control: no-cache" in head.lower()
    assert b"content-length" not in head.lower()
    assert body.rstrip(b"\r\n").endswith(b"0")
