"""Errors of this process as the SDK's, so that one program can use an engine here or a service elsewhere.

Does: one translation, through the very document that a service would send. Does not: know which error means what
(`errors`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from ..engine.api import EngineError
from ..grammar.api import GrammarError
from .client.errors import status_error
from .errors import ServiceError, answer


@contextmanager
def as_the_client_would() -> Iterator[None]:
    """Raise what `Client` would for an error on its way out."""
    try:
        yield
    except (ServiceError, EngineError, GrammarError) as error:
        reply = answer(error)
        response = httpx2.Response(reply.status, headers=reply.headers, content=reply.body())
        raise status_error(response) from error
