"""The plan of one extraction from a long document: its windows, and the engine request of each.

Does: decide whether a document is read in windows, and in which; prepare the request of a window. Does not: run
requests or merge their answers (`windowed_extraction`).

A window and its answer share the context. An answer copies at most its window, with names and punctuation around the
copied parts; the tokens for that are estimated from the schema. An answer that needs more is read again in halves.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from intaglio.engine.api import TooLong
from intaglio.schemas.extraction.requests import Message

from ..errors import RequestDeadlineExceeded
from ..extraction.budget import AnswerRoom
from ..extraction.extract import Extractor, ParsedExtraction, Prepared
from ..extraction.translate import extraction_constraint
from .split import SMALLEST_WINDOW, Window, split
from .window_schema import window_schema

_MAX_ANSWER: Final = (
    4.0  # tokens of an answer for each token of its window, at most, when windows are planned
)
_OVERLAP: Final = 8  # neighbours share this part of a window
_MARGIN: Final = 16  # a window may have this part more tokens as a whole than piece by piece
_READABLE: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """The plan for reading a long document.

    `whole` is the extraction as requested, and `part` that of one window, without its text.
    """

    whole: ParsedExtraction
    part: ParsedExtraction
    text: str
    windows: tuple[Window, ...]
    overlap: int

    def request(self, extractor: Extractor, window: Window, *, strict: bool = False) -> Prepared:
        """The reading of one window; with `strict` under the schema of the whole.

        Raises:
            RequestDeadlineExceeded: the deadline of the whole has passed.
            TooLong: the window does not fit, because its text has more tokens as a whole than piece by piece.
        """
        template = self.whole if strict else self.part
        content = self.text[window.start : window.end]
        left = _time_left(self.whole)
        options = template.body.options.model_copy(update={"deadline_s": left})
        body = template.body.model_copy(update={"text": content, "options": options})
        parts = replace(template.parts, messages=(Message(role="user", content=content),))
        begun = time.perf_counter()  # the remaining deadline counts from here
        return extractor.prepare(replace(template, body=body, parts=parts, started=begun))

    def halves(self, extractor: Extractor, window: Window) -> tuple[Window, ...]:
        """A window in two or three smaller ones; none if it is too small for that."""
        room = window.tokens * 5 // 8
        if room < SMALLEST_WINDOW:
            return ()
        content = self.text[window.start : window.end]
        count, overlap = extractor.fitter.count, min(self.overlap, room // 4)
        smaller = split(content, count, room, overlap, window.start)
        return smaller if len(smaller) > 1 else ()


def plan_windows(extractor: Extractor, parsed: ParsedExtraction) -> WindowPlan | None:
    """The windows of an examined extraction; None if its document is to be read at once.

    The schema of the windows has yet to be examined: `part.constraint`.

    Raises:
        TooLong: the document does not fit, and too little room is left for windows.
    """
    body, parts = parsed.body, parsed.parts
    if body.options.long_documents != "windows" or len(parts.messages) != 1:
        return None
    if parts.images or parts.messages[0].role == "system":
        return None
    text, fitter = parts.document, extractor.fitter
    outlined = parsed.schema if isinstance(parsed.schema, Mapping) else {}
    room = _window_room(extractor, parsed, outlined)
    if room < SMALLEST_WINDOW:
        _require_fit(extractor, parsed, outlined)
        return None
    overlap = room // _OVERLAP
    windows = split(text, fitter.count, room, overlap)
    readable = tuple(one for one in windows if _READABLE.search(text, one.start, one.end))
    if len(windows) < 2 or not readable:
        return None
    schema = window_schema(
        parsed.schema if isinstance(parsed.schema, bool) else dict(parsed.schema)
    )
    constraint = extraction_constraint(schema, body.options)
    part = replace(parsed, schema=schema, constraint=constraint, strict=None)
    return WindowPlan(parsed, part, text, readable, overlap)


def _window_room(
    extractor: Extractor, parsed: ParsedExtraction, outlined: Mapping[str, Any]
) -> int:
    """The tokens of a window that leave room for its answer."""
    fitter, requested = extractor.fitter, parsed.body.options.max_tokens
    free = fitter.capacity - fitter.around(outlined, parsed.parts)
    answer = min(AnswerRoom.of(parsed.schema).rate - 1, _MAX_ANSWER)
    room = int(free / (1 + answer))
    if requested is not None:
        room = min(room, free - requested)
    return room - room // _MARGIN


def _require_fit(
    extractor: Extractor, parsed: ParsedExtraction, outlined: Mapping[str, Any]
) -> None:
    """Return if the document fits the context, though no window would.

    Raises:
        TooLong: it does not.
    """
    fitter, requested = extractor.fitter, parsed.body.options.max_tokens
    around = fitter.around(outlined, parsed.parts)
    if around + fitter.count(parsed.parts.document) + (requested or 1) <= fitter.capacity:
        return
    raise TooLong(
        f"the prompt around the document has {around} tokens of {fitter.capacity}"
        + ("" if requested is None else f", and the answer {requested}")
        + "; that leaves too little for windows of the document",
        where="schema" if requested is None else "options.max_tokens",
        hint="use a model with a longer context, shorten the schema, or lower max_tokens",
    )


def _time_left(parsed: ParsedExtraction) -> float | None:
    """Seconds until the deadline of the request; None if it has none. Raises `RequestDeadlineExceeded`."""
    deadline = parsed.body.options.deadline_s
    if deadline is None:
        return None
    left = parsed.started + deadline - time.perf_counter()
    if left > 0:
        return left
    raise RequestDeadlineExceeded(
        f"the document was not read after {deadline:g} s",
        param="options.deadline_s",
        hint="raise deadline_s, or try again when the service has less load",
    )
