"""Masks of the device against those of the host, bit for bit, along the instances of the open part of JSONSchemaBench.

Run on a GPU: `python -m tests.gpu.compare_grammars --part I/N [--seconds S] [--steps T]`. Needs ../shared. Prints one
JSON object: schemas that compile, those that can be exported and why the others cannot, masks compared, differences.
"""

import argparse
import json
import lzma
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import torch
from intaglio.grammar.api import GrammarError, Violation, empty_rows, words
from intaglio.grammar.backends.spelling import Speller
from intaglio.grammar.device import DeviceTables, HostOnly
from intaglio.grammar.export import export
from intaglio.grammar.jsonschema.language import Language
from intaglio.grammar.jsonschema.options import Options
from intaglio.grammar.jsonschema.values import Json, read
from intaglio.grammar.machine import Machine
from intaglio.grammar.masking import TokenIndex
from intaglio.grammar.native import NativeGrammar, NativeMatcher
from intaglio.kernels.grammar_arena import GrammarArena
from intaglio.kernels.grammar_tokens import lay_out
from intaglio.kernels.grammar_walk import FREE, GrammarStates, GrammarWalker

from tests.support.tokens import data, large

WIDTH = 151_936
ROWS = 32
FORMS = {"default": Options(), "closed": Options(extra_properties=False)}


@dataclass
class Follower:
    """One instance being followed on both sides."""

    name: str
    matcher: NativeMatcher
    tokens: list[int]
    slot: int


@dataclass
class Comparison:
    """Counts, and the first differences."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


class Comparer:
    """Both sides and what has been counted. `steps`: tokens followed of each instance."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.found = Comparison()
        device = torch.device("cuda")
        self.tokenizer = large()
        known = self.tokenizer.vocabulary(WIDTH)
        self.index = TokenIndex(known, 1 << 27)
        self.speller = Speller(known, self.tokenizer.canonical)
        self.arena = GrammarArena(device)
        self.walker = GrammarWalker(
            self.arena, lay_out(known.tokens, known.end_ids, WIDTH, device), ROWS
        )
        self.states = GrammarStates(ROWS, device)
        self.rows = torch.arange(ROWS, dtype=torch.int32, device=device)
        self.out = torch.empty((ROWS, words(WIDTH)), dtype=torch.int32, device=device)
        self.queue: list[Follower] = []

    def add(self, name: str, schema: Json, instances: list[Json], form: str) -> None:
        """Queue a schema's instances, if it can be exported."""
        counts = self.found.counts
        try:
            root = Language(schema, FORMS[form]).root
            tables = export(root)
            grammar = NativeGrammar(Machine(root), self.index, self.speller)
        except GrammarError:
            counts[f"{form}: refused"] += 1
            return
        counts[f"{form}: compiled"] += 1
        if isinstance(tables, HostOnly):
            self.found.reasons[f"{form}: {tables.reason}"] += 1
            return
        assert isinstance(tables, DeviceTables)
        counts[f"{form}: exported"] += 1
        counts[f"{form}: bytes"] += tables.nbytes
        for number, value in enumerate(instances[:2]):
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
            tokens = [
                *self.tokenizer.encode(text)[: self.steps],
                *self.index.vocabulary.end_ids[:1],
            ]
            slot = self.arena.load((name, form), tables)
            assert slot is not None
            self.arena.acquire(slot)
            self.queue.append(Follower(f"{name}/{number} {form}", grammar.matcher(), tokens, slot))
        if len(self.queue) >= ROWS:
            self.follow()

    def follow(self) -> None:
        """Follow the first ROWS of the queue to their ends."""
        batch, self.queue = self.queue[:ROWS], self.queue[ROWS:]
        self.states.slots.fill_(FREE)
        for row, one in enumerate(batch):
            self.states.place(row, one.slot, self.arena.start(one.slot), [])
        live = dict(enumerate(batch))
        expected = empty_rows(1, WIDTH)[0]
        for at in range(self.steps + 1):
            self.walker.walk(self.states, self.rows, self.out)
            masks, picks = self.out.cpu().numpy(), np.zeros(ROWS, np.int64)
            for row, one in list(live.items()):
                one.matcher.fill(expected)
                self.found.counts["masks"] += 1
                if not np.array_equal(masks[row], expected):
                    self.found.differences.append(f"{one.name} at token {at}")
                    self.found.counts["differences"] += 1
                picks[row] = one.tokens[at] if at < len(one.tokens) else -1
                try:
                    one.matcher.accept(int(picks[row]))
                except Violation:
                    del live[row]
            self.walker.advance(self.states, self.rows, torch.from_numpy(picks).cuda())
            if not live:
                break
        self.found.counts["troubles"] += int(self.states.troubles.sum())
        for one in batch:
            self.arena.release(one.slot)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--steps", type=int, default=160)
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    comparer, until = Comparer(options.steps), time.monotonic() + options.seconds
    with lzma.open(data("jsonschemabench", "open.jsonl.xz")) as lines:
        for number, line in enumerate(lines):
            if number % parts == part and time.monotonic() < until:
                record = read(line)
                assert isinstance(record, dict)
                valid = [test["data"] for test in record["tests"] if test["valid"]]
                for form in FORMS:
                    comparer.add(record["id"], record["schema"], valid, form)
                comparer.found.counts["schemas"] += 1
    while comparer.queue:
        comparer.follow()
    found = comparer.found
    print(
        json.dumps(
            {
                "counts": found.counts,
                "host only": found.reasons,
                "differences": found.differences[:10],
            }
        )
    )


if __name__ == "__main__":
    main()
