"""The xgrammar back end, for grammars in which one byte of look-ahead does not decide.

Does: compile a grammar for one vocabulary and follow outputs with xgrammar; `cfg.chart` finds their shortest end. Does
not: parse or check grammars (`cfg`).
"""

import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..contract.bitmask import MaskRow, allowed_tokens, words
from ..contract.errors import InvalidConstraint, Refusal, UnsupportedConstraint, Violation
from ..contract.vocabulary import Vocabulary
from .token_spelling import Speller

if TYPE_CHECKING:
    import xgrammar

    from ..cfg.chart import Chart
    from ..cfg.enforce import Parsed

_ROOM = 32  # tokens; with less room beyond the shortest end, its tokens are counted exactly
_SOURCE_PLACE = re.compile(r"^(\[[^\]]*\] )?\S+\.(cc|h):\d+: ")


class EarleyCompiler:
    """xgrammar's compiler for one vocabulary. Safe to call from several threads."""

    def __init__(self, vocabulary: Vocabulary, speller: Speller) -> None:
        self._vocabulary = vocabulary
        self._speller = speller

    @cached_property
    def _compiler(self) -> "xgrammar.GrammarCompiler":
        xgrammar = _library()
        # A token without bytes becomes empty, and xgrammar never allows empty tokens.
        texts = [token or b"" for token in self._vocabulary.tokens]
        info = xgrammar.TokenizerInfo(
            texts,
            vocab_type=xgrammar.VocabType.RAW,
            vocab_size=self._vocabulary.width,
            stop_token_ids=list(self._vocabulary.end_ids),
        )
        return xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile(self, parsed: "Parsed") -> "EarleyGrammar":
        """Compile a grammar.

        Raises:
            InvalidConstraint: xgrammar cannot read it.
            UnsupportedConstraint: no shortest output was found, so no budget could be kept; or xgrammar is not
                installed.
        """
        xgrammar = _library()
        # In xgrammar 0.2.8 a recursive start rule loses tokens that close two levels at once, so it gets a rule above.
        try:
            grammar = xgrammar.Grammar.from_ebnf(
                f"{parsed.ebnf}\nstart ::= root\n", root_rule_name="start"
            )
            compiled = self._compiler.compile_grammar(grammar)
        except RuntimeError as error:
            raise InvalidConstraint(f"not a grammar: {_reason(error)}") from error
        made = EarleyGrammar(compiled, parsed, self._vocabulary, self._speller)
        if made.least_tokens is None:
            reason = "no shortest output of this vocabulary's tokens was found, so no budget could be kept"
            hint = (
                "write it so that one byte of look-ahead decides: such grammars run on the machine"
            )
            refusal = Refusal(parsed.form.start, "rule", reason, hint)
            raise UnsupportedConstraint(f"{reason}; {hint}", (refusal,))
        return made


def _library() -> Any:
    """The module xgrammar, an optional dependency. Raises UnsupportedConstraint if it is not installed."""
    try:
        return importlib.import_module("xgrammar")
    except ModuleNotFoundError as error:
        reason = (
            f"one byte of look-ahead does not decide in this grammar: it needs {error.name!r}, "
            "which is not installed"
        )
        hint = (
            "pip install 'intaglio[grammars]', or write it so that one byte of look-ahead decides"
        )
        refusal = Refusal("", "grammar", reason, hint)
        raise UnsupportedConstraint(f"{reason}; {hint}", (refusal,)) from None


def _reason(error: RuntimeError) -> str:
    """xgrammar's message without its prefix, a place in the source of xgrammar."""
    first = str(error).split("\n")[0]
    return _SOURCE_PLACE.sub("", first) or "it cannot be read"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class EarleyGrammar:
    """A grammar compiled for one vocabulary; see `CompiledGrammar`."""

    compiled: "xgrammar.CompiledGrammar"
    parsed: "Parsed"
    vocabulary: Vocabulary
    speller: Speller

    @property
    def least_tokens(self) -> int | None:
        """See `CompiledGrammar.least_tokens`."""
        return self.matcher().least_tokens()

    @property
    def size_bytes(self) -> int:
        """Memory held, as xgrammar counts it."""
        return int(self.compiled.memory_size_bytes)

    def matcher(self) -> "EarleyMatcher":
        """A new matcher at the start of the output."""
        import xgrammar

        from ..cfg.chart import Chart

        return EarleyMatcher(self, xgrammar.GrammarMatcher(self.compiled), Chart(self.parsed.form))


class EarleyMatcher:
    """Follows one output; see `Matcher`."""

    def __init__(
        self, grammar: EarleyGrammar, inner: "xgrammar.GrammarMatcher", chart: "Chart"
    ) -> None:
        self._grammar = grammar
        self._inner = inner
        self._chart = chart  # reads the output on demand, so it may lag behind
        self._history: list[int] = []
        self._output = bytearray()
        # By position: the result of `closing` (empty: no end was found); None if it was not called there.
        self._closings: list[tuple[int, ...] | None] = [None]

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
        run = self._closings[-1]
        self._history.append(token)
        self._output += vocabulary.text(token) or b""
        self._closings.append(run[1:] if run and run[0] == token else None)

    def skip(self, tokens: Sequence[int]) -> None:
        """Advance by many tokens.

        Raises:
            Violation: one of them is not legal.
        """
        for token in tokens:
            self.accept(token)

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
        """Take back the last `count` accepted tokens; see `Matcher.rollback`."""
        if not 0 <= count <= len(self._history):
            raise ValueError(f"{count} tokens cannot be taken back of {len(self._history)}")
        if count:
            self._inner.rollback(count)
            taken = sum(map(len, self._texts(self._history[-count:])))
            for kept, gone in (
                (self._history, count),
                (self._closings, count),
                (self._output, taken),
            ):
                del kept[len(kept) - gone :]
            self._chart.cut(min(self._chart.length, len(self._output)))

    def fork(self) -> "EarleyMatcher":
        """An independent copy at the same position."""
        twin = EarleyMatcher(self._grammar, self._inner.fork(), self._chart.fork())
        twin._history, twin._closings = list(self._history), list(self._closings)
        twin._output = bytearray(self._output)
        return twin

    def least_tokens(self) -> int | None:
        """The number of tokens of `closing`; see `Matcher.least_tokens`."""
        tokens = self.closing()
        return None if tokens is None else len(tokens)

    def closes_within(self, tokens: int) -> bool:
        """Whether `least_tokens` fits; see `Matcher.closes_within`.

        Also False where no end was found: the output is then closed earlier, where an end is known, and stays valid.
        With ample room no end is spelled or tried.
        """
        if self.finished:
            return tokens >= 0
        if self._closings[-1] is None and len(self._grammar.speller.single_bytes) == 256:
            if not self._catch_up():
                return False
            if self._chart.least() + _ROOM < tokens // 2:
                return True
        least = self.least_tokens()
        return least is not None and least <= tokens

    def closing(self) -> tuple[int, ...] | None:
        """The tokens of a short end of the output, with the end token; None if none was found.

        Each position keeps its end: after its first token has been accepted, the rest is still an end.
        """
        if self.finished:
            return ()
        found = self._closings[-1]
        if found is None:
            found = self._closings[-1] = self._find_end()
        return found or None

    def _texts(self, tokens: Iterable[int]) -> list[bytes]:
        return [self._grammar.vocabulary.text(token) or b"" for token in tokens]

    def _catch_up(self) -> bool:
        """Let the chart read the rest of the output; whether it could."""
        return self._chart.read(bytes(self._output[self._chart.length :]))

    def _find_end(self) -> tuple[int, ...]:
        if not self._catch_up():
            return ()
        text, end = self._chart.closing(), self._grammar.vocabulary.end_ids[0]
        run = self._grammar.speller.complete(self._history, text)
        if text and not run:
            return ()
        tokens, probe = (*run, end), self._inner.fork()
        return tokens if all(map(probe.accept_token, tokens)) else ()


def _clear_tail(row: MaskRow, width: int) -> None:
    """Clear the bits after the last token, in its word and in the words after it."""
    rest = width % 32
    row[words(width) :] = 0
    if rest:
        row.view(np.uint32)[words(width) - 1] &= np.uint32((1 << rest) - 1)
