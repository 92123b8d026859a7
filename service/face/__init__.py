"""Intaglio: POST a schema and a document, get validated JSON.

A face of a few names, each loaded when it is first used, so that `import intaglio` is instant and the SDK needs neither
torch nor a model.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from intaglio.service.client import APIStatusError as APIStatusError
    from intaglio.service.client import AsyncClient as AsyncClient
    from intaglio.service.client import Client as Client
    from intaglio.service.client import ConnectionFailed as ConnectionFailed
    from intaglio.service.client import Extraction as Extraction
    from intaglio.service.client import IntaglioError as IntaglioError
    from intaglio.service.client import NotReady as NotReady
    from intaglio.service.client import Overloaded as Overloaded
    from intaglio.service.client import SchemaRefused as SchemaRefused
    from intaglio.service.client import TimedOut as TimedOut
    from intaglio.service.client import TooLong as TooLong
    from intaglio.service.llm import LLM as LLM
    from intaglio.service.llm import extract as extract

_HOMES = {
    "intaglio.service.llm": ("LLM", "extract"),
    "intaglio.service.client": (
        "Client",
        "AsyncClient",
        "Extraction",
        "IntaglioError",
        "APIStatusError",
        "ConnectionFailed",
        "NotReady",
        "Overloaded",
        "SchemaRefused",
        "TimedOut",
        "TooLong",
    ),
}

__all__ = [
    "LLM",
    "APIStatusError",
    "AsyncClient",
    "Client",
    "ConnectionFailed",
    "Extraction",
    "IntaglioError",
    "NotReady",
    "Overloaded",
    "SchemaRefused",
    "TimedOut",
    "TooLong",
    "extract",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("intaglio")
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'intaglio' has no attribute {name!r}")
    try:
        value = getattr(import_module(home), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("intaglio"):
            raise
        raise ImportError(
            f"{name} needs {error.name!r}, which is not installed: pip install 'intaglio[server]'",
            name=error.name,
        ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
