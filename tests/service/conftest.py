"""One service for all tests that send requests and leave it as it was."""

from collections.abc import Iterator

import pytest
from intaglio.engine.api import Watch

from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


@pytest.fixture(scope="session")
def plain_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The service with its default settings, over the scripted engine."""
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    with live(launch(), folder, watch=Watch(backoff_s=0.05, silence_s=600.0)) as running:
        until(lambda: running.http.get("/ready").status_code == 200)
        yield running
