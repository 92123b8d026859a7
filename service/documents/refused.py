"""The reason why a file cannot be read, as a value that crosses processes.

Does: define the reasons, each with an error code and text for users. Does not: know the service's errors
(`document_reader` raises them).
"""

from typing import Literal

RefusalCode = Literal[
    "unreadable_document",
    "unsupported_document",
    "encrypted_document",
    "document_too_large",
    "no_text_layer",
]


class ReadingRefused(Exception):
    """A file cannot be read. `code` is one of the error codes of documents."""

    def __init__(self, code: RefusalCode, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


def unreadable(what: str, hint: str = "") -> ReadingRefused:
    """The file is damaged: `what` says in which respect."""
    return ReadingRefused(
        "unreadable_document",
        what,
        hint or "open it in the program that made it, and save it again",
    )


def unsupported(what: str, hint: str) -> ReadingRefused:
    """The format is not one that is read."""
    return ReadingRefused("unsupported_document", what, hint)


def encrypted(what: str) -> ReadingRefused:
    """The file needs a password."""
    return ReadingRefused(
        "encrypted_document", what, "save a copy without a password, and send that"
    )


def too_large(what: str, hint: str = "") -> ReadingRefused:
    """The file, or what it unpacks to, exceeds a limit."""
    return ReadingRefused(
        "document_too_large", what, hint or "split the document, and send its parts"
    )
