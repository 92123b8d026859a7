"""Our own back end: the byte machine followed token by token.

Does: keep the contract of `matcher` over a machine and a vocabulary. Does not: make rules (`jsonschema`) or tables
(`machine`), find masks (`masking`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from ..base.array_types import Words
from ..base.bounded_cache import BoundedCache
from ..completion.bounds import Bounds
from ..completion.replacement import Mending
from ..completion.search import Ways
from ..completion.shortest_end import Closing
from ..contract.bitmask import WORD_BITS, MaskRow
from ..contract.errors import Violation
from ..machine.byte_step import SITE
from ..machine.cursor import Cursor, Step
from ..machine.lazy_tables import FLAGS
from ..machine.machine import Machine
from ..mask.compute_masks import TokenIndex, make_row
from ..mask.mask_fixup import correct
from ..mask.row_cache import Row, RowCache
from .token_spelling import Speller

_MOST_FORCED: Final = 512  # bytes looked ahead for tokens that must come
# Room in which the promises of rules count: they are not exact where items must differ.
_AMPLE: Final = 2
_SPARE: Final = 64
_MOST_SKIPPED: Final = 64  # bytes of a way that another choice may replace
_LEADS: Final = (b"", b"0", b'"')  # what a begun number or text may lack
_PROBE: Final = 12  # bytes that are tried first
_MOST_MENDED: Final = 8  # ways that are tried whole
_SITE_BYTES: Final = 4  # of a frame in `Cursor.stack`

Key = tuple[int, bytes]
"""A configuration, as a key: its state, and the call sites on its stack."""
Way = tuple[bytes, int]
"""A way to the end: what stands in a text from an index on, so that places along it share the text."""
Run = tuple[tuple[int, ...], int]
"""The same in tokens, the end token included; no tokens at all: there is no way."""


@dataclass(frozen=True, eq=False)
class NativeGrammar:
    """A machine for one vocabulary; see `CompiledGrammar`.

    `known`: a short complete output, where one was found before. `heights`: by state, on how many frames its rows
    depend. `plain_stacks`: whether texts matter in
    a stack. By configuration, where they do not: `ends`, bytes that complete the output by a short way; `detours`, ways
    that need not be short; `forces`, what `Cursor.force` said.
    """

    machine: Machine
    index: TokenIndex
    speller: Speller
    known: bytes | None = None
    heights: dict[int, tuple[int, ...]] = field(default_factory=dict)
    ends: BoundedCache[Key, tuple[bytes | None]] = field(default_factory=BoundedCache)
    forces: BoundedCache[Key, tuple[bytes, bool]] = field(default_factory=BoundedCache)
    plain_stacks: BoundedCache[bytes, bool] = field(default_factory=BoundedCache)
    detours: BoundedCache[Key, "Way"] = field(default_factory=BoundedCache)

    @cached_property
    def rows(self) -> RowCache[Row]:
        """Masks made before, by state and stack."""
        return self.index.rows.open()

    @cached_property
    def bounds(self) -> Bounds:
        """How far the end is, by what the rules promise."""
        return Bounds(self.ways)

    @cached_property
    def ways(self) -> Ways:
        """Ways to the ends of the machine's rules, as far as they are known."""
        return Ways(self.machine)

    @cached_property
    def end_bits(self) -> tuple[tuple[int, np.uint32], ...]:
        """(word, bit) of a mask for each end token."""
        ends = self.index.vocabulary.end_ids
        return tuple((token // WORD_BITS, np.uint32(1 << token % WORD_BITS)) for token in ends)

    @property
    def size_bytes(self) -> int:
        """Memory held, by estimate: tables, leaves, rules, what was found out of ways to the end, masks."""
        kept = self.ends, self.forces, self.plain_stacks, self.detours
        found = sum(answers.nbytes for answers in kept) + self.ways.nbytes + self.bounds.nbytes
        return self.machine.size_bytes + found + self.rows.nbytes

    @cached_property
    def least_tokens(self) -> int | None:
        """See `CompiledGrammar.least_tokens`."""
        return self.matcher().least_tokens()

    @cached_property
    def shortest(self) -> bytes | None:
        """A short complete output; None if none was found."""
        return self.known or Closing(Cursor(self.machine), self.ways).text()

    def spelled_end(self, cursor: Cursor, history: list[int]) -> tuple[int, ...]:
        """Tokens that complete an output, the end token included; empty if no way was found."""
        text = self.end(cursor) if history else self.shortest
        return () if text is None else self.spelled_way(history, text)

    def spelled_way(self, history: list[int], text: bytes) -> tuple[int, ...]:
        """Tokens that read a text after which the output is over, and the end token; empty if it cannot be spelled."""
        run = self.speller.complete(history, text)
        return () if text and not run else (*run, self.index.vocabulary.end_ids[0])

    def key(self, cursor: Cursor) -> Key | None:
        """The configuration of a cursor, as a key; None where texts that were said decide as well what may come."""
        if len(cursor.memories) > 1:
            return None
        stack = cursor.stack
        plain = self.plain_stacks.get(stack)
        if plain is None:
            sites = cursor.frames[: cursor.depth, SITE]
            plain = not self.machine.tables.sites[sites, FLAGS].any()
            self.plain_stacks.put(stack, plain, len(stack))
        return (cursor.state, stack) if plain else None

    def end(self, cursor: Cursor) -> bytes | None:
        """Bytes that complete an output by a short way; None if none were found."""
        key = self.key(cursor)
        known = None if key is None else self.ends.get(key)
        if known is None:
            known = (Closing(cursor, self.ways).text(),)
            if key is not None:
                self.ends.put(key, known, len(key[1]) + len(known[0] or b""))
        return known[0]

    def force(self, cursor: Cursor) -> tuple[bytes, bool]:
        """What must come next, and whether the output is over then; see `Cursor.force`."""
        key = self.key(cursor)
        found = None if key is None else self.forces.get(key)
        if found is None:
            found = cursor.force(_MOST_FORCED)
            if key is not None:
                self.forces.put(key, found, len(key[1]) + len(found[0]))
        return found

    def spelled(self, history: Sequence[int], text: bytes, *, over: bool) -> tuple[int, ...]:
        """Tokens for a text that must come next; see `Matcher.forced`. `over`: the output ends after it."""
        ends = self.index.vocabulary.end_ids if over else ()
        run = self.speller.spell(history, text, final=over) if text else ()
        return (*run, *ends) if len(ends) == 1 and (run or not text) else run

    def matcher(self) -> "NativeMatcher":
        """A new matcher at the start of the output."""
        return NativeMatcher(self, Cursor(self.machine))

    def fill(self, cursor: Cursor, row: Words) -> Row:
        """Overwrite `row` with the mask of a configuration, from those kept or made now."""
        state, stack = cursor.state, cursor.stack
        heights = self.heights.get(state, ())
        for height in heights:
            below = len(stack) - _SITE_BYTES * height
            if below >= 0:
                found = self.rows.get((state, stack[below:]))
                if found is not None and found.unpack(row):
                    return found
        found, height = make_row(cursor, self.index)
        if height not in heights:
            self.heights[state] = (*heights, height)
        self.rows.put((state, stack[len(stack) - _SITE_BYTES * height :]), found)
        found.unpack(row)
        return found


class NativeMatcher:
    """Follows one output; see `Matcher`. `tokens` are those accepted so far, for reading."""

    def __init__(self, grammar: NativeGrammar, cursor: Cursor) -> None:
        self.grammar = grammar
        self._cursor = cursor
        self.tokens: list[int] = []
        self._steps: list[Step] = []
        # By how many tokens had been accepted since `skip`: what `closing` found, and a way that need not be short.
        self._closings: list[Run | None] = [None]
        self._ways: list[Way | None] = [None]
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether an end token has been accepted."""
        return self._finished

    @property
    def depth(self) -> int:
        """Rules that are open, one within the other: so high is the stack."""
        return self._cursor.depth - 1

    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the tokens that are legal next (all zero only once finished)."""
        if self._finished:
            row[:] = 0
            return
        cursor, grammar, words = self._cursor, self.grammar, row.view(np.uint32)
        found = grammar.fill(cursor, words)
        if cursor.recalled is not None or len(found.asks):
            correct(cursor, grammar.index, found, words)
        if found.may_end or (found.may_end is None and cursor.can_end()):
            for word, bit in grammar.end_bits:
                words[word] |= bit

    def accept(self, token: int) -> None:
        """Advance by one token.

        Raises:
            Violation: the token is not legal here; the matcher has not moved.
        """
        cursor, index = self._cursor, self.grammar.index
        if token in index.vocabulary.end_ids:
            if self._finished or not cursor.can_end():
                raise Violation(f"the output may not end here (token {token})")
            self._finished = True
        else:
            text, memories = index.texts.get(token), len(cursor.memories)
            if text is None or self._finished or not cursor.read(text):
                cursor.memories.cut(memories)
                raise Violation(f"token {token} is not legal here")
            self._steps.append(cursor.commit(text, memories))
        run = self._closings[-1]
        self.tokens.append(token)
        goes_on = run is not None and run[1] < len(run[0]) and run[0][run[1]] == token
        self._closings.append((run[0], run[1] + 1) if run is not None and goes_on else None)
        self._ways.append(None)

    def skip(self, tokens: Sequence[int]) -> None:
        """Accept many tokens at once, none of them an end; neither they nor those before them can be taken back.

        Raises:
            Violation: one is not legal; the matcher has not moved.
        """
        texts, cursor = self.grammar.index.texts, self._cursor
        if not tokens:
            return
        memories, known = len(cursor.memories), all(token in texts for token in tokens)
        whole = np.concatenate([texts[token] for token in tokens]) if known else None
        if whole is None or self._finished or not cursor.read(whole):
            cursor.memories.cut(memories)
            raise Violation(f"one of {len(tokens)} tokens is not legal here")
        cursor.commit(whole, memories)
        self.tokens += tokens
        self._steps, self._closings, self._ways = [], [None], [None]

    def forced(self) -> tuple[int, ...]:
        """Tokens that must come next because nothing else is legal; see `Matcher.forced`."""
        if self._finished:
            return ()
        text, over = self.grammar.force(self._cursor)
        return self.grammar.spelled(self.tokens, text, over=over)

    def rollback(self, count: int) -> None:
        """Take back the last `count` accepted tokens; see `Matcher.rollback`."""
        if not 0 <= count < len(self._closings):
            raise ValueError(f"{count} tokens cannot be taken back of {len(self._closings) - 1}")
        for _ in range(count):
            self.tokens.pop()
            self._closings.pop()
            self._ways.pop()
            if self._finished:
                self._finished = False
            else:
                self._cursor.undo(self._steps.pop())

    def fork(self) -> "NativeMatcher":
        """An independent copy at the same position."""
        twin = NativeMatcher(self.grammar, self._cursor.fork())
        twin.tokens, twin._steps = list(self.tokens), list(self._steps)
        twin._closings, twin._ways = list(self._closings), list(self._ways)
        twin._finished = self._finished
        return twin

    def least_tokens(self) -> int | None:
        """Tokens of `closing`; see `Matcher.least_tokens`."""
        tokens = self.closing()
        return None if tokens is None else len(tokens)

    def closes_within(self, tokens: int) -> bool:
        """Whether `least_tokens` fits `tokens`, or cannot be told; see `Matcher.closes_within`.

        What the rules promise is enough where there is ample room, and no way has to be found. Else the way that was
        found some tokens ago is tried first: inside a text it mostly still is one.
        """
        if self._finished:
            return tokens >= 0
        if len(self.grammar.speller.single_bytes) == 256:
            suffice = self.grammar.bounds.of(self._cursor)
            if suffice is not None and _AMPLE * suffice + _SPARE < tokens:
                return True
            way = self._way()
            # A token for each byte, and the end token.
            if way is not None and (len(way[0]) - way[1] < tokens or self._spells(way, tokens)):
                return True
        least = self.least_tokens()
        return least is None or least <= tokens

    def _spells(self, way: Way, tokens: int) -> bool:
        """Whether a way takes so many tokens at most; it is what `closing` answers then."""
        known = self._closings[-1]
        if known is None:
            run = self.grammar.spelled_way(self.tokens, way[0][way[1] :])
            if not run or len(run) > tokens:
                return False
            known = self._closings[-1] = run, 0
        found, at = known
        return bool(found) and len(found) - at <= tokens

    def _way(self) -> Way | None:
        """A way to the end, mostly a short one."""
        way = self._ways[-1]
        if way is not None:
            return way
        key = self.grammar.key(self._cursor)
        if key is not None:
            way = self.grammar.detours.get(key)
        if way is None:
            way = self._find_way()
            if key is not None and way is not None:
                self.grammar.detours.put(key, way, len(key[1]) + (0 if way[1] else len(way[0])))
        self._ways[-1] = way
        return way

    def _find_way(self) -> Way | None:
        """By the way that was found some tokens ago, else by a search."""
        place = len(self._ways) - 1
        while place and self._ways[place] is None:
            place -= 1
        known, end = self._ways[place], None
        if known is not None:
            text, at = known
            said = bytes(self._cursor.output[self._steps[place].length :])
            if text.startswith(said, at):
                return text, at + len(said)
            end = _way_into(self._cursor, self.grammar.ways, text[at:])
        if end is None:
            end = self.grammar.end(self._cursor)
        return None if end is None else (end, 0)

    def closing(self) -> tuple[int, ...] | None:
        """Tokens, the end token included, of a short way to complete the output; None if none was found.

        Each place remembers its way: after one of its tokens has been accepted, the rest is still a way.
        """
        if self._finished:
            return ()
        found = self._closings[-1]
        if found is None:
            found = self.grammar.spelled_end(self._cursor, self.tokens), 0
            self._closings[-1] = found
        tokens, at = found
        return tokens[at:] or None


def _way_into(cursor: Cursor, ways: Ways, end: bytes) -> bytes | None:
    """A way that comes into `end` somewhere: another choice was made on the way, and then the rest is the same.

    Texts on it that were said meanwhile are replaced.
    """
    found, tries = Mending(cursor, ways).text(end), 0
    memories = len(cursor.memories)
    size = (
        1 if memories > 1 else _PROBE
    )  # where texts count, more than a byte may be refused and still be mended
    for lead in _LEADS if found is None else ():
        for skipped in range(min(len(end), _MOST_SKIPPED)):
            probe = lead + end[skipped : skipped + size]
            legal = cursor.read(np.frombuffer(probe, np.uint8).copy())
            cursor.memories.cut(memories)
            if legal:
                tries += 1
                found = Mending(cursor, ways).text(lead + end[skipped:])
                if found is not None or tries == _MOST_MENDED:
                    return found
    return found
