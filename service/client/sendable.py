"""What a request can carry: the bytes of its body, and the refusal of values that have none.

Does: write bodies as JSON, and refuse what JSON or UTF-8 cannot hold before it is sent, with its place. Does not: check
anything else (the service does).
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from intaglio.schemas.base import MAX_TEXT_CHARACTERS
from intaglio.schemas.json_pointer import child_pointer
from intaglio.schemas.problem import Code, Detail, Problem

from .errors import APIStatusError, problem_error

_ENCODABLE: Final = "decode the text with errors='replace', or repair it with text.encode('utf-8', 'replace').decode()"


def encoded(body: Mapping[str, Any]) -> bytes:
    """`body` as JSON in UTF-8.

    Raises:
        APIStatusError: a string has half of a surrogate pair, or a number is not finite; `details` has its place.
        TypeError: a value is of no type that JSON has.
    """
    try:
        written = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return written.encode("utf-8")
    except RecursionError:
        raise _refused("", "nested too deeply", "flatten the schema") from None
    except (TypeError, ValueError):
        # The encoder's errors lack the place. Half a pair as a JSON escape would only fail later, at the service.
        fault = _first_fault(body)
        if fault is None:
            raise
        raise fault from None


def refused_text(text: str) -> APIStatusError | None:
    """The service's refusal of a text; None if it may be sent. Among many texts, one refusal would end their call."""
    if not text:
        return _refused("/text", "the text is empty", "leave empty documents out")
    if len(text) > MAX_TEXT_CHARACTERS:
        reason = f"the text has {len(text):,} characters; at most {MAX_TEXT_CHARACTERS:,} are read"
        return _refused("/text", reason, "split it into documents")
    reason = _half_pair(text)
    return _refused("/text", reason, _ENCODABLE) if reason else None


def _half_pair(text: str) -> str:
    """Where `text` has a code point that UTF-8 cannot write; empty if it has none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        found = text[error.start]
        return f"half a surrogate pair (U+{ord(found):04X}) at character {error.start}"
    return ""


def _first_fault(body: Mapping[str, Any]) -> Exception | None:
    """The first value that cannot be written, as an error; None if there is none."""
    waiting: list[tuple[str, Any]] = [("", body)]
    seen: set[int] = set()
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, str):
            if reason := _half_pair(value):
                return _refused(pointer, reason, _ENCODABLE)
        elif isinstance(value, Mapping | list | tuple):
            if id(value) in seen:
                continue
            seen.add(id(value))
            parts = value.items() if isinstance(value, Mapping) else enumerate(value)
            for name, part in reversed(list(parts)):
                if isinstance(name, str) and _half_pair(name):
                    return _refused(
                        pointer, f"the name of a property has {_half_pair(name)}", _ENCODABLE
                    )
                waiting.append((child_pointer(pointer, name), part))
        elif isinstance(value, float) and (
            value != value or value in (float("inf"), float("-inf"))
        ):
            return _refused(
                pointer, f"{value} is not a number of JSON", "leave it out, or use null"
            )
        elif not isinstance(value, int | float | None):
            kind = type(value).__name__
            return TypeError(
                f"{pointer}: a value of type {kind} is not JSON; give text, numbers, lists and dicts"
            )
    return None


def _refused(pointer: str, reason: str, hint: str) -> APIStatusError:
    """The error that the service would answer."""
    in_schema = pointer == "/schema" or pointer.startswith("/schema/")
    return problem_error(
        Problem(
            message=f"{pointer}: {reason}".removeprefix(": "),
            type="invalid_request_error",
            code=Code.INVALID_SCHEMA if in_schema else Code.INVALID_REQUEST,
            hint=hint,
            details=(Detail(pointer=pointer, reason=reason, hint=hint),),
        )
    )
