"""The messages between rank 0, which schedules, and the processes of the other ranks: typed, as MessagePack.

Does: define, encode and decode them. Does not: hold sockets. Nothing is unpickled.

A rank connects two sockets in the folder that `RankSetup` names: PULL of `orders.<rank>`, and PUSH to `reports`. It
sends `RankArrived`, waits for `BuildOrder`, builds its part of the model together with the others, sends `RankBuilt`,
and then executes orders, one after the other, until `StopOrder` or until its standard input ends. These orders are the
calls of an `Executor`; their arrays are in frames of their own:

    HoldOrder      `hold` of a grammar, with its tables
    DropOrder      `drop` of a grammar
    ComputeOrder   `forward` of a plan
    SampleOrder    `sample` of the last plan, with the mask rows
    ReadOrder      `sampled` of the oldest plan that was not read
    PassOrder      `forward` of a plan by a rank of a stage that does not sample, in place of the last three

No answer is sent: every rank that samples draws the same tokens. A rank that fails reports `RankFailed` and exits.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from intaglio.grammar.api import DeviceTables, Lookahead

from ..config import EngineConfig
from ..plan import Masks, Plan, Replay

ORDERS = "orders"
REPORTS = "reports"
MEETING = "meeting.{}"
"""The file in the same folder by which the communicators of a group of ranks find each other, by the group's name."""


class RankSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a rank's standard input, as JSON: the settings of the engine, and this rank's place."""

    config: EngineConfig
    rank: int
    folder: str


class BuildOrder(msgspec.Struct, frozen=True, tag="build"):
    """Build this rank's part. `vocab` is the number of the tokenizer's tokens, as for `build_runner`."""

    vocab: int


class ComputeOrder(msgspec.Struct, frozen=True, tag="compute"):
    """Start a plan."""

    plan: Plan


class PassOrder(msgspec.Struct, frozen=True, tag="pass"):
    """Compute a plan as a stage, and give its hidden states to the next one."""

    plan: Plan


class HoldOrder(msgspec.Struct, frozen=True, tag="hold"):
    """Hold a grammar for one more sequence: the fields of `DeviceTables` that are not arrays, and its `columns`."""

    key: str
    columns: int
    start: int
    chain: int


class DropOrder(msgspec.Struct, frozen=True, tag="drop"):
    """Release a grammar for one sequence."""

    key: str


class SampleOrder(msgspec.Struct, frozen=True, tag="sample"):
    """Sample the tokens of the last plan. `words` is the width of the mask rows; the other fields are `Masks`."""

    words: int
    row_of: Mapping[int, int]
    on_device: frozenset[int] = frozenset()
    replays: Mapping[int, Replay] = {}


class ReadOrder(msgspec.Struct, frozen=True, tag="read"):
    """Wait for the tokens of the oldest plan."""


class StopOrder(msgspec.Struct, frozen=True, tag="stop"):
    """End the process."""


RankOrder = (
    BuildOrder
    | HoldOrder
    | DropOrder
    | ComputeOrder
    | PassOrder
    | SampleOrder
    | ReadOrder
    | StopOrder
)


class RankArrived(msgspec.Struct, frozen=True, tag="arrived"):
    """The process runs and has loaded its libraries; it uses no device yet."""

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


def frames(order: RankOrder, *arrays: bytes) -> list[bytes]:
    """An order as frames, with those of its arrays."""
    return [_encoder.encode(order), *arrays]


def sampling(masks: Masks) -> list[bytes]:
    """The frames of the order to sample under `masks`."""
    order = SampleOrder(
        masks.rows.shape[1], masks.row_of, frozenset(masks.on_device), masks.replays
    )
    return frames(order, masks.rows.tobytes() if masks.row_of else b"")


def holding(key: str, tables: DeviceTables) -> list[bytes]:
    """The frames of the order to hold a grammar. The tables' look-ahead is for the host of rank 0 only."""
    order = HoldOrder(key, tables.cells.shape[1], tables.start, tables.chain)
    numbers = (tables.cells, tables.sites, tables.returns)
    arrays = [array.astype(np.int32).tobytes() for array in numbers]
    return frames(order, *arrays, tables.column_of.tobytes())


def order(data: bytes) -> RankOrder:
    """The order in a first frame. Raises `msgspec.DecodeError` if there is none."""
    return _orders.decode(data)


def masks(sample: SampleOrder, rows: bytes) -> Masks:
    """The masks of an order to sample, from its second frame."""
    words = np.frombuffer(bytearray(rows), dtype=np.int32)
    return Masks(words.reshape(-1, sample.words), sample.row_of, sample.on_device, sample.replays)


def tables(hold: HoldOrder, arrays: Sequence[bytes]) -> DeviceTables:
    """The tables of an order to hold a grammar, from its other frames."""
    cells, sites, returns = (np.frombuffer(bytearray(each), np.int32) for each in arrays[:3])
    nothing, no_bytes = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    return DeviceTables(
        cells=cells.reshape(-1, hold.columns),
        column_of=np.frombuffer(bytearray(arrays[3]), np.uint8),
        sites=sites.reshape(-1, 2),
        returns=returns,
        start=hold.start,
        chain=hold.chain,
        lookahead=Lookahead(nothing, nothing, nothing, nothing, no_bytes, nothing),
    )


def packed(report: RankReport) -> bytes:
    """A report as bytes."""
    return _encoder.encode(report)


def report(data: bytes) -> RankReport:
    """The report in `data`. Raises `msgspec.DecodeError` if there is none."""
    return _reports.decode(data)
