"""Engines as the benchmark sees them: a schema opens, a mask is read, a token is taken.

Does: adapt each engine. Does not: judge (`run`). To add an engine, write a class with `open` and list it in `ENGINES`.
Each is asked for compact JSON with undeclared members where the schema allows them, and gets the vocabulary as bytes.
"""

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tests.conformance.bench_masks.vllm_door import refused_keywords

Bools = npt.NDArray[np.bool_]


class Refused(Exception):
    """The engine does not take the schema."""


class Session(Protocol):
    """One output."""

    def mask(self) -> Bools:
        """bool [width]: the tokens that the engine allows next, the end token included."""
        ...

    def take(self, token: int) -> bool:
        """Go on with a token; whether the engine takes it."""
        ...


class Engine(Protocol):
    """One engine with one vocabulary; its last token is the end. `is_slow`: it may take minutes for a schema."""

    is_slow: bool

    def open(self, schema: str) -> Callable[[], Session]:
        """Compile a schema; the result begins an output each time it is called. Raises `Refused`."""
        ...


def _bits(row: npt.NDArray[Any], width: int) -> Bools:
    return np.unpackbits(row.view(np.uint8), bitorder="little")[:width].astype(np.bool_)


class Intaglio:
    """Ours: members in any order."""

    is_slow = False

    def __init__(self, texts: tuple[bytes | None, ...]) -> None:
        from intaglio.grammar.api import Compiler, Vocabulary, empty_rows

        width = len(texts)
        self._compiler = Compiler(Vocabulary(texts, (width - 1,), width), tuple)
        self._row, self._width = empty_rows(1, width)[0], width

    def open(self, schema: str) -> Callable[[], Session]:
        from intaglio.grammar.api import Constraint, GrammarError, KeyOrder, Kind, Violation

        constraint = Constraint(Kind.JSON_SCHEMA, schema, key_order=KeyOrder.ANY)
        try:
            grammar = self._compiler.compile(constraint)
        except GrammarError as error:
            raise Refused(str(error)) from error
        row, width = self._row, self._width

        class Matcher:
            def __init__(self) -> None:
                self._matcher = grammar.matcher()

            def mask(self) -> Bools:
                self._matcher.fill(row)
                return _bits(row, width)

            def take(self, token: int) -> bool:
                try:
                    self._matcher.accept(token)
                except Violation:
                    return False
                return True

        return Matcher


class LLGuidance:
    """Members in the order of the schema."""

    is_slow = False

    def __init__(self, texts: tuple[bytes | None, ...]) -> None:
        import llguidance
        import llguidance.numpy

        self._lib, self._width = llguidance, len(texts)
        facts = llguidance.TokenizerWrapper(_TokenizerFacts(texts))
        self._tokenizer = llguidance.LLTokenizer(facts)
        self._row = llguidance.numpy.allocate_token_bitmask(1, self._width)

    def open(self, schema: str) -> Callable[[], Session]:
        lib, row, width = self._lib, self._row, self._width
        try:
            grammar = lib.LLMatcher.grammar_from_json_schema(
                schema, overrides={"whitespace_flexible": False}
            )
            first = lib.LLMatcher(self._tokenizer, grammar)
        except (ValueError, RuntimeError) as error:
            raise Refused(str(error)) from error
        if first.is_error():
            raise Refused(first.get_error())

        class Matcher:
            def __init__(self) -> None:
                self._matcher = first.deep_copy()

            def mask(self) -> Bools:
                lib.numpy.fill_next_token_bitmask(self._matcher, row, 0)
                return _bits(row[0], width)

            def take(self, token: int) -> bool:
                return bool(self._matcher.consume_token(token))

        return Matcher


class _TokenizerFacts:
    """A vocabulary of bytes, as llguidance asks for it."""

    def __init__(self, texts: tuple[bytes | None, ...]) -> None:
        self.eos_token_id = len(texts) - 1
        self.bos_token_id = None
        self.tokens = [text or b"" for text in texts[:-1]] + [b"<end>"]
        self.special_token_ids = [self.eos_token_id]
        self._ids = {text: token for token, text in enumerate(texts) if text is not None}

    def __call__(self, text: bytes | str) -> list[int]:
        """The longest token that fits, again and again, as the instances are spelled."""
        data = text.encode() if isinstance(text, str) else text
        return spelled(data, self._ids)


def spelled(text: bytes, ids: dict[bytes, int], longest: int = 32) -> list[int]:
    """The longest token that fits, again and again."""
    tokens, at = [], 0
    while at < len(text):
        sizes = range(min(longest, len(text) - at), 0, -1)
        size = next(size for size in sizes if text[at : at + size] in ids)
        tokens.append(ids[text[at : at + size]])
        at += size
    return tokens


class XGrammar:
    """Members in the order of the schema, objects open where the schema does not close them."""

    is_slow = True

    def __init__(self, texts: tuple[bytes | None, ...]) -> None:
        import xgrammar

        self._lib, self._width = xgrammar, len(texts)
        info = xgrammar.TokenizerInfo(
            [text or b"" for text in texts],
            xgrammar.VocabType.RAW,
            vocab_size=self._width,
            stop_token_ids=[self._width - 1],
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self._row = xgrammar.allocate_token_bitmask(1, self._width)

    def open(self, schema: str) -> Callable[[], Session]:
        return self._open(schema, any_whitespace=False, separators=(",", ":"), strict_mode=False)

    def _open(self, schema: str, **options: Any) -> Callable[[], Session]:
        try:
            compiled = self._compiler.compile_json_schema(schema, **options)
        except (RuntimeError, ValueError) as error:
            raise Refused(str(error)) from error
        lib, row, width = self._lib, self._row, self._width

        class Matcher:
            def __init__(self) -> None:
                self._matcher = lib.GrammarMatcher(compiled)

            def mask(self) -> Bools:
                row.fill_(-1)
                self._matcher.fill_next_token_bitmask(row, 0)
                return _bits(row[0].numpy(), width)

            def take(self, token: int) -> bool:
                return bool(self._matcher.accept_token(token))

        return Matcher


class VllmXGrammar(XGrammar):
    """xgrammar behind vLLM's front end, with its defaults.

    White space is free, and objects are closed unless the schema opens them.
    """

    def open(self, schema: str) -> Callable[[], Session]:
        refused = refused_keywords(json.loads(schema))
        if refused:
            raise Refused(", ".join(refused))
        return self._open(schema, any_whitespace=True)


class OutlinesCore:
    """Members in the order of the schema; a schema becomes a pattern, and that an index of the whole vocabulary."""

    is_slow = True

    def __init__(self, texts: tuple[bytes | None, ...]) -> None:
        self._lib: Any = import_module("outlines_core")  # it has no types
        self._width = len(texts)
        known = {text: [token] for token, text in enumerate(texts) if text}
        self._vocabulary = self._lib.Vocabulary(self._width - 1, known)

    def open(self, schema: str) -> Callable[[], Session]:
        schemas: Any = import_module("outlines_core.json_schema")
        try:
            pattern = schemas.build_regex_from_schema(schema, whitespace_pattern="")
            index = self._lib.Index(pattern, self._vocabulary)
        except BaseException as error:  # it also raises what is not an Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            raise Refused(str(error)) from error
        lib, width = self._lib, self._width

        class Matcher:
            def __init__(self) -> None:
                self._guide = lib.Guide(index)

            def mask(self) -> Bools:
                row = np.zeros(width, np.bool_)
                row[self._guide.get_tokens()] = True
                return row

            def take(self, token: int) -> bool:
                try:
                    self._guide.advance(token, return_tokens=False)
                except ValueError:
                    return False
                return True

        return Matcher


ENGINES: dict[str, Callable[[tuple[bytes | None, ...]], Engine]] = {
    "intaglio": Intaglio,
    "llguidance": LLGuidance,
    "xgrammar": XGrammar,
    "vllm": VllmXGrammar,
    "outlines-core": OutlinesCore,
}
