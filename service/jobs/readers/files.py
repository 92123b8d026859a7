"""Reader of texts and documents: a folder, a glob pattern or one file, each file a record.

Does: read files in path order; have PDFs and other documents read (`service/documents`). Does not: follow links out of
the folder, or read files of a folder except those with an ending of texts or documents.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from intaglio.schemas.jobs import Source

from ...documents.document_reader import DocumentReader
from ...errors import ServiceError
from ...file_kind import HEAD, is_document, kind_of
from ..records.errors import InputRefused
from ..records.input_files import characters, require_regular_file
from ..records.record import MOST_CHARACTERS, Record, Rejected, document

_TEXTS: Final = (".txt", ".text", ".md")
_DOCUMENTS: Final = (".pdf", ".docx", ".xlsx", ".xlsb", ".xls", ".ods", ".html", ".htm", ".eml")
REPORT_ENDING: Final = ".report.html"
_ENDINGS: Final = (*_TEXTS, *_DOCUMENTS)


def read(source: Source, path: Path) -> Iterator[Record | Rejected]:
    """The files of a source; see `readers.records`. Their ids are their paths relative to the folder."""
    root, found = _files(path)
    if not found:
        raise InputRefused(
            f"{path} has no texts or documents",
            param="source.path",
            hint=f"a folder is searched for names that end in {', '.join(_ENDINGS)}; or give a pattern",
        )
    with DocumentReader(children=1) as reader:
        for file in found:
            name = file.relative_to(root).as_posix()
            try:
                is_text = not _is_document(file)
                yield _record(source, file, name) if is_text else _read(reader, file, name)
            except OSError as error:
                yield Rejected(
                    f"the file cannot be read: {error.strerror}", f"/file/{name}", id=name
                )


def _is_document(file: Path) -> bool:
    """Whether a file is one for the reader of documents: by its content, or by the ending of a name that is no text."""
    if file.suffix.lower() in _DOCUMENTS:
        return True
    with file.open("rb") as opened:
        head = opened.read(HEAD)
    # Text in another encoding is not guessed here: the source names the encoding.
    return kind_of(head) is not None and is_document(head)


def _read(reader: DocumentReader, file: Path, name: str) -> Record | Rejected:
    """The text of a document. One with pages that cannot be read is rejected: its row would look complete."""
    place = f"/file/{name}"
    with file.open("rb") as opened:
        content = opened.read(reader.limits.content + 1)
    try:
        found = reader.read(content)
    except ServiceError as error:
        return Rejected(error.message, place, error.hint, error.code.value, id=name)
    for note in found.notes:
        if note.pages:
            pages = ", ".join(map(str, note.pages[:20]))
            hint = "add a text layer with an OCR program; `intaglio extract` reads the other pages"
            return Rejected(f"pages {pages}: {note.message}", place, hint, note.kind, id=name)
    return document(found.text, place, name, {})


def _is_read(name: str) -> bool:
    """Whether a folder's file of this name is read; the report of an earlier job on the folder is not."""
    return name.endswith(_ENDINGS) and not name.endswith(REPORT_ENDING)


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
        every = (file for file in path.rglob("*") if _is_read(file.name.lower()))
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
