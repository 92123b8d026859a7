"""Both clients behind one face, so that every test judges both."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from intaglio.service.client import AsyncClient, Client
from intaglio.service.client.retry import Retries

from tests.support.stub_service import StubService

Connect = Callable[..., Any]


class Blocking:
    """An `AsyncClient` whose methods are run to their end, one event loop for all of them."""

    def __init__(self, client: AsyncClient, runner: asyncio.Runner) -> None:
        self._client = client
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._client, name)
        if not asyncio.iscoroutinefunction(value):
            return value
        return lambda *args, **kwargs: self._runner.run(value(*args, **kwargs))


@pytest.fixture(params=["sync", "async"])
def connect(request: pytest.FixtureRequest, stub: StubService) -> Iterator[Connect]:
    """Makes a client of the stub, with pauses between tries too short to notice."""
    with ExitStack() as cleanup:
        runner = cleanup.enter_context(asyncio.Runner())

        def make(base_url: str | None = None, **kwargs: Any) -> Any:
            kind = Client if request.param == "sync" else AsyncClient
            client = kind(base_url or stub.base_url, **kwargs)
            limit = client._wire.retries.limit
            client._wire.retries = Retries(limit, first_s=0.001, longest_s=0.002)
            face = client if isinstance(client, Client) else Blocking(client, runner)
            cleanup.callback(face.close)
            return face

        yield make
