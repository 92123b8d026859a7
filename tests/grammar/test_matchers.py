"""What every back end owes its callers: the contract of `Matcher`, on strings walked token by token."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    KeyOrder,
    Kind,
    Matcher,
    Violation,
    Vocabulary,
    Whitespace,
    allowed_tokens,
    empty_rows,
)
from intaglio.grammar.backends.native import NativeGrammar

from tests.support.tokens import large, sentencepiece, small

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "tags": {"type": "array", "items": {"enum": ["new", "née", '"quoted"']}, "maxItems": 2},
        "note": {"type": ["string", "null"]},
    },
    "required": ["name", "tags"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Language:
    """A constraint, with texts that are in it, that are not, and that are beginnings only."""

    constraint: Constraint
    accepts: tuple[str, ...]
    rejects: tuple[str, ...]
    incomplete: tuple[str, ...]


LANGUAGES = {
    "schema": Language(
        Constraint(Kind.JSON_SCHEMA, json.dumps(PERSON)),
        (
            '{"name":"Ada","tags":[]}',
            '{"name":"Zoë 🙂","age":130,"tags":["née","\\"quoted\\""],"note":null}',
            '{"name":"\\u00e9\\n\\"","age":0,"tags":["new"],"note":""}',
        ),
        (
            '{"name":"","tags":[]}',
            '{"name":"123456789","tags":[]}',
            '{"name":"a\tb","tags":[]}',
            '{"name":"\\ud800","tags":[]}',
            '{"name":"a","age":131,"tags":[]}',
            '{"name":"a","age":01,"tags":[]}',
            '{"name":"a", "tags":[]}',
            '{"tags":[],"name":"a"}',
            '{"name":"a","tags":["new","new","new"]}',
            '{"name":"a","tags":[],"other":1}',
            " {}",
            '{"name":"a","tags":[]}\n',
        ),
        ("", "{", '{"name":"Zo', '{"name":"a","tags":[', '{"name":"a","tags":[]'),
    ),
    "pretty": Language(
        Constraint(Kind.JSON_SCHEMA, json.dumps(PERSON), Whitespace.PRETTY),
        (
            json.dumps(
                {"name": "A", "age": 3, "tags": ["new", "née"]}, indent=2, ensure_ascii=False
            ),
            json.dumps({"name": "A", "tags": []}, indent=2),
        ),
        ('{"name":"a","tags":[]}', '{\n "name"', '{\n\n  "name"', '{\n  "name" :'),
        ('{\n  "name": ',),
    ),
    "regex": Language(
        Constraint(Kind.REGEX, r"^(a|ab)(c|bcd)?$|\d{2}-é[^x]*?"),
        ("a", "ab", "ac", "abcd", "abbcd", "12-é", "12-éabc🙂"),
        ("b", "abcdd", "1-é", "١٢-é", "12-éx", "12-e"),
        ("", "1", "12-", "abb"),
    ),
    "ebnf": Language(
        Constraint(Kind.EBNF, 'root ::= "(" root ")" | word\nword ::= [a-z]+ ("é" | "")'),
        ("abc", "((x))", "(abcé)"),
        ("ABC", "()", "a)", "éa"),
        ("", "(", "((x)"),
    ),
    "lark": Language(
        Constraint(Kind.LARK, 'start: sum\nsum: sum "+" /[0-9]+/ | "-"i~1..2\n%ignore " "'),
        ("-", " - - ", "-+1", "--+12 + 3"),
        ("", "---", "- +", "-+1a", "1"),
        ("", " ", "-+"),
    ),
    "parsed": Language(
        Constraint(Kind.EBNF, 'root ::= "a" root "a" | [é-ü]+ root? "!" | ""'),
        ("", "aa", "aé!a", "éaa!", "éü!!"),
        ("b", "aaaéa", "éa", "!"),
        ("a", "é", "aaé"),
    ),
}
TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "small": small,
    "sentencepiece": sentencepiece,
    "large": large,
}


@cache
def compiler_of(tokenizer: str) -> tuple[Compiler, Tokenizer]:
    made = TOKENIZERS[tokenizer]()
    width = made.size + 5  # a model's logits may be wider, and words of a row have a tail
    return Compiler(made.vocabulary(width), made.canonical), made


@cache
def compiled(tokenizer: str, language: str) -> tuple[CompiledGrammar, Tokenizer, int]:
    compiler, made = compiler_of(tokenizer)
    return compiler.compile(LANGUAGES[language].constraint), made, compiler.vocabulary.width


every = pytest.mark.parametrize("language", LANGUAGES)
either = pytest.mark.parametrize("tokenizer", TOKENIZERS)


def walk(matcher: Matcher, tokens: tuple[int, ...], width: int) -> bool:
    """Whether the matcher takes all tokens; each is checked against the mask first."""
    row = empty_rows(1, width)[0]
    for token in tokens:
        matcher.fill(row)
        legal = token in allowed_tokens(row, width)
        try:
            matcher.accept(token)
        except Violation:
            assert not legal
            return False
        assert legal
    return True


@every
@either
def test_texts_are_taken_or_refused(tokenizer: str, language: str) -> None:
    grammar, made, width = compiled(tokenizer, language)
    sample = LANGUAGES[language]
    end = made.end_ids[0]
    for text in sample.accepts:
        matcher = grammar.matcher()
        assert walk(matcher, (*made.canonical(text.encode()), end), width), text
        assert matcher.finished
    for text in sample.rejects:
        assert not walk(grammar.matcher(), (*made.canonical(text.encode()), end), width), text
    for text in sample.incomplete:
        matcher = grammar.matcher()
        assert walk(matcher, made.canonical(text.encode()), width), text
        assert not matcher.finished
        with pytest.raises(Violation):
            matcher.accept(end)


def legal_walk(
    grammar: CompiledGrammar, made: Tokenizer, width: int, seed: int
) -> Iterator[Matcher]:
    """A matcher at each place of a random legal output that is steered to its end."""
    choose = random.Random(seed)
    matcher = grammar.matcher()
    row = empty_rows(1, width)[0]
    for step in range(60 if width < 10_000 else 14):
        yield matcher
        matcher.fill(row)
        legal = [int(token) for token in allowed_tokens(row, width)]
        ends = [token for token in legal if token in made.end_ids]
        matcher.accept(ends[0] if ends and step > 8 else choose.choice(legal))
        if matcher.finished:
            yield matcher
            return


@every
@either
def test_every_place_keeps_the_contract(tokenizer: str, language: str) -> None:
    grammar, made, width = compiled(tokenizer, language)
    vocabulary = compiler_of(tokenizer)[0].vocabulary
    before, after, wild = empty_rows(3, width)
    for seed in range(3 if width < 10_000 else 1):
        for matcher in legal_walk(grammar, made, width, seed):
            wild[:] = -1
            matcher.fill(wild)
            matcher.fill(before)
            assert (wild == before).all()
            legal = allowed_tokens(before, 32 * len(before))
            assert (legal < width).all(), "bits past the width are zero"
            assert all(vocabulary.text(t) is not None or t in made.end_ids for t in legal.tolist())
            if matcher.finished:
                assert len(legal) == 0
                with pytest.raises(Violation):
                    matcher.accept(made.end_ids[0])
                continue
            assert len(legal), "no dead end"
            inside = set(legal.tolist())
            for token in random.Random(seed).sample(range(width), 8):
                if token not in inside:
                    with pytest.raises(Violation):
                        matcher.accept(token)
            fork = matcher.fork()
            for token in legal[:: max(len(legal) // 4, 1)]:
                matcher.accept(int(token))
                matcher.rollback(1)
            fork.accept(int(legal[-1]))
            matcher.fill(after)
            assert (before == after).all(), (
                "a fork moves alone, and what is taken back leaves nothing"
            )
            forced = matcher.forced()
            matcher.fill(after)
            assert (before == after).all()
            probe = matcher.fork()
            assert walk(probe, forced, width)
            probe.rollback(len(forced))
            probe.fill(after)
            assert (before == after).all()


@every
@either
def test_a_model_that_spells_canonically_is_not_changed_by_forcing(
    tokenizer: str, language: str
) -> None:
    grammar, made, _ = compiled(tokenizer, language)
    for text in LANGUAGES[language].accepts:
        spelled = (*made.canonical(text.encode()), made.end_ids[0])
        matcher = grammar.matcher()
        done: list[int] = []
        count = 0
        while not matcher.finished:
            forced = matcher.forced()
            assert spelled[len(done) : len(done) + len(forced)] == forced, (text, done)
            count += len(forced)
            for token in forced or spelled[len(done) : len(done) + 1]:
                matcher.accept(token)
                done.append(token)
        assert tuple(done) == spelled
        assert language != "pretty" or count > 2


def test_keys_are_forced() -> None:
    grammar, made, _ = compiled("small", "schema")
    text = b"".join(made.vocabulary().text(token) or b"" for token in grammar.matcher().forced())
    assert text
    assert b'{"name":"'.startswith(text)


@every
@either
def test_the_least_budget_is_enough(tokenizer: str, language: str) -> None:
    grammar, made, width = compiled(tokenizer, language)
    least = grammar.least_tokens
    assert grammar.matcher().least_tokens() == least
    assert least is not None
    shortest = min(len(made.canonical(text.encode())) for text in LANGUAGES[language].accepts)
    assert least <= shortest + 1
    if language == "regex":  # exact: follow it down
        matcher = grammar.matcher()
        row = empty_rows(1, width)[0]
        while not matcher.finished:
            matcher.fill(row)
            left = matcher.least_tokens()
            ways = []
            for token in allowed_tokens(row, width)[:300]:
                fork = matcher.fork()
                fork.accept(int(token))
                ways.append((fork.least_tokens() or 0, int(token)))
            assert left is not None
            assert min(ways)[0] >= left - 1
            matcher.accept(min(ways)[1])


@every
@either
def test_an_odd_spelling_does_not_make_the_end_longer(tokenizer: str, language: str) -> None:
    grammar, made, _ = compiled(tokenizer, language)
    vocabulary = compiler_of(tokenizer)[0].vocabulary
    single = {text: token for token, text in enumerate(vocabulary.tokens) if text}
    for text in (t.encode() for t in LANGUAGES[language].accepts if t):
        matcher = grammar.matcher()
        for at in range(len(text) * 2 // 3):  # a token a byte, as no tokenizer writes it
            matcher.accept(single[text[at : at + 1]])
        closing = matcher.closing()
        assert closing is not None
        rest = b"".join(vocabulary.text(token) or b"" for token in closing)
        assert len(closing) <= len(made.canonical(rest)) + 1


def test_least_of_a_pattern_is_exact() -> None:
    made = small()
    compiler = Compiler(made.vocabulary(), made.canonical)
    for pattern, least in [("", 1), ("x|y", 2), ("7{4}", 5), ("(ab|c)*", 1)]:
        assert compiler.compile(Constraint(Kind.REGEX, pattern)).least_tokens == least


def test_control_tokens_are_never_legal() -> None:
    grammar, _, width = compiled("small", "ebnf")
    row = empty_rows(1, width)[0]
    grammar.matcher().fill(row)
    assert not set(range(5)) & set(allowed_tokens(row, width).tolist())
    with pytest.raises(Violation):
        grammar.matcher().accept(1)
    with pytest.raises(ValueError, match="taken back"):
        grammar.matcher().rollback(1)
    assert row.dtype == np.int32


def test_the_first_tokens_of_an_output_cost_no_step_of_an_engine() -> None:
    """The names that an object may begin with are expanded by the compiler, which nothing waits for."""
    names = [f"a{number}" for number in range(20)]
    schema = {
        "allOf": [{"properties": {name: {"type": "string"}}} for name in names],
        "unevaluatedProperties": {"type": "integer"},
        "minProperties": 25,
    }
    vocabulary = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
    constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(schema), key_order=KeyOrder.ANY)
    grammar = Compiler(vocabulary, tuple).compile(constraint, b"0")
    assert isinstance(grammar, NativeGrammar)
    states = grammar.machine.states
    grammar.matcher().forced()
    assert grammar.machine.states == states > 1
