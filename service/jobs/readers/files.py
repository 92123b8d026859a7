"""Reader of texts and documents: a folder, a glob pattern or one file, each file a record.

Does: read files in path order; have PDFs and other documents read (`service/documents`); for a model that reads images,
give images and pages without a text layer to it. Does not: follow links out of the folder, or read files of a folder
except those with an ending of texts, documents or images.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NoReturn

from intaglio.schemas.jobs import Source

from ...documents.document_reader import DocumentReader
from ...documents.parsed_document import BLANK_PAGE, NO_TEXT_LAYER
from ...errors import ServiceError
from ...file_kind import HEAD, image_type, is_document, kind_of
from ..records.errors import InputRefused
from ..records.file_formats import IMAGE_ENDINGS
from ..records.input_files import characters, require_regular_file
from ..records.record import MOST_CHARACTERS, Record, Rejected, document
from ..records.row_files import RowFileRefused, RowFiles, stored_document, stored_image

_TEXTS: Final = (".txt", ".text", ".md")
_DOCUMENTS: Final = (".pdf", ".docx", ".xlsx", ".xlsb", ".xls", ".ods", ".html", ".htm", ".eml")
REPORT_ENDING: Final = ".report.html"
_ENDINGS: Final = (*_TEXTS, *_DOCUMENTS)


def read(source: Source, path: Path, *, sees: bool = False) -> Iterator[Record | Rejected]:
    """The files of a source; see `readers.records`. Their ids are their paths relative to the folder."""
    root, found = _files(path, images=sees)
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
                if sees and _is_image(file):
                    yield _image(file, name)
                elif _is_document(file):
                    yield _read(reader, file, name, sees=sees)
                else:
                    yield _record(source, file, name)
            except OSError as error:
                yield Rejected(
                    f"the file cannot be read: {error.strerror}", f"/file/{name}", id=name
                )


def _is_document(file: Path) -> bool:
    """Whether a file is for the reader of documents: by its content, or by the ending of its name."""
    if file.suffix.lower() in _DOCUMENTS:
        return True
    with file.open("rb") as opened:
        head = opened.read(HEAD)
    # Text in another encoding is not guessed here: the source names the encoding.
    return kind_of(head) is not None and is_document(head)


def _is_image(file: Path) -> bool:
    with file.open("rb") as opened:
        return image_type(opened.read(HEAD)) is not None


def _image(file: Path, name: str) -> Record | Rejected:
    """An image as a document of one page."""
    place = f"/file/{name}"
    try:
        stored = stored_image(file)
    except RowFileRefused as error:
        return Rejected(error.message, place, error.hint, error.code, id=name)
    return Record("", name, files=RowFiles((stored,), images=1, is_document=True), where=place)


def _read(reader: DocumentReader, file: Path, name: str, *, sees: bool) -> Record | Rejected:
    """The text of a document, and the pages that a model sees. One with pages that cannot be read is rejected: its row
    would look complete.
    """
    place, images = f"/file/{name}", 0
    with file.open("rb") as opened:
        content = opened.read(reader.limits.content + 1)
    try:
        found = reader.read(content, silent=sees)
    except ServiceError as error:
        return Rejected(error.message, place, error.hint, error.code.value, id=name)
    for note in found.notes:
        if sees and note.kind == NO_TEXT_LAYER:
            images += len(note.pages)
        elif note.pages and note.kind != BLANK_PAGE:
            pages = ", ".join(map(str, note.pages[:20]))
            hint = (
                "add a text layer with an OCR program, or use a model that reads images; `intaglio extract` reads "
                "the other pages"
            )
            return Rejected(f"pages {pages}: {note.message}", place, hint, note.kind, id=name)
    if not images:
        return document(found.text, place, name, {})
    text = found.text if found.text.strip() else ""
    checked = document(text or "-", place, name, {})
    if isinstance(checked, Rejected):
        return checked
    files = RowFiles((stored_document(file, content),), images, is_document=True)
    return Record(text, name, files=files, where=place)


def _is_read(name: str, endings: tuple[str, ...]) -> bool:
    """Whether a folder's file of this name is read; the report of an earlier job on the folder is not."""
    return name.endswith(endings) and not name.endswith(REPORT_ENDING)


def members(path: Path, *, images: bool = False) -> list[Path]:
    """The files of a folder or pattern, in order; none if nothing has that name. With `images` also those of a folder
    that are images by their name.
    """
    try:
        return _files(path, images=images)[1]
    except InputRefused:
        return []


def _files(path: Path, *, images: bool) -> tuple[Path, list[Path]]:
    """(the folder that names are relative to, the files in order)."""
    if path.is_file():
        return path.parent, [path]
    if path.exists() and not path.is_dir():
        require_regular_file(path)
    if path.is_dir():
        inside = path.resolve()
        endings = (*_ENDINGS, *IMAGE_ENDINGS) if images else _ENDINGS
        every = (file for file in _below(path) if _is_read(file.name.lower(), endings))
        return path, sorted(
            file for file in every if file.is_file() and file.resolve().is_relative_to(inside)
        )
    marked = next((i for i, part in enumerate(path.parts) if set(part) & set("*?[")), None)
    if marked is None:
        raise InputRefused(f"there is no file or folder {path}", param="source.path")
    root = Path(*path.parts[:marked])
    found = root.glob(str(Path(*path.parts[marked:])))
    try:
        return root, sorted(file for file in found if file.is_file())
    except OSError as error:
        raise InputRefused(f"cannot read {path}: {error.strerror}", param="source.path") from None


def _below(folder: Path) -> Iterator[Path]:
    """The files in a folder and those below it. Raises `InputRefused` if one of them cannot be looked into."""

    def refuse(error: OSError) -> NoReturn:
        reason = f"cannot read the folder {error.filename}: {error.strerror}"
        raise InputRefused(reason, param="source.path")

    for place, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(place, name) for name in names)


def _record(source: Source, file: Path, name: str) -> Record | Rejected:
    try:
        with characters(file, source.encoding) as stream:
            text = stream.read(MOST_CHARACTERS + 1)
    except InputRefused as error:
        return Rejected(error.message, f"/file/{name}", error.hint, id=name)
    return document(text, f"/file/{name}", name, {})
