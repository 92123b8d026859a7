"""One machine of a grammar, and the caches that hold for its states.

Does: compute and cache masks, forced texts and ends by configuration of the machine. Does not: follow outputs
(`native`), or make rules (`jsonschema`), tables (`machine`) and masks (`compute_masks`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from ..base.array_types import Words
from ..base.bounded_cache import BoundedCache
from ..base.parts import Parts, whole
from ..completion.bounds import Bounds
from ..completion.rule_graph import RuleGraph
from ..completion.shortest_end import ShortestEnd
from ..contract.bitmask import WORD_BITS
from ..machine.byte_step import SITE
from ..machine.cursor import Cursor
from ..machine.lazy_tables import FLAGS
from ..machine.machine import Machine
from ..mask.compute_masks import TokenIndex, make_row
from ..mask.copied_mask import fill_few
from ..mask.row_cache import Row, RowCache
from .token_spelling import Speller

_MOST_FORCED: Final = 512  # bytes of forced text found at once
_SITE_BYTES: Final = 4  # of a frame in `Cursor.stack`

Key = tuple[int, bytes]
"""A configuration as a key: its state, and the call sites on its stack."""
EndText = tuple[bytes, int]
"""An end of an output: the bytes of a text from an index on. Later positions share the text."""


@dataclass(frozen=True, eq=False)
class Generation:
    """One machine of a grammar, with everything that is cached by its states.

    `known`: a short complete output, if one was found before. `heights`: by state, the numbers of frames on which its
    masks depend. `plain_stacks`: whether a stack neither remembers nor judges texts. By configuration with such a
    stack: `ends`, bytes of a short end; `detours`, ends that need not be short. By any configuration: `forces`, results
    of `Cursor.force`, and whether tokens may spell that text.
    """

    machine: Machine
    index: TokenIndex
    speller: Speller
    known: bytes | None = None
    heights: dict[int, tuple[int, ...]] = field(default_factory=dict)
    ends: BoundedCache[Key, tuple[bytes | None]] = field(default_factory=BoundedCache)
    forces: BoundedCache[Key, tuple[bytes, bool, bool]] = field(default_factory=BoundedCache)
    plain_stacks: BoundedCache[bytes, bool] = field(default_factory=BoundedCache)
    detours: BoundedCache[Key, EndText] = field(default_factory=BoundedCache)

    @cached_property
    def rows(self) -> RowCache[Row]:
        """Cached masks, by state and stack."""
        return self.index.rows.open()

    @cached_property
    def bounds(self) -> Bounds:
        """Bounds on the bytes to the end, from the rules."""
        return Bounds(self.graph)

    @cached_property
    def graph(self) -> RuleGraph:
        """The rules as a graph, with the completions found so far."""
        return RuleGraph(self.machine)

    @cached_property
    def end_bits(self) -> tuple[tuple[int, np.uint32], ...]:
        """(word, bit) of a mask for each end token."""
        ends = self.index.vocabulary.end_ids
        return tuple((token // WORD_BITS, np.uint32(1 << token % WORD_BITS)) for token in ends)

    @property
    def size_bytes(self) -> int:
        """Estimated memory held: tables, leaves, rules, completions, masks."""
        kept = self.ends, self.forces, self.plain_stacks, self.detours
        found = sum(answers.nbytes for answers in kept) + self.graph.nbytes + self.bounds.nbytes
        return self.machine.size_bytes + found + self.rows.nbytes

    @cached_property
    def shortest(self) -> bytes | None:
        """A short complete output; None if none was found."""
        return self.known or whole(ShortestEnd(Cursor(self.machine), self.graph).text())

    @property
    def found(self) -> bytes | None:
        """`shortest`, as far as it was searched."""
        found: bytes | None = vars(self).get("shortest", self.known)
        return found

    def spelled_end(self, cursor: Cursor, history: list[int]) -> Parts[tuple[int, ...]]:
        """Tokens that complete an output, with the end token; empty if no end was found."""
        text = (yield from self.end(cursor)) if history else self.shortest
        return () if text is None else (yield from self.spelled_tokens(history, text))

    def spelled_tokens(self, history: list[int], text: bytes) -> Parts[tuple[int, ...]]:
        """The tokens of the last text of an output, and the end token; empty if no tokens spell the text."""
        yield
        run = yield from self.speller.complete_parts(history, text)
        return () if text and not run else (*run, self.index.vocabulary.end_ids[0])

    def key(self, cursor: Cursor) -> Key | None:
        """The configuration of a cursor as a key; None where seen texts also decide which bytes are legal."""
        if len(cursor.memories) > 1:
            return None
        stack = cursor.stack
        plain = self.plain_stacks.get(stack)
        if plain is None:
            sites = cursor.frames[: cursor.depth, SITE]
            plain = not self.machine.tables.sites[sites, FLAGS].any()
            self.plain_stacks.put(stack, plain, len(stack))
        return (cursor.state, stack) if plain else None

    def end(self, cursor: Cursor) -> Parts[bytes | None]:
        """Bytes of a short end of an output; None if none was found."""
        key = self.key(cursor)
        known = None if key is None else self.ends.get(key)
        if known is None:
            known = ((yield from ShortestEnd(cursor, self.graph).text()),)
            if key is not None:
                self.ends.put(key, known, len(key[1]) + len(known[0] or b""))
        return known[0]

    def forced(self, cursor: Cursor, history: Sequence[int]) -> tuple[int, ...]:
        """The tokens that must come next; see `Matcher.forced`. `history`: the tokens of the output."""
        key = cursor.state, cursor.stack  # forced text ends where a comparison of texts decides
        found = self.forces.get(key)
        if found is None:
            text, over = cursor.force(_MOST_FORCED)
            found = text, over, self.speller.may_spell(text, final=over)
            self.forces.put(key, found, len(key[1]) + len(text))
        text, over, spells = found
        run = self.speller.spell_whole(history, text, final=over) if spells else ()
        return self._ended(run, text) if over else run

    def spelled(self, history: Sequence[int], text: bytes, *, over: bool) -> tuple[int, ...]:
        """Tokens for a forced text; see `Matcher.forced`. `over`: the output ends after it."""
        run = self.speller.spell(history, text, final=over)
        return self._ended(run, text) if over else run

    def _ended(self, run: tuple[int, ...], text: bytes) -> tuple[int, ...]:
        """The tokens of a forced text with which the output is over, and the end token, if there is only one."""
        ends = self.index.vocabulary.end_ids
        return (*run, *ends) if len(ends) == 1 and (run or not text) else run

    def fill(self, cursor: Cursor, row: Words) -> Row:
        """Overwrite `row` with the mask of a configuration, taken from the cache or computed now."""
        state, stack = cursor.state, cursor.stack
        heights = self.heights.get(state, ())
        for height in heights:
            below = len(stack) - _SITE_BYTES * height
            if below >= 0:
                found = self.rows.get((state, stack[below:]))
                if found is not None and found.unpack(row):
                    return found
        found = fill_few(cursor, self.index, row)
        if found is not None:
            return found
        found, height = make_row(cursor, self.index, row)
        if height not in heights:
            self.heights[state] = (*heights, height)
        self.rows.put((state, stack[len(stack) - _SITE_BYTES * height :]), found)
        found.unpack(row)
        return found


def cursor_of(generation: Generation) -> Cursor:
    """A cursor at the start of an output, for a matcher."""
    return Cursor(generation.machine, generation.speller.joined)
