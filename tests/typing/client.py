"""What a type checker must infer for users of the SDK. Read by mypy (`make types`), never run."""

from dataclasses import dataclass
from typing import Any, assert_type

from intaglio import AsyncClient, Client, Extraction
from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict


class Invoice(BaseModel):
    number: str
    total: float


@dataclass
class Point:
    x: int


class Movie(TypedDict):
    title: str


def blocking(client: Client, anything: TypeAdapter[Invoice | None]) -> None:
    assert_type(client.extract(Invoice, "text"), Extraction[Invoice])
    assert_type(client.extract(Invoice, "text").data.total, float)
    assert_type(client.extract(Point, "text").data.x, int)
    assert_type(client.extract(Movie, "text").data["title"], str)
    assert_type(client.extract(list[Invoice], "text").data[0].number, str)
    assert_type(client.extract(anything, "text").data, Invoice | None)
    assert_type(client.extract(int, "text").data, int)
    assert_type(client.extract({"type": "integer"}, "text").data, Any)
    assert_type(client.extract("invoice", "text").data, Any)
    assert_type(client.extract(Invoice, "text").usage.output_tokens, int)
    client.extract(Invoice, "text", model="m", timeout=3, max_retries=0, max_tokens=9, seed=None)
    with client as same:
        assert_type(same, Client)


async def awaited(client: AsyncClient) -> None:
    assert_type(await client.extract(Invoice, "text"), Extraction[Invoice])
    assert_type((await client.extract(Movie, "text")).data["title"], str)
    assert_type((await client.extract("invoice", "text")).data, Any)
    async with client as same:
        assert_type(same, AsyncClient)


def mistakes(client: Client) -> None:
    client.extract(5, "text")  # type: ignore[call-overload]
    client.extract(Invoice, "text", max_token=3)  # type: ignore[call-overload]
    client.extract(Invoice, "text", temperature="warm")  # type: ignore[call-overload]
    client.extract(Invoice, "text").data.sum  # type: ignore[attr-defined]  # noqa: B018
