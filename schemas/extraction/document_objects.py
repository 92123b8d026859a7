"""The wire types of documents as files: how a request names one, and how the service describes what it read.

Does: define shapes, defaults and bounds. Does not: read files.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from ..base import Wire

MAX_BASE64_CHARACTERS = 2**31


class DocumentSource(Wire):
    """A document of a request: one that was uploaded before, or its bytes."""

    id: str | None = Field(
        default=None,
        pattern=r"^doc_[0-9a-f]{32}$",
        description="Id of a document, from `POST /v1/documents`.",
    )
    base64: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_BASE64_CHARACTERS,
        description="The bytes of a file, in base64. Its content decides about its format.",
    )
    name: str | None = Field(
        default=None,
        min_length=1,
        max_length=255,
        description="A name to show. It decides about nothing.",
    )
    attachment: int | None = Field(
        default=None,
        ge=0,
        lt=2**16,
        description="Read this attachment of the document instead; the first one is 0.",
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.id is None) == (self.base64 is None):
            raise ValueError("give either id or base64")
        return self


class DocumentNote(Wire):
    """A part of the document that could not be read, and the pages concerned.

    `kind` is `no_text_layer`: the pages are scans or images, and the model did not see them; `blank_page`: nothing is
    drawn on them; `damaged_page`; `attachments_left_out`; `encoding_guessed`: a text that is not UTF-8 names no
    encoding; or `damaged_characters`. Further kinds may be added.
    """

    kind: str
    message: str
    pages: tuple[int, ...] = ()


class DocumentPage(Wire):
    """A page, or a sheet of a workbook. Its text is the range of code points from `start` to `end`.

    `width` and `height` are in points (1/72 inch), 0 where pages have no size; `label` is the printed page number or
    the name of the sheet. `boxes`, if asked for, are four numbers for each character of the range: x0, y0, x1, y1 in
    points from the top left corner, all 0 for a character without a glyph.
    """

    number: int
    start: int
    end: int
    width: float
    height: float
    label: str = ""
    boxes: tuple[float, ...] | None = None


class DocumentAttachment(Wire):
    """A file within a document. `media_type` is that of its content."""

    index: int
    name: str
    media_type: str
    size: int


class DocumentSummary(Wire):
    """The document of an answer: the type of its content, and the parts that could not be read.

    `id` is null if it is not kept.
    """

    id: str | None = None
    name: str | None = None
    media_type: str
    characters: int
    pages: int
    notes: tuple[DocumentNote, ...] = ()


class DocumentObject(Wire):
    """A document that the service has read and keeps until `expires_at` (Unix time), or until it needs the space.

    `size` is that of the file in bytes. `text` is the normalised text that extractions see: offsets are its code
    points. It is absent from the answer to an upload.
    """

    id: str
    object: Literal["document"] = "document"
    name: str | None = None
    media_type: str
    size: int
    characters: int
    created_at: int
    expires_at: int
    pages: tuple[DocumentPage, ...] = ()
    notes: tuple[DocumentNote, ...] = ()
    attachments: tuple[DocumentAttachment, ...] = ()
    text: str | None = None


class DocumentDeleted(Wire):
    """Body of `DELETE /v1/documents/{id}`."""

    id: str
    object: Literal["document"] = "document"
    deleted: Literal[True] = True
