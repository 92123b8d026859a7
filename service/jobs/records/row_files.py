"""The files that belong to the text of a row: images, or the document of which a model sees pages.

Does: define their stored form, read files once for their digests, and load them again for an extraction. Does not: find
files (`source_images`), or decode images.

The ledger holds a path and a digest, so that a folder of scans is not copied into it; the bytes of a data URL are in
the ledger, because they are nowhere else.
"""

import hashlib
import json
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...file_kind import HEAD, image_type, kind_of
from .errors import InputRefused
from .input_files import open_regular

MOST_BYTES: Final = 32 * 1024 * 1024  # of one file; the limit of the reader of documents
_IMAGE_BYTES: Final = 3 * 1024 * 1024  # of the pixels of an image in the size that a model reads


class RowFileRefused(Exception):
    """A file cannot be a file of a row. `may_retry`: a later attempt may find it."""

    def __init__(
        self, message: str, hint: str = "", code: str = "invalid_record", *, may_retry: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.may_retry = may_retry


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file: at `path`, or with its bytes in `content`. `digest` and `size` are those of its bytes."""

    digest: str
    size: int
    path: str | None = None
    content: bytes | None = None

    @property
    def name(self) -> str:
        """The name to show; empty for the bytes of a data URL."""
        return "" if self.path is None else Path(self.path).name

    def load(self) -> bytes:
        """The bytes of the file. Raises `RowFileRefused` if they are not those that were first read."""
        if self.content is not None:
            return self.content
        assert self.path is not None  # one of both is there
        content = read_file(Path(self.path))
        if _digest(content) != self.digest:
            raise RowFileRefused(
                f"{self.name} has changed since the job read it",
                "restore the old file and run retry-dead, or start another job",
                "source_changed",
            )
        return content


@dataclass(frozen=True, slots=True)
class RowFiles:
    """The files of a row, and the number of `images` that a model sees of them.

    They are images that stand before the text of the row; or, with `is_document`, one document, of which that text is
    the text layer.
    """

    files: tuple[StoredFile, ...]
    images: int
    is_document: bool = False

    @property
    def digest(self) -> str:
        """The digest of all files, in their order."""
        return _digest("\n".join(file.digest for file in self.files).encode())

    @property
    def weight(self) -> int:
        """The bytes that an extraction holds in memory, about."""
        return sum(file.size for file in self.files) + self.images * _IMAGE_BYTES

    def encoded(self) -> str:
        """The form in the ledger."""
        files = [
            {"digest": file.digest, "size": file.size}
            | ({} if file.path is None else {"path": file.path})
            | ({} if file.content is None else {"base64": b64encode(file.content).decode()})
            for file in self.files
        ]
        return json.dumps(
            {"files": files, "images": self.images, "is_document": self.is_document},
            ensure_ascii=False,
        )

    @classmethod
    def decoded(cls, encoded: str) -> "RowFiles":
        """The files in the form of the ledger."""
        whole = json.loads(encoded)
        files = tuple(
            StoredFile(
                file["digest"],
                file["size"],
                file.get("path"),
                b64decode(file["base64"]) if "base64" in file else None,
            )
            for file in whole["files"]
        )
        return cls(files, whole["images"], whole["is_document"])


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """The files of a row with their bytes: images before its text, or the name and bytes of a document in its place."""

    images: tuple[bytes, ...] = ()
    document: tuple[str, bytes] | None = None


def load(files: RowFiles | None) -> LoadedFiles | None:
    """The files of a row with their bytes. Raises `RowFileRefused`."""
    if files is None:
        return None
    if files.is_document:
        (file,) = files.files
        return LoadedFiles(document=(file.name, file.load()))
    return LoadedFiles(images=tuple(file.load() for file in files.files))


def stored_image(path: Path) -> StoredFile:
    """The image in a file. Raises `RowFileRefused` if it is not an image."""
    content = read_file(path)
    _require_image(content, path.name)
    return StoredFile(_digest(content), len(content), path=str(path))


def stored_bytes(content: bytes) -> StoredFile:
    """An image that exists as bytes only. Raises `RowFileRefused` if these are not an image."""
    _require_size(content, "the image")
    _require_image(content, "the image")
    return StoredFile(_digest(content), len(content), content=content)


def stored_document(path: Path, content: bytes) -> StoredFile:
    """The document at `path` with these bytes."""
    return StoredFile(_digest(content), len(content), path=str(path))


def read_file(path: Path) -> bytes:
    """The bytes of a regular file. Raises `RowFileRefused`."""
    try:
        with open_regular(path) as file:
            content = file.read(MOST_BYTES + 1)
    except InputRefused as error:
        raise RowFileRefused(error.message, error.hint, may_retry=True) from None
    _require_size(content, path.name)
    return content


def _require_size(content: bytes, name: str) -> None:
    if len(content) > MOST_BYTES:
        raise RowFileRefused(
            f"{name} has more than {MOST_BYTES} bytes", "send a smaller one", "document_too_large"
        )


def _require_image(content: bytes, name: str) -> None:
    head = content[:HEAD]
    if image_type(head) is None:
        found = kind_of(head)
        what = "no image" if found is None else f"{found.name}, not an image that is read"
        raise RowFileRefused(
            f"{name} is {what}",
            "PNG, JPEG, WebP, GIF, BMP and TIFF are read; PDFs are records of a folder or pattern",
            "unsupported_document",
        )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
