"""Errors of this process as the SDK's, so that one program can use an engine here or a service elsewhere.

Does: one translation, through the very document that a service would send. Does not: know which error means what
(`errors`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from ..engine import api as engine
from ..engine.api import EngineError
from ..grammar.api import GrammarError
from .client import errors as sdk
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


class ModelError(sdk.ModelError, engine.ModelError):
    """A checkpoint that cannot be used, caught by its name in the SDK and by that in the engine."""


class ConfigError(sdk.ConfigError, engine.ConfigError):
    """A setting that cannot be used, caught by its name in the SDK and by that in the engine."""


@contextmanager
def as_the_sdk_would() -> Iterator[None]:
    """Raise errors of loading a model as errors of the SDK, hints included."""
    try:
        yield
    except engine.ModelError as error:
        raise ModelError(error.message, where=error.where, hint=error.hint) from error
    except engine.ConfigError as error:
        raise ConfigError(error.message, where=error.where, hint=error.hint) from error
