"""The messages between an engine's process, its clients and its supervisor: typed, encoded as MessagePack.

Does: define, encode and decode all messages, refuse everything else. Does not: hold sockets. Nothing is unpickled. The
name of the client travels in front of a command, as a frame of its own.
"""

import msgspec
from intaglio.grammar.api import CacheStats

from ..errors import InvalidRequest
from ..metrics import Snapshot
from ..types import Delta, ImageFormat, KVRole, Request


class EngineInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a loaded engine.

    `context_length` counts prompt and output tokens together; `blocks` is the number of KV blocks of `block_size`
    tokens, and `kv_tokens` the most tokens of a sequence that fit into them, None for all that they hold; `parameters`
    is the number of weights; `pid` is the process the engine runs in. `start_s` is the time of each part of its start,
    in seconds. `folder` is that of the checkpoint; for adapters there are `max_adapters` places, for ranks up to
    `adapter_rank`. `images`: how the model reads images; None if it reads none. `draft_sources` are the sources of
    drafts that it asks. `kv_role`: see `CacheConfig`; `kv_address`: where other engines get the blocks of prompts that
    this one computes for them.
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
    start_s: dict[str, float] = msgspec.field(default_factory=dict)
    folder: str = ""
    max_adapters: int = 0
    adapter_rank: int = 0
    images: ImageFormat | None = None
    ranks: int = 1
    draft_sources: tuple[str, ...] = ()
    kv_role: KVRole = "none"
    kv_address: str = ""
    kv_tokens: int | None = None

    @property
    def most_tokens(self) -> int:
        """The most tokens of a prompt and its answer together."""
        fitting = self.blocks * self.block_size if self.kv_tokens is None else self.kv_tokens
        # The last token of an output is sampled but never computed, so it needs no slot in the KV cache.
        return min(self.context_length, fitting + 1)


class BlockReport(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the KV blocks between two steps, and the fault that `Engine.check` found, if any."""

    free: int
    used: int
    open_requests: int
    fault: str | None = None

    @property
    def clean(self) -> bool:
        """Whether every invariant holds, and no block is used without an open request."""
        return self.fault is None and (self.open_requests > 0 or self.used == 0)


class Join(msgspec.Struct, frozen=True, tag="join"):
    """Ask for `Joined`. A client repeats it until the answer arrives: then answers can reach it."""


class Submit(msgspec.Struct, frozen=True, tag="submit"):
    """Start a request. With `whole` all its deltas come as one, at its end."""

    request: Request
    whole: bool = False


class Abort(msgspec.Struct, frozen=True, tag="abort"):
    """End a request that has no reader any more; no effect if it is unknown or has ended."""

    request_id: str


class Check(msgspec.Struct, frozen=True, tag="check"):
    """Ask for a `Checked` with the same `ticket`."""

    ticket: int


class Drain(msgspec.Struct, frozen=True, tag="drain"):
    """End the process when the open requests have ended; refuse others with `engine_stopped`."""


class Shutdown(msgspec.Struct, frozen=True, tag="shutdown"):
    """End the process after the present step."""


Command = Join | Submit | Abort | Check | Drain | Shutdown


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The model is loaded. Sent once, before all messages other than `Beat`."""

    info: EngineInfo


class Unusable(msgspec.Struct, frozen=True, tag="unusable"):
    """The engine cannot start with this configuration; another attempt would fail as well."""

    message: str
    hint: str


class Joined(msgspec.Struct, frozen=True, tag="joined"):
    """The answer to `Join`: the engine accepts requests of this client."""


class Deltas(msgspec.Struct, frozen=True, tag="deltas"):
    """The deltas of one step, for one client."""

    items: tuple[Delta, ...]


class Checked(msgspec.Struct, frozen=True, tag="checked"):
    """The answer to `Check`."""

    ticket: int
    report: BlockReport


class Beat(msgspec.Struct, frozen=True, tag="beat"):
    """The process is alive. `stalled_s` is the time that its present step has taken; no counters before `Ready`."""

    stalled_s: float
    metrics: Snapshot | None
    grammars: CacheStats | None


Event = Ready | Unusable | Joined | Deltas | Checked | Beat

_encoder = msgspec.msgpack.Encoder()
_commands: msgspec.msgpack.Decoder[Command] = msgspec.msgpack.Decoder(Command)
_events: msgspec.msgpack.Decoder[Event] = msgspec.msgpack.Decoder(Event)


def encode(message: Command | Event) -> bytes:
    """The message as bytes.

    Raises:
        InvalidRequest: a value in it cannot be encoded: an integer of more than 64 bits, half a surrogate pair, a value
            of a foreign type.
    """
    try:
        return _encoder.encode(message)
    except (OverflowError, TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"the request cannot be sent to the engine: {error}") from error


def command(data: bytes) -> Command:
    """The command in `data`.

    Raises:
        msgspec.DecodeError: `data` is not a command.
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
    """The id of the request in `data`, which is not a valid command; None where there is none."""
    try:
        return _addressed.decode(data).request.id
    except (ValueError, OverflowError, RecursionError):
        return None


def event(data: bytes) -> Event:
    """The event in `data`.

    Raises:
        msgspec.DecodeError: `data` is not an event.
    """
    return _events.decode(data)
