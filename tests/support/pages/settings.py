"""The page of all settings: names, types and defaults from the code, units and meanings from `settings.toml`."""

import tomllib
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from intaglio.engine.adapter_settings import AdapterSettings
from intaglio.engine.config import PREFIX as ENGINE
from intaglio.engine.config import (
    CacheConfig,
    GrammarConfig,
    ModelConfig,
    SchedulerConfig,
)
from intaglio.engine.draft_config import DraftConfig
from intaglio.engine.parallel.parallel_config import ParallelConfig
from intaglio.engine.peer_settings import PeerSettings
from intaglio.service.config import PREFIX as SERVICE
from intaglio.service.config import ServiceConfig

from .markdown import HEADER, table

MEANINGS = Path(__file__).with_name("settings.toml")
SECTIONS = (
    ("Server", SERVICE, ServiceConfig),
    ("Model", ENGINE, ModelConfig),
    ("Memory for keys and values", ENGINE, CacheConfig),
    ("Scheduling", ENGINE, SchedulerConfig),
    ("Drafts", ENGINE, DraftConfig),
    ("Several processes for one model", ENGINE, ParallelConfig),
    ("Adapters", ENGINE, AdapterSettings),
    ("Prompts of other servers", ENGINE, PeerSettings),
    ("Schemas and grammars", ENGINE, GrammarConfig),
)
INTRO = """# Settings

Set the address and limits of a server, and how its engine uses the machine: every setting with its environment
variable, default and unit.

A server reads `INTAGLIO_SERVICE_…` and `INTAGLIO_ENGINE_…` from its environment; options of `intaglio serve` come
before them. `LLM(…)` takes the settings of the engine as keywords (`LLM(model, max_context=4096)`), which come before
the environment as well. A variable of either prefix that names no setting ends the program at its start, and so does a
value out of bounds. Sizes in bytes are written as digits: `536870912`, not `512M`.
"""
CLIENT = """## Client

Read by `Client` and `AsyncClient`.

| variable | default | meaning |
| --- | --- | --- |
| `INTAGLIO_BASE_URL` | `http://localhost:8000` | Address of the service, without `/v1`. |
| `INTAGLIO_API_KEY` | none | Sent as `Authorization: Bearer …`. |

## Other variables

| variable | read by | meaning |
| --- | --- | --- |
| `XDG_CACHE_HOME` | server | Folder for what can be computed again; `~/.cache` by default. |
| `OMP_NUM_THREADS` | server, `LLM` | Threads of torch where `threads` is not set. |
| `NO_COLOR` | command line | Any value turns colours off. |
"""


def meanings() -> dict[str, dict[str, str]]:
    """Unit and meaning of each setting, by name."""
    return tomllib.loads(MEANINGS.read_text(encoding="utf-8"))


def settings() -> dict[str, Field[Any]]:
    """Every setting, by name; names are unique over all sections."""
    return {field.name: field for _, _, section in SECTIONS for field in fields(section)}


def page() -> str:
    told = meanings()
    parts = [HEADER + INTRO]
    for title, prefix, section in SECTIONS:
        hints = get_type_hints(section)
        rows = [
            (
                f"`{prefix}{field.name.upper()}`",
                _default(field, told[field.name].get("unit", "")),
                told[field.name].get("unit", "") or _values(hints[field.name]),
                told[field.name]["meaning"],
            )
            for field in fields(section)
        ]
        parts.append(f"## {title}\n")
        parts.append(table(("variable", "default", "unit or values", "meaning"), rows))
    return "\n".join([*parts, CLIENT])


def _values(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(hint))
    return {bool: "`true`, `false`", str: "text"}.get(hint, "")


def _default(field: Field[Any], unit: str) -> str:
    value = field.default
    if value is MISSING:
        return "required"
    if value is None or value in ("", ()):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if unit == "bytes":
        return f"`{value}` ({_binary(value)})"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _binary(count: int) -> str:
    for unit in ("GiB", "MiB", "KiB"):
        size = 1 << {"GiB": 30, "MiB": 20, "KiB": 10}[unit]
        if count >= size and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} B"
