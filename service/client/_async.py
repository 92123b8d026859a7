"""The client of a running service. The synchronous client is generated from the asynchronous one.

Does: one method for each call. Does not: send or retry (`_async_wire`), run a model (`LLM`) or examine schemas (the
service does).
"""

# ruff: noqa: ASYNC109  both clients name a time limit alike, and HTTP needs it per phase

import asyncio
from collections.abc import Mapping
from time import monotonic
from types import TracebackType, UnionType
from typing import Any, Self, TypeVar, Unpack, overload

import httpx2
from intaglio.schemas.wire import Health, ModelCard, ModelList, Version
from pydantic import TypeAdapter

from ._async_jobs import AsyncJobs
from ._async_wire import AsyncWire
from .config import address
from .errors import ConnectionFailed, NotReady, TimedOut
from .models import Extraction, Options, extraction, request_body
from .retry import Retries
from .shapes import shape_of

T = TypeVar("T")

POLL_SECONDS = 0.2


class AsyncClient:
    """Extracts typed data from text through a running service.

    `base_url` and `api_key` default to `INTAGLIO_BASE_URL` (else http://localhost:8000) and `INTAGLIO_API_KEY`.
    `timeout` is the time limit for an answer in seconds. `max_retries` is the number of retries after a failed
    connection, a 408, 429 or a 5xx that the service marks as retryable. Both can be set per call. A cancelled or
    interrupted call closes its connection, and the service then stops the extraction.

    Use it as a context manager, or call `close`. Every method raises `IntaglioError` (see `errors` for the tree).
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout: float = 600.0,
        max_retries: int = 2,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._wire = AsyncWire(address(base_url, api_key), timeout, Retries(max_retries), transport)
        self.base_url = self._wire.base_url
        self.jobs = AsyncJobs(self._wire)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections.

        Calls in flight end with `ConnectionFailed`: those of other tasks at once, those of other threads when the
        service next sends data.
        """
        await self._wire.close()

    @overload
    async def extract(
        self,
        schema: type[T] | TypeAdapter[T],
        text: str,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        **options: Unpack[Options],
    ) -> Extraction[T]: ...

    @overload
    async def extract(
        self,
        schema: Mapping[str, Any] | bool | str | UnionType,
        text: str,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        **options: Unpack[Options],
    ) -> Extraction[Any]: ...

    async def extract(
        self,
        schema: Any,
        text: str,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        **options: Unpack[Options],
    ) -> Extraction[Any]:
        """Extract the data that `schema` describes from `text`.

        `schema` is a type (Pydantic model class, dataclass, TypedDict, `list[…]`, a `TypeAdapter` of anything), and the
        result's `data` is of that type; or a JSON Schema or the name of one in the service's catalogue, and `data` is
        the JSON value. `options`: see `Options`. Raises `SchemaRefused`, `TooLong`, `Overloaded` and the rest of the
        tree in `errors`; `ResultMismatch` if a validator of the type refuses the result; TypeError for an invalid
        schema or option.
        """
        shape = shape_of(schema)
        body = request_body(shape, text, model, options)
        answer = await self._wire.call(
            "POST", "/v1/extract", body, timeout=timeout, max_retries=max_retries
        )
        return extraction(answer.content, shape, answer.headers.get("x-request-id"))

    async def models(self) -> tuple[ModelCard, ...]:
        """The models of this service."""
        return (await self._wire.get("/v1/models", ModelList)).data

    async def health(self) -> Health:
        """The state of the service process."""
        return await self._wire.get("/health", Health)

    async def version(self) -> Version:
        """The version of the service and the name of its model."""
        return await self._wire.get("/version", Version)

    async def ready(self) -> bool:
        """Whether the service accepts requests now. Raises `ConnectionFailed` if nothing answers."""
        try:
            await self._wire.call("GET", "/ready", max_retries=0)
        except NotReady:
            return False
        return True

    async def wait_until_ready(self, timeout: float = 60.0) -> None:
        """Return as soon as the service accepts requests. Raises `TimedOut` after `timeout` seconds."""
        deadline = monotonic() + timeout
        while True:
            reason = "it is not ready"
            try:
                if await self.ready():
                    return
            except ConnectionFailed as error:
                reason = error.message
            if monotonic() > deadline:
                raise TimedOut(f"{self.base_url} was not ready within {timeout:g} s: {reason}")
            await asyncio.sleep(POLL_SECONDS)
