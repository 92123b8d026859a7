"""The messages between the API processes of a server and the parent that starts them.

Does: define them, and carry them over a pair of connected sockets, one JSON text a line. Does not: start processes
(`worker_fleet`) or serve (`api_process`).
"""

import asyncio
import socket
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import msgspec
from intaglio.engine.api import EngineAddress, GrammarConfig

from ..config import ServiceConfig

_MOST_BYTES: Final = 16 << 20  # of one message; a start message contains all API keys

M = TypeVar("M", bound=msgspec.Struct)


class WorkerStart(msgspec.Struct, frozen=True, kw_only=True):
    """Makes an API process serve the engines at `engines`, on the port of `config`, which the parent has reserved.

    `folder` has the tokenizer and the chat template of `model`. With `replaces` it follows one that died, and listens
    only when it is ready.
    """

    config: ServiceConfig
    grammar: GrammarConfig
    engines: EngineAddress
    folder: str
    model: str
    replaces: bool = False


class WorkerState(msgspec.Struct, frozen=True):
    """Sent by an API process when it listens, becomes ready, or stops being ready."""

    is_ready: bool


class FleetState(msgspec.Struct, frozen=True):
    """Sent to every API process when all have become ready, or one stops being ready."""

    is_ready: bool


@dataclass(frozen=True, slots=True)
class Channel(Generic[M]):
    """One end of the connection; `kind` is the type of the messages that arrive."""

    kind: type[M]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def over(cls, sock: socket.socket, kind: type[M]) -> "Channel[M]":
        """The end of the connection at a socket."""
        reader, writer = await asyncio.open_connection(sock=sock, limit=_MOST_BYTES)
        return cls(kind, reader, writer)

    def send(self, message: msgspec.Struct) -> None:
        """Send a message; no effect if the other process has ended."""
        if not self.writer.is_closing():
            self.writer.write(msgspec.json.encode(message) + b"\n")

    async def receive(self) -> M | None:
        """The next message; None if the other process has ended."""
        try:
            line = await self.reader.readline()
        except ConnectionError:
            return None
        return msgspec.json.decode(line, type=self.kind) if line.endswith(b"\n") else None

    def close(self) -> None:
        """Close this end."""
        self.writer.close()
