"""Streams, many texts and the registry, through the clients, over a scripted engine."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from intaglio import AsyncClient, Client
from intaglio.engine.api import Watch
from intaglio.service.client import APIStatusError, BadRequest, ConnectionFailed, NoResult, NotFound
from intaglio.service.client.partial import partial_adapter
from intaglio.service.client.retry import Retries
from intaglio.service.client.streaming import EventDecoder
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.stub_service import StubService, serving
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


class Line(BaseModel):
    name: str
    price: Annotated[float, Field(ge=0)]


class Order(BaseModel):
    number: str
    state: Literal["open", "done"]
    lines: Annotated[list[Line], Field(min_length=1)]


@dataclass
class Point:
    x: int
    y: int | None


class Place(TypedDict):
    name: str
    at: Point


ORDER = {
    "number": "A\u2028 1",
    "state": "open",
    "lines": [{"name": "a/b~c", "price": 1.5}, {"name": "é", "price": 2}],
}
TEXT = f"<<echo {json.dumps(ORDER, ensure_ascii=False)}>>"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    data = str(tmp_path_factory.mktemp("data"))
    watch = Watch(backoff_s=0.05, silence_s=600.0)
    with live(launch(), folder, watch=watch, data=data) as running:
        yield running


@pytest.fixture
def client(service: Live) -> Iterator[Client]:
    until(lambda: service.http.get("/ready").status_code == 200)
    with Client(service.url) as found:
        found._wire.retries = Retries(20, first_s=0.05, longest_s=0.3)
        yield found


def test_partial_results_grow_to_the_result(client: Client) -> None:
    with client.extract_stream(Order, TEXT) as stream:
        seen = list(stream.partials())
        result = stream.result()
    assert type(seen[0]).__name__ == "PartialOrder"
    assert (seen[0].number, seen[0].state, seen[0].lines) == ("A\u2028 1", None, None)
    lines = [None if part.lines is None else len(part.lines) for part in seen]
    assert lines == [None, None, 1, 1, 1, 2, 2, 2, 2]
    assert seen[2].lines[0].price is None
    assert seen[-1].model_dump() == result.data.model_dump() == ORDER
    assert isinstance(result.data, Order)
    assert result.data == client.extract(Order, TEXT).data


def test_events_are_those_of_the_service(client: Client) -> None:
    with client.extract_stream(Place, '<<echo {"name":"x","at":{"x":1,"y":null}}>>') as stream:
        events = list(stream)
        assert stream.result().data == {"name": "x", "at": Point(1, None)}
        assert stream.partial["at"].x == 1
    completed = [(e.pointer, e.value) for e in events if e.type == "field.completed"]
    assert completed[1:3] == [("/at/x", 1), ("/at/y", None)]
    assert [event.type for event in events[-2:]] == ["object.completed", "usage"]


def test_the_asynchronous_client_streams_alike(service: Live) -> None:
    async def run() -> None:
        async with AsyncClient(service.url) as client:
            async with client.extract_stream(Order, TEXT) as stream:
                seen = [part async for part in stream.partials()]
                result = await stream.result()
            assert seen[-1].model_dump() == result.data.model_dump() == ORDER
            done: list[tuple[int, int]] = []
            texts = [f'<<echo {{"x":{n},"y":null}}>>' for n in range(150)]
            found = await client.extract_many(Point, texts, progress=lambda *at: done.append(at))
            assert [one.data for one in found] == [Point(n, None) for n in range(150)]
            assert done == [(n + 1, 150) for n in range(150)]
            assert (await client.engine_state()).engines

    asyncio.run(run())


def test_an_error_of_a_stream_is_that_of_a_call(client: Client) -> None:
    with client.extract_stream(Order, TEXT, max_tokens=40) as stream:
        with pytest.raises(NoResult) as failed:
            list(stream)
        with pytest.raises(NoResult):
            stream.result()
        assert stream.partial.number == "A\u2028 1"
    assert failed.value.retryable
    assert failed.value.request_id == stream.request_id
    with pytest.raises(NotFound), client.extract_stream("nothing", "x"):
        raise AssertionError("it has begun")


def test_leaving_a_stream_stops_the_extraction(client: Client, service: Live) -> None:
    with client.extract_stream({"type": "string"}, '<<slow "' + "a" * 2000 + '">>') as stream:
        next(iter(stream))
    assert service.settled().clean


def test_many_texts_have_results_and_errors_in_order(client: Client) -> None:
    texts = [f'<<echo {{"x":{n},"y":{n}}}>>' for n in range(200)]
    texts[7], texts[130] = "<<echo no>>", " "
    done: list[tuple[int, int]] = []
    found = client.extract_many(
        Point, texts, return_errors=True, progress=lambda *at: done.append(at), at_once=200
    )
    for number, outcome in enumerate(found):
        if number in (7, 130):
            assert isinstance(outcome, APIStatusError)
        else:
            assert outcome.data == Point(number, number)
    assert isinstance(found[130], BadRequest)
    assert sorted(done) == [(n + 1, 200) for n in range(200)]
    with pytest.raises(APIStatusError):
        client.extract_many(Point, texts)
    assert client.extract_many(Point, []) == []
    with pytest.raises(TypeError, match="several str"):
        client.extract_many(Point, "one")


def test_a_text_that_cannot_be_sent_costs_only_itself(client: Client) -> None:
    texts = [f'<<echo {{"x":{n},"y":{n}}}>>' for n in range(200)]
    texts[3], texts[70], texts[131] = "", "caf\udce9", "x" * 1_000_001
    texts[140] = " "  # sent, in the third call, and refused by the service
    done: list[tuple[int, int]] = []
    found = client.extract_many(
        Point, texts, return_errors=True, progress=lambda *at: done.append(at)
    )
    failed = {
        number: str(each) for number, each in enumerate(found) if isinstance(each, APIStatusError)
    }
    assert list(failed) == [3, 70, 131, 140]
    assert "the text is empty" in failed[3]
    assert "half a surrogate pair (U+DCE9) at character 3" in failed[70]
    assert "1,000,001 characters" in failed[131]
    assert "/texts/140" in failed[140], "the number is that among all texts"
    assert sorted(done) == [(n + 1, 200) for n in range(200)]
    with pytest.raises(BadRequest, match="half a surrogate pair"):
        client.extract_many(Point, ["caf\udce9"])


def test_texts_that_were_lost_with_an_engine_are_sent_again(client: Client, tmp_path: Path) -> None:
    fuse = tmp_path / "fuse"
    texts = [f'<<slow {{"x":{n},"y":null}}>>' for n in range(30)]

    def kill(done: int, _of: int) -> None:
        # Once, when the first results are there: the others are lost.
        if done == 1 and not fuse.exists():
            fuse.touch()
            with Client(client.base_url) as other:
                other.extract_many({}, ["<<die>> once"], return_errors=True)

    first = ['<<echo {"x":0,"y":null}>>', *texts[1:]]
    found = client.extract_many(Point, first, progress=kill)
    assert [one.data.x for one in found] == list(range(30))


def test_instructions_examples_messages_and_keys_reach_the_service(client: Client) -> None:
    examples = [("a point", Point(1, 2)), ("another", {"x": 1, "y": None})]
    text = '<<echo {"x":5,"y":null}>>'
    options: Any = {"instructions": "count", "examples": examples, "idempotency_key": "k-sdk"}
    first = client.extract(Point, text, **options)
    assert first.data == Point(5, None)
    assert client.extract(Point, text, **options).id == first.id
    messages = [{"role": "user", "content": "hello"}, {"role": "user", "content": text}]
    assert client.extract(Point, messages).data == Point(5, None)
    with pytest.raises(BadRequest) as refused:
        client.extract(Point, text, examples=[("a", {"x": "no", "y": None})])
    assert refused.value.details[0].pointer == "/examples/0/data/x"
    with pytest.raises(TypeError, match="did you mean examples"):
        client.extract(Point, text, example=examples)  # type: ignore[call-overload]


def test_the_registry(client: Client) -> None:
    first = client.schemas.register("point", Point)
    assert client.schemas.register("point", Point).id == first.id
    second = client.schemas.register("point", {"type": "integer"}, warm=False)
    assert (second.reference, client.schemas.get("point").id) == ("point@2", second.id)
    assert client.extract("point@1", '<<echo {"x":1,"y":2}>>').data == {"x": 1, "y": 2}
    assert [one.reference for one in client.schemas.list("point")] == ["point@1", "point@2"]
    assert client.schemas.warm("point@1").id == first.id
    client.schemas.delete("point")
    assert client.schemas.list() == ()
    with pytest.raises(NotFound):
        client.schemas.get("point")


def test_a_stream_that_breaks_off_is_a_failed_connection() -> None:
    stub = StubService()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        data = b'event: new\ndata: 1\n\nevent: field.started\ndata: {"type":"field.started",'
        data += b'"pointer":"","kind":"object","more":1}\r\n\n'
        await send({"type": "http.response.body", "body": data, "more_body": False})

    with serving(app) as url, Client(url) as client:
        with client.extract_stream({}, "x") as stream, pytest.raises(ConnectionFailed) as failed:
            list(stream)
        assert failed.value.retryable
        outcome = client.extract_many({}, ["x"], return_errors=True, max_tokens=5)
        assert isinstance(outcome[0], ConnectionFailed)
    assert stub.asked == []


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_do_not_depend_on_the_division_into_chunks(size: int) -> None:
    event = b'event: field.completed\ndata: {"type":"field.completed","pointer":"/a",'
    event += b'"value":"\xc3\xa9\xe2\x80\xa8"}\n\n'
    raw = b": keep-alive\n\n" + event * 3
    decoder = EventDecoder(None)
    found = [e for at in range(0, len(raw), size) for e in decoder.feed(raw[at : at + size])]
    assert [getattr(e, "value", None) for e in found] == ["é\u2028"] * 3


class Tree(BaseModel):
    name: str
    child: Optional["Tree"] = None


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Mixed(BaseModel):
    pet: Cat | Dog
    trees: dict[str, Tree]
    pair: tuple[int, Line]
    maybe: Line | None
    both: Annotated[list[Place], Field(max_length=1)]
    named: int = Field(alias="theName")


def test_partial_types_follow_the_type() -> None:
    adapter = partial_adapter(Mixed)
    empty = adapter.validate_python({})
    assert (empty.pet, empty.trees, empty.pair, empty.both, empty.named) == (None,) * 5
    found = adapter.validate_python(
        {
            "pet": {},
            "trees": {"a": {"child": {"name": "x"}}},
            "pair": [1],
            "maybe": {"name": "n"},
            "both": [{"at": {"x": 1}}, {}],
            "theName": 4,
        }
    )
    assert (found.pet, found.pair, found.named) == ({}, [1], 4)
    assert (found.trees["a"].name, found.trees["a"].child) == (None, {"name": "x"})
    assert (found.maybe.name, found.maybe.price) == ("n", None)
    assert (found.both[0]["at"].x, found.both[0]["at"].y, found.both[1]) == (1, None, {})
    assert partial_adapter(list[int]).validate_python([1]) == [1]
