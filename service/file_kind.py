"""The kind of a file by its first bytes: binary formats with a hint for conversion, HTML and mails.

Does: know the signatures of common formats. Does not: read or decompress files.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

HEAD: Final = 4096  # bytes of a file that recognition needs
BINARY: Final = "binary data"

_OFFICE: Final = (
    "save it as plain text, or convert it: pandoc -t plain, libreoffice --convert-to txt"
)
_TABLES: Final = "save it as CSV, then: intaglio job run FILE.csv"
_SEEN: Final = "use a model that reads images, or extract its text first with an OCR program, such as tesseract"
_UNPACK: Final = "unpack it first"
# Program output may begin like this; documents for extraction do not.
_BEGINNINGS: Final[tuple[tuple[bytes, str, str], ...]] = (
    (
        b"%PDF-",
        "a PDF",
        "extract its text first, for instance: pdftotext -layout FILE.pdf FILE.txt",
    ),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document (DOC, XLS, PPT)", _OFFICE),
    (b"{\\rtf", "an RTF document", _OFFICE),
    (b"\x89PNG\r\n\x1a\n", "an image (PNG)", _SEEN),
    (b"\xff\xd8\xff", "an image (JPEG)", _SEEN),
    (b"GIF87a", "an image (GIF)", _SEEN),
    (b"GIF89a", "an image (GIF)", _SEEN),
    (b"II*\x00", "an image (TIFF)", _SEEN),
    (b"MM\x00*", "an image (TIFF)", _SEEN),
    (b"\x1f\x8b", "packed with gzip", "unpack it first: gunzip FILE.gz"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it first: unzstd FILE.zst"),
    (b"\xfd7zXZ\x00", "packed with xz", "unpack it first: unxz FILE.xz"),
    (b"BZh", "packed with bzip2", "unpack it first: bunzip2 FILE.bz2"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"PAR1", "a Parquet file", "each row is a document: intaglio job run FILE.parquet"),
    (b"SQLite format 3\x00", "a SQLite database", "export the table as CSV"),
    (b"\x7fELF", "a program", "give a file of text"),
)
# Names of the first members, near the beginning of a ZIP archive.
_IN_ZIP: Final[tuple[tuple[bytes, str, str], ...]] = (
    (b"word/", "a Word document (DOCX)", _OFFICE),
    (b"xl/", "a spreadsheet (XLSX)", _TABLES),
    (b"ppt/", "a presentation (PPTX)", _OFFICE),
    (b"opendocument.text", "an OpenDocument text (ODT)", _OFFICE),
    (b"opendocument.spreadsheet", "an OpenDocument spreadsheet (ODS)", _TABLES),
    (b"epub+zip", "an e-book (EPUB)", _OFFICE),
)
_HTML: Final = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|table|div|p|title|meta)\b",
    re.IGNORECASE | re.DOTALL,
)
_FIELD: Final = re.compile(rb"([!-9;-~]{1,76}):[ \t]?[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*")
_PROGRAM_FIELDS: Final = frozenset(
    {
        *(b"received", b"return-path", b"delivered-to", b"message-id", b"mime-version"),
        *(b"content-type", b"content-transfer-encoding", b"dkim-signature"),
    }
)
"""Fields that programs write into a mail, and that are not copied with its text."""
_MAIL_FIELDS: Final = _PROGRAM_FIELDS | {b"from", b"to", b"subject", b"date", b"reply-to", b"cc"}
_ENCODED_WORD: Final = re.compile(rb"=\?[\w-]+\?[bqBQ]\?[!-~]*\?=")
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


_DOCUMENTS: Final = frozenset(
    {
        *("a PDF", "an old Office document (DOC, XLS, PPT)", "a Word document (DOCX)"),
        *("a spreadsheet (XLSX)", "an OpenDocument spreadsheet (ODS)"),
        "an Office document (DOCX, XLSX, PPTX)",
    }
)


_IMAGES: Final[Mapping[str, str]] = {
    f"an image ({name})": f"image/{name.lower()}"
    for name in ("PNG", "JPEG", "GIF", "TIFF", "WebP", "BMP")
}


@dataclass(frozen=True, slots=True)
class FileKind:
    """The kind of a file ("a PDF") and a hint how to get text from it."""

    name: str
    hint: str


def kind_of(head: bytes) -> FileKind | None:
    """The kind of a binary file that begins with `head`; None if no signature matches."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        for signature, name, hint in _IN_ZIP:
            if signature in head:
                return FileKind(name, hint)
        if b"[Content_Types].xml" in head:
            return FileKind("an Office document (DOCX, XLSX, PPTX)", _OFFICE)
        return FileKind("a ZIP archive", "unpack it first: unzip FILE.zip")
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return FileKind("an image (WebP)", _SEEN)
    if head.startswith(b"BM") and head[6:10] == bytes(4):
        return FileKind("an image (BMP)", _SEEN)
    if head[4:8] == b"ftyp":
        return FileKind("an image or a video (HEIC, AVIF, MP4)", _SEEN)
    for signature, name, hint in _BEGINNINGS:
        if head.startswith(signature):
            return FileKind(name, hint)
    return None


def image_type(head: bytes) -> str | None:
    """The media type of an image that a model with vision may read; None for another file."""
    found = kind_of(head)
    return None if found is None else _IMAGES.get(found.name)


def why_not_utf8(head: bytes, name: str) -> FileKind:
    """The description of a file that is not UTF-8 and matches no signature."""
    if head.startswith(_UTF16) or (b"\0" in head and _is_half_zero(head)):
        return FileKind("UTF-16 text", f"convert it first: iconv -f utf-16 -t utf-8 {name}")
    if b"\0" in head or sum(byte < 9 or 13 < byte < 32 for byte in head) * 10 > len(head):
        return FileKind(BINARY, "give a text file; the program that wrote this file may export one")
    hint = f"convert it first, for instance: iconv -f latin1 -t utf-8 {name}"
    return FileKind("text in another encoding", hint)


def _is_half_zero(head: bytes) -> bool:
    """Whether every second byte is mostly zero and the others are not, as in UTF-16."""
    share = [half.count(0) / max(1, len(half)) for half in (head[::2], head[1::2])]
    return min(share) < 0.1 and max(share) > 0.4


def is_document(content: bytes) -> bool:
    """Whether a file may be read as a document, rather than taken as text in UTF-8."""
    head = content[:HEAD]
    found = kind_of(head)
    if found is not None:
        return found.name in _DOCUMENTS
    if is_html(head) or is_mail(head):
        return True
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return why_not_utf8(head, "FILE").name != BINARY
    return False


def is_html(head: bytes) -> bool:
    """Whether a text begins as a page of HTML does."""
    return _HTML.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def is_mail(head: bytes) -> bool:
    """Whether a text begins with header fields of a mail as a program stored it.

    Two fields are those of mails, and one is a program's, or the lines are encoded as only a program does. Text that
    was copied out of a mail is text: all its lines are read, whatever fields there are.
    """
    body = re.sub(rb"\AFrom [^\r\n]*\r?\n", b"", head)  # the line with which mailboxes begin
    at, known = 0, set[bytes]()
    while (field := _FIELD.match(body, at)) is not None:
        known.add(field[1].lower())
        at = field.end()
    stored = len(body) < len(head) or known & _PROGRAM_FIELDS or _ENCODED_WORD.search(body, 0, at)
    ended = body[at : at + 1] in (b"\r", b"\n", b"") and at > 0
    return bool(stored) and ended and len(known & _MAIL_FIELDS) >= 2
