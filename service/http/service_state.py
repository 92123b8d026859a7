"""The state that the handlers of one server share.

Does: hold configuration, backend, limits and metrics; decide whether extractions are accepted; run work off the event
loop. Does not: handle requests (`routes` and its siblings) or start an engine (`app`).
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread
from intaglio.engine.api import EngineInfo, EngineState, EngineStopped, SchemaGate
from intaglio.schemas.server_info import Health

from ..adapters.adapter_registry import AdapterRegistry, no_adapter
from ..adapters.named_adapters import named_adapters
from ..config import ServiceConfig
from ..documents.document_reader import DocumentReader
from ..documents.document_store import DocumentStore
from ..errors import ServiceNotReady
from ..extraction.extract import Extractor
from ..extraction.known_schema import KnownSchemas
from ..extraction.schema_explainer import Explainer
from ..extraction.text_model import TextModel
from ..idempotency.answer_store import AnswerStore
from ..images.document_intake import DocumentIntake
from ..images.image_intake import ImageIntake
from ..registry.directory import SchemaDirectory
from .access import Access
from .backend import Backend
from .first_requests import FirstRequests
from .key_accounts import KeyAccounts
from .limits import RequestGate
from .service_metrics import Metrics

if TYPE_CHECKING:
    from ..batches.batch_host import BatchHost
    from ..jobs.host import JobHost
    from ..observability.tracing import Traces
    from ..openai.response_store import ResponseStore

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Service:
    """The state shared by the handlers of one server. `extractor` is None until the model is loaded."""

    config: ServiceConfig
    backend: Backend
    gate: RequestGate
    access: Access
    accounts: KeyAccounts
    metrics: Metrics
    version: str
    model: str
    started: int
    threads: anyio.CapacityLimiter
    serial_thread: anyio.CapacityLimiter = field(default_factory=partial(anyio.CapacityLimiter, 1))
    schemas: SchemaDirectory = field(default_factory=SchemaDirectory)
    answers: AnswerStore = field(default_factory=AnswerStore)
    documents: DocumentStore = field(default_factory=DocumentStore)
    reader: DocumentReader = field(default_factory=DocumentReader)
    reading: anyio.CapacityLimiter = field(default_factory=partial(anyio.CapacityLimiter, 8))
    firsts: FirstRequests = field(default_factory=FirstRequests)
    fleet_is_ready: bool = True
    schema_gate: SchemaGate | None = None
    extractor: Extractor | None = None
    known: KnownSchemas | None = None
    explainer: Explainer | None = None
    jobs: "JobHost | None" = None
    restarting: "asyncio.Task[None] | None" = None
    traces: "Traces | None" = None
    batches: "BatchHost | None" = None
    responses: "ResponseStore | None" = None
    adapters: AdapterRegistry | None = None

    def health(self) -> Health:
        """The status that `/ready` reports: ok if all API processes of the server are ready."""
        own = self.own_health()
        return own if self.fleet_is_ready or own.status != "ok" else Health(status="loading model")

    def own_health(self) -> Health:
        """The status of this process."""
        if self.gate.is_closed:
            return Health(status="stopping")
        if self.backend.state in (EngineState.DOWN, EngineState.UNUSABLE, EngineState.CLOSED):
            return Health(status="engine down")
        if self.extractor is None or self.backend.state is not EngineState.READY:
            return Health(status="loading model")
        return Health(status="ok")

    def ready(self) -> Extractor:
        """The extractor, if new extractions are accepted: also while an engine restarts, for which requests wait.

        Raises:
            ServiceNotReady: they are not; the message has the reason.
        """
        if self.gate.is_closed:
            raise self._not_ready()
        return self.loaded()

    def loaded(self) -> Extractor:
        """The extractor, for a request that was admitted: it ends as begun, also while the server stops.

        Raises:
            ServiceNotReady: no model is loaded, or no engine will come back.
        """
        hopeless = self.backend.state in (EngineState.UNUSABLE, EngineState.CLOSED)
        if hopeless or self.extractor is None:
            raise self._not_ready()
        return self.extractor

    def _not_ready(self) -> ServiceNotReady:
        return ServiceNotReady(
            f"the service is not ready: {self.health().status}",
            hint="try again when GET /ready answers 200",
        )

    def restart_engines(self) -> None:
        """Begin to restart all engines, one after the other; no effect while a restart is in progress."""
        if self.restarting is None or self.restarting.done():
            self.restarting = asyncio.create_task(self._restart_engines(), name="restart engines")

    async def _restart_engines(self) -> None:
        with contextlib.suppress(EngineStopped):  # they were not started yet, or are closed
            await self.backend.restart()

    async def offload(self, work: Callable[[], T]) -> T:
        """Run CPU-bound `work` in a thread, off the event loop."""
        return await anyio.to_thread.run_sync(work, limiter=self.threads)

    async def offload_serially(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread, one at a time: for work of seconds, which would occupy the threads of `offload`."""
        return await anyio.to_thread.run_sync(work, limiter=self.serial_thread)

    async def offload_reading(self, work: Callable[[], T]) -> T:
        """Run `work` that waits for a child in a thread of its own kind, so that documents do not hold up texts."""
        return await anyio.to_thread.run_sync(work, limiter=self.reading, abandon_on_cancel=True)

    def image_intake(self, info: EngineInfo) -> ImageIntake:
        """What reads images for the model of `info`."""
        return ImageIntake(
            form=info.images,
            reader=self.reader,
            model=info.model,
            most_images=self.config.max_images,
            most_tokens=self.config.max_image_tokens,
        )

    def document_intake(self) -> DocumentIntake:
        """What reads documents for the loaded model.

        Raises:
            ServiceNotReady: no model is loaded yet.
        """
        if self.backend.info is None:
            raise self._not_ready()
        return DocumentIntake(self.reader, self.image_intake(self.backend.info))

    def open_adapters(self, info: EngineInfo) -> None:
        """Find the adapters of this server, and check those that were given at its start.

        Raises:
            EngineError, ServiceError: one of these cannot be used.
        """
        folder = self.config.data or self.config.metrics_folder
        kept = Path(folder) / "adapters.json" if folder else None
        registry = AdapterRegistry(info, kept)
        registry.fix(named_adapters(self.config.adapters))
        self.adapters = registry

    def set_model(self, text: TextModel, schema_gate: SchemaGate) -> None:
        """Set tokenizer, template and schema checks once the model is loaded."""
        assert self.backend.info is not None
        self.schema_gate = schema_gate
        self.explainer = Explainer(text, schema_gate.explain)
        find = no_adapter if self.adapters is None else self.adapters.find
        self.extractor = Extractor(text, self.backend.info, find)
        self.known = KnownSchemas(self.extractor)
