"""Files as documents of `LLM`, read as the service reads them.

Does: keep a reader for the lifetime of a model; put pages and boxes into results. Does not: extract.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ..client.file_input import file_bytes
from ..client.models import Extraction
from ..documents.document_reader import DocumentReader
from ..documents.field_places import placed
from ..documents.read_source import ReadSource, attachment_of
from ..http.sdk_errors import sdk_errors

_OPTIONS: Final = ("file", "attachment")


@dataclass(frozen=True, slots=True)
class OfflineSource:
    """The text of one call, the options that are left, and the file that the text was read from, if any."""

    text: str
    options: dict[str, Any]
    source: ReadSource | None = None

    def in_extraction(self, found: Extraction[Any]) -> Extraction[Any]:
        """A result with the document, and with the places of its sources on the pages."""
        if self.source is None:
            return found
        fields, summary = placed(found.fields, self.source.document), self.source.summary()
        written = {name: report.model_dump(mode="json") for name, report in fields.items()}
        raw: dict[str, Any] = {
            **found.raw,
            "fields": written,
            "document": summary.model_dump(mode="json"),
        }
        return replace(found, fields=fields, document=summary, raw=raw)


class OfflineDocuments:
    """Reads files for one `LLM`. Children are started with the first file."""

    def __init__(self) -> None:
        self._reader = DocumentReader()

    def source(self, text: str | None, options: Mapping[str, Any]) -> OfflineSource:
        """The text or the file to extract from.

        Raises:
            TypeError: both are given, or neither.
            OSError: the file cannot be opened.
            IntaglioError: it cannot be read as a document.
        """
        others = {name: value for name, value in options.items() if name not in _OPTIONS}
        file, attachment = (options.get(name) for name in _OPTIONS)
        if file is None:
            if attachment is not None:
                raise TypeError("an attachment belongs to a file: give the file, too")
            if text is None:
                raise TypeError("give a text or a file")
            return OfflineSource(text, others)
        if text is not None:
            raise TypeError("text excludes file: give one of them")
        name, content = file_bytes(file)
        with sdk_errors():
            found = ReadSource(self._reader.read(content, "file"), name=name)
            if attachment is not None:
                attached = attachment_of(found.document, attachment, "attachment")
                found = ReadSource(
                    self._reader.read(attached.content, "attachment"), name=attached.name
                )
            return OfflineSource(found.text(), others, found)

    def close(self) -> None:
        """End the children."""
        self._reader.close()
