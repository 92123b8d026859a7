"""The document of a request: from an id, base64 or a form to the text that is extracted from.

Does: find or read the document, put its text into the request, and its pages into the answer. Does not: extract.
"""

import base64
import binascii
from dataclasses import dataclass
from functools import partial

from intaglio.schemas.document_wire import (
    DocumentAttachment,
    DocumentNote,
    DocumentObject,
    DocumentPage,
    DocumentSource,
    DocumentSummary,
)
from intaglio.schemas.extract_events import AnyExtractEvent, ObjectCompletedEvent
from intaglio.schemas.problem import Detail
from intaglio.schemas.wire import MAX_TEXT_CHARACTERS, ExtractRequest, ExtractResult

from ..documents.document_store import KeptDocument
from ..documents.field_places import placed
from ..documents.parsed_document import AttachedFile, ParsedDocument
from ..errors import DocumentTooLarge, InvalidBody, UnreadableDocument
from .forms import FormFile
from .principal import current_principal
from .service_state import Service


@dataclass(frozen=True, slots=True)
class ReadSource:
    """The document of one request, read. `id` is None if it is not kept."""

    document: ParsedDocument
    id: str | None = None
    name: str | None = None

    def in_request(self, body: ExtractRequest) -> ExtractRequest:
        """The request with the text of the document in the place of the document.

        Raises:
            DocumentTooLarge: the text is longer than one request may have.
            UnreadableDocument: there is no text.
        """
        text = self.document.text
        if len(text) > MAX_TEXT_CHARACTERS:
            raise DocumentTooLarge(
                f"the document has {len(text)} characters; a request has at most {MAX_TEXT_CHARACTERS}",
                param="document",
                hint="split the document",
            )
        if not text.strip():
            raise UnreadableDocument(
                "the document itself has no text",
                param="document",
                hint="read one of its attachments: document.attachment",
            )
        return body.model_copy(update={"text": text, "document": None})

    def in_result(self, result: ExtractResult) -> ExtractResult:
        """The result with the document, and with the places of its sources on the pages."""
        found = {"document": self.summary(), "fields": placed(result.fields, self.document)}
        return result.model_copy(update=found)

    def in_event(self, event: AnyExtractEvent) -> AnyExtractEvent:
        """The event; one with the result has the document, too."""
        if not isinstance(event, ObjectCompletedEvent):
            return event
        return event.model_copy(update={"result": self.in_result(event.result)})

    def summary(self) -> DocumentSummary:
        """What the answer says of the document."""
        return DocumentSummary(
            id=self.id,
            name=self.name,
            media_type=self.document.media_type,
            characters=len(self.document.text),
            pages=len(self.document.pages),
            notes=_notes(self.document),
        )


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
        found = await _read(service, content, source.name, "document.base64")
    else:
        assert source.id is not None  # the wire type requires one of both
        tenant = current_principal().tenant
        kept = await service.offload(partial(service.documents.get, tenant, source.id))
        found = ReadSource(kept.parsed, kept.id, kept.name)
    if source.attachment is None:
        return found
    attached = attachment_of(found.document, source.attachment, "document.attachment")
    return await _read(service, attached.content, attached.name, "document.attachment")


def attachment_of(document: ParsedDocument, index: int, param: str) -> AttachedFile:
    """An attachment by its number. Raises `InvalidBody` if there is none."""
    if index >= len(document.attachments):
        raise InvalidBody(
            f"the document has no attachment {index}",
            param=param,
            hint=f"it has {len(document.attachments)}, counted from 0",
        )
    return document.attachments[index]


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
        notes=_notes(parsed),
        attachments=tuple(
            DocumentAttachment(
                index=index, name=file.name, media_type=file.media_type, size=len(file.content)
            )
            for index, file in enumerate(parsed.attachments)
        ),
        text=parsed.text if text else None,
    )


async def _read(service: Service, content: bytes, name: str | None, param: str) -> ReadSource:
    document = await service.offload_reading(partial(service.reader.read, content, param))
    return ReadSource(document, name=name)


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


def _notes(document: ParsedDocument) -> tuple[DocumentNote, ...]:
    return tuple(
        DocumentNote(kind=note.kind, message=note.message, pages=note.pages)
        for note in document.notes
    )
