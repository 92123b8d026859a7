"""The messages between the owner of engines and the processes that use them, with the state of each engine.

Does: define, encode and decode these messages. Does not: hold sockets, or carry requests and their deltas, which go to
the engine's process directly (`engine/host/messages.py`).
"""

from enum import StrEnum

import msgspec
from intaglio.grammar.api import CacheStats

from ..metrics import Snapshot
from .messages import EngineInfo, Unusable


class EngineState(StrEnum):
    """The state of an engine, as its clients see it."""

    LOADING = "loading"  # a process starts
    READY = "ready"
    DRAINING = "draining"  # it finishes its open requests, accepts no others, and then restarts
    DOWN = "down"  # its process died; another one will start
    UNUSABLE = "unusable"  # it cannot start; see `fault`
    CLOSED = "closed"


class EngineAddress(msgspec.Struct, frozen=True):
    """The address of an owner's engines: the folder of their sockets, and the number of engines.

    It can be handed to another process of the same user, which then connects by `EngineLink`.
    """

    folder: str
    engines: int = 1


class Lives(msgspec.Struct, frozen=True):
    """The numbers of deaths and restarts of an engine's process, and of requests that are quarantined.

    `reason` is the cause of the last death, with `lost` requests in flight; `pid` is the present process.
    """

    deaths: int = 0
    restarts: int = 0
    quarantined: int = 0
    reason: str = ""
    lost: int = 0
    pid: int = 0


class EngineStatus(msgspec.Struct, frozen=True, kw_only=True, tag="status"):
    """One engine at present. `run`: the number of its process, from 1; `folder`: the sockets of that process."""

    index: int
    run: int = 0
    folder: str = ""
    state: EngineState = EngineState.LOADING
    info: EngineInfo | None = None
    fault: Unusable | None = None
    lives: Lives = Lives()
    metrics: Snapshot | None = None
    grammars: CacheStats | None = None


class Isolation(msgspec.Struct, frozen=True, tag="isolation"):
    """The digests of requests that may run only one at a time, and of those that are refused."""

    alone: tuple[bytes, ...] = ()
    refused: tuple[bytes, ...] = ()


class Answered(msgspec.Struct, frozen=True, tag="answered"):
    """The answer to the message with this ticket, after all messages that it caused."""

    ticket: int


OwnerMessage = EngineStatus | Isolation | Answered


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """The first message of a link: send the present state, and every change from now on."""


class Lost(msgspec.Struct, frozen=True, tag="lost"):
    """These requests were in flight when process `run` of engine `index` died. Answered when they are counted."""

    ticket: int
    index: int
    run: int
    digests: tuple[bytes, ...]


class Survived(msgspec.Struct, frozen=True, tag="survived"):
    """A request that was in flight at a death has ended while its engine kept running."""

    digest: bytes


class Enter(msgspec.Struct, frozen=True, tag="enter"):
    """Ask to run a request that must run alone. Answered when no other such request runs."""

    ticket: int


class Leave(msgspec.Struct, frozen=True, tag="leave"):
    """The request that entered with this ticket has ended, or no longer waits."""

    ticket: int


class Restart(msgspec.Struct, frozen=True, tag="restart"):
    """Restart all engines, one after the other. Answered when all have been restarted."""

    ticket: int


LinkMessage = Hello | Lost | Survived | Enter | Leave | Restart

_encoder = msgspec.msgpack.Encoder()
_owner: msgspec.msgpack.Decoder[OwnerMessage] = msgspec.msgpack.Decoder(OwnerMessage)
_link: msgspec.msgpack.Decoder[LinkMessage] = msgspec.msgpack.Decoder(LinkMessage)


def pack(message: OwnerMessage | LinkMessage) -> bytes:
    """The message as bytes."""
    return _encoder.encode(message)


def from_owner(data: bytes) -> OwnerMessage:
    """The owner's message in `data`. Raises `msgspec.DecodeError` if there is none."""
    return _owner.decode(data)


def from_link(data: bytes) -> LinkMessage:
    """The link's message in `data`. Raises `msgspec.DecodeError` if there is none."""
    return _link.decode(data)
