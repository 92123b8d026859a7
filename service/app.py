"""The server: routes, error documents, request ids and logs put together, and run until told to stop.

Does: make the ASGI application for a backend, and serve one with an order of stopping. Does not: handle requests
(service/routes.py) or read settings (service/config.py). Nothing happens when this module is imported.
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
from pathlib import Path as FilePath
from types import FrameType
from typing import Any, Literal

import anyio
import uvicorn
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from ..engine.api import (
    EngineClient,
    EngineConfig,
    EngineStopped,
    GrammarConfig,
    Launch,
    Lives,
    ModelError,
    SchemaGate,
)
from ..schemas.problem import Code
from .access import Access
from .backend import Backend
from .config import ServiceConfig
from .errors import NotFound, answer
from .exchange import Exchange, request_id
from .extract import TextModel, catalogue_constraints
from .job_routes import JOB_ROUTES
from .limits import Gate, PatientProtocol
from .listen import listen, url
from .log import make_logger, origin
from .meters import Meters
from .routes import PROBES, ROUTES, Path, Service, extract_for_job

EVERY = {**ROUTES, **JOB_ROUTES}

EXIT_CANNOT_SERVE = 4
MOST_HEADER_BYTES = 16 * 1024


class Application:
    """The ASGI application over one backend. `load_text` reads tokenizer and template, in a thread, while it starts."""

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
        gate = Gate(config.max_requests)
        self._access = Access(config)
        backend.when_lives_change(self._note_lives)
        self.service = Service(
            config=config,
            backend=backend,
            gate=gate,
            meters=Meters(backend, gate),
            version=installed_version("intaglio"),
            model=model,
            started=int(time.time()),
            threads=anyio.CapacityLimiter(config.cpu_threads),
        )
        self.fault: ModelError | None = None
        self._on_fault: Callable[[], None] = lambda: None
        self._routed: ASGIApp = Router(
            [Route(path, Path(self.service, path, handlers)) for path, handlers in EVERY.items()],
            redirect_slashes=False,
            default=_not_found,
            lifespan=self._lifespan,
        )

    def when_unusable(self, call: Callable[[], None]) -> None:
        """Have `call` made, from the event loop, should it turn out that the model cannot be used."""
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
            reply = answer(error, exchange.request_id, self.service.gate.pause_s)
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
        """One line in the log and one count in the meters for each request."""
        route = scope["state"].get("route", "other")
        seconds = time.perf_counter() - exchange.began
        self.service.meters.answered(route, exchange.outcome, seconds)
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
        self.open_data()
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
            self.service.gate.shut()
            loading.cancel()
            await self.stop_jobs()
            if self._door is not None:  # first: loading may be waiting for it
                await asyncio.to_thread(self._door.close)
            with contextlib.suppress(asyncio.CancelledError, EngineStopped):
                await loading
            await backend.close()

    async def _load(self) -> None:
        began = time.perf_counter()
        try:
            (text, door), info, _ = await asyncio.gather(
                self.service.offload(self._open),
                self.service.backend.until_ready(),
                self.service.offload(_load_validator),
            )
        except ModelError as error:
            self.fault = error
            self._log.error("model unusable", reason=error.message, hint=error.hint)
            self._on_fault()
            return
        self.service.loaded(text, door)
        door.warm(catalogue_constraints())
        self._start_jobs()
        self._log.info(
            "ready",
            model=info.model,
            context_length=info.context_length,
            blocks=info.blocks,
            seconds=round(time.perf_counter() - began, 2),
        )

    def open_data(self) -> None:
        """Open the data folder, if there is one and it is not open. Raises `JobError` where it cannot be used."""
        config = self.service.config
        if config.data and self.service.jobs is None:
            from .jobs.host import JobHost

            self.service.jobs = JobHost(
                FilePath(config.data), config.max_data_bytes, config.max_open_jobs, self._job_failed
            )

    def _start_jobs(self) -> None:
        """Run the jobs of the data folder, if there is one."""
        if self.service.jobs is None:
            return
        from .jobs.hosted import Hosted

        loop, extract = asyncio.get_running_loop(), partial(extract_for_job, self.service)
        self.service.jobs.start(lambda spec: Hosted(extract, loop, spec, self.service.model))

    def _note_lives(self, lives: Lives) -> None:
        """One line in the log for each death of the engine, and one when another is ready."""
        counts = {"deaths": lives.deaths, "restarts": lives.restarts}
        if lives.pid:
            self._log.info("engine restarted", pid=lives.pid, **counts)
        else:
            self._log.error("engine died", reason=lives.reason, in_flight=lives.lost, **counts)

    def _job_failed(self, job: str, error: Exception) -> None:
        self._log.error("job failed", job=job, **origin(error))

    async def stop_jobs(self) -> None:
        """Have the job at work finish the rows in hand; it goes on when the server starts again."""
        jobs, self.service.jobs = self.service.jobs, None
        if jobs is not None:
            await asyncio.to_thread(jobs.close)

    def _open(self) -> tuple[TextModel, SchemaGate]:
        """The text half of the model, and the door for its constraints.

        Raises:
            ModelError: one of them cannot be used.
        """
        text = self._load_text()
        self._door = SchemaGate.open(
            self._grammar, text.vocabulary, text.tokenizer.canonical, server=True
        )
        self._door.start()
        return text, self._door


def _load_validator() -> None:
    """Import the validator ahead of the first request: it takes most of a second."""
    import_module("intaglio.service.validate")


async def _not_found(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise NotFound("there is no such path", hint=f"there are {', '.join(EVERY)}")


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server listens."""

    url: str


class Server(uvicorn.Server):
    """uvicorn with an order of stopping.

    At the first SIGTERM or SIGINT `/ready` says no and new requests are refused, while those in hand finish, for
    `grace_s` at most or until a second signal; then they are ended with an error document, and the server leaves.
    """

    def __init__(self, app: Application, announce: Callable[[Listening], None]) -> None:
        config = app.service.config
        http = type("Http", (PatientProtocol,), {"header_timeout_s": config.header_timeout_s})
        super().__init__(
            uvicorn.Config(
                app,
                host=config.host,
                port=config.port,
                http=http,
                lifespan="on",
                ws="none",
                h11_max_incomplete_event_size=MOST_HEADER_BYTES,
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
        self._hurry = asyncio.Event()
        self.signal: int | None = None

    async def startup(self, sockets: Any = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._announce(Listening(url(self.servers[0].sockets[0])))

    def handle_exit(self, sig: int, _frame: FrameType | None) -> None:
        if self._loop is None:
            self.should_exit = True
        elif self.signal is None:
            self.signal = sig
            self._loop.call_soon_threadsafe(self._begin_to_drain)
        else:
            self._loop.call_soon_threadsafe(self._hurry.set)

    def _begin_to_drain(self) -> None:
        self._app.service.gate.shut()
        self._draining = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        service = self._app.service
        waits = {
            asyncio.create_task(self._idle()),
            asyncio.create_task(self._hurry.wait()),
        }
        _, pending = await asyncio.wait(
            waits, timeout=service.config.grace_s, return_when=asyncio.FIRST_COMPLETED
        )
        for wait in pending:
            wait.cancel()
        await service.backend.close()
        self.should_exit = True

    async def _idle(self) -> Literal[True]:
        """Wait until no request and no row of a job is in hand."""
        await asyncio.gather(self._app.service.gate.idle(), self._app.stop_jobs())
        return True


def serve(
    engine: EngineConfig,
    config: ServiceConfig,
    announce: Callable[[Listening], None] = lambda _: None,
) -> int:
    """Serve a model until a signal comes.

    Returns the exit status: 0 after SIGTERM, 130 after Ctrl-C, 4 where the model is unusable. `announce` is called
    once, when the socket listens; the model may still be loading then.

    Raises:
        CannotListen: the address is taken, or is none of this machine.
        JobError: the data folder cannot be used.
    """
    return serve_application(partial(application, engine, config), announce)


def application(engine: EngineConfig, config: ServiceConfig) -> Application:
    """The service as an ASGI application, for a server of your own. Its lifespan starts and ends the engine process.

    That server has to bound headers and request lines, and to wait for requests in flight when it stops.
    """
    folder = FilePath(engine.model.model)
    load_text = partial(TextModel.load, folder)
    backend, name = EngineClient(Launch.of(engine)), folder.resolve().name
    return Application(backend, load_text, name, config, grammar=engine.grammar)


def serve_application(
    make: Callable[[], Application], announce: Callable[[Listening], None]
) -> int:
    """As `serve`, for the application that `make` makes."""
    return asyncio.run(_serve(make, announce))


async def _serve(make: Callable[[], Application], announce: Callable[[Listening], None]) -> int:
    app = make()
    config = app.service.config
    sockets = listen(config.host, config.port)
    app.open_data()
    server = Server(app, announce)

    def leave() -> None:
        server.should_exit = True

    app.when_unusable(leave)
    try:
        await server.serve(sockets)
    except SystemExit:  # how uvicorn says that it cannot start; it has logged why
        return EXIT_CANNOT_SERVE
    if app.fault is not None:
        return EXIT_CANNOT_SERVE
    return 130 if server.signal == signal.SIGINT else 0
