"""One of several API processes of a server.

Does: serve the application on the shared port over engines that the parent owns; tell the parent whether it is ready,
and take from it whether all are; stop when the parent has ended. Does not: own engines, the port or other processes
(`worker_fleet`).
"""

import asyncio
import signal
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Final

from intaglio.engine.api import Engines

from ..extraction.text_model import TextModel
from ..routing.router import EngineRouter, RoutingPolicy
from .app import Application
from .listen import listen
from .server import Server, run_server
from .worker_messages import Channel, FleetState, WorkerStart, WorkerState

_LOOK_S: Final = 0.05


def main() -> int:
    """The entry point of the process; its exit status. The only argument is the descriptor of its socket."""
    return asyncio.run(_main(socket.socket(fileno=int(sys.argv[1]))))


async def _main(sock: socket.socket) -> int:
    parent = await Channel.over(sock, WorkerStart)
    start = await parent.receive()
    if start is None:
        return 0
    app = _application(start)
    app.loads_first = start.replaces
    app.service.fleet_is_ready = False
    # A process that replaces another one is ready before it listens: the parent must not take that back.
    server = Server(app, lambda _: parent.send(WorkerState(_is_ready(app))))
    told = Channel(FleetState, parent.reader, parent.writer)
    tasks = [asyncio.create_task(_follow(told, app, server)), asyncio.create_task(_tell(told, app))]
    try:
        return await run_server(
            app, server, listen(start.config.host, start.config.port, shared=True)
        )
    finally:
        for task in tasks:
            task.cancel()
        parent.close()


def _application(start: WorkerStart) -> Application:
    config = start.config
    backend = EngineRouter(
        Engines.shared(start.engines), RoutingPolicy(wait_s=config.engine_wait_s)
    )
    load_text = partial(TextModel.load, Path(start.folder), config.calibration_file)
    return Application(backend, load_text, start.model, config, grammar=start.grammar)


async def _follow(parent: Channel[FleetState], app: Application, server: Server) -> None:
    """Take the state of all processes from the parent; stop in order when the parent has ended."""
    while (state := await parent.receive()) is not None:
        app.service.fleet_is_ready = state.is_ready
    server.handle_exit(signal.SIGTERM, None)


async def _tell(parent: Channel[FleetState], app: Application) -> None:
    """Tell the parent about every change of readiness."""
    before = False
    while True:
        now = _is_ready(app)
        if now != before:
            parent.send(WorkerState(now))
            before = now
        await asyncio.sleep(_LOOK_S)


def _is_ready(app: Application) -> bool:
    return app.service.own_health().status == "ok"
