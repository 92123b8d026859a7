"""JSON Schemas from Python types: pydantic models, dataclasses, TypedDicts.

Does: import a module of the user and make the schema that the SDK sends for the type. Does not: run in a service: the
module's code is executed.
"""

import contextlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from typing import Any

import pydantic

from ..client.closed_schema import ClosedSchema
from .source_text import SourceError


def from_python(place: str) -> dict[str, Any]:
    """The schema of `MODULE:TYPE`, where the module is importable or a file `PATH.py`.

    Raises:
        SourceError: there is no such module or type, or the type has no schema.
    """
    module_name, found, name = place.rpartition(":")
    if not found or not all(part.isidentifier() for part in name.split(".")):
        raise SourceError(1, f"{place!r} is not MODULE:TYPE", "for example models.py:Invoice")
    # What the module prints is no part of the schema, which is often redirected into a file.
    with contextlib.redirect_stdout(sys.stderr):
        kind = _module(module_name)
        for part in name.split("."):
            kind = getattr(kind, part, None)
    if kind is None:
        raise SourceError(1, f"{module_name!r} has no {name!r}")
    if inspect.isroutine(kind):
        raise SourceError(1, f"{name!r} is a function, not a type")
    try:
        return pydantic.TypeAdapter(kind).json_schema(schema_generator=ClosedSchema)
    except pydantic.errors.PydanticUserError as error:
        raise SourceError(1, f"{name!r} has no schema: {str(error).splitlines()[0]}") from None


def _module(name: str) -> Any:
    path = Path(name)
    is_file = path.suffix == ".py"
    if is_file and not path.is_file():
        raise SourceError(1, f"there is no file {name!r}")
    folder = str((path.parent if is_file else Path()).resolve())
    sys.path.insert(0, folder)
    try:
        return _of_file(path) if is_file else importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise SourceError(1, f"the module {error.name!r} cannot be imported") from None
    except SyntaxError as error:
        raise SourceError(error.lineno or 1, f"{name!r} is not Python: {error.msg}") from None
    except SystemExit:
        raise SourceError(
            1,
            f"{name!r} ends the program when it is imported",
            "call its main function under `if __name__ == '__main__':` only",
        ) from None
    except Exception as error:  # noqa: BLE001  the user's code may raise anything
        told = f"{type(error).__name__}: {error}"
        raise SourceError(
            _failed_line(error, path), f"{name!r} fails when it is imported: {told}"
        ) from None
    finally:
        sys.path.remove(folder)


def _of_file(path: Path) -> Any:
    """Run a file as a module of a name of its own, so that `types.py` is not the `types` of Python."""
    name = f"_types_of_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SourceError(1, f"{str(path)!r} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _failed_line(error: BaseException, path: Path) -> int:
    """The last line of the file in the traceback of an error; 1 if the file is not in it."""
    lines = [
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if Path(frame.f_code.co_filename).name == path.name
    ]
    return lines[-1] if lines else 1
