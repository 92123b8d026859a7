"""Plain text, Markdown and CSV: bytes in any encoding to text.

Does: find the encoding and decode. Does not: interpret mark-up or columns.
"""

import codecs
from typing import Final

from ..encoding_guess import guessed_encoding, mostly_fits
from ..file_kind import HEAD, kind_of, why_not_utf8
from .parsed_document import PLAIN, Note, ParsedDocument, normalised
from .refused import unreadable, unsupported

_SAMPLE: Final = 1 << 16
_REPLACED: Final = "\ufffd"
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CERTAIN: Final = frozenset({"utf-8", "utf-16-le", "utf-16-be", *(name for _, name in _BOMS)})


def read_text(content: bytes) -> ParsedDocument:
    """A text as a document, with a note if its encoding is a guess.

    Raises:
        ReadingRefused: it is binary data, or its encoding cannot be found.
    """
    encoding = encoding_of(content)
    if encoding is None:
        kind = why_not_utf8(content[:HEAD], "FILE")
        raise unsupported(f"the document is {kind.name}", kind.hint)
    try:
        text, notes = content.decode(encoding), guess_notes(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise unreadable(
                f"the document seems to be {encoding} text and is not, at byte {error.start}",
                "save it as UTF-8",
            ) from None
        text = content.decode(encoding, "replace")
        damage = f"bytes that are not UTF-8 are shown as {_REPLACED}, the first one is byte {error.start}"
        notes = (Note("damaged_characters", damage),)
    return ParsedDocument(PLAIN, normalised(text), notes=notes)


def guess_notes(encoding: str | None) -> tuple[Note, ...]:
    """The note about an encoding that was guessed; none if it was not."""
    if encoding is None or encoding in _CERTAIN:
        return ()
    message = f"the text is not UTF-8 and names no encoding that fits; it was read as {encoding}"
    return (Note("encoding_guessed", message),)


def encoding_of(content: bytes) -> str | None:
    """The encoding of a text, some bytes of which may be damaged if it is UTF-8; None if it is none."""
    for bom, name in _BOMS:
        if content.startswith(bom):
            return name
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return None if _is_binary(content) else "utf-8"
    sample = content[: _SAMPLE & ~3]
    if kind_of(sample[:HEAD]) is not None:
        return None
    wide = _utf16(sample)
    if wide is not None:
        return wide
    if b"\0" in sample or _is_binary(sample):
        return None
    if mostly_fits(content, "utf-8"):
        return "utf-8"
    return guessed_encoding(content)


def _is_binary(content: bytes) -> bool:
    """Whether a text has more control characters than texts have."""
    head = content[:HEAD]
    return sum(byte < 9 or 13 < byte < 32 for byte in head) * 10 > max(1, len(head))


def _utf16(sample: bytes) -> str | None:
    """UTF-16 without a byte order mark: every second byte of western text is zero."""
    even, odd = sample[::2], sample[1::2]
    shares = even.count(0) / max(1, len(even)), odd.count(0) / max(1, len(odd))
    if min(shares) < 0.1 and max(shares) > 0.4:
        return "utf-16-be" if shares[0] > shares[1] else "utf-16-le"
    return None
