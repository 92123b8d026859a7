"""Outputs that are followed along tables, against matchers, token for token."""

import random
from functools import cache

import pytest
from intaglio.grammar.api import DeviceTables, GrammarError, Violation, allowed_tokens, empty_rows
from intaglio.grammar.api import followers as followers_of
from intaglio.grammar.automata import Dfa
from intaglio.grammar.backends.native import NativeGrammar, NativeMatcher
from intaglio.grammar.backends.token_spelling import Speller
from intaglio.grammar.device.device_tables import Configuration
from intaglio.grammar.device.export import export
from intaglio.grammar.device.followers import Followers
from intaglio.grammar.device.lookahead import UNKNOWN
from intaglio.grammar.jsonschema.read.values import Json
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.machine.rule import Rule
from intaglio.grammar.mask.compute_masks import TokenIndex

from tests.grammar.test_export import UNHURRIED, sample
from tests.support.tokens import small

ITEM: dict[str, Json] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 0, "maximum": 999},
        "kind": {"enum": ["alpha", "beta", "alphabet"]},
        "text": {"type": "string", "maxLength": 5},
        "more": {"$ref": "#"},
    },
    "required": ["n", "kind", "text"],
    "additionalProperties": False,
}
SCHEMAS: dict[str, Json] = {
    "items": {"type": "array", "minItems": 2, "items": ITEM},
    "tree": ITEM,
    "open": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "either": {"anyOf": [{"type": "string", "format": "date"}, {"type": "number"}, ITEM]},
    "one": {
        "oneOf": [{"type": "array", "items": {"const": k}, "minItems": 1} for k in (1, 12, 123)]
    },
    "any": {},
    "constant": {"const": {"a": [1, 2, {"b": "a text of some length"}]}},
    "number": {"type": "integer"},
}


class Pair:
    """An output followed by a matcher and along tables."""

    def __init__(self, followers: Followers, number: int, root: Rule | Dfa, budget: int) -> None:
        tables = export(root, UNHURRIED)
        assert isinstance(tables, DeviceTables)
        self.matcher = NativeGrammar(Machine(root), index(), speller()).matcher()
        self.followers, self.number, self.left = followers, number, budget
        followers.add(number, tables, self.matcher, budget)
        self.over = False

    def pick(self, token: int) -> tuple[int, ...]:
        """Go on by a token; what must come next."""
        found = self.followers.advance({self.number: (token,)})
        self._accept(token)
        fits = self.number not in found.doubtful
        forced = self.matcher.forced()
        coming = found.coming.get(self.number)
        said = self.followers.spell(self.number, coming) if coming else ()
        assert said == forced
        assert not found.lost
        if forced:
            found = self.followers.advance_forced({self.number: forced})
            for one in forced:
                self._accept(one)
            assert not found.lost
            fits = self.number not in found.doubtful
        self.over = self.matcher.finished
        # A matcher leaves a window of a long string for another one between tokens, tables at its end.
        lower = self.followers.depth(self.number) - max(0, self.matcher.depth)
        assert self.over or lower in (0, 1)
        assert self.followers.tokens(self.number) == self.matcher.tokens
        if fits:
            assert self.matcher.closes_within(self.left)
        return forced

    def refuses(self, token: int) -> bool:
        """Whether both refuse a token; the output is not followed along tables then."""
        lost = self.followers.advance({self.number: (token,)}).lost == {self.number}
        self.followers.remove(self.number)
        with pytest.raises(Violation):
            self.matcher.accept(token)
        return lost

    def _accept(self, token: int) -> None:
        self.matcher.accept(token)
        self.left -= 1


@cache
def index() -> TokenIndex:
    return TokenIndex(small().vocabulary(), 1 << 26)


@cache
def speller() -> Speller:
    return Speller(small().vocabulary(), small().canonical)


def new_followers() -> Followers:
    vocabulary = small().vocabulary()
    return followers_of(vocabulary.tokens, vocabulary.end_ids)


def walk(followers: Followers, pair: Pair, dice: random.Random, most: int) -> int:
    """Go on by random legal tokens, and by an illegal one in the end; how many were forced."""
    row, forced = empty_rows(1, small().vocabulary().width)[0], 0
    for _ in range(most):
        pair.matcher.fill(row)
        legal = allowed_tokens(row, small().vocabulary().width)
        # Mostly what leads on: ends and closing brackets are few among the tokens of a text.
        forced += len(pair.pick(int(dice.choice(legal[: 1 + dice.randrange(len(legal))]))))
        if pair.over:
            break
    pair.matcher.fill(row)
    held = set(allowed_tokens(row, small().vocabulary().width).tolist())
    illegal = [t for t in range(small().vocabulary().width) if t not in held]
    assert pair.refuses(dice.choice(illegal))
    return forced


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_tables_are_followed_as_matchers_follow(name: str, closed: bool) -> None:
    root = Language(SCHEMAS[name], Options(extra_properties=not closed)).root
    if not isinstance(export(root, UNHURRIED), DeviceTables):
        pytest.skip("it stays on the host")
    followers = new_followers()
    for seed in range(8):
        dice = random.Random(seed)
        walk(followers, Pair(followers, seed, root, dice.choice((40, 200))), dice, 60)


def test_all_at_once_is_each_by_itself() -> None:
    """Many outputs in one call, more than there were rows for, with grammars of their own."""
    followers, dice = new_followers(), random.Random(5)
    roots = [Language({"enum": [f"a{n}", f"ab{n}", n]}, Options()).root for n in range(20)]
    pairs = {n: Pair(followers, n, root, 30) for n, root in enumerate(roots)}
    row = empty_rows(1, small().vocabulary().width)[0]
    while pairs:
        picked = {}
        for n, pair in pairs.items():
            pair.matcher.fill(row)
            picked[n] = (int(dice.choice(allowed_tokens(row, small().vocabulary().width))),)
        found = followers.advance(picked)
        assert not found.lost
        forced = {n: followers.spell(n, coming) for n, coming in found.coming.items()}
        assert not followers.advance_forced(forced).lost
        for n, pair in list(pairs.items()):
            pair.matcher.accept(picked[n][0])
            assert pair.matcher.forced() == forced.get(n, ())
            for token in forced.get(n, ()):
                pair.matcher.accept(token)
            if pair.matcher.finished:
                followers.remove(n)
                del pairs[n]
    assert not any(n in followers for n in range(20))


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_schemas_of_the_benchmark_are_followed_as_matchers_follow(closed: bool) -> None:
    followers, dice, number, forced = new_followers(), random.Random(1), 0, 0
    for _, schema, _ in sample():
        try:
            root = Language(schema, Options(extra_properties=not closed)).root
            exported = isinstance(export(root, UNHURRIED), DeviceTables)
        except GrammarError:
            continue
        if exported:
            number += 1
            forced += walk(followers, Pair(followers, number, root, 400), dice, 25)
    assert number > 5
    assert forced > number


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_text_exists_for_every_number_of_bytes(name: str) -> None:
    """From anywhere, some byte leads one byte nearer to the end."""
    tables = export(Language(SCHEMAS[name], Options()).root, UNHURRIED)
    if not isinstance(tables, DeviceTables):
        pytest.skip("it stays on the host")
    dice = random.Random(2)
    at: Configuration = (tables.start, ())
    for _ in range(40):
        near, far = at, bytes_to_end(tables, at)
        while far:
            after = (tables.follow(near, bytes([byte])) for byte in range(256))
            nearer = [c for c in after if c is not None and bytes_to_end(tables, c) == far - 1]
            assert nearer, (name, near, far)
            near, far = nearer[0], far - 1
        assert tables.can_end(near)
        ways = [tables.follow(at, bytes([byte])) for byte in range(255)]
        at = dice.choice([c for c in ways if c is not None] or [(tables.start, ())])


def bytes_to_end(tables: DeviceTables, at: Configuration) -> int:
    """The least sum over the outcomes of all rules on the stack."""
    state, stack = at
    if state == tables.over:
        return 0
    ahead = tables.lookahead
    rest = dict.fromkeys(range(ahead.first[tables.start + 1] - ahead.first[tables.start]), 0)

    def to_end(state: int) -> int:
        first = ahead.first[state]
        count = ahead.first[state + 1] - first
        return min(UNKNOWN, *(int(ahead.bytes[first + o]) + rest[o] for o in range(count)))

    for begin in stack:
        after = {}
        for o in range(ahead.outcomes[begin]):
            code = int(tables.returns[begin + o])
            after[o] = UNKNOWN
            if code > 0:
                after[o] = to_end(code - 1)
            elif code < 0:
                after[o] = rest[-1 - code >> 2]
        rest = after
    return to_end(state)


def test_a_matcher_that_skips_stands_where_one_stands_that_accepted() -> None:
    grammar = NativeGrammar(Machine(Language(ITEM, Options()).root), index(), speller())
    text = '{"n":12,"kind":"beta","text":"ab","more":{"n":1,'
    tokens = list(small().encode(text))
    slow, quick = grammar.matcher(), grammar.matcher()
    for token in tokens:
        slow.accept(token)
    quick.skip(tokens[:3])
    quick.skip(())
    quick.skip(tokens[3:])
    assert quick.tokens == slow.tokens
    assert quick.closing() == slow.closing()
    assert quick.forced() == slow.forced()
    rows = empty_rows(2, small().vocabulary().width)
    slow.fill(rows[0])
    quick.fill(rows[1])
    assert (rows[0] == rows[1]).all()
    with pytest.raises(Violation):
        quick.skip(tokens)
    assert isinstance(quick, NativeMatcher)
    closing = quick.closing()
    assert closing
    quick.accept(closing[0])
    quick.rollback(1)
    with pytest.raises(ValueError, match="cannot be taken back"):
        quick.rollback(1)
