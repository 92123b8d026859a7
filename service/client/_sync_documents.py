# Generated from _async_documents.py by `make sync-client`; change that file.
"""The client of a service's documents. The synchronous form is generated from the asynchronous one.

Does: upload, describe, draw and delete documents. Does not: extract from them (`client.extract(…, document=id)`).
"""

from urllib.parse import quote, urlencode

from intaglio.schemas.extraction.document_objects import DocumentObject

from ._sync_wire import Wire
from .file_input import FileInput, file_bytes


class Documents:
    """The documents that a service keeps for a day, as `client.documents`. Every method raises `IntaglioError`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create(self, file: FileInput, *, name: str | None = None) -> DocumentObject:
        """Upload a file, given as a path or as bytes, and have it read.

        Raises `DocumentRefused` for a file that cannot be read, and `TooLong` for one that is too large.
        """
        known, content = file_bytes(file)
        shown = name or known
        query = f"?{urlencode({'name': shown})}" if shown else ""
        answer = self._wire.upload(f"/v1/documents{query}", content)
        return self._wire.read(answer, DocumentObject)

    def get(self, document: str, *, boxes: bool = False) -> DocumentObject:
        """The text and the pages of a document; with `boxes` the box of each character. Raises `NotFound`."""
        query = "?boxes=true" if boxes else ""
        return self._wire.get(f"{_path(document)}{query}", DocumentObject)

    def page_image(self, document: str, page: int, *, dpi: int = 96) -> bytes:
        """A page of a PDF (the first is 1) as PNG. Raises `NotFound`."""
        path = f"{_path(document)}/pages/{page}?{urlencode({'dpi': dpi})}"
        return (self._wire.call("GET", path)).content

    def attachment(self, document: str, index: int) -> bytes:
        """The bytes of an attachment (the first is 0). Raises `NotFound`."""
        return (self._wire.call("GET", f"{_path(document)}/attachments/{index}")).content

    def delete(self, document: str) -> None:
        """Delete a document. Raises `NotFound`."""
        self._wire.call("DELETE", _path(document))


def _path(document: str) -> str:
    return f"/v1/documents/{quote(document, safe='')}"
