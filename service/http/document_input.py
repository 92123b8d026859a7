"""The document of a request: from an id, base64 or a form to the text that is extracted from.

Does: find or read the document of a request; describe kept documents. Does not: extract, or put the document into
answers (`read_source`).
"""

import base64
import binascii
from dataclasses import dataclass
from functools import partial

from intaglio.schemas.extraction.document_objects import (
    DocumentAttachment,
    DocumentObject,
    DocumentPage,
    DocumentSource,
)
from intaglio.schemas.extraction.images import ImageInput
from intaglio.schemas.extraction.requests import ExtractRequest
from intaglio.schemas.problem import Detail

from ..documents.document_store import KeptDocument
from ..documents.read_source import ReadSource, attachment_of, notes_of
from ..documents.seen_image import SeenImage
from ..errors import InvalidBody
from ..images.image_source import ImageSource, input_source
from .forms import FormFile
from .principal import current_principal
from .service_state import Service


@dataclass(frozen=True, slots=True)
class RequestContent:
    """What a request extracts from: `body` with the text of its document, which is `source`, and its images."""

    body: ExtractRequest
    images: tuple[SeenImage, ...] = ()
    source: ReadSource | None = None


async def read_content(
    service: Service,
    body: ExtractRequest,
    file: FormFile | None = None,
    images: tuple[FormFile, ...] = (),
) -> RequestContent:
    """The document and the images of a request and its form, read. Raises as `read_source` and `read_images`."""
    source = await read_source(service, body.document, file)
    if source is None:
        return RequestContent(body, await read_images(service, body.images, images))
    return RequestContent(source.in_request(body), source.images, source)


async def read_source(
    service: Service, source: DocumentSource | None, file: FormFile | None
) -> ReadSource | None:
    """The document that a request names or brings along; None if it has only text.

    Raises:
        InvalidBody: it names a document and brings a file, its base64 is malformed, or there is no such attachment.
        UnknownDocument: there is no document of that id.
        UnreadableDocument, UnsupportedDocument, EncryptedDocument, DocumentTooLarge, NoTextLayer: it cannot be read.
    """
    if source is None:
        return None if file is None else await _read(service, file.content, file.name, "file")
    if file is not None:
        raise InvalidBody("document and the file of the form exclude each other", param="document")
    if source.base64 is not None:
        content = await service.offload(partial(_decoded, source.base64))
        if source.attachment is None:
            return await _read(service, content, source.name, "document.base64")
        parse = partial(service.document_intake().parse, content, "document.base64")
        parsed = await service.offload_reading(parse)
    else:
        assert source.id is not None  # the wire type requires one of both
        tenant = current_principal().tenant
        kept = await service.offload(partial(service.documents.get, tenant, source.id))
        parsed, content = kept.parsed, kept.content
        if source.attachment is None:
            found = ReadSource(parsed, kept.id, kept.name)
            see = partial(service.document_intake().seen, found, content, "document.id")
            return await service.offload_reading(see)
    attached = attachment_of(parsed, source.attachment, "document.attachment")
    return await _read(service, attached.content, attached.name, "document.attachment")


async def read_images(
    service: Service, given: tuple[ImageInput, ...], files: tuple[FormFile, ...]
) -> tuple[SeenImage, ...]:
    """The images of a request and of its form, decoded.

    Raises:
        InvalidBody: the model reads none, there are too many, or one is stated wrongly.
        UnreadableDocument, UnsupportedDocument, DocumentTooLarge: a file is refused.
    """
    if not given and not files:
        return ()
    intake = service.document_intake().images
    brought = tuple(ImageSource(file.content, "auto", "/image") for file in files)

    def read() -> tuple[SeenImage, ...]:
        stated = tuple(input_source(each, f"/images/{at}") for at, each in enumerate(given))
        intake.check((*stated, *brought))
        return intake.read((*stated, *brought))

    return await service.offload_reading(read)


def document_object(
    kept: KeptDocument, *, text: bool = False, boxes: bool = False
) -> DocumentObject:
    """A kept document as clients see it, with its text and the boxes of its characters if asked for."""
    parsed = kept.parsed
    return DocumentObject(
        id=kept.id,
        name=kept.name,
        media_type=parsed.media_type,
        size=len(kept.content),
        characters=len(parsed.text),
        created_at=int(kept.created),
        expires_at=int(kept.until),
        pages=tuple(
            DocumentPage(
                number=page.number,
                start=page.start,
                end=page.end,
                width=page.width,
                height=page.height,
                label=page.label,
                boxes=tuple(round(n, 2) for n in page.places()) if boxes else None,
            )
            for page in parsed.pages
        ),
        notes=notes_of(parsed),
        attachments=tuple(
            DocumentAttachment(
                index=index, name=file.name, media_type=file.media_type, size=len(file.content)
            )
            for index, file in enumerate(parsed.attachments)
        ),
        text=parsed.text if text else None,
    )


async def _read(service: Service, content: bytes, name: str | None, param: str) -> ReadSource:
    return await service.offload_reading(
        partial(service.document_intake().read, content, name, param)
    )


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidBody(
            "document.base64 is not base64",
            param="document.base64",
            details=(
                Detail(pointer="/document/base64", reason="not base64 (RFC 4648, section 4)"),
            ),
        ) from None
