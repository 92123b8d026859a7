"""Typical answers under schemas, as tokens, for an engine that only answers (`tests.support.answering_engine`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from intaglio.engine.api import GrammarConfig, SchemaGate
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.extraction.translate import extraction_constraint

from tests.support.answering_engine import Answers


def prepare(folder: Path, schemas: Sequence[Any], pace_s: float = 0.0) -> bytes:
    """`Answers` as JSON, for extractions with default options."""
    text = TextModel.load(folder)
    tokenizer = text.tokenizer
    config = GrammarConfig(grammar_store="off")
    gate = SchemaGate.open(config, text.vocabulary, tokenizer.canonical, server=True)
    tokens: dict[str, tuple[int, ...]] = {}
    try:
        assert gate.explain is not None
        for schema in schemas:
            constraint = extraction_constraint(schema, ExtractOptions())
            if constraint.source not in tokens:
                answer = gate.explain(constraint).typical
                assert answer is not None
                tokens[constraint.source] = tokenizer.canonical(answer.encode())
    finally:
        gate.close()
    return msgspec.json.encode(Answers(tokens, pace_s=pace_s))
