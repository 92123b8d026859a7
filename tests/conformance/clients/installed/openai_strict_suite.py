"""Calls that make sense, through OpenAI's client with strict validation of every response, where it is installed.

The client's own tests send bodies that a service has to refuse in places; these send what programs send.
"""

import json
import os
import time
from typing import Any

import pytest
from openai import OpenAI

MODEL = os.environ["CLIENTS_MODEL"]
PROMPT: Any = [{"role": "user", "content": "Describe the city of Bern."}]
SMALL = {"name": "Bern", "population": 134591}
PARAMETERS = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "population": {"type": "integer"}},
    "required": ["name", "population"],
    "additionalProperties": False,
}
TOOL: Any = {"type": "function", "function": {"name": "describe", "parameters": PARAMETERS}}
FLAT: Any = {"type": "function", "name": "describe", "parameters": PARAMETERS, "strict": True}
client = OpenAI(_strict_response_validation=True, max_retries=0)


def test_chat_with_everything() -> None:
    answer = client.chat.completions.create(
        model=MODEL,
        messages=PROMPT,
        n=2,
        seed=-3,
        logprobs=True,
        top_logprobs=2,
        stop=["zzz"],
        logit_bias={"5": 1},
        presence_penalty=0.5,
        max_completion_tokens=200,
        user="someone",
        metadata={"a": "b"},
    )
    assert [choice.finish_reason for choice in answer.choices] == ["stop", "stop"]
    scored = answer.choices[0].logprobs
    assert scored is not None
    assert (
        "".join(token.token for token in scored.content or ()) == answer.choices[0].message.content
    )


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "describe"}}]
)
def test_chat_with_tools(choice: Any) -> None:
    answer = client.chat.completions.create(
        model=MODEL, messages=PROMPT, tools=[TOOL], tool_choice=choice
    )
    assert answer.choices[0].finish_reason == "tool_calls"
    (call,) = answer.choices[0].message.tool_calls or ()
    assert json.loads(call.function.arguments) == SMALL
    after: Any = [
        *PROMPT,
        answer.choices[0].message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "done"},
    ]
    more = client.chat.completions.create(model=MODEL, messages=after, tools=[TOOL])
    assert more.choices[0].finish_reason in ("stop", "tool_calls")


def test_chat_streams() -> None:
    options: Any = {"include_usage": True}
    stream = client.chat.completions.create(
        model=MODEL, messages=PROMPT, stream=True, stream_options=options, tools=[TOOL],
        tool_choice="required",
    )  # fmt: skip
    chunks = list(stream)
    assert chunks[-1].usage is not None
    calls = [c for k in chunks for o in k.choices for c in o.delta.tool_calls or ()]
    assert {call.index for call in calls} == {0}
    text = "".join(call.function.arguments or "" for call in calls if call.function)
    assert json.loads(text) == SMALL


def test_completion() -> None:
    answer = client.completions.create(
        model=MODEL, prompt=["a", "b"], n=2, logprobs=1, max_tokens=5
    )
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    # The client's type has no null reason, which OpenAI sends in all chunks but the last.
    loose = OpenAI(max_retries=0)
    stream = loose.completions.create(model=MODEL, prompt="a", stream=True)
    assert "".join(chunk.choices[0].text for chunk in stream)


def test_responses() -> None:
    schema: Any = {"format": {"type": "json_schema", "name": "city", "schema": PARAMETERS}}
    answer = client.responses.create(model=MODEL, input="Hello", text=schema, store=True)
    assert answer.status == "completed"
    assert set(json.loads(answer.output_text)) == {"name", "population"}
    assert client.responses.retrieve(answer.id).output_text == answer.output_text
    client.responses.delete(answer.id)


def test_responses_call_tools() -> None:
    answer = client.responses.create(
        model=MODEL, input=PROMPT, tools=[FLAT], tool_choice="required"
    )
    (call,) = (item for item in answer.output if item.type == "function_call")
    assert json.loads(call.arguments) == SMALL
    events = list(
        client.responses.create(
            model=MODEL, input=PROMPT, tools=[FLAT], tool_choice="required", stream=True
        )
    )
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"


def test_files_and_batches() -> None:
    body = {"model": MODEL, "messages": PROMPT}
    lines = [
        {"custom_id": f"r{n}", "method": "POST", "url": "/v1/chat/completions", "body": body}
        for n in range(20)
    ]
    text = "\n".join(json.dumps(line) for line in lines).encode()
    file = client.files.create(file=("in.jsonl", text), purpose="batch")
    batch = client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    for _ in range(600):
        batch = client.batches.retrieve(batch.id)
        if batch.status == "completed":
            break
        time.sleep(0.1)
    assert batch.request_counts is not None
    assert batch.request_counts.completed == 20
    found = client.files.content(batch.output_file_id or "").text.splitlines()
    assert [json.loads(line)["custom_id"] for line in found] == [f"r{n}" for n in range(20)]
    assert batch.id in [one.id for one in client.batches.list(limit=2)]
    assert file.id in [one.id for one in client.files.list(limit=2)]
    assert client.files.delete(file.id).deleted
