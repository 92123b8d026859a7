"""What a cache of grammars holds, counted in bytes.

Does: keep the outcomes of compilations by key, measure grammars again while they grow, give up those used least
recently where they pass the bound, know which of these are still in use. Does not: compile, or lock: whoever owns it
calls it from one thread at a time (`cache`).
"""

from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from typing import Final
from weakref import ref

from ..contract.errors import GrammarError
from ..contract.matcher import CompiledGrammar

Outcome = CompiledGrammar | GrammarError
"""What a compilation came to. An error is kept without a traceback and never raised: `GrammarError.copy` is."""

_ENTRY_BYTES: Final = 1024  # what an entry takes beside its grammar
# Of grammars that are measured at once: those used last, which grow most, and some of all others in turn.
_RECENT: Final = 32
_OTHERS: Final = 32


@dataclass(slots=True)
class _Entry:
    """The outcome of one compilation, and its size when it was last asked for."""

    outcome: Outcome
    source: int
    size: int = 0

    @property
    def grammar(self) -> CompiledGrammar | None:
        return None if isinstance(self.outcome, GrammarError) else self.outcome

    def measure(self) -> int:
        """Find the size; by how much it has grown."""
        before = self.size
        self.size = self.source + _ENTRY_BYTES + self.outcome.size_bytes
        return self.size - before


class Holdings:
    """Outcomes by key, the least recently used first to go.

    `held_bytes` is as of the last measurement. `evictions` counts all, `evicted_bytes` what they held, until the owner
    sets it back.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._turn: list[str] = []  # keys that are still to be measured in turn
        self._leaving: list[tuple[ref[CompiledGrammar], int]] = []
        self.held_bytes = 0
        self.evictions = 0
        self.evicted_bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> Outcome | None:
        """The outcome of a key, which counts as used; None where none is held."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry.outcome

    def put(self, key: str, outcome: Outcome, source: int) -> None:
        """Hold an outcome of a constraint whose source has so many characters."""
        entry = _Entry(outcome, source)
        self.held_bytes += entry.measure()
        old = self._entries.pop(key, None)
        self.held_bytes -= old.size if old else 0
        self._entries[key] = entry
        self._evict()

    def measure(self) -> None:
        """Ask some grammars for their sizes again, and give up what is too much."""
        recent = islice(reversed(self._entries.values()), _RECENT)
        if not self._turn:
            self._turn = list(self._entries)
        self._turn, turn = self._turn[:-_OTHERS], self._turn[-_OTHERS:]
        others = (self._entries[key] for key in turn if key in self._entries)
        for entry in [*recent, *others]:
            self.held_bytes += entry.measure()
        self._evict()
        self._leaving = [
            (grammar, size) for grammar, size in self._leaving if grammar() is not None
        ]

    @property
    def leaving_bytes(self) -> int:
        """Memory of grammars that were given up and are still in use, as of the last measurement."""
        return sum(size for _, size in self._leaving)

    def _evict(self) -> None:
        while self.held_bytes > self._limit and self._entries:
            _, entry = self._entries.popitem(last=False)
            self.held_bytes -= entry.size
            self.evictions += 1
            self.evicted_bytes += entry.size
            grammar = entry.grammar
            if grammar is not None:
                self._leaving.append((ref(grammar), entry.size))
