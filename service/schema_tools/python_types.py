"""JSON Schemas from Python types: pydantic models, dataclasses, TypedDicts.

Does: import a module of the user and ask pydantic for the schema. Does not: run in a service: the module's code is
executed.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

import pydantic

from .source_text import SourceError


def from_python(place: str) -> dict[str, Any]:
    """The schema of `MODULE:TYPE`, where the module is importable or a file `PATH.py`.

    Raises:
        SourceError: there is no such module or type, or the type has no schema.
    """
    module_name, found, name = place.rpartition(":")
    if not found or not name.isidentifier():
        raise SourceError(1, f"{place!r} is not MODULE:TYPE", "for example models.py:Invoice")
    kind = getattr(_module(module_name), name, None)
    if kind is None:
        raise SourceError(1, f"{module_name!r} has no {name!r}")
    try:
        return pydantic.TypeAdapter(kind).json_schema()
    except pydantic.errors.PydanticUserError as error:
        raise SourceError(1, f"{name!r} has no schema: {str(error).splitlines()[0]}") from None


def _module(name: str) -> Any:
    path = Path(name)
    folder, module = (path.parent, path.stem) if path.suffix == ".py" else (Path(), name)
    if path.suffix == ".py" and not path.is_file():
        raise SourceError(1, f"there is no file {name!r}")
    sys.path.insert(0, str(folder.resolve()))
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise SourceError(1, f"the module {error.name!r} cannot be imported") from None
    finally:
        sys.path.remove(str(folder.resolve()))
