"""The native back end: grammars and matchers over the byte machine.

Does: implement `CompiledGrammar` and `Matcher` for a machine and a vocabulary. Does not: make rules (`jsonschema`) or
tables (`machine`), compute masks (`compute_masks`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from ..base.array_types import Words
from ..base.bounded_cache import BoundedCache
from ..completion.bounds import Bounds
from ..completion.replacement import Replacement
from ..completion.rule_graph import RuleGraph
from ..completion.shortest_end import ShortestEnd
from ..contract.bitmask import WORD_BITS, MaskRow
from ..contract.errors import Violation
from ..machine.byte_step import SITE
from ..machine.cursor import Cursor
from ..machine.lazy_tables import FLAGS
from ..machine.machine import Machine
from ..machine.text_reader import Step
from ..mask.compute_masks import TokenIndex, make_row
from ..mask.mask_fixup import correct
from ..mask.row_cache import Row, RowCache
from .token_spelling import Speller

_MOST_FORCED: Final = 512  # bytes of forced text found at once
# How far a budget must exceed the bound of the rules, which is not exact where items must be unique: factor, tokens.
_AMPLE: Final = 2
_SPARE: Final = 64
_MOST_SKIPPED: Final = 64  # bytes of an end that the output may have replaced
_LEADS: Final = (b"", b"0", b'"')  # bytes that a begun number or string may need first
_PROBE: Final = 12  # bytes that are tried first
_MOST_ENDS_TRIED: Final = 8  # ends that are tried whole
_SITE_BYTES: Final = 4  # of a frame in `Cursor.stack`

Key = tuple[int, bytes]
"""A configuration as a key: its state, and the call sites on its stack."""
EndText = tuple[bytes, int]
"""An end of an output: the bytes of a text from an index on. Later positions share the text."""
Run = tuple[tuple[int, ...], int]
"""The same in tokens, with the end token; no tokens at all: no end was found."""


@dataclass(frozen=True, eq=False)
class NativeGrammar:
    """A machine for one vocabulary; see `CompiledGrammar`.

    `known`: a short complete output, if one was found before. `heights`: by state, the numbers of frames on which its
    masks depend. `plain_stacks`: whether a stack neither remembers nor judges texts. By configuration with such a
    stack: `ends`, bytes of a short end; `detours`, ends that need not be short; `forces`, results of `Cursor.force`.
    """

    machine: Machine
    index: TokenIndex
    speller: Speller
    known: bytes | None = None
    heights: dict[int, tuple[int, ...]] = field(default_factory=dict)
    ends: BoundedCache[Key, tuple[bytes | None]] = field(default_factory=BoundedCache)
    forces: BoundedCache[Key, tuple[bytes, bool]] = field(default_factory=BoundedCache)
    plain_stacks: BoundedCache[bytes, bool] = field(default_factory=BoundedCache)
    detours: BoundedCache[Key, "EndText"] = field(default_factory=BoundedCache)

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
    def least_tokens(self) -> int | None:
        """See `CompiledGrammar.least_tokens`."""
        return self.matcher().least_tokens()

    @cached_property
    def shortest(self) -> bytes | None:
        """A short complete output; None if none was found."""
        return self.known or ShortestEnd(Cursor(self.machine), self.graph).text()

    def spelled_end(self, cursor: Cursor, history: list[int]) -> tuple[int, ...]:
        """Tokens that complete an output, with the end token; empty if no end was found."""
        text = self.end(cursor) if history else self.shortest
        return () if text is None else self.spelled_tokens(history, text)

    def spelled_tokens(self, history: list[int], text: bytes) -> tuple[int, ...]:
        """The tokens of the last text of an output, and the end token; empty if no tokens spell the text."""
        run = self.speller.complete(history, text)
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

    def end(self, cursor: Cursor) -> bytes | None:
        """Bytes of a short end of an output; None if none was found."""
        key = self.key(cursor)
        known = None if key is None else self.ends.get(key)
        if known is None:
            known = (ShortestEnd(cursor, self.graph).text(),)
            if key is not None:
                self.ends.put(key, known, len(key[1]) + len(known[0] or b""))
        return known[0]

    def force(self, cursor: Cursor) -> tuple[bytes, bool]:
        """The forced bytes, and whether the output is over after them; see `Cursor.force`."""
        key = self.key(cursor)
        found = None if key is None else self.forces.get(key)
        if found is None:
            found = cursor.force(_MOST_FORCED)
            if key is not None:
                self.forces.put(key, found, len(key[1]) + len(found[0]))
        return found

    def spelled(self, history: Sequence[int], text: bytes, *, over: bool) -> tuple[int, ...]:
        """Tokens for a forced text; see `Matcher.forced`. `over`: the output ends after it."""
        ends = self.index.vocabulary.end_ids if over else ()
        run = self.speller.spell(history, text, final=over) if text else ()
        return (*run, *ends) if len(ends) == 1 and (run or not text) else run

    def matcher(self) -> "NativeMatcher":
        """A new matcher at the start of the output."""
        return NativeMatcher(self, Cursor(self.machine))

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
        found, height = make_row(cursor, self.index)
        if height not in heights:
            self.heights[state] = (*heights, height)
        self.rows.put((state, stack[len(stack) - _SITE_BYTES * height :]), found)
        found.unpack(row)
        return found


class NativeMatcher:
    """Follows one output; see `Matcher`. `tokens`: the accepted tokens, read-only for others."""

    def __init__(self, grammar: NativeGrammar, cursor: Cursor) -> None:
        self.grammar = grammar
        self._cursor = cursor
        self.tokens: list[int] = []
        self._steps: list[Step] = []
        # By the number of tokens accepted since `skip`: the result of `closing`, and an end that need not be short.
        self._closings: list[Run | None] = [None]
        self._ends: list[EndText | None] = [None]
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether an end token has been accepted."""
        return self._finished

    @property
    def depth(self) -> int:
        """Number of open rules: the height of the stack."""
        return self._cursor.depth - 1

    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the tokens that are legal next (all zero only after the end)."""
        if self._finished:
            row[:] = 0
            return
        cursor, grammar, words = self._cursor, self.grammar, row.view(np.uint32)
        found = grammar.fill(cursor, words)
        if cursor.open_texts is not None or len(found.asks):
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
        self._ends.append(None)

    def skip(self, tokens: Sequence[int]) -> None:
        """Accept many tokens at once, no end token among them. No token accepted so far can be taken back after that.

        Raises:
            Violation: a token is not legal; the matcher has not moved.
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
        self._steps, self._closings, self._ends = [], [None], [None]

    def forced(self) -> tuple[int, ...]:
        """Tokens that must come next because no other text is legal; see `Matcher.forced`."""
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
            self._ends.pop()
            if self._finished:
                self._finished = False
            else:
                self._cursor.undo(self._steps.pop())

    def fork(self) -> "NativeMatcher":
        """An independent copy at the same position."""
        twin = NativeMatcher(self.grammar, self._cursor.fork())
        twin.tokens, twin._steps = list(self.tokens), list(self._steps)
        twin._closings, twin._ends = list(self._closings), list(self._ends)
        twin._finished = self._finished
        return twin

    def least_tokens(self) -> int | None:
        """The number of tokens of `closing`; see `Matcher.least_tokens`."""
        tokens = self.closing()
        return None if tokens is None else len(tokens)

    def closes_within(self, tokens: int) -> bool:
        """Whether `least_tokens` fits `tokens`, or is unknown; see `Matcher.closes_within`.

        With ample room, the bound from the rules is enough, and no end is searched. Else the end found some tokens ago
        is tried first: within a text it mostly still is one.
        """
        if self._finished:
            return tokens >= 0
        if len(self.grammar.speller.single_bytes) == 256:
            suffice = self.grammar.bounds.of(self._cursor)
            if suffice is not None and _AMPLE * suffice + _SPARE < tokens:
                return True
            end = self._end()
            # A token for each byte, and the end token.
            if end is not None and (len(end[0]) - end[1] < tokens or self._spells(end, tokens)):
                return True
        least = self.least_tokens()
        return least is None or least <= tokens

    def _spells(self, end: EndText, tokens: int) -> bool:
        """Whether an end takes at most `tokens` tokens; if so, `closing` returns it."""
        known = self._closings[-1]
        if known is None:
            run = self.grammar.spelled_tokens(self.tokens, end[0][end[1] :])
            if not run or len(run) > tokens:
                return False
            known = self._closings[-1] = run, 0
        found, at = known
        return bool(found) and len(found) - at <= tokens

    def _end(self) -> EndText | None:
        """An end of the output, mostly a short one."""
        end = self._ends[-1]
        if end is not None:
            return end
        key = self.grammar.key(self._cursor)
        if key is not None:
            end = self.grammar.detours.get(key)
        if end is None:
            end = self._find_end()
            if key is not None and end is not None:
                self.grammar.detours.put(key, end, len(key[1]) + (0 if end[1] else len(end[0])))
        self._ends[-1] = end
        return end

    def _find_end(self) -> EndText | None:
        """An end derived from the end found some tokens ago, else from a search."""
        place = len(self._ends) - 1
        while place and self._ends[place] is None:
            place -= 1
        known, end = self._ends[place], None
        if known is not None:
            text, at = known
            written = bytes(self._cursor.output[self._steps[place].length :])
            if text.startswith(written, at):
                return text, at + len(written)
            end = _joined_end(self._cursor, self.grammar.graph, text[at:])
        if end is None:
            end = self.grammar.end(self._cursor)
        return None if end is None else (end, 0)

    def closing(self) -> tuple[int, ...] | None:
        """The tokens of a short end of the output, with the end token; None if none was found.

        Each position keeps its end: after its first token has been accepted, the rest is still an end.
        """
        if self._finished:
            return ()
        found = self._closings[-1]
        if found is None:
            found = self.grammar.spelled_end(self._cursor, self.tokens), 0
            self._closings[-1] = found
        tokens, at = found
        return tokens[at:] or None


def _joined_end(cursor: Cursor, graph: RuleGraph, end: bytes) -> bytes | None:
    """An end that joins `end` after a few bytes: the output took another turn, and the rest of `end` still fits.

    Texts in it that were seen meanwhile are replaced.
    """
    found, tries = Replacement(cursor, graph).text(end), 0
    memories = len(cursor.memories)
    # Where texts are compared, a longer probe may be refused although its texts can be replaced.
    size = 1 if memories > 1 else _PROBE
    for lead in _LEADS if found is None else ():
        for skipped in range(min(len(end), _MOST_SKIPPED)):
            probe = lead + end[skipped : skipped + size]
            legal = cursor.read(np.frombuffer(probe, np.uint8).copy())
            cursor.memories.cut(memories)
            if legal:
                tries += 1
                found = Replacement(cursor, graph).text(lead + end[skipped:])
                if found is not None or tries == _MOST_ENDS_TRIED:
                    return found
    return found
