"""PDF: the text layer with a box for each character, values of forms, attached files, and pages as images.

Does: read page by page with PDFium, in the coordinates of the page as it is shown, with forms and annotations as they
are shown. Does not: recognise text in images; pages without a text layer are noted. Does not run scripts of forms.
"""

import ctypes
import struct
import zlib
from array import array
from collections.abc import Iterator
from contextlib import closing, suppress
from enum import Enum
from functools import lru_cache
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium

from .child_messages import ImageSize
from .parsed_document import (
    BLANK_PAGE,
    MAX_ATTACHED_BYTES,
    MAX_ATTACHMENTS,
    NO_TEXT_LAYER,
    PDF,
    AttachedFile,
    Note,
    PageText,
    ParsedDocument,
    joined,
)
from .read_image import cells_of, require_shape
from .recognise import attached_type
from .refused import encrypted, too_large, unreadable

MAX_PAGES: Final = 5000
MAX_CHARACTERS: Final = 4_000_000
MAX_PIXELS: Final = 6_000_000
_SEEN_SCALE: Final = 200 / 72  # pixels a point: more does not make small print clearer
_PASSWORD: Final = 4  # FPDF_ERR_PASSWORD
_SECURITY: Final = 5  # FPDF_ERR_SECURITY
_NO_GLYPH: Final = (0.0, 0.0, 0.0, 0.0)
# A hyphen at the end of a line within a word, as PDFium writes it, which leaves out the end of the line then.
_HYPHENS: Final = {0x02: "-\n", 0xFFFE: "-\n", 0xAD: "-"}

Frame = tuple[float, float, float, float]
"""Left, bottom, right and top of the visible part of a page, in its own coordinates."""


class _Layer(Enum):
    """The text layer of a page."""

    TEXT = "text"
    MISSING = "something is drawn, and none of it is text"
    EMPTY = "nothing is drawn"
    DAMAGED = "the page cannot be loaded"


_NOTES: Final = {
    _Layer.MISSING: (NO_TEXT_LAYER, "no text layer: a scan or an image"),
    _Layer.EMPTY: (BLANK_PAGE, "nothing is drawn on the page"),
    _Layer.DAMAGED: ("damaged_page", "the page cannot be read"),
}


def read_pdf(content: bytes) -> ParsedDocument:
    """A PDF as a document.

    Raises:
        ReadingRefused: it is damaged or encrypted, or has too many pages or characters.
    """
    with closing(_opened(content)) as pdf:
        count = len(pdf)
        if count > MAX_PAGES:
            raise too_large(f"the PDF has {count} pages; at most {MAX_PAGES} are read")
        pages, total = list[PageText](), 0
        found: dict[_Layer, list[int]] = {layer: [] for layer in _Layer}
        for number in range(1, count + 1):
            page, layer = _page(pdf, number)
            found[layer].append(number)
            total += len(page.text)
            if total > MAX_CHARACTERS:
                raise too_large(f"the PDF has more than {MAX_CHARACTERS} characters")
            pages.append(page)
        text, placed = joined(pages)
        attachments, notes = _attachments(pdf)
    if len(found[_Layer.EMPTY]) == count:  # refused, as a document of images is
        found[_Layer.MISSING] = found.pop(_Layer.EMPTY)
    notes += [
        Note(*note, tuple(found[layer])) for layer, note in _NOTES.items() if found.get(layer)
    ]
    return ParsedDocument(PDF, text, placed, tuple(notes), attachments)


def page_image(content: bytes, number: int, scale: float) -> bytes:
    """Page `number` (from 1) as PNG, with `scale` pixels a point, with its annotations and the values of its form.

    Raises:
        ReadingRefused: the PDF or the page cannot be read.
    """
    with closing(_opened(content)) as pdf:
        bitmap = _drawn(pdf, number, scale, MAX_PIXELS)
        return _png(bitmap.width, bitmap.height, bitmap.stride, bytes(bitmap.buffer))


def page_cells(content: bytes, number: int, size: ImageSize) -> tuple[int, int, bytes]:
    """Rows and columns of cells, and the pixels, of page `number` (from 1), for a model that reads images.

    Raises:
        ReadingRefused: the PDF or the page cannot be read.
    """
    # Not above: a process without images does without the library.
    from PIL import Image

    with closing(_opened(content)) as pdf:
        bitmap = _drawn(pdf, number, _SEEN_SCALE, min(size.most, MAX_PIXELS))
        require_shape(bitmap.width, bitmap.height, f"page {number}", "pixels")
        places = (bitmap.width, bitmap.height)
        drawn = Image.frombytes("RGB", places, bytes(bitmap.buffer), "raw", "RGB", bitmap.stride)
        return cells_of(drawn, size)


def _drawn(pdf: Any, number: int, scale: float, most: int) -> Any:
    """The bitmap (RGB) of a page, of about `most` pixels at most."""
    if not 1 <= number <= len(pdf):
        raise unreadable(f"the PDF has {len(pdf)} pages", "give the number of one of them")
    try:
        page = pdf[number - 1]
        if _flatten(page):
            page.close()
            page = pdf[number - 1]
        width, height = page.get_size()
        if not (0 < width < 1e5 and 0 < height < 1e5):
            raise unreadable("the size of the page is absurd")
        return page.render(
            scale=min(scale, (most / (width * height)) ** 0.5),
            may_draw_forms=False,
            draw_annots=False,
            rev_byteorder=True,
            force_bitmap_format=pdfium.FPDFBitmap_BGR,
        )
    except pypdfium2.PdfiumError:
        raise unreadable("the page cannot be drawn") from None


def _opened(content: bytes) -> Any:
    try:
        pdf = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if _is_pageless(content):
            raise unreadable("the PDF has no pages") from None
        if error.err_code in (_PASSWORD, _SECURITY):
            raise encrypted("the PDF is encrypted and needs a password") from None
        raise unreadable("the PDF is damaged") from None
    if pdf.get_formtype() == pdfium.FORMTYPE_ACRO_FORM:
        with suppress(pypdfium2.PdfiumError):
            pdf.init_forms()  # draws fields that have a value but no appearance
    return pdf


def _is_pageless(content: bytes) -> bool:
    """Whether PDFium opens the file. pypdfium2 refuses one without pages with the error of an earlier file."""
    if opened := pdfium.FPDF_LoadMemDocument64(content, len(content), None):
        pdfium.FPDF_CloseDocument(opened)
    return bool(opened)


def _page(pdf: Any, number: int) -> tuple[PageText, _Layer]:
    """One page and its text layer.

    The values of a form on a scanned page are text, and the page is still one without a text layer.
    """
    try:
        with closing(pdf[number - 1]) as page:
            width, height = page.get_size()
            text, boxes = _placed_text(page)
            layer, flattened = _layer(page, text), _flatten(page)
        if flattened:
            with closing(pdf[number - 1]) as page:
                text, boxes = _placed_text(page)
                layer = _layer(page, "") if layer is _Layer.EMPTY else layer
        label = pdf.get_page_label(number - 1)
        return PageText(text, label[:64], width, height, boxes), layer
    except pypdfium2.PdfiumError:
        return PageText(""), _Layer.DAMAGED


def _layer(page: Any, text: str) -> _Layer:
    if text.strip():
        return _Layer.TEXT
    return _Layer.MISSING if pdfium.FPDFPage_CountObjects(page.raw) > 0 else _Layer.EMPTY


def _placed_text(page: Any) -> tuple[str, bytes]:
    with closing(page.get_textpage()) as text_page:
        return _characters(text_page.raw, _frame(page), page.get_rotation())


def _flatten(page: Any) -> bool:
    """Make annotations and form fields content of the page, where a viewer shows them; it must be loaded again then."""
    if pdfium.FPDFPage_GetAnnotCount(page.raw) <= 0:
        return False
    # PDFium takes a box that the page inherits for absent, and would give it the size of a letter.
    frame = _frame(page)
    page.set_mediabox(*frame)
    page.set_cropbox(*frame)
    done = pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
    return bool(done == pdfium.FLATTEN_SUCCESS)


def _frame(page: Any) -> Frame:
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page.raw, box)
    return box.left, box.bottom, box.right, box.top


def _characters(raw: Any, frame: Frame, rotation: int) -> tuple[str, bytes]:
    """The text of a page, and the boxes of its characters. PDFium's own indices, so that both agree."""
    unicode_of, box_of = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetCharBox
    count = max(0, pdfium.FPDFText_CountChars(raw))
    if count > MAX_CHARACTERS:
        raise too_large(f"a page has more than {MAX_CHARACTERS} characters")
    corners = (ctypes.c_double * 4)()
    left, right, bottom, top = (
        ctypes.byref(ctypes.c_double.from_buffer(corners, 8 * i)) for i in range(4)
    )
    edges = array("d", bytes(64 * count))  # hyphens become two characters
    found, places = memoryview(corners).cast("B"), memoryview(edges).cast("B")
    text = list[str]()
    for index in range(count):
        character = _character(unicode_of(raw, index))
        if not character:
            continue
        if character > " " and box_of(raw, index, left, right, bottom, top):
            at = 32 * len(text)
            places[at : at + 32] = found
        text.extend(character)
    places.release()
    kept = len(text)
    while kept and text[kept - 1].isspace():
        kept -= 1
    del edges[4 * kept :]
    return "".join(text[:kept]), _turned(edges, frame, rotation).tobytes()


@lru_cache(maxsize=1 << 14)
def _character(code: int) -> str:
    """A code point of the text layer as normalised text; empty if it stands for nothing."""
    if code in _HYPHENS:
        return _HYPHENS[code]
    if code in (0x0D, 0xFEFF):
        return ""
    if code in (0x09, 0x0A):
        return chr(code)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return " " if code else ""
    return "\ufffd" if 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code)


def _turned(edges: "array[float]", frame: Frame, rotation: int) -> "array[float]":
    """Boxes (left, right, bottom, top) of the page's own coordinates as x0, y0, x1, y1 of the page as it is shown.

    `rotation` is clockwise, in degrees.
    """
    x_low, y_low, x_high, y_high = frame
    left, right, bottom, top = edges[0::4], edges[1::4], edges[2::4], edges[3::4]
    if rotation == 90:
        x0, y0 = [y - y_low for y in bottom], [x - x_low for x in left]
        x1, y1 = [y - y_low for y in top], [x - x_low for x in right]
    elif rotation == 180:
        x0, y0 = [x_high - x for x in right], [y - y_low for y in bottom]
        x1, y1 = [x_high - x for x in left], [y - y_low for y in top]
    elif rotation == 270:
        x0, y0 = [y_high - y for y in top], [x_high - x for x in right]
        x1, y1 = [y_high - y for y in bottom], [x_high - x for x in left]
    else:
        x0, y0 = [x - x_low for x in left], [y_high - y for y in top]
        x1, y1 = [x - x_low for x in right], [y_high - y for y in bottom]
    found = array("f", bytes(4 * len(edges)))
    for corner, side in enumerate((x0, y0, x1, y1)):
        found[corner::4] = array("f", side)
    for at in range(0, len(edges), 4):
        if edges[at] == edges[at + 1] and edges[at + 2] == edges[at + 3]:
            found[at : at + 4] = array("f", _NO_GLYPH)
    return found


def _attachments(pdf: Any) -> tuple[tuple[AttachedFile, ...], list[Note]]:
    """The files in a PDF that can be read, and a note if some are left out."""
    found, left_out, size = list[AttachedFile](), 0, 0
    count = max(0, pdf.count_attachments())
    for content, name in _attached(pdf, min(count, MAX_ATTACHMENTS)):
        size += len(content)
        if size > MAX_ATTACHED_BYTES:
            left_out += 1
            continue
        found.append(AttachedFile(name, attached_type(content), content))
    left_out += max(0, count - MAX_ATTACHMENTS)
    note = Note("attachments_left_out", f"{left_out} attachments are too many or too large")
    return tuple(found), [note] if left_out else []


def _attached(pdf: Any, count: int) -> Iterator[tuple[bytes, str]]:
    for index in range(count):
        try:
            attachment = pdf.get_attachment(index)
            yield bytes(attachment.get_data()), attachment.get_name()[:255]
        except pypdfium2.PdfiumError:
            continue


def _png(width: int, height: int, stride: int, pixels: bytes) -> bytes:
    """A PNG (8-bit RGB, no filters) of rows of `stride` bytes."""
    lines = b"".join(
        b"\0" + pixels[at : at + 3 * width] for at in range(0, height * stride, stride)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
