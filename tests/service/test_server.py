"""The server of one process takes every signal from its start on."""

import asyncio
import logging
import os
import signal
from collections.abc import Iterator, Sequence
from logging.handlers import BufferingHandler
from pathlib import Path

import pytest
from intaglio.engine.api import EngineStopped, GrammarConfig
from intaglio.service.config import ServiceConfig
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.http.app import Application
from intaglio.service.http.listen import listen
from intaglio.service.http.server import Server, run_server

from tests.support.backend_double import BackendDouble
from tests.support.live_service import PATIENCE_S
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "model", LLAMA)


def served(folder: Path, backend: BackendDouble, before: Sequence[signal.Signals] = ()) -> int:
    """The exit status of a server that gets these signals before it begins, and SIGTERM once it listens."""

    async def story() -> int:
        grammar = GrammarConfig(grammar_isolation="never")
        app = Application(
            backend, lambda: TextModel.load(folder), "x", ServiceConfig(port=0), grammar=grammar
        )
        server = Server(app, lambda _: os.kill(os.getpid(), signal.SIGTERM))
        for number in before:
            server.handle_exit(number, None)
        return await asyncio.wait_for(run_server(app, server, listen("127.0.0.1", 0)), PATIENCE_S)

    return asyncio.run(story())


@pytest.mark.parametrize(
    ("before", "status"),
    [
        ([signal.SIGINT], 130),
        ([signal.SIGINT, signal.SIGTERM], 130),
        ([signal.SIGTERM, signal.SIGINT], 0),
        ([], 0),
    ],
)
def test_the_first_signal_determines_the_status_however_early_it_comes(
    folder: Path, before: list[signal.Signals], status: int
) -> None:
    assert served(folder, BackendDouble(), before) == status


class Reloaded(BackendDouble):
    """Gets SIGHUP while the server starts, before it has engines."""

    restarts = 0

    async def start(self) -> None:
        os.kill(os.getpid(), signal.SIGHUP)
        await asyncio.sleep(0)

    async def restart(self) -> None:
        self.restarts += 1
        raise EngineStopped("the engines were not started")


@pytest.fixture
def logged() -> Iterator[list[logging.LogRecord]]:
    """What any logger says while the test runs."""
    handler = BufferingHandler(capacity=1000)
    logging.getLogger().addHandler(handler)
    yield handler.buffer
    logging.getLogger().removeHandler(handler)


def test_a_reload_while_the_server_starts_does_not_end_it(
    folder: Path, logged: list[logging.LogRecord]
) -> None:
    """Its default action would; and an engine that was not started needs no restart."""
    backend = Reloaded()
    hangups: list[int] = []
    before = signal.signal(signal.SIGHUP, lambda number, _: hangups.append(number))
    try:
        assert served(folder, backend) == 0
    finally:
        signal.signal(signal.SIGHUP, before)
    assert hangups == [], "nobody else heard of it"
    assert backend.restarts == 1
    assert not logged
