"""Strict reading of the JSON files of a checkpoint.

Does: refuse files that are too large, are not JSON objects, or hold repeated keys or numbers that JSON does not have.
Does not: check what the keys mean.
"""

from pathlib import Path
from typing import Any

from intaglio.grammar.api import parse_json

from ..errors import ModelError

LARGEST = 64 * 2**20
"""The largest file that is read, in bytes; the index of a very large checkpoint has some megabytes."""


def read_object(path: Path) -> dict[str, Any]:
    """The object in the file.

    Raises:
        ModelError: there is no such file, or it is none that can be used; `where` is the path.
    """
    try:
        if not path.is_file():
            raise ModelError(f"there is no {path}", where=str(path))
        if path.stat().st_size > LARGEST:
            raise ModelError(f"{path} is larger than {LARGEST} bytes", where=str(path))
        found = parse_json(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ModelError(f"cannot read {path}: {error}", where=str(path)) from error
    if not isinstance(found, dict):
        raise ModelError(f"{path} is not a JSON object", where=str(path))
    return found
