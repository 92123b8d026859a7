"""The native interfaces of llama.cpp and SGLang over HTTP."""

import json
from itertools import pairwise
from typing import Any

import httpx2
import pytest

from tests.support.live_service import Live

PROMPT = "<<echo hello>>"
RULES = 'root ::= "hello" | "bye"'


@pytest.fixture(scope="module")
def service(plain_service: Live) -> Live:
    return plain_service


def events(answer: httpx2.Response) -> list[Any]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    texts = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    return [text if text == "[DONE]" else json.loads(text) for text in texts]


def llama_cpp(service: Live, prompt: Any = PROMPT, **more: Any) -> httpx2.Response:
    return service.http.post("/completion", json={"prompt": prompt, **more})


def sglang(service: Live, stream: bool = False, **params: Any) -> httpx2.Response:
    body = {"text": PROMPT, "sampling_params": params, "stream": stream}
    return service.http.post("/generate", json=body)


def test_llama_cpp_continues_a_text(service: Live) -> None:
    whole = llama_cpp(service).json()
    assert (whole["content"], whole["stop"], whole["stop_type"]) == ("hello", True, "eos")
    assert (whole["tokens_predicted"], whole["tokens_evaluated"]) == (5, len(PROMPT))
    tokens = llama_cpp(service, list(PROMPT.encode()), n_predict=-1, seed=-1).json()
    assert tokens["content"] == "hello"
    cut = llama_cpp(service, n_predict=2).json()
    assert (cut["content"], cut["stop_type"]) == ("he", "limit")
    word = llama_cpp(service, stop=["lo"]).json()
    assert (word["content"], word["stop_type"], word["stopping_word"]) == ("hel", "word", "lo")


def test_llama_cpp_streams_pieces_and_ends_with_counts(service: Live) -> None:
    *pieces, last = events(llama_cpp(service, stream=True))
    assert "".join(piece["content"] for piece in pieces) == "hello"
    assert not any(piece["stop"] for piece in pieces)
    assert (last["stop"], last["content"], last["tokens_predicted"]) == (True, "", 5)


@pytest.mark.parametrize(
    ("constraint", "text"),
    [({"grammar": RULES}, "hello"), ({"grammar": 'start: "hello"'}, "hello"),
     ({"json_schema": {"type": "integer"}}, "7")],
)  # fmt: skip
def test_llama_cpp_takes_grammars_and_schemas(
    service: Live, constraint: dict[str, Any], text: str
) -> None:
    assert llama_cpp(service, f"<<echo {text}>>", **constraint).json()["content"] == text


def test_llama_cpp_refuses_at_the_place(service: Live) -> None:
    both = llama_cpp(service, grammar=RULES, json_schema={})
    assert both.status_code == 400
    pointers = [detail["pointer"] for detail in both.json()["error"]["details"]]
    assert sorted(pointers) == ["/grammar", "/json_schema"]
    broken = llama_cpp(service, grammar="root ::= (")
    assert broken.status_code == 400
    assert broken.json()["error"]["details"][0]["pointer"].startswith("/grammar")
    assert llama_cpp(service, grammar_lazy=True).status_code == 400
    nothing = llama_cpp(service, n_predict=0)
    assert nothing.status_code == 400, "0 is no limit of -1"
    assert nothing.json()["error"]["details"][0]["pointer"] == "/n_predict"


def test_sglang_continues_a_text(service: Live) -> None:
    whole = sglang(service).json()
    assert whole["text"] == "hello"
    meta = whole["meta_info"]
    assert meta["finish_reason"] == {"type": "stop", "matched": None}
    assert (meta["prompt_tokens"], meta["completion_tokens"]) == (len(PROMPT), 5)
    cut = sglang(service, max_new_tokens=2).json()
    assert (cut["text"], cut["meta_info"]["finish_reason"]) == (
        "he",
        {"type": "length", "length": 2},
    )
    stopped = sglang(service, stop="lo").json()
    assert stopped["meta_info"]["finish_reason"] == {"type": "stop", "matched": "lo"}
    several = sglang(service, n=2, max_new_tokens=None).json()
    assert [one["text"] for one in several] == ["hello", "hello"]
    tokens = service.http.post("/generate", json={"input_ids": list(PROMPT.encode())}).json()
    assert tokens["text"] == "hello"


def test_each_of_several_answers_of_sglang_has_its_own_counts(service: Live) -> None:
    several = sglang(service, n=2, max_new_tokens=2).json()
    assert [one["meta_info"]["completion_tokens"] for one in several] == [2, 2]
    assert [one["meta_info"]["finish_reason"]["length"] for one in several] == [2, 2]
    *found, _ = events(sglang(service, stream=True, n=2, max_new_tokens=2))
    ends = [event["meta_info"] for event in found if event["meta_info"]["finish_reason"]]
    assert [end["completion_tokens"] for end in ends] == [2, 2]


def test_sglang_streams_the_text_so_far(service: Live) -> None:
    *found, done = events(sglang(service, stream=True))
    assert done == "[DONE]"
    texts = [event["text"] for event in found]
    assert texts[-1] == "hello"
    assert all(later.startswith(text) for text, later in pairwise(texts))
    reasons = [event["meta_info"]["finish_reason"] for event in found]
    assert reasons[-1] == {"type": "stop", "matched": None}
    assert reasons[:-1] == [None] * (len(found) - 1)


@pytest.mark.parametrize(
    "constraint",
    [{"regex": "hel+o"}, {"ebnf": RULES}, {"json_schema": '{"const": 1}'},
     {"structural_tag": {"type": "structural_tag", "format": {"type": "any_text"}}}],
)  # fmt: skip
def test_sglang_takes_constraints(service: Live, constraint: dict[str, Any]) -> None:
    answer = sglang(service, **constraint)
    # The scripted engine says hello under any constraint; JSON is checked afterwards.
    assert answer.status_code == (500 if "json_schema" in constraint else 200), answer.text


def test_sglang_refuses_at_the_place(service: Live) -> None:
    both = sglang(service, regex="a", ebnf=RULES)
    assert both.status_code == 400
    broken = sglang(service, regex="(")
    assert broken.json()["error"]["details"][0]["pointer"].startswith("/sampling_params/regex")
    for body in ({}, {"text": "x", "input_ids": [1]}, {"text": "x", "return_logprob": True}):
        assert service.http.post("/generate", json=body).status_code == 400
