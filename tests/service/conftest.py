"""Services for all tests: one that requests leave as it was, and a stub that answers without an engine."""

from collections.abc import Iterator

import pytest
from intaglio.engine.api import Watch

from tests.support.live_service import EXAMINING, Live, live, until
from tests.support.scripted_engine import launch
from tests.support.stub_service import StubService, stub_service
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


@pytest.fixture(scope="session")
def plain_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The service with its default settings, over the scripted engine."""
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    watch = Watch(backoff_s=0.05, silence_s=600.0)
    with live(launch(), folder, watch=watch, grammar=EXAMINING) as running:
        until(lambda: running.http.get("/ready").status_code == 200)
        yield running


@pytest.fixture(scope="session")
def stub_server() -> Iterator[StubService]:
    with stub_service() as running:
        yield running


@pytest.fixture
def stub(stub_server: StubService) -> StubService:
    """A service without an engine, which no test has asked for anything yet."""
    stub_server.asked.clear()
    stub_server.busy.clear()
    stub_server.caller_left.clear()
    return stub_server
