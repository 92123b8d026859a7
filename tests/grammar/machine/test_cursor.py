"""A cursor moves the same way, and back, whether the tables decide a text in one call or it is read and committed."""

import json
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from threading import Thread

import numpy as np
import pytest
from intaglio.grammar.base.array_types import Bytes
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.machine.text_reader import Step

NODE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 8},
        "size": {"type": "number"},
        "kind": {"enum": ["leaf", "inner"]},
        "parts": {"type": "array", "items": {"$ref": "#"}},
        "ids": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    },
}
TEXTS = (
    '{"kind":"inner","parts":[{"kind":"leaf","size":1.5},{"name":"b"}],"size":2}',
    '{"other":[1,{"a":null}],"name":"Zoë","more":{"kind":7}}',
    '{"ids":[1,10,2],"kind":"leaf","parts":[{"ids":[3,3]}]}',
)


def cursor() -> Cursor:
    root = Language(read(json.dumps(NODE)), Options(any_order=True)).root
    return Cursor(Machine(root))


def pieces(text: str, draw: random.Random) -> Iterator[Bytes]:
    whole, at = np.frombuffer(text.encode(), np.uint8).copy(), 0
    while at < len(whole):
        size = draw.randrange(1, 7)
        yield whole[at : at + size]
        at += size


def committed(at: Cursor, text: Bytes) -> Step | None:
    memories = len(at.memories)
    if at.read(text):
        return at.commit(text, memories)
    at.memories.cut(memories)
    return None


def place(at: Cursor) -> tuple[object, ...]:
    frames = at.frames[: at.depth].tolist()
    return at.state, at.stack, frames, bytes(at.output), len(at.memories), at.open_texts is None


@pytest.mark.parametrize("text", TEXTS)
def test_one_call_moves_to_where_read_and_commit_move(text: str) -> None:
    draw = random.Random(text)
    for _ in range(20):
        one, two = cursor(), cursor()
        for piece in pieces(text, draw):
            before = place(one)
            step, other = one.advance(piece), committed(two, piece)
            assert (step is None) == (other is None)
            if step is None:
                assert place(one) == before
                break
            assert (place(one), one.chooses) == (place(two), two.chooses)


@pytest.mark.parametrize("text", TEXTS)
def test_steps_are_taken_back_to_every_earlier_place(text: str) -> None:
    draw = random.Random(text)
    at, steps, places = cursor(), list[Step](), []
    for piece in pieces(text, draw):
        before = place(at)
        step = at.advance(piece)
        if step is None:
            break
        steps.append(step)
        places.append(before)
    assert len(steps) > 5
    for step, before in zip(reversed(steps), reversed(places), strict=True):
        at.undo(step)
        assert place(at) == before


def test_a_step_after_which_a_long_string_has_a_new_window_is_taken_back_whole() -> None:
    """`Call.renew` replaces the window of a counted string, within a step that leaves the stack as it is, or not."""
    schema, draw = {"items": {"type": "string", "maxLength": 3_000}}, random.Random(0)
    machine = Machine(Language(read(json.dumps(schema)), Options()).root)
    at, other, renewed = Cursor(machine), Cursor(machine), 0
    for piece in pieces('["' + "Zoë " * 200 + '","' + "a" * 300 + '"]', draw):
        before = place(at)
        step = at.advance(piece)
        assert step is not None
        after = place(at)
        renewed += len(after[1]) < len(before[1])  # type: ignore[arg-type] # of a stack
        at.undo(step)
        assert place(at) == before
        assert at.advance(piece) is not None
        assert committed(other, piece) is not None
        assert place(at) == place(other) == after
    assert machine.special.renewed > 3
    assert renewed > 3


def legal_bytes(at: Cursor) -> int:
    found, memories = 0, len(at.memories)
    for byte in range(256):
        found += at.read(np.array([byte], np.uint8))
        at.memories.cut(memories)
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_a_choice_is_told_where_two_bytes_are_legal_also_where_only_the_stack_tells(
    text: str,
) -> None:
    at, told, after_values = cursor(), 0, 0
    for byte in text.encode():
        if at.advance(np.array([byte], np.uint8)) is None:
            break
        if at.chooses:
            told += 1
            after_values += bytes(at.output[-1:]) in (b'"', b"}", b"]")
            assert legal_bytes(at) > 1
            assert at.force(8) == (b"", False)
    assert told > len(text) / 3
    assert after_values > 2  # a comma, or the end of what is open


def test_no_token_is_forced_where_tokens_go_on_from_all_forced_bytes() -> None:
    """The pairs of bytes in the rest of `"leaf"` are in tokens, those of `"inner"` are not."""
    joined = np.zeros((256, 256), np.uint8)
    for left, right in pairwise(b'eaf"'):
        joined[left, right] = 1
    plain = cursor()
    at, together, apart = Cursor(plain.machine, joined.reshape(-1)), set[bytes](), set[bytes]()
    for byte in TEXTS[0].encode():
        piece = np.array([byte], np.uint8)
        assert at.advance(piece) is not None
        assert plain.advance(piece) is not None
        forced, over = plain.fork().force(64)
        whole = all(joined[left, right] for left, right in pairwise(forced))
        assert at.chooses or not plain.chooses
        assert not at.chooses or (whole and not over)
        if len(forced) > 1:
            (together if at.chooses else apart).add(forced)
    assert together == {b'eaf"', b'af"', b'f"'}
    assert apart == {b':"', b":[", b'nner"', b'ner"', b'er"', b'r"'}


def test_a_text_that_opens_many_rules_gets_room_for_its_frames() -> None:
    at = cursor()
    text = np.frombuffer(b'{"parts":[' * 100, np.uint8).copy()
    step = committed(at, text)
    assert step is not None
    depth = at.depth
    assert depth > 100
    closing = np.frombuffer(b"]}" * 100, np.uint8).copy()
    before = place(at)
    ended = at.advance(closing)
    assert ended is not None
    assert at.can_end()
    at.undo(ended)
    assert place(at) == before


class ReachedLater:
    """The special places of a machine; another thread reaches unique items right after they were asked for."""

    def __init__(self, machine: Machine, reach: Callable[[], object]) -> None:
        self._special = machine.special
        self._reach: Callable[[], object] | None = reach

    def __getattr__(self, name: str) -> object:
        if name != "unique_items" or self._reach is None:
            return getattr(self._special, name)
        reach, self._reach = self._reach, None
        assert not self._special.unique_items
        other = Thread(target=reach)
        other.start()
        other.join()
        assert self._special.unique_items
        return {}


@pytest.mark.parametrize(("text", "legal"), [("[true,t", False), ('[true,"', True), ("[tr", True)])
def test_items_that_another_thread_reaches_first_are_checked_within_the_same_token(
    text: str, legal: bool
) -> None:
    items = {"anyOf": [{"type": "string"}, {"const": True}]}
    schema = {"type": "array", "uniqueItems": True, "items": items}
    machine = Machine(Language(read(json.dumps(schema)), Options()).root)
    token = np.frombuffer(text.encode(), np.uint8).copy()

    def reach() -> None:
        Cursor(machine).read(np.frombuffer(b'[true,"t', np.uint8).copy())
        Cursor(machine).read(np.frombuffer(b"[true,t", np.uint8).copy())

    at = Cursor(machine)
    before = place(at)
    machine.special = ReachedLater(machine, reach)  # type: ignore[assignment]
    moved = at.advance(token)
    assert (moved is not None) is legal
    if moved is None:
        assert place(at) == before
    else:
        other = Cursor(machine)
        assert committed(other, token) is not None
        assert place(at) == place(other)
