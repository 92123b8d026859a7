"""The benchmark of masks: its oracle against values judged by hand, and engines with planted faults."""

import itertools
import json
from typing import Any

import numpy as np
import pytest

from tests.conformance.bench_masks.adapters import Intaglio
from tests.conformance.bench_masks.oracle import Oracle, Vocabulary
from tests.conformance.bench_masks.run import Benchmark, Counts, Record, table
from tests.conformance.bench_masks.vllm_door import refused_keywords

BYTES = (*(bytes([byte]) for byte in range(256)), b'{"', b'":', b'"}', b'","', b"12", b"true", None)
END = len(BYTES) - 1
OBJECT = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 3, "maximum": 120},
        "s": {"type": "string", "maxLength": 2},
        "e": {"enum": ["ab", "ac", 1]},
    },
    "required": ["s"],
    "additionalProperties": False,
}


def verdict(schema: Any, text: str) -> tuple[set[bytes], set[bytes], bool]:
    """(texts that must be legal next, texts that may be, whether the output may end)."""
    oracle = Oracle(schema, Vocabulary(BYTES), frozenset())
    found = oracle.verdict(oracle.after(oracle.start(), text.encode()))
    must, may = ({BYTES[i] or b"" for i in np.flatnonzero(row)} for row in (found.must, found.may))
    assert must <= may
    return must, may, found.may_end


def test_members_come_in_order_and_required_ones_must_come() -> None:
    must, may, _ = verdict(OBJECT, "{")
    assert must == {b'"'}
    assert b"}" not in may
    must, may, _ = verdict(OBJECT, '{"')
    assert must == {b"n", b"s"}
    assert b"e" in may  # in any order
    must, may, _ = verdict(OBJECT, '{"s":"x"')
    assert must == {b",", b"}"}
    must, may, end = verdict(OBJECT, '{"s":"x"}')
    assert not must
    assert end


@pytest.mark.parametrize(
    ("least", "most", "starts"), [(7, 124, range(1, 100)), (37, 1204, range(1, 1000, 9))]
)
def test_bounds_are_told_by_the_first_digits(least: int, most: int, starts: range) -> None:
    for digits in starts:
        text = str(digits)
        must, may, _ = verdict({"type": "integer", "minimum": least, "maximum": most}, text)
        completed = {
            number
            for size in range(len(str(most)) + 1)
            for number in range(digits * 10**size, (digits + 1) * 10**size)
        }
        assert bool(must & {b"%d" % d for d in range(10)} or least <= digits <= most) == any(
            least <= number <= most for number in completed
        )
        for more in range(10):
            able = any(
                least <= number <= most
                for size in range(len(str(most)))
                for number in range(
                    (10 * digits + more) * 10**size, (10 * digits + more + 1) * 10**size
                )
            )
            assert (b"%d" % more in must) == able, (text, more)
            assert (b"%d" % more in may) == able, (text, more)


def test_strings_count_characters_and_know_utf_8() -> None:
    schema = {"type": "string", "maxLength": 1}
    assert verdict(schema, '"é')[0] == {b'"'}
    must, _, _ = verdict(schema, '"')
    assert bytes([0xC3]) in must
    assert bytes([0xC0]) not in must
    assert b"\n" not in verdict(schema, '"')[1]


def test_what_is_not_read_is_neither_asked_for_nor_refused() -> None:
    schema = {
        "type": "object",
        "properties": {"p": {"type": "string", "pattern": "^a+$"}},
        "required": ["p"],
    }
    must, may, _ = verdict(schema, '{"p":"')
    assert not must
    assert {b"a", b"b"} <= may
    assert verdict(schema, '{"p')[0] >= {b'"'}


class _Wrong:
    """Ours, with a fault: the last legal token is left out, or an illegal one let in."""

    is_slow = False

    def __init__(self, fault: str) -> None:
        self._engine, self._fault = Intaglio(BYTES), fault

    def open(self, schema: str) -> Any:
        begin, fault = self._engine.open(schema), self._fault

        class Session:
            def __init__(self) -> None:
                self._inner = begin()

            def mask(self) -> Any:
                row = self._inner.mask()
                legal, other = np.flatnonzero(row), np.flatnonzero(~row)
                if fault == "over" and len(legal) > 1:
                    row[legal[0]] = False
                if fault == "under":
                    row[other[other < 32][0]] = True  # a control character, in a compact text
                return row

            def take(self, token: int) -> bool:
                return self._inner.take(token)

        return Session


@pytest.mark.parametrize("fault", ["", "over", "under"])
def test_faults_are_found_and_nothing_else(fault: str) -> None:
    schema = {**OBJECT, "properties": {**OBJECT["properties"], "t": {"items": {"$ref": "#"}}}}  # type: ignore[dict-item]
    data = [{"n": 12, "s": "x"}, {"s": "", "e": "ac", "t": [{"s": "ab"}, {"s": "é"}]}]
    benchmark, counts = Benchmark(BYTES), Counts()
    oracle = Oracle(schema, benchmark.vocabulary, frozenset())
    benchmark.compare(_Wrong(fault), Record("made", schema, data), oracle, counts)
    assert counts.stopped == counts.dead_ends == 0
    assert counts.judged > 0.9 * counts.verdicts
    assert (counts.over > 0) == (fault == "over")
    assert (counts.under > 0) == (fault == "under")
    assert f"| {counts.verdicts:,} |" in table({"made": counts})


def test_ours_agrees_on_schemas_of_many_kinds() -> None:
    parts: list[Any] = [
        {"type": "number", "exclusiveMinimum": -2.5, "maximum": 7},
        {"type": "array", "items": {"enum": ["a", "ab", None]}, "minItems": 1, "maxItems": 2},
        {"anyOf": [{"type": "boolean"}, {"type": "string", "minLength": 1}]},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ]
    values: list[Any] = [3.25, ["ab", None], "x", {"k": 5}]
    benchmark, counts, engine = Benchmark(BYTES), Counts(), Intaglio(BYTES)
    for one, other in itertools.product(range(4), repeat=2):
        schema = {
            "type": "object",
            "properties": {"a": parts[one], "b": parts[other]},
            "required": ["b"],
        }
        record = Record(
            "made", json.loads(json.dumps(schema)), [{"a": values[one], "b": values[other]}]
        )
        oracle = Oracle(record.schema, benchmark.vocabulary, frozenset(("a", "b", "k")))
        benchmark.compare(engine, record, oracle, counts)
    assert counts.places > 300
    assert (counts.over, counts.under, counts.stopped, counts.dead_ends) == (0, 0, 0, 0), (
        counts.examples[:5]
    )


@pytest.mark.parametrize(
    ("schema", "refused"),
    [
        ({"type": "string", "minLength": 2}, []),
        ({"type": "string", "format": "regex"}, ["format"]),
        ({"type": "string", "pattern": "a", "maxLength": 2}, ["length beside pattern or format"]),
        ({"properties": {"a": {"type": ["integer", "null"], "multipleOf": 2}}}, ["multipleOf"]),
        ({"multipleOf": 2}, []),
        ({"items": [{"type": "array", "uniqueItems": True}]}, ["uniqueItems"]),
        ({"type": "object", "propertyNames": {"maxLength": 2}}, []),
        ({"type": "object", "propertyNames": {"pattern": "a", "maxLength": 2}}, ["propertyNames"]),
        ({"type": "object", "properties": {}, "patternProperties": {}}, ["patternProperties"]),
        ({"oneOf": [{"if": {}, "then": {}}], "not": {}}, []),
    ],
)
def test_the_front_end_of_vllm(schema: Any, refused: list[str]) -> None:
    assert refused_keywords(schema) == refused
