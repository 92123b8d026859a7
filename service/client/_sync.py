# Generated from _async.py by `make sync-client`; change that file.
"""The client of a running service. The synchronous client is generated from the asynchronous one.

Does: one method for each call. Does not: send or retry (`_async_wire`), run a model (`LLM`) or examine schemas (the
service does).
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from types import TracebackType, UnionType
from typing import Any, Self, TypeVar, Unpack, overload

import httpx2
from intaglio.schemas.engine_state import EngineStateReport
from intaglio.schemas.server_info import Health, ModelCard, ModelList, Version
from pydantic import TypeAdapter

from ._sync_documents import Documents
from ._sync_jobs import Jobs
from ._sync_many import ManyTexts
from ._sync_schemas import Schemas
from ._sync_stream import ExtractionStream
from ._sync_wire import Wire
from .config import address
from .errors import ConnectionFailed, IntaglioError, NotReady, TimedOut
from .models import (
    CallOptions,
    Extraction,
    extraction,
    key_header,
    many_bodies,
    request_body,
    shared_body,
)
from .retry import Retries
from .shapes import shape_of
from .streaming import ManyResults

T = TypeVar("T")

POLL_SECONDS = 0.2


class Client:
    """Extracts typed data from text through a running service.

    `base_url` and `api_key` default to `INTAGLIO_BASE_URL` (else http://localhost:8000) and `INTAGLIO_API_KEY`.
    `timeout` is the time limit for an answer in seconds. `max_retries` is the number of retries after a failed
    connection, a 408, 429 or a 5xx that the service marks as retryable. Both can be set per call. A cancelled or
    interrupted call closes its connection, and the service then stops the extraction.

    Use it as a context manager, or call `close`; the connections of a client that was not closed end with it, or with
    their event loop. Every method raises `IntaglioError` (see `errors` for the tree).
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
        self._wire = Wire(address(base_url, api_key), timeout, Retries(max_retries), transport)
        self.base_url = self._wire.base_url
        self.jobs = Jobs(self._wire)
        self.schemas = Schemas(self._wire)
        self.documents = Documents(self._wire)

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

        Calls in flight end with `ConnectionFailed`: those of other tasks at once, those of other threads when the
        service next sends data.
        """
        self._wire.close()

    @overload
    def extract(
        self,
        schema: type[T] | TypeAdapter[T],
        text: str | Sequence[Mapping[str, str]] | None = None,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Extraction[T]: ...

    @overload
    def extract(
        self,
        schema: Mapping[str, Any] | bool | str | UnionType,
        text: str | Sequence[Mapping[str, str]] | None = None,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Extraction[Any]: ...

    def extract(
        self,
        schema: Any,
        text: str | Sequence[Mapping[str, str]] | None = None,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Extraction[Any]:
        """Extract the data that `schema` describes from `text`.

        `schema` is a type (Pydantic model class, dataclass, TypedDict, `list[…]`, a `TypeAdapter` of anything), and the
        result's `data` is of that type; or a JSON Schema or the name of one in the service's catalogue, and `data` is
        the JSON value. `text` is the document, or the messages of a conversation; `file=` a path or bytes of a
        document, and `document=` the id of an uploaded one, take its place; `images=` are read before it, by a model
        that reads images. `options`: see `CallOptions`.

        Raises `SchemaRefused`, `TooLong`, `Overloaded` and the rest of the tree in `errors`; `ResultMismatch` if a
        validator of the type refuses the result; TypeError for an invalid schema or option.
        """
        shape = shape_of(schema)
        body = request_body(shape, text, model, options)
        answer = self._wire.call(
            "POST",
            "/v1/extract",
            body,
            timeout=timeout,
            max_retries=max_retries,
            headers=key_header(options),
        )
        return extraction(answer.content, shape, answer.headers.get("x-request-id"))

    @contextmanager
    def extract_stream(
        self,
        schema: Any,
        text: str | Sequence[Mapping[str, str]] | None = None,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Iterator[ExtractionStream[Any]]:
        """As `extract`, while the model writes: a context with the events, the partial results and the result.

        Leaving the context early stops the extraction. Only the opening is retried.
        """
        shape = shape_of(schema)
        body = {**request_body(shape, text, model, options), "stream": True}
        with self._wire.post(
            "/v1/extract",
            body,
            timeout=timeout,
            max_retries=max_retries,
            headers=key_header(options),
        ) as answer:
            yield ExtractionStream(answer, shape, self.base_url)

    def extract_many(
        self,
        schema: Any,
        texts: Iterable[str],
        *,
        return_errors: bool = False,
        progress: Callable[[int, int], None] | None = None,
        at_once: int = 128,
        model: str | None = None,
        **options: Unpack[CallOptions],
    ) -> list[Any]:
        """Extract from many texts, with about `at_once` in hand; the results are in the order of the texts.

        `progress` is called with the number of texts that are over and the number of all, from another thread in the
        synchronous client. Texts that were lost with a connection or an engine are sent again. With `return_errors` the
        error of a text that failed takes the place of its result; without, the first of them is raised at the end.
        """
        if at_once < 1:
            raise ValueError(f"at_once must be at least 1, not {at_once}")
        shape, found = shape_of(schema), many_bodies(texts)
        results = ManyResults(shape, len(found), progress)
        body, key = shared_body(shape, model, options), options.get("idempotency_key")
        ManyTexts(self._wire, body, results, key).run(found, at_once)
        outcomes = results.outcomes()
        if not return_errors:
            for outcome in outcomes:
                if isinstance(outcome, IntaglioError):
                    raise outcome
        return outcomes

    def engine_state(self) -> EngineStateReport:
        """The present state of the service's engines."""
        return self._wire.get("/v1/engine/state", EngineStateReport)

    def models(self) -> tuple[ModelCard, ...]:
        """The models of this service."""
        return (self._wire.get("/v1/models", ModelList)).data

    def health(self) -> Health:
        """The state of the service process."""
        return self._wire.get("/health", Health)

    def version(self) -> Version:
        """The version of the service and the name of its model."""
        return self._wire.get("/version", Version)

    def ready(self) -> bool:
        """Whether the service accepts requests now. Raises `ConnectionFailed` if nothing answers."""
        try:
            self._wire.call("GET", "/ready", max_retries=0)
        except NotReady:
            return False
        return True

    def wait_until_ready(self, timeout: float = 60.0) -> None:
        """Return as soon as the service accepts requests. Raises `TimedOut` after `timeout` seconds."""
        deadline = monotonic() + timeout
        while True:
            reason = "it is not ready"
            try:
                if self.ready():
                    return
            except ConnectionFailed as error:
                reason = error.message
            if monotonic() > deadline:
                raise TimedOut(f"{self.base_url} was not ready within {timeout:g} s: {reason}")
            time.sleep(POLL_SECONDS)
