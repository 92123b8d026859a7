"""Device memory of grammar tables: many grammars in a few tensors at fixed addresses, for captured graphs.

Does: place tables (described in `grammar.device.device_tables`) in one allocation, relocate their codes, and evict
unused tables in LRU order. Does not: export machines, walk them (`walk_masks`).

In the arena a state is the offset of its row in `cells`. Offset 0 is a row of zeros, which no text leaves; FINAL is the
row after the end of the output. Tensors never move, so captured graphs stay valid.
"""

from bisect import insort
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import torch

Ints = npt.NDArray[np.int32]

COLUMNS: Final = 258  # of the widest row
FINAL: Final = 512
_FREE: Final = 1024  # the first row of grammars
_CALLS: Final = 2
_LONGEST_CHAIN: Final = 16


class FlatTables(Protocol):
    """The tables of one grammar; `grammar.device.device_tables.DeviceTables` is one and describes the codes."""

    @property
    def cells(self) -> Ints: ...  # [states, columns]
    @property
    def column_of(self) -> npt.NDArray[np.uint8]: ...  # [256]
    @property
    def sites(self) -> Ints: ...  # [sites, 2]
    @property
    def returns(self) -> Ints: ...
    @property
    def start(self) -> int: ...
    @property
    def chain(self) -> int: ...


@dataclass(slots=True)
class _Pool:
    """Allocator of `size` entries from `first` on. `free`: (begin, end) of the gaps, ascending."""

    free: list[tuple[int, int]]

    def take(self, size: int) -> int | None:
        """The begin of a gap's first `size` entries, or None."""
        for i, (begin, end) in enumerate(self.free):
            if end - begin >= size:
                self.free[i : i + 1] = [(begin + size, end)] if end - begin > size else []
                return begin
        return None

    def give(self, begin: int, size: int) -> None:
        """Free entries."""
        if not size:
            return
        insort(self.free, (begin, begin + size))
        joined = [self.free[0]]
        for gap in self.free[1:]:
            if gap[0] == joined[-1][1]:
                joined[-1] = (joined[-1][0], gap[1])
            else:
                joined.append(gap)
        self.free = joined


@dataclass(slots=True)
class _Loaded:
    """A grammar in the arena: offset and length of its cells, sites and returns, and how many sequences use it."""

    key: Hashable
    columns: int
    start: int
    begins: tuple[int, int, int]
    sizes: tuple[int, int, int]
    users: int = 0


@dataclass(frozen=True, slots=True)
class ArenaLimits:
    """Capacity of the arena, in entries. The default takes about 170 MB."""

    grammars: int = 1024
    cells: int = 40_000_000
    sites: int = 400_000
    returns: int = 1_000_000


class GrammarArena:
    """Tables of up to `limits.grammars` grammars. One owner on the host; its copies go to the current stream.

    `cells` int32, `sites` int32 [n, 2], `returns` int32, `columns` uint8 [grammars, 256].
    """

    def __init__(self, device: torch.device, limits: ArenaLimits | None = None) -> None:
        limits = limits or ArenaLimits()
        self.cells = torch.zeros(_FREE + limits.cells, dtype=torch.int32, device=device)
        self.cells[FINAL + 1] = FINAL
        self.sites = torch.zeros((limits.sites, 2), dtype=torch.int32, device=device)
        self.returns = torch.zeros(limits.returns, dtype=torch.int32, device=device)
        self.columns = torch.zeros((limits.grammars, 256), dtype=torch.uint8, device=device)
        self._pools = (
            _Pool([(_FREE, _FREE + limits.cells)]),
            _Pool([(0, limits.sites)]),
            _Pool([(0, limits.returns)]),
        )
        self._loaded: dict[int, _Loaded] = {}
        self._slots: OrderedDict[Hashable, int] = OrderedDict()
        self._free = list(range(limits.grammars - 1, -1, -1))

    def find(self, key: Hashable) -> int | None:
        """The slot of a loaded grammar, or None."""
        return self._slots.get(key)

    def load(self, key: Hashable, tables: FlatTables) -> int | None:
        """The slot of a grammar, copied into the arena if it is not there; None if the slots in use leave no room.

        Raises:
            ValueError: the tables do not belong to one grammar.
        """
        slot = self._slots.get(key)
        if slot is not None:
            self._slots.move_to_end(key)
            return slot
        if tables.cells.shape[1] > COLUMNS or tables.chain > _LONGEST_CHAIN:
            raise ValueError(f"{tables.cells.shape[1]} columns, chains of {tables.chain} calls")
        sizes = (tables.cells.size, len(tables.sites), len(tables.returns))
        begins = self._room(sizes)
        if begins is None:
            return None
        slot = self._free.pop()
        columns = tables.cells.shape[1]
        self._loaded[slot] = _Loaded(key, columns, tables.start, begins, sizes)
        self._slots[key] = slot
        self._copy(slot, tables)
        return slot

    def _room(self, sizes: tuple[int, int, int]) -> tuple[int, int, int] | None:
        """Offsets for the three parts, evicting as many unused grammars as needed; None if that is not enough."""
        while True:
            taken = [
                pool.take(size) if size else 0
                for pool, size in zip(self._pools, sizes, strict=True)
            ]
            if self._free and None not in taken:
                return taken[0] or 0, taken[1] or 0, taken[2] or 0
            for pool, begin, size in zip(self._pools, taken, sizes, strict=True):
                if begin is not None:
                    pool.give(begin, size)
            oldest = next((s for s in self._slots.values() if not self._loaded[s].users), None)
            if oldest is None:
                return None
            self._forget(oldest)

    def _forget(self, slot: int) -> None:
        gone = self._loaded.pop(slot)
        del self._slots[gone.key]
        self._free.append(slot)
        for pool, begin, size in zip(self._pools, gone.begins, gone.sizes, strict=True):
            pool.give(begin, size)

    def _copy(self, slot: int, tables: FlatTables) -> None:
        base, site, back = self._loaded[slot].begins
        cells = _renamed(tables.cells, base, tables.cells.shape[1], site)
        sites = np.stack(
            (
                _renamed(tables.sites[:, 0], base, tables.cells.shape[1], site),
                tables.sites[:, 1] + np.int32(back),
            ),
            axis=1,
        )
        returns = _renamed(tables.returns, base, tables.cells.shape[1], site)
        for target, begin, array in (
            (self.cells, base, cells.reshape(-1)),
            (self.sites, site, sites),
            (self.returns, back, returns),
            (self.columns, slot, tables.column_of[None]),
        ):
            source = torch.from_numpy(np.array(array))
            if target.is_cuda:
                source = source.pin_memory()
            target[begin : begin + len(array)].copy_(source, non_blocking=True)

    def acquire(self, slot: int) -> None:
        """Count one more sequence that uses the grammar, which keeps it loaded."""
        self._loaded[slot].users += 1

    def release(self, slot: int) -> None:
        """Count one sequence fewer. Its last use on the device must be launched already."""
        self._loaded[slot].users -= 1

    def configuration(self, slot: int, state: int, stack: tuple[int, ...]) -> tuple[int, list[int]]:
        """A configuration of the tables as (state, stack) in the arena's numbering."""
        loaded = self._loaded[slot]
        base, _, back = loaded.begins
        at = base + state * loaded.columns
        return FINAL if at == base + loaded.sizes[0] else at, [back + entry for entry in stack]

    def start(self, slot: int) -> int:
        """The first state in the arena's numbering."""
        return self.configuration(slot, self._loaded[slot].start, ())[0]

    def check(self) -> None:
        """Every entry is free or belongs to one grammar. Raises `RuntimeError`."""
        for part, pool in enumerate(self._pools):
            used = [(g.begins[part], g.begins[part] + g.sizes[part]) for g in self._loaded.values()]
            spans = sorted([*(span for span in used if span[0] < span[1]), *pool.free])
            if any(a[1] != b[0] for a, b in pairwise(spans)):
                raise RuntimeError(f"entries are lost or belong to two grammars: {spans}")
        if sorted([*self._free, *self._loaded]) != list(range(len(self.columns))):
            raise RuntimeError("a slot is lost, or belongs to two grammars")


def _renamed(codes: Ints, base: int, columns: int, site: int) -> Ints:
    """Codes of one grammar in the arena's numbering, all of which fit int32."""
    moved = np.where(codes > 0, codes * np.int32(columns) + np.int32(base - columns), codes)
    calls = (codes < 0) & (~codes & 3 == _CALLS)  # -1 - code is ~code
    return np.where(calls, moved - np.int32(4 * site), moved)
