"""Intaglio: POST a schema and a document, get validated JSON.

A face of a few names, each loaded when it is first used, so that `import intaglio` is instant and the SDK needs neither
torch nor a model.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from intaglio.service.client import AsyncClient as AsyncClient
    from intaglio.service.client import Client as Client
    from intaglio.service.llm import LLM as LLM
    from intaglio.service.llm import extract as extract

_HOMES = {
    "AsyncClient": "intaglio.service.client",
    "Client": "intaglio.service.client",
    "LLM": "intaglio.service.llm",
    "extract": "intaglio.service.llm",
}

__all__ = ["LLM", "AsyncClient", "Client", "extract"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("intaglio")
    if name not in _HOMES:
        raise AttributeError(f"module 'intaglio' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
