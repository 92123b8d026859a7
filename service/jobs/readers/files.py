"""Reader of text files: a folder, a glob pattern or one file, each file a record.

Does: read files in path order. Does not: follow links out of the folder, or read files of a folder except .txt, .md and
.text.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from intaglio.schemas.jobs import Source

from ..records.errors import InputRefused
from ..records.input_files import characters, require_regular_file
from ..records.record import MOST_CHARACTERS, Record, Rejected, document

_ENDINGS: Final = (".txt", ".text", ".md")


def read(source: Source, path: Path) -> Iterator[Record | Rejected]:
    """The files of a source; see `readers.records`. Their ids are their paths relative to the folder."""
    root, found = _files(path)
    if not found:
        raise InputRefused(
            f"{path} has no text files",
            param="source.path",
            hint=f"a folder is searched for names that end in {', '.join(_ENDINGS)}; or give a pattern",
        )
    for file in found:
        yield _record(source, file, file.relative_to(root).as_posix())


def members(path: Path) -> list[Path]:
    """The files of a folder or pattern, in order; none if nothing has that name."""
    try:
        return _files(path)[1]
    except InputRefused:
        return []


def _files(path: Path) -> tuple[Path, list[Path]]:
    """(the folder that names are relative to, the files in order)."""
    if path.is_file():
        return path.parent, [path]
    if path.exists() and not path.is_dir():
        require_regular_file(path)
    if path.is_dir():
        inside = path.resolve()
        every = (file for file in path.rglob("*") if file.suffix.lower() in _ENDINGS)
        return path, sorted(
            file for file in every if file.is_file() and file.resolve().is_relative_to(inside)
        )
    marked = next((i for i, part in enumerate(path.parts) if set(part) & set("*?[")), None)
    if marked is None:
        raise InputRefused(f"there is no file or folder {path}", param="source.path")
    root = Path(*path.parts[:marked])
    return root, sorted(f for f in root.glob(str(Path(*path.parts[marked:]))) if f.is_file())


def _record(source: Source, file: Path, name: str) -> Record | Rejected:
    try:
        with characters(file, source.encoding) as stream:
            text = stream.read(MOST_CHARACTERS + 1)
    except InputRefused as error:
        return Rejected(error.message, f"/file/{name}", error.hint, id=name)
    return document(text, f"/file/{name}", name, {})
