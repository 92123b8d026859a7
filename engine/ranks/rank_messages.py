"""The messages between rank 0, which schedules, and the processes of the other ranks: typed, as MessagePack.

Does: define, encode and decode them. Does not: hold sockets. Nothing is unpickled.

A rank connects two sockets in the folder that `RankSetup` names: PULL of `orders.<rank>`, and PUSH to `reports`. It
sends `RankArrived`, builds its part of the model together with the others, sends `RankBuilt`, and then executes orders,
one after the other, until `StopOrder` or until its standard input ends. The orders of a step are those of an
`Executor`:

    ComputeOrder   `forward` of a plan
    SampleOrder    `sample` of the last plan; a second frame holds the mask rows
    ReadOrder      `sampled` of the oldest plan that was not read

No answer is sent: every rank samples the same tokens. A rank that fails reports `RankFailed` and exits.
"""

from collections.abc import Mapping

import msgspec
import numpy as np

from ..config import EngineConfig
from ..plan import Masks, Plan

ORDERS = "orders"
REPORTS = "reports"
MEETING = "meeting"
"""The file in the same folder by which the ranks' communicators find each other."""


class RankSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a rank's standard input, as JSON: the settings of the engine, and this rank's place.

    `vocab` is the number of the tokenizer's tokens, as for `build_runner`.
    """

    config: EngineConfig
    rank: int
    vocab: int
    folder: str


class ComputeOrder(msgspec.Struct, frozen=True, tag="compute"):
    """Start a plan."""

    plan: Plan


class SampleOrder(msgspec.Struct, frozen=True, tag="sample"):
    """SampleOrder the tokens of the last plan; `words` is the width of the mask rows, int32, in the second frame."""

    words: int
    row_of: Mapping[int, int]


class ReadOrder(msgspec.Struct, frozen=True, tag="read"):
    """Wait for the tokens of the oldest plan."""


class StopOrder(msgspec.Struct, frozen=True, tag="stop"):
    """End the process."""


RankOrder = ComputeOrder | SampleOrder | ReadOrder | StopOrder


class RankArrived(msgspec.Struct, frozen=True, tag="arrived"):
    """The process runs and has loaded its libraries."""

    rank: int


class RankBuilt(msgspec.Struct, frozen=True, tag="built"):
    """The rank's part of the model is ready."""

    rank: int


class RankFailed(msgspec.Struct, frozen=True, tag="failed"):
    """The rank ends for this reason."""

    rank: int
    reason: str


RankReport = RankArrived | RankBuilt | RankFailed

_encoder = msgspec.msgpack.Encoder()
_orders: msgspec.msgpack.Decoder[RankOrder] = msgspec.msgpack.Decoder(RankOrder)
_reports: msgspec.msgpack.Decoder[RankReport] = msgspec.msgpack.Decoder(RankReport)


def frames(order: RankOrder, rows: bytes = b"") -> list[bytes]:
    """An order as frames; `rows` are the mask rows of a `SampleOrder`."""
    return [_encoder.encode(order), rows]


def sampling(masks: Masks) -> list[bytes]:
    """The frames of the order to sample under `masks`, which are made on the host."""
    order = SampleOrder(masks.rows.shape[1], masks.row_of)
    return frames(order, masks.rows.tobytes() if masks.row_of else b"")


def order(data: bytes) -> RankOrder:
    """The order in a first frame. Raises `msgspec.DecodeError` if there is none."""
    return _orders.decode(data)


def masks(sample: SampleOrder, rows: bytes) -> Masks:
    """The masks of an order to sample, from its second frame."""
    words = np.frombuffer(bytearray(rows), dtype=np.int32)
    return Masks(words.reshape(-1, sample.words), sample.row_of)


def packed(report: RankReport) -> bytes:
    """A report as bytes."""
    return _encoder.encode(report)


def report(data: bytes) -> RankReport:
    """The report in `data`. Raises `msgspec.DecodeError` if there is none."""
    return _reports.decode(data)
