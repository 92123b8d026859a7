"""The server: an application on listening sockets, from the first connection to the last answer.

Does: listen, run uvicorn, drain after a signal, map the end to an exit status. Does not: answer requests (`app`).
"""

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Literal

import uvicorn
from intaglio.engine.api import EngineConfig, launches

from ..config import ServiceConfig
from ..keys.key_store import KeyStore
from .app import Application, application
from .data_folder import stop_work
from .exposure import require_protection
from .limits import BoundedHeaderProtocol
from .listen import listen, url
from .reload import listen_for_reload
from .worker_fleet import EXIT_CANNOT_SERVE, FleetPlan, WorkerFleet

_SWITCH_INTERVAL_S = 1e-4
"""The interpreter's switch interval, 5 ms by default: a thread that checks a schema or finishes an answer would keep
the event loop waiting for that long, after each of its system calls."""
_CORES_A_WORKER = 4
_MOST_WORKERS = 8
MAX_HEADER_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The base URL of a listening server."""

    url: str


class Server(uvicorn.Server):
    """A uvicorn server with graceful shutdown.

    After the first SIGTERM or SIGINT `/ready` answers 503 and new requests are refused. Requests in flight may finish,
    for at most `grace_s` seconds or until a second signal; the remaining ones end with an error document. SIGHUP
    restarts the engines, one after the other.
    """

    def __init__(self, app: Application, announce: Callable[[ServerAddress], None]) -> None:
        config = app.service.config
        limits = {
            "header_timeout_s": config.header_timeout_s,
            "write_timeout_s": config.write_timeout_s,
            "max_header_bytes": MAX_HEADER_BYTES,
        }
        http = type("Http", (BoundedHeaderProtocol,), limits)
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
                ssl_certfile=config.tls_cert or None,
                ssl_keyfile=config.tls_key or None,
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
        listen_for_reload(self._app.service.restart_engines)  # SIGHUP would end the process
        await super().startup(sockets)
        self._announce(ServerAddress(url(self.servers[0].sockets[0], tls=self.config.is_ssl)))

    def handle_exit(self, sig: int, _frame: FrameType | None) -> None:
        first, self.signal = self.signal is None, self.signal or sig
        if self._loop is None:
            self.should_exit = True
        elif first:
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
        service = self._app.service
        await asyncio.gather(service.gate.idle(), stop_work(service))
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
        CannotListen: the address is in use or does not belong to this machine, or other machines could use the server
            without a key.
        JobError: the data folder is unusable.
    """
    count = config.api_workers or default_workers()
    if count == 1:
        return serve_application(partial(application, engine, config), announce)
    folder = Path(engine.model.model)
    plan = FleetPlan(
        config=config,
        grammar=engine.grammar,
        launches=launches(engine, config.engines, config.prefill_engines),
        folder=str(folder),
        model=folder.resolve().name,
        count=count,
    )
    return serve_fleet(plan, announce)


def default_workers() -> int:
    """The number of API processes of a server on this machine: one for every four cores, at most eight."""
    return max(1, min(_MOST_WORKERS, (os.cpu_count() or 1) // _CORES_A_WORKER))


def serve_fleet(plan: FleetPlan, announce: Callable[[ServerAddress], None]) -> int:
    """Like `serve`, with several API processes."""
    require_protection(plan.config)
    _check_folders(plan.config)
    return asyncio.run(WorkerFleet(plan).run(lambda base: announce(ServerAddress(base))))


def _check_folders(config: ServiceConfig) -> None:
    """Refuse unusable folders before any process starts. Raises `JobError` or `KeyStoreError`."""
    if config.key_store:
        KeyStore(Path(config.key_store))
    if config.data:
        from ..jobs.host import JobHost

        JobHost(Path(config.data), config.max_data_bytes, 1, _ignore, _ignore).close()


def _ignore(_job: str, _error: Exception) -> None:
    """For a host that runs no job."""


def serve_application(
    make: Callable[[], Application], announce: Callable[[ServerAddress], None]
) -> int:
    """Like `serve`, for the application that `make` returns."""
    return asyncio.run(_serve(make, announce))


async def _serve(make: Callable[[], Application], announce: Callable[[ServerAddress], None]) -> int:
    app = make()
    config = app.service.config
    require_protection(config)
    sockets = listen(config.host, config.port)
    app.open_data_folder()
    return await run_server(app, Server(app, announce), sockets)


async def run_server(app: Application, server: Server, sockets: list[socket.socket]) -> int:
    """Serve `app` on `sockets` until the end; the exit status."""

    def loaded() -> None:
        if app.fault is None:
            _freeze_loaded()
        else:
            server.should_exit = True

    app.on_load(loaded)
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    try:
        await server.serve(sockets)
    except SystemExit:  # uvicorn could not start and has logged the reason
        return EXIT_CANNOT_SERVE
    if app.fault is not None:
        return EXIT_CANNOT_SERVE
    return 130 if server.signal == signal.SIGINT else 0


def _freeze_loaded() -> None:
    """Leave all present objects out of later garbage collections.

    Python collects all objects whenever their number has grown by a quarter, as it does several times while a thousand
    streams begin: a tenth of a second each time for those that were loaded, which live until the end.
    """
    gc.collect()
    gc.freeze()
