"""Tables for a device against the masks of the host, bit for bit, along instances of the open JSONSchemaBench."""

import json
import lzma
from collections import Counter
from functools import cache

import numpy as np
import pytest
from intaglio.grammar.api import GrammarError, empty_rows
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.backends.token_spelling import Speller
from intaglio.grammar.device.device_tables import Configuration, DeviceTables
from intaglio.grammar.device.export import ExportLimits, export
from intaglio.grammar.jsonschema.read.values import Json, read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.mask.compute_masks import TokenIndex

from tests.support.table_walk import TableWalk
from tests.support.tokens import data, small

STEPS = 60
EVERY = 300
UNHURRIED = ExportLimits(seconds=60.0)


class Comparison:
    """Host and tables side by side over one vocabulary; `counts` of schemas, exports and masks."""

    def __init__(self) -> None:
        tokenizer = small()
        self.tokenizer = tokenizer
        vocabulary = tokenizer.vocabulary(tokenizer.size + 40)
        self.index = TokenIndex(vocabulary, 1 << 26)
        self.speller = Speller(vocabulary, tokenizer.canonical)
        self.walk = TableWalk(vocabulary)
        self.row = empty_rows(1, vocabulary.width)[0]
        self.counts: Counter[str] = Counter()

    def follow(self, name: str, schema: Json, instances: list[Json], options: Options) -> None:
        """Compare the masks at every token of the instances, and after each."""
        self.counts["schemas"] += 1
        try:
            root = Language(schema, options).root
            tables = export(root, UNHURRIED)
            grammar = NativeGrammar(Machine(root), self.index, self.speller)
        except GrammarError:
            return
        if not isinstance(tables, DeviceTables):
            return
        self.counts["exported"] += 1
        for value in instances:
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=float)
            matcher = grammar.matcher()
            at: Configuration = (tables.start, ())
            for number, token in enumerate((*self.tokenizer.encode(text)[:STEPS], None)):
                matcher.fill(self.row)
                mask = self.walk.mask(tables, at)
                assert np.array_equal(mask, self.row), f"{name}: {text!r}, token {number}"
                # The host pops the end, too, and may have left a window of a long string.
                assert len(at[1]) - max(0, matcher.depth) in (0, 1)
                self.counts["masks"] += 1
                if token is None or not self.row[token // 32] >> (token % 32) & 1:
                    break
                matcher.accept(token)
                after = tables.follow(at, self.tokenizer.vocabulary().tokens[token] or b"")
                assert after is not None
                at = after


@cache
def sample(every: int = EVERY) -> list[tuple[str, Json, list[Json]]]:
    with lzma.open(data("jsonschemabench", "open.jsonl.xz")) as lines:
        records = [read(line) for number, line in enumerate(lines) if number % every == 0]
    return [
        (r["id"], r["schema"], [t["data"] for t in r["tests"] if t["valid"]][:1])
        for r in records
        if isinstance(r, dict)
    ]


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_tables_say_what_the_host_says(closed: bool) -> None:
    both = Comparison()
    options = Options(extra_properties=not closed)
    for name, schema, instances in sample():
        both.follow(name, schema, instances, options)
    assert both.counts["exported"] > both.counts["schemas"] // 4
    assert both.counts["masks"] > 100
