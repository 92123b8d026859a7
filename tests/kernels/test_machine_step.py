"""The four copies of the machine's step (docs/machine-step.md) agree on bytes, configurations and ends."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from intaglio.grammar.api import Vocabulary, empty_rows, words
from intaglio.grammar.backends.native import NativeGrammar, NativeMatcher
from intaglio.grammar.backends.token_spelling import Speller
from intaglio.grammar.device.device_tables import NO_BYTE, Configuration, DeviceTables
from intaglio.grammar.device.export import ExportLimits, export
from intaglio.grammar.device.table_step import MOST_CALLS, Codes, can_end, step
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.mask.compute_masks import TokenIndex
from intaglio.kernels.grammar.arena import ArenaLimits, GrammarArena
from intaglio.kernels.grammar.vocabulary_layout import lay_out
from intaglio.kernels.grammar.walk_masks import GrammarStates, GrammarWalker

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
END = 256
KNOWN = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (END,), END + 1)
STEPS = 16

TREE = {"type": "array", "items": {"$ref": "#"}, "maxItems": 2}
SCHEMAS = (
    {"type": "object", "properties": {"a": {"enum": ["x", "xy", 7]}, "b": TREE}, "required": ["a"]},
    TREE,
    {"type": "number", "minimum": -3, "maximum": 250},
    {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "array", "items": {"const": None}}]},
)


@pytest.fixture(autouse=True)
def _infinities_are_meant() -> Iterator[None]:
    """The interpreter computes with numpy, which warns where a device does not."""
    with np.errstate(all="ignore"):
        yield


def exported(root_of: Language) -> DeviceTables:
    tables = export(root_of.root, ExportLimits(seconds=60.0))
    assert isinstance(tables, DeviceTables)
    return tables


def after_compiled(tables: DeviceTables, at: Configuration, byte: int) -> Configuration | None:
    """`table_step.step`."""
    if byte == NO_BYTE or at[0] == tables.over:
        return None  # its callers ask for neither
    stack, calls = np.array(at[1], np.int32), np.empty(MOST_CALLS, np.int32)
    codes = Codes(tables.cells, tables.sites, tables.returns)
    column = int(tables.column_of[byte])
    state, kept, more, _ = step(codes, stack, len(stack), at[0], column, calls)
    return None if state < 0 else (int(state), (*at[1][:kept], *calls[:more].tolist()))


def ends_compiled(tables: DeviceTables, at: Configuration) -> bool:
    """`table_step.can_end`."""
    stack = np.array(at[1], np.int32)
    return can_end(Codes(tables.cells, tables.sites, tables.returns), stack, len(stack), at[0])


def legal(row: np.ndarray) -> set[int]:
    """The tokens of a mask row."""
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist())


class OnDevice:
    """All sequences in the arena, a row each: `grammar_passes`."""

    def __init__(self, tables: list[DeviceTables]) -> None:
        limits = ArenaLimits(grammars=8, cells=200_000, sites=2_000, returns=8_000)
        self.arena = GrammarArena(DEVICE, limits)
        table = lay_out(KNOWN.tokens, KNOWN.end_ids, KNOWN.width, DEVICE)
        self.walker = GrammarWalker(self.arena, table, len(tables))
        self.states = GrammarStates(len(tables), DEVICE)
        self.rows = torch.arange(len(tables), dtype=torch.int32, device=DEVICE)
        self.slots = []
        for row, each in enumerate(tables):
            slot = self.arena.load(str(row), each)
            assert slot is not None
            self.slots.append(slot)
            self.states.place(row, slot, *self.arena.configuration(slot, each.start, ()))

    def masks(self) -> list[set[int]]:
        out = torch.zeros((len(self.rows), words(KNOWN.width)), dtype=torch.int32, device=DEVICE)
        self.walker.walk(self.states, self.rows, out)
        return [legal(row) for row in out.cpu().numpy()]

    def advance(self, tokens: list[int]) -> None:
        self.walker.advance(self.states, self.rows, torch.tensor(tokens, device=DEVICE))

    def stands_at(self, row: int, at: Configuration) -> bool:
        state, stack = self.arena.configuration(self.slots[row], *at)
        depth = int(self.states.depths[row])
        found = self.states.stacks[row, :depth].tolist()
        return int(self.states.states[row]) == state and found == stack


def matcher_of(language: Language) -> NativeMatcher:
    speller = Speller(KNOWN, tuple)
    return NativeGrammar(Machine(language.root), TokenIndex(KNOWN, 1 << 20), speller).matcher()


def test_all_copies_of_the_step_agree() -> None:
    """Along random legal outputs: legal bytes, refused bytes, configurations and ends, after each byte."""
    dice = random.Random(0)
    options = Options(extra_properties=False)
    tables = [exported(Language(schema, options)) for schema in SCHEMAS]
    matchers = [matcher_of(Language(schema, options)) for schema in SCHEMAS]
    device = OnDevice(tables)
    places: list[Configuration] = [(each.start, ()) for each in tables]
    going = set(range(len(tables)))
    calls = 0
    for _ in range(STEPS):
        masks, tokens = device.masks(), [-1] * len(tables)
        for row in sorted(going):
            table, at = tables[row], places[row]
            after = {byte: table.follow(at, bytes([byte])) for byte in range(256)}
            expected = {byte for byte, found in after.items() if found is not None}
            expected |= {END} if table.can_end(at) else set()
            mask = empty_rows(1, KNOWN.width)[0]
            matchers[row].fill(mask)
            assert legal(mask) == expected, "the host's matcher"
            assert masks[row] == expected, "the device's passes"
            assert ends_compiled(table, at) == table.can_end(at), "the followers' end"
            for byte, found in after.items():
                assert after_compiled(table, at, byte) == found, "the followers' step"
            if not expected - {END}:
                going.discard(row)
                continue
            tokens[row] = dice.choice(sorted(expected - {END}))
            matchers[row].accept(tokens[row])
            moved = after[tokens[row]]
            assert moved is not None
            calls += len(moved[1]) > len(at[1])
            places[row] = moved
        device.advance(tokens)
        assert all(device.stands_at(row, places[row]) for row in going)
    assert calls > 1
    assert not device.states.troubles.any()
