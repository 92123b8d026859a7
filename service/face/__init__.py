"""Intaglio: POST a schema and a document, get validated JSON.

The public names of the package. Each is imported on first use, so that `import intaglio` is fast and the SDK needs
neither torch nor a model.
"""

from importlib import import_module

TYPE_CHECKING = False  # that of `typing`, which the command would load before it can handle Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from intaglio.service.client import APIStatusError as APIStatusError
    from intaglio.service.client import AsyncClient as AsyncClient
    from intaglio.service.client import Client as Client
    from intaglio.service.client import ConfigError as ConfigError
    from intaglio.service.client import ConnectionFailed as ConnectionFailed
    from intaglio.service.client import Extraction as Extraction
    from intaglio.service.client import IntaglioError as IntaglioError
    from intaglio.service.client import ModelError as ModelError
    from intaglio.service.client import NotReady as NotReady
    from intaglio.service.client import Overloaded as Overloaded
    from intaglio.service.client import SchemaRefused as SchemaRefused
    from intaglio.service.client import TimedOut as TimedOut
    from intaglio.service.client import TooLong as TooLong
    from intaglio.service.client import Verbatim as Verbatim
    from intaglio.service.client import extract_frame as extract_frame
    from intaglio.service.client import register_pandas as register_pandas
    from intaglio.service.offline.llm import LLM as LLM
    from intaglio.service.offline.llm import extract as extract

_SDK = "intaglio.service.client"
_ENGINE = "intaglio.service.offline.llm"
_HOMES = {
    "LLM": _ENGINE,
    "extract": _ENGINE,
    "APIStatusError": _SDK,
    "AsyncClient": _SDK,
    "Client": _SDK,
    "ConfigError": _SDK,
    "ConnectionFailed": _SDK,
    "Extraction": _SDK,
    "IntaglioError": _SDK,
    "ModelError": _SDK,
    "NotReady": _SDK,
    "Overloaded": _SDK,
    "SchemaRefused": _SDK,
    "TimedOut": _SDK,
    "TooLong": _SDK,
    "Verbatim": _SDK,
    "extract_frame": _SDK,
    "register_pandas": _SDK,
}


def _names() -> list[str]:
    """The public names available in this install: without the extra `server`, no engine."""
    from importlib.util import find_spec

    try:
        has_engine = all(map(find_spec, ("numba", "torch")))
    except ImportError:  # an import hook blocks them
        has_engine = False
    return [name for name, home in _HOMES.items() if has_engine or home != _ENGINE]


def __getattr__(name: str) -> "Any":
    """Import a public name on first use."""
    if name == "__version__":
        return import_module("importlib.metadata").version("intaglio")
    if name == "__all__":  # read by `from intaglio import *`
        return _names()
    if name not in _HOMES:
        raise AttributeError(f"module 'intaglio' has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("intaglio"):
            raise
        raise ImportError(
            f"{name} needs {error.name!r}, which is not installed: pip install 'intaglio[server]'",
            name=error.name,
        ) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_names(), "__version__"])
