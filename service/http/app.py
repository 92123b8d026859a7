"""The ASGI application of the service.

Does: put operations, error documents, request ids and logs together for one backend. Does not: handle requests
(`routes` and its siblings), listen (`server`) or read settings (`config`). Importing this module has no effect.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
from intaglio.engine.api import (
    AdapterUnusable,
    EngineConfig,
    Engines,
    EngineStopped,
    GrammarConfig,
    Lives,
    ModelError,
    SchemaGate,
    Watch,
    launches,
)
from intaglio.grammar.api import Constraint
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.schemas.problem import Code
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from ..config import ServiceConfig
from ..documents.child_messages import ReadingLimits
from ..documents.document_reader import DocumentReader
from ..errors import RouteNotFound, ServiceError, ServiceNotReady
from ..extraction.extract import catalogue_constraints
from ..extraction.text_model import TextModel
from ..extraction.translate import extraction_constraint
from ..keys.key_store import KeyStore
from ..keys.store_errors import KeyStoreError
from ..routing.router import EngineRouter, RoutingPolicy
from .access import Access
from .backend import Backend
from .data_folder import open_stores, start_work, stop_work
from .endpoint import by_path, operation_at, routes
from .exchange import Exchange, request_id
from .exposure import is_exposed, with_cors
from .interface import OPERATIONS
from .key_accounts import KeyAccounts
from .limits import RequestGate
from .log import make_logger, origin
from .observed_backend import ObservedBackend
from .operations import OWN_ERRORS, Operation
from .paced_starts import PacedStarts
from .principal import ANONYMOUS, acting_as
from .problems import problem_response
from .service_metrics import Metrics
from .service_state import Service
from .tenant_backend import TenantBackend

if TYPE_CHECKING:
    from ..observability.tracing import Traces

_MOST_WARMED: Final = 100


class Application:
    """The ASGI application for one backend. `load_text` reads tokenizer and chat template in a thread at startup.

    With `loads_first`, the startup of its lifespan ends when it is ready, or known to be unusable.
    """

    def __init__(
        self,
        backend: Backend,
        load_text: Callable[[], TextModel],
        model: str,
        config: ServiceConfig,
        logger: FilteringBoundLogger | None = None,
        grammar: GrammarConfig | None = None,
    ) -> None:
        self._load_text = load_text
        self._grammar = grammar or GrammarConfig()
        self._schema_gate: SchemaGate | None = None
        self._log = logger or make_logger(config.log_format, config.log_level)
        shared = Path(config.metrics_folder) if config.metrics_folder else None
        metrics = Metrics(backend, shared=shared, vllm_names=config.vllm_metrics)
        reserved = config.max_requests // 8 if config.key_store else 0
        gate = RequestGate(config.max_requests, notify=metrics.in_hand, reserved=reserved)
        store = KeyStore(Path(config.key_store)) if config.key_store else None
        accounts = (
            KeyAccounts.open(Path(config.key_store), store.secret) if store else KeyAccounts()
        )
        self._access = Access(config, store)
        traces = _open_traces(config)
        observers = (metrics.generations, *((traces,) if traces else ()))
        backend = TenantBackend(ObservedBackend(backend, observers), accounts)
        backend.on_lives_change(self._log_lives)
        self.service = Service(
            config=config,
            backend=backend,
            gate=gate,
            access=self._access,
            accounts=accounts,
            metrics=metrics,
            traces=traces,
            version=installed_version("intaglio"),
            model=model,
            started=int(time.time()),
            threads=anyio.CapacityLimiter(config.cpu_threads),
            reader=DocumentReader(ReadingLimits(content=config.max_document_bytes)),
        )
        self.fault: ModelError | None = None
        self.loads_first = False
        self._on_load: Callable[[], None] = lambda: None
        self._routes = routes(self.service, OPERATIONS)
        self._routed: ASGIApp = Router(
            self._routes,
            redirect_slashes=False,
            default=_not_found,
            lifespan=self._lifespan,
        )

        self._answering: ASGIApp = PacedStarts(with_cors(self._answer, config))
        if traces is not None:
            probes = {operation.path for operation in OPERATIONS if operation.probe}
            self._answering = traces.around(self._answering, probes)

    def on_load(self, call: Callable[[], None]) -> None:
        """Register `call`, which the event loop calls when all is loaded, or the model is known to be unusable."""
        self._on_load = call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        serve = self._answering if scope["type"] == "http" else self._routed
        await serve(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(request_id(scope), send)
        scope.setdefault("state", {})["request_id"] = exchange.request_id
        try:
            # A request from inside the server comes with its principal: a client cannot set it.
            principal = scope["state"].get("principal") or self._access.check(scope)
            scope["state"]["principal"] = principal
            with acting_as(principal) as exchange.tokens:
                await self._routed(scope, receive, exchange.send)
        except asyncio.CancelledError:
            exchange.outcome = Code.CANCELLED.value
            if exchange.status is not None or not self.service.gate.is_closed:
                raise
            # The server stops before any part of the answer was sent, whatever the request waits for.
            stopping = ServiceNotReady("the server is stopping", hint="send the request elsewhere")
            refusal = _refusal(stopping, exchange, operation_at(self._routes, scope))
            await refusal(scope, receive, exchange.send)
        except Exception as error:
            if exchange.status is not None:
                self._log.error("failed", request_id=exchange.request_id, **origin(error))
                raise
            operation, pause_s = operation_at(self._routes, scope), self.service.gate.retry_after_s
            refusal = _refusal(error, exchange, operation, pause_s)
            if refusal.status_code == 500:
                self._log.error("failed", request_id=exchange.request_id, **origin(error))
            await refusal(scope, receive, exchange.send)
        finally:
            self._account(scope, exchange)

    def _account(self, scope: Scope, exchange: Exchange) -> None:
        """Log the request and count it in the metrics."""
        route = scope["state"].get("route", "other")
        seconds = time.perf_counter() - exchange.started
        outcome = scope["state"].get("outcome", exchange.outcome)  # a stream knows its own end
        scope["state"]["outcome"] = outcome
        self.service.metrics.answered(route, outcome, seconds)
        operation = scope["state"].get("operation")
        write = self._log.debug if operation and operation.probe else self._log.info
        write(
            "request",
            request_id=exchange.request_id,
            method=scope["method"],
            route=route,
            status=exchange.status,
            outcome=outcome,
            ms=round(seconds * 1000, 1),
            prompt_tokens=exchange.tokens.prompt,
            output_tokens=exchange.tokens.output,
        )
        self._audit(scope, exchange, route, outcome)

    def _audit(self, scope: Scope, exchange: Exchange, route: str, outcome: str) -> None:
        """Record the use of a key, if the request had one."""
        principal = scope["state"].get("principal", ANONYMOUS)
        facts = {
            "request_id": exchange.request_id,
            "method": scope["method"],
            "route": route,
            "status": exchange.status,
            "outcome": outcome,
            "prompt_tokens": exchange.tokens.prompt,
            "output_tokens": exchange.tokens.output,
        }
        try:
            self.service.accounts.record(principal, facts)
        except (OSError, KeyStoreError) as error:
            self._log.error("audit not written", request_id=exchange.request_id, **origin(error))

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Any) -> AsyncIterator[None]:
        backend = self.service.backend
        self.open_data_folder()
        if is_exposed(self.service.config):
            self._log.warning(
                "every machine that reaches this server can use it",
                host=self.service.config.host,
                hint="make keys with `intaglio keys create` or set INTAGLIO_API_KEYS",
            )
        await backend.start()
        loading = asyncio.create_task(self._load())
        try:
            if self.loads_first:
                await asyncio.wait({loading})
            yield
        finally:
            self.service.gate.close()
            loading.cancel()
            await stop_work(self.service)
            if self._schema_gate is not None:  # first, because loading may wait for it
                await asyncio.to_thread(self._schema_gate.close)
            with contextlib.suppress(asyncio.CancelledError, EngineStopped):
                await loading
            await backend.close()
            if self.service.traces is not None:
                await asyncio.to_thread(self.service.traces.close)
            self.service.schemas.close()
            self.service.answers.close()
            self.service.documents.close()
            await asyncio.to_thread(self.service.reader.close)

    async def _load(self) -> None:
        started = time.perf_counter()
        try:
            (text, schema_gate), info, _ = await asyncio.gather(
                self.service.offload(self._load_text_and_gate),
                self.service.backend.until_ready(),
                self.service.offload(_load_validator),
            )
            await self.service.offload(partial(self.service.open_adapters, info))
        except (ModelError, AdapterUnusable, ServiceError) as failed:
            error = self.fault = ModelError(failed.message, hint=failed.hint)
            self._log.error("model unusable", reason=error.message, hint=error.hint)
            self._on_load()
            return
        self._on_load()
        self.service.set_model(text, schema_gate)
        schema_gate.warm(self._constraints_to_warm())
        start_work(self, self.service)
        self._log.info(
            "ready",
            model=info.model,
            context_length=info.context_length,
            blocks=info.blocks,
            seconds=round(time.perf_counter() - started, 2),
        )

    def open_data_folder(self) -> None:
        """Open the stores of the data folder, unless they are open. Raises `JobError` if it is unusable."""
        open_stores(self.service, self._job_failed, self._job_waits)

    def _log_lives(self, lives: Lives) -> None:
        """Log each death of the engine and each restart."""
        counts = {"deaths": lives.deaths, "restarts": lives.restarts}
        if lives.pid:
            self._log.info("engine restarted", pid=lives.pid, **counts)
        else:
            self._log.error("engine died", reason=lives.reason, in_flight=lives.lost, **counts)

    def _job_failed(self, job: str, error: Exception) -> None:
        self._log.error("job failed", job=job, **origin(error))

    def _job_waits(self, job: str, error: Exception) -> None:
        self._log.warning("job waits", job=job, **origin(error))

    def _constraints_to_warm(self) -> Iterator[Constraint]:
        """The constraints of the catalogue and of the schemas that were registered last."""
        yield from catalogue_constraints()
        if self.service.schemas.registry is not None:
            for schema in self.service.schemas.registry.newest(_MOST_WARMED):
                yield extraction_constraint(schema, ExtractOptions())

    def _load_text_and_gate(self) -> tuple[TextModel, SchemaGate]:
        """Load tokenizer and template, and start the checks of schemas.

        Raises:
            ModelError: the tokenizer or the template is unusable.
        """
        text = self._load_text()
        self._schema_gate = SchemaGate.open(
            self._grammar, text.vocabulary, text.tokenizer.canonical, server=True
        )
        self._schema_gate.start()
        return text, self._schema_gate


def _refusal(
    error: Exception, exchange: Exchange, operation: Operation | None, pause_s: int = 1
) -> Response:
    """The answer to a request that failed; its code becomes the outcome. `pause_s`: when to try again."""
    reply = problem_response(error, exchange.request_id, pause_s)
    exchange.outcome = reply.problem.code.value
    body = (operation.error_body if operation else OWN_ERRORS).write(reply)
    return Response(body, reply.status, dict(reply.headers), media_type="application/json")


def application(engine: EngineConfig, config: ServiceConfig) -> Application:
    """The service as an ASGI application for another server. Its lifespan starts and stops the engine process.

    The server must bound headers and request lines, and wait for requests in flight when it stops.
    """
    folder = Path(engine.model.model)
    load_text = partial(TextModel.load, folder, config.calibration_file)
    starts = launches(engine, config.engines, config.prefill_engines)
    engines = Engines.owned(starts, Watch(standby=config.engine_standby))
    backend = EngineRouter(engines, RoutingPolicy(wait_s=config.engine_wait_s))
    name = folder.resolve().name
    return Application(backend, load_text, name, config, grammar=engine.grammar)


def _open_traces(config: ServiceConfig) -> "Traces | None":
    """The traces of a server that is to export them."""
    if not config.traces:
        return None
    from ..observability.tracing import Traces  # the extra `otel`

    return Traces.exported(installed_version("intaglio"))


def _load_validator() -> None:
    """Import the validator before the first request; the import takes most of a second."""
    import_module("intaglio.service.extraction.validate")


async def _not_found(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise RouteNotFound("there is no such path", hint=f"there are {', '.join(by_path(OPERATIONS))}")
