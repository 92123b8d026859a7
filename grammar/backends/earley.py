"""Grammars with recursion, in EBNF, matched by xgrammar.

Does: compile EBNF text for one vocabulary and follow outputs through it. Does not: judge the grammar (`screen`) or
turn schemas into EBNF (`backends.schema_ebnf`).
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidConstraint, Violation
from ..masks import MaskRow, allowed_tokens, words
from ..vocabulary import Vocabulary
from .spelling import Speller

if TYPE_CHECKING:
    import xgrammar

_PLACE = re.compile(r"^(\[[^\]]*\] )?\S+\.(cc|h):\d+: ")


class EarleyCompiler:
    """xgrammar's compiler for one vocabulary. Safe to call from several threads."""

    def __init__(self, vocabulary: Vocabulary, speller: Speller, *, threads: int = 1) -> None:
        self._vocabulary = vocabulary
        self._speller = speller
        self._threads = threads

    @cached_property
    def _compiler(self) -> "xgrammar.GrammarCompiler":
        import xgrammar

        # A token without bytes is empty here, and xgrammar never allows empty tokens.
        texts = [token or b"" for token in self._vocabulary.tokens]
        info = xgrammar.TokenizerInfo(
            texts,
            vocab_type=xgrammar.VocabType.RAW,
            vocab_size=self._vocabulary.width,
            stop_token_ids=list(self._vocabulary.end_ids),
        )
        return xgrammar.GrammarCompiler(info, max_threads=self._threads, cache_enabled=False)

    def compile(self, ebnf: str, least_tokens: int | None = None) -> "EarleyGrammar":
        """Compile a grammar whose start rule is `root`.

        Raises:
            InvalidConstraint: xgrammar cannot read it.
        """
        import xgrammar

        # In xgrammar 0.2.8 a start rule that recurs loses tokens that close two levels at once, so it gets one above.
        start = "start"
        while start in ebnf:
            start += "_"
        try:
            grammar = xgrammar.Grammar.from_ebnf(
                f"{ebnf}\n{start} ::= root\n", root_rule_name=start
            )
            compiled = self._compiler.compile_grammar(grammar)
        except RuntimeError as error:
            raise InvalidConstraint(f"not a grammar: {_reason(error)}") from error
        return EarleyGrammar(compiled, self._vocabulary, self._speller, least_tokens)


def _reason(error: RuntimeError) -> str:
    """xgrammar's message without the place in its own source that it begins with."""
    first = str(error).split("\n")[0]
    return _PLACE.sub("", first) or "it cannot be read"


@dataclass(frozen=True, slots=True)
class EarleyGrammar:
    """A grammar compiled for one vocabulary; see `CompiledGrammar`."""

    compiled: "xgrammar.CompiledGrammar"
    vocabulary: Vocabulary
    speller: Speller
    least_tokens: int | None

    @property
    def size_bytes(self) -> int:
        """Memory held, as xgrammar counts it."""
        return int(self.compiled.memory_size_bytes)

    def matcher(self) -> "EarleyMatcher":
        """A new matcher at the start of the output."""
        import xgrammar

        return EarleyMatcher(self, xgrammar.GrammarMatcher(self.compiled), [])


class EarleyMatcher:
    """Follows one output; see `Matcher`."""

    def __init__(
        self, grammar: EarleyGrammar, inner: "xgrammar.GrammarMatcher", history: list[int]
    ) -> None:
        self._grammar = grammar
        self._inner = inner
        self._history = history

    @property
    def finished(self) -> bool:
        """Whether an end token has been accepted."""
        return bool(self._inner.is_terminated())

    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the tokens that are legal next."""
        if self.finished:
            row[:] = 0
            return
        self._inner.fill_next_token_bitmask(row.reshape(1, -1))
        _clear_tail(row, self._grammar.vocabulary.width)

    def accept(self, token: int) -> None:
        """Advance by one token.

        Raises:
            Violation: the token is not legal here; the matcher has not moved.
        """
        vocabulary = self._grammar.vocabulary
        known = vocabulary.text(token) is not None or token in vocabulary.end_ids
        if not known or self.finished or not self._inner.accept_token(token):
            raise Violation(f"token {token} is not legal here")
        self._history.append(token)

    def forced(self) -> tuple[int, ...]:
        """Tokens that must come next; see `Matcher.forced`."""
        if self.finished:
            return ()
        try:
            text = self._inner.find_jump_forward_string().encode()
        except UnicodeDecodeError:  # in the middle of a character
            text = b""
        if not text:
            return self._only_token()
        probe = self._inner.fork()
        probe.accept_string(text)
        row = np.zeros(words(self._grammar.vocabulary.width), dtype=np.int32)
        probe.fill_next_token_bitmask(row.reshape(1, -1))
        legal = allowed_tokens(row, self._grammar.vocabulary.width)
        ends = self._grammar.vocabulary.end_ids
        final = bool(np.isin(legal, ends).all())
        run = self._grammar.speller.spell(self._history, text, final=final)
        if not run:
            return self._only_token()
        return (*run, int(legal[0])) if final and len(legal) == 1 else run

    def _only_token(self) -> tuple[int, ...]:
        row = np.zeros(words(self._grammar.vocabulary.width), dtype=np.int32)
        self.fill(row)
        legal = allowed_tokens(row, self._grammar.vocabulary.width)
        return (int(legal[0]),) if len(legal) == 1 else ()

    def rollback(self, count: int) -> None:
        """Take back the last `count` accepted tokens."""
        if not 0 <= count <= len(self._history):
            raise ValueError(f"{count} tokens cannot be taken back of {len(self._history)}")
        if count:
            self._inner.rollback(count)
            del self._history[len(self._history) - count :]

    def fork(self) -> "EarleyMatcher":
        """An independent copy at the same position."""
        return EarleyMatcher(self._grammar, self._inner.fork(), list(self._history))

    def least_tokens(self) -> int | None:
        """Known at the start and at the end of an output only."""
        if self.finished:
            return 0
        return None if self._history else self._grammar.least_tokens

    def closing(self) -> tuple[int, ...] | None:
        """Not known to this back end."""
        return None


def _clear_tail(row: MaskRow, width: int) -> None:
    """Zero the bits past the last token in the last word."""
    rest = width % 32
    row[words(width) :] = 0
    if rest:
        row.view(np.uint32)[words(width) - 1] &= np.uint32((1 << rest) - 1)
