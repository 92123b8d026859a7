"""The plan of one extraction from a long document: its windows, and the engine request of each.

Does: decide whether a document is read in windows, and in which; prepare the request of a window. Does not: run
requests or merge their answers (`windowed_extraction`).

A window and its answer share the context. An answer copies at most its window, with names and punctuation around the
copied parts; the tokens for that are estimated from the schema. Of an image it copies at most a token for each of the
image's own. An answer that needs more is read again in halves.
"""

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from intaglio.engine.api import TooLong
from intaglio.schemas.extraction.requests import Message

from ..documents.seen_image import SeenImage
from ..errors import RequestDeadlineExceeded
from ..extraction.budget import AnswerRoom
from ..extraction.extract import Extractor, ParsedExtraction, Prepared
from ..extraction.prompt_images import require_no_verbatim
from ..extraction.translate import extraction_constraint
from .split import SMALLEST_WINDOW, ImagePlace, Window, split
from .window_schema import window_schema

_MAX_ANSWER: Final = 4.0  # the most tokens of an answer, for each token of its window, in a plan
_MAX_ANSWER_OF_IMAGE: Final = 1.0  # the same for each token of an image: a page of small print
_OVERLAP: Final = 8  # neighbours share this part of a window
_MARGIN: Final = 16  # a window may have this part more tokens as a whole than piece by piece
_READABLE: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """The plan for reading a long document.

    `whole` is the extraction as requested, and `part` that of one window, without its text. `images` are the places of
    its images in the text.
    """

    whole: ParsedExtraction
    part: ParsedExtraction
    text: str
    windows: tuple[Window, ...]
    overlap: int
    images: tuple[ImagePlace, ...] = ()

    def request(self, extractor: Extractor, window: Window, *, strict: bool = False) -> Prepared:
        """The reading of one window; with `strict` under the schema of the whole.

        Raises:
            RequestDeadlineExceeded: the deadline of the whole has passed.
            TooLong: the window does not fit, because its text has more tokens as a whole than piece by piece.
        """
        template = self.whole if strict else self.part
        content, images = self.text[window.start : window.end], self._images(window)
        has_text = bool(content.strip()) or not images
        left = _time_left(self.whole)
        options = template.body.options.model_copy(update={"deadline_s": left})
        text = content if has_text else None
        body = template.body.model_copy(update={"text": text, "options": options})
        messages = (Message(role="user", content=content),) if has_text else ()
        parts = replace(template.parts, messages=messages, images=images)
        begun = time.perf_counter()  # the remaining deadline counts from here
        return extractor.prepare(replace(template, body=body, parts=parts, started=begun))

    def halves(self, extractor: Extractor, window: Window) -> tuple[Window, ...]:
        """A window in two or three smaller ones; none if it is too small for that."""
        room = window.tokens * 5 // 8
        if room < SMALLEST_WINDOW:
            return ()
        content = self.text[window.start : window.end]
        count, overlap = extractor.fitter.count, min(self.overlap, room // 4)
        inner = [
            replace(image, at=image.at - window.start)
            for image in self.images[window.first_image : window.last_image]
        ]
        smaller = split(content, count, room, overlap, window.start, inner)
        return smaller if len(smaller) > 1 else ()

    def _images(self, window: Window) -> tuple[SeenImage, ...]:
        """The images of a window, with their places in its text."""
        numbers = range(window.first_image, window.last_image)
        return tuple(
            replace(self.whole.parts.images[at], at=self.images[at].at - window.start)
            for at in numbers
        )


def plan_windows(extractor: Extractor, parsed: ParsedExtraction) -> WindowPlan | None:
    """The windows of an examined extraction; None if its document is to be read at once.

    The schema of the windows has yet to be examined: `part.constraint`.

    Raises:
        TooLong: the document does not fit, and too little room is left for windows, or for one of its images.
        InvalidBody: strings must occur in the document, which has images.
    """
    body, parts = parsed.body, parsed.parts
    if body.options.long_documents != "windows" or len(parts.messages) > 1:
        return None
    if not (parts.messages or parts.images):
        return None
    if parts.messages and parts.messages[0].role == "system":
        return None
    text, fitter = parts.document, extractor.fitter
    require_no_verbatim(parsed.constraint.about(text), parts.images)
    outlined = parsed.schema if isinstance(parsed.schema, Mapping) else {}
    room = _window_room(extractor, parsed, outlined)
    if room.tokens < SMALLEST_WINDOW:
        _require_fit(extractor, parsed, outlined)
        return None
    overlap = room.tokens // _OVERLAP
    images = room.places(parts.images, len(text), parts.part)
    windows = split(text, fitter.count_seen, room.tokens, overlap, images=images)
    readable = tuple(
        one for one in windows if one.has_images or _READABLE.search(text, one.start, one.end)
    )
    if len(windows) < 2 or not readable:
        return None
    schema = window_schema(
        parsed.schema if isinstance(parsed.schema, bool) else dict(parsed.schema)
    )
    constraint = extraction_constraint(schema, body.options)
    part = replace(parsed, schema=schema, constraint=constraint, strict=None)
    return WindowPlan(parsed, part, text, readable, overlap, images)


@dataclass(frozen=True, slots=True)
class _WindowRoom:
    """The `tokens` of text in a window that leave room for its answer. An image needs less room for an answer than a
    text of as many tokens, and counts as this `share` of its own, and of the `marks` around it. A window with nothing
    but an image has at most `most` tokens.
    """

    tokens: int
    most: int
    share: float = 1.0
    marks: int = 0

    def places(self, images: Sequence[SeenImage], end: int, part: str) -> tuple[ImagePlace, ...]:
        """The places of images in a text of the length `end`, with the room that each takes.

        Raises:
            TooLong: no window has room for one of them. `part` is the field that they come from.
        """
        found = list[ImagePlace]()
        for number, image in enumerate(images):
            tokens = image.tokens + self.marks
            if tokens > self.most:
                name = f"image {number + 1}" if image.page is None else f"page {image.page}"
                raise TooLong(
                    f"{name} takes {tokens} tokens as an image; a window has room for {self.most}",
                    where=part,
                    hint="lower max_image_tokens or max_tokens, or use a model with a longer context",
                )
            found.append(ImagePlace(number, min(image.at, end), math.ceil(tokens * self.share)))
        return tuple(found)


def _window_room(
    extractor: Extractor, parsed: ParsedExtraction, outlined: Mapping[str, Any]
) -> _WindowRoom:
    """The room of a window, beside that for its answer."""
    fitter, requested = extractor.fitter, parsed.body.options.max_tokens
    free = fitter.capacity - fitter.around(outlined, parsed.parts)
    answer = min(AnswerRoom.of(parsed.schema).rate - 1, _MAX_ANSWER)
    room, most = int(free / (1 + answer)), free - (requested or 1)
    if requested is not None:
        room = min(room, most)
    tokens = room - room // _MARGIN
    if not parsed.parts.images:
        return _WindowRoom(tokens, most)
    share = (1 + min(answer, _MAX_ANSWER_OF_IMAGE)) / (1 + answer)
    share = min(1.0, max(share, room / max(1, most)))  # images alone fit beside the answer, too
    return _WindowRoom(tokens, most, share, fitter.image_marks())


def _require_fit(
    extractor: Extractor, parsed: ParsedExtraction, outlined: Mapping[str, Any]
) -> None:
    """Return if the document fits the context, though no window would.

    Raises:
        TooLong: it does not.
    """
    fitter, requested = extractor.fitter, parsed.body.options.max_tokens
    around = fitter.around(outlined, parsed.parts)
    document = fitter.count_seen(parsed.parts.document) + parsed.parts.image_tokens
    if around + document + (requested or 1) <= fitter.capacity:
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
