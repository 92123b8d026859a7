"""Ollama's interface over HTTP: shapes, streams, constraints and errors."""

import json
import time
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from intaglio.service.compat.ollama_answer import ChatLines
from intaglio.service.generation.generation_events import ChoiceEnd
from intaglio.service.http.ollama_routes import weight_bytes

from tests.support.live_service import Live
from tests.support.modelless_engine import INFO

OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "required": ["a"],
        },
    },
}
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 3}}\n</tool_call>'


@pytest.fixture(scope="module")
def service(plain_service: Live) -> Live:
    return plain_service


def chat(service: Live, text: str, **more: Any) -> httpx2.Response:
    messages = [{"role": "user", "content": f"<<echo {text}>>"}]
    return service.http.post("/api/chat", json={"model": "scripted", "messages": messages, **more})


def generate(service: Live, text: str, **more: Any) -> httpx2.Response:
    body = {"model": "scripted", "prompt": f"<<echo {text}>>", **more}
    return service.http.post("/api/generate", json=body)


def lines(answer: httpx2.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.text.endswith("\n")
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_chat_is_streamed_in_lines_unless_asked_otherwise(service: Live) -> None:
    found = lines(chat(service, "hello"))
    assert "".join(line["message"]["content"] for line in found) == "hello"
    assert {line["message"]["role"] for line in found} == {"assistant"}
    assert [line["done"] for line in found] == [False] * (len(found) - 1) + [True]
    whole = chat(service, "hello", stream=False).json()
    assert whole["message"] == {"role": "assistant", "content": "hello"}
    for end in (found[-1], whole):
        assert (end["done_reason"], end["eval_count"], end["model"]) == ("stop", 5, "scripted")
        assert end["prompt_eval_count"] > 0
        assert end["total_duration"] > end["eval_duration"] > 0, "clients divide by it"
        assert end["created_at"].endswith("Z")


def test_the_time_of_an_answer_in_one_piece_is_that_of_the_engine() -> None:
    """Its tokens come together, and clients divide their number by the time."""
    answer = ChatLines("scripted")
    time.sleep(0.02)
    answer.observe(
        ChoiceEnd(choice=0, finish="stop", prompt_tokens=3, output_tokens=5, decode_s=0.01)
    )
    usage = {"prompt_tokens": 3, "completion_tokens": 5}
    choice = {"message": {"content": "hello"}, "finish_reason": "stop"}
    end = json.loads(answer.whole({"choices": [choice], "usage": usage}))
    assert end["eval_duration"] == 10_000_000
    assert end["prompt_eval_duration"] == end["total_duration"] - 10_000_000


@pytest.mark.parametrize(("files", "size"), [([], 2000), ([300, 40], 340)])
def test_the_size_of_a_model_is_that_of_its_files(
    tmp_path: Path, files: list[int], size: int
) -> None:
    for index, length in enumerate(files):
        (tmp_path / f"{index}.safetensors").write_bytes(bytes(length))
    info = msgspec.structs.replace(INFO, parameters=1000, dtype="bfloat16", folder=str(tmp_path))
    assert weight_bytes(info) == size


def test_a_prompt_is_answered(service: Live) -> None:
    found = lines(generate(service, "hello", system="Be brief."))
    assert "".join(line["response"] for line in found) == "hello"
    assert found[-1]["done_reason"] == "stop"
    raw = generate(service, "hello", raw=True, stream=False).json()
    assert (raw["response"], raw["done"]) == ("hello", True)
    assert raw["prompt_eval_count"] == len("<<echo hello>>")


@pytest.mark.parametrize("send", [chat, generate])
def test_the_budget_and_stop_strings_end_an_answer(service: Live, send: Any) -> None:
    cut = send(service, "hello", stream=False, options={"num_predict": 2}).json()
    assert (cut["done_reason"], cut["eval_count"]) == ("length", 2)
    stopped = send(service, "hello", stream=False, options={"stop": ["lo"]}).json()
    assert stopped["done_reason"] == "stop"
    assert (stopped.get("response") or stopped["message"]["content"]) == "hel"


@pytest.mark.parametrize("send", [chat, generate])
@pytest.mark.parametrize("form", ["json", OBJECT])
def test_a_format_is_a_constraint(service: Live, send: Any, form: Any) -> None:
    assert send(service, '{"a":1}', format=form, stream=False).status_code == 200
    # The scripted engine ignores constraints: what it says is checked afterwards.
    refused = send(service, "free text", format=form, stream=False)
    assert refused.status_code == 500
    unusable = send(service, "x", format={"type": "text"})
    assert unusable.status_code == 400
    assert isinstance(unusable.json()["error"], str)


def test_tools_are_called_with_arguments_as_an_object(service: Live) -> None:
    call = [{"function": {"name": "add", "arguments": {"a": 3}}}]
    whole = chat(service, CALL, tools=[TOOL], stream=False).json()
    assert whole["message"]["tool_calls"] == call
    assert whole["done_reason"] == "stop"
    found = lines(chat(service, CALL, tools=[TOOL]))
    assert [m["tool_calls"] for line in found if "tool_calls" in (m := line["message"])] == [call]
    history = [
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": "", "tool_calls": call},
        {"role": "tool", "content": "3", "tool_name": "add"},
        {"role": "user", "content": "<<echo Three.>>"},
    ]
    body = {"model": "scripted:latest", "messages": history, "tools": [TOOL], "stream": False}
    answer = service.http.post("/api/chat", json=body)
    assert answer.json()["message"]["content"] == "Three."


def test_ends_without_an_answer_are_errors_of_ollama(service: Live) -> None:
    unknown = chat(service, "x", model="other")
    assert unknown.status_code == 404
    assert "other" in unknown.json()["error"]
    refused: tuple[dict[str, Any], ...] = (
        {"options": {"temprature": 1}},
        {"images": ["x"]},
        {"format": "yaml"},
        {"messages": [{"role": "user", "content": "x", "images": ["aGk="]}]},
        {"messages": []},
    )
    for wrong in refused:
        answer = chat(service, "x", **wrong)
        assert answer.status_code == 400
        assert set(answer.json()) == {"error"}
    broken = chat(service, "x", messages=[{"role": "user", "content": "<<fail internal_error>>"}])
    assert broken.status_code == 500
    assert set(broken.json()) == {"error"}


def test_the_model_is_listed_and_described(service: Live) -> None:
    (model,) = service.http.get("/api/tags").json()["models"]
    assert (model["name"], model["model"]) == ("scripted", "scripted")
    assert len(model["digest"]) == 64
    for name in ("model", "name"):
        shown = service.http.post("/api/show", json={name: "scripted:latest"}).json()
        assert shown["details"] == model["details"]
        assert shown["model_info"]["intaglio.context_length"] == 4096
    assert service.http.post("/api/show", json={"model": "other"}).status_code == 404
    assert service.http.post("/api/show", json={}).status_code == 400
    version = service.http.get("/api/version").json()["version"]
    assert version == service.http.get("/version").json()["version"]
