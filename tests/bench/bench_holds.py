"""How long one request keeps all others waiting: the longest turn of a grammar in a step, over awkward schemas.

Run: `python -m tests.bench.bench_holds [--only NAME ...] [--large]`. Each schema is examined in another process, as the
gate does; one that is admitted is compiled here, and outputs are written under it by models that choose badly, with
ample and with tight budgets. A turn is the processor time of this thread between two tokens of one output: filling the
mask, accepting the token and the forced ones, and the question of whether the budget suffices. The vocabulary is that
of the embedded model, with `--large` the 151,646 ids of `../shared`. Nothing is compared with a bound.
"""

import argparse
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from intaglio.engine.config import GrammarConfig
from intaglio.engine.grammars.budgeted_matcher import SEARCH_S, BudgetedMatcher
from intaglio.engine.grammars.loop_detection import LoopWatch
from intaglio.engine.grammars.schema_gate import SchemaGate
from intaglio.engine.host.garbage import GarbageCollector
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    GrammarError,
    KeyOrder,
    Kind,
    MaskRow,
    Vocabulary,
    empty_rows,
)

from tests.support.tokens import large

Json = dict[str, Any]
T = TypeVar("T")

_MOST_TOKENS = 600  # of one output
_MOST_S = 12.0  # of all outputs under one schema
_TIGHT = 48  # tokens of budget above the least
_TURN = 12  # tokens after which a model that wants to end looks for the way


def _objects(count: int, *, required: int, value: Json) -> Json:
    names = [f"field_{number}" for number in range(count)]
    return {
        "type": "object",
        "properties": dict.fromkeys(names, value),
        "required": names[:required],
        "additionalProperties": False,
    }


def _list(items: Json, least: int) -> Json:
    return {"type": "array", "items": items, "uniqueItems": True, "minItems": least}


_POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "boolean"}},
    "required": ["x", "y"],
    "additionalProperties": False,
}
_LETTERS = "|".join(
    f"\\p{{{name}}}{{{n},{n + 9}}}" for n, name in enumerate(("L", "Lu", "N", "P", "S", "Lo"), 1)
)
_TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["name", "children"],
        }
    },
}  # fmt: skip

# A schema, and whether the order of keys is free.
CATALOGUE: dict[str, tuple[Json, bool]] = {
    "unique integers, 20": (_list({"type": "integer"}, 20), False),
    "unique integers, 60": (_list({"type": "integer"}, 60), False),
    "unique integers, 100": (_list({"type": "integer"}, 100), False),
    "unique integers, 150": (_list({"type": "integer"}, 150), False),
    "unique strings, 60": (_list({"type": "string"}, 60), False),
    "unique strings, 100": (_list({"type": "string"}, 100), False),
    "unique strings, no bound": (_list({"type": "string"}, 0), False),
    "unique numbers, 60": (_list({"type": "number"}, 60), False),
    "unique anything, 40": (_list({}, 40), False),
    "unique objects, 40": (_list(_POINT, 40), False),
    "unique objects of any keys, 20": (_list({"type": "object", "minProperties": 2}, 20), True),
    "unique of a large enum, 60": (_list({"enum": [f"value {n}" for n in range(400)]}, 60), False),
    "unique lists, 20": (_list(_list({"type": "integer"}, 3), 20), False),
    "contains 30 of 60": (
        {"type": "array", "items": {"type": "integer"}, "minItems": 60,
         "contains": {"minimum": 1000}, "minContains": 30},
        False,
    ),
    "30 required, any order": (_objects(30, required=30, value={"type": "string"}), True),
    "100 required, any order": (_objects(100, required=100, value={"type": "string"}), True),
    "300 required, any order": (_objects(300, required=300, value={"type": "string"}), True),
    "300 required": (_objects(300, required=300, value={"type": "string"}), False),
    "800 optional, any order": (_objects(800, required=0, value={"type": "string"}), True),
    "800 optional": (_objects(800, required=0, value={"type": "string"}), False),
    "200 optional integers, any order": (_objects(200, required=0, value={"type": "integer"}), True),
    "2000 required": (_objects(2000, required=2000, value={"type": "boolean"}), False),
    "enum of 5,000": ({"enum": [f"a value of number {n * 7919}" for n in range(5000)]}, False),
    "list of an enum of 5,000": (
        {"type": "array", "items": {"enum": [f"{n * 7919 % 9973} things" for n in range(5000)]}, "minItems": 20},
        False,
    ),
    "enum of long texts": ({"enum": [f"{n} " + "lorem ipsum " * 200 for n in range(60)]}, False),
    "pattern of Unicode classes": ({"type": "string", "pattern": f"^({_LETTERS})+$"}, False),
    "letters, 300 at most": ({"type": "string", "pattern": "^\\p{L}+$", "maxLength": 300}, False),
    "a name, 300 at most": ({"type": "string", "pattern": "^\\p{Lu}\\p{Ll}+( \\p{L}+)*$", "maxLength": 300}, False),
    "letters, 3 to 40": ({"type": "string", "pattern": "^\\p{L}{3,40}$"}, False),
    "pattern with a count": ({"type": "string", "pattern": "^([a-z]{3,9} ){20,60}$"}, False),
    "pattern of 3 looks": ({"type": "string", "pattern": "^(?=.*\\d)(?=.*[a-z])(?=.*[A-Z]).{12,60}$"}, False),
    "pattern not anchored": ({"type": "string", "pattern": "(ab|ba){8}.{20}x"}, False),
    "string of 20,000 at least": ({"type": "string", "minLength": 20_000}, False),
    "string of 20,000 at most": ({"type": "string", "maxLength": 20_000}, False),
    "strings of 500 at least": ({"type": "array", "items": {"type": "string", "minLength": 500}, "minItems": 5}, False),
    "all formats": (
        {
            "type": "object",
            "properties": {
                name: {"type": "string", "format": name}
                for name in ("date-time", "email", "idn-email", "uri", "iri", "hostname", "idn-hostname", "ipv6",
                             "uri-template", "json-pointer", "duration", "uuid", "regex")
            },
            "minProperties": 13,
        },
        True,
    ),
    "multiple of 0.01": ({"type": "number", "multipleOf": 0.01, "minimum": -1e9, "maximum": 1e9}, False),
    "multiple of 2^20": ({"type": "integer", "multipleOf": 1 << 20}, False),
    "tight bounds": ({"type": "number", "minimum": 0.123456789, "maximum": 0.123456799}, False),
    "a tree": (_TREE, False),
    "a tree, any order": (_TREE, True),
    "any JSON": ({}, True),
    "60 alternatives": (
        {"anyOf": [
            _objects(n % 7 + 2, required=n % 3, value={"type": "string", "maxLength": n + 1})
            for n in range(60)
        ]},
        False,
    ),
    "one of 2 objects": (
        {"oneOf": [_objects(4, required=3, value={"type": "integer", "minimum": n}) for n in range(2)]},
        False,
    ),
    "dependent": (
        {
            "type": "object",
            "properties": {f"p{n}": {"type": "integer"} for n in range(24)},
            "dependentRequired": {f"p{n}": [f"p{n + 1}"] for n in range(23)},
            "additionalProperties": False,
        },
        True,
    ),
    "names by pattern": (
        {
            "type": "object",
            "patternProperties": {f"^{c}[a-z]+$": {"type": "string"} for c in "abcdefghij"},
            "minProperties": 30,
            "propertyNames": {"maxLength": 12},
        },
        True,
    ),
    "40 properties at least": ({"type": "object", "minProperties": 40}, True),
    "200 properties at least": ({"type": "object", "minProperties": 200}, True),
    "not an enum": ({"not": {"enum": [f"forbidden {n}" for n in range(500)]}}, False),
    "unevaluated": (
        {
            "allOf": [{"properties": {f"a{n}": {"type": "string"}}} for n in range(20)],
            "unevaluatedProperties": {"type": "integer"},
            "minProperties": 25,
        },
        True,
    ),
    "matrix of 12": (
        {"type": "array", "minItems": 12, "items": {"type": "array", "minItems": 12, "items": {"type": "number"}}},
        False,
    ),
    "list of 1,000 at least": ({"type": "array", "items": {"type": "integer"}, "minItems": 1000}, False),
}  # fmt: skip


@dataclass
class Held:
    """The turns of one schema, in ms: the longest, and the time of its token, its question and its model."""

    turns: int = 0
    total: float = 0.0
    over: int = 0  # turns of more than 20 ms
    longest: float = 0.0
    where: str = ""
    ended: str = ""

    def add(self, taken: float, where: str) -> None:
        self.turns += 1
        self.total += taken
        self.over += taken > 20.0
        if taken > self.longest:
            self.longest, self.where = taken, where


class Chooser:
    """A model that chooses among the legal tokens of a mask."""

    def __init__(self, name: str, vocabulary: Vocabulary, seed: int) -> None:
        self.name = name
        self._texts = vocabulary.tokens
        self._draw = random.Random(f"{name} {seed}")
        plain = [
            i for i, text in enumerate(vocabulary.tokens)
            if text and text.replace(b" ", b"").isalnum() and len(text) < 12
        ]  # fmt: skip
        digits = [i for i in plain if (vocabulary.tokens[i] or b"").isdigit()]
        inner = [
            i for i, text in enumerate(vocabulary.tokens) if text and not set(text) & set(b'"]}')
        ]
        self._liked = {"words": plain, "digits": digits, "never ends": inner}.get(name, [])

    def choose(self, row: MaskRow, matcher: Any, count: int) -> tuple[int, ...]:
        """The next token; with "ends", often the first ones of a short completion."""
        if self.name == "ends" and count % _TURN:
            return (matcher.closing() or ())[:1]
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")
        liked = [i for i in self._liked if bits[i]] if self._draw.random() < 0.9 else []
        if not liked:
            liked = np.flatnonzero(bits).tolist()
        return (liked[self._draw.randrange(len(liked))],)


MODELS = "anything", "words", "digits", "never ends", "ends"


class Bench:
    """A gate and a compiler, as an engine and its caller have them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.vocabulary = tokenizer.vocabulary()
        config = GrammarConfig(grammar_store="off")
        self.gate = SchemaGate.open(config, self.vocabulary, tokenizer.canonical, server=True)
        self.compiler = Compiler(self.vocabulary, tokenizer.canonical)
        self.compiler.warm()
        self.row = empty_rows(1, self.vocabulary.width)[0]
        self.garbage = GarbageCollector()
        self.garbage.start()

    def schema(self, name: str) -> Held:
        """Examine, compile and write under one schema."""
        schema, free = CATALOGUE[name]
        order = KeyOrder.ANY if free else KeyOrder.SCHEMA
        constraint = Constraint(
            Kind.JSON_SCHEMA, json.dumps(schema), key_order=order, short_numbers=True
        )
        held = Held()
        try:
            verdict = self.gate.admit(constraint)
            grammar = self.compiler.compile(constraint, verdict.shortest)
        except GrammarError as error:
            held.ended = f"refused: {error.message[:60]}"
            return held
        until = time.thread_time() + _MOST_S
        for ample in (True, False):
            for model in MODELS:
                self._output(grammar, Chooser(model, self.vocabulary, 1), ample, held, until)
                self.garbage.between_steps(idle=True)
        return held

    def _output(
        self, grammar: CompiledGrammar, model: Chooser, ample: bool, held: Held, until: float
    ) -> None:
        least = grammar.least_tokens or 0
        budget = least + (4000 if ample else _TIGHT)
        watch = LoopWatch(self.vocabulary.tokens, ())
        turns = _Turns(held, f"{model.name}, {'ample' if ample else 'tight'}")
        following = turns.run(lambda: BudgetedMatcher(grammar.matcher(), budget, watch))
        turns.count = len(turns.run(following.start))
        turns.end()
        try:
            while (
                not following.matcher.finished
                and turns.count < _MOST_TOKENS
                and time.thread_time() < until
            ):
                turns.run(partial(following.fill, self.row))
                chosen = model.choose(self.row, following.matcher, turns.count)
                followed = None
                while followed is None:
                    followed = turns.run(partial(following.follow_for, chosen, SEARCH_S))
                    turns.end()
                turns.count += 1 + len(followed.tokens)
        except GrammarError as error:
            held.ended = f"{type(error).__name__}: {error.message[:60]}"


class _Turns:
    """The turns of one output: what is run between two `end`s."""

    def __init__(self, held: Held, name: str) -> None:
        self.count = 0
        self._held = held
        self._name = name
        self._spans: list[float] = []

    def run(self, work: Callable[[], T]) -> T:
        """The result of `work`, whose time belongs to the present turn."""
        begun = time.thread_time()
        done = work()
        self._spans.append(1000 * (time.thread_time() - begun))
        return done

    def end(self) -> None:
        """End the present turn."""
        spans = " + ".join(f"{span:.1f}" for span in self._spans)
        self._held.add(sum(self._spans), f"token {self.count} of {self._name}: {spans}")
        self._spans = []


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(CATALOGUE))
    parser.add_argument(
        "--large", action="store_true", help="the vocabulary of the shared tokenizer"
    )
    given = parser.parse_args()
    embedded = Path(__file__).parents[2] / "engine" / "embedded"
    bench = Bench(large() if given.large else Tokenizer.load(embedded))
    print("| schema | turns | ms on average | longest | over 20 ms | of it |")
    print("|---|---|---|---|---|---|")
    for name in given.only:
        held = bench.schema(name)
        average = held.total / max(1, held.turns)
        print(
            f"| {name} | {held.turns} | {average:.2f} | {held.longest:.1f} | {held.over} "
            f"| {held.where}{'; ' if held.where else ''}{held.ended} |",
            flush=True,
        )
    bench.gate.close()


if __name__ == "__main__":
    main()
