"""Adapters as texts: names, and folders by name, of settings and options.

Does: read and write the texts. Does not: open a folder.
"""

import re
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_DIGITS: Final = 12  # of a digest, for people


def is_adapter_name(text: str) -> bool:
    """Whether an adapter can have this name."""
    return _NAME.fullmatch(text) is not None


def named_adapters(given: tuple[str, ...]) -> dict[str, str]:
    """Paths by name from texts `NAME=PATH`. Raises `ValueError` for another text, or a name given twice."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not sign or not name or not path or name in found:
            raise ValueError(f"adapters must be NAME=PATH, each name once, not {text!r}")
        found[name] = path
    return found


def local_adapter(text: str) -> tuple[str, str]:
    """Name and absolute path from `NAME=PATH`, or from a path: its last folder is the name."""
    name, sign, path = text.partition("=")
    if not sign or not path or not is_adapter_name(name):
        name, path = "", text
    folder = Path(path).expanduser().absolute()
    return name or folder.name, str(folder)


def adapted_model(model: str, adapter: str, digest: str) -> str:
    """What computes with an adapter, for people and for comparisons: model, adapter and its content."""
    return f"{model}+{adapter}@{digest[:_DIGITS]}"
