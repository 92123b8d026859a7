"""The document of one request, read: its text for the extraction, and its pages for the answer.

Does: put the text into a request, and pages, boxes and notes into a result. Does not: read files or find spans.
"""

from dataclasses import dataclass

from intaglio.schemas.base import MAX_TEXT_CHARACTERS
from intaglio.schemas.extraction.document_objects import DocumentNote, DocumentSummary
from intaglio.schemas.extraction.extract_events import AnyExtractEvent, ObjectCompletedEvent
from intaglio.schemas.extraction.requests import ExtractRequest
from intaglio.schemas.extraction.results import ExtractResult

from ..errors import DocumentTooLarge, InvalidBody, UnreadableDocument
from .field_places import placed
from .parsed_document import AttachedFile, ParsedDocument
from .seen_image import SeenImage


@dataclass(frozen=True, slots=True)
class ReadSource:
    """The document of one request, read. `id` is None if it is not kept. `images` are pages that the model sees."""

    document: ParsedDocument
    id: str | None = None
    name: str | None = None
    images: tuple[SeenImage, ...] = ()

    def text(self) -> str:
        """The text to extract from.

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
        if not text.strip() and not self.images:
            raise UnreadableDocument(
                "the document itself has no text",
                param="document",
                hint="read one of its attachments: document.attachment",
            )
        return text

    def in_request(self, body: ExtractRequest) -> ExtractRequest:
        """The request with the text of the document in the place of the document. Raises as `text`."""
        text = self.text()
        return body.model_copy(update={"text": text if text.strip() else None, "document": None})

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
        """The description of the document in the answer."""
        return DocumentSummary(
            id=self.id,
            name=self.name,
            media_type=self.document.media_type,
            characters=len(self.document.text),
            pages=len(self.document.pages),
            notes=notes_of(self.document),
        )


def attachment_of(document: ParsedDocument, index: int, param: str) -> AttachedFile:
    """An attachment by its number. Raises `InvalidBody` if there is none."""
    if index >= len(document.attachments):
        raise InvalidBody(
            f"the document has no attachment {index}",
            param=param,
            hint=f"it has {len(document.attachments)}, counted from 0",
        )
    return document.attachments[index]


def notes_of(document: ParsedDocument) -> tuple[DocumentNote, ...]:
    """The notes of a document as wire types."""
    return tuple(
        DocumentNote(kind=note.kind, message=note.message, pages=note.pages)
        for note in document.notes
    )
