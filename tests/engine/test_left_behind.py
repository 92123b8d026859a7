"""What requests leave behind in an engine: nothing that grows with their number, and no cycles."""

import gc
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.host.local import LocalEngine
from intaglio.engine.types import Finish, Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind

from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PER_ROUND = 60
ROUNDS = 10
REFUSED = (
    Constraint(Kind.JSON_SCHEMA, '{"type": "nonsense"}'),
    Constraint(Kind.JSON_SCHEMA, '{"$ref": "#/nowhere"}'),
    Constraint(Kind.REGEX, "("),
    Constraint(Kind.LARK, 'start: "a'),
)
GOOD = (
    None,
    Constraint(Kind.JSON_SCHEMA, '{"type": "integer"}'),
    Constraint(Kind.REGEX, "[ab]{1,4}"),
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LocalEngine]:
    model = write_checkpoint(tmp_path / "model", {**LLAMA, "max_position_embeddings": 128})
    settings = {"model": str(model), "num_blocks": 64, "max_running": 8, "threads": 1}
    assembly = build(EngineConfig.load({**settings, "grammar_store": "off"}, environ={}))
    made = LocalEngine(assembly)
    list(made.generate(requests(0)))
    while assembly.grammar_stats().warming:  # which compiles grammars of its own
        time.sleep(0.05)
    yield made
    made.close()


def requests(first: int) -> list[Request]:
    """Requests that end by themselves, run into their budget, are refused by the grammar or by the scheduler."""
    constraints = (*GOOD, *REFUSED)
    return [
        Request(
            id=f"{number}",
            prompt=(1, 2, 3 + number % 7),
            sampling=SamplingParams(max_tokens=6, top_p=5.0 if number % 11 == 0 else 1.0),
            constraint=constraints[number % len(constraints)],
        )
        for number in range(first, first + PER_ROUND)
    ]


def test_requests_leave_no_objects_behind(engine: LocalEngine) -> None:
    """The collector is off: an error that is kept, or held by its own traceback, keeps the frames of whole steps."""
    counts: list[int] = []
    ends: set[str] = set()
    gc.collect()
    gc.disable()
    try:
        for round_ in range(ROUNDS):
            for delta in engine.generate(requests(round_ * PER_ROUND)):
                if delta.finish is not None:
                    ends.add(delta.error.code if delta.error else str(delta.finish))
            counts.append(len(gc.get_objects()))
    finally:
        gc.enable()
    assert {Finish.LENGTH.value, "invalid_constraint", "invalid_request"} <= ends
    # A cache that is filled once grows in one round; what requests leave behind grows in most of them.
    left = [after - before for before, after in pairwise(counts)]
    assert median(left) < PER_ROUND / 10, f"less than one object for ten requests, not {left}"
