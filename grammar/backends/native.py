"""The native back end: grammars and matchers over the byte machine.

Does: implement `CompiledGrammar` and `Matcher` for a machine and a vocabulary; replace a machine with full tables.
Does not: make rules (`jsonschema`) or tables (`machine`), compute masks (`compute_masks`), cache what one machine's
states stand for (`generation`).
"""

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from threading import Lock
from typing import Concatenate, Final, ParamSpec, TypeVar

import numpy as np

from ..base.array_types import Bytes
from ..base.parts import Parts
from ..completion.rule_graph import RuleGraph
from ..contract.bitmask import MaskRow
from ..contract.errors import TablesFull, Violation
from ..machine.cursor import Cursor
from ..machine.machine import Machine
from ..machine.text_reader import Step
from ..mask.compute_masks import TokenIndex
from ..mask.mask_fixup import correct
from .closing_questions import WholeAnswers
from .generation import EndText, Generation, cursor_of
from .known_answers import NOTHING_KNOWN, KnownAnswers
from .later_ends import find_end
from .token_spelling import Speller

# How far a budget must exceed the bound of the rules, which is not exact where items must be unique: factor, tokens.
_AMPLE: Final = 2
_SPARE: Final = 64

P = ParamSpec("P")
T = TypeVar("T")


class NativeGrammar:
    """The rules of a constraint for one vocabulary, followed by machines of bounded size; see `CompiledGrammar`.

    A machine's tables grow with the texts that outputs reach. Once they are full, a new machine of the same rules takes
    over: new outputs begin in it, and an output that needs more of the full one moves to it (`NativeMatcher`).
    """

    def __init__(
        self, machine: Machine, index: TokenIndex, speller: Speller, known: bytes | None = None
    ) -> None:
        """`known`: a short complete output, if one was found before."""
        self.index = index
        self.speller = speller
        self._generation = Generation(machine, index, speller, known)
        self._lock = Lock()

    @property
    def generation(self) -> Generation:
        """The newest machine with its caches."""
        return self._generation

    @property
    def machine(self) -> Machine:
        """The newest machine."""
        return self._generation.machine

    @property
    def graph(self) -> RuleGraph:
        """The rules as a graph, as far as the newest machine has reached."""
        return self._generation.graph

    @property
    def shortest(self) -> bytes | None:
        """A short complete output; None if none was found."""
        return self._generation.shortest

    @property
    def size_bytes(self) -> int:
        """Estimated memory held by the newest machine: tables, leaves, rules, completions, masks."""
        return self._generation.size_bytes

    @cached_property
    def least_tokens(self) -> int | None:
        """See `CompiledGrammar.least_tokens`."""
        return self.matcher().least_tokens()

    def after(self, full: Generation) -> Generation:
        """The generation that replaces a full one."""
        with self._lock:
            if self._generation is full:
                machine = Machine(full.machine.root, full.machine.most_bytes)
                self._generation = Generation(machine, self.index, self.speller, full.found)
            return self._generation

    def matcher(self) -> "NativeMatcher":
        """A new matcher at the start of the output."""
        return NativeMatcher(self, self._generation)


def _moving(
    work: Callable[Concatenate["NativeMatcher", P], T],
) -> Callable[Concatenate["NativeMatcher", P], T]:
    """`work` of a matcher, which is done again in another machine if its own tables are full."""

    @wraps(work)
    def moving(matcher: "NativeMatcher", /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(matcher, *args, **kwargs)
        except TablesFull:
            pass  # handled outside, so that the error does not keep the full tables
        try:
            matcher.move()
            return work(matcher, *args, **kwargs)
        except TablesFull:
            pass
        matcher.move()
        return work(matcher, *args, **kwargs)

    return moving


def _moving_parts(
    work: Callable[Concatenate["NativeMatcher", P], Parts[T]],
) -> Callable[Concatenate["NativeMatcher", P], Parts[T]]:
    """The same for work in parts."""

    @wraps(work)
    def moving(matcher: "NativeMatcher", /, *args: P.args, **kwargs: P.kwargs) -> Parts[T]:
        try:
            return (yield from work(matcher, *args, **kwargs))
        except TablesFull:
            pass
        try:
            matcher.move()
            return (yield from work(matcher, *args, **kwargs))
        except TablesFull:
            pass
        matcher.move()
        return (yield from work(matcher, *args, **kwargs))

    return moving


class NativeMatcher(WholeAnswers):
    """Follows one output; see `Matcher`. `tokens`: the accepted tokens, read-only for others."""

    __slots__ = (
        *("grammar", "_texts", "_generation", "_cursor", "tokens", "_steps", "_known", "_finished"),
    )

    def __init__(self, grammar: NativeGrammar, generation: Generation) -> None:
        self.grammar = grammar
        self._texts = grammar.index.texts
        self._generation = generation
        self._cursor = cursor_of(generation)
        self.tokens: list[int] = []
        self._steps: list[Step] = []
        self._known: list[KnownAnswers | None] = [
            None
        ]  # by the number of tokens accepted since `skip`
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether an end token has been accepted."""
        return self._finished

    @property
    def depth(self) -> int:
        """Number of open rules: the height of the stack."""
        return self._cursor.depth - 1

    @_moving
    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the tokens that are legal next (all zero only after the end)."""
        if self._finished:
            row[:] = 0
            return
        cursor, generation, words = self._cursor, self._generation, row.view(np.uint32)
        found = generation.fill(cursor, words)
        unique = generation.machine.special.unique_items
        if cursor.open_texts is not None or len(found.undecided) or unique:
            correct(cursor, generation.index, found, words)
        if found.may_end or (found.may_end is None and cursor.can_end()):
            for word, bit in generation.end_bits:
                words[word] |= bit

    def accept(self, token: int) -> None:
        """Advance by one token.

        Raises:
            Violation: the token is not legal here; the matcher has not moved.
        """
        text = self._texts.get(token)
        if text is None or self._finished:
            _finish(self, token)
        else:
            try:
                step = self._cursor.advance(text)
            except TablesFull:
                step = _advance(self, text)
            if step is None:
                raise Violation(f"token {token} is not legal here")
            self._steps.append(step)
        self.tokens.append(token)
        known = self._known[-1]
        self._known.append(None if known is None else known.after(token))

    @_moving
    def skip(self, tokens: Sequence[int]) -> None:
        """Accept many tokens at once, no end token among them. No token accepted so far can be taken back after that.

        Raises:
            Violation: a token is not legal; the matcher has not moved.
        """
        texts, cursor = self._texts, self._cursor
        if not tokens:
            return
        known = all(token in texts for token in tokens) and not self._finished
        if not known or cursor.advance(np.concatenate([texts[token] for token in tokens])) is None:
            raise Violation(f"one of {len(tokens)} tokens is not legal here")
        self.tokens += tokens
        self._steps, self._known = [], [None]

    def forced(self) -> tuple[int, ...]:
        """Tokens that must come next because no other text is legal; see `Matcher.forced`."""
        if self._cursor.chooses or self._finished:
            return ()
        known = self._known[-1]
        if known is not None and (left := known.to_come()):
            return left
        try:
            found = self._generation.forced(self._cursor, self.tokens)
        except TablesFull:
            found = _find_forced(self)
        if found:
            self._known[-1] = self._here().forcing(found)
        return found

    def rollback(self, count: int) -> None:
        """Take back the last `count` accepted tokens; see `Matcher.rollback`."""
        if not 0 <= count < len(self._known):
            raise ValueError(f"{count} tokens cannot be taken back of {len(self._known) - 1}")
        for _ in range(count):
            self.tokens.pop()
            self._known.pop()
            if self._finished:
                self._finished = False
            else:
                self._cursor.undo(self._steps.pop())

    def fork(self) -> "NativeMatcher":
        """An independent copy at the same position."""
        twin = NativeMatcher(self.grammar, self._generation)
        twin._cursor = self._cursor.fork()
        twin.tokens, twin._steps = list(self.tokens), list(self._steps)
        twin._known, twin._finished = list(self._known), self._finished
        return twin

    @_moving_parts
    def closes_within_parts(self, tokens: int) -> Parts[bool]:
        """Whether `least_tokens` fits `tokens`, or is unknown; see `Matcher.closes_within`.

        With ample room, the bound from the rules is enough, and no end is searched. Else the end found some tokens ago
        is tried first: within a text it mostly still is one.
        """
        if self._finished:
            return tokens >= 0
        if len(self.grammar.speller.single_bytes) == 256:
            suffice = self._generation.bounds.of(self._cursor)
            if suffice is not None and _AMPLE * suffice + _SPARE < tokens:
                return True
            end = yield from self._end()
            # A token for each byte, and the end token.
            if end is not None and (
                len(end[0]) - end[1] < tokens or (yield from self._spells(end, tokens))
            ):
                return True
        closing = yield from self.closing_parts()
        return closing is None or len(closing) <= tokens

    def move(self) -> None:
        """Move to the machine that replaces the present one, which has full tables.

        Raises:
            TablesFull: other outputs have filled the tables of that machine as well.
            ConstraintTooLarge: the tables of a new machine do not suffice for this output alone.
        """
        written = self.tokens[: len(self.tokens) - self._finished]
        texts, kept = [self.grammar.index.texts[token] for token in written], len(self._steps)
        self._generation = self.grammar.after(self._generation)
        self._cursor, self._steps = _read_again(cursor_of(self._generation), texts, kept)

    def _spells(self, end: EndText, tokens: int) -> Parts[bool]:
        """Whether an end takes at most `tokens` tokens; if so, `closing` returns it."""
        here = self._here()
        closing = here.closing
        if closing is None:
            run = yield from self._generation.spelled_tokens(self.tokens, end[0][end[1] :])
            if not run or len(run) > tokens:
                return False
            closing = run, 0
            self._known[-1] = here._replace(closing=closing)
        found, at = closing
        return bool(found) and len(found) - at <= tokens

    def _end(self) -> Parts[EndText | None]:
        """An end of the output, mostly a short one."""
        if len(self._known) > len(self.tokens):
            shortest = self._generation.shortest  # of the whole output: found when it was compiled
            first = self._known[0] or NOTHING_KNOWN
            if first.end is None and shortest is not None:
                self._known[0] = first._replace(end=(shortest, 0))
        here = self._here()
        if here.end is not None:
            return here.end
        key = self._generation.key(self._cursor)
        end = None if key is None else self._generation.detours.get(key)
        if end is None:
            end = yield from find_end(self._cursor, self._generation, self._known, self._steps)
            if key is not None and end is not None:
                self._generation.detours.put(key, end, len(key[1]) + (0 if end[1] else len(end[0])))
        self._known[-1] = here._replace(end=end)
        return end

    @_moving_parts
    def closing_parts(self) -> Parts[tuple[int, ...] | None]:
        """The tokens of a short end of the output, with the end token; None if none was found.

        Each position keeps its end: after its first token has been accepted, the rest is still an end. An end that made
        `closes_within_parts` answer yes may be shorter than one that is searched from here: it is taken then.
        """
        if self._finished:
            return ()
        closing = self._here().closing
        if closing is None:
            closing = (yield from self._generation.spelled_end(self._cursor, self.tokens)), 0
            self._known[-1] = self._here()._replace(closing=closing)
        end = (yield from self._end()) if len(self.grammar.speller.single_bytes) == 256 else None
        if end is not None and len(end[0]) - end[1] + 1 < len(closing[0]) - closing[1]:
            run = yield from self._generation.spelled_tokens(self.tokens, end[0][end[1] :])
            closing = (run, 0) if run else closing
            self._known[-1] = self._here()._replace(closing=closing)
        tokens, at = closing
        return tokens[at:] or None

    def _here(self) -> KnownAnswers:
        """What is known of the present position."""
        return self._known[-1] or NOTHING_KNOWN


@_moving
def _advance(matcher: NativeMatcher, text: Bytes) -> Step | None:
    """Move the cursor of a matcher by the text of a token."""
    return matcher._cursor.advance(text)


@_moving
def _finish(matcher: NativeMatcher, token: int) -> None:
    """End an output with an end token."""
    if token not in matcher.grammar.index.vocabulary.end_ids:
        raise Violation(f"token {token} is not legal here")
    if matcher._finished or not matcher._cursor.can_end():
        raise Violation(f"the output may not end here (token {token})")
    matcher._finished = True


@_moving
def _find_forced(matcher: NativeMatcher) -> tuple[int, ...]:
    """The forced tokens, in a machine with room for them."""
    return matcher._generation.forced(matcher._cursor, matcher.tokens)


def _read_again(cursor: Cursor, texts: list[Bytes], kept: int) -> tuple[Cursor, list[Step]]:
    """Read an output, a text a token, with another machine; the steps of the last `kept` tokens can be taken back."""
    begun = len(texts) - kept
    first = [np.concatenate(texts[:begun])] if begun else []
    steps = [step for step in map(cursor.advance, (*first, *texts[begun:])) if step is not None]
    if len(steps) < len(first) + kept:
        raise RuntimeError("a machine refuses what another one of the same rules has read")
    return cursor, steps[len(first) :]
