"""Any file to a document: the one entry to all readers.

Does: choose the reader by the content; refuse documents without text. Does not: limit time or memory (`child_process`).
"""

from typing import Final

from . import parsed_document as media
from .parsed_document import ParsedDocument
from .read_docx import read_docx
from .read_html import read_html
from .read_mail import read_mail
from .read_pdf import read_pdf
from .read_sheets import read_sheets
from .read_text import read_text
from .recognise import media_type_of
from .refused import ReadingRefused, too_large, unreadable

MAX_CHARACTERS: Final = 4_000_000


def parse_document(content: bytes, *, silent: bool = False) -> ParsedDocument:
    """The document in a file; if `silent`, also a PDF without any text, of which the pages may be drawn.

    Raises:
        ReadingRefused: it cannot be read, is too large, or has no text.
    """
    if not content:
        raise unreadable("the document is empty", "is it the right file?")
    media_type = media_type_of(content)
    found = _read(content, media_type)
    if len(found.text) > MAX_CHARACTERS:
        raise too_large(f"the document has more than {MAX_CHARACTERS} characters")
    if found.text.strip() or found.attachments or (silent and media_type == media.PDF):
        return found
    if media_type == media.PDF:
        raise ReadingRefused(
            "no_text_layer",
            "no page of the PDF has a text layer: it is a scan, or consists of images",
            "add a text layer with an OCR program, such as ocrmypdf",
        )
    raise unreadable("the document has no text", "is it the right file?")


def _read(content: bytes, media_type: str) -> ParsedDocument:
    if media_type == media.PDF:
        return read_pdf(content)
    if media_type == media.DOCX:
        return read_docx(content)
    if media_type in (media.XLSX, media.XLSB, media.XLS, media.ODS):
        return read_sheets(content, media_type)
    if media_type == media.HTML:
        return read_html(content)
    return read_mail(content) if media_type == media.MAIL else read_text(content)
