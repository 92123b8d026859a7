"""The ASGI application and the server that runs it.

Does: put routes, error documents, request ids and logs together for one backend; serve it and shut it down in order.
Does not: handle requests (`routes`) or read settings (`config`). Importing this module has no effect.
"""

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version as installed_version
from pathlib import Path
from types import FrameType
from typing import Any, Literal

import anyio
import uvicorn
from intaglio.engine.api import (
    EngineClient,
    EngineConfig,
    EngineStopped,
    GrammarConfig,
    Launch,
    Lives,
    ModelError,
    SchemaGate,
)
from intaglio.schemas.problem import Code
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from ..config import ServiceConfig
from ..errors import RouteNotFound
from ..extraction.extract import TextModel, catalogue_constraints
from .access import Access
from .backend import Backend
from .exchange import Exchange, request_id
from .job_routes import JOB_ROUTES
from .limits import BoundedHeaderProtocol, RequestGate
from .listen import listen, url
from .log import make_logger, origin
from .problems import problem_response
from .routes import PROBES, ROUTES, PathEndpoint, Service, extract_for_job
from .service_metrics import Metrics

ALL_ROUTES = {**ROUTES, **JOB_ROUTES}

EXIT_CANNOT_SERVE = 4
MAX_HEADER_BYTES = 16 * 1024


class Application:
    """The ASGI application for one backend. `load_text` reads tokenizer and chat template in a thread at startup."""

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
        self._door: SchemaGate | None = None
        self._log = logger or make_logger(config.log_format, config.log_level)
        gate = RequestGate(config.max_requests)
        self._access = Access(config)
        backend.when_lives_change(self._log_lives)
        self.service = Service(
            config=config,
            backend=backend,
            gate=gate,
            metrics=Metrics(backend, gate),
            version=installed_version("intaglio"),
            model=model,
            started=int(time.time()),
            threads=anyio.CapacityLimiter(config.cpu_threads),
        )
        self.fault: ModelError | None = None
        self._on_fault: Callable[[], None] = lambda: None
        self._routed: ASGIApp = Router(
            [
                Route(path, PathEndpoint(self.service, path, handlers))
                for path, handlers in ALL_ROUTES.items()
            ],
            redirect_slashes=False,
            default=_not_found,
            lifespan=self._lifespan,
        )

    def on_unusable(self, call: Callable[[], None]) -> None:
        """Register `call`, which the event loop calls if the model turns out to be unusable."""
        self._on_fault = call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._routed(scope, receive, send)
            return
        exchange = Exchange(request_id(scope), send)
        scope.setdefault("state", {})
        try:
            self._access.check(scope)
            await self._routed(scope, receive, exchange.send)
        except asyncio.CancelledError:
            exchange.outcome = Code.CANCELLED.value
            raise
        except Exception as error:
            if exchange.status is not None:
                raise
            reply = problem_response(error, exchange.request_id, self.service.gate.retry_after_s)
            exchange.outcome = reply.problem.code.value
            if reply.status == 500:
                self._log.error("failed", request_id=exchange.request_id, **origin(error))
            response = Response(
                reply.body(), reply.status, dict(reply.headers), media_type="application/json"
            )
            await response(scope, receive, exchange.send)
        finally:
            self._account(scope, exchange)

    def _account(self, scope: Scope, exchange: Exchange) -> None:
        """Log the request and count it in the metrics."""
        route = scope["state"].get("route", "other")
        seconds = time.perf_counter() - exchange.started
        self.service.metrics.answered(route, exchange.outcome, seconds)
        prompt, output = scope["state"].get("tokens", (0, 0))
        write = self._log.debug if route in PROBES else self._log.info
        write(
            "request",
            request_id=exchange.request_id,
            method=scope["method"],
            route=route,
            status=exchange.status,
            outcome=exchange.outcome,
            ms=round(seconds * 1000, 1),
            prompt_tokens=prompt,
            output_tokens=output,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Any) -> AsyncIterator[None]:
        backend = self.service.backend
        self.open_data_folder()
        if self._access.exposed:
            self._log.warning(
                "every machine that reaches this server can use it",
                host=self.service.config.host,
                hint="set INTAGLIO_API_KEYS, or listen on 127.0.0.1",
            )
        await backend.start()
        loading = asyncio.create_task(self._load())
        try:
            yield
        finally:
            self.service.gate.close()
            loading.cancel()
            await self.stop_jobs()
            if self._door is not None:  # first, because loading may wait for it
                await asyncio.to_thread(self._door.close)
            with contextlib.suppress(asyncio.CancelledError, EngineStopped):
                await loading
            await backend.close()

    async def _load(self) -> None:
        started = time.perf_counter()
        try:
            (text, door), info, _ = await asyncio.gather(
                self.service.offload(self._load_text_and_gate),
                self.service.backend.until_ready(),
                self.service.offload(_load_validator),
            )
        except ModelError as error:
            self.fault = error
            self._log.error("model unusable", reason=error.message, hint=error.hint)
            self._on_fault()
            return
        self.service.set_model(text, door)
        door.warm(catalogue_constraints())
        self._start_jobs()
        self._log.info(
            "ready",
            model=info.model,
            context_length=info.context_length,
            blocks=info.blocks,
            seconds=round(time.perf_counter() - started, 2),
        )

    def open_data_folder(self) -> None:
        """Open the data folder if one is configured and not yet open. Raises `JobError` if it is unusable."""
        config = self.service.config
        if config.data and self.service.jobs is None:
            from ..jobs.host import JobHost

            self.service.jobs = JobHost(
                Path(config.data), config.max_data_bytes, config.max_open_jobs, self._job_failed
            )

    def _start_jobs(self) -> None:
        """Start to run jobs if there is a data folder."""
        if self.service.jobs is None:
            return
        from ..jobs.server_backend import ServerBackend

        loop, extract = asyncio.get_running_loop(), partial(extract_for_job, self.service)
        self.service.jobs.start(lambda spec: ServerBackend(extract, loop, spec, self.service.model))

    def _log_lives(self, lives: Lives) -> None:
        """Log each death of the engine and each restart."""
        counts = {"deaths": lives.deaths, "restarts": lives.restarts}
        if lives.pid:
            self._log.info("engine restarted", pid=lives.pid, **counts)
        else:
            self._log.error("engine died", reason=lives.reason, in_flight=lives.lost, **counts)

    def _job_failed(self, job: str, error: Exception) -> None:
        self._log.error("job failed", job=job, **origin(error))

    async def stop_jobs(self) -> None:
        """Let the running job finish its rows in flight. It continues at the next start of the server."""
        jobs, self.service.jobs = self.service.jobs, None
        if jobs is not None:
            await asyncio.to_thread(jobs.close)

    def _load_text_and_gate(self) -> tuple[TextModel, SchemaGate]:
        """Load tokenizer and template, and start the checks of schemas.

        Raises:
            ModelError: the tokenizer or the template is unusable.
        """
        text = self._load_text()
        self._door = SchemaGate.open(
            self._grammar, text.vocabulary, text.tokenizer.canonical, server=True
        )
        self._door.start()
        return text, self._door


def _load_validator() -> None:
    """Import the validator before the first request; the import takes most of a second."""
    import_module("intaglio.service.extraction.validate")


async def _not_found(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise RouteNotFound("there is no such path", hint=f"there are {', '.join(ALL_ROUTES)}")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The base URL of a listening server."""

    url: str


class Server(uvicorn.Server):
    """A uvicorn server with graceful shutdown.

    After the first SIGTERM or SIGINT `/ready` answers 503 and new requests are refused. Requests in flight may finish,
    for at most `grace_s` seconds or until a second signal; the remaining ones end with an error document.
    """

    def __init__(self, app: Application, announce: Callable[[ServerAddress], None]) -> None:
        config = app.service.config
        http = type("Http", (BoundedHeaderProtocol,), {"header_timeout_s": config.header_timeout_s})
        super().__init__(
            uvicorn.Config(
                app,
                host=config.host,
                port=config.port,
                http=http,
                lifespan="on",
                ws="none",
                h11_max_incomplete_event_size=MAX_HEADER_BYTES,
                proxy_headers=False,
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=2,
            )
        )
        self._app = app
        self._announce = announce
        self._loop: asyncio.AbstractEventLoop | None = None
        self._draining: asyncio.Task[None] | None = None
        self._stop_now = asyncio.Event()
        self.signal: int | None = None

    async def startup(self, sockets: Any = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._announce(ServerAddress(url(self.servers[0].sockets[0])))

    def handle_exit(self, sig: int, _frame: FrameType | None) -> None:
        if self._loop is None:
            self.should_exit = True
        elif self.signal is None:
            self.signal = sig
            self._loop.call_soon_threadsafe(self._start_drain)
        else:
            self._loop.call_soon_threadsafe(self._stop_now.set)

    def _start_drain(self) -> None:
        self._app.service.gate.close()
        self._draining = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        service = self._app.service
        waits = {
            asyncio.create_task(self._idle()),
            asyncio.create_task(self._stop_now.wait()),
        }
        _, pending = await asyncio.wait(
            waits, timeout=service.config.grace_s, return_when=asyncio.FIRST_COMPLETED
        )
        for wait in pending:
            wait.cancel()
        await service.backend.close()
        self.should_exit = True

    async def _idle(self) -> Literal[True]:
        """Wait until no request and no row of a job is in flight."""
        await asyncio.gather(self._app.service.gate.idle(), self._app.stop_jobs())
        return True


def serve(
    engine: EngineConfig,
    config: ServiceConfig,
    announce: Callable[[ServerAddress], None] = lambda _: None,
) -> int:
    """Serve a model until SIGTERM or SIGINT.

    Returns the exit status: 0 after SIGTERM, 130 after Ctrl-C, 4 if the model is unusable. `announce` is called once
    the socket listens; the model may still be loading.

    Raises:
        CannotListen: the address is in use or does not belong to this machine.
        JobError: the data folder is unusable.
    """
    return serve_application(partial(application, engine, config), announce)


def application(engine: EngineConfig, config: ServiceConfig) -> Application:
    """The service as an ASGI application for another server. Its lifespan starts and stops the engine process.

    The server must bound headers and request lines, and wait for requests in flight when it stops.
    """
    folder = Path(engine.model.model)
    load_text = partial(TextModel.load, folder)
    backend, name = EngineClient(Launch.of(engine)), folder.resolve().name
    return Application(backend, load_text, name, config, grammar=engine.grammar)


def serve_application(
    make: Callable[[], Application], announce: Callable[[ServerAddress], None]
) -> int:
    """Like `serve`, for the application that `make` returns."""
    return asyncio.run(_serve(make, announce))


async def _serve(make: Callable[[], Application], announce: Callable[[ServerAddress], None]) -> int:
    app = make()
    config = app.service.config
    sockets = listen(config.host, config.port)
    app.open_data_folder()
    server = Server(app, announce)

    def stop_serving() -> None:
        server.should_exit = True

    app.on_unusable(stop_serving)
    try:
        await server.serve(sockets)
    except SystemExit:  # uvicorn could not start and has logged the reason
        return EXIT_CANNOT_SERVE
    if app.fault is not None:
        return EXIT_CANNOT_SERVE
    return 130 if server.signal == signal.SIGINT else 0
