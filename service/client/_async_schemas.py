"""The client of a service's schema registry. The synchronous form is generated from the asynchronous one.

Does: register, find, list and delete schemas. Does not: examine them (the service does).
"""

from typing import Any
from urllib.parse import quote, urlencode

from intaglio.schemas.registry import RegisteredSchema, SchemaPage

from ._async_wire import AsyncWire
from .shapes import shape_of


class AsyncSchemas:
    """The registered schemas of a service, as `client.schemas`. Every method raises `IntaglioError`."""

    def __init__(self, wire: AsyncWire) -> None:
        self._wire = wire

    async def register(self, name: str, schema: Any, *, warm: bool = True) -> RegisteredSchema:
        """Register a schema, or the schema of a type, as the next version of `name`. Safe to repeat.

        With `warm` the engine is prepared for requests with this schema first. Raises `SchemaRefused` for a schema that
        cannot be enforced.
        """
        body = {"name": name, "schema": shape_of(schema).schema, "warm": warm}
        answer = await self._wire.call("POST", "/v1/schemas", body)
        return self._wire.read(answer, RegisteredSchema)

    async def get(self, reference: str) -> RegisteredSchema:
        """The schema of an id, `name@version`, or `name`, which means the latest version. Raises `NotFound`."""
        return await self._wire.get(f"/v1/schemas/{quote(reference, safe='@')}", RegisteredSchema)

    async def list(self, name: str | None = None) -> tuple[RegisteredSchema, ...]:
        """All versions of all schemas, or of one name, without the schemas themselves."""
        params = {} if name is None else {"name": name}
        found: tuple[RegisteredSchema, ...] = ()
        while True:
            answer = await self._wire.call("GET", f"/v1/schemas?{urlencode(params)}")
            page = self._wire.read(answer, SchemaPage)
            found += page.data
            if page.next is None:
                return found
            params = {**params, "after": page.next}

    async def delete(self, reference: str) -> None:
        """Delete a version, or all versions of a name. Raises `NotFound`."""
        await self._wire.call("DELETE", f"/v1/schemas/{quote(reference, safe='@')}")

    async def warm(self, reference: str) -> RegisteredSchema:
        """Prepare the engine for requests with a schema."""
        answer = await self._wire.call("POST", f"/v1/schemas/{quote(reference, safe='@')}/warm")
        return self._wire.read(answer, RegisteredSchema)
