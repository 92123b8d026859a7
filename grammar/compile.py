"""Constraints to compiled grammars, for one vocabulary.

Does: choose the back end, and find a budget that is enough by spelling out a shortest text. Does not: keep what it made
(`cache`).
"""

import json
from dataclasses import replace

from .backends.earley import EarleyCompiler, EarleyGrammar
from .backends.spelling import Canonical, Speller
from .backends.walk import TokenBytes, WalkGrammar
from .errors import Violation
from .matcher import CompiledGrammar
from .screen import screen
from .spec import Constraint, Whitespace
from .vocabulary import Vocabulary


class Compiler:
    """Compiles for one vocabulary. Safe to call from several threads.

    `canonical` says how the tokenizer spells bytes in the middle of an output, empty where it cannot.
    """

    def __init__(self, vocabulary: Vocabulary, canonical: Canonical) -> None:
        self.vocabulary = vocabulary
        self._canonical = canonical
        self._speller = Speller(vocabulary, canonical)
        self._tokens = TokenBytes(vocabulary)
        self._earley = EarleyCompiler(vocabulary, self._speller)

    def compile(self, constraint: Constraint) -> CompiledGrammar:
        """Compile a constraint.

        Raises:
            GrammarError: see `screen`; and InvalidConstraint for a grammar that cannot be read.
        """
        screened = screen(constraint)
        if screened.automaton is not None:
            walk = WalkGrammar(screened.automaton, self._tokens, self._speller)
            walk.least(0)  # found here, off the step loop
            return walk
        grammar = self._earley.compile(screened.ebnf or "")
        if screened.shortest is None:
            return grammar
        text = screened.shortest
        if constraint.whitespace is Whitespace.PRETTY:
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
        return replace(grammar, least_tokens=self._witness(grammar, text))

    def _witness(self, grammar: EarleyGrammar, text: str) -> int | None:
        """Tokens that `text` takes with its end token, once the matcher has taken it; None if it does not."""
        tokens = self._canonical(text.encode())
        matcher = grammar.matcher()
        try:
            for token in (*tokens, self.vocabulary.end_ids[0]):
                matcher.accept(token)
        except Violation:
            return None
        return len(tokens) + 1
