"""The media type of a file, from its content: never from its name or from what its sender declares.

Does: know signatures, and the members of archives. Does not: read more than the beginning of a file and the directory
of an archive.
"""

from typing import Final

from ..file_kind import BINARY, HEAD, is_html, is_mail, kind_of, why_not_utf8
from . import parsed_document as media
from .archive import Archive
from .refused import ReadingRefused, unsupported

_SUPPORTED: Final = "PDF, DOCX, XLSX, XLS, ODS, HTML, mail, Markdown, CSV and text are read"
_PDF_WITHIN: Final = 1024  # readers of PDF accept junk of up to this length before the signature
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WORKBOOK: Final = ("Workbook".encode("utf-16-le"), "Book".encode("utf-16-le"))
_MEMBERS: Final = (
    ("word/document.xml", media.DOCX),
    ("xl/workbook.xml", media.XLSX),
    ("xl/workbook.bin", media.XLSB),
)


def media_type_of(content: bytes) -> str:
    """The media type of a file that can be read.

    Raises:
        ReadingRefused: the format is not one that is read, or an archive is damaged.
    """
    head = content[:HEAD]
    if b"%PDF-" in content[:_PDF_WITHIN]:
        return media.PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_archive(content)
    if head.startswith(_OLE):
        return _in_compound_file(content)
    found = kind_of(head)
    if found is not None:
        raise unsupported(f"the document is {found.name}: this format is not read", found.hint)
    plain = head.removeprefix(b"\xef\xbb\xbf")
    if is_html(plain):
        return media.HTML
    if is_mail(plain):
        return media.MAIL
    binary = why_not_utf8(head, "FILE")
    if b"\0" in head and binary.name == BINARY:
        raise unsupported("the document is binary data of an unknown format", binary.hint)
    return media.PLAIN


def attached_type(content: bytes) -> str:
    """The media type of an attached file; `UNKNOWN` for a format that is not read."""
    try:
        return media_type_of(content)
    except ReadingRefused:
        return media.UNKNOWN


def _in_archive(content: bytes) -> str:
    with Archive(content) as archive:
        for member, media_type in _MEMBERS:
            if member in archive.names:
                return media_type
        if archive.names and "mimetype" in archive.names:
            declared = archive.read("mimetype").strip().decode("ascii", "replace")
            if declared == media.ODS:
                return media.ODS
    found = kind_of(content[:HEAD])
    name, hint = (found.name, found.hint) if found else ("a ZIP archive", "unpack it first")
    raise unsupported(f"the document is {name}: this format is not read", hint)


def _in_compound_file(content: bytes) -> str:
    """An old Office document: only workbooks are read."""
    if any(name in content for name in _WORKBOOK):
        return media.XLS
    raise unsupported(
        "the document is an old Office document (DOC, PPT, MSG): this format is not read",
        f"save it in a newer format; {_SUPPORTED}",
    )
