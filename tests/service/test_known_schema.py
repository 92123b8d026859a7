"""The hot path of extractions: a request that it prepares is the one that the usual path prepares."""

import json
import time
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from intaglio.engine.api import (
    GrammarConfig,
    Request,
    SchemaGate,
    TooLong,
    model_folder,
)
from intaglio.service.errors import ServiceError
from intaglio.service.extraction.extract import Extractor, ParsedExtraction, Prepared
from intaglio.service.extraction.known_schema import FinishPace, KnownSchemas
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.extraction.translate import extract_request

from tests.support.modelless_engine import engine_info

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "enum": ["text", "x", ":", "{}"]},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {}}}},
    },
    "required": ["name"],
}
INFO = engine_info(model="tiny", context_length=1024, vocabulary=8192, blocks=1000)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "seed": st.integers(0, 9),
        "temperature": st.sampled_from([0.0, 1.0]),
        "max_tokens": st.sampled_from([1, 40, 900]),
        "priority": st.integers(-2, 2),
        "deadline_s": st.sampled_from([0.5, 60.0]),
        "whitespace": st.sampled_from(["compact", "pretty"]),
        "not_stated": st.sampled_from(["schema", "null"]),
        "grounding": st.sampled_from(["off", "locate"]),
        "confidence": st.sampled_from(["off", "first_reading"]),
        "key_order": st.sampled_from(["schema", "any"]),
        "strict_schema": st.booleans(),
    },
)
TEXT = st.one_of(
    st.text(min_size=1, max_size=60),
    st.sampled_from(
        [
            "text",
            "x",
            ":",
            "{}",
            "\n",
            '"text":"x"',
            "The name is x.",
            "e\u0301",
            "a " * 600,
            "x\r\ny\rz\0",
        ]
    ),
)


@cache
def model() -> TextModel:
    return TextModel.load(model_folder(None))


@cache
def gate() -> SchemaGate:
    config = GrammarConfig(grammar_store="off", grammar_isolation="never")
    tokenizer = model().tokenizer
    return SchemaGate.open(config, model().vocabulary, tokenizer.canonical, server=False)


@cache
def extractor() -> Extractor:
    return Extractor(model(), INFO)


def examined(body: bytes) -> ParsedExtraction:
    parsed = extractor().parse(extract_request(body, max_depth=64))
    return extractor().examined(parsed, gate().submit(parsed.constraint).result())


def usual(body: bytes) -> tuple[ParsedExtraction, Prepared]:
    parsed = examined(body)
    return parsed, extractor().prepare(parsed)


def taught(body: bytes) -> KnownSchemas:
    known = KnownSchemas(extractor())
    known.learn(body, examined(body))
    return known


def anonymous(request: Request) -> Request:
    return replace(request, id="")


def written(
    text: str, options: dict[str, Any] | None, *, first: bool = False, spaced: bool = False
) -> bytes:
    fields: dict[str, Any] = {"schema": SCHEMA, "text": text}
    if options is not None:
        fields = {"options": options, **fields} if first else {**fields, "options": options}
    return json.dumps(fields, indent=2 if spaced else None, ensure_ascii=False).encode()


@settings(max_examples=150, deadline=None)
@given(
    one=TEXT,
    other=TEXT,
    options=st.one_of(st.none(), OPTIONS),
    others=OPTIONS,
    first=st.booleans(),
    spaced=st.booleans(),
)
@example(one="text", other="text", options={}, others={}, first=False, spaced=False)
def test_what_it_prepares_is_what_the_usual_path_prepares(
    one: str,
    other: str,
    options: dict[str, Any] | None,
    others: dict[str, Any],
    first: bool,
    spaced: bool,
) -> None:
    known = KnownSchemas(extractor())
    bodies = [
        written(one, options, first=first, spaced=spaced),
        written(other, others, first=first, spaced=spaced),
    ]
    for body in bodies:
        try:
            known.learn(body, examined(body))
        except (ServiceError, TooLong):
            continue
    for body in bodies:
        found = known.prepare(body)
        if found is not None:
            parsed, expected = usual(body)
            assert anonymous(found.prepared.request) == anonymous(expected.request)
            assert found.prepared.schema == expected.schema
            assert found.prepared.strict == expected.strict
            assert found.prepared.contract == expected.contract
            assert found.options == parsed.body.options


def test_ordinary_requests_of_a_known_form_are_prepared() -> None:
    known = taught(written("The name is x.", {"seed": 1}))
    for text in ("Another name, Größe 12.", "x" * 900, "text is a text"):
        assert known.prepare(written(text, {"seed": 2, "temperature": 0.5}))
    assert known.prepare(written("no option at all", None)) is None
    assert known.prepare(written("other order", {"seed": 1}, first=True)) is None
    assert known.prepare(written("other keys", {"key_order": "any"})) is None
    assert known.prepare(written("a " * 2000, {"seed": 1})) is None  # is too long
    assert known.prepare(written("...", {"seed": 1})) is None  # has another outline


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.replace(b'"text": "The', b'"text": 7, "text": "The'),
        lambda body: body[:-1] + b', "text": "again, the name is x"}',
        lambda body: body[:-1] + b', "unknown": 1}',
        lambda body: body.replace(b'"seed": 1', b'"seed": 1, "seed": 2'),
        lambda body: body.replace(b'"seed": 1', b'"seed": NaN'),
        lambda body: body.replace(b'"seed": 1', b'"sead": 1'),
        lambda body: body.replace(b'{"seed": 1}', b"null"),
        lambda body: body.replace(b"The name", b"\\ud800 name"),
        lambda body: body.replace(b"The name", b"\xff name"),
        lambda body: body.replace(b'"The name is x."', b'""'),
        lambda body: body.replace(b'"The name is x."', b'["The name is x."]'),
        lambda body: body + b" x",
        lambda body: b"[" * 100_000,
        lambda body: b"",
    ],
)
def test_what_the_usual_path_refuses_is_declined(change: Any) -> None:
    body = written("The name is x.", {"seed": 1})
    known, changed = taught(body), change(body)
    assert changed != body
    with pytest.raises(ServiceError):
        usual(changed)
    assert known.prepare(changed) is None
    assert known.prepare(body) is not None


def test_streams_are_not_remembered() -> None:
    body = written("The name is x.", {"seed": 1})[:-1] + b', "stream": true}'
    assert taught(body).prepare(body) is None


def test_the_meaning_of_a_name_is_not_remembered() -> None:
    body = b'{"schema": "invoice", "text": "The total is 12 EUR."}'
    assert taught(body).prepare(body) is None


def test_the_bound_in_bytes_holds_and_the_oldest_form_goes_first() -> None:
    def of(number: int) -> bytes:
        schema = {"type": "object", "properties": {f"name{number}": {"type": "string"}}}
        return json.dumps({"schema": schema, "text": "The name is x."}).encode()

    one = taught(of(0)).size_bytes
    known = KnownSchemas(extractor(), limit_bytes=10 * one)
    for number in range(40):
        known.learn(of(number), examined(of(number)))
        assert 0 < known.size_bytes <= 10 * one
        assert known.prepare(of(number)) is not None
    assert known.prepare(of(0)) is None
    small = KnownSchemas(extractor(), limit_bytes=2 * one)
    small.learn(of(0), examined(of(0)))
    assert small.size_bytes == 0  # one form may not take half of the memory


def test_a_slow_answer_sends_the_next_ones_to_a_thread() -> None:
    pace = FinishPace()
    assert not pace.is_quick(10)
    pace.record(10, 1e-4)
    assert pace.is_quick(10)
    assert not pace.is_quick(10_000)
    pace.record(10, 1.0)
    assert not pace.is_quick(10)
    for _ in range(100):
        pace.record(10, 1e-4)
    assert pace.is_quick(10)


def test_an_answer_that_waits_sends_none_to_a_thread() -> None:
    pace = FinishPace()
    pace.timed(10, lambda: time.sleep(0.05))
    assert pace.is_quick(10)
