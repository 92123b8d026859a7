# Generated from _async.py by `make sync-client`; change that file.
"""The client of a running service. The asynchronous form is written, the other generated from it.

Does: send, wait, try again, read answers. Does not: run a model (`LLM`) or judge schemas (the service does).
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from time import monotonic
from types import TracebackType, UnionType
from typing import Any, Self, TypeVar, Unpack, overload

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from ...schemas.wire import Health, ModelCard, ModelList, Version
from .config import address
from .errors import (
    ConnectionFailed,
    IntaglioError,
    NotReady,
    TimedOut,
    status_error,
    transport_error,
)
from .models import Extraction, Options, extraction, request_body, unexpected
from .retry import Retries
from .shapes import shape_of

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

CONNECT_SECONDS = 10.0
POLL_SECONDS = 0.2


class Client:
    """Extracts typed data from text through a running service.

    `base_url` and `api_key` default to `INTAGLIO_BASE_URL` (else http://localhost:8000) and `INTAGLIO_API_KEY`.
    `timeout` is how many seconds to wait for an answer; `max_retries` how often a call is repeated after a failed
    connection, a 408, 429 or a 5xx that the service calls retryable. Both can be given for a single call. A call
    that is cancelled or interrupted closes its connection, upon which the service stops working on it.

    Use it as a context manager, or `close` it. Every method raises `IntaglioError` (see `errors` for the tree).
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout: float = 600.0,
        max_retries: int = 2,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        where = address(base_url, api_key)
        self.base_url = where.base_url
        self._timeout = timeout
        self._retries = Retries(max_retries)
        self._http = httpx2.Client(
            base_url=where.base_url,
            headers=where.headers(),
            transport=transport,
            # The service queues and says when its queue is full; a second queue here would hide that.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections.

        Calls in flight end with `ConnectionFailed`: those of other tasks at once, those of other threads as soon as
        the service sends something.
        """
        self._http.close()

    @overload
    def extract(
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
    def extract(
        self,
        schema: Mapping[str, Any] | bool | str | UnionType,
        text: str,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        **options: Unpack[Options],
    ) -> Extraction[Any]: ...

    def extract(
        self,
        schema: Any,
        text: str,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        **options: Unpack[Options],
    ) -> Extraction[Any]:
        """Read what `schema` describes out of `text`.

        `schema` is a type (Pydantic model class, dataclass, TypedDict, `list[…]`, a `TypeAdapter` of anything): the
        result's `data` is of that type. Or a JSON Schema, or the name of one in the service's catalogue: `data` is
        the JSON value. `options`: see `Options`. Raises `SchemaRefused`, `TooLong`, `Overloaded` and the rest of
        the tree in `errors`, `ResultMismatch` where a validator of the type refuses the result, TypeError for a
        schema or an option that is not one.
        """
        shape = shape_of(schema)
        body = request_body(shape, text, model, options)
        answer = self._call("POST", "/v1/extract", body, timeout, max_retries)
        return extraction(answer.content, shape, answer.headers.get("x-request-id"))

    def models(self) -> tuple[ModelCard, ...]:
        """The models this service runs."""
        return (self._get("/v1/models", ModelList)).data

    def health(self) -> Health:
        """What the service says about its own process."""
        return self._get("/health", Health)

    def version(self) -> Version:
        """Versions of the service and of the model it runs."""
        return self._get("/version", Version)

    def ready(self) -> bool:
        """Whether the service can take requests now. Raises `ConnectionFailed` where nothing answers."""
        try:
            self._call("GET", "/ready", max_retries=0)
        except NotReady:
            return False
        return True

    def wait_until_ready(self, timeout: float = 60.0) -> None:
        """Return as soon as the service can take requests. Raises `TimedOut` after `timeout` seconds."""
        end = monotonic() + timeout
        last = "it is not ready"
        while monotonic() < end:
            try:
                if self.ready():
                    return
            except ConnectionFailed as error:
                last = error.message
            time.sleep(POLL_SECONDS)
        raise TimedOut(f"{self.base_url} was not ready within {timeout:g} s: {last}")

    def _get(self, path: str, kind: type[M]) -> M:
        answer = self._call("GET", path)
        try:
            return kind.model_validate_json(answer.content, extra="ignore")
        except ValidationError as error:
            raise unexpected(answer.content, answer.headers.get("x-request-id")) from error

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> httpx2.Response:
        """Send until there is a success or no reason to send again."""
        seconds = self._timeout if timeout is None else timeout
        limits = httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        retries = self._retries
        if max_retries is not None:
            retries = replace(retries, limit=max_retries)
        tries = 0
        while True:
            answer = self._try(method, path, body, limits)
            if isinstance(answer, httpx2.Response):
                return answer
            tries += 1
            pause = retries.pause(tries, answer)
            if pause is None or self._http.is_closed:
                raise answer
            time.sleep(pause)

    def _try(
        self, method: str, path: str, body: Mapping[str, Any] | None, limits: httpx2.Timeout
    ) -> httpx2.Response | IntaglioError:
        """One attempt: the answer, or the error it amounts to."""
        try:
            answer = self._http.request(method, path, json=body, timeout=limits)
        except httpx2.RequestError as error:
            return transport_error(error, self.base_url)
        return answer if answer.is_success else status_error(answer)
