"""Mails (EML): header fields, the best form of the body, and attachments.

Does: read one message with the standard library. Does not: read attachments; they are handed on as files.
"""

import email
import email.policy
import re
from email.message import EmailMessage, Message
from typing import Any, Final

from .parsed_document import (
    MAIL,
    MAX_ATTACHED_BYTES,
    MAX_ATTACHMENTS,
    AttachedFile,
    Note,
    ParsedDocument,
    normalised,
    one_line_of,
)
from .read_html import html_text
from .recognise import attached_type
from .refused import ReadingRefused, unreadable

_FIELDS: Final = ("From", "To", "Cc", "Date", "Subject")
_OF_PROGRAMS: Final = re.compile(
    r"received|return-path|delivered-to|message-id|mime-version|references|in-reply-to|user-agent|precedence|thread-.*"
    r"|dkim-.*|domainkey-.*|authentication-results|auto-submitted|envelope-to|errors-to|feedback-id|sender|status"
    r"|(?:x|arc|list|content|resent|received|ironport|require)-.*",
    re.IGNORECASE,
)
"""Fields that tell how a mail travelled."""
# What the standard library raises for malformed header fields and parts.
_MALFORMED: Final = (AttributeError, LookupError, TypeError, ValueError, AssertionError)


def read_mail(content: bytes) -> ParsedDocument:
    """A mail as a document. Raises `ReadingRefused` if it is malformed."""
    if content.startswith(b"From "):
        content = content.partition(b"\n")[2]
    try:
        message = email.message_from_bytes(content, policy=email.policy.default)
        others = [
            name for name in dict.fromkeys(message.keys()) if not _OF_PROGRAMS.fullmatch(name)
        ]
        names = dict.fromkeys((*_FIELDS, *(name for name in others if name.title() not in _FIELDS)))
        fields = [f"{name}: {value}" for name in names if (value := _field(message, name))]
        body = _body(message)
        attachments, notes = _attachments(message)
    except _MALFORMED:
        raise unreadable("the mail is malformed") from None
    text = "\n".join(fields) + ("\n\n" if fields and body else "") + body
    return ParsedDocument(MAIL, normalised(text), (), tuple(notes), attachments)


def _field(message: Message, name: str) -> str:
    try:
        return one_line_of(str(message[name] or ""))
    except _MALFORMED:
        return ""


def _body(message: EmailMessage) -> str:
    """The text of the body: the plain form, unless it has nothing to read and there is another."""
    plain = _content(message.get_body(("plain",)))
    if plain.strip():
        return plain.strip()
    page = _content(message.get_body(("html",)))
    try:
        return html_text(page, None) if page.strip() else ""
    except ReadingRefused:
        return ""


def _content(part: Any) -> str:
    if part is None:
        return ""
    try:
        found = part.get_content()
    except _MALFORMED:  # an unknown or wrong encoding
        raw = part.get_payload(decode=True)
        found = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else ""
    return found if isinstance(found, str) else ""


def _attachments(message: EmailMessage) -> tuple[tuple[AttachedFile, ...], list[Note]]:
    found, left_out, size = list[AttachedFile](), 0, 0
    for number, part in enumerate(message.iter_attachments(), 1):
        content = _bytes_of(part)
        if not content:
            continue
        size += len(content)
        if len(found) == MAX_ATTACHMENTS or size > MAX_ATTACHED_BYTES:
            left_out += 1
            continue
        name = one_line_of(part.get_filename() or f"attachment {number}")[:255]
        found.append(AttachedFile(name, attached_type(content), content))
    note = Note("attachments_left_out", f"{left_out} attachments are too many or too large")
    return tuple(found), [note] if left_out else []


def _bytes_of(part: Any) -> bytes:
    """The decoded content of a part; of a mail within a mail, the mail."""
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        return bytes(inner[0].as_bytes()) if isinstance(inner, list) and inner else b""
    raw = part.get_payload(decode=True)
    return raw if isinstance(raw, bytes) else b""
