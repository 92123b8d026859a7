"""What crosses between the engine's process and its caller: typed both ways, encoded as MessagePack.

Does: name every message, encode and decode them, refuse anything else. Does not: hold sockets. Nothing is ever
unpickled.
"""

import msgspec
from intaglio.grammar.api import CacheStats

from ..errors import InvalidRequest
from ..metrics import Snapshot
from ..types import Delta, Request


class EngineInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller may know about a loaded engine.

    `context_length` counts prompt and output tokens together; `blocks` is the number of KV blocks of `block_size`
    tokens; `parameters` is the number of weights; `pid` is the process the engine runs in.
    """

    model: str
    context_length: int
    parameters: int
    vocabulary: int
    blocks: int
    block_size: int
    device: str
    dtype: str
    pid: int


class BlockReport(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the KV blocks between two steps, and what `Engine.check` found wrong, if anything."""

    free: int
    used: int
    open_requests: int
    fault: str | None = None

    @property
    def clean(self) -> bool:
        """Whether every invariant holds and nothing is held for nobody."""
        return self.fault is None and (self.open_requests > 0 or self.used == 0)


class Submit(msgspec.Struct, frozen=True, tag="submit"):
    """Begin a request."""

    request: Request


class Abort(msgspec.Struct, frozen=True, tag="abort"):
    """End a request that nobody waits for; one that is unknown or over is left alone."""

    request_id: str


class Check(msgspec.Struct, frozen=True, tag="check"):
    """Ask for a `Checked` with the same `ticket`."""

    ticket: int


class Shutdown(msgspec.Struct, frozen=True, tag="shutdown"):
    """End the process after the step under way."""


Command = Submit | Abort | Check | Shutdown


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The model is loaded; sent once, before anything else but `Beat`."""

    info: EngineInfo


class Unusable(msgspec.Struct, frozen=True, tag="unusable"):
    """The engine cannot start with this configuration, and would not if it were tried again."""

    message: str
    hint: str


class Deltas(msgspec.Struct, frozen=True, tag="deltas"):
    """All that one step did."""

    items: tuple[Delta, ...]


class Checked(msgspec.Struct, frozen=True, tag="checked"):
    """The answer to `Check`."""

    ticket: int
    report: BlockReport


class Beat(msgspec.Struct, frozen=True, tag="beat"):
    """The process is alive. `stalled_s` is how long its present step has been running; no numbers before `Ready`."""

    stalled_s: float
    metrics: Snapshot | None
    grammars: CacheStats | None


Event = Ready | Unusable | Deltas | Checked | Beat

_encoder = msgspec.msgpack.Encoder()
_commands: msgspec.msgpack.Decoder[Command] = msgspec.msgpack.Decoder(Command)
_events: msgspec.msgpack.Decoder[Event] = msgspec.msgpack.Decoder(Event)


def encode(message: Command | Event) -> bytes:
    """The message as bytes.

    Raises:
        InvalidRequest: a value in it cannot be written: an integer of more than 64 bits, half a surrogate pair, a
            value of a foreign type.
    """
    try:
        return _encoder.encode(message)
    except (OverflowError, TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"the request cannot be sent to the engine: {error}") from error


def command(data: bytes) -> Command:
    """The command in `data`.

    Raises:
        msgspec.DecodeError: `data` is no command.
    """
    try:
        return _commands.decode(data)
    except msgspec.DecodeError:
        raise
    except (ValueError, OverflowError, RecursionError) as error:
        raise msgspec.DecodeError(f"{type(error).__name__}: {error}") from error


class _Named(msgspec.Struct):
    id: str


class _Addressed(msgspec.Struct):
    request: _Named


_addressed: msgspec.msgpack.Decoder[_Addressed] = msgspec.msgpack.Decoder(_Addressed)


def addressee(data: bytes) -> str | None:
    """The id of the request in `data`, which is no command as a whole; None where there is none."""
    try:
        return _addressed.decode(data).request.id
    except (ValueError, OverflowError, RecursionError):
        return None


def event(data: bytes) -> Event:
    """The event in `data`.

    Raises:
        msgspec.DecodeError: `data` is no event.
    """
    return _events.decode(data)
