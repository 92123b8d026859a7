"""Random legal outputs of benchmark schemas are valid documents, and every budget that can hold one gives one."""

import json
import random

import pytest
from intaglio.grammar.api import Compiler, Constraint, GrammarError, Kind

from tests.conformance.budgets import complete
from tests.conformance.cases import data_folder
from tests.conformance.sections import Records, records
from tests.conformance.tokens import shared
from tests.conformance.walks import walk

FOLDER = data_folder()
SEED = 7
MOST_TEXT = 4_000
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(FOLDER is None, reason="needs ../shared"),
]


def sample(count: int) -> Records:
    assert FOLDER is not None
    small = [r for r in records(FOLDER) if len(str(r["schema"])) < MOST_TEXT]
    return random.Random(SEED).sample(small, count)


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(shared().vocabulary, shared().spell)


def test_walks_are_valid(compiler: Compiler) -> None:
    walks = 0
    for record in sample(30):
        source = json.dumps(record["schema"])
        try:
            grammar = compiler.compile(Constraint(Kind.JSON_SCHEMA, source))
        except GrammarError:
            continue
        found = walk(grammar, source, 2, record["id"])
        assert not found.faults, record["id"]
        assert not found.unended, record["id"]
        walks += found.walks
    assert walks > 40


def test_outputs_fit_their_budgets(compiler: Compiler) -> None:
    outputs = 0
    for record in sample(3):
        found = complete(compiler, shared(), record["id"], json.dumps(record["schema"]))
        assert not found.faults, record["id"]
        outputs += found.outputs
    assert outputs > 40
