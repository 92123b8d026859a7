"""Requests to every operation of the HTTP interface, made from its OpenAPI document and then spoilt, from a seed.

Does: make methods, paths, headers and bodies. Does not: send them (`api_fuzzer`).
"""

import base64
import io
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from PIL import Image

from tests.fuzz.values import HALVES, TEXTS, VAST, Dice

CANARY = "canaryOfText7391"
"""In every text, schema, name and file name that is made here: no log, metric or audit may hold it."""

SCHEMAS: tuple[Any, ...] = (
    {"enum": ["a", "b"]},
    {"type": "integer", "minimum": 0, "maximum": 99},
    {"type": "object", "properties": {CANARY: {"type": "null"}}, "required": [CANARY]},
    {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
    {"type": "string", "maxLength": 4, "description": CANARY},
    "contact",
)


def _image(form: str, width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), (9, 130, 7)).save(file, form)
    return file.getvalue()


def _data_url(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


_PNG = _image("PNG", 60, 40)
IMAGES = (
    *[_data_url(_PNG)] * 4,
    _data_url(_image("JPEG", 30, 500), "image/jpeg"),
    _data_url(_image("GIF", 1, 1), "image/gif"),
    _data_url(_image("WEBP", 56, 56)),  # named as another kind
    _data_url(_PNG[:60]),
    _data_url(_PNG[:16] + b"\xff" * 8 + _PNG[24:]),  # so wide that no memory holds it
    _data_url(CANARY.encode()),
    _data_url(b"%PDF-1.7\n" + CANARY.encode(), "application/pdf"),
    "data:image/png;base64,",
    "data:image/png;base64,é",
    f"data:,{CANARY}",
    f"http://127.0.0.1:9/{CANARY}",
    "file:///etc/passwd",
)
"""Addresses of images; seven of them are images."""


def _shown(url: str) -> list[dict[str, Any]]:
    """The content of a message with an image."""
    return [{"type": "text", "text": CANARY}, {"type": "image_url", "image_url": {"url": url}}]


_NAMED: Mapping[str, tuple[Any, ...]] = {
    "schema": SCHEMAS,
    "json_schema": ({"name": "x", "schema": SCHEMAS[0]},),
    "text": (f"{CANARY} and so on",),
    "content": (*[f"{CANARY} and so on"] * len(IMAGES), *map(_shown, IMAGES)),
    "prompt": (f"{CANARY} and so on", [f"{CANARY}", "b"]),
    "model": ("model", "model", "model", "adapted"),
    "url": IMAGES,
    "path": (CANARY, "/etc", "~", f"/{CANARY}\0"),
    "regex": ("[ab]{1,3}", "(", CANARY),
    "grammar": ('root ::= "a" | "b"', "root ::=", CANARY),
    "max_tokens": (1, 4, 12),
    "max_completion_tokens": (1, 4, 12),
    "max_output_tokens": (1, 16),
    "num_predict": (1, 8),
    "n": (1, 2),
    "best_of": (1, 2),
}
_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "FOO")
_TYPES = (
    "text/plain",
    "application/json; charset=utf-16",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "",
    "é",
)
_TRICKS = ("/{}", "{}/", "{}//", "/.{}", "{}/..", "{}%00", "{}%2e%2e", "{}?", "{};x=1", "/%2e%2e{}")
_DEEP = ("[" * 300 + "]" * 300, "[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000)


@dataclass(frozen=True)
class Sent:
    """One request. `operation` is the (method, path) of the document that it was made from."""

    operation: tuple[str, str]
    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def request(document: Mapping[str, Any], seed: int) -> Sent:
    """A request to a random operation, mutated in up to three ways; one in five stays valid."""
    dice = Dice(seed)
    path, method, described = dice.choice(_operations(document, with_body=dice.often(0.7)))
    sent = Sent((method.upper(), path), method.upper(), _filled(path, dice))
    kinds = described.get("requestBody", {}).get("content", {})
    if "application/json" in kinds:
        value = _example(kinds["application/json"].get("schema", {}), document, dice, "", 0)
        if dice.often(0.7):
            for _ in range(dice.choice((0, 1, 1, 2, 3))):
                value = _spoilt(value, dice)
        sent = replace(
            sent, body=_written(value, dice), headers={"content-type": "application/json"}
        )
    elif kinds:
        sent = replace(sent, body=_form(dice), headers={"content-type": _form_type(dice)})
    return _bent(sent, dice) if dice.often(0.3) else sent


def _operations(document: Mapping[str, Any], *, with_body: bool) -> list[tuple[str, str, Any]]:
    """The operations with a body in JSON, or all."""
    return [
        (path, method, described)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
        if not with_body
        or "application/json" in described.get("requestBody", {}).get("content", {})
    ]


def _filled(path: str, dice: random.Random) -> str:
    parts = []
    for part in path.split("/"):
        if part.startswith("{"):
            part = dice.choice(
                (
                    CANARY,
                    f"{CANARY}.jsonl",
                    "model",
                    "adapted",
                    "rows.jsonl",
                    "..",
                    "%2e%2e",
                    "a%2fb",
                )
            )
        parts.append(part)
    return "/".join(parts)


def _example(
    schema: Mapping[str, Any], document: Mapping[str, Any], dice: Dice, name: str, depth: int
) -> Any:
    """A value that roughly follows a schema of the document: what it gets wrong counts as one more mutation."""
    if name in _NAMED and dice.often(0.9):
        return dice.choice(_NAMED[name])
    if "$ref" in schema:
        found = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return _example(found, document, dice, name, depth + 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return _example(dice.choice(schema[keyword]), document, dice, name, depth + 1)
    if "const" in schema or "enum" in schema:
        return schema.get("const", dice.choice(schema.get("enum", [None])))
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        if depth > 12:
            return {}
        required = schema.get("required", ())
        return {
            key: _example(member, document, dice, key, depth + 1)
            for key, member in schema.get("properties", {}).items()
            if key in required or dice.often(0.15)
        }
    if kind == "array":
        items = schema.get("items", {})
        return [
            _example(items, document, dice, name, depth + 1)
            for _ in range(max(schema.get("minItems", 0), dice.randrange(3)))
        ]
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 100)
        return dice.randint(int(low), max(int(low), min(int(high), 100)))
    return {"boolean": dice.often(0.5), "null": None}.get(str(kind), dice.choice((CANARY, "a", "")))


def _spoilt(value: Any, dice: Dice) -> Any:
    """The value with one place changed."""
    if isinstance(value, dict) and value and dice.often(0.85):
        key = dice.choice(list(value))
        what = dice.random()
        if what < 0.15:
            return {other: member for other, member in value.items() if other != key}
        if what < 0.25:
            return {**value, dice.choice((f"{key}x", "é", "", CANARY, "guided_x")): dice.anything()}
        return {**value, key: _spoilt(value[key], dice)}
    if isinstance(value, list) and value and dice.often(0.7):
        at = dice.randrange(len(value))
        return [*value[:at], _spoilt(value[at], dice), *value[at + 1 :]]
    odd: tuple[Any, ...] = (*VAST[:2], *TEXTS, *HALVES, {}, [])
    return dice.choice((dice.anything(), dice.number(), dice.choice(odd)))


def _written(value: Any, dice: Dice) -> bytes:
    """The value as a body, which is sometimes not valid JSON."""
    text = json.dumps(value, default=repr)
    what = dice.random()
    if what < 0.03:
        return text[: dice.randrange(len(text) + 1)].encode()
    if what < 0.05 and text.startswith("{") and len(text) > 2:
        return ("{" + text[1:-1] + "," + text[1:]).encode()  # every key twice
    if what < 0.07:
        return text.encode(dice.choice(("utf-16", "utf-32-be", "utf-8-sig")))
    if what < 0.08:
        return dice.choice(_DEEP).encode()
    if what < 0.12:
        spoilt = bytearray(text.encode())
        for _ in range(min(3, len(spoilt))):
            spoilt[dice.randrange(len(spoilt))] = dice.randrange(256)
        return bytes(spoilt)
    return text.encode()


def _form_type(dice: Dice) -> str:
    return dice.choice(("multipart/form-data; boundary=x", "application/octet-stream", *_TYPES))


def _form(dice: Dice) -> bytes:
    part = (
        f'--x\r\ncontent-disposition: form-data; name="file"; filename="{CANARY}"\r\n\r\n{{}}\r\n'
    )
    purpose = '--x\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
    return dice.choice((part + purpose + "--x--\r\n", part, "--x", CANARY, "", part * 20)).encode()


def _bent(sent: Sent, dice: Dice) -> Sent:
    """The request with another method, path or header."""
    what = dice.random()
    if what < 0.25:
        return replace(sent, method=dice.choice(_METHODS))
    if what < 0.45:
        return replace(sent, path=dice.choice(_TRICKS).format(sent.path))
    if what < 0.6:
        query = dice.choice(
            ("?limit=-1", "?limit=1e9", "?after=%00", f"?order={CANARY}", "?" + "a=1&" * 200)
        )
        return replace(sent, path=sent.path + query)
    added = dice.choice(
        (
            {"content-type": dice.choice(_TYPES[:5])},
            {"range": "bytes=" + ",".join(f"{at}-" for at in range(dice.choice((1, 500))))},
            {"content-encoding": "gzip"},
            {"accept": "text/html"},
            {"idempotency-key": dice.choice((CANARY, "x" * 5000, "a b"))},
            {"x-request-id": dice.choice(("a b", "x" * 500, "good-one"))},
            {"if-none-match": "*", "expect": "100-continue"},
            {"authorization": dice.choice(("Bearer x", "Basic eDp5", "Bearer"))},
        )
    )
    return replace(sent, headers={**sent.headers, **added})
