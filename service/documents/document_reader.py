"""Reads documents for the server, the command line and programs, in processes that can be killed.

Does: hand files to the children, and raise what they refuse as errors of the service. Does not: parse anything in this
process.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType, TracebackType
from typing import Final, Self

from ..errors import (
    DocumentTooLarge,
    EncryptedDocument,
    NoTextLayer,
    ServiceError,
    ServiceNotReady,
    UnreadableDocument,
    UnsupportedDocument,
)
from .child_messages import (
    Answer,
    DrawAnswer,
    DrawQuestion,
    ImageAnswer,
    ImageQuestion,
    ImageSize,
    PageQuestion,
    Question,
    ReadAnswer,
    ReadingLimits,
    ReadQuestion,
    RefusedAnswer,
)
from .child_pool import ChildPool, ReaderFailure
from .parsed_document import ParsedDocument
from .refused import RefusalCode

LIBRARIES: Final = ("charset_normalizer", "lxml", "pypdfium2", "python_calamine")
_MOST_CHILDREN: Final = 4
_ERRORS: Final[Mapping[RefusalCode, type[ServiceError]]] = MappingProxyType(
    {
        "unreadable_document": UnreadableDocument,
        "unsupported_document": UnsupportedDocument,
        "encrypted_document": EncryptedDocument,
        "document_too_large": DocumentTooLarge,
        "no_text_layer": NoTextLayer,
    }
)


class DocumentReader:
    """Reads documents, for any thread. Children are started when they are needed first.

    `children` is the number of documents that are read at a time, by default one for each core, at most 4.
    """

    def __init__(self, limits: ReadingLimits | None = None, children: int | None = None) -> None:
        self.limits = limits or ReadingLimits()
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        self.children = children or max(1, min(_MOST_CHILDREN, cores))
        self._pool = ChildPool(self.limits, self.children)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the child processes."""
        return self._pool.pids

    def read(
        self, content: bytes, param: str = "document", *, silent: bool = False
    ) -> ParsedDocument:
        """The document in a file. `param` names the file in errors. `silent`: also a PDF without any text.

        Raises:
            UnreadableDocument, UnsupportedDocument, EncryptedDocument, NoTextLayer: it cannot be read.
            DocumentTooLarge: it, or what reading it takes, exceeds a limit.
            ServiceNotReady: no child can be started.
        """
        seconds = self.limits.seconds_for(len(content))
        answer = self._ask(ReadQuestion(content, seconds, silent), param)
        assert isinstance(answer, ReadAnswer)
        return answer.document

    def draw(self, content: bytes, page: int, scale: float) -> bytes:
        """Page `page` (from 1) of a PDF as PNG, with `scale` pixels a point. Raises as `read`."""
        seconds = self.limits.seconds_for(len(content))
        answer = self._ask(DrawQuestion(content, seconds, page, scale), "document")
        assert isinstance(answer, DrawAnswer)
        return answer.image

    def see(self, content: bytes, size: ImageSize, param: str) -> ImageAnswer:
        """An image file, decoded and resized. Raises as `read`."""
        return self._seen(
            ImageQuestion(content, self.limits.seconds_for(len(content)), size), param
        )

    def see_page(self, content: bytes, page: int, size: ImageSize, param: str) -> ImageAnswer:
        """Page `page` (from 1) of a PDF, drawn and resized. Raises as `read`."""
        seconds = self.limits.seconds_for(len(content))
        return self._seen(PageQuestion(content, seconds, page, size), param)

    def close(self) -> None:
        """End all children; safe to call twice."""
        self._pool.close()

    def _seen(self, question: ImageQuestion | PageQuestion, param: str) -> ImageAnswer:
        if find_spec("PIL") is None:
            raise UnsupportedDocument(
                "reading images needs Pillow, which this installation lacks",
                param=param,
                hint="pip install 'intaglio[documents]'",
            )
        answer = self._ask(question, param)
        assert isinstance(answer, ImageAnswer)
        return answer

    def _ask(self, question: Question, param: str) -> Answer:
        require_libraries()
        size, most = len(question.content), self.limits.content
        if size > most:
            raise DocumentTooLarge(
                f"the document has {size} bytes; at most {most} are read",
                param=param,
                hint="split the document, or send its text",
            )
        try:
            answer = self._pool.ask(question)
        except ReaderFailure:
            raise ServiceNotReady(
                "documents cannot be read now", hint="the server's log has the cause"
            ) from None
        if isinstance(answer, RefusedAnswer):
            raise _ERRORS[answer.code](answer.message, param=param, hint=answer.hint)
        return answer


def require_libraries() -> None:
    """Return if the libraries that read documents are installed.

    Raises:
        UnsupportedDocument: one is missing.
    """
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise UnsupportedDocument(
            f"reading files needs {', '.join(missing)}, which this installation lacks",
            hint="pip install 'intaglio[documents]', or send the text of the document",
        )
