"""The images of a job's rows: whether its model sees them, and the files that the fields of a record name.

Does: refuse a job before its first row if the model cannot see; turn paths and data URLs into stored files. Does not:
fetch addresses, or decode images.
"""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from intaglio.schemas.jobs import Source

from ..file_kind import HEAD, image_type
from .readers.files import members
from .records.errors import InputRefused, JobError
from .records.file_formats import source_format
from .records.row_files import RowFileRefused, StoredFile, stored_bytes, stored_image

FindImage = Callable[[str], Path]
"""The path of the image that a record names. Raises `JobError` if there is none, or none that the job may read."""

MOST_IN_A_ROW: Final = 1024
_HINT: Final = "choose a model with vision, such as Qwen3-VL (--model, or --url of its service)"
_EXAMPLE: Final = "give the path of a file, or data:image/png;base64,..."


class Model(Protocol):
    """The facts about the model that computes a job."""

    @property
    def model(self) -> str:
        """Its name."""
        ...

    @property
    def reads_images(self) -> bool:
        """Whether it reads images. A service may have to be asked."""
        ...


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A `Model` with facts that are known in advance."""

    model: str
    reads_images: bool


@dataclass(frozen=True, slots=True)
class ImageAccess:
    """What the rows of a job may see: nothing, or files that are found by `find`, by default beside the source."""

    sees: bool = False
    find: FindImage | None = None

    def stored(self, stated: Sequence[str], source: Path) -> tuple[StoredFile, ...]:
        """The images that a record states. Raises `RowFileRefused`."""
        if len(stated) > MOST_IN_A_ROW:
            raise RowFileRefused(f"the record has {len(stated)} images", "split it")
        return tuple(self._stored(each.strip(), source) for each in stated)

    def _stored(self, stated: str, source: Path) -> StoredFile:
        scheme, colon, rest = stated.partition(":")
        if colon and scheme.lower() == "data":
            return stored_bytes(_decoded(rest))
        if colon and rest.startswith("//"):
            raise RowFileRefused(f"images are not fetched from {scheme} addresses", _EXAMPLE)
        try:
            path = source.parent / stated if self.find is None else self.find(stated)
        except JobError as error:
            raise RowFileRefused(error.message, error.hint or _EXAMPLE) from None
        return stored_image(path)


EVERYTHING: Final = ImageAccess(sees=True)
"""For a first look at a source, before its model is known."""

NOTHING: Final = ImageAccess()


def image_access(
    source: Source, path: Path, model: Model, find: FindImage | None = None
) -> ImageAccess:
    """The access of a job over `source`, at `path`. The model is asked only if an image may come.

    Raises:
        InputRefused: the source has images, and the model reads none.
        IntaglioError: the model's service cannot be asked.
    """
    if not source.images and not _has_pages(source, path):
        return NOTHING
    if model.reads_images:
        return ImageAccess(sees=True, find=find)
    if source.images:
        raise InputRefused(
            f"the records have images ({', '.join(source.images)}), and the model {model.model!r} does not read any",
            param="source.images",
            hint=_HINT,
        )
    found = next((file for file in _named(path) if _is_image(file)), None)
    if found is not None:
        raise InputRefused(
            f"{found.name} is an image, and the model {model.model!r} does not read images",
            param="source.path",
            hint=f"{_HINT}; or name the files without images",
        )
    return NOTHING


def _named(path: Path) -> list[Path]:
    """The files that the source names; of a folder those that are images, if there is nothing else."""
    if not path.is_dir() or not members(path):
        return members(path, images=True)
    return []


def _has_pages(source: Source, path: Path) -> bool:
    """Whether a file of the source is an image, or a PDF: its pages may be images."""
    if source_format(source, path) != "text":
        return False
    return any(
        _is_image(file) or _head(file).startswith(b"%PDF-") for file in members(path, images=True)
    )


def _is_image(file: Path) -> bool:
    return image_type(_head(file)) is not None


def _head(path: Path) -> bytes:
    """The first bytes of a file; none of one that cannot be read, which its row will say."""
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return b""


def _decoded(url: str) -> bytes:
    """The bytes of a data URL, after its scheme."""
    kind, comma, text = url.partition(",")
    if not comma or not kind.lower().endswith(";base64"):
        raise RowFileRefused("the data URL is not in base64", _EXAMPLE)
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError) as error:
        raise RowFileRefused(f"the base64 of the image is invalid: {error}", _EXAMPLE) from None
