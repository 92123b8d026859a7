"""Files as documents of `LLM`, read as the service reads them.

Does: keep a reader for the lifetime of a model; put pages and boxes into results. Does not: extract.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

from intaglio.engine.api import EngineInfo

from ..client.file_input import file_bytes, image_files
from ..client.models import Extraction
from ..config import ServiceConfig
from ..documents.document_reader import DocumentReader
from ..documents.field_places import placed
from ..documents.read_source import ReadSource, attachment_of
from ..documents.seen_image import SeenImage, SeenText
from ..http.sdk_errors import sdk_errors
from ..images.document_intake import DocumentIntake
from ..images.image_intake import ImageIntake
from ..images.image_source import ImageSource

_OPTIONS: Final = ("file", "attachment", "images")


@dataclass(frozen=True, slots=True)
class OfflineSource:
    """What one call extracts from, the options that are left, and the file that it was read from, if any."""

    content: SeenText
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
    """Reads files for the model of `info`. Children are started with the first file."""

    def __init__(self, info: EngineInfo) -> None:
        self._reader = DocumentReader()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="seeing")
        limits = ServiceConfig.load()
        images = ImageIntake(
            form=info.images,
            reader=self._reader,
            model=info.model,
            most_images=limits.max_images,
            most_tokens=limits.max_image_tokens,
        )
        self._intake = DocumentIntake(self._reader, images)

    def source(self, text: str | None, options: Mapping[str, Any]) -> OfflineSource:
        """The text, the images or the file to extract from.

        Raises:
            TypeError: a file is given beside others, or nothing is given.
            OSError: the file cannot be opened.
            IntaglioError: it cannot be read as a document.
        """
        others = {name: value for name, value in options.items() if name not in _OPTIONS}
        file, attachment = options.get("file"), options.get("attachment")
        images = image_files(options)
        if file is None:
            if attachment is not None:
                raise TypeError("an attachment belongs to a file: give the file, too")
            if text is None and not images:
                raise TypeError("give a text, images or a file")
            return OfflineSource(SeenText(text or "", self._decoded(images)), others)
        if text is not None or images:
            raise TypeError("text and images exclude file: give one of them")
        name, content = file_bytes(file)
        with sdk_errors():
            if attachment is None:
                found = self._intake.read(content, name, "file")
            else:
                whole = self._intake.parse(content, "file")
                attached = attachment_of(whole, attachment, "attachment")
                found = self._intake.read(attached.content, attached.name, "attachment")
            return OfflineSource(SeenText(found.text(), found.images), others, found)

    def seen(
        self, text: str, images: Sequence[bytes], document: tuple[str, bytes] | None
    ) -> Future[SeenText]:
        """What a model extracts from, read in another thread: images before a text, or a document."""
        given: dict[str, Any] = {"images": list(images)} if document is None else {"file": document}
        asked = None if document is not None or not text else text
        return self._pool.submit(lambda: self.source(asked, given).content)

    def _decoded(self, images: list[bytes]) -> tuple[SeenImage, ...]:
        with sdk_errors():
            sources = [
                ImageSource(content, "auto", f"/images/{at}") for at, content in enumerate(images)
            ]
            self._intake.images.check(sources)
            return self._intake.images.read(sources)

    def close(self) -> None:
        """End the children."""
        self._pool.shutdown(cancel_futures=True)
        self._reader.close()
