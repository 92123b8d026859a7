"""`LLM` with hardly any memory for grammars: they are given up between requests, and answers stay the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from intaglio.service.offline.llm import LLM

from tests.support.distinct_schemas import document, schema
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

# Formats are checked by another library at the end, and a random model writes what that may see otherwise.
NUMBERS = [number for number in range(40) if "format" not in json.dumps(schema(number))][:2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = {**LLAMA, "max_position_embeddings": 2048}
    return write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", config)


def answers(folder: Path, **settings: Any) -> list[object]:
    """Of two schemas, asked twice in turn: so the second time each has been given up, where there is no room."""
    with LLM(folder, grammar_store="off", grammar_warm=0, num_blocks=512, **settings) as llm:
        return [
            llm.extract(schema(number), document(number), max_tokens=400, temperature=0).data
            for number in (*NUMBERS, *NUMBERS)
        ]


def test_a_schema_whose_grammar_was_given_up_is_answered_as_before(folder: Path) -> None:
    roomy = answers(folder)
    assert roomy[:2] == roomy[2:]
    assert answers(folder, grammar_bytes=1) == roomy
