"""An LRU cache of compilation outcomes, bounded in bytes.

Does: store outcomes by key, measure grammars repeatedly because they grow, evict the least recently used ones above the
bound, track evicted grammars that are still in use. Does not: compile, or lock: the owner calls it from one thread at a
time (`grammar_cache`).
"""

from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from typing import Final
from weakref import ref

from ..contract.errors import GrammarError
from ..contract.matcher import CompiledGrammar

Outcome = CompiledGrammar | GrammarError
"""The result of a compilation. A cached error has no traceback and is never raised itself, only its `copy`."""

_ENTRY_BYTES: Final = 1024  # memory of an entry without its grammar
# Grammars measured at one time: the most recently used ones, which grow most, and some of the others in turn.
_RECENT: Final = 32
_OTHERS: Final = 32


@dataclass(slots=True)
class _Entry:
    """The outcome of one compilation, and its size at the last measurement."""

    outcome: Outcome
    source: int  # characters of the constraint's source
    size: int = 0

    @property
    def grammar(self) -> CompiledGrammar | None:
        return None if isinstance(self.outcome, GrammarError) else self.outcome

    def measure(self) -> int:
        """Measure the size; returns its growth since the last measurement."""
        before = self.size
        self.size = self.source + _ENTRY_BYTES + self.outcome.size_bytes
        return self.size - before


class OutcomeCache:
    """Outcomes by key; the least recently used are evicted first.

    `held_bytes` is as of the last measurement. `evictions` counts all evictions. `evicted_bytes` sums up their sizes
    until the owner resets it.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._turn: list[str] = []  # keys still to be measured in this round
        self._evicted: list[tuple[ref[CompiledGrammar], int]] = []  # still in use, with their sizes
        self.held_bytes = 0
        self.evictions = 0
        self.evicted_bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> Outcome | None:
        """The outcome of a key, which becomes the most recently used; None if there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry.outcome

    def put(self, key: str, outcome: Outcome, source: int) -> None:
        """Store an outcome; `source` is the number of characters of the constraint's source."""
        entry = _Entry(outcome, source)
        self.held_bytes += entry.measure()
        old = self._entries.pop(key, None)
        self.held_bytes -= old.size if old else 0
        self._entries[key] = entry
        self._evict()

    def measure(self) -> None:
        """Measure some grammars again, and evict the excess."""
        recent = islice(reversed(self._entries.values()), _RECENT)
        if not self._turn:
            self._turn = list(self._entries)
        self._turn, turn = self._turn[:-_OTHERS], self._turn[-_OTHERS:]
        others = (self._entries[key] for key in turn if key in self._entries)
        for entry in [*recent, *others]:
            self.held_bytes += entry.measure()
        self._evict()
        self._evicted = [
            (grammar, size) for grammar, size in self._evicted if grammar() is not None
        ]

    @property
    def in_use_bytes(self) -> int:
        """Memory of evicted grammars that are still in use, as of the last measurement."""
        return sum(size for _, size in self._evicted)

    def _evict(self) -> None:
        while self.held_bytes > self._limit and self._entries:
            _, entry = self._entries.popitem(last=False)
            self.held_bytes -= entry.size
            self.evictions += 1
            self.evicted_bytes += entry.size
            grammar = entry.grammar
            if grammar is not None:
                self._evicted.append((ref(grammar), entry.size))
