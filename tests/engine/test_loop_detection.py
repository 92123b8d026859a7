"""Values that repeat themselves: which are ended, how, and which are left alone. One token a byte."""

import json
import random
from typing import Any

import pytest
from intaglio.engine.grammars.budgeted_matcher import BudgetedMatcher
from intaglio.engine.grammars.loop_detection import LoopWatch
from intaglio.engine.grammars.repetition import repetition
from intaglio.grammar.api import CompiledGrammar, Compiler, Constraint, Kind, Vocabulary

END = 256
TEXTS: tuple[bytes | None, ...] = (*(bytes([byte]) for byte in range(256)), None)
VOCABULARY = Vocabulary(TEXTS, (END,), END + 1)
STRING: dict[str, Any] = {"type": "string"}


def grammar(schema: dict[str, Any], *, open_objects: bool = False) -> CompiledGrammar:
    source = json.dumps(schema)
    return Compiler(VOCABULARY, tuple).compile(
        Constraint(Kind.JSON_SCHEMA, source, extra_properties=open_objects)
    )


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


class Bench:
    """An output that a model writes which wants to say certain things."""

    def __init__(
        self,
        schema: dict[str, Any],
        document: str = "",
        budget: int = 2000,
        *,
        open_objects: bool = False,
    ) -> None:
        watch = LoopWatch(TEXTS, document.encode())
        matcher = grammar(schema, open_objects=open_objects).matcher()
        self.following = BudgetedMatcher(matcher, budget, watch)
        self.text = bytes(self.following.start())
        self.looped: list[bytes] = []

    def say(self, wanted: bytes) -> bool:
        """SampledToken the bytes of `wanted` but for those that are forced; false once a value was ended."""
        begun = len(self.text)
        while len(self.text) - begun < len(wanted):
            byte = wanted[len(self.text) - begun]
            followed = self.following.follow((byte,))
            assert not followed.instead
            self.text += bytes([byte, *(t for t in followed.tokens if t != END)])
            if followed.looped is not None:
                begin, end = followed.looped
                self.looped.append(bytes(followed.tokens[begin:end]))
                return False
        return True


def test_the_longest_end_that_repeats_is_found_with_its_period() -> None:
    dice = random.Random(5)
    for _ in range(300):
        unit = [dice.randrange(4) for _ in range(dice.randrange(1, 7))]
        items = [9, *(unit * 9)]
        found = repetition(items, least=4, times=4)
        assert found is not None
        assert items[-found.length :] == (items[-found.period :] * found.length)[-found.length :]
        assert found.length >= 9 * len(unit)
        assert len(unit) % found.period == 0
    assert repetition("abcdefgh", least=2, times=2) is None
    assert repetition("xabab", least=4, times=3) is None


@pytest.mark.parametrize("unit", [b"e", b"ab", b"na, ", b"\\n", b'\\"', b"0123456789"])
def test_a_string_that_repeats_itself_is_ended_and_the_next_field_is_the_models_own(
    unit: bytes,
) -> None:
    bench = Bench(an_object(name=STRING, city=STRING))
    assert not bench.say(b'"' + unit * 100)
    assert bench.looped[0].endswith(b'"')
    assert bench.say(b'"Bonn"')
    assert json.loads(bench.text)["city"] == "Bonn"
    assert len(json.loads(bench.text)["name"]) <= 8 * len(unit) + 32


def test_a_loop_is_ended_as_early_behind_a_name_of_many_different_tokens() -> None:
    names = "abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba"
    bench = Bench(an_object(**dict.fromkeys(names, STRING)))
    assert not bench.say(b'"' + b"e" * 100)
    assert not bench.say(b'"' + b"-" * 100)
    first, second = json.loads(bench.text).values()
    assert len(first) <= 28
    assert len(second) <= 18, "an output that has looped is watched more closely"


def test_a_looping_name_ends_its_object_where_no_names_are_declared() -> None:
    bench = Bench(an_object(about={"type": "object"}, city=STRING), open_objects=True)
    assert not bench.say(b'{"type":"a","' + b"e" * 100)
    assert bench.looped[0].endswith(b"}")
    assert bench.say(b'"Bonn"}')
    value = json.loads(bench.text)
    assert value["city"] == "Bonn"
    assert len(value["about"]) == 2


def test_a_looping_name_is_ended_alone_where_its_object_needs_another() -> None:
    bench = Bench({"type": "object", "minProperties": 3}, open_objects=True)
    assert not bench.say(b'"' + b"e" * 100)
    assert bench.looped[0].endswith(b'"')
    assert bench.say(b':1,"size":2,"sum":3}')
    assert [*json.loads(bench.text)][1:] == ["size", "sum"]


@pytest.mark.parametrize(
    "text",
    ["ha ha ha ha ha ha ha", "00000000000000000000", "la la la", "2026-01-01T00:00:00.000000Z"],
)
def test_short_repetition_is_left_alone(text: str) -> None:
    bench = Bench(an_object(name=STRING))
    assert bench.say(f'"{text}"'.encode())
    assert json.loads(bench.text) == {"name": text}


@pytest.mark.parametrize(
    "run", ["-" * 300, "ha " * 90, "AAAA" * 60, 'say "no" ' * 40, "Zoë\n" * 50]
)
def test_repetition_that_the_document_holds_is_copied_whole(run: str) -> None:
    bench = Bench(an_object(name=STRING), f"Before.\n{run}\nAfter.")
    assert bench.say(json.dumps(run, ensure_ascii=False).encode())
    assert json.loads(bench.text) == {"name": run}


def test_more_than_the_document_holds_is_a_loop() -> None:
    bench = Bench(an_object(name=STRING), "-" * 40)
    assert not bench.say(b'"' + b"-" * 400)
    assert len(json.loads(bench.text)["name"]) < 120


def test_a_begun_escape_is_finished_before_the_string_is() -> None:
    for length in range(8):
        bench = Bench(an_object(name=STRING))
        bench.say(b'"' + b"-" * length + b"\\u00e9" * 60)
        assert bench.looped
        assert bench.text.endswith(b'"}')
        assert json.loads(bench.text)["name"].strip("-")[:4] == "éééé"


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (STRING, b'"eel",'),
        ({"type": "integer"}, b"7,"),
        (an_object(a=STRING, b={"type": "boolean"}), b'{"a":"x","b":true},'),
        ({"type": "array", "items": {"type": "null"}}, b"[null,null],"),
    ],
)
def test_an_array_of_equal_items_is_ended(item: dict[str, Any], text: bytes) -> None:
    bench = Bench(an_object(rows={"type": "array", "items": item}, city=STRING))
    assert not bench.say(b"[" + text * 200)
    assert b"]" in bench.looped[0]
    assert bench.say(b'"Bonn"')
    found = json.loads(bench.text)
    assert found["city"] == "Bonn"
    assert 8 <= len(found["rows"]) < 40


def test_equal_items_that_the_document_has_as_often_stay() -> None:
    schema = an_object(rows={"type": "array", "items": STRING})
    document = "\n".join("Widget    1 pc" for _ in range(60))
    bench = Bench(schema, document)
    assert bench.say(b"[" + b",".join([b'"Widget"'] * 60) + b"]")
    assert len(json.loads(bench.text)["rows"]) == 60


def test_verdicts_on_as_many_lines_stay_though_no_line_has_their_words() -> None:
    schema = an_object(moods={"type": "array", "items": {"enum": ["good", "bad"]}})
    bench = Bench(schema, "\n".join(f"Review {n}: what a stay" for n in range(30)))
    assert bench.say(b"[" + b",".join([b'"good"'] * 30) + b"]")
    assert json.loads(bench.text)["moods"] == ["good"] * 30


def test_items_that_the_schema_demands_are_not_taken_away() -> None:
    schema = an_object(rows={"type": "array", "items": {"type": "integer"}, "minItems": 100})
    bench = Bench(schema)
    assert not bench.say(b"[" + b"7," * 300)
    assert len(json.loads(bench.text)["rows"]) >= 100


def test_rows_that_differ_in_one_value_are_no_loop() -> None:
    schema = an_object(
        rows={"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    )
    bench = Bench(schema)
    rows = [[n, 0, 0, 0] for n in range(60)]
    assert bench.say(json.dumps(rows, separators=(",", ":")).encode())
    assert json.loads(bench.text)["rows"] == rows


def test_nesting_without_end_is_ended() -> None:
    bench = Bench({"type": "array", "items": {"$ref": "#"}})
    assert not bench.say(b"[" * 300)
    assert bench.text.count(b"[") == bench.text.count(b"]") < 100


def test_the_shortest_legal_end_is_taken_where_the_string_may_not_end_yet() -> None:
    schema = an_object(mail={"type": "string", "format": "email"}, city=STRING)
    bench = Bench(schema)
    assert not bench.say(b'"' + b"e" * 300)
    assert b"@" in bench.looped[0]
    assert bench.say(b'"Bonn"')


def test_what_ends_a_loop_keeps_the_budget() -> None:
    schema = an_object(name=STRING, city=STRING)
    least = grammar(schema).least_tokens
    assert least is not None
    for extra in range(60):
        bench = Bench(schema, budget=least + extra)
        text, taken = bench.text, len(bench.text)
        while not bench.following.matcher.finished:
            sampled = b'"' if text.endswith(b":") else b"e"
            followed = bench.following.follow((*sampled,))
            text = text if followed.instead else text + sampled
            text += bytes(token for token in followed.tokens if token != END)
            taken += len(followed.tokens) + (0 if followed.instead else 1)
            assert taken <= least + extra
