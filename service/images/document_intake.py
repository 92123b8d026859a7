"""Documents for a model: their text, and the parts without text as images, if the model reads images.

Does: read files; take an image as a document of one page; draw the pages of a PDF that have no text layer. Does not:
parse or decode anything in this process.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from ..documents.document_reader import DocumentReader
from ..documents.parsed_document import BLANK_PAGE, NO_TEXT_LAYER, PDF, Note, Page, ParsedDocument
from ..documents.read_source import ReadSource
from ..documents.seen_image import SeenImage
from ..errors import DocumentTooLarge, UnreadableDocument, UnsupportedDocument
from ..file_kind import HEAD, image_type, kind_of
from .image_intake import NO_VISION_HINT, ImageIntake
from .image_source import ImageSource

_ALL_IMAGE: Final = Note(NO_TEXT_LAYER, "an image", (1,))


@dataclass(frozen=True, slots=True)
class DocumentIntake:
    """Reads documents for the model of `images`."""

    reader: DocumentReader
    images: ImageIntake

    def parse(self, content: bytes, param: str) -> ParsedDocument:
        """The document in a file. Without a text it has pages that may be drawn, if the model reads images.

        Raises:
            UnreadableDocument, UnsupportedDocument, EncryptedDocument, NoTextLayer: it cannot be read.
            DocumentTooLarge: it, or what reading it takes, exceeds a limit.
        """
        sees, kind = self.images.form is not None, image_type(content[:HEAD])
        if kind is None:
            return self.reader.read(content, param, silent=sees)
        if not sees:
            found = kind_of(content[:HEAD])
            assert found is not None  # it has a media type
            raise UnsupportedDocument(
                f"the document is {found.name}, and the model {self.images.model!r} does not read images",
                param=param,
                hint=NO_VISION_HINT,
            )
        return ParsedDocument(kind, "", (Page(1, 0, 0),), (_ALL_IMAGE,))

    def read(self, content: bytes, name: str | None, param: str) -> ReadSource:
        """The document in a file of that name, with the images that the model sees of it. Raises as `parse`."""
        return self.seen(ReadSource(self.parse(content, param), name=name), content, param)

    def seen(self, source: ReadSource, content: bytes, param: str) -> ReadSource:
        """A parsed document with the images that the model sees of its file `content`. Raises as `parse`."""
        document = source.document
        silent = [note for note in document.notes if note.kind == NO_TEXT_LAYER]
        if self.images.form is None or not silent:
            return source
        pages = [document.pages[number - 1] for note in silent for number in note.pages]
        drawn = list(self._drawn(document, pages, content, param))
        blank = tuple(image.page for image in drawn if image.page and _is_blank(image))
        seen = tuple(image for image in drawn if image.page not in blank)
        notes = tuple(note for note in document.notes if note.kind != NO_TEXT_LAYER)
        if blank:
            notes = (*notes, Note(BLANK_PAGE, "nothing is drawn on the page", blank))
        if not (seen or document.text.strip() or document.attachments):
            raise UnreadableDocument(
                "nothing is drawn on any page", param=param, hint="is it the right file?"
            )
        read = msgspec.structs.replace(document, notes=notes)
        return ReadSource(read, source.id, source.name, seen)

    def _drawn(
        self, document: ParsedDocument, pages: list[Page], content: bytes, param: str
    ) -> Iterator[SeenImage]:
        if document.media_type != PDF:
            (image,) = self.images.read(
                (ImageSource(content, "auto", "/" + param.replace(".", "/")),)
            )
            yield replace(image, page=1)
            return
        if len(pages) > self.images.most_images:
            raise DocumentTooLarge(
                f"{len(pages)} pages have no text layer; at most {self.images.most_images} are read as images",
                param=param,
                hint="split the document, add a text layer (ocrmypdf), or raise max_images",
            )
        for page in pages:
            yield self.images.draw(content, page.number, page.start, param)


def _is_blank(image: SeenImage) -> bool:
    """Whether all pixels are white."""
    return image.pixels.count(0xFF) == len(image.pixels)
