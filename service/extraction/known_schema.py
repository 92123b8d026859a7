"""The hot path of extractions: the work that requests under one schema share is done once.

Does: recognise a request with a body that differs from an earlier one only in its text and in options of sampling and
scheduling, and prepare it without parsing or examining the schema again, rendering the template or encoding more than
the text. Does not: prepare the first request of a kind, or refuse anything: what it declines is prepared as usual, and
then refused with a reason.

The parts of the body around text and options are compared byte for byte with those of the earlier request, which has
passed every check.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, TypeVar

import msgspec
from intaglio.engine.api import PromptFrame
from intaglio.grammar.api import Constraint
from intaglio.schemas.base import MAX_TEXT_CHARACTERS
from intaglio.schemas.extraction.contract import Contract
from intaglio.schemas.extraction.requests import ExtractOptions

from ..errors import ServiceError
from ..grounding.field_reports import ReportRequest
from .budget import AnswerRoom
from .extract import Extractor, ParsedExtraction, Prepared
from .prompt import is_sparse
from .translate import options_of

KNOWN_BYTES: Final = 32 << 20
_LARGEST_SHARE: Final = 8  # a form larger than this part of the bound is not kept
_QUICK_S: Final = 0.002
_START_TOKENS: Final = 64  # the fixed cost of an answer, in tokens
_COMMON: Final = ("extra_properties", "grounding", "key_order", "not_stated", "strict_schema")

FormKey = tuple[bytes, bytes, bytes, bool, tuple[object, ...]]
"""The body before, between and after text and options; whether the text comes first; the options of the form."""


class _Envelope(msgspec.Struct):
    """The two varying parts of a body, as written."""

    text: msgspec.Raw = msgspec.Raw()
    options: msgspec.Raw = msgspec.Raw()


R = TypeVar("R")

_envelope: Final = msgspec.json.Decoder(_Envelope)
_text: Final = msgspec.json.Decoder(str)


class FinishPace:
    """How long answers under one schema took to finish.

    Decides whether the next one is finished on the event loop.
    """

    def __init__(self) -> None:
        self._seconds_a_token = math.inf

    def is_quick(self, tokens: int) -> bool:
        """Whether finishing an answer of `tokens` tokens likely takes less time than handing it to a thread."""
        return self._seconds_a_token * (tokens + _START_TOKENS) < _QUICK_S

    def timed(self, tokens: int, finish: Callable[[], R]) -> R:
        """The result of `finish`, which finishes an answer of `tokens` tokens. Its processor time is recorded.

        Not its duration: an answer that is finished in a thread waits for the interpreter lock, and if that counted,
        one slow answer would send all later ones to threads.
        """
        began = time.thread_time()
        result = finish()
        self.record(tokens, time.thread_time() - began)
        return result

    def record(self, tokens: int, seconds: float) -> None:
        """Record an answer. The slowest one counts, and is forgotten slowly."""
        now, before = seconds / (tokens + _START_TOKENS), self._seconds_a_token
        self._seconds_a_token = now if before == math.inf else max(now, 0.9 * before)


@dataclass(frozen=True, slots=True)
class KnownForm:
    """The shared part of requests that differ only in text and in options of sampling and scheduling."""

    frame: PromptFrame
    room: AnswerRoom
    constraint: Constraint
    schema: Mapping[str, Any] | bool
    strict: Mapping[str, Any] | bool | None
    contract: Contract
    pace: FinishPace = field(default_factory=FinishPace)

    @property
    def size_bytes(self) -> int:
        """An estimate of the memory that the form occupies."""
        # A parsed schema takes about eight times its text, and it may be held in two forms.
        return 20 * len(self.constraint.source) + self.frame.size_bytes


@dataclass(frozen=True, slots=True)
class KnownExtraction:
    """An extraction of a known form, ready for the engine."""

    prepared: Prepared
    options: ExtractOptions
    pace: FinishPace


@dataclass(frozen=True, slots=True)
class _Split:
    """A body with its varying parts read."""

    key: FormKey
    text: str
    options: ExtractOptions


class KnownSchemas:
    """The forms of one extractor, at most `limit_bytes` of them; the least recently used ones are dropped first.

    For any thread.
    """

    def __init__(self, extractor: Extractor, limit_bytes: int = KNOWN_BYTES) -> None:
        self._extractor = extractor
        self._limit_bytes = limit_bytes
        self._lock = Lock()
        self._forms: OrderedDict[FormKey, KnownForm] = OrderedDict()
        self._bytes = 0

    @property
    def size_bytes(self) -> int:
        """An estimate of the memory that all forms occupy."""
        return self._bytes

    def prepare(self, body: bytes) -> KnownExtraction | None:
        """The request in `body`, ready for the engine; None if it has to be prepared as usual."""
        started = time.perf_counter()
        split = _split(body)
        if split is None or split.options.long_documents == "windows" or split.options.draft:
            return None
        known = self._find(split.key)
        if known is None or is_sparse(split.text):
            return None
        fitter, options = self._extractor.fitter, split.options
        filled = fitter.fill(known.frame, split.text, options.max_tokens)
        if filled is None:
            return None
        prompt, tokens = filled
        room = None if options.max_tokens is not None else known.room.tokens(tokens)
        constraint = known.constraint.about(split.text)
        request = self._extractor.engine_request(options, constraint, prompt, room)
        report = ReportRequest.of(split.text, options)
        prepared = Prepared(
            request,
            known.schema,
            known.contract,
            started,
            known.strict,
            report,
            split.text,
            deadline_s=options.deadline_s,
        )
        return KnownExtraction(prepared, options, known.pace)

    def learn(self, body: bytes, parsed: ParsedExtraction) -> None:
        """Remember the parts of an examined request that other requests may share.

        Nothing is remembered if they would share little: images, a stream, a conversation, the name of a schema or an
        adapter, which may come to mean another, or a prompt that is not the same around the text.
        """
        request, split = parsed.body, _split(body)
        if split is None:
            return
        if parsed.contract is None or request.text is None or is_sparse(request.text):
            return
        if (
            request.images
            or request.stream
            or isinstance(request.schema_, str)
            or parsed.adapter is not None
        ):
            return
        schema = parsed.schema
        outlined = schema if isinstance(schema, dict) else {}
        frame = self._extractor.fitter.frame(outlined, parsed.parts)
        if frame is None:
            return
        form = KnownForm(
            frame,
            AnswerRoom.of(schema),
            parsed.constraint,
            schema,
            parsed.strict,
            parsed.contract,
        )
        with self._lock:
            if split.key in self._forms:
                return
            if _size(split.key, form) <= self._limit_bytes // _LARGEST_SHARE:
                self._forms[split.key] = form
                self._bytes += _size(split.key, form)
            while self._bytes > self._limit_bytes:
                self._bytes -= _size(*self._forms.popitem(last=False))

    def _find(self, key: FormKey) -> KnownForm | None:
        with self._lock:
            found = self._forms.get(key)
            if found is not None:
                self._forms.move_to_end(key)
            return found


def form_of(body: bytes) -> int | None:
    """A number that bodies of the same form share; None for a body that has no form."""
    split = _split(body)
    return None if split is None else hash(split.key)


def _split(body: bytes) -> _Split | None:
    """The varying parts of a body; None if it is not a valid body with a text, or looks unusual."""
    try:
        envelope = _envelope.decode(body)
        written, chosen = bytes(envelope.text), bytes(envelope.options)
        text = _text.decode(written)
        options = options_of(chosen) if chosen else ExtractOptions()
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ServiceError):
        return None
    if not 0 < len(text) <= MAX_TEXT_CHARACTERS:
        return None
    at = _place(body, written, b'"text":')
    other = _place(body, chosen, b'"options":') if chosen else len(body)
    if at is None or other is None:
        return None
    first = at < other
    cuts = (at, at + len(written), other, other + len(chosen))
    if not first:
        cuts = (*cuts[2:], *cuts[:2])
    if cuts[1] > cuts[2]:  # one was found inside the other
        return None
    common = tuple(getattr(options, name) for name in _COMMON)
    key = (body[: cuts[0]], body[cuts[1] : cuts[2]], body[cuts[3] :], first, common)
    return _Split(key, text, options)


def _place(body: bytes, value: bytes, name: bytes) -> int | None:
    """The place of a value in a body; None if an equal text occurs before it."""
    at = body.find(value)
    return at if body[max(0, at - 64) : at].rstrip(b" \t\r\n").endswith(name) else None


def _size(key: FormKey, form: KnownForm) -> int:
    return sum(map(len, key[:3])) + form.size_bytes
