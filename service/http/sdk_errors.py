"""Errors of this process as errors of the SDK, so that a program can use either `LLM` or a service.

Does: build the response that a service would send, and read it as the client does. Does not: map errors to codes
(`problems`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
from intaglio.engine.api import EngineError
from intaglio.grammar.api import GrammarError

from ..client.errors import status_error
from ..errors import ServiceError
from .problems import problem_response


@contextmanager
def sdk_errors() -> Iterator[None]:
    """Convert errors of the service, the engine and the grammar to the `IntaglioError` that `Client` would raise."""
    try:
        yield
    except (ServiceError, EngineError, GrammarError) as error:
        problem = problem_response(error)
        response = httpx2.Response(problem.status, headers=problem.headers, content=problem.body())
        raise status_error(response) from error
