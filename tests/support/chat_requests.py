"""Random requests to OpenAI's paths, and the body that the chunks of a streamed answer amount to."""

import json
import random
from typing import Any

_WORDS = ("a", "cat", "über", "水", "💧", "x" * 9, "0", "-", "{", '"')
_PATTERNS = ("[a-c]{1,9}", "(yes|no|perhaps)", "\\d{3}-\\d{2}", "x*y", "[é-ü💧]{2}")
_GRAMMAR = 'root ::= item ("," item)*\nitem ::= "a" | "bb" | "(" root ")"'


def random_schema(rng: random.Random, depth: int = 0) -> Any:
    """A small schema that every model can meet within some ten tokens or a few hundred."""
    kinds = ["string", "integer", "number", "boolean", "null", "enum", "array", "object"]
    kind = rng.choice(kinds if depth < 2 else kinds[:6])
    if kind == "string":
        return {"type": "string", "maxLength": rng.randrange(12)}
    if kind in ("integer", "number"):
        least = rng.randrange(-20, 20)
        return {"type": kind, "minimum": least, "maximum": least + rng.randrange(200)}
    if kind == "enum":
        return {"enum": rng.sample([*_WORDS, 1, 2.5, None, True], rng.randint(1, 4))}
    if kind == "array":
        return {
            "type": "array",
            "items": random_schema(rng, depth + 1),
            "minItems": (least := rng.randrange(2)),
            "maxItems": least + rng.randrange(3),
        }
    if kind == "object":
        names = rng.sample(["name", "Größe", "n", "a b", "水", "q"], rng.randrange(4))
        return {
            "type": "object",
            "properties": {name: random_schema(rng, depth + 1) for name in names},
            "required": [name for name in names if rng.random() < 0.7],
            "additionalProperties": False,
        }
    return {"type": kind}


def _constraint(rng: random.Random, schemas: list[Any]) -> dict[str, Any]:
    """The fields that constrain an answer, in any dialect; often none."""
    schema = rng.choice(schemas)
    named = {"name": "random", "schema": schema, "strict": rng.choice([True, False])}
    return rng.choice(
        [
            {},
            {"response_format": {"type": "json_schema", "json_schema": named}},
            {"response_format": {"type": "json_schema", "json_schema": named}},
            {"response_format": {"type": "json_schema", "json_schema": named}},
            {"response_format": {"type": "text"}},
            {"structured_outputs": {"json": schema}},
            {"guided_choice": rng.sample(list(_WORDS), 3)},
            {"regex": rng.choice(_PATTERNS)},
            {"grammar": _GRAMMAR},
        ]
    )


def random_request(rng: random.Random, schemas: list[Any]) -> tuple[str, dict[str, Any]]:
    """Path and body of a request whose answer is the same each time."""
    words = " ".join(rng.choice(_WORDS) for _ in range(rng.randrange(1, 12)))
    body: dict[str, Any] = {
        "seed": rng.randrange(-(2**63), 2**63),
        "temperature": rng.choice([0, 0.3, 1, 2]),
        "max_tokens": rng.randrange(1, 60),
        **_constraint(rng, schemas),
    }
    if rng.random() < 0.4:
        body["n"] = rng.randint(1, 4)
    if rng.random() < 0.5:
        stops = [rng.choice(['"', "a", "e", "}", ",", "é", "\n", "水", '":', "1"]) for _ in "ab"]
        body["stop"] = rng.choice([stops, stops[0]])
        body["include_stop_str_in_output"] = rng.random() < 0.3
    if rng.random() < 0.2:
        body["top_p"] = rng.choice([0.1, 0.8])
    if rng.random() < 0.2:
        body |= {"presence_penalty": 1.5, "frequency_penalty": -0.5, "repetition_penalty": 1.2}
    if rng.random() < 0.2:
        body["logit_bias"] = {str(rng.randrange(256)): rng.choice([-100, 5, 3.5])}
    if rng.random() < 0.5:
        body["messages"] = [{"role": "system", "content": "s"}, {"role": "user", "content": words}]
        if rng.random() < 0.5:
            body |= {"logprobs": True, "top_logprobs": rng.randrange(4)}
        return "/v1/chat/completions", body
    body["prompt"] = rng.choice([words, [words, "b"], list(words.encode())])
    if rng.random() < 0.4:
        body["logprobs"] = rng.randrange(4)
    elif rng.random() < 0.2:
        body["echo"] = True
    return "/v1/completions", body


def put_together(stream: str) -> dict[str, Any]:
    """The body equivalent to a streamed answer with usage. Also checks the frame of the stream."""
    *events, done, rest = stream.split("\n\n")
    assert (done, rest) == ("data: [DONE]", ""), stream[-500:]
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    *chunks, last = chunks
    assert last["choices"] == []
    assert all(chunk["usage"] is None for chunk in chunks)
    head = {key: last[key] for key in ("model", "system_fingerprint")}
    assert all({key: chunk[key] for key in head} == head for chunk in chunks)
    choices: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for choice in chunk["choices"]:
            found = choices.setdefault(choice["index"], {"index": choice["index"]})
            assert "finish_reason" not in found, "a choice goes on after its end"
            _add(found, choice)
    assert all(choice["finish_reason"] for choice in choices.values())
    return {
        **head,
        "object": last["object"].removesuffix(".chunk"),
        "choices": [choices[index] for index in sorted(choices)],
        "usage": last["usage"],
    }


def _add(found: dict[str, Any], choice: dict[str, Any]) -> None:
    if "text" in choice:
        found["text"] = found.get("text", "") + choice["text"]
    else:
        message = found.setdefault("message", {"role": None, "content": "", "refusal": None})
        delta = choice["delta"]
        if "role" in delta:
            assert message["role"] is None, "the role comes twice"
            message["role"] = delta["role"]
        message["content"] += delta.get("content", "")
    logprobs = choice["logprobs"]
    if found.get("logprobs") is None:
        found["logprobs"] = logprobs
    elif logprobs is not None:
        found["logprobs"] = {
            key: part if part is None else [*(found["logprobs"][key] or []), *part]
            for key, part in logprobs.items()
        }
    if choice["finish_reason"] is not None:
        found |= {key: choice[key] for key in ("finish_reason", "stop_reason", "budget_forced")}


def without_identity(body: dict[str, Any]) -> dict[str, Any]:
    """An answer without what differs between two answers to one request: id, time, and what the cache held."""
    rest = {key: value for key, value in body.items() if key not in ("id", "created")}
    usage = {key: value for key, value in rest["usage"].items() if key != "prompt_tokens_details"}
    return {**rest, "usage": usage}
