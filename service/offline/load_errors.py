"""Errors of loading a model, as `LLM` raises them: caught by their names in the SDK and in the engine.

Does: the two classes and their conversion. Does not: convert errors of requests (`sdk_errors`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from intaglio.engine import api as engine

from ..client import errors as sdk


class LocalModelError(sdk.ModelError, engine.ModelError):
    """A checkpoint cannot be used; both the SDK's and the engine's `ModelError`."""


class LocalConfigError(sdk.ConfigError, engine.ConfigError):
    """A setting cannot be used; both the SDK's and the engine's `ConfigError`."""


@contextmanager
def sdk_load_errors() -> Iterator[None]:
    """Convert the engine's `ModelError` and `ConfigError` to those of the SDK, hints included."""
    try:
        yield
    except engine.ModelError as error:
        raise LocalModelError(error.message, where=error.where, hint=error.hint) from error
    except engine.ConfigError as error:
        raise LocalConfigError(error.message, where=error.where, hint=error.hint) from error
