"""Masks equal those of a plain interpreter of the same rules that tries every token byte by byte."""

import copy
import json
import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache

import pytest
from intaglio.grammar.api import Violation, allowed_tokens, empty_rows
from intaglio.grammar.automata import Dfa, Spelling, encode, literal, trie, union_all
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.backends.token_spelling import Speller
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.machine.rule import Call, End, Expansion, Goto, Rule, Target, as_written
from intaglio.grammar.mask.compute_masks import TokenIndex
from intaglio.grammar.regex import whole

from tests.support.tokens import small
from tests.support.walker import Frame, Walker


@cache
def index() -> tuple[TokenIndex, Speller]:
    made = small()
    vocabulary = made.vocabulary(made.size + 5)
    return TokenIndex(vocabulary, 1 << 26), Speller(vocabulary, made.canonical)


def grammar_of(root: Rule | Dfa) -> NativeGrammar:
    return NativeGrammar(Machine(root), *index())


@dataclass(frozen=True)
class Wrapped:
    """A rule that is one leaf."""

    dfa: Dfa
    start: Hashable = 0

    def expand(self, key: Hashable) -> Expansion:
        return Expansion(call=Call(self.dfa, 0))

    def resume(self, back: Hashable, outcome: int, twin: bool) -> Target | None:
        return End(outcome)

    def least(self, key: Hashable) -> int | None:
        return None if self.dfa.empty else int(self.dfa.distance[0])


@dataclass(frozen=True)
class Nested:
    """Brackets around brackets or numbers, which end without a byte of their own: (12), ((7),(3))."""

    start: Hashable = "start"

    def expand(self, key: Hashable) -> Expansion:
        if key == "start":
            return Expansion(
                ((b"(", Goto("inside")),), Call(encode(whole(r"[1-9]\d*"), Spelling.UTF8), "number")
            )
        if key == "inside":
            return Expansion(call=Call(self, "inside"))
        assert key == "after"
        return Expansion(((b",", Goto("inside")), (b")", End(0))))

    def resume(self, back: Hashable, outcome: int, twin: bool) -> Target | None:
        return End(0) if back == "number" else Goto("after")

    def least(self, key: Hashable) -> int | None:
        return {"start": 1, "inside": 2, "after": 1}[str(key)]


WORDS = trie({b'"a"': 0, b'"ab"': 0, b'"name"': 1, b'"na"': 1, b'"x y"': 2})
LOOSE = encode(whole(r'"[a-z]{0,6}"'), Spelling.UTF8)


def folded(text: bytes) -> Hashable:
    return text.lower().strip(b'"')


@dataclass(frozen=True)
class Distinct:
    """A list of texts none of which may come twice (with `need` exactly one must); numbers may be among them."""

    leaf: Dfa
    same: Callable[[bytes], Hashable]
    need: bool = False
    start: Hashable = "start"

    def expand(self, key: Hashable) -> Expansion:
        if key == "start":
            return Expansion(((b"[", Goto(("item", False))),))
        assert isinstance(key, tuple)
        kind, twins = key
        if kind == "item":
            return Expansion(call=Call(self.leaf, twins, self.same))
        arcs: tuple[tuple[bytes, Target], ...] = ((b",", Goto(("item", twins))),)
        if twins or not self.need:
            arcs += ((b"]", End(int(twins))),)
        return Expansion(arcs)

    def resume(self, back: Hashable, outcome: int, twin: bool) -> Target | None:
        if twin and (back or not self.need):
            return None
        return Goto(("after", bool(back or twin)))

    def least(self, key: Hashable) -> int | None:
        return 1


def even(outcome: int, text: bytes) -> int:
    return -1 if text == b"13" else int(text) % 2


@dataclass(frozen=True)
class Judged:
    """Pairs of numbers: after an even one comes E, after an odd one O; 13 is refused."""

    start: Hashable = "start"

    def expand(self, key: Hashable) -> Expansion:
        if key == "start":
            return Expansion(call=Call(encode(whole(r"\d{1,3}"), Spelling.UTF8), 0, judge=even))
        assert isinstance(key, int)
        return Expansion(((b"EO"[key : key + 1], Goto("start")), (b".", End(0))))

    def resume(self, back: Hashable, outcome: int, twin: bool) -> Target | None:
        return Goto(outcome)

    def least(self, key: Hashable) -> int | None:
        return 1


RULES: dict[str, Rule | Dfa] = {
    "wrapped": Wrapped(
        union_all([literal(b'{"name":1}'), literal(b"null", 1), literal(b'{"tags":[]}', 2)])
    ),
    "nested": Nested(),
    "distinct": Distinct(WORDS, as_written),
    "distinct loose": Distinct(LOOSE, as_written),
    "distinct folded": Distinct(encode(whole(r'"[a-zA-Z]{0,6}"'), Spelling.UTF8), folded),
    "distinct numbers": Distinct(encode(whole(r"\d{1,3}"), Spelling.UTF8), as_written),
    "distinct numbers folded": Distinct(encode(whole(r"\d{1,3}"), Spelling.UTF8), int),
    "some twin": Distinct(encode(whole(r"\d{1,2}|[a-c]"), Spelling.UTF8), as_written, need=True),
    "judged": Judged(),
}
PATTERNS = [
    r"", r"a*", r"(a|ab)(c|bcd)?", r'\{"[^"]*":\d+\}', r"[^]{0,12}", r"\p{L}+", r"\d{4}-\d\d", "(?=.*e).{3,9}",
    r"(quick|brown|qu)+ ?", r"\u{1F642}{1,3}|é", r"-?(0|[1-9]\d*)(\.\d+)?",
]  # fmt: skip
ANY_OF_THEM = {
    "name": {"type": "string", "maxLength": 8},
    "tags": {"items": {"enum": ["new", "née"]}},
}
TREE = {"t": {"type": ["null", "array"], "items": {"$ref": "#/$defs/t"}, "maxItems": 2}}
SCHEMAS: list[dict[str, object] | bool] = [
    True,
    {"type": "object", "properties": ANY_OF_THEM},
    {"type": "array", "uniqueItems": True},
    {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 3},
    {
        "type": "object",
        "properties": {"a": True, "b": True, "c": {"const": {"d": [1]}}},
        "required": ["b"],
        "additionalProperties": False,
    },
    {
        "oneOf": [
            {"type": "integer", "minimum": 5},
            {"multipleOf": 3},
            {"type": "string", "pattern": "^n"},
        ]
    },
    {"$ref": "#/$defs/t", "$defs": TREE},
    {
        "type": "object",
        "patternProperties": {"^x": {"type": "null"}},
        "propertyNames": {"maxLength": 3},
    },
    {"not": {"type": "object"}, "type": ["object", "array", "string"]},
    {"type": "string", "format": "date"},
    {"type": "number", "minimum": -1.5, "exclusiveMaximum": 20},
    {"type": "string", "minLength": 2, "maxLength": 5000},
    {"type": "string", "pattern": "^(ab|[^a])*$", "maxLength": 40},
    {
        "type": "object",
        "properties": {"name": {"maxLength": 3}, "names": {"enum": ["n", "na"]}},
        "patternProperties": {"^n": {"type": ["string", "null"]}},
        "additionalProperties": False,
        "maxProperties": 3,
    },
]


def names() -> list[str]:
    return [
        *RULES,
        *(f"pattern {p}" for p in PATTERNS),
        *(f"schema {i}" for i in range(len(SCHEMAS))),
    ]


def root_of(name: str) -> Rule | Dfa:
    kind, _, rest = name.partition(" ")
    if name in RULES:
        return RULES[name]
    if kind == "pattern":
        return encode(whole(rest), Spelling.UTF8)
    return Language(read(json.dumps(SCHEMAS[int(rest)]))).root


def plain_walker(root: Rule | Dfa) -> Walker:
    if not isinstance(root, Dfa):
        return Walker(root)
    walker = Walker(Wrapped(root))
    walker.frames = [Frame(root, 0, None, 0)]
    return walker


def fork(walker: Walker) -> Walker:
    twin = copy.copy(walker)
    twin.frames = [Frame(f.callee, f.state, f.call, f.begun, set(f.seen)) for f in walker.frames]
    return twin


def feed(walker: Walker, text: bytes) -> bool:
    """Read on, ending each leaf as soon as it can take no further byte: what is refused then is refused at its last."""
    for byte in text:
        if not walker.feed(bytes([byte])):
            return False
        top = walker.frames[-1] if walker.frames else None
        if top is not None and isinstance(top.callee, Dfa):
            state = top.state
            assert isinstance(state, int)
            over = top.callee.outcome[state] >= 0 and (top.callee.table[state] < 0).all()
            if over and not walker.leave(int(top.callee.outcome[state])):
                return False
    return True


def completable(walker: Walker, most: int = 12) -> bool:
    """Whether some text of at most so many bytes more completes the output."""
    if fork(walker).finish() is not None:
        return True
    if most == 0:
        return False
    for byte in range(32, 127):
        following = fork(walker)
        if following.feed(bytes([byte])) and completable(following, most - 1):
            return True
    return False


def by_trying(walker: Walker, to_the_end: bool) -> set[int]:
    """Tokens that can be read; `to_the_end`: after which the output can be completed, too.

    What several tokens begin with is read once.
    """
    vocabulary = index()[0].vocabulary
    begun: dict[bytes, Walker | None] = {b"": walker}

    def read(text: bytes) -> Walker | None:
        if text not in begun:
            before = read(text[:-1])
            after = None if before is None else fork(before)
            begun[text] = after if after is not None and feed(after, text[-1:]) else None
        return begun[text]

    legal = set()
    for t, text in enumerate(vocabulary.tokens):
        after = None if text is None else read(text)
        if after is not None and (not to_the_end or completable(after)):
            legal.add(t)
    return legal | (set(vocabulary.end_ids) if fork(walker).finish() is not None else set())


@pytest.mark.parametrize("name", names())
def test_masks_equal_those_found_by_trying(name: str) -> None:
    root = root_of(name)
    grammar = grammar_of(root)
    width = index()[0].vocabulary.width
    row = empty_rows(1, width)[0]
    pairs = 0
    for seed in range(4):
        choose = random.Random(seed)
        matcher, walker = grammar.matcher(), plain_walker(root)
        for _ in range(10):
            row[:] = -1
            matcher.fill(row)
            legal = set(allowed_tokens(row, 32 * len(row)).tolist())
            # The plain walker does not see that only a known word could end a text.
            to_the_end = name == "distinct"
            assert legal == by_trying(walker, to_the_end), bytes(walker.text)
            pairs += 1
            texts = sorted(legal - set(index()[0].vocabulary.end_ids))
            if not texts:
                break
            # Short tokens more often: they reach the places between words.
            few = choose.sample(texts, min(4, len(texts)))
            token = min(few, key=lambda t: len(index()[0].texts[t]))
            matcher.accept(token)
            assert feed(walker, index()[0].texts[token].tobytes())
    assert pairs > 3, "one for each output"


@pytest.mark.parametrize("name", names())
def test_steps_back_leave_no_trace(name: str) -> None:
    grammar = grammar_of(root_of(name))
    ends = index()[0].vocabulary.end_ids
    before, after = empty_rows(2, index()[0].vocabulary.width)
    choose = random.Random(7)
    matcher = grammar.matcher()
    taken = 0
    for _ in range(25):
        matcher.fill(before)
        legal = allowed_tokens(before, 32 * len(before)).tolist()
        twin = matcher.fork()
        count = 0
        for _ in range(4):
            twin.fill(after)
            more = allowed_tokens(after, 32 * len(after)).tolist()
            if twin.finished:
                break
            twin.accept(choose.choice(more))
            count += 1
        twin.rollback(count)
        for each in (twin, matcher):
            each.fill(after)
            assert (after == before).all()
        refused = choose.randrange(index()[0].vocabulary.width)
        if refused not in legal:
            with pytest.raises(Violation):
                matcher.accept(refused)
        forced = matcher.forced()
        if forced:
            assert legal == [forced[0]] or len(index()[0].texts.get(forced[0], b"")) > 1
            probe = matcher.fork()
            for token in forced:
                probe.accept(token)
        choice = choose.choice(legal)
        if choice in ends:
            break
        matcher.accept(choice)
        taken += 1
    matcher.rollback(taken)
    matcher.fill(after)
    grammar.matcher().fill(before)
    assert (after == before).all()
