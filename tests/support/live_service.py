"""The service on a real socket, in a thread of the test, over an engine in a process of its own."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx2
from intaglio.engine.api import BlockReport, Engines, GrammarConfig, Launch, Watch
from intaglio.service.config import ServiceConfig
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.http.app import Application
from intaglio.service.http.log import make_logger
from intaglio.service.http.server import Server, ServerAddress
from intaglio.service.routing.router import EngineRouter, RoutingPolicy

T = TypeVar("T")

PATIENCE_S: Final = 120.0
"""How long a test waits for what must come. It says nothing of how soon that comes: no test depends on this figure."""
TRUSTING: Final = GrammarConfig(grammar_isolation="never")
"""For tests that are not about schemas: the process that examines them takes two seconds of a core to start."""
EXAMINING: Final = GrammarConfig(grammar_deadline_s=PATIENCE_S)
"""As a server does: schemas are examined in a process of their own."""


@dataclass
class Live:
    """A running service."""

    url: str
    app: Application
    loop: asyncio.AbstractEventLoop
    log: StringIO
    http: httpx2.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = httpx2.Client(base_url=self.url, timeout=PATIENCE_S)

    def in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the service's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def blocks(self) -> BlockReport:
        """The blocks that the engine holds now."""
        return self.in_loop(self.app.service.backend.check())

    def settled(self) -> BlockReport:
        """The blocks that the engine holds once no request is open."""
        until(lambda: self.blocks().open_requests == 0)
        return self.blocks()

    def outcome(self, request_id: str) -> str | None:
        """How the log says that a request ended; None while it does not."""
        lines = (json.loads(line) for line in self.log.getvalue().splitlines())
        found = (x for x in lines if (x["event"], x.get("request_id")) == ("request", request_id))
        return next((str(line["outcome"]) for line in found), None)

    def extract(self, schema: Any, text: str, **more: Any) -> httpx2.Response:
        """`POST /v1/extract`."""
        return self.http.post("/v1/extract", json={"schema": schema, "text": text, **more})

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        return "127.0.0.1", int(self.url.rpartition(":")[2])


@contextmanager
def live(
    launch: Launch,
    folder: Path,
    *,
    watch: Watch | None = None,
    wait: bool = True,
    grammar: GrammarConfig = TRUSTING,
    **settings: Any,
) -> Iterator[Live]:
    """Serve until the block ends. `folder` has the tokenizer and template that the service uses."""
    config = ServiceConfig(port=0, log_format="json", **settings)
    log = StringIO()
    started: list[tuple[str, Application, asyncio.AbstractEventLoop]] = []
    servers: list[Server] = []
    listening = threading.Event()

    async def serve() -> None:
        policy = RoutingPolicy(wait_s=config.engine_wait_s)
        app = Application(
            EngineRouter(Engines.owned([launch] * config.engines, watch), policy),
            partial(TextModel.load, folder),
            folder.name,
            config,
            make_logger("json", "info", log),
            grammar,
        )

        def announce(where: ServerAddress) -> None:
            started.append((where.url, app, asyncio.get_running_loop()))
            listening.set()

        servers.append(Server(app, announce))
        await servers[0].serve()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert listening.wait(PATIENCE_S), "the service did not start"
    service = Live(*started[0], log)
    try:
        if wait:
            until(lambda: service.http.get("/ready").status_code == 200)
        yield service
    finally:
        service.http.close()
        servers[0].should_exit = True
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "the service did not stop"


def until(fact: Callable[[], bool]) -> None:
    """Wait for `fact`, also on a machine that is slow or stops for a while."""
    for _ in range(int(PATIENCE_S / 0.02)):
        if fact():
            return
        time.sleep(0.02)
    raise AssertionError(f"it did not come about within {PATIENCE_S:g} s")
