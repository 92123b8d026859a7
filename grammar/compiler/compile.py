"""The compiler of constraints to grammars, for one vocabulary.

Does: choose the back end, the byte machine or Earley items for grammars that the machine cannot run; build the grammar.
Does not: cache grammars (`grammar_cache`), check constraints (`frontend`).

The compiled loops of the machine are loaded with the first constraint or by `warm`, not when this module is imported.
"""

import json
from contextlib import suppress
from functools import cached_property
from time import thread_time
from typing import TYPE_CHECKING
from weakref import finalize

from ..backends.token_spelling import Canonical, Speller
from ..contract.bitmask import empty_rows
from ..contract.constraint import Constraint, Kind
from ..contract.errors import GrammarError
from ..contract.matcher import CompiledGrammar
from ..contract.vocabulary import Vocabulary
from .device_export import tables_of
from .frontend import Screened, screen

if TYPE_CHECKING:
    from ..earley.masks import WalkIndex
    from ..mask.compute_masks import TokenIndex

# A schema that reaches every compiled loop.
_WARMING = r"""{
    "properties": {
        "a": {"type": "string", "pattern": "(?=a)b*|\\bx$", "minLength": 3},
        "b": {"enum": [1, "x", null, [1]]},
        "c": {"type": "string", "format": "date-time"},
        "d": {"type": "number", "multipleOf": 0.7, "minimum": 1},
        "e": {"not": {"type": "string", "pattern": "^a+$"}},
        "f": {
            "items": {"type": "integer"}, "uniqueItems": true, "contains": {"type": "integer"},
            "type": "array", "minItems": 2
        },
        "g": {},
        "h": {
            "patternProperties": {"^[ab]{1,8}$": {}}, "additionalProperties": false,
            "type": "object", "minProperties": 1
        }
    },
    "patternProperties": {"^x": {"type": "boolean"}},
    "type": "object", "required": ["a", "b", "c", "d", "e", "f", "g", "h"], "minProperties": 9
}"""
# Maximum lengths of strings to warm up with: masks of strings are shared by the distance to the bound.
_BOUNDED = 12, 48
# Schemas of strings that are read through windows, with the number of characters to write.
_WINDOWS = ('{"type": "string", "maxLength": 20000}', 1), ('{"format": "hostname"}', 1)
# A verbatim string of a document where it has many places after one character, and few after more.
_VERBATIM = '{"type": "string", "x-intaglio": {"verbatim": true}}', 40
_DOCUMENT = "a" * 99
# A grammar that one byte does not decide, and that has ends, forced texts and choices.
_AMBIGUOUS = 'root ::= "a" root "a" | "b" root "b" | "(xx" root ")" | ""'
_SHARED_BYTES = 128 << 20
# A shortest output of this many bytes, by the bound of the rules, fits into a machine: it has room for 3 KiB a byte,
# and the schemas of JSONSchemaBench take at most 2 KiB a byte.
_SHORT = 8192


class Compiler:
    """Compiles constraints for one vocabulary. Thread-safe.

    `canonical` gives the tokens that the tokenizer writes for bytes in the middle of an output, none where it cannot.
    `shared_bytes` bounds the memory that grammars share: half for masks of leaves, half for automata. The masks of one
    grammar may take half as much. `is_warming`: whether `warm` is running, which on a new machine compiles the loops.
    """

    def __init__(
        self, vocabulary: Vocabulary, canonical: Canonical, shared_bytes: int = _SHARED_BYTES
    ) -> None:
        self.vocabulary = vocabulary
        self.is_warming = False
        self._shared_bytes = shared_bytes
        self._speller = Speller(vocabulary, canonical)

    def compile(self, constraint: Constraint, shortest: bytes | None = None) -> CompiledGrammar:
        """Compile a constraint: its outputs can begin.

        All other states are computed when an output reaches them, and a shortest output when it is asked for, unless it
        may be long. `shortest`: a known short complete output, which saves the search for one.

        Raises:
            GrammarError: see `screen`; InvalidConstraint also for a grammar that cannot be parsed, TablesFull where one
                machine does not suffice for a shortest output.
        """
        screened = screen(constraint)
        grammar = self.build(screened, shortest)
        if not _ends_soon(screened):
            # Kept by the grammar. Without it, full tables would stop an output that has begun.
            _ = grammar.least_tokens
        grammar.matcher().forced()  # expands the first states, which would take long within a step
        return grammar

    @staticmethod
    def warm_up(grammar: CompiledGrammar, constraint: Constraint) -> None:
        """Make masks that outputs of a grammar will probably need, while nothing waits for them; see `warmup`."""
        from ..backends.earley import EarleyGrammar
        from ..backends.native import NativeGrammar
        from ..backends.warmup import DOCUMENT_S, warm_up, warm_up_s

        if isinstance(grammar, EarleyGrammar):
            grammar.warm_up()
        if isinstance(grammar, NativeGrammar):
            begun = thread_time()
            with suppress(GrammarError):  # a request for the end reports it
                _ = grammar.least_tokens  # the states on the way to an end are likely ones
            # The first mask of a string that follows a document takes long, and is needed for every document.
            follows = constraint.document is not None
            seconds = DOCUMENT_S if follows else warm_up_s(constraint.source)
            searched = thread_time() - begun
            warm_up(grammar, seconds - searched, bytewise=follows)

    def build(self, screened: Screened, shortest: bytes | None = None) -> CompiledGrammar:
        """The second half of `compile`, with the same errors. The rules of `screened` go with the grammar."""
        if screened.parsed is not None:
            from ..backends.earley import EarleyGrammar

            return EarleyGrammar(screened.parsed, self._walk, self._speller)
        from ..backends.native import NativeGrammar
        from ..machine.machine import Machine

        assert screened.root is not None
        grammar = NativeGrammar(Machine(screened.root), self._index, self._speller, shortest)
        if screened.release is not None:
            finalize(grammar, screened.release).atexit = False
        return grammar

    @staticmethod
    def shortest(grammar: CompiledGrammar) -> bytes | None:
        """A short complete output of a grammar; None if the back end knows none."""
        from ..backends.earley import EarleyGrammar
        from ..backends.native import NativeGrammar

        return grammar.shortest if isinstance(grammar, NativeGrammar | EarleyGrammar) else None

    def spelled(self, text: bytes) -> tuple[int, ...]:
        """The tokens of a whole output `text`; empty if the tokenizer cannot write this text."""
        return self._speller.spell((), text, final=True) if text else ()

    def warm(self) -> None:
        """Load all compiled loops, index the vocabulary, and make masks of common leaves: formats, bounded strings."""
        self.is_warming = True
        try:
            self._load()
        finally:
            self.is_warming = False

    def _load(self) -> None:
        from ..leaves.formats import KNOWN

        for name in sorted(KNOWN):
            constraint = Constraint(
                Kind.JSON_SCHEMA, json.dumps({"type": "string", "format": name})
            )
            self.warm_up(self.compile(constraint), constraint)
        matcher = self.compile(Constraint(Kind.JSON_SCHEMA, _WARMING)).matcher()
        row = empty_rows(1, self.vocabulary.width)[0]
        for token in matcher.closing() or ():
            matcher.fill(row)
            matcher.forced()
            matcher.accept(token)
        matcher.rollback(1)
        followed = [(json.dumps({"type": "string", "maxLength": size}), size) for size in _BOUNDED]
        followed += [*_WINDOWS, _VERBATIM]
        for asked, size in followed if ord("a") in self._speller.single_bytes else ():
            constraint = Constraint(Kind.JSON_SCHEMA, asked, document=_DOCUMENT)
            matcher = self.compile(constraint).matcher()
            for byte in b'"' + b"a" * size:
                matcher.accept(self._speller.single_bytes[byte])
                matcher.fill(row)
        matcher = self.compile(Constraint(Kind.EBNF, _AMBIGUOUS)).matcher()
        for byte in b"(xx" * 6 if len(self._speller.single_bytes) == 256 else b"":
            matcher.accept(self._speller.single_bytes[byte])
            matcher.fill(row)
            matcher.forced()
        tables_of(Constraint(Kind.JSON_SCHEMA, "{}"))

    def shared(self) -> dict[str, int]:
        """Memory that grammars share, in bytes by part. Shrinks the shared automata to their half of `shared_bytes`."""
        held = {"texts": self._speller.nbytes}
        if "_index" in vars(self):  # otherwise no loops are loaded, and nothing is shared
            from .automata_budget import automata_bytes, shrink_automata

            shrink_automata(self._shared_bytes // 2)
            held["texts"] += self._index.texts_bytes
            held["leaf_masks"] = self._index.leaf_rows.nbytes
            held["automata"] = automata_bytes()
        return held

    @cached_property
    def _walk(self) -> "WalkIndex":
        from ..earley.masks import WalkIndex

        return WalkIndex(self._index)

    @cached_property
    def _index(self) -> "TokenIndex":
        from ..mask.compute_masks import TokenIndex

        return TokenIndex(self.vocabulary, self._shared_bytes)


def _ends_soon(screened: Screened) -> bool:
    """Whether the rules have an output that is certainly short."""
    from ..automata import Dfa

    root = screened.root
    if root is None or isinstance(root, Dfa):
        return False
    least = root.least(root.start)
    return least is not None and least <= _SHORT
