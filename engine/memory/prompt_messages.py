"""The messages by which one engine has a prompt computed by another one, as frames over TCP.

Does: define, encode and decode them, and compare the facts of two engines. Does not: connect (`tcp_carrier`), or serve
(`prompt_server`).

    asking engine                                  computing engine
    FACTS                                     -->
                                              <--  WELCOME, or REFUSED with the reason
    ASK: a prompt, and the chains it lacks    -->
                                              <--  BUSY, each half second while nothing else is to be sent
                                              <--  SLICE: bytes of the contents of some chains, at one offset of each
                                              <--  DONE: how many tokens were not computed for it, and how many contents
"""

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple, TypeVar

import msgspec

from ..types import Request, SamplingParams
from .block_exchange import ExchangeError
from .page_key import CHAIN_BYTES
from .peer_tier import Question


class Timing(NamedTuple):
    """Times in seconds. `busy_s`: between two signs of life of an engine that computes. `silence_s`: after so long

    without a frame the other side counts as lost. `patience_s`: after so long the asking engine computes a prompt
    itself, whatever the other one is doing.
    """

    busy_s: float = 0.5
    silence_s: float = 2.0
    patience_s: float = 60.0


TIMING: Final = Timing()

_SLICE: Final = struct.Struct("<II")  # an offset, and how many contents; their numbers follow
_NUMBER: Final = struct.Struct("<I")


class Kind(IntEnum):
    """The kind of a frame."""

    FACTS = 1
    WELCOME = 2
    REFUSED = 3
    ASK = 4
    BUSY = 5
    SLICE = 6
    DONE = 7


Facts = dict[str, str]
"""Everything that determines the content of a block, by name: model, weights, dtype, layout."""


class PromptOrder(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt to compute, and the chains of the blocks that are lacking, in order."""

    prompt: tuple[int, ...]
    chains: tuple[bytes, ...]
    cache_salt: str = ""
    tenant: str = ""
    weight: float = 1.0
    bulk: bool = False
    priority: int = 0
    deadline: float | None = None

    @classmethod
    def of(cls, question: Question) -> "PromptOrder":
        """The order of a question."""
        request = question.request
        return cls(
            prompt=request.prompt,
            chains=question.chains,
            cache_salt=request.cache_salt,
            tenant=request.tenant,
            weight=request.weight,
            bulk=request.bulk,
            priority=request.priority,
            deadline=request.deadline,
        )

    def request(self, name: str) -> Request:
        """A request of that id, which computes the prompt and keeps its blocks."""
        return Request(
            id=name,
            prompt=self.prompt,
            sampling=SamplingParams(max_tokens=1, temperature=0),
            cache_salt=self.cache_salt,
            tenant=self.tenant,
            weight=self.weight,
            bulk=self.bulk,
            priority=self.priority,
            deadline=self.deadline,
            exports=True,
        )


class PromptDone(msgspec.Struct, frozen=True):
    """The end of an answer: the number of contents sent, and of tokens that were not computed for this prompt."""

    contents: int
    cached: int


_Message = TypeVar("_Message", Facts, PromptOrder, PromptDone)

_encoder = msgspec.msgpack.Encoder()
_facts: msgspec.msgpack.Decoder[Facts] = msgspec.msgpack.Decoder(Facts)
_orders: msgspec.msgpack.Decoder[PromptOrder] = msgspec.msgpack.Decoder(PromptOrder)
_ends: msgspec.msgpack.Decoder[PromptDone] = msgspec.msgpack.Decoder(PromptDone)


def encode(message: Facts | PromptOrder | PromptDone) -> bytes:
    """The message as bytes."""
    return _encoder.encode(message)


def facts(data: bytes) -> Facts:
    """The facts in `data`. Raises `ExchangeError`."""
    return _decoded(_facts, data)


def order(data: bytes) -> PromptOrder:
    """The order in `data`. Raises `ExchangeError`."""
    found = _decoded(_orders, data)
    if not all(len(chain) == CHAIN_BYTES for chain in found.chains):
        raise ExchangeError(f"a chain has {CHAIN_BYTES} bytes")
    return found


def done(data: bytes) -> PromptDone:
    """The end in `data`. Raises `ExchangeError`."""
    return _decoded(_ends, data)


def _decoded(decoder: msgspec.msgpack.Decoder[_Message], data: bytes) -> _Message:
    try:
        return decoder.decode(data)
    except (ValueError, OverflowError, RecursionError) as error:
        raise ExchangeError(f"a message cannot be read: {error}") from error


def difference(own: Facts, others: Facts) -> str:
    """In which facts two engines differ, as a text; "" for none."""
    return "; ".join(
        f"{name} is {own.get(name, 'unknown')} here and {others.get(name, 'unknown')} there"
        for name in sorted(own.keys() | others.keys())
        if own.get(name) != others.get(name)
    )


def slice_head(offset: int, numbers: Sequence[int]) -> bytes:
    """What precedes bytes at an offset of the contents `numbers`, one after the other."""
    return b"".join([_SLICE.pack(offset, len(numbers)), *map(_NUMBER.pack, numbers)])


class PartedContents:
    """The contents of `count` chains, of `size` bytes each, from their slices, which arrive in any order."""

    def __init__(self, count: int, size: int) -> None:
        self._count = count
        self._size = size
        self._parts: dict[int, bytearray] = {}
        self._missing: dict[int, int] = {}
        self._taken = 0

    def add(self, data: bytes) -> None:
        """Take a slice. Raises `ExchangeError` if it is outside of a content, or too much for it."""
        view, begin = memoryview(data), _SLICE.size
        if len(data) < begin:
            raise ExchangeError("a slice is cut off")
        offset, count = _SLICE.unpack_from(data)
        at = begin + count * _NUMBER.size
        length = (len(data) - at) // count if count else 0
        if length < 1 or at + count * length != len(data) or offset + length > self._size:
            raise ExchangeError(
                f"no {len(data)} bytes of {count} contents are expected at {offset}"
            )
        for (number,) in _NUMBER.iter_unpack(view[begin:at]):
            left = self._missing.get(number, self._size) - length
            if number >= self._count or left < 0:
                raise ExchangeError(f"no {length} bytes of content {number} are expected")
            content = self._parts.setdefault(number, bytearray(self._size))
            content[offset : offset + length] = view[at : at + length]
            self._missing[number] = left
            at += length

    def take(self) -> list[bytes]:
        """The next contents in the order of the chains that are complete, each once."""
        found: list[bytes] = []
        while self._missing.get(self._taken) == 0:
            found.append(bytes(self._parts.pop(self._taken)))
            self._taken += 1
        return found
