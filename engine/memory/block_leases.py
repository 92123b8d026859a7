"""The messages by which one engine leases memory with contents of KV blocks to another engine, which reads it.

Does: write and read the messages, after the greeting of `block_exchange`. Does not: touch that memory, or time out by
itself: the channel does.

    owner                                          reader
    region: handle, slots, bytes of a content  -->
                                               <--  number of chains, chains
    number of slots, slots                     -->
                                                    copies the contents of these slots, verifies them
                                               <--  RETURNED
    CONFIRMED                                       -->

Between the slots and `RETURNED` the owner overwrites none of these slots, unless the reader takes too long: then it
closes the connection. So a reader that receives `CONFIRMED` has read the leased contents, and any other
must drop them. A handle belongs to the connection on which it came: a restarted process sends another one.
"""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from .block_exchange import Channel, ExchangeError
from .page_key import Chain

RETURNED: Final = b"\x02"
CONFIRMED: Final = b"\x03"
MOST_HANDLE_BYTES: Final = 4096

_NUMBER: Final = struct.Struct("<I")
_REGION: Final = struct.Struct("<IQQ")


class Region(NamedTuple):
    """Memory that can be leased: `slots` contents of `block_bytes` bytes; `handle` lets another process map it."""

    handle: bytes
    slots: int
    block_bytes: int


class LeaseChannel:
    """The messages of leases on a channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def introduce(self, region: Region) -> None:
        """Owner: send the region. Raises `ExchangeError`."""
        head = _REGION.pack(len(region.handle), region.slots, region.block_bytes)
        self._channel.send(head + region.handle, self._channel.until())

    def introduced(self) -> Region:
        """Reader: wait for the region. Raises `ExchangeError`."""
        until = self._channel.until()
        size, slots, block_bytes = _REGION.unpack(self._channel.receive(_REGION.size, until))
        if size > MOST_HANDLE_BYTES:
            raise ExchangeError(f"a handle of {size} bytes; at most {MOST_HANDLE_BYTES}")
        return Region(self._channel.receive(size, until), slots, block_bytes)

    def ask(self, chains: Sequence[Chain], most: int) -> list[int]:
        """Reader: the slots, below `most`, of the first of these chains, which are leased from now on.

        Raises:
            ExchangeError: the answer times out or is malformed.
        """
        until = self._channel.until()
        self._channel.send(_NUMBER.pack(len(chains)) + b"".join(chains), until)
        (count,) = _NUMBER.unpack(self._channel.receive(_NUMBER.size, until))
        if count > len(chains):
            raise ExchangeError(f"{count} slots for {len(chains)} chains")
        data = self._channel.receive(count * _NUMBER.size, until)
        slots = [slot for (slot,) in _NUMBER.iter_unpack(data)]
        if any(slot >= most for slot in slots):
            raise ExchangeError(f"a slot of {max(slots)}, and there are {most}")
        return slots

    def receive_question(self) -> list[Chain] | None:
        """Owner: the chains that are asked for; None if the reader has left. Raises `ExchangeError`."""
        return self._channel.receive_question()

    def offer(self, slots: Sequence[int]) -> None:
        """Owner: lease these slots. Raises `ExchangeError`."""
        data = b"".join(map(_NUMBER.pack, (len(slots), *slots)))
        self._channel.send(data, self._channel.until())

    def await_return(self) -> None:
        """Owner: wait until the reader returns its slots, and confirm that they were not overwritten.

        Raises:
            ExchangeError: it left, timed out, or sent something else.
        """
        until = self._channel.until()
        if self._channel.receive(len(RETURNED), until) != RETURNED:
            raise ExchangeError("slots are not returned as expected")
        self._channel.send(CONFIRMED, until)

    def return_slots(self) -> None:
        """Reader: return all slots; their contents are valid once this returns. Raises `ExchangeError`."""
        until = self._channel.until()
        self._channel.send(RETURNED, until)
        if self._channel.receive(len(CONFIRMED), until) != CONFIRMED:
            raise ExchangeError("the lease is not confirmed")

    def has_ended(self) -> bool:
        """Whether the other side has closed the connection, or its process has ended. Does not wait."""
        return self._channel.has_ended()

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()
