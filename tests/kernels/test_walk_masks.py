"""Grammars on the device (in Triton's interpreter where there is none) against matchers on the host, bit for bit."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from intaglio.grammar.api import Vocabulary, empty_rows, words
from intaglio.grammar.backends.native import NativeGrammar, NativeMatcher
from intaglio.grammar.backends.token_spelling import Speller
from intaglio.grammar.device.device_tables import Configuration, DeviceTables, HostOnly
from intaglio.grammar.device.export import ExportLimits, export
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.mask.compute_masks import TokenIndex
from intaglio.kernels.grammar.arena import FINAL, ArenaLimits, GrammarArena
from intaglio.kernels.grammar.vocabulary_layout import lay_out
from intaglio.kernels.grammar.walk_masks import FREE, HOST, GrammarStates, GrammarWalker

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = ArenaLimits(grammars=4, cells=200_000, sites=2_000, returns=8_000)

NESTED = {
    "type": "array",
    "items": {"$ref": "#"},
    "maxItems": 3,
}
SCHEMAS = {
    "object": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 5},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "kind": {"enum": ["a", "ab", None, 3]},
        },
        "required": ["name"],
    },
    "number": {"type": "number"},
    "recursive": NESTED,
    "choice": {
        "anyOf": [
            {"type": "object", "properties": {"x": {"const": 1}}, "required": ["x"]},
            {"type": "array", "items": {"type": "string", "pattern": "^é+$"}},
            {"type": "boolean"},
        ]
    },
}
CLOSED = Options(extra_properties=False)
UNHURRIED = ExportLimits(seconds=60.0)


def vocabulary(width: int = 0) -> Vocabulary:
    """All bytes, pieces of JSON that cross the borders of values, tokens without text, and two ends."""
    pieces = [
        '{"',
        '":',
        '","',
        '"}',
        '"]',
        "[[",
        "[[[[",
        "]]",
        "]]]],",
        "],[",
        "[]",
        "12",
        "150",
        "1e",
        "-0.",
    ]
    pieces += [
        '"name":"',
        '"age":1',
        '},{"',
        "null",
        "true",
        "é",
        "éé",
        '"é"',
        "ab",
        'a"',
        '"a"',
        "  ",
        "x" * 33,
    ]
    tokens: list[bytes | None] = [None, *(bytes([byte]) for byte in range(256)), None]
    tokens += [piece.encode() for piece in pieces]
    tokens += [b"\xc3", b"\xa9\xc3", b'\xa9"', b"a\xff", None]
    ends = (0, len(tokens) - 1)
    return Vocabulary(tuple(tokens), ends, max(width, len(tokens) + 3))


def tables_of(schema: object, options: Options = CLOSED) -> DeviceTables:
    tables = export(Language(schema, options).root, UNHURRIED)
    assert isinstance(tables, DeviceTables)
    return tables


def matcher_of(schema: object, known: Vocabulary, options: Options = CLOSED) -> NativeMatcher:
    machine = Machine(Language(schema, options).root)
    speller = Speller(known, tuple)
    return NativeGrammar(machine, TokenIndex(known, 1 << 20), speller).matcher()


def host_mask(tables: DeviceTables, at: Configuration, known: Vocabulary) -> set[int]:
    """The legal tokens by following every text through the plain tables."""
    legal = {
        token
        for token, text in enumerate(known.tokens)
        if text is not None and tables.follow(at, text) is not None
    }
    return legal | (set(known.end_ids) if tables.can_end(at) else set())


def bits(row: np.ndarray) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist())


class Walked:
    """Rows of sequences on the device."""

    def __init__(self, known: Vocabulary, rows: int) -> None:
        self.known = known
        self.arena = GrammarArena(DEVICE, SMALL)
        table = lay_out(known.tokens, known.end_ids, known.width, DEVICE)
        self.walker = GrammarWalker(self.arena, table, rows)
        self.states = GrammarStates(rows, DEVICE)
        self.rows = torch.arange(rows - 1, -1, -1, dtype=torch.int32, device=DEVICE)

    def place(self, row: int, key: str, tables: DeviceTables, at: Configuration) -> None:
        slot = self.arena.load(key, tables)
        assert slot is not None
        self.states.place(row, slot, *self.arena.configuration(slot, *at))

    def masks(self) -> np.ndarray:
        out = torch.full((len(self.rows), words(self.known.width) + 1), 77, dtype=torch.int32)
        out = out.to(DEVICE)
        self.walker.walk(self.states, self.rows, out)
        return out.cpu().numpy()[::-1]  # rows are walked in descending order

    def advance(self, tokens: list[int]) -> None:
        picked = torch.tensor(tokens[::-1], dtype=torch.int64, device=DEVICE)
        self.walker.advance(self.states, self.rows, picked)


def steps(legal: set[int], ends: tuple[int, ...], dice: random.Random) -> int:
    inner = sorted(legal - set(ends))
    return dice.choice(inner or sorted(legal))


@pytest.mark.parametrize("width", [0, 2100])
def test_masks_along_random_outputs_equal_the_host_bit_for_bit(width: int) -> None:
    known, dice = vocabulary(width), random.Random(width)
    walked = Walked(known, len(SCHEMAS))
    matchers = [matcher_of(schema, known) for schema in SCHEMAS.values()]
    for row, (key, schema) in enumerate(SCHEMAS.items()):
        tables = tables_of(schema)
        walked.place(row, key, tables, (tables.start, ()))
    expected = empty_rows(1, known.width)[0]
    for _ in range(3 if width else 7):
        masks, picks = walked.masks(), []
        assert (masks[:, words(known.width) :] == 77).all()
        for row, matcher in enumerate(matchers):
            matcher.fill(expected)
            got = masks[row, : words(known.width)]
            assert bits(got) == bits(expected), (list(SCHEMAS)[row], matcher)
            if not matcher.finished:
                picks.append(steps(bits(expected), known.end_ids, dice))
                matcher.accept(picks[-1])
            else:
                picks.append(5)
        walked.advance(picks)
    assert not walked.states.troubles.any()


def test_free_and_host_rows() -> None:
    known = vocabulary()
    walked = Walked(known, 3)
    tables = tables_of(SCHEMAS["number"])
    walked.place(1, "number", tables, (tables.start, ()))
    walked.states.slots[2] = HOST
    assert int(walked.states.slots[0]) == FREE
    masks = walked.masks()
    count = words(known.width)
    assert (masks[0, :count] == -1).all()
    assert bits(masks[1, :count]) == host_mask(tables, (tables.start, ()), known)
    assert (masks[2] == 77).all()


def test_an_illegal_token_leaves_nothing_to_follow() -> None:
    known = vocabulary()
    walked = Walked(known, 2)
    tables = tables_of(SCHEMAS["number"])
    for row in range(2):
        walked.place(row, "number", tables, (tables.start, ()))
    one, letter = known.tokens.index(b"1"), known.tokens.index(b"x")
    walked.advance([one, letter])
    masks = walked.masks()
    assert known.end_ids[0] in bits(masks[0, : words(known.width)])
    assert not masks[1, : words(known.width)].any()
    walked.advance([known.end_ids[0], 10**6])
    assert not walked.masks()[:, : words(known.width)].any()


def test_a_stack_that_is_too_small_is_reported_and_nothing_follows() -> None:
    known = vocabulary()
    walked = Walked(known, 1)
    walked.states = GrammarStates(1, DEVICE, most_depth=3)
    tables = tables_of(NESTED)
    walked.place(0, "nested", tables, (tables.start, ()))
    walked.advance([known.tokens.index(b"[[")])
    assert walked.states.troubles.tolist() == [0]
    walked.advance([known.tokens.index(b"[[[[")])
    assert walked.states.troubles.tolist() == [1]
    assert not walked.masks()[0, : words(known.width)].any()


def test_a_resumed_output_stands_where_its_text_leads() -> None:
    known = vocabulary()
    tables = tables_of(SCHEMAS["object"])
    texts = (b"{", b'{"name":"ab', b'{"name":"ab","kind":"a', b'{"name":""}')
    walked = Walked(known, len(texts))
    places = [tables.follow((tables.start, ()), text) for text in texts]
    for row, at in enumerate(places):
        assert at is not None
        walked.place(row, "object", tables, at)
    for row, at in zip(walked.masks(), places, strict=True):
        assert at is not None
        assert bits(row[: words(known.width)]) == host_mask(tables, at, known)


def texts(schema: object, options: Options) -> Iterator[str]:
    result = export(Language(schema, options).root, ExportLimits(states=3_000, seconds=60.0))
    yield result.reason if isinstance(result, HostOnly) else ""


@pytest.mark.parametrize(
    ("schema", "options", "reason"),
    [
        ({"type": "object"}, Options(), "compared"),
        ({"type": "array", "uniqueItems": True}, CLOSED, "compared"),
        ({"type": "string", "maxLength": 2_000}, CLOSED, "more than 3000 states"),
    ],
)
def test_what_stays_on_the_host_says_why(schema: object, options: Options, reason: str) -> None:
    assert reason in next(texts(schema, options))


def test_the_arena_forgets_what_is_not_used_and_nothing_else() -> None:
    arena = GrammarArena(DEVICE, ArenaLimits(grammars=3, cells=12_000, sites=300, returns=800))
    tables = {key: tables_of(schema) for key, schema in SCHEMAS.items()}
    held = arena.load("number", tables["number"])
    assert held is not None
    arena.acquire(held)
    dice = random.Random(4)
    for _ in range(40):
        key = dice.choice(list(tables))
        slot = arena.load(key, tables[key])
        arena.check()
        assert arena.find("number") == held
        assert slot is not None
        assert arena.find(key) == slot
        start = arena.start(slot)
        row = arena.cells[start : start + tables[key].cells.shape[1]].cpu().numpy()
        assert ((row == 0) == (tables[key].cells[tables[key].start] == 0)).all()
    arena.release(held)
    big = ArenaLimits(grammars=2, cells=tables["number"].cells.size, sites=300, returns=800)
    arena = GrammarArena(DEVICE, big)
    slot = arena.load("number", tables["number"])
    assert slot is not None
    arena.acquire(slot)
    assert arena.load("again", tables["number"]) is None
    arena.release(slot)
    assert arena.load("again", tables["number"]) is not None
    assert arena.find("number") is None
    slot = arena.find("again")
    assert slot is not None
    assert arena.configuration(slot, tables["number"].over, ()) == (FINAL, [])
