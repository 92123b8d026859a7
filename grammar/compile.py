"""Constraints to compiled grammars, for one vocabulary.

Does: choose the back end: our own machine, or xgrammar's for grammars that it cannot run. Does not:
keep what it made (`cache`), judge (`screen`).

The compiled code of the machine is loaded with the first constraint, or by `warm`, not with this module.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from .backends.earley import EarleyCompiler
from .backends.spelling import Canonical, Speller
from .masks import empty_rows
from .matcher import CompiledGrammar
from .screen import screen
from .spec import Constraint, Kind
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    from .masking import TokenIndex

_WARMING = '{"type": "object", "properties": {"a": {"type": "string"}, "b": {"items": {"type": "number"}}}}'
_SHARED_BYTES = 256 << 20  # rows of all grammars together


class Compiler:
    """Compiles for one vocabulary. Safe to call from several threads.

    `canonical` says how the tokenizer spells bytes in the middle of an output, empty where it cannot.
    """

    def __init__(self, vocabulary: Vocabulary, canonical: Canonical) -> None:
        self.vocabulary = vocabulary
        self._speller = Speller(vocabulary, canonical)
        self._earley = EarleyCompiler(vocabulary, self._speller)

    def compile(self, constraint: Constraint, shortest: bytes | None = None) -> CompiledGrammar:
        """Compile a constraint. `shortest`: a short complete output if one is known, which need not be searched then.

        Raises:
            GrammarError: see `screen`; and InvalidConstraint for a grammar that cannot be read.
        """
        screened = screen(constraint)
        if screened.parsed is not None:
            return self._earley.compile(screened.parsed)
        from .machine import Machine
        from .native import NativeGrammar

        assert screened.root is not None
        grammar = NativeGrammar(Machine(screened.root), self._index, self._speller, shortest)
        _ = grammar.least_tokens  # found here, off the step loop
        return grammar

    @staticmethod
    def shortest(grammar: CompiledGrammar) -> bytes | None:
        """A short complete output of a grammar; None where the back end cannot tell."""
        from .native import NativeGrammar

        return grammar.shortest if isinstance(grammar, NativeGrammar) else None

    def spelled(self, text: bytes) -> tuple[int, ...]:
        """The tokens of a whole output that reads `text`; empty where the tokenizer would write something else."""
        return self._speller.spell((), text, final=True) if text else ()

    def warm(self) -> None:
        """Load compiled code and index the vocabulary, so that the first constraint need not wait for it."""
        matcher = self.compile(Constraint(Kind.JSON_SCHEMA, _WARMING)).matcher()
        row = empty_rows(1, self.vocabulary.width)[0]
        while not matcher.finished:
            matcher.fill(row)
            matcher.accept((*matcher.forced(), *(matcher.closing() or self.vocabulary.end_ids))[0])
        matcher.rollback(1)

    @cached_property
    def _index(self) -> "TokenIndex":
        from .masking import TokenIndex

        return TokenIndex(self.vocabulary, _SHARED_BYTES)
